package exchange_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
)

// TestALookIsBounded looks at more than a look may keep: many files, long values, and very many members.
func TestALookIsBounded(t *testing.T) {
	long := []byte(`{"a": "` + strings.Repeat("x", 60<<10) + `", "b": "` + strings.Repeat("y", 100<<10) + `"}`)
	files := fstest.MapFS{}
	for i := range 500 {
		files[fmt.Sprintf("%d.json", i)] = &fstest.MapFile{Data: long}
	}
	var b strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&b, `,"%d":0`, i)
	}
	files["wide.json"] = &fstest.MapFile{Data: []byte("{" + b.String()[1:] + "}")}
	p := exchange.NewPeek(files, "")
	before := held()
	for _, name := range p.Paths() {
		if s := p.JSON(name); len(p.Head(name)) != 16<<10 || name != "wide.json" && !s.Has("a", "b") {
			t.Fatalf("%s: %d bytes, %d members", name, len(p.Head(name)), len(s.Members))
		}
	}
	if grown := held() - before; grown > 24<<20 {
		t.Errorf("a look keeps %d bytes", grown)
	}
	if n := len(p.JSON("wide.json").Members); n != 100_000 {
		t.Errorf("a shape has %d members", n)
	}
	runtime.KeepAlive(p)
}

// held returns the bytes of the heap that are in use.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
