package search

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/words"
)

// saved returns a folder with a saved index of some documents.
func saved(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	r := rand.New(rand.NewPCG(7, 8))
	x := New()
	for range 30 {
		if err := x.Apply([]Doc{randomDoc(r, r.Uint64N(20))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(x.Freeze().Save(dir, Position{Seq: 3}, ""), x.Clear()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFilesAreReadableByOwnerOnly(t *testing.T) {
	dir := saved(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMissingFilesAreReportedAsNotExist(t *testing.T) {
	dir := saved(t)
	if _, _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is none: %v", err)
	}
	list, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	if err := os.Remove(list[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with a segment removed: %v", err)
	}
}

// TestLostFilesAreWrittenAgain saves into a folder that was deleted: all files are written again.
func TestLostFilesAreWrittenAgain(t *testing.T) {
	dir := saved(t)
	x, at, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(dir), x.Freeze().Save(dir, at, ""), x.Clear()); err != nil {
		t.Fatal(err)
	}
	x, _, err = Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Clear(); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsFound damages each file in many places: Load returns ErrDamaged each time.
func TestDamageIsFound(t *testing.T) {
	dir := saved(t)
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, 10))
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 40 {
			b := append([]byte(nil), whole...)
			switch {
			case n%8 == 0:
				b = b[:r.IntN(len(b))]
			case e.Name() == manifestName:
				continue // it is replaced and read as a whole: it can only be truncated
			default:
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			x, _, err := Load(dir)
			if err == nil {
				err = x.Clear()
			}
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s with %d of %d bytes, case %d: %v", e.Name(), len(b), len(whole), n, err)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeftoverFilesAreRemoved: the next save removes the files that a killed process left.
func TestLeftoverFilesAreRemoved(t *testing.T) {
	dir := saved(t)
	for _, name := range []string{"x.seg", manifestName + ".123"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x, at, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(x.Freeze().Save(dir, at, ""), x.Clear()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.seg", manifestName + ".123"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// TestSearchDuringChanges searches while documents change and segments are merged and saved. A
// document that never changes is found exactly once by each search.
func TestSearchDuringChanges(t *testing.T) {
	t.Run("on the heap", func(t *testing.T) { searchBesideChanges(t, scratch{}) })
	t.Run("in files", func(t *testing.T) { searchBesideChanges(t, scratch{t.TempDir(), 256}) })
}

func searchBesideChanges(t *testing.T, in scratch) {
	x, dir := New(), t.TempDir()
	x.scratch = in
	if err := x.Apply([]Doc{{ID: ID{15: 1, 0: 9}, Level: 1, Text: "evermore"}}, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, mode := range []canon.MatchMode{canon.MatchWord, canon.MatchSubstring} {
					r, err := x.Find(t.Context(), Query{Terms: words.Terms(canon.SearchQuery{Q: "evermore", Mode: mode}), Level: 1,
						Limit: 5})
					if err != nil || r.Total != 1 || len(r.Hits) != 1 {
						t.Errorf("%+v, %v", r, err)
						return
					}
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(11, 12))
	for n := range 300 {
		docs := make([]Doc, 1+r.IntN(40))
		for i := range docs {
			docs[i] = randomDoc(r, r.Uint64N(2000))
		}
		if err := x.Apply(docs, []ID{randomDoc(r, r.Uint64N(2000)).ID}); err != nil {
			t.Fatal(err)
		}
		if n%7 == 0 {
			wg.Go(func() {
				if err := x.Tidy(t.Context(), 2); err != nil {
					t.Error(err)
				}
			})
		}
		if n%50 == 0 {
			if err := x.Freeze().Save(dir, Position{Seq: uint64(n)}, ""); err != nil && !errors.Is(err, errGone) {
				t.Fatal(err)
			}
		}
	}
	close(done)
	wg.Wait()
	if left, err := os.ReadDir(cmp.Or(in.dir, t.TempDir())); err != nil || len(left) > 0 {
		t.Errorf("merges left %v, %v", left, err)
	}
	if err := x.Clear(); err != nil {
		t.Fatal(err)
	}
}

// TestFailedMergeChangesNothing lets a merge fail because its scratch folder cannot be made. The
// same merge succeeds once the folder can be made.
func TestFailedMergeChangesNothing(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	x, living := New(), map[ID]Doc{}
	x.scratch = scratch{taken, 1}
	for range fanout {
		var docs []Doc
		for i := range uint64(mergeNow) {
			d := randomDoc(r, i+uint64(len(living)))
			docs, living[d.ID] = append(docs, d), d
		}
		if err := x.Apply(docs, nil); err != nil {
			t.Fatal(err)
		}
	}
	q, shown := randomQuery(r)
	if err := x.Tidy(t.Context(), 1); err == nil {
		t.Error("a merge was written into a file that is no folder")
	}
	wantScan(t, x, living, q, shown)
	x.scratch.dir = t.TempDir()
	if err := x.Tidy(t.Context(), 1); err != nil {
		t.Error(err)
	}
	wantScan(t, x, living, q, shown)
}

// TestMergedSegmentsAreUnsaved merges segments that are stored in files: the merged segment is not
// saved yet.
func TestMergedSegmentsAreUnsaved(t *testing.T) {
	x, dir := New(), t.TempDir()
	for round := range byte(fanout) {
		docs := make([]Doc, mergeNow/fanout+1) // together more than a change merges at once
		for i := range docs {
			docs[i] = Doc{ID: ID{round, byte(i)}, Level: 1, Text: "ferry"}
		}
		if err := x.Apply(docs, nil); err != nil {
			t.Fatal(err)
		}
	}
	if x.isSaved() {
		t.Error("nothing was written, and is saved")
	}
	if err := x.Freeze().Save(dir, Position{}, ""); err != nil {
		t.Fatal(err)
	}
	y, _, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !x.isSaved() || !y.isSaved() {
		t.Error("all was written, and is not saved")
	}
	if err := y.Tidy(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if y.isSaved() {
		t.Error("segments were merged, and are saved")
	}
	if err := y.Clear(); err != nil {
		t.Fatal(err)
	}
}
