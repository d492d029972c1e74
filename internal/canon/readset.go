package canon

import (
	"context"
	"sync"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// ReadSet records the parts of a world that an answer was computed from. The answer stays valid until
// a commit touches one of them. An answer that also reads data which is no part of the world, such
// as a ledger, must not be kept.
type ReadSet struct {
	world access.WorldID
	from  *sharedReader // reader to use first; nil if there is none

	mu          sync.Mutex
	at          Seq             // the world's head before the first read
	epoch       uint64          // epoch of the generations that at belongs to
	wholeWorld  bool            // any commit to the world invalidates the answer
	uncacheable bool            // the answer must not be kept
	parts       map[string]bool // see cardPart, keyPart and belowPart
}

// The parts of a world that a ReadSet and generations distinguish: a card, by its id; the set of
// cards with a key; the set of children of a card.
func cardPart(id CardID) string      { return "c" + string(id[:]) }
func keyPart(key markup.Key) string  { return "k" + string(key) }
func belowPart(parent CardID) string { return "b" + string(parent[:]) }

// maxParts bounds the parts of a basis; a basis with more depends on the whole world.
const maxParts = 64

// addParts records parts that the answer depends on. Beyond maxParts the answer depends on the
// whole world.
func (b *ReadSet) addParts(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.parts)+len(parts) > maxParts {
		b.wholeWorld = true
	}
	if b.wholeWorld || b.uncacheable {
		b.parts = nil
		return
	}
	if b.parts == nil {
		b.parts = map[string]bool{}
	}
	for _, p := range parts {
		b.parts[p] = true
	}
}

// noteWorld records a read of a world. If whole is set, the answer depends on everything in it.
func (b *ReadSet) noteWorld(w access.WorldID, whole bool) {
	b.mu.Lock()
	b.wholeWorld = b.wholeWorld || whole
	b.uncacheable = b.uncacheable || w != b.world
	b.mu.Unlock()
}

// doNotKeep records that the answer of a call depends on data that is no part of the world.
func doNotKeep(ctx context.Context) {
	if b, ok := ctx.Value(basisKey{}).(*ReadSet); ok {
		b.mu.Lock()
		b.uncacheable = true
		b.mu.Unlock()
	}
}

// IsCacheable reports whether the answer may be kept at all.
func (b *ReadSet) IsCacheable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.uncacheable
}

type basisKey struct{}

// Rest returns a context in which the canon records its reads in the basis.
func (b *ReadSet) Record(ctx context.Context) context.Context {
	return context.WithValue(ctx, basisKey{}, b)
}

// read is Store.Read. If the context has a ReadSet, the reads are recorded in it and use the reader
// of its WorldState when that is free.
func (c *Canon) read(ctx context.Context, f func(Reader) error) error {
	b, _ := ctx.Value(basisKey{}).(*ReadSet)
	if b == nil {
		return c.store.Read(ctx, f)
	}
	rest := func(r Reader) error { return f(&recordingReader{r: r, b: b}) }
	if b.from != nil && b.from.mu.TryLock() {
		defer b.from.mu.Unlock()
		return rest(b.from.r)
	}
	return c.store.Read(ctx, rest)
}

// sharedReader is a Reader that one read at a time may use, until it is closed.
type sharedReader struct {
	mu sync.Mutex // guards r; close locks it and never unlocks it
	r  Reader
}

// close waits for a running read and makes the reader unusable.
func (s *sharedReader) close() {
	s.mu.Lock()
	s.r = nil // a basis that is kept must not keep the reader alive
}

// WorldState is the state of a world at the start of a call, with the parts that commits have touched
// so far.
type WorldState struct {
	world access.WorldID
	at    Seq
	in    *generations
	epoch uint64
	from  *sharedReader // reader that read the head of the world; nil if no read was needed
}

// Begin returns a basis for the reads from now on, until the function that received the WorldState
// returns.
func (m WorldState) Begin() *ReadSet {
	return &ReadSet{world: m.world, at: m.at, epoch: m.epoch, from: m.from}
}

// IsCurrent reports whether an answer with this basis is still valid for a view of the given level.
// Changes above that level do not affect the answer.
func (m WorldState) IsCurrent(b *ReadSet, level access.Level) bool {
	if b.world != m.world || b.epoch != m.epoch {
		return false
	}
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	if m.in.epoch != m.epoch {
		return false
	}
	for i := range m.in.levels[:min(level, access.LevelAdmin)] {
		l := &m.in.levels[i]
		if l.all > b.at || b.wholeWorld && l.any > b.at {
			return false
		}
		for p := range b.parts {
			if l.parts[p] > b.at {
				return false
			}
		}
	}
	return true
}

// generations holds, for each part of a world, the last commit that touched it, as far as this
// process has followed the world's stream.
type generations struct {
	mu     sync.Mutex
	epoch  uint64                     // changes when the stream is not the one that was followed before
	head   Head                       // last commit that was followed
	levels [access.LevelAdmin]touches // touches at LevelUser, LevelGM and LevelAdmin
	noted  int                        // number of parts in all levels
	mark   Mark                       // mark of the store when the stream ended at head
	marked bool                       // mark is set
}

