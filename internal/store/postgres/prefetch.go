package postgres

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/store/sqlstore"
)

// prefetched holds data that a reader has read ahead. In a transaction every write updates it. Data
// that is not in it is queried from the server. A commit therefore holds the writer lock for two
// round trips instead of ten.
type prefetched struct {
	worlds  map[access.WorldID]canon.World
	repeats map[repeatRef]*canon.Repeat // nil if the key was not used
	bodies  map[bodyRef][]byte
	cards   map[cardRef]*canon.Card   // nil if the card does not exist
	below   map[keyRef][]canon.CardID // cards that have had a key, or a key below it, since the key was prefetched
	leaves  map[leafRef]bool          // only of readers that do not write: true if a card has no visible children
	made    map[cardRef]bool          // cards created by this transaction; false once their references are written
	version canon.Version             // the version written last
	last    canon.Card                // the card written last
	cleared map[int64]*census         // by world number: worlds that this transaction cleared and wrote anew
}

type (
	repeatRef struct{ account, key string }
	bodyRef   struct {
		w    int64
		hash canon.Hash
	}
	cardRef struct {
		w  int64
		id canon.CardID
	}
	leafRef struct {
		w    int64
		id   canon.CardID
		view access.View
	}
	keyRef struct {
		w   int64
		key markup.Key
	}
)

const (
	// maxBelow limits the cards below a key that are prefetched.
	maxBelow = 50
	// maxHeldCards limits the cards held; beyond it all are dropped.
	maxHeldCards = 50_000
)

var _ canon.Prefetcher = (*reader)(nil)

// Prefetch reads the given data in one round trip.
func (r *reader) Prefetch(ctx context.Context, n canon.Needs) error {
	w, err := r.WorldNumber(ctx, n.World)
	if err != nil || w == 0 {
		return err
	}
	var ask []batchQuery
	add := func(f func(sqlstore.Row) error, sql string, args ...any) { ask = append(ask, batchQuery{sql, args, f}) }
	if n.Key != "" {
		at := repeatRef{n.Account, n.Key}
		put(&r.prefetched.repeats, at, nil)
		add(func(row sqlstore.Row) error {
			p := sqlstore.ScanRepeat(n.Account, n.Key, row)
			r.prefetched.repeats[at] = &p
			return nil
		},
			sqlstore.SelectRepeat, n.Account, n.Key)
	}
	if n.Stream != "" {
		r.SetStream(sqlstore.StreamRow{Stream: n.Stream})
		add(func(row sqlstore.Row) error { r.SetStream(sqlstore.ScanStream(n.Stream, row)); return nil },
			dialect.SelectStream(), string(n.Stream))
		add(func(row sqlstore.Row) error {
			d, err := sqlstore.ScanWorld(row)
			put(&r.prefetched.worlds, d.ID, d)
			return err
		}, dialect.SelectWorlds("WHERE i.id = $1"), uuidOf(n.World))
	}
	if len(n.Bodies) > 0 { // bodies prefetched before are no longer needed
		r.prefetched.bodies = nil
	}
	for _, h := range n.Bodies {
		put(&r.prefetched.bodies, bodyRef{w, h}, nil)
	}
	if len(n.Bodies) > 0 {
		add(func(row sqlstore.Row) error {
			r.prefetched.bodies[bodyRef{w, sqlstore.ReadHash(row, 0)}] = row.Bytes(1)
			return nil
		},
			"SELECT hash, body FROM bodies WHERE w = $1 AND hash = ANY($2)", w, hashesOf(n.Bodies))
	}
	if len(n.Below) > 0 && !r.Writes() {
		for _, id := range n.Below {
			put(&r.prefetched.leaves, leafRef{w, id, access.View{Level: access.LevelAll}}, true)
		}
		add(func(row sqlstore.Row) error {
			delete(r.prefetched.leaves, leafRef{w, sqlstore.ReadID[canon.CardID](row, 0), access.View{Level: access.LevelAll}})
			return nil
		},
			"SELECT p.id FROM unnest($2::uuid[]) p (id) WHERE EXISTS (SELECT FROM cards c WHERE c.parent = p.id AND c.w = $1 AND c.trashed = 0)",
			w, sqlstore.RawIDs(n.Below))
	}
	return r.prefetchCards(ctx, ask, w, n)
}

