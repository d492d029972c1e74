package search

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// State is how far the changes of a world go.
type State struct {
	// Tag is the store's own name for the world, by chance, so that the index of a world is
	// not taken for that of another store's.
	Tag string
	// Epoch rises when all is taken out to be put in anew, Gen with each change of an epoch.
	Epoch, Gen int64
	// Scrub rises when a text must be gone from every file that the index wrote.
	Scrub int64
}

// Change is how a document is since a generation: nil where it is gone.
type Change struct {
	Gen int64
	ID  ID
	Doc *Doc
}

// Source reads what is searched of a world, in one snapshot.
type Source interface {
	State(ctx context.Context) (State, error)
	// Changes gives the latest change of each document that changed after a generation, the
	// earliest first, most of them at most.
	Changes(ctx context.Context, after int64, most int) ([]Change, error)
	// Documents gives some documents as they are in the snapshot; those that are not there
	// are gone.
	Documents(ctx context.Context, ids []ID) ([]Change, error)
	// Head gives the last commit of the world's stream, and HasCommit whether it has one: by
	// them an index of before a restored backup is told from one of its past.
	Head(ctx context.Context) (seq uint64, hash string, err error)
	HasCommit(ctx context.Context, seq uint64, hash string) (bool, error)
}

// ErrBehind is what Library.Find answers while an index is far behind its world, as after
// its files were lost.
var ErrBehind = errors.New("search: the index of the world is being made")

// Library keeps the indexes of a store's worlds, each as far as somebody asked for it.
// It is safe for concurrent use, and several processes may have one folder.
type Library struct {
	cfg     LibraryConfig
	mu      sync.Mutex // guards shelves and untaken
	shelves map[ID]*shelf
	untaken map[ID]int64 // changes by world that has no shelf yet
	wake    chan struct{}
	closing context.CancelFunc
	stopped chan struct{}
	began   time.Time
}

// LibraryConfig says where the indexes of a store are kept, and how its worlds are read.
type LibraryConfig struct {
	Dir string // of the files; "" keeps the indexes in memory alone
	// Read runs f on what is durable of a world.
	Read func(ctx context.Context, world ID, f func(Source) error) error
	// Worlds lists the worlds that the store has; the folders of others are removed.
	Worlds func(ctx context.Context) ([]ID, error)
	// Changed is closed at the store's next write.
	Changed func() <-chan struct{}
	// Warn is told what went wrong in the background, and will be tried again.
	Warn func(err error)
}

// shelf is a world's index with how far it goes.
type shelf struct {
	world  ID
	files  *folder
	mu     sync.RWMutex // held to read while the index answers, to write while it changes
	index  *Index
	at     State
	recent []Change // the latest, without their documents: all of at's epoch after since
	since  int64
	loaded bool
	began  time.Time // when the library was made: all snapshots are later
	saved  State     // what the files hold
	saving sync.Mutex
	tried  time.Time // guarded by saving
}

const (
	// chunk is how many documents are taken in at a time, and waitFor how many times, and
	// patience how long, a search does that before it answers ErrBehind.
	chunk    = 2000
	waitFor  = 15
	patience = 2 * time.Second
	// atOnce is how many times the background does that before it lets others.
	atOnce = 1
	// saveEvery is how often the files of an index that changes are written.
	saveEvery = 10 * time.Second
	// settle is how long the background waits after a change, for others that follow.
	settle = 500 * time.Millisecond
)

// NewLibrary makes a library, which works in the background until it is closed.
func NewLibrary(cfg LibraryConfig) *Library {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Library{cfg: cfg, shelves: map[ID]*shelf{}, untaken: map[ID]int64{}, wake: make(chan struct{}, 1), closing: cancel, stopped: make(chan struct{}), began: time.Now()}
	go l.run(ctx)
	return l
}

// Close ends the background's work, and writes the indexes that changed.
func (l *Library) Close() (err error) {
	l.closing()
	<-l.stopped
	for _, s := range l.list() {
		if s.changed() {
			err = errors.Join(err, l.save(context.Background(), s, waitFor))
		}
		err = errors.Join(err, s.close())
	}
	return err
}

