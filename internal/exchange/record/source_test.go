package record

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
)

// A folder from an unknown source may hold pipes and devices: reading one would never end.
func TestOnlyPlainFilesAreRead(t *testing.T) {
	files := fstest.MapFS{
		"pipe.json": {Data: []byte("{}"), Mode: fs.ModeNamedPipe},
		"zero.json": {Data: []byte("{}"), Mode: fs.ModeDevice | fs.ModeCharDevice},
		"good.json": {Data: []byte("{}")},
	}
	s := newSource("test", exchange.Options{})
	for name := range files {
		if _, ok := s.ReadFile(files, name); ok != (name == "good.json") {
			t.Errorf("%s: read %v", name, ok)
		}
	}
	if len(s.collection.Problems) != 2 {
		t.Errorf("problems %v, want one for each that is left out", s.collection.Problems)
	}
}
