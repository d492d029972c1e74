package lore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
)

// maxIndexed bounds the facts that an index holds. A world with more facts is searched in the
// store.
const maxIndexed = canon.CountCap

// cache caches search indexes of facts by world and level.
//
// An index holds exactly the facts that everyone at the level sees, so no rank depends on hidden
// facts. It is read with the visibility of such a reader. Facts that a reader sees only because
// they are shared with it by name are cached separately, without statistics. An entry is valid for
// one commit of the world; after later commits it is updated with their changes.
type cache struct {
	mu    sync.Mutex // guards the fields below
	ages  uint64
	level map[levelKey]*cacheEntry
	own   map[ownKey]*cacheEntry
}

type levelKey struct {
	world    access.WorldID
	level    access.Level
	language string
}

type ownKey struct {
	world    access.WorldID
	view     access.View
	language string
}

// cacheEntry is the index of a level, or the facts shared with one reader by name. If there are too
// many facts, crowded is set and both are empty.
type cacheEntry struct {
	at      canon.Seq
	crowded bool
	index   *index
	docs    []*doc
	age     uint64
}

// Bounds of a cache.
const (
	maxLevels = 64
	maxOwn    = 1024
)

// readerFacts is the set of facts that one reader searches.
type readerFacts struct {
	language string
	crowded  bool
	index    *index
	own      []*doc // facts shared with the reader by name, in the order of their names
}

// get returns the facts that the reader of a snapshot searches, as of the snapshot.
func (c *cache) get(ctx context.Context, lore *Lore, snap *canon.Snapshot) (readerFacts, error) {
	level := levelKey{snap.World().ID, snap.View().Level, snap.World().Settings.Language()}
	own := ownKey{level.world, snap.View(), level.language}
	base, mine := c.loadEntries(level, own)
	if base == nil || mine == nil || base.at != snap.Now() || mine.at != snap.Now() {
		var err error
		if base, mine, err = lore.refreshEntries(ctx, snap, base, mine); err != nil {
			return readerFacts{}, err
		}
		c.storeEntries(level, own, base, mine)
	}
	return readerFacts{level.language, base.crowded, base.index, mine.docs}, nil
}

// loadEntries returns the cached entries for a level and a reader, which may be of an older or
// newer commit; nil if there are none. A reader that has no facts of its own gets an empty entry
// that is valid at the commit of base.
func (c *cache) loadEntries(level levelKey, own ownKey) (base, mine *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ages++
	if base = c.level[level]; base != nil {
		base.age = c.ages
	}
	if own.hasNoOwn() {
		mine = &cacheEntry{}
		if base != nil {
			mine.at = base.at
		}
		return base, mine
	}
	if mine = c.own[own]; mine != nil {
		mine.age = c.ages
	}
	return base, mine
}

// hasNoOwn reports whether a view sees no facts through being named.
func (k ownKey) hasNoOwn() bool { return k.view.Subject == "" || k.view.Level >= access.LevelAdmin }

func (c *cache) storeEntries(level levelKey, own ownKey, base, mine *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ages++
	base.age, mine.age = c.ages, c.ages
	if c.level == nil {
		c.level, c.own = map[levelKey]*cacheEntry{}, map[ownKey]*cacheEntry{}
	}
	if there := c.level[level]; there == nil || there.at <= base.at {
		c.level[level] = base
	}
	if there := c.own[own]; !own.hasNoOwn() && (there == nil || there.at <= mine.at) {
		c.own[own] = mine
	}
	dropOldest(c.level, maxLevels)
	dropOldest(c.own, maxOwn)
}

