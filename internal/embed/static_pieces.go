package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Bounds of the files of model2vec.
const (
	maxHeader    = 1 << 20
	maxTokenizer = 64 << 20
)

// tokenizerFile is the part of a tokenizer.json that is used.
type tokenizerFile struct {
	Normalizer struct {
		Type         string
		Lowercase    *bool
		StripAccents *bool `json:"strip_accents"`
	}
	PreTokenizer struct{ Type string } `json:"pre_tokenizer"`
	Model        struct {
		Type   string
		Unk    string  `json:"unk_token"`
		Prefix *string `json:"continuing_subword_prefix"`
		Vocab  map[string]int
	}
}

// tensor describes a tensor of a safetensors file.
type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// sizes are the sizes of a number, by its type.
var sizes = map[string]int{"F32": 4, "F16": 2, "BF16": 2}

// ReadPieces reads a model of model2vec: its tensors, and its tokenizer. size is that of the tensors' file.
func ReadPieces(tensors io.ReaderAt, size int64, tokenizer io.Reader) (*Model, error) {
	tokens, err := readTokenizer(tokenizer)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json %w", err)
	}
	all, from, err := readHeader(tensors, size)
	if err != nil {
		return nil, fmt.Errorf("the model %w", err)
	}
	t, ok := all["embeddings"]
	if !ok || len(t.Shape) != 2 || t.Shape[0] != len(tokens.list) {
		return nil, fmt.Errorf("the model has no tensor \"embeddings\" with a row for each of the %d tokens; only models of "+
			"model2vec can be read", len(tokens.list))
	}
	info := tokens.Info
	info.Length = t.Shape[1]
	if info.Length < 2 || info.Length > maxLength || info.Rows*info.Length > maxNumbers {
		return nil, fmt.Errorf("the model's vectors have %d numbers; 2 to %d can be read, and %d in all", info.Length,
			maxLength, maxNumbers)
	}
	weights := make([]float32, info.Rows)
	for i := range weights {
		weights[i] = 1
	}
	if w, ok := all["weights"]; ok {
		if len(w.Shape) != 1 || w.Shape[0] != info.Rows {
			return nil, errors.New("the model's tensor \"weights\" has not one number for each token")
		}
		if err := readNumbers(tensors, from, w, 0, weights); err != nil {
			return nil, err
		}
	}
	m := newModel(info)
	m.tokens, m.list = tokens.tokens, tokens.list
	row := make([]float32, info.Length)
	for i := range info.Rows {
		if err := readNumbers(tensors, from, t, i*info.Length, row); err != nil {
			return nil, err
		}
		m.setRow(i, row, float64(weights[i]))
	}
	return m, nil
}

// readTokenizer returns a model with the tokens of a tokenizer, and without vectors.
func readTokenizer(r io.Reader) (*Model, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTokenizer+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxTokenizer {
		return nil, fmt.Errorf("is larger than %d MiB", maxTokenizer>>20)
	}
	var f tokenizerFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, errors.New("is not a tokenizer of Hugging Face's tokenizers")
	}
	if f.Model.Type != "WordPiece" || f.Normalizer.Type != "BertNormalizer" || f.PreTokenizer.Type != "BertPreTokenizer" {
		return nil, fmt.Errorf("has the tokens %.40q after %.40q; only WordPiece after BertNormalizer and BertPreTokenizer "+
			"can be read", f.Model.Type, f.Normalizer.Type)
	}
	rows := len(f.Model.Vocab)
	if rows < leastWords || rows > maxRows {
		return nil, fmt.Errorf("has %d tokens; %d to %d can be read", rows, leastWords, maxRows)
	}
	info := Info{Kind: WordPieces, Rows: rows, Prefix: "##", Unknown: f.Model.Unk, Lowercase: true}
	if f.Model.Prefix != nil {
		info.Prefix = *f.Model.Prefix
	}
	if f.Normalizer.Lowercase != nil {
		info.Lowercase = *f.Normalizer.Lowercase
	}
	info.Accents = !info.Lowercase
	if f.Normalizer.StripAccents != nil {
		info.Accents = !*f.Normalizer.StripAccents
	}
	m := &Model{Info: info, tokens: make(map[string]uint32, rows), list: make([]string, rows)}
	for token, row := range f.Model.Vocab {
		if row < 0 || row >= rows || m.list[row] != "" || token == "" || len(token) > maxToken {
			return nil, fmt.Errorf("numbers its tokens wrongly at %.40q", token)
		}
		m.tokens[token], m.list[row] = uint32(row), token
	}
	return m, nil
}

// readHeader returns the tensors of a safetensors file, and where their numbers begin.
func readHeader(r io.ReaderAt, size int64) (all map[string]tensor, from int64, err error) {
	bad := errors.New("is no safetensors file, or a broken one")
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, 0, bad
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n)+8 > size {
		return nil, 0, bad
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, 8); err != nil {
		return nil, 0, bad
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(header, &raw) != nil {
		return nil, 0, bad
	}
	from, all = 8+int64(n), map[string]tensor{}
	for name, b := range raw {
		var t tensor
		if name == "__metadata__" {
			continue
		}
		if json.Unmarshal(b, &t) != nil || !t.fits(size-from) {
			return nil, 0, fmt.Errorf("has a tensor %.40q that does not fit into the file, or of an unknown type", name)
		}
		all[name] = t
	}
	return all, from, nil
}

// fits reports whether a tensor lies within a number of bytes, and its shape fits its size.
func (t tensor) fits(bytes int64) bool {
	count := int64(1)
	for _, n := range t.Shape {
		if n < 1 || n > maxNumbers || count > maxNumbers {
			return false
		}
		count *= int64(n)
	}
	size := int64(sizes[t.Type])
	return size > 0 && count <= maxNumbers && t.Offsets[0] >= 0 && t.Offsets[1] <= bytes &&
		t.Offsets[1]-t.Offsets[0] == count*size
}

// readNumbers reads numbers of a tensor, from the nth on.
func readNumbers(r io.ReaderAt, from int64, t tensor, n int, into []float32) error {
	size := sizes[t.Type]
	b := make([]byte, size*len(into))
	if _, err := r.ReadAt(b, from+t.Offsets[0]+int64(n*size)); err != nil {
		return fmt.Errorf("the model cannot be read to its end: %w", err)
	}
	for i := range into {
		switch at := b[i*size:]; t.Type {
		case "F32":
			into[i] = math.Float32frombits(binary.LittleEndian.Uint32(at))
		case "F16":
			into[i] = halfToFloat(binary.LittleEndian.Uint16(at))
		default:
			into[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(at)) << 16)
		}
	}
	if !isFinite(into) || slices.ContainsFunc(into, func(x float32) bool { return x > 1e6 || x < -1e6 }) {
		return errors.New("the model has numbers that are infinite, undefined or beyond a million")
	}
	return nil
}

// halfToFloat converts a number of IEEE 754's binary16.
func halfToFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		v := float32(fraction) / (1 << 24)
		if sign != 0 {
			v = -v
		}
		return v
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
