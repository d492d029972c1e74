package exchange

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// held returns the bytes of the heap that are in use after f.
func held(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// The texts on a shelf are not in memory, and come back as they were.
func TestShelvesHoldNoText(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "texts"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shelf := NewShelf(f)
	var bodies []func(context.Context) (string, error)
	n := held(func() {
		for i := range 400 {
			body, err := shelf.Keep(strings.Repeat(string(rune('a'+i%26)), 100_000))
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
	})
	if n > 1<<20 {
		t.Errorf("400 texts of 100,000 bytes hold %d bytes of the heap", n)
	}
	for i, body := range bodies {
		if text, err := body(t.Context()); err != nil || text != strings.Repeat(string(rune('a'+i%26)), 100_000) {
			t.Fatalf("text %d: %d bytes, %v", i, len(text), err)
		}
	}
	for _, s := range []*Shelf{nil, shelf} {
		short, err := s.Keep("short")
		if text, bad := short(t.Context()); err != nil || bad != nil || text != "short" {
			t.Errorf("%q %v %v", text, err, bad)
		}
	}
}