func (l *Library) list() (all []*shelf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shelves {
		all = append(all, s)
	}
	return all
}

func (l *Library) shelf(world ID) *shelf {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shelves[world]
	if s == nil {
		s = &shelf{world: world, index: New(), files: newFolder(l.cfg.Dir, world), began: l.began}
		s.index.scratch = scratch{l.cfg.Dir, largeMerge}
		l.shelves[world] = s
	}
	return s
}

// Find gives f the index of a world, with at least all that its source has. f must not keep
// it.
func (l *Library) Find(ctx context.Context, world ID, from Source, f func(*Index) error) error {
	want, err := from.State(ctx)
	if err != nil {
		return err
	}
	s := l.shelf(world)
	for {
		s.mu.RLock()
		if s.loaded && s.at.holds(want) {
			defer s.mu.RUnlock()
			return s.asOf(ctx, want, from, f)
		}
		s.mu.RUnlock()
		switch there, err := s.followUntil(ctx, from, want, waitFor, time.Now().Add(patience)); {
		case err != nil && !errors.Is(err, ErrBehind):
			return err
		case !there:
			l.nudge()
			return ErrBehind
		default:
			l.nudge() // many documents at once are many segments
		}
	}
}

// asOf gives f the index as it was at a state, which it holds: where it has gone on since,
// what changed is taken from the snapshot of that time.
func (s *shelf) asOf(ctx context.Context, want State, from Source, f func(*Index) error) error {
	if s.at.Epoch == want.Epoch && s.at.Gen == want.Gen {
		return f(s.index)
	}
	if s.at.Epoch != want.Epoch || want.Gen < s.since {
		// Of long ago, or before all was taken out: who asks again has a snapshot of now.
		return overlaid(ctx, New(), from, 0, maxAnew, f)
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
	docs, gone := split(list)
	for _, d := range docs {
		delete(ids, d.ID)
	}
	return s.index.With(docs, slices.AppendSeq(gone, maps.Keys(ids)), f)
}

// maxAnew is how many documents a snapshot may have for which an index is made for one answer.
const maxAnew = 4096

// overlaid gives f a base with the changes of a source after a generation, of which there may
// be so many at most.
func overlaid(ctx context.Context, base *Index, from Source, after int64, most int, f func(*Index) error) error {
	list, err := from.Changes(ctx, after, most+1)
	if err != nil {
		return err
	}
	if len(list) > most {
		return ErrBehind
	}
	docs, gone := split(list)
	return base.With(docs, gone, f)
}

// FindIn is Find for a transaction under way: from reads what it has written, too, which
// no other search gets to see.
func (l *Library) FindIn(ctx context.Context, world ID, from Source, f func(*Index) error) error {
	want, err := from.State(ctx)
	if err != nil {
		return err
	}
	s := l.shelf(world)
	if err := l.cfg.Read(ctx, world, func(durable Source) error {
		at, err := durable.State(ctx)
		if err == nil {
			_, err = s.follow(ctx, durable, at, waitFor)
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
	return overlaid(ctx, base, from, after, maxOwn, f)
}

// maxOwn is how many changes of its own a transaction may search.
const maxOwn = 200_000

// holds reports whether an index that goes so far has all that a search must find.
func (a State) holds(want State) bool {
	return a.Tag == want.Tag && (a.Epoch > want.Epoch || a.Epoch == want.Epoch && a.Gen >= want.Gen)
}

// follow takes in what a source has besides, some steps of it, and reports whether it is
// all.
func (s *shelf) follow(ctx context.Context, from Source, want State, steps int) (there bool, err error) {
	return s.followUntil(ctx, from, want, steps, time.Time{})
}

// followUntil is follow that begins no step after a time; zero is never.
func (s *shelf) followUntil(ctx context.Context, from Source, want State, steps int, until time.Time) (there bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		if err := s.load(ctx, from); err != nil {
			return false, err
		}
	}
	if s.at.holds(want) {
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
		list, err := from.Changes(ctx, s.at.Gen, chunk)
		if err != nil {
			return false, err
		}
		docs, gone := split(list)
		if err := s.index.Apply(docs, gone); err != nil {
			return false, err
		}
		s.remember(list)
		if len(list) < chunk {
			s.at.Gen = want.Gen
			return true, nil
		}
		s.at.Gen = list[len(list)-1].Gen
	}
	return s.at.holds(want), nil
}

// maxRecent is how many changes back, at least, a snapshot may be that is searched.
const maxRecent = 1 << 15

func (s *shelf) remember(list []Change) {
	for _, c := range list {
		s.recent = append(s.recent, Change{Gen: c.Gen, ID: c.ID})
	}
	if over := len(s.recent) - maxRecent; over > maxRecent {
		s.since = s.recent[over-1].Gen
		s.recent = append(s.recent[:0:0], s.recent[over:]...)
	}
}

func split(list []Change) (docs []Doc, gone []ID) {
	for _, c := range list {
		if c.Doc == nil {
			gone = append(gone, c.ID)
		} else {
			docs = append(docs, *c.Doc)
		}
	}
	return docs, gone
}

func (s *shelf) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = false
	return errors.Join(s.index.Clear(), s.files.release())
}

// manyChanges is how many changes make it worth to read an index before anybody searches
// the world.
const manyChanges = 1000

// Changed tells of changes to a world that were made here: after many, the index follows
// though nobody asked for it yet.
func (l *Library) Changed(world ID, changes int64) {
	l.mu.Lock()
	many := false
	if l.shelves[world] == nil {
		l.untaken[world] += changes
		if many = l.untaken[world] >= manyChanges; many {
			delete(l.untaken, world)
		}
	}
	l.mu.Unlock()
	if many {
		l.shelf(world)
		l.nudge()
	}
}

// nudge wakes the background.
func (l *Library) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run follows the worlds that were asked for, merges what is scattered, and writes files.
func (l *Library) run(ctx context.Context) {
	defer close(l.stopped)
	l.warn(l.removeOrphans(ctx))
	pause := time.NewTimer(settle)
	defer pause.Stop()
	for {
		changed := l.cfg.Changed()
		busy := false
		for _, s := range l.list() {
			more, err := l.keepUp(ctx, s)
			busy = busy || more && err == nil // what fails is not tried again at once
			l.warn(err)
		}
		wait := saveEvery
		if busy { // searches wait for what is not taken in yet
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
			case <-time.After(settle):
			}
		}
	}
}

func (l *Library) warn(err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrBehind) && l.cfg.Warn != nil {
		l.cfg.Warn(err)
	}
}

