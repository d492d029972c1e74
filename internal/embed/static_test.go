package embed_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/embed"
)

// tokenizer is a tokenizer.json with the words the, lamp, ##s, é and e.
const tokenizer = `{"normalizer":{"type":"BertNormalizer","lowercase":true,"strip_accents":null},` +
	`"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"[UNK]",` +
	`"continuing_subword_prefix":"##","vocab":{"[UNK]":0,"the":1,"lamp":2,"##s":3,"cafe":4,".":5}}}`

// numbers are the vectors of its tokens.
var numbers = [][]float32{{9, 9}, {0, 1}, {1, 0}, {0.5, 0.5}, {-1, 0}, {0, -1}}

// safetensors encodes a file with tensors of F32, with a header that change may change.
func safetensors(embeddings [][]float32, change func(header map[string]any)) []byte {
	var data []byte
	for _, row := range embeddings {
		for _, x := range row {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
	}
	header := map[string]any{"__metadata__": map[string]any{"by": "test"}, "embeddings": map[string]any{"dtype": "F32",
		"shape": []int{len(embeddings), len(embeddings[0])}, "data_offsets": []int{0, len(data)}}}
	if change != nil {
		change(header)
	}
	b, _ := json.Marshal(header)
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b, data)
}

func readPieces(tensors []byte, tokens string) (*embed.Model, error) {
	return embed.ReadPieces(bytes.NewReader(tensors), int64(len(tensors)), strings.NewReader(tokens))
}

// near reports whether two vectors have one direction.
func near(a, b []float32) bool {
	var dot, x, y float64
	for i := range a {
		dot, x, y = dot+float64(a[i]*b[i]), x+float64(a[i]*a[i]), y+float64(b[i]*b[i])
	}
	return dot/math.Sqrt(x*y) > 0.999
}