// dropOldest deletes the least recently used entries until at most most are left.
func dropOldest[K comparable](m map[K]*cacheEntry, most int) {
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

// refreshEntries returns entries as of the snapshot's commit. If both old entries exist, it reads
// only the changes since the older of them.
func (l *Lore) refreshEntries(ctx context.Context, snap *canon.Snapshot, base,
	mine *cacheEntry) (newBase, newMine *cacheEntry, err error) {
	now := snap.Now()
	if base == nil || mine == nil || max(base.at, mine.at) > now {
		return l.rebuildEntries(ctx, snap, base)
	}
	known := sync.OnceValue(func() map[canon.CardID]*doc { return base.docsByCard(mine.docs...) })
	changes, ok, err := snap.ChangesSince(ctx, min(base.at, mine.at),
		func(id canon.CardID) bool { return known()[id] != nil })
	switch {
	case err != nil:
		return nil, nil, err
	case !ok:
		return l.rebuildEntries(ctx, snap, nil)
	case changes.Wide || base.crowded && len(changes.Cards) > 0:
		return l.rebuildEntries(ctx, snap, base)
	case len(changes.Cards)+len(changes.Gone) == 0:
		return base.movedTo(now), mine.movedTo(now), nil
	}
	if err := l.applyChanges(ctx, snap, known(), changes); err != nil {
		return nil, nil, err
	}
	if len(known()) > l.maxFacts {
		return l.rebuildEntries(ctx, snap, base)
	}
	newBase, newMine = l.arrangeDocs(snap, slices.Collect(maps.Values(known())), base)
	return newBase, newMine, nil
}

// applyChanges adds changed facts to the known facts, and deletes cards that are no longer facts.
func (l *Lore) applyChanges(ctx context.Context, snap *canon.Snapshot, known map[canon.CardID]*doc,
	changes canon.Changes) (err error) {
	for _, id := range changes.Gone {
		delete(known, id)
	}
	for _, c := range changes.Cards {
		if _, is := l.factType(world.CardOf(c)); !is || c.Codename == "" {
			delete(known, c.ID)
		} else if !known[c.ID].isCurrent(c) {
			if known[c.ID], err = l.readDoc(ctx, snap, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuildEntries lists the facts that the reader sees and builds both entries from them. It reuses
// the prepared facts of an old entry that have not changed.
func (l *Lore) rebuildEntries(ctx context.Context, snap *canon.Snapshot,
	old *cacheEntry) (base, mine *cacheEntry, err error) {
	known := old.docsByCard()
	cards, _, err := snap.Cards(ctx, l.factsFilter(), canon.Page{Limit: l.maxFacts + 1})
	if err != nil {
		return nil, nil, err
	}
	if len(cards) > l.maxFacts {
		return &cacheEntry{at: snap.Now(), crowded: true}, &cacheEntry{at: snap.Now()}, nil
	}
	docs := make([]*doc, len(cards))
	for i, c := range cards {
		if docs[i] = known[c.ID]; docs[i].isCurrent(c) {
			continue
		}
		if docs[i], err = l.readDoc(ctx, snap, c); err != nil {
			return nil, nil, err
		}
	}
	base, mine = l.arrangeDocs(snap, docs, old)
	return base, mine, nil
}

// arrangeDocs builds an index of the facts that everyone at the level sees, and sorts the others by
// name. If the old index has the same facts, it is reused.
func (l *Lore) arrangeDocs(snap *canon.Snapshot, docs []*doc, old *cacheEntry) (base, mine *cacheEntry) {
	var all []*doc
	base, mine = &cacheEntry{at: snap.Now()}, &cacheEntry{at: snap.Now()}
	for _, d := range docs {
		if snap.View().Level >= d.card.Label.Level {
			all = append(all, d)
		} else {
			mine.docs = append(mine.docs, d)
		}
	}
	slices.SortFunc(all, func(a, b *doc) int { return strings.Compare(a.card.Codename, b.card.Codename) })
	slices.SortFunc(mine.docs, func(a, b *doc) int {
		return cmp.Or(strings.Compare(string(a.card.Key), string(b.card.Key)), slices.Compare(a.card.ID[:], b.card.ID[:]))
	})
	if old != nil && old.index != nil && slices.Equal(all, old.index.docs) {
		base.index = old.index
	} else {
		base.index = newIndex(snap.World().Settings.Language(), all)
	}
	return base, mine
}

// docsByCard returns the facts of the index, if there is one, and the others, by card.
func (s *cacheEntry) docsByCard(others ...*doc) map[canon.CardID]*doc {
	if s != nil && s.index != nil {
		others = slices.Concat(s.index.docs, others)
	}
	known := make(map[canon.CardID]*doc, len(others))
	for _, d := range others {
		known[d.card.ID] = d
	}
	return known
}

// movedTo returns the same entry for a later commit.
func (s *cacheEntry) movedTo(at canon.Seq) *cacheEntry {
	return &cacheEntry{at: at, crowded: s.crowded, index: s.index, docs: s.docs}
}

// isCurrent reports whether a prepared fact still matches its card.
func (d *doc) isCurrent(c canon.Card) bool {
	return d != nil && d.card.Rev == c.Rev && d.card.Name == c.Name && d.card.Label.Equal(c.Label) &&
		d.card.Counts == c.Counts
}

func (l *Lore) readDoc(ctx context.Context, snap *canon.Snapshot, c canon.Card) (*doc, error) {
	content, err := snap.Content(ctx, c)
	if err != nil {
		return nil, err
	}
	kind, _ := l.factType(world.CardOf(c))
	return newDoc(c, kind, world.PlainText(ctx, c.TextKind(), content), snap.World().Settings.Language()), nil
}
