package sqlite

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/racing"
)

func TestTidyMergesTheIndexAndChangesNoAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s, err := Open(t.Context(), Config{Path: path, Idle: time.Hour}) // the steps are the test's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p := newProse(1, 2000)
	for at := range 40 {
		mustWrite(t, s, func(tx canon.Tx) {
			for i := range 20 {
				n := at*20 + i
				text := p.text(racing.Share(500, 5))
				putDoc(t, tx, cardOf(n+1, fmt.Sprintf("Card %d", n), access.NewLabel(access.LevelUser), text), text)
			}
		})
	}
	answers := func() (list []canon.SearchResult) {
		for _, mode := range []canon.MatchMode{canon.MatchSubstring, canon.MatchWord} {
			for _, q := range []string{p.words[0], p.words[5] + " " + p.words[9], p.words[700], "ba"} {
				mustRead(t, s, func(r canon.Reader) error {
					a, err := r.Search(t.Context(), sightOf(access.LevelGM), canon.SearchQuery{Q: q, Mode: mode}, canon.Page{Limit: 20})
					list = append(list, a)
					return err
				})
			}
		}
		return list
	}
	before := answers()

	c, err := connect(t.Context(), s.cfg, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	b := batch{s: s, c: c}
	if table, err := b.scattered(t.Context()); table == "" {
		t.Fatalf("the writes left nothing to merge: %v", err)
	}
	for steps := 0; b.tidy(); steps++ {
		if steps > 10_000 {
			t.Fatal("there is no end to it")
		}
	}
	if table, err := b.scattered(t.Context()); table != "" || err != nil {
		t.Errorf("%q is left scattered: %v", table, err)
	}
	if !reflect.DeepEqual(before, answers()) {
		t.Error("a search answers otherwise than before")
	}
	if faults, err := s.Verify(t.Context()); len(faults) > 0 || err != nil {
		t.Errorf("faults %v: %v", faults, err)
	}
}
