package search

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// State identifies a state of a world's searchable documents.
type State struct {
	// Tag is the random name that the store gave the world, so that its index is not mistaken for
	// that of a world of another store.
	Tag string
	// Epoch rises when all documents are removed in order to be added again. Gen rises with each
	// change in an epoch.
	Epoch, Gen int64
	// Scrub rises when a text must be removed from all files of the index.
	Scrub int64
}

// Change is the state of a document as of a generation. Doc is nil if the document was removed.
type Change struct {
	Gen int64
	ID  ID
	Doc *Doc
}

// Source reads the searchable documents of a world, in one snapshot.
type Source interface {
	State(ctx context.Context) (State, error)
	// Changes returns the latest change of each document that changed after a generation, earliest
	// first, at most most of them.
	Changes(ctx context.Context, after int64, most int) ([]Change, error)
	// Documents returns some documents as of the snapshot. Those that it does not return are
	// removed.
	Documents(ctx context.Context, ids []ID) ([]Change, error)
	// Head returns the last commit of the world's stream. HasCommit reports whether the stream has
	// a commit. They distinguish an index of this world's past from one made before a backup was
	// restored.
	Head(ctx context.Context) (seq uint64, hash string, err error)
	HasCommit(ctx context.Context, seq uint64, hash string) (bool, error)
}

// ErrBehind is returned by Library.Find while an index is far behind its world, for example after
// its files were lost.
var ErrBehind = errors.New("search: the index of the world is being built")

// Library keeps the indexes of a store's worlds. An index is built when the world is first
// searched, or after many changes. A Library is safe for concurrent use, and several processes may
// share one folder.
type Library struct {
	cfg       LibraryConfig
	mu        sync.Mutex // guards indexes and unindexed
	indexes   map[ID]*worldIndex
	unindexed map[ID]int64 // number of changes by world that has no index yet
	wake      chan struct{}
	closing   context.CancelFunc
	stopped   chan struct{}
	began     time.Time
}

// LibraryConfig is the configuration of a Library.
type LibraryConfig struct {
	Dir string // folder of the files; "" keeps the indexes only in memory
	// Read runs f on a snapshot of a world's committed data.
	Read func(ctx context.Context, world ID, f func(Source) error) error
	// Worlds lists the worlds of the store. The folders of all others are removed.
	Worlds func(ctx context.Context) ([]ID, error)
	// Changed returns a channel that is closed at the store's next write.
	Changed func() <-chan struct{}
	// Warn is called with errors of background work, which is tried again.
	Warn func(err error)
}

// worldIndex is the index of a world with its state.
type worldIndex struct {
	world  ID
	files  *folder
	mu     sync.RWMutex // read-locked during searches, write-locked during changes
	index  *Index
	at     State
	recent []Change // latest changes without their documents: all of at.Epoch after since
	since  int64
	loaded bool
	began  time.Time // when the library was created: all snapshots are later
	// checked is when the files were last compared with their checksums. Guarded by mu
	checked time.Time
	saved   State // state of the files
	saving  sync.Mutex
	tried   time.Time // guarded by saving
}

const (
	// chunkSize is the number of documents read from a source in one step. maxSteps is the maximum
	// number of steps, and maxSearchWait the maximum time, that a search spends on catching up
	// before it returns ErrBehind.
	chunkSize     = 2000
	maxSteps      = 15
	maxSearchWait = 2 * time.Second
	// backgroundSteps is the number of such steps that the background takes before others get a
	// turn.
	backgroundSteps = 1
	// saveEvery is the interval at which a changing index is saved.
	saveEvery = 10 * time.Second
	// settleDelay is the time that the background waits after a change for further changes.
	settleDelay = 500 * time.Millisecond
)

// NewLibrary returns a library. It runs a background goroutine until it is closed.
func NewLibrary(cfg LibraryConfig) *Library {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Library{cfg: cfg, indexes: map[ID]*worldIndex{}, unindexed: map[ID]int64{}, wake: make(chan struct{}, 1),
		closing: cancel, stopped: make(chan struct{}), began: time.Now()}
	go l.run(ctx)
	return l
}