func TestPieces(t *testing.T) {
	m, err := readPieces(safetensors(numbers, nil), tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m")
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := embed.ReadModel(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := embed.ReadInfo(path); err != nil || info != m.Info || info.Rows != 6 || info.Length != 2 {
		t.Errorf("%+v, %v", info, err)
	}
	for text, want := range map[string][]float32{
		"The lamp":     {1, 1},
		"LAMPS":        {1.5, 0.5},
		"café the":     {-1, 1},
		"the.":         nil, // they cancel out
		"unheard-of":   nil,
		"lamp\x00lamp": {1, 0},
		"":             nil,
	} {
		for _, m := range []*embed.Model{m, again} {
			got, err := m.Embed(t.Context(), []string{text})
			zero := got[0][0] == 0 && got[0][1] == 0
			if err != nil || zero != (want == nil) || want != nil && !near(got[0], want) {
				t.Errorf("%q has %v, want %v: %v", text, got, want, err)
			}
		}
	}
	for _, at := range []int{30, b.Len() / 2, b.Len() - 1} { // a byte changes, or the rest is lost
		changed := bytes.Clone(b.Bytes())
		changed[at] ^= 1
		for _, bad := range [][]byte{changed, b.Bytes()[:at]} {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := embed.ReadModel(path); err == nil {
				t.Errorf("a file that is broken at %d is read", at)
			}
		}
	}
}

// Numbers of half the size are read as well.
func TestHalfNumbers(t *testing.T) {
	for kind, codes := range map[string][]uint16{"F16": {0x3c00, 0xc000, 0x3800, 0x0001},
		"BF16": {0x3f80, 0xc000, 0x3f00, 0x3380}} {
		var data []byte
		for _, c := range codes {
			data = binary.LittleEndian.AppendUint16(data, c)
		}
		header := fmt.Sprintf(`{"embeddings":{"dtype":%q,"shape":[2,2],"data_offsets":[0,8]}}`, kind)
		file := slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), []byte(header), data)
		m, err := readPieces(file, strings.Replace(tokenizer, `{"[UNK]":0,"the":1,"lamp":2,"##s":3,"cafe":4,".":5}`,
			`{"the":0,"lamp":1}`, 1))
		if err != nil {
			t.Fatal(kind, err)
		}
		got, err := m.Embed(t.Context(), []string{"the", "lamp"})
		if err != nil || !near(got[0], []float32{1, -2}) || !near(got[1], []float32{0.5, 6e-8}) {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
}

func TestWrongFilesAreRefused(t *testing.T) {
	change := func(f func(t map[string]any)) []byte {
		return safetensors(numbers, func(h map[string]any) { f(h["embeddings"].(map[string]any)) })
	}
	whole := safetensors(numbers, nil)
	shape := func(n ...int) []byte { return change(func(t map[string]any) { t["shape"] = n }) }
	offsets := func(n ...int) []byte { return change(func(t map[string]any) { t["data_offsets"] = n }) }
	infinite := slices.Clone(numbers)
	infinite[3] = []float32{float32(math.Inf(1)), 0}
	for name, c := range map[string]struct {
		tensors   []byte
		tokenizer string
		want      string
	}{
		"nothing":            {nil, tokenizer, "safetensors"},
		"a long header":      {binary.LittleEndian.AppendUint64(nil, 1<<63), tokenizer, "safetensors"},
		"ONNX":               {[]byte("\x08\x07\x12\x07pytorch and so on"), tokenizer, "safetensors"},
		"cut":                {whole[:len(whole)-1], tokenizer, "does not fit"},
		"a shape too large":  {shape(1<<40, 1<<40), tokenizer, "does not fit"},
		"a negative shape":   {shape(-6, -2), tokenizer, "does not fit"},
		"offsets backwards":  {offsets(48, 0), tokenizer, "does not fit"},
		"offsets before it":  {offsets(-48, 0), tokenizer, "does not fit"},
		"other numbers":      {change(func(t map[string]any) { t["dtype"] = "I4" }), tokenizer, "unknown type"},
		"other rows":         {safetensors(numbers[:5], nil), tokenizer, "row for each"},
		"infinite numbers":   {safetensors(infinite, nil), tokenizer, "infinite"},
		"no tokenizer":       {whole, "", "tokenizer.json"},
		"another tokenizer":  {whole, strings.Replace(tokenizer, "WordPiece", "Unigram", 1), "only WordPiece"},
		"a token twice":      {whole, strings.Replace(tokenizer, `"the":1`, `"the":2`, 1), "wrongly"},
		"a number too large": {whole, strings.Replace(tokenizer, `"the":1`, `"the":99`, 1), "wrongly"},
	} {
		if m, err := readPieces(c.tensors, c.tokenizer); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, m != nil, err)
		}
	}
	for text, want := range map[string]string{
		"": "no word vectors", "the 1 2": "no word vectors", "the\nlamp\n": "not a word and", "the 1 2\nlamp 1\n": "line 2",
		"the 1 NaN\nlamp 1 2\n": "in the place of a number", strings.Repeat("x", 1<<18): "longer than",
		strings.Repeat("x", 300) + " 1 2\nb 1 2": "too much",
	} {
		if m, err := embed.ReadWords(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v", text, m != nil, err)
		}
	}
}

func ExampleReadWords() {
	m, err := embed.ReadWords(strings.NewReader("the 0.1 0.1\nlamp 1 0\ngleam 0.9 0.1\nboat 0 1\n"))
	fmt.Println(m.Rows, m.Length, err)
	// Output: 4 2 <nil>
}

func FuzzReadPieces(f *testing.F) {
	f.Add(safetensors(numbers, nil), tokenizer)
	f.Fuzz(func(t *testing.T, tensors []byte, tokens string) {
		if m, err := readPieces(tensors, tokens); err == nil {
			if _, err := m.Embed(t.Context(), []string{"The lamps, and the café."}); err != nil {
				t.Error(err)
			}
		}
	})
}
