package world

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// maxIndexed is how many facts an index holds. A world with more is searched in the
// store.
const maxIndexed = canon.CountCap

// loreShelf keeps indexes of facts by world and level.
//
// An index holds the facts that everyone at the level sees, and nothing else, so that no
// rank depends on what is out of sight; it was listed through the sight of such a reader.
// What somebody sees beyond it by being named is kept apart, without statistics. Both
// are good for one commit of the world; after the next what it wrote is followed.
type loreShelf struct {
	mu    sync.Mutex // guards all below
	ages  uint64
	level map[shelfKey]*shelved
	own   map[ownKey]*shelved
}

type shelfKey struct {
	world    access.WorldID
	level    access.Level
	language string
}

type ownKey struct {
	world    access.WorldID
	view     access.View
	language string
}

// shelved is an index, or somebody's own facts; nothing where there are too many.
type shelved struct {
	at      canon.Seq
	crowded bool
	index   *loreIndex
	docs    []*loreDoc
	age     uint64
}

// Bounds of a shelf.
const (
	maxLevels = 64
	maxOwn    = 1024
)

// shelf is what one reader searches.
type shelf struct {
	language string
	crowded  bool
	index    *loreIndex
	own      []*loreDoc // by name
}

// get gives what the view of a look searches, as of its snapshot.
func (s *loreShelf) get(ctx context.Context, lore *lore, l *canon.Snapshot) (shelf, error) {
	level := shelfKey{l.World().ID, l.View().Level, l.World().Settings.Language()}
	own := ownKey{level.world, l.View(), level.language}
	base, mine := s.kept(level, own)
	if base == nil || mine == nil || base.at != l.Now() || mine.at != l.Now() {
		var err error
		if base, mine, err = lore.bring(ctx, l, base, mine); err != nil {
			return shelf{}, err
		}
		s.keep(level, own, base, mine)
	}
	return shelf{level.language, base.crowded, base.index, mine.docs}, nil
}

// kept gives what was used last, of whatever commit; nil where nothing was. Who is not
// named has nothing of its own, at any commit.
func (s *loreShelf) kept(level shelfKey, own ownKey) (base, mine *shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ages++
	if base = s.level[level]; base != nil {
		base.age = s.ages
	}
	if own.nobody() {
		mine = &shelved{}
		if base != nil {
			mine.at = base.at
		}
		return base, mine
	}
	if mine = s.own[own]; mine != nil {
		mine.age = s.ages
	}
	return base, mine
}

// nobody reports whether a view sees nothing by being named.
func (k ownKey) nobody() bool { return k.view.Subject == "" || k.view.Level >= access.LevelAdmin }

func (s *loreShelf) keep(level shelfKey, own ownKey, base, mine *shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ages++
	base.age, mine.age = s.ages, s.ages
	if s.level == nil {
		s.level, s.own = map[shelfKey]*shelved{}, map[ownKey]*shelved{}
	}
	if there := s.level[level]; there == nil || there.at <= base.at {
		s.level[level] = base
	}
	if there := s.own[own]; !own.nobody() && (there == nil || there.at <= mine.at) {
		s.own[own] = mine
	}
	dropOldest(s.level, maxLevels)
	dropOldest(s.own, maxOwn)
}

// dropOldest takes out what was used least lately, down to a number.
func dropOldest[K comparable](m map[K]*shelved, most int) {
	for len(m) > most {
		var oldest K
		found := false
		for k, v := range m {
			if !found || v.age < m[oldest].age {
				oldest, found = k, true
			}
		}
		delete(m, oldest)
	}
}

// bring gives an index and own facts as of a look's snapshot. Where both were there
// before, only what was written since the older of them is read.
func (l *lore) bring(ctx context.Context, look *canon.Snapshot, base, mine *shelved) (newBase, newMine *shelved, err error) {
	now := look.Now()
	if base == nil || mine == nil || max(base.at, mine.at) > now {
		return l.read(ctx, look, base)
	}
	known := sync.OnceValue(func() map[canon.CardID]*loreDoc { return base.known(mine.docs...) })
	drift, ok, err := look.ChangesSince(ctx, min(base.at, mine.at), func(id canon.CardID) bool { return known()[id] != nil })
	switch {
	case err != nil:
		return nil, nil, err
	case !ok:
		return l.read(ctx, look, nil)
	case drift.Wide || base.crowded && len(drift.Cards) > 0:
		return l.read(ctx, look, base)
	case len(drift.Cards)+len(drift.Gone) == 0:
		return base.asOf(now), mine.asOf(now), nil
	}
	if err := l.follow(ctx, look, known(), drift); err != nil {
		return nil, nil, err
	}
	if len(known()) > l.most {
		return l.read(ctx, look, base)
	}
	newBase, newMine = l.arranged(look, slices.Collect(maps.Values(known())), base)
	return newBase, newMine, nil
}