// Close stops the background goroutine and saves the indexes that changed.
func (l *Library) Close() (err error) {
	l.closing()
	<-l.stopped
	for _, s := range l.listIndexes() {
		if s.hasUnsavedChanges() {
			err = errors.Join(err, l.guard(s, func() error { return l.saveIndex(context.Background(), s, maxSteps) }))
		}
		err = errors.Join(err, s.close())
	}
	return err
}

func (l *Library) listIndexes() (all []*worldIndex) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.indexes {
		all = append(all, s)
	}
	return all
}

func (l *Library) indexFor(world ID) *worldIndex {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.indexes[world]
	if s == nil {
		s = &worldIndex{world: world, index: New(), files: newFolder(l.cfg.Dir, world), began: l.began}
		s.index.scratch = scratch{l.cfg.Dir, largeMerge}
		l.indexes[world] = s
	}
	return s
}

// Find calls f with the index of a world, as of the state of from. f must not keep the index.
func (l *Library) Find(ctx context.Context, world ID, from Source, f func(*Index) error) error {
	want, err := from.State(ctx)
	if err != nil {
		return err
	}
	s := l.indexFor(world)
	return l.guard(s, func() error { return l.findAsOf(ctx, s, want, from, f) })
}

// findAsOf calls f with an index as of a state, when it has caught up with it.
func (l *Library) findAsOf(ctx context.Context, s *worldIndex, want State, from Source, f func(*Index) error) error {
	for {
		s.mu.RLock()
		if s.loaded && s.at.hasReached(want) {
			defer s.mu.RUnlock()
			return s.withIndexAsOf(ctx, want, from, f)
		}
		s.mu.RUnlock()
		switch there, err := s.catchUpUntil(ctx, from, want, maxSteps, time.Now().Add(maxSearchWait)); {
		case err != nil && !errors.Is(err, ErrBehind):
			return err
		case !there:
			l.wakeBackground()
			return ErrBehind
		default:
			l.wakeBackground() // many new documents make many segments, to be merged
		}
	}
}

// withIndexAsOf calls f with the index as of a state that the index has reached. If the index has
// advanced since, the documents that changed are read from the caller's snapshot.
func (s *worldIndex) withIndexAsOf(ctx context.Context, want State, from Source, f func(*Index) error) error {
	if s.at.Epoch == want.Epoch && s.at.Gen == want.Gen {
		return f(s.index)
	}
	if s.at.Epoch != want.Epoch || want.Gen < s.since {
		// The snapshot is too old or of an earlier epoch. A retry has a current one.
		return overlayChanges(ctx, New(), from, 0, maxSnapshotDocs, f)
	}
	ids := map[ID]bool{}
	for _, c := range slices.Backward(s.recent) {
		if c.Gen <= want.Gen {
			break
		}
		ids[c.ID] = true
	}
	list, err := from.Documents(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return err
	}
	docs, gone := splitChanges(list)
	for _, d := range docs {
		delete(ids, d.ID)
	}
	return s.index.With(docs, slices.AppendSeq(gone, maps.Keys(ids)), f)
}

// maxSnapshotDocs is the maximum number of documents for which a temporary index of a whole
// snapshot is built.
const maxSnapshotDocs = 4096

// overlayChanges calls f with a base index plus the changes of a source after a generation. It
// returns ErrBehind if there are more than most changes.
func overlayChanges(ctx context.Context, base *Index, from Source, after int64, most int, f func(*Index) error) error {
	list, err := from.Changes(ctx, after, most+1)
	if err != nil {
		return err
	}
	if len(list) > most {
		return ErrBehind
	}
	docs, gone := splitChanges(list)
	return base.With(docs, gone, f)
}