// keepUp brings a world's index up to now, and tells whether there is more to do.
func (l *Library) keepUp(ctx context.Context, s *shelf) (more bool, err error) {
	var at State
	if err := l.cfg.Read(ctx, s.world, func(from Source) (err error) {
		if at, err = from.State(ctx); err != nil {
			return err
		}
		there, err := s.follow(ctx, from, at, atOnce)
		more = !there
		return err
	}); err != nil {
		return more, err
	}
	share := 2
	if more {
		share = 1
	}
	if err := s.index.Tidy(ctx, share); err != nil {
		return more, err
	}
	scrub := s.scrubDue(at)
	if scrub || s.changed() && s.rested() {
		return more, l.save(ctx, s, atOnce)
	}
	return more, nil
}

// rested reports whether the files were not written just now.
func (s *shelf) rested() bool {
	s.saving.Lock()
	defer s.saving.Unlock()
	return time.Since(s.tried) >= saveEvery
}

// changed reports whether the files are older than the index, or its segments were merged
// since: a process that starts would merge them again.
func (s *shelf) changed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.loaded && s.files.path != "" && (s.saved.Tag != s.at.Tag || s.saved.Epoch != s.at.Epoch || s.saved.Gen != s.at.Gen || !s.index.isSaved())
}

// scrubDue reports whether the files may have a text that must be in none.
func (s *shelf) scrubDue(now State) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.saved.Tag == now.Tag && s.saved.Scrub != now.Scrub
}
