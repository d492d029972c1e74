package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/store/words"
)

// damageSegments changes each segment file in place, as a disk that fails or a person does.
func damageSegments(t *testing.T, dir string, change func(f *os.File, size int64) error) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != segmentSuffix {
			return err
		}
		n++
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return change(f, info.Size())
	})
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
}

// TestOverwrittenSegmentsAreMadeAnew damages the files of a running library. Until the damage is noticed a search may say
// that the index is being built; then it finds everything again, and so does the next process.
func TestOverwrittenSegmentsAreMadeAnew(t *testing.T) {
	fill := func(b byte) func(*os.File, int64) error {
		return func(f *os.File, size int64) error {
			_, err := f.WriteAt([]byte(strings.Repeat(string([]byte{b}), int(size))), 0)
			return err
		}
	}
	for name, change := range map[string]func(*os.File, int64) error{
		"zeros": fill(0), "ones": fill(0xff), "text": fill('x'),
		"cut off": func(f *os.File, _ int64) error { return f.Truncate(0) },
		"its tail": func(f *os.File, size int64) error {
			_, err := f.WriteAt([]byte(strings.Repeat("\xff", int(size)/2)), size-size/2)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorld(), t.TempDir()
			for id := byte(1); id <= 40; id++ {
				w.put(id, &Doc{Name: "Lamp", Text: "the lamp of the harbour " + strings.Repeat("light ", int(id))})
			}
			closed(t, w.openSaved(t, dir))
			var mu sync.Mutex
			var warned []error
			l := w.openWarned(t, dir, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				warned = append(warned, err)
			})
			w.findsAll(t, l, 40)
			damageSegments(t, dir, change)
			l.indexFor(theWorld).expireCheck()
			w.findsAll(t, l, 40)
			mu.Lock()
			for _, err := range warned {
				if !errors.Is(err, ErrDamaged) {
					t.Error(err)
				}
			}
			mu.Unlock()
			closed(t, l)
			w.findsAll(t, w.open(t, dir), 40)
		})
	}
}

// openSaved opens a library that has saved its files.
func (w *world) openSaved(t *testing.T, dir string) *Library {
	t.Helper()
	l := w.open(t, dir)
	w.findsAll(t, l, len(w.docs))
	if err := l.saveIndex(t.Context(), l.indexFor(theWorld), maxSteps); err != nil {
		t.Fatal(err)
	}
	return l
}

// expireCheck makes the next comparison due, and damages nothing.
func (s *worldIndex) expireCheck() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = time.Unix(1, 0)
}

// findsAll searches until the index is there, and wants n documents.
func (w *world) findsAll(t *testing.T, l *Library, n int) {
	t.Helper()
	for {
		got := 0
		err := l.Find(t.Context(), theWorld, w, func(x *Index) error {
			r, err := x.Find(t.Context(), Query{Terms: words.Terms(canon.SearchQuery{Q: "harbour"}), Level: 1, Limit: 100})
			got = len(r.Hits)
			return err
		})
		if errors.Is(err, ErrBehind) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got == n {
			return
		}
		// Bytes that still look like a segment are noticed by the comparison, for which the background is woken.
		l.wakeBackground()
		if t.Context().Err() != nil || t.Failed() {
			t.Fatalf("%d documents are found, want %d", got, n)
		}
	}
}
