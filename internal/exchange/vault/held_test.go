package vault

import (
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// generated is a vault whose notes are made when they are read.
type generated struct {
	fs.FS
	text string
}

func (g generated) ReadFile(string) ([]byte, error) { return []byte(g.text), nil }

// A vault that is read holds the names and marks of its notes, not their texts.
func TestReadingAVaultHoldsNoTexts(t *testing.T) {
	names := fstest.MapFS{}
	for i := range 500 {
		names[fmt.Sprintf("note %d.md", i)] = &fstest.MapFile{}
	}
	files := generated{names, "---\ntags: [weir]\n---\n" + strings.Repeat("The mill stands by the weir. ", 4000)}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v, err := readVault(files, Options{})
	if err != nil || len(v.notes) != 500 {
		t.Fatalf("%d notes, %v", len(v.notes), err)
	}
	if err := v.indexNotes(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 4<<20 {
		t.Errorf("500 notes of 116,000 bytes hold %d bytes of the heap", n)
	}
	if n := v.notes[0]; !v.loadBody(n) || !strings.HasPrefix(n.Body, "The mill") || n.Head != "---\ntags: [weir]\n---\n" {
		t.Errorf("the text of a note is not found again: %.40q after %q", n.Body, n.Head)
	}
	files.text = "changed"
	v.files = files
	if n := v.notes[1]; v.loadBody(n) || len(n.Reports) != 1 {
		t.Errorf("a note that has changed meanwhile: %v", n.Reports)
	}
}