// prefetchCards adds the queries for cards to ask, runs all queries, and stores the cards.
func (r *reader) prefetchCards(ctx context.Context, ask []batchQuery, w int64, n canon.Needs) error {
	var list []canon.Card
	var labels []sqlstore.LabelRef
	var key []int // index into n.Keys plus 1; 0 for cards requested by id
	take := func(k int, row sqlstore.Row) error {
		c, l, err := sqlstore.ScanCard(row)
		c.World = n.World
		list, labels, key = append(list, c), append(labels, l), append(key, k)
		return err
	}
	if len(n.Cards) > 0 {
		ask = append(ask, batchQuery{"SELECT " + dialect.Columns.Card + " FROM cards c WHERE c.w = $1 AND c.id = ANY($2)",
			[]any{w, sqlstore.RawIDs(n.Cards)},
			func(row sqlstore.Row) error { return take(0, row) }})
	}
	if len(n.Keys) > 0 {
		ask = append(ask, batchQuery{selectBelow, []any{w, keyStrings(n.Keys), int64(maxBelow + 1)},
			func(row sqlstore.Row) error { return take(int(row.Int(sqlstore.CardWidth)), row) }})
	}
	if err := r.c.queryBatch(ctx, ask); err != nil {
		r.prefetched = prefetched{cleared: r.prefetched.cleared}
		r.ForgetStreams()
		return err
	}
	if err := r.ResolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l }); err != nil {
		return err
	}
	for _, id := range n.Cards {
		put(&r.prefetched.cards, cardRef{w, id}, nil)
	}
	for _, k := range n.Keys {
		put(&r.prefetched.below, keyRef{w, k}, nil)
	}
	for i, c := range list {
		put(&r.prefetched.cards, cardRef{w, c.ID}, &c)
		if key[i] > 0 {
			at := keyRef{w, n.Keys[key[i]-1]}
			r.prefetched.below[at] = append(r.prefetched.below[at], c.ID)
		}
	}
	for _, k := range n.Keys {
		if len(r.prefetched.below[keyRef{w, k}]) > maxBelow {
			delete(r.prefetched.below, keyRef{w, k})
		}
	}
	return nil
}

// selectBelow returns, for each of some keys, up to $3 living cards with that key or a key below
// it. As in a filter by prefix, the index is scanned by the range around both.
var selectBelow = "SELECT " + dialect.Columns.Card + `, k.n FROM unnest($2::text[]) WITH ORDINALITY k (key, n) CROSS JOIN LATERAL (SELECT * FROM cards c
	WHERE c.w = $1 AND c.trashed = 0 AND c.key >= k.key AND c.key < k.key || ',' AND (c.key = k.key OR c.key >= k.key || '+') LIMIT $3) c`

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[k] = v
}

func keyStrings(keys []markup.Key) []string {
	return slicesx.Map(keys, func(k markup.Key) string { return string(k) })
}

func hashesOf(hashes []canon.Hash) [][]byte {
	list := make([][]byte, len(hashes))
	for i := range hashes {
		list[i] = hashes[i][:]
	}
	return list
}

// findCard returns the state of a card, if it is known; nil if the card does not exist.
func (a *prefetched) findCard(w int64, id canon.CardID) (c *canon.Card, known bool) {
	if c, known = a.cards[cardRef{w, id}]; !known {
		known = a.cleared[w].lacksCard(id)
	}
	return c, known
}

// cardsUnder returns the living cards with a key or a key below it, by key and id, if they are
// known.
func (a *prefetched) cardsUnder(w int64, key markup.Key) (list []canon.Card, known bool) {
	if census := a.cleared[w]; census != nil {
		switch census.under(key) {
		case 0:
			return nil, true
		case 1:
			if a.last.Key == key && !a.last.Trashed() && census.hasCard(a.last.ID) {
				return []canon.Card{a.last}, true
			}
		}
		return nil, false
	}
	ids, known := a.below[keyRef{w, key}]
	for _, id := range ids {
		if c := a.cards[cardRef{w, id}]; c != nil && !c.Trashed() && c.Key.HasPrefix(key) {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list,
		func(a, b canon.Card) int { return cmp.Or(cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:])) })
	return list, known
}