// FindIn is Find within a transaction: from also reads the transaction's own writes, which no other
// search sees.
func (l *Library) FindIn(ctx context.Context, world ID, from Source, f func(*Index) error) error {
	want, err := from.State(ctx)
	if err != nil {
		return err
	}
	s := l.indexFor(world)
	return l.guard(s, func() error { return l.findUncommitted(ctx, s, want, from, f) })
}

func (l *Library) findUncommitted(ctx context.Context, s *worldIndex, want State, from Source,
	f func(*Index) error) error {
	if err := l.cfg.Read(ctx, s.world, func(durable Source) error {
		at, err := durable.State(ctx)
		if err == nil {
			_, err = s.catchUp(ctx, durable, at, maxSteps)
		}
		return err
	}); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	base, after := s.index, s.at.Gen
	if s.at.Tag != want.Tag || s.at.Epoch != want.Epoch {
		base, after = New(), 0 // the transaction emptied it
	}
	return overlayChanges(ctx, base, from, after, maxTxChanges, f)
}

// maxTxChanges is the maximum number of uncommitted changes that FindIn handles.
const maxTxChanges = 200_000

// hasReached reports whether an index of this state includes all that a search as of want needs.
func (a State) hasReached(want State) bool {
	return a.Tag == want.Tag && (a.Epoch > want.Epoch || a.Epoch == want.Epoch && a.Gen >= want.Gen)
}

// catchUp applies changes of a source, in at most steps steps, and reports whether the index has
// reached want.
func (s *worldIndex) catchUp(ctx context.Context, from Source, want State, steps int) (there bool, err error) {
	return s.catchUpUntil(ctx, from, want, steps, time.Time{})
}

// catchUpUntil is catchUp with a deadline after which no further step begins. Zero means no
// deadline.
func (s *worldIndex) catchUpUntil(ctx context.Context, from Source, want State, steps int,
	until time.Time) (there bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		if err := s.loadFiles(ctx, from); err != nil {
			return false, err
		}
	}
	if s.at.hasReached(want) {
		return true, nil
	}
	if s.at.Tag != want.Tag || s.at.Epoch != want.Epoch {
		if err := s.index.Clear(); err != nil {
			return false, err
		}
		s.at = State{Tag: want.Tag, Epoch: want.Epoch, Scrub: want.Scrub}
		s.recent, s.since = nil, 0
	}
	for range steps {
		if !until.IsZero() && time.Now().After(until) {
			break
		}
		list, err := from.Changes(ctx, s.at.Gen, chunkSize)
		if err != nil {
			return false, err
		}
		docs, gone := splitChanges(list)
		if err := s.index.Apply(docs, gone); err != nil {
			return false, err
		}
		s.rememberChanges(list)
		if len(list) < chunkSize {
			s.at.Gen = want.Gen
			return true, nil
		}
		s.at.Gen = list[len(list)-1].Gen
	}
	return s.at.hasReached(want), nil
}

// maxRecent is the number of latest changes that are remembered at least: how old a snapshot can be
// and still be searched with the current index.
const maxRecent = 1 << 15

func (s *worldIndex) rememberChanges(list []Change) {
	for _, c := range list {
		s.recent = append(s.recent, Change{Gen: c.Gen, ID: c.ID})
	}
	if over := len(s.recent) - maxRecent; over > maxRecent {
		s.since = s.recent[over-1].Gen
		s.recent = append(s.recent[:0:0], s.recent[over:]...)
	}
}

func splitChanges(list []Change) (docs []Doc, gone []ID) {
	for _, c := range list {
		if c.Doc == nil {
			gone = append(gone, c.ID)
		} else {
			docs = append(docs, *c.Doc)
		}
	}
	return docs, gone
}

func (s *worldIndex) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = false
	return errors.Join(s.index.Clear(), s.files.releaseLock())
}

// manyChanges is the number of changes after which an index is built before the first search.
const manyChanges = 1000