// follow puts what was written into the facts that are known, and takes out what is a
// fact no more.
func (l *lore) follow(ctx context.Context, look *canon.Snapshot, known map[canon.CardID]*loreDoc, drift canon.Changes) (err error) {
	for _, id := range drift.Gone {
		delete(known, id)
	}
	for _, c := range drift.Cards {
		if _, is := l.factType(toCardAt(c)); !is || c.Codename == "" {
			delete(known, c.ID)
		} else if !known[c.ID].still(c) {
			if known[c.ID], err = l.takeApart(ctx, look, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// read lists the facts in sight. Facts that an older index has taken apart, and that have
// not changed, are taken from there.
func (l *lore) read(ctx context.Context, look *canon.Snapshot, old *shelved) (base, mine *shelved, err error) {
	known := old.known()
	cards, _, err := look.Cards(ctx, l.factsFilter(), canon.Page{Limit: l.most + 1})
	if err != nil {
		return nil, nil, err
	}
	if len(cards) > l.most {
		return &shelved{at: look.Now(), crowded: true}, &shelved{at: look.Now()}, nil
	}
	docs := make([]*loreDoc, len(cards))
	for i, c := range cards {
		if docs[i] = known[c.ID]; docs[i].still(c) {
			continue
		}
		if docs[i], err = l.takeApart(ctx, look, c); err != nil {
			return nil, nil, err
		}
	}
	base, mine = l.arranged(look, docs, old)
	return base, mine, nil
}

// arranged makes an index of the facts that all of a level see, and puts the others by
// name. An index that has the same facts stays.
func (l *lore) arranged(look *canon.Snapshot, docs []*loreDoc, old *shelved) (base, mine *shelved) {
	var all []*loreDoc
	base, mine = &shelved{at: look.Now()}, &shelved{at: look.Now()}
	for _, d := range docs {
		if look.View().Level >= d.card.Label.Level {
			all = append(all, d)
		} else {
			mine.docs = append(mine.docs, d)
		}
	}
	slices.SortFunc(all, func(a, b *loreDoc) int { return strings.Compare(a.card.Codename, b.card.Codename) })
	slices.SortFunc(mine.docs, func(a, b *loreDoc) int {
		return cmp.Or(strings.Compare(string(a.card.Key), string(b.card.Key)), slices.Compare(a.card.ID[:], b.card.ID[:]))
	})
	if old != nil && old.index != nil && slices.Equal(all, old.index.docs) {
		base.index = old.index
	} else {
		base.index = newLoreIndex(look.World().Settings.Language(), all)
	}
	return base, mine
}

// known are the facts of an index, where there is one, and others, by card.
func (s *shelved) known(others ...*loreDoc) map[canon.CardID]*loreDoc {
	if s != nil && s.index != nil {
		others = slices.Concat(s.index.docs, others)
	}
	known := make(map[canon.CardID]*loreDoc, len(others))
	for _, d := range others {
		known[d.card.ID] = d
	}
	return known
}

// asOf is the same at a later commit.
func (s *shelved) asOf(at canon.Seq) *shelved {
	return &shelved{at: at, crowded: s.crowded, index: s.index, docs: s.docs}
}

// still reports whether a fact is as it was taken apart.
func (d *loreDoc) still(c canon.Card) bool {
	return d != nil && d.card.Rev == c.Rev && d.card.Name == c.Name && d.card.Label.Equal(c.Label) && d.card.Counts == c.Counts
}

func (l *lore) takeApart(ctx context.Context, look *canon.Snapshot, c canon.Card) (*loreDoc, error) {
	content, err := look.Content(ctx, c)
	if err != nil {
		return nil, err
	}
	kind, _ := l.factType(toCardAt(c))
	return newLoreDoc(c, kind, plainText(ctx, c.Type, content), look.World().Settings.Language()), nil
}