// isNameTaken reports whether another living card with the same label has the card's key or
// codename, and whether that is known.
func (a *prefetched) isNameTaken(w int64, c canon.Card) (taken, known bool) {
	old, _ := a.findCard(w, c.ID)
	was := old != nil && !old.Trashed() && old.Label.Equal(c.Label)
	if c.Codename != "" && !(was && old.Codename == c.Codename) {
		return false, false
	}
	if was && old.Key == c.Key {
		return false, true
	}
	others, known := a.cardsUnder(w, c.Key)
	for _, o := range others {
		if o.ID != c.ID && o.Key == c.Key && o.Label.Equal(c.Label) {
			return true, true
		}
	}
	return false, known
}

// noteCard updates the prefetched data after a card's row was written.
func (a *prefetched) noteCard(w int64, c canon.Card) {
	at := cardRef{w, c.ID}
	old, known := a.findCard(w, c.ID)
	if _, again := a.made[at]; known && old == nil && !again {
		put(&a.made, at, true)
	}
	a.cleared[w].noteCard(c, old)
	if len(a.cards) > maxHeldCards {
		a.cards, a.below, a.made = nil, nil, nil
	}
	c.CreatedAt, c.UpdatedAt, c.TrashedAt = storedTime(c.CreatedAt), storedTime(c.UpdatedAt), storedTime(c.TrashedAt)
	if len(c.Fields) == 0 {
		c.Fields = nil
	}
	a.last = c
	put(&a.cards, at, &c)
	if len(a.below) == 0 {
		return
	}
	for key := range selfAndAbove(c.Key) {
		at := keyRef{w, key}
		if ids, known := a.below[at]; known && !slices.Contains(ids, c.ID) {
			a.below[at] = append(ids, c.ID)
		}
	}
}

// clearWorld drops the data of all worlds and records that a world is empty: from now on it
// contains only cards that this transaction writes.
func (a *prefetched) clearWorld(w int64) {
	cleared := a.cleared
	put(&cleared, w, &census{ids: make(map[canon.CardID]struct{}), keys: make(map[uint64]uint32)})
	*a = prefetched{cleared: cleared}
}

// census counts the cards of a world that this transaction has cleared, so that cards that were
// never written need not be queried. Counts may be too high, never too low. A nil census knows
// nothing.
type census struct {
	ids  map[canon.CardID]struct{}
	keys map[uint64]uint32 // by the hash of a key: number of cards with that key or a key below it
}

var censusSeed = maphash.MakeSeed()

func (c *census) hasCard(id canon.CardID) bool {
	_, ok := c.ids[id]
	return ok
}

func (c *census) lacksCard(id canon.CardID) bool { return c != nil && !c.hasCard(id) }

// under returns how many cards may have a key or a key below it.
func (c *census) under(key markup.Key) uint32 { return c.keys[maphash.String(censusSeed, string(key))] }

func (c *census) noteCard(card canon.Card, old *canon.Card) {
	if c == nil || old != nil && old.Key == card.Key {
		return
	}
	c.ids[card.ID] = struct{}{}
	for key := range selfAndAbove(card.Key) {
		c.keys[maphash.String(censusSeed, string(key))]++
	}
}

// selfAndAbove yields a key and the keys of its ancestors.
func selfAndAbove(key markup.Key) iter.Seq[markup.Key] {
	return func(yield func(markup.Key) bool) {
		for yield(key) {
			i := strings.LastIndexByte(string(key), '+')
			if i < 0 {
				return
			}
			key = key[:i]
		}
	}
}

// storedTime returns a time as it is read back from the database.
func storedTime(t time.Time) time.Time { return sqlstore.Time(sqlstore.Millis(t)) }