// touches holds the last commits that touched data of one level.
type touches struct {
	any   Seq // any data
	all   Seq // an unknown set of parts: all count as touched
	parts map[string]Seq
}

const (
	// maxNoted bounds the parts that generations hold; beyond it all count as touched.
	maxNoted = 100_000
	// maxChanges bounds the changes of a commit that are examined one by one.
	maxChanges = 64
	// maxFollowed bounds the commits that are read for the parts that they touched. If there
	// are more, all parts count as touched.
	maxFollowed = 256
	// maxWorlds bounds the worlds whose generations are kept.
	maxWorlds = 256
)

// WorldState follows a world's stream to its head and calls f with the WorldState there. Reads in f that
// are recorded in a ReadSet use the snapshot that the head was read from, or a later one.
func (c *Canon) WorldState(ctx context.Context, w access.WorldID, f func(WorldState)) error {
	g := c.followed.generationsOf(w)
	mark, marked := c.storeMark()
	before, m, same := g.currentMoment(w, mark, marked)
	if same {
		f(m)
		return nil
	}
	given := false
	err := c.store.Read(ctx, func(r Reader) error {
		if err := Prefetch(ctx, r, Needs{World: w, Stream: WorldStream(w)}); err != nil {
			return err
		}
		head, err := r.Head(ctx, WorldStream(w))
		if err != nil {
			return err
		}
		if m, err = g.momentAt(ctx, r, w, before, head); err != nil {
			return err
		}
		if !g.noteMark(head, mark, marked) {
			return nil // other calls have followed the stream further: f must read the state that they know
		}
		m.from = &sharedReader{r: r}
		defer m.from.close()
		given = true
		f(m)
		return nil
	})
	if err == nil && !given {
		f(m)
	}
	return err
}

// momentAt follows the stream to the head of a snapshot and returns the WorldState there.
func (g *generations) momentAt(
	ctx context.Context,
	r Reader,
	w access.WorldID,
	before Seq,
	head Head,
) (WorldState, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.followTo(ctx, r, w, before, head); err != nil {
		return WorldState{}, err
	}
	return WorldState{world: w, at: min(head.Seq, g.head.Seq), in: g, epoch: g.epoch}, nil
}

// noteMark reports whether the stream was followed exactly to head. If so, it keeps the mark that
// the store had before head was read.
func (g *generations) noteMark(head Head, mark Mark, marked bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if head == g.head {
		g.mark, g.marked = mark, marked
	}
	return head == g.head
}

// followed holds the generations of all worlds.
type followed struct {
	mu     sync.Mutex
	worlds map[access.WorldID]*generations
	epochs uint64 // last epoch given to a world; steps of 1<<32 leave room for restarts
}

// generationsOf returns the generations of a world. If maxWorlds are held already, it drops them
// all first.
func (f *followed) generationsOf(w access.WorldID) *generations {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.worlds[w]
	if g == nil {
		if f.worlds == nil || len(f.worlds) >= maxWorlds {
			f.worlds = map[access.WorldID]*generations{}
		}
		f.epochs += 1 << 32
		g = &generations{epoch: f.epochs}
		f.worlds[w] = g
	}
	return g
}

// currentMoment returns the number of the last followed commit and the WorldState there. The last
// result is true if the store's mark shows that nothing was committed since.
func (g *generations) currentMoment(w access.WorldID, mark Mark, marked bool) (Seq, WorldState, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.head.Seq, WorldState{world: w, at: g.head.Seq, in: g, epoch: g.epoch}, marked && g.marked && mark == g.mark
}

// Mark identifies a state of a store; two states have different marks.
type Mark [12]uint32

// Marker is implemented by Stores that can detect commits of any process without a transaction:
// each commit changes the mark.
type Marker interface {
	// Mark returns false if there is no mark at the moment.
	Mark() (Mark, bool)
}

// storeMark returns the mark of the store, or false if the store has none.
func (c *Canon) storeMark() (Mark, bool) {
	if m, ok := c.store.(Marker); ok {
		return m.Mark()
	}
	return Mark{}, false
}

// restartAt starts again at a head and invalidates all earlier answers.
func (g *generations) restartAt(head Head) {
	g.epoch++
	g.marked = false
	g.head, g.levels, g.noted = head, [access.LevelAdmin]touches{}, 0
}

// skipTo advances to a commit without reading the commits up to it; all parts count as touched.
func (g *generations) skipTo(head Head) {
	g.head = head
	g.noteAll(access.LevelUser, head.Seq)
}

