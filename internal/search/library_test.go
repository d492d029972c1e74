package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/store/words"
	"loregate/internal/wait"
)

// world is a fake of the store's data of one world: the documents with their generations.
type world struct {
	mu      sync.Mutex
	at      State
	docs    map[ID]Change
	commits []string // hashes
	changed chan struct{}
	reads   int
}

func newWorld() *world {
	return &world{at: State{Tag: "tag", Epoch: 1}, docs: map[ID]Change{}, changed: make(chan struct{})}
}

// put commits a document; a nil document removes it.
func (w *world) put(id byte, d *Doc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at.Gen++
	if d != nil {
		d.ID, d.Level = ID{id}, 1
	}
	w.docs[ID{id}] = Change{Gen: w.at.Gen, ID: ID{id}, Doc: d}
	w.commits = append(w.commits, fmt.Sprintf("%d of %d, %v", w.at.Gen, id, d != nil))
	close(w.changed)
	w.changed = make(chan struct{})
}

// copied returns a copy of the world, such as a backup or an old snapshot.
func (w *world) copied() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := newWorld()
	c.at, c.commits = w.at, slices.Clone(w.commits)
	for id, d := range w.docs {
		c.docs[id] = d
	}
	return c
}

func (w *world) State(context.Context) (State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at, nil
}

func (w *world) Changes(_ context.Context, after int64, most int) (list []Change, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.docs {
		if c.Gen > after {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return int(a.Gen - b.Gen) })
	list = list[:min(most, len(list))]
	w.reads += len(list)
	return list, nil
}

func (w *world) Documents(_ context.Context, ids []ID) (list []Change, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if c, ok := w.docs[id]; ok {
			list = append(list, c)
		}
	}
	return list, nil
}

func (w *world) Head(context.Context) (uint64, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.commits) == 0 {
		return 0, "", nil
	}
	return uint64(len(w.commits)), w.commits[len(w.commits)-1], nil
}

func (w *world) HasCommit(_ context.Context, seq uint64, hash string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return seq == 0 || seq <= uint64(len(w.commits)) && w.commits[seq-1] == hash, nil
}

var theWorld = ID{1, 2, 3}

// open opens a library of this world, as a process does.
func (w *world) open(t *testing.T, dir string) *Library {
	t.Helper()
	return w.openWarned(t, dir, func(err error) { t.Error(err) })
}