// Changed reports that this process made changes to a world. After many changes the world gets an
// index even if nobody has searched it yet.
func (l *Library) Changed(world ID, changes int64) {
	l.mu.Lock()
	many := false
	if l.indexes[world] == nil {
		l.unindexed[world] += changes
		if many = l.unindexed[world] >= manyChanges; many {
			delete(l.unindexed, world)
		}
	}
	l.mu.Unlock()
	if many {
		l.indexFor(world)
		l.wakeBackground()
	}
}

// wakeBackground wakes the background goroutine.
func (l *Library) wakeBackground() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run is the background goroutine. It keeps the indexes up to date, merges their segments and saves
// them.
func (l *Library) run(ctx context.Context) {
	defer close(l.stopped)
	l.warn(l.removeOrphans(ctx))
	pause := time.NewTimer(settleDelay)
	defer pause.Stop()
	for {
		changed := l.cfg.Changed()
		busy := false
		for _, s := range l.listIndexes() {
			more := false
			err := l.guard(s, func() (err error) {
				if err = s.checkIfDue(); err == nil {
					more, err = l.maintainIndex(ctx, s)
				}
				return err
			})
			busy = busy || more && err == nil // failures are not retried at once
			l.warn(err)
		}
		wait := saveEvery
		if busy { // searches wait for the remaining changes
			wait, changed = 0, nil
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-pause.C:
		case <-changed:
			select {
			case <-ctx.Done():
				return
			case <-time.After(settleDelay):
			}
		}
	}
}

func (l *Library) warn(err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrBehind) && l.cfg.Warn != nil {
		l.cfg.Warn(err)
	}
}

// maintainIndex brings an index up to date, merges its segments and saves it if that is due. It
// reports whether there are more changes to apply.
func (l *Library) maintainIndex(ctx context.Context, s *worldIndex) (more bool, err error) {
	var at State
	gone := false
	if err := l.cfg.Read(ctx, s.world, func(from Source) (err error) {
		if at, err = from.State(ctx); err != nil {
			return err
		}
		if gone = at.Tag == "" && s.hasTag(); gone {
			return nil
		}
		there, err := s.catchUp(ctx, from, at, backgroundSteps)
		more = !there
		return err
	}); err != nil {
		return more, err
	}
	if gone {
		return false, l.dropIndex(ctx, s)
	}
	share := 2
	if more {
		share = 1
	}
	if err := s.index.Tidy(ctx, share); err != nil {
		return more, err
	}
	scrub := s.scrubDue(at)
	if scrub || s.hasUnsavedChanges() && s.isSaveDue() {
		return more, l.saveIndex(ctx, s, backgroundSteps)
	}
	return more, nil
}

// hasTag reports whether the index was made from a world that the store had.
func (s *worldIndex) hasTag() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.at.Tag != ""
}

// dropIndex removes the index of a world that is no longer in the store, and its files.
func (l *Library) dropIndex(ctx context.Context, s *worldIndex) error {
	l.mu.Lock()
	delete(l.indexes, s.world)
	l.mu.Unlock()
	err := s.close()
	if _, there := os.Stat(s.files.path); s.files.path == "" || there != nil {
		return err
	}
	return errors.Join(err, l.removeOrphan(ctx, folderName(s.world)))
}

// isSaveDue reports whether the last attempt to save was at least saveEvery ago.
func (s *worldIndex) isSaveDue() bool {
	s.saving.Lock()
	defer s.saving.Unlock()
	return time.Since(s.tried) >= saveEvery
}

// hasUnsavedChanges reports whether the files are older than the index, or segments were merged
// since the last save: a new process would have to merge them again.
func (s *worldIndex) hasUnsavedChanges() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.loaded && s.files.path != "" && (s.saved.Tag != s.at.Tag || s.saved.Epoch != s.at.Epoch ||
		s.saved.Gen != s.at.Gen || !s.index.isSaved())
}

// scrubDue reports whether the files may contain a text that must be in no file.
func (s *worldIndex) scrubDue(now State) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.saved.Tag == now.Tag && s.saved.Scrub != now.Scrub
}
