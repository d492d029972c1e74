package boundstest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	be "encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/bound"
	"loregate/internal/programtest"
	"loregate/internal/wait"
)

// zeros reads as many zeros as are asked for.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// packed returns the gzip form of all that write writes.
func packed(write func(w io.Writer)) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	write(z)
	z.Close()
	return b.Bytes()
}

// shot is a file that is sent as an import.
type shot struct {
	name string
	data []byte
	says string // in the message of the import; "" is any end
	size bound.Size
}

// mostGrowth returns the greatest growth of the process, in MiB: the budget of the import, or maxGrowth.
func (s shot) mostGrowth() int64 { return max(maxGrowth, bound.BudgetOf(s.size).Memory>>20) }

// bombs are small files that become large.
func bombs(t *testing.T) []shot {
	bz2, err := os.ReadFile(filepath.Join("..", "..", "exchange", "unpack", "testdata", "bomb.bz2"))
	if err != nil {
		t.Fatal(err)
	}
	large := packed(func(w io.Writer) { io.CopyN(w, zeros{}, 600<<20) })
	twice := packed(func(w io.Writer) { w.Write(large) })
	tarred := packed(func(w io.Writer) {
		a := tar.NewWriter(w)
		a.WriteHeader(&tar.Header{Name: "a.md", Size: 600 << 20, Mode: 0o644})
		io.CopyN(a, zeros{}, 600<<20)
		a.Close()
	})
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, _ := z.Create("a.md")
	io.CopyN(w, zeros{}, 600<<20)
	z.Close()
	const grows, unknown = "times larger", "no format is recognized" // a layer within a file is refused where it is looked at
	coded := []byte(base64.StdEncoding.EncodeToString(large))
	return []shot{{"world.json.bz2", bz2, grows, bound.Size{}}, {"world.jsonl.gz", large, grows, bound.Size{}},
		{"world.lk", large, grows, bound.Size{}}, {"world.map", large, grows, bound.Size{}},
		{"twice.map", twice, unknown, bound.Size{}}, {"world.tar.gz", tarred, grows, bound.Size{}},
		{"world.zip", zipped.Bytes(), grows, bound.Size{}}, {"coded.map", coded, unknown, bound.Size{}}}
}

// crowds are sources of very many small things. scale divides their number.
func crowds(scale int) []shot {
	var notes bytes.Buffer
	z := zip.NewWriter(&notes)
	for i := range 99_000 / scale {
		w, _ := z.Create(fmt.Sprintf("n%d/note %d.md", i%100, i))
		fmt.Fprintf(w, "# Note %d\n\nThe mill number %d stands by the weir. See [[note %d]].\n", i, i, i+1)
	}
	z.Close()
	var book strings.Builder
	book.WriteString(`{"entries":{`)
	for i := range 300_000 / scale {
		if i > 0 {
			book.WriteByte(',')
		}
		fmt.Fprintf(&book, `"%d":{"key":["k%d"],"content":"c"}`, i, i)
	}
	book.WriteString("}}")
	columns := "name" + strings.Repeat(",c", 100_000/scale) + "\n" + strings.Repeat("The Float"+
		strings.Repeat(",x", 100_000/scale)+"\n", 20)
	many := "n0"
	for i := range 999 {
		many += fmt.Sprint(";n", i+1)
	}
	var related strings.Builder
	related.WriteString("name,ruler\n")
	for i := range 3000 / scale {
		fmt.Fprintf(&related, "n%d,%q\n", i, many)
	}
	commas := "name,x\nThe Float" + strings.Repeat(",", 10_000_000/scale) + "\n"
	quoted := "name,x\nThe Float" + strings.Repeat(",\"\n\"", 4_000_000/scale) + "\n"
	attributes := `<mediawiki><page` + strings.Repeat(` a=">"`, 4_000_000/scale) + `><title>Float</title></page></mediawiki>`
	var entries strings.Builder
	for i := range 400_000 / scale {
		if i > 0 {
			entries.WriteByte(',')
		}
		fmt.Fprintf(&entries, `{"keys":["k%d"],"content":"c"}`, i)
	}
	picture := pictureOf(`{"spec":"chara_card_v2","data":{"name":"Float","description":"x","character_book":{"entries":[` +
		entries.String() + `]}}}`)
	var story strings.Builder
	links := ""
	for i := range 1000 {
		links += fmt.Sprintf("[[p%d]]", i)
	}
	for i := range 1000 / scale {
		fmt.Fprintf(&story, ":: p%d\n%s\n\n", i, links)
	}
	deep := strings.Repeat("[", 10<<20/scale)
	of := func(text string) (s bound.Size) { s.Add(int64(len(text))); return s }
	return []shot{{"notes.zip", notes.Bytes(), "", bound.Size{Files: 99_000 / scale}},
		{"book.json", []byte(book.String()), "", of(book.String())}, {"columns.csv", []byte(columns), "", of(columns)},
		{"related.csv", []byte(related.String()), "", of(related.String())},
		{"commas.csv", []byte(commas), "", of(commas)}, {"quoted.csv", []byte(quoted), "", of(quoted)},
		{"story.twee", []byte(story.String()), "", of(story.String())},
		{"attributes.xml", []byte(attributes), "", of(attributes)}, {"card.png", []byte(picture), "", of(picture)},
		{"deep.json", []byte(deep), "no format is recognized", of(deep)}}
}

// pictureOf returns a PNG picture with a character card in it.
func pictureOf(card string) string {
	chunk := func(kind, body string) string {
		size := be.BigEndian.AppendUint32(nil, uint32(len(body)))
		return string(size) + kind + body + string(be.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(kind+body))))
	}
	return "\x89PNG\r\n\x1a\n" + chunk("tEXt", "chara\x00"+base64.StdEncoding.EncodeToString([]byte(card))) +
		chunk("IEND", "")
}

// TestBoundsOfImports sends files that become large, and files of very many small things, as imports.
func TestBoundsOfImports(t *testing.T) {
	programtest.Long(t)
	scale := 50
	if os.Getenv("BOUNDS") != "" {
		scale = 1
	}
	crowd := crowds(scale)
	onEachStore(t, func(t *testing.T, p *program) {
		shots := crowd
		if !p.onPostgres || scale == 1 { // no store sees a bomb
			shots = append(bombs(t), crowd...)
		}
		for _, s := range shots {
			p.attackWithin(s.name, s.mostGrowth(), func() {
				state, said := p.sendImport(s.name, s.data)
				t.Logf("%s of %d KiB: %s %.160s", s.name, len(s.data)>>10, state, said)
				if s.says != "" && (state != "failed" || !strings.Contains(said, s.says)) {
					t.Errorf("%s: %s, %s", s.name, state, said)
				}
			})
		}
		if status, answer := apptest.Send(t, "GET", p.url+"/api/mcp/cards", p.player, ""); status != http.StatusOK {
			t.Errorf("a player after the imports: %d %s", status, answer)
		}
	})
}

// sendImport sends a file as a check of an import and waits for its end.
func (p *program) sendImport(name string, data []byte) (state, said string) {
	p.t.Helper()
	status, answer := p.callPatiently(p.gm, "POST", "/api/imports", fileIn("main", name, data))
	if status > 299 {
		return "failed", string(answer)
	}
	var j jobOf
	if err := json.Unmarshal(answer, &j); err != nil {
		p.t.Fatalf("%v: %s", err, answer)
	}
	for ; j.open(); j = p.callJob(p.gm, "GET", "/api/imports/"+j.ID, "") {
		wait.For(p.t.Context(), time.Second)
	}
	return j.Status, j.Message
}