func (w *world) openWarned(t *testing.T, dir string, warn func(error)) *Library {
	t.Helper()
	l := NewLibrary(LibraryConfig{
		Dir:  dir,
		Read: func(_ context.Context, _ ID, f func(Source) error) error { return f(w) },
		Worlds: func(context.Context) ([]ID, error) {
			if at, _ := w.State(t.Context()); at.Tag == "" { // never fails
				return nil, nil
			}
			return []ID{theWorld}, nil
		},
		Changed: func() <-chan struct{} {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.changed
		},
		Warn: warn,
	})
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func (w *world) finds(t *testing.T, l *Library, q string, want ...byte) {
	t.Helper()
	var got []byte
	if err := l.Find(t.Context(), theWorld, w, func(x *Index) error {
		r, err := x.Find(t.Context(), Query{Terms: words.Terms(canon.SearchQuery{Q: q}), Level: 1, Limit: 100})
		for _, h := range r.Hits {
			got = append(got, h.ID[0])
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !bytes.Equal(got, want) {
		t.Errorf("%q finds %v, want %v", q, got, want)
	}
}

func closed(t *testing.T, l *Library) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestACommitIsFoundAtOnce(t *testing.T) {
	w := newWorld()
	l := w.open(t, "")
	w.finds(t, l, "ferry")
	w.put(1, &Doc{Text: "the ferry"})
	w.finds(t, l, "ferry", 1)
	w.put(2, &Doc{Text: "a ferry"})
	w.put(1, &Doc{Text: "the bridge"})
	w.finds(t, l, "ferry", 2)
	w.put(2, nil)
	w.finds(t, l, "ferry")
	w.finds(t, l, "bridge", 1)
}

// TestOldSnapshotIsSearchedAsOfItsTime searches a snapshot that the index has advanced past.
func TestOldSnapshotIsSearchedAsOfItsTime(t *testing.T) {
	w := newWorld()
	l := w.open(t, "")
	w.put(1, &Doc{Text: "ferry"})
	w.put(2, &Doc{Text: "ferry"})
	w.finds(t, l, "ferry", 1, 2)
	before := w.copied()
	w.put(1, &Doc{Text: "bridge"})
	w.put(2, nil)
	w.put(3, &Doc{Text: "ferry"})
	w.finds(t, l, "ferry", 3)
	before.finds(t, l, "ferry", 1, 2)
	before.finds(t, l, "bridge")
	w.finds(t, l, "ferry", 3)
	for i := range 2*maxRecent + 1 {
		w.put(byte(4+i%4), &Doc{Text: "tunnel"})
		if i%400 == 0 {
			w.finds(t, l, "ferry", 3)
		}
	}
	w.finds(t, l, "ferry", 3)
	s := l.indexFor(theWorld)
	s.mu.Lock()
	s.since = s.at.Gen // as if that many different documents had changed
	s.mu.Unlock()
	before.finds(t, l, "ferry", 1, 2)
	before.finds(t, l, "tunnel")
	if err := l.Find(t.Context(), theWorld, large{before}, func(*Index) error { return nil }); !errors.Is(err, ErrBehind) {
		t.Errorf("a large snapshot of long ago: %v", err)
	}
	w.finds(t, l, "ferry", 3)
}

// large is a world with more documents than a temporary index may have.
type large struct{ *world }

func (large) Changes(_ context.Context, _ int64, most int) ([]Change, error) {
	return make([]Change, most), nil
}

// TestAnIndexIsReadFromItsFiles: after a restart only documents that changed since the save are
// read from the store.
func TestAnIndexIsReadFromItsFiles(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	l := w.open(t, dir)
	for i := range byte(50) {
		w.put(i, &Doc{Text: "ferry"})
	}
	w.finds(t, l, "ferry", all(50)...)
	closed(t, l)
	w.put(50, &Doc{Text: "ferry"})
	w.reads = 0
	l = w.open(t, dir)
	w.finds(t, l, "ferry", all(51)...)
	if w.reads != 1 {
		t.Errorf("%d documents were read, want the one that is new", w.reads)
	}
}

func all(n byte) (list []byte) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// TestIndexAheadOfRestoredBackupIsNotUsed restores a backup and adds as many other commits. No
// document of the discarded history is found.
func TestIndexAheadOfRestoredBackupIsNotUsed(t *testing.T) {
	for _, after := range []int{0, 1, 3} {
		w, dir := newWorld(), t.TempDir()
		w.put(1, &Doc{Text: "ferry"})
		backup := w.copied()
		w.put(2, &Doc{Text: "ferry of a time that never was"})
		l := w.open(t, dir)
		w.finds(t, l, "ferry", 1, 2)
		closed(t, l)
		for i := range after {
			backup.put(byte(10+i), &Doc{Text: "bridge"})
		}
		l = backup.open(t, dir)
		backup.finds(t, l, "ferry", 1)
		closed(t, l)
	}
}

// TestFilesNewerThanSnapshotReturnErrBehind has another process write the files between a snapshot
// and its search. That search returns ErrBehind, and the index is not rebuilt.
func TestFilesNewerThanSnapshotReturnErrBehind(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	other, l := w.open(t, dir), w.open(t, dir)
	w.put(1, &Doc{Text: "ferry"})
	snapshot := w.copied()
	w.put(2, &Doc{Text: "ferry"})
	w.finds(t, other, "ferry", 1, 2)
	if err := other.Flush(t.Context(), theWorld); err != nil {
		t.Fatal(err)
	}
	w.reads = 0
	if err := l.Find(t.Context(), theWorld, snapshot, func(*Index) error { return nil }); !errors.Is(err, ErrBehind) {
		t.Errorf("a snapshot of before the files: %v", err)
	}
	w.finds(t, l, "ferry", 1, 2)
	if w.reads+snapshot.reads > 0 {
		t.Errorf("%d documents were read, which the files have", w.reads+snapshot.reads)
	}
}

// brokenSource is a world whose HasCommit fails.
type brokenSource struct{ *world }

var errBroken = errors.New("broken")

func (brokenSource) HasCommit(context.Context, uint64, string) (bool, error) { return false, errBroken }

// TestFailedLoadIsRetried: after a failed load the next search uses the files.
func TestFailedLoadIsRetried(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	w.put(1, &Doc{Text: "ferry"})
	l := w.open(t, dir)
	w.finds(t, l, "ferry", 1)
	closed(t, l)
	w.reads = 0
	s := newIndexWithoutBackground(dir)
	if _, err := s.catchUp(t.Context(), brokenSource{w}, w.at, maxSteps); !errors.Is(err, errBroken) {
		t.Errorf("a broken source: %v", err)
	}
	if there, err := s.catchUp(t.Context(), w, w.at, maxSteps); err != nil || !there {
		t.Errorf("the next load: %v, %v", there, err)
	}
	if w.reads > 0 {
		t.Errorf("%d documents were read, which the files have", w.reads)
	}
}

// newIndexWithoutBackground returns an index that only the test brings up to date. The background
// of a library might do so first.
func newIndexWithoutBackground(dir string) *worldIndex {
	return &worldIndex{world: theWorld, index: New(), files: newFolder(dir, theWorld), began: time.Now()}
}

func TestNewEpochRebuildsIndex(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	l := w.open(t, dir)
	w.put(1, &Doc{Text: "ferry"})
	w.put(2, &Doc{Text: "ferry"})
	w.finds(t, l, "ferry", 1, 2)
	w.mu.Lock()
	w.at.Epoch, w.at.Gen, w.docs = 2, 0, map[ID]Change{}
	w.mu.Unlock()
	w.put(2, &Doc{Text: "bridge"})
	w.finds(t, l, "ferry")
	w.finds(t, l, "bridge", 2)
}

// TestOnlyOneProcessWritesFiles opens a folder twice: both libraries find everything, only one
// writes.
func TestOnlyOneProcessWritesFiles(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	a, b := w.open(t, dir), w.open(t, dir)
	w.put(1, &Doc{Text: "ferry"})
	w.finds(t, a, "ferry", 1)
	if err := a.saveIndex(t.Context(), a.indexFor(theWorld), maxSteps); err != nil {
		t.Fatal(err)
	}
	w.put(2, &Doc{Text: "ferry"})
	w.finds(t, b, "ferry", 1, 2)
	closed(t, b)
	if _, at, err := Load(a.indexFor(theWorld).files.path); err != nil || at.Gen != 1 {
		t.Errorf("the files hold %+v, %v; the second was not to write", at, err)
	}
	w.finds(t, a, "ferry", 1, 2)
	closed(t, a)
	if x, at, err := Load(a.indexFor(theWorld).files.path); err != nil || at.Gen != 2 || x.Clear() != nil {
		t.Errorf("the files hold %+v, %v", at, err)
	}
}

// TestScrubRemovesErasedText scrubs a loaded index, and an index that a new process has not loaded
// yet.
func TestScrubRemovesErasedText(t *testing.T) {
	for _, again := range []bool{false, true} {
		w, dir := newWorld(), t.TempDir()
		l := w.open(t, dir)
		for i := range byte(20) {
			w.put(i, &Doc{Text: "unspeakable ferry"})
		}
		w.finds(t, l, "unspeakable", all(20)...)
		if err := l.saveIndex(t.Context(), l.indexFor(theWorld), maxSteps); err != nil {
			t.Fatal(err)
		}
		if !holds(t, dir, "unspeakable") {
			t.Fatal("the word is in no file to begin with")
		}
		for i := range byte(20) {
			w.put(i, &Doc{Text: "ferry"})
		}
		if again {
			closed(t, l)
			l = w.open(t, dir)
		}
		w.mu.Lock()
		w.at.Scrub++
		w.mu.Unlock()
		if err := l.Scrub(t.Context(), theWorld); err != nil {
			t.Fatal(err)
		}
		if holds(t, dir, "unspeakable") {
			t.Errorf("after the scrub a file holds it; in a new process: %v", again)
		}
		w.finds(t, l, "ferry", all(20)...)
		closed(t, l)
	}
}

func holds(t *testing.T, dir, word string) (found bool) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var b []byte
			b, err = os.ReadFile(path)
			found = found || bytes.Contains(b, []byte(word))
		}
		if errors.Is(err, fs.ErrNotExist) { // the background renames its temporary files
			return nil
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLostFolderIsRecreated deletes the folder under an open library, then opens a new library.
func TestLostFolderIsRecreated(t *testing.T) {
	w, dir := newWorld(), filepath.Join(t.TempDir(), "search")
	l := w.open(t, dir)
	w.put(1, &Doc{Text: "ferry"})
	w.finds(t, l, "ferry", 1)
	if err := errors.Join(l.saveIndex(t.Context(), l.indexFor(theWorld), maxSteps), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	w.finds(t, l, "ferry", 1)
	w.put(2, &Doc{Text: "ferry"})
	w.finds(t, l, "ferry", 1, 2)
	closed(t, l)
	l = w.open(t, dir)
	w.finds(t, l, "ferry", 1, 2)
	closed(t, l)
}

// TestIndexOfDiscardedWorldIsRemoved discards a world while its index is in use. Another world of the same id
// that comes later gets an index of its own.
func TestIndexOfDiscardedWorldIsRemoved(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	w.put(1, &Doc{Text: "ferry"})
	l := w.open(t, dir)
	w.finds(t, l, "ferry", 1)
	if err := l.Flush(t.Context(), theWorld); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.at, w.docs, w.commits = State{}, map[ID]Change{}, nil
	close(w.changed)
	w.changed = make(chan struct{})
	w.mu.Unlock()
	for end := time.Now().Add(10 * time.Second); ; {
		list, err := os.ReadDir(dir)
		if len(list) == 0 {
			break
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("there are %v, %v; want no files", list, err)
		}
		wait.For(t.Context(), 10*time.Millisecond)
	}
	w.mu.Lock()
	w.at = State{Tag: "another", Epoch: 1}
	w.mu.Unlock()
	w.put(2, &Doc{Text: "ferry"})
	w.finds(t, l, "ferry", 2)
	closed(t, l)
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("there are %v, %v; want the world's files again", list, err)
	}
}

func TestFoldersOfOtherWorldsAreRemoved(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	for _, name := range []string{"0909", "rubbish"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.put(1, &Doc{Text: "ferry"})
	l := w.open(t, dir)
	w.finds(t, l, "ferry", 1)
	closed(t, l)
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Errorf("there are %v, %v; want the world's alone", list, err)
	}
}

// TestFolderInUseIsNotRemoved: a folder whose world is not known stays while somebody holds its lock,
// and if its world has been created before it is removed.
func TestFolderInUseIsNotRemoved(t *testing.T) {
	dir, late := t.TempDir(), ID{9}
	asked := 0
	l := &Library{cfg: LibraryConfig{Dir: dir, Worlds: func(context.Context) ([]ID, error) {
		if asked++; asked == 1 {
			return nil, nil
		}
		return []ID{late}, nil
	}}}
	held := newFolder(dir, theWorld)
	if ok, err := held.tryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, folderName(late)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.removeOrphans(t.Context()); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("there are %v, %v; want both", list, err)
	}
	if err := errors.Join(held.releaseLock(), l.removeOrphans(t.Context())); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 || list[0].Name() != folderName(late) {
		t.Errorf("there are %v, %v; want the known world's alone", list, err)
	}
}

// TestFindReturnsErrBehindUntilCaughtUp: while an index is built from many documents, Find returns
// no partial results; when it is done, Find returns all.
func TestFindReturnsErrBehindUntilCaughtUp(t *testing.T) {
	w := newWorld()
	// The background reads chunks beside Find, by turns, so twice maxSteps may be read by one call.
	const n = 3 * chunkSize * maxSteps
	for i := range n {
		d := &Doc{ID: ID{1, byte(i >> 16), byte(i >> 8), byte(i)}, Level: 1, Text: "ferry"}
		w.at.Gen++
		w.docs[d.ID] = Change{Gen: w.at.Gen, ID: d.ID, Doc: d}
	}
	l := w.open(t, "")
	behind := 0
	for end := time.Now().Add(time.Minute); ; {
		total := 0
		err := l.Find(t.Context(), theWorld, w, func(x *Index) error {
			r, err := x.Find(t.Context(), Query{Terms: words.Terms(canon.SearchQuery{Q: "ferry"}), Level: 1, Limit: 1})
			total = r.Total
			return err
		})
		if err == nil {
			if total != n || behind == 0 {
				t.Errorf("%d are found of %d, after it was behind %d times", total, n, behind)
			}
			return
		}
		if behind++; !errors.Is(err, ErrBehind) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestTransactionFindsOwnChanges: a transaction finds its own changes, other searches do not.
func TestTransactionFindsOwnChanges(t *testing.T) {
	w := newWorld()
	l := w.open(t, "")
	w.put(1, &Doc{Text: "ferry"})
	own := w.copied()
	own.put(2, &Doc{Text: "ferry"})
	own.put(1, &Doc{Text: "bridge"})
	find := func(want ...byte) {
		t.Helper()
		var got []byte
		if err := l.FindIn(t.Context(), theWorld, own, func(x *Index) error {
			r, err := x.Find(t.Context(), Query{Terms: words.Terms(canon.SearchQuery{Q: "ferry"}), Level: 1, Limit: 9})
			for _, h := range r.Hits {
				got = append(got, h.ID[0])
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the transaction finds %v, want %v", got, want)
		}
	}
	find(2)
	w.finds(t, l, "ferry", 1)
	own.at.Epoch, own.at.Gen, own.docs = 2, 0, map[ID]Change{}
	own.put(3, &Doc{Text: "ferry"})
	find(3)
	w.finds(t, l, "ferry", 1)
}

// TestConcurrentSearchesFindCommittedDocs searches concurrently while documents change. Each search
// finds all documents that were committed before it began.
func TestConcurrentSearchesFindCommittedDocs(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	libraries := []*Library{w.open(t, dir), w.open(t, dir)}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				w.mu.Lock()
				least := 0
				for _, c := range w.docs {
					if c.Doc != nil {
						least++
					}
				}
				w.mu.Unlock()
				if err := libraries[i%2].Find(t.Context(), theWorld, w, func(x *Index) error {
					r, err := x.Find(t.Context(), Query{Terms: words.Terms(canon.SearchQuery{Q: "ferry"}), Level: 1, Limit: 1})
					if r.Total < least {
						t.Errorf("%d are found, %d were there", r.Total, least)
					}
					return err
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		w.put(byte(r.IntN(200)), &Doc{Text: "ferry"})
		if i%40 == 0 {
			for _, l := range libraries {
				if err := l.saveIndex(t.Context(), l.indexFor(theWorld), maxSteps); err != nil {
					t.Error(err)
				}
			}
		}
	}
	close(done)
	wg.Wait()
}

// TestVerifyFindsDifferences changes the index in several ways without the library's knowledge.
func TestVerifyFindsDifferences(t *testing.T) {
	for name, spoil := range map[string]func(x *Index) error{
		"nothing":         func(*Index) error { return nil },
		"one is missing":  func(x *Index) error { return x.Apply(nil, []ID{{3}}) },
		"one too many":    func(x *Index) error { return x.Apply([]Doc{{ID: ID{99}, Level: 1}}, nil) },
		"another text":    func(x *Index) error { return x.Apply([]Doc{{ID: ID{3}, Level: 1, Text: "bridge"}}, nil) },
		"another level":   func(x *Index) error { return x.Apply([]Doc{{ID: ID{3}, Level: 2, Text: "ferry"}}, nil) },
		"a word is there": func(x *Index) error { return x.Apply([]Doc{{ID: ID{3}, Level: 1, Text: "ferry ferry"}}, nil) },
	} {
		w := newWorld()
		l := w.open(t, t.TempDir())
		for i := range byte(5) {
			w.put(i, &Doc{Text: "ferry"})
		}
		w.put(4, nil)
		w.finds(t, l, "ferry", all(4)...)
		if err := spoil(l.indexFor(theWorld).index); err != nil {
			t.Fatal(err)
		}
		wrong, err := l.Verify(t.Context())
		if err != nil || (len(wrong) > 0) != (name != "nothing") {
			t.Errorf("%s: %v, %v", name, wrong, err)
		}
	}
}

// TestManyChangesCreateIndex: many small changes to a world create its index before the first
// search.
func TestManyChangesCreateIndex(t *testing.T) {
	w := newWorld()
	l := w.open(t, t.TempDir())
	defer closed(t, l)
	w.put(1, &Doc{Text: "ferry"})
	for range manyChanges - 1 {
		l.Changed(theWorld, 1)
	}
	if len(l.listIndexes()) != 0 {
		t.Error("an index was made for a few changes")
	}
	l.Changed(theWorld, 1)
	if len(l.listIndexes()) != 1 {
		t.Error("many small changes make no index")
	}
}

// TestIndexBehindItsWorldIsSaved: an index that is behind is saved, and the next process continues
// from there. Until an erasure is applied, the files do not claim that it is.
func TestIndexBehindItsWorldIsSaved(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	l := w.open(t, dir)
	w.put(1, &Doc{Text: "unspeakable ferry"})
	w.finds(t, l, "ferry", 1)
	s := l.indexFor(theWorld)
	if err := l.saveIndex(t.Context(), s, maxSteps); err != nil {
		t.Fatal(err)
	}
	w.put(1, &Doc{Text: "ferry"})
	w.put(2, &Doc{Text: "ferry"})
	w.mu.Lock()
	w.at.Scrub++
	w.mu.Unlock()
	if err := l.saveIndex(t.Context(), s, 0); err != nil {
		t.Fatal(err)
	}
	due := s.scrubDue(w.at) // the background may save between the following lines
	x, at, err := Load(s.files.path)
	if err != nil || x.Clear() != nil {
		t.Fatal(err)
	}
	if at.Scrub == 0 && !due || at.Scrub != 0 && holds(t, dir, "unspeakable") {
		t.Errorf("files that go to %+v say that nothing erased is in them", at)
	}
	if err := l.Scrub(t.Context(), theWorld); err != nil || holds(t, dir, "unspeakable") {
		t.Errorf("after the scrub the files hold it: %v", err)
	}
	closed(t, l)
	l = w.open(t, dir)
	w.finds(t, l, "ferry", 1, 2)
	closed(t, l)
}

// TestCatchUpStopsAtDeadline: after its deadline, catchUpUntil applies no changes.
func TestCatchUpStopsAtDeadline(t *testing.T) {
	w := newWorld()
	w.put(1, &Doc{Text: "ferry"})
	s := newIndexWithoutBackground("")
	if there, err := s.catchUpUntil(t.Context(), w, w.at, maxSteps, time.Now().Add(-time.Second)); err != nil || there ||
		s.at.Gen != 0 {
		t.Errorf("past its time it went to %+v, %v", s.at, err)
	}
	if there, err := s.catchUpUntil(t.Context(), w, w.at, maxSteps, time.Now().Add(time.Hour)); err != nil || !there {
		t.Errorf("in time it went to %+v, %v", s.at, err)
	}
}
