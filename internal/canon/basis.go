package canon

import (
	"context"
	"sync"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Basis names the parts of a world that an answer was read from. The answer stands while no commit has touched them.
// What the reads of one call cannot be told by, such as a ledger, makes it stand never.
type Basis struct {
	world access.WorldID
	from  *sharedReader // to read first; nil where there is none

	mu          sync.Mutex
	at          Seq             // the world's head before the first read
	epoch       uint64          // of the generations that at counts in
	wholeWorld  bool            // any commit to the world touches it
	uncacheable bool            // it is no basis
	parts       map[string]bool // see cardPart, keyPart and belowPart
}

// Parts of a world that a commit touches, as a basis and generations name them: a card by
// its id, which cards bear a key, and which lie directly below a card.
func cardPart(id CardID) string      { return "c" + string(id[:]) }
func keyPart(key markup.Key) string  { return "k" + string(key) }
func belowPart(parent CardID) string { return "b" + string(parent[:]) }

// maxParts is how many parts a basis names; one of more rests on the world as a whole.
const maxParts = 64

func (b *Basis) addParts(parts ...string) {
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

// noteWorld notes a read of a world; with whole, of anything in it.
func (b *Basis) noteWorld(w access.WorldID, whole bool) {
	b.mu.Lock()
	b.wholeWorld = b.wholeWorld || whole
	b.uncacheable = b.uncacheable || w != b.world
	b.mu.Unlock()
}

// Lasts reports whether an answer may be kept at all.
func (b *Basis) Lasts() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.uncacheable
}

type basisKey struct{}

// Rest gives a context whose reads count for the basis.
func (b *Basis) Rest(ctx context.Context) context.Context {
	return context.WithValue(ctx, basisKey{}, b)
}

// read is Store.Read, noted where the context asks for it.
func (c *Canon) read(ctx context.Context, f func(Reader) error) error {
	b, _ := ctx.Value(basisKey{}).(*Basis)
	if b == nil {
		return c.store.Read(ctx, f)
	}
	rest := func(r Reader) error { return f(&basisReader{r: r, b: b}) }
	if b.from != nil && b.from.mu.TryLock() {
		defer b.from.mu.Unlock()
		return rest(b.from.r)
	}
	return c.store.Read(ctx, rest)
}

// sharedReader is a Reader that one read at a time may have until it is closed.
type sharedReader struct {
	mu sync.Mutex // guards r; held from close on
	r  Reader
}

func (s *sharedReader) close() {
	s.mu.Lock()
	s.r = nil // a basis that is kept would hold it
}

// Moment is a world as a call finds it, with the parts that commits have touched up to now.
type Moment struct {
	world access.WorldID
	at    Seq
	in    *generations
	epoch uint64
	from  *sharedReader // in which the world's head was read; nil where nothing was
}

// Begin gives a basis for the reads from now on, until the function ends that was given the
// Moment.
func (m Moment) Begin() *Basis {
	return &Basis{world: m.world, at: m.at, epoch: m.epoch, from: m.from}
}

// Stands reports whether an answer that rests on a basis is the present one for a view of
// a level. What was changed above that level has no part in it.
func (m Moment) Stands(b *Basis, level access.Level) bool {
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

// generations are the last commits of a world that touched its parts, as far as this
// process has followed its stream.
type generations struct {
	mu     sync.Mutex
	epoch  uint64                     // another one where the stream is not the one that was followed
	head   Head                       // followed to here
	levels [access.LevelAdmin]touches // of parts at LevelUser, LevelGM and so on
	noted  int                        // parts of all levels
	mark   Mark                       // of the store when the stream ended at head
	marked bool                       // there is a mark
}

// touches are the last commits that touched something of one level.
type touches struct {
	any   Seq // anything
	all   Seq // more than is told by part
	parts map[string]Seq
}

const (
	// maxNoted bounds what generations remember of parts; beyond it all count as touched.
	maxNoted = 100_000
	// maxChanges is how many changes of a commit are looked at one by one.
	maxChanges = 64
	// maxFollowed is how many commits are read for the parts that they touched. After more, all
	// counts as touched.
	maxFollowed = 256
	// maxWorlds bounds for how many worlds generations are remembered.
	maxWorlds = 256
)

// Moment follows a world's stream to its head, and gives f how the world stands there. The
// reads of f that count for a Basis are of the snapshot that the head was read from, or of
// a later one.
func (c *Canon) Moment(ctx context.Context, w access.WorldID, f func(Moment)) error {
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
			return nil // others have followed further: the reads of f are to find what they know
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

// momentAt follows the stream to the head of a snapshot.
func (g *generations) momentAt(ctx context.Context, r Reader, w access.WorldID, before Seq, head Head) (Moment, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.followTo(ctx, r, w, before, head); err != nil {
		return Moment{}, err
	}
	return Moment{world: w, at: min(head.Seq, g.head.Seq), in: g, epoch: g.epoch}, nil
}

// noteMark keeps the mark that the store had before its stream was found to end at a head,
// and reports whether that is as far as the stream was followed.
func (g *generations) noteMark(head Head, mark Mark, marked bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if head == g.head {
		g.mark, g.marked = mark, marked
	}
	return head == g.head
}

// followed holds the generations of worlds.
type followed struct {
	mu     sync.Mutex
	worlds map[access.WorldID]*generations
	epochs uint64 // given out to worlds, in steps that leave room for restarts
}

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

// currentMoment gives how far the stream was followed, and the moment where nothing was committed
// since then.
func (g *generations) currentMoment(w access.WorldID, mark Mark, marked bool) (Seq, Moment, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.head.Seq, Moment{world: w, at: g.head.Seq, in: g, epoch: g.epoch}, marked && g.marked && mark == g.mark
}

// Mark tells two states of a store apart.
type Mark [12]uint32

// Marker is a Store that can say without a transaction, whoever wrote, whether anything was
// committed: it has another mark then.
type Marker interface {
	// Mark gives false where there is none to be had just now.
	Mark() (Mark, bool)
}

func (c *Canon) storeMark() (Mark, bool) {
	if m, ok := c.store.(Marker); ok {
		return m.Mark()
	}
	return Mark{}, false
}

// restartAt begins anew at a head. No earlier answer stands.
func (g *generations) restartAt(head Head) {
	g.epoch++
	g.marked = false
	g.head, g.levels, g.noted = head, [access.LevelAdmin]touches{}, 0
}

// skipTo goes to a commit without a look at what it, and those before it, touched.
func (g *generations) skipTo(head Head) {
	g.head = head
	g.noteAll(access.LevelUser, head.Seq)
}

// followTo reads the commits up to the head of a snapshot that was opened after the stream had
// been followed to before. A snapshot that is older than what others followed to meanwhile
// teaches nothing; one that ends before it began is of another stream.
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

// notedNeeds is what noteCommit asks for of commits.
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

// noteCommit notes the parts that a commit touched; all, where that cannot be told without
// reading on.
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
		case ch.Link != nil:
			g.noteAny(levelOf(ch.Link.Label), rec.Seq)
		case ch.Layer != nil:
			g.noteAny(levelOf(ch.Layer.Label), rec.Seq)
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

// noteCard notes a change to a card at the level that the card has now. That it had another
// then, or bore another name, is no matter: the commits that change these touch all.
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
		g.noteAll(level, at) // it may have taken them in
	}
	return err
}

// levelOf is the lowest level of a view that may see a label.
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