// followTo reads the commits up to head, the head of a snapshot. before is the number of the last
// commit that had been followed when the snapshot was opened. If other calls have followed the
// stream further in the meantime, followTo does nothing. If head has a lower number than before, it
// belongs to another stream, and followTo starts again.
func (g *generations) followTo(ctx context.Context, r Reader, w access.WorldID, before Seq, head Head) error {
	switch {
	case head == g.head:
		return nil
	case g.head == Head{}, head.Seq < before, head.Seq == g.head.Seq:
		g.restartAt(head)
		return nil
	case head.Seq < g.head.Seq:
		return nil
	case head.Seq-g.head.Seq > maxFollowed:
		g.skipTo(head)
		return nil
	}
	var records []Record
	var heads []Head
	for commit, err := range r.Commits(ctx, WorldStream(w), max(g.head.Seq, 1)) {
		switch {
		case err != nil:
			return err
		case commit.Seq == g.head.Seq && commit.Hash != g.head.Hash:
			g.restartAt(head)
			return nil
		case commit.Seq == g.head.Seq:
			continue
		}
		rec, err := commit.Record()
		if err != nil {
			return err
		}
		records, heads = append(records, rec), append(heads, Head{commit.Seq, commit.Hash})
	}
	if err := Prefetch(ctx, r, notedNeeds(w, records)); err != nil {
		return err
	}
	for i, rec := range records {
		if err := g.noteCommit(ctx, r, w, rec); err != nil {
			return err
		}
		g.head = heads[i]
	}
	return nil
}

// notedNeeds returns the data that noteCommit reads for some commits.
func notedNeeds(w access.WorldID, records []Record) Needs {
	n := Needs{World: w}
	for _, rec := range records {
		if len(rec.Changes) > maxChanges {
			continue
		}
		for _, ch := range rec.Changes {
			if ch.Card == nil || ch.Card.Act != ActCreate && ch.Card.Act != ActUpdate {
				continue
			}
			n.Cards = append(n.Cards, ch.Card.ID)
			if ch.Card.Act == ActCreate {
				n.Below = append(n.Below, ch.Card.ID)
			}
		}
	}
	return n
}

// noteCommit records the parts that a commit touched. If they cannot be determined without further
// reads, all parts count as touched.
func (g *generations) noteCommit(ctx context.Context, r Reader, w access.WorldID, rec Record) error {
	if len(rec.Changes) > maxChanges {
		g.noteAll(access.LevelUser, rec.Seq)
		return nil
	}
	if rec.Event != nil {
		g.noteAny(levelOf(rec.Event.Label), rec.Seq)
	}
	for _, ch := range rec.Changes {
		switch {
		case ch.Link != nil, ch.Layer != nil, ch.Text != nil:
			g.noteAny(access.LevelUser, rec.Seq) // it may have had a lower label before
		case ch.Card != nil:
			if err := g.noteCard(ctx, r, w, rec.Seq, ch.Card); err != nil {
				return err
			}
		default:
			g.noteAll(access.LevelUser, rec.Seq)
		}
	}
	return nil
}

// noteCard records a change to a card at the level that the card has now. An earlier level or name
// of the card does not matter: commits that change these touch all parts.
func (g *generations) noteCard(ctx context.Context, r Reader, w access.WorldID, at Seq, im *CardImage) error {
	if im.Act != ActUpdate && im.Act != ActCreate {
		g.noteAll(access.LevelUser, at)
		return nil
	}
	all := Visibility{w, access.View{Level: access.LevelAll}}
	c, ok, err := First(r.FindCards(ctx, all, CardQuery{ID: im.ID}))
	if err != nil {
		return err
	}
	if !ok || c.Trashed() {
		g.noteAll(access.LevelUser, at)
		return nil
	}
	level := levelOf(c.Label)
	g.notePart(level, at, cardPart(c.ID))
	g.notePart(level, at, belowPart(c.Parent))
	if im.Act == ActUpdate {
		return nil
	}
	g.notePart(level, at, keyPart(c.Key))
	_, below, err := r.Descendants(ctx, all, c.ID, 1, Page{})
	if err == nil && below.Count > 0 {
		g.noteAll(level, at) // the card may have adopted them
	}
	return err
}

// levelOf returns the lowest level of a view that may see a label. A named subject may be at any
// level.
func levelOf(l access.Label) access.Level {
	if l.Level <= access.LevelUser || len(l.Subjects) > 0 {
		return access.LevelUser
	}
	return min(l.Level, access.LevelAdmin)
}

func (g *generations) touchesOf(level access.Level) *touches {
	return &g.levels[level-access.LevelUser]
}

func (g *generations) noteAny(level access.Level, at Seq) { g.touchesOf(level).any = at }

// noteAll records that a commit touched an unknown set of parts of a level.
func (g *generations) noteAll(level access.Level, at Seq) {
	g.noteAny(level, at)
	g.touchesOf(level).all = at
}

func (g *generations) notePart(level access.Level, at Seq, part string) {
	g.noteAny(level, at)
	l := g.touchesOf(level)
	if l.parts == nil {
		l.parts = map[string]Seq{}
	}
	if _, known := l.parts[part]; !known {
		g.noted++
	}
	if l.parts[part] = at; g.noted > maxNoted {
		for i := range g.levels {
			g.levels[i].parts = nil
		}
		g.noted = 0
		g.noteAll(access.LevelUser, at)
	}
}
