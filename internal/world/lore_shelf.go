package world

import (
	"context"
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
// are good for one commit of the world, and asked for anew after the next.
type loreShelf struct {
	mu    sync.Mutex // guards all below
	ages  uint64
	level map[shelfKey]*shelved
	own   map[ownKey]*shelved
}

type shelfKey struct {
	world access.WorldID
	level access.Level
}

type ownKey struct {
	world access.WorldID
	view  access.View
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
	crowded bool
	index   *loreIndex
	own     []*loreDoc // by name
}

// get gives what the view of a look searches, as of its snapshot.
func (s *loreShelf) get(ctx context.Context, lore *lore, l *canon.Look) (shelf, error) {
	level := shelfKey{l.World().ID, l.View().Level}
	own := ownKey{level.world, l.View()}
	base, mine := s.kept(level, own, l.Now())
	if base == nil || mine == nil {
		var err error
		if base, mine, err = lore.read(ctx, l, s.last(level)); err != nil {
			return shelf{}, err
		}
		s.keep(level, own, base, mine)
	}
	return shelf{base.crowded, base.index, mine.docs}, nil
}

// kept gives what is good for a commit; nil for what is not.
func (s *loreShelf) kept(level shelfKey, own ownKey, at canon.Seq) (base, mine *shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ages++
	if b := s.level[level]; b != nil && b.at == at {
		b.age, base = s.ages, b
	}
	if own.view.Subject == "" || own.view.Level >= access.LevelAdmin {
		return base, &shelved{}
	}
	if o := s.own[own]; o != nil && o.at == at {
		o.age, mine = s.ages, o
	}
	return base, mine
}

// last is the index of a level that was used last, good or not: most of its facts will
// be the same.
func (s *loreShelf) last(level shelfKey) *loreIndex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.level[level]; b != nil {
		return b.index
	}
	return nil
}

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
	if own.view.Subject != "" {
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

// read lists the facts in sight. Facts that an older index has taken apart, and that have
// not changed, are taken from there.
func (l *lore) read(ctx context.Context, look *canon.Look, old *loreIndex) (base, mine *shelved, err error) {
	at := look.Now()
	base, mine = &shelved{at: at}, &shelved{at: at}
	known := map[canon.CardID]*loreDoc{}
	if old != nil {
		for _, d := range old.docs {
			known[d.card.ID] = d
		}
	}
	var docs []*loreDoc
	changed := old == nil
	cards, _, err := look.Cards(ctx, l.factsFilter(), canon.Page{Limit: l.most + 1})
	if err != nil {
		return nil, nil, err
	}
	if len(cards) > l.most {
		base.crowded = true
		return base, mine, nil
	}
	for _, c := range cards {
		d := known[c.ID]
		if !d.still(c) {
			changed = true
			if d, err = l.takeApart(ctx, look, c); err != nil {
				return nil, nil, err
			}
		}
		if look.View().Level >= c.Label.Level {
			docs = append(docs, d)
		} else {
			mine.docs = append(mine.docs, d) // they come by name, as they shall follow
		}
	}
	if !changed && len(docs) == len(old.docs) {
		base.index = old.asOf(at)
		return base, mine, nil
	}
	slices.SortFunc(docs, func(a, b *loreDoc) int { return strings.Compare(a.card.Codename, b.card.Codename) })
	base.index = newLoreIndex(at, docs)
	return base, mine, nil
}

// still reports whether a fact is as it was taken apart.
func (d *loreDoc) still(c canon.Card) bool {
	return d != nil && d.card.Rev == c.Rev && d.card.Name == c.Name && d.card.Label.Equal(c.Label) && d.card.Counts == c.Counts
}

func (l *lore) takeApart(ctx context.Context, look *canon.Look, c canon.Card) (*loreDoc, error) {
	content, err := look.Content(ctx, c)
	if err != nil {
		return nil, err
	}
	kind, _ := l.factType(thingOf(c))
	return newLoreDoc(c, kind, plainText(c.Type, content)), nil
}

// asOf is the same index at a later commit.
func (x *loreIndex) asOf(at canon.Seq) *loreIndex {
	y := *x
	y.at = at
	return &y
}
