package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// tx writes to the fork that its reader reads.
type tx struct{ reader }

var _ canon.Tx = tx{}

func (t tx) Append(_ context.Context, c canon.StoredCommit) error {
	commits, _ := t.s.streams.get(c.Stream)
	head := headOf(commits)
	if !head.Precedes(c) {
		return fmt.Errorf("memory: commit %d does not follow commit %d of stream %s", c.Seq, head.Seq, c.Stream)
	}
	c.Body = bytes.Clone(c.Body)
	c.At = storedTime(c.At)
	// Appending to a slice that published states share is safe: each state only reads up to its own
	// length, and there is one writer at a time.
	t.s.streams.put(c.Stream, append(commits, c))
	return nil
}

func (t tx) PutRepeat(_ context.Context, r canon.Repeat) error {
	r.Expires = storedTime(r.Expires)
	t.s.repeats.put(repeatKey{r.Account, r.Key}, r)
	return nil
}

func (t tx) PutBody(_ context.Context, w access.WorldID, h canon.Hash, b []byte) error {
	t.s.bodies.put(bodyKey{w, h}, append([]byte{}, b...))
	return nil
}

func (t tx) EraseBody(_ context.Context, w access.WorldID, h canon.Hash) error {
	t.s.bodies.remove(bodyKey{w, h})
	return nil
}

func (t tx) BodyInUse(_ context.Context, w access.WorldID, h canon.Hash) (bool, error) {
	for key, versions := range t.s.versions.all() {
		for _, v := range versions {
			if key.world == w && v.Content == h && !v.Purged {
				return true, nil
			}
		}
	}
	return false, nil
}

func (t tx) PutWorld(_ context.Context, w canon.World) error {
	for id, other := range t.s.worlds.all() {
		if id != w.ID && other.Slug == w.Slug {
			return canon.ErrTaken
		}
	}
	w.CreatedAt = storedTime(w.CreatedAt)
	t.s.worlds.put(w.ID, w)
	return nil
}

func (t tx) PutMember(_ context.Context, m canon.Member) error {
	t.s.members.put(memberKey{m.World, m.Subject}, m)
	return nil
}

func (t tx) PutCard(_ context.Context, c canon.Card) error {
	for _, n := range uniqueNames(&c) {
		if id, ok := t.s.names.get(n); ok && id != c.ID {
			return canon.ErrTaken
		}
	}
	key := cardKey{c.World, c.ID}
	if old, ok := t.s.cards.get(key); ok {
		for _, n := range uniqueNames(old) {
			t.s.names.remove(n)
		}
	}
	for _, n := range uniqueNames(&c) {
		t.s.names.put(n, c.ID)
	}
	c.Fields = bytes.Clone(c.Fields)
	c.CreatedAt, c.UpdatedAt, c.TrashedAt = storedTime(c.CreatedAt), storedTime(c.UpdatedAt), storedTime(c.TrashedAt)
	t.s.cards.put(key, &c)
	return nil
}

// uniqueNames returns the names that no other living card may have.
func uniqueNames(c *canon.Card) []nameKey {
	if c.Trashed() {
		return nil
	}
	label := c.Label.String()
	out := []nameKey{{world: c.World, label: label, key: c.Key}}
	if c.Codename != "" {
		out = append(out, nameKey{world: c.World, label: label, codename: c.Codename})
	}
	return out
}

func (t tx) PutVersion(_ context.Context, v canon.Version) error {
	v.Fields = bytes.Clone(v.Fields)
	v.At = storedTime(v.At)
	byRev := func(a, b canon.Version) int { return cmp.Compare(a.Rev, b.Rev) }
	putRow(&t.s.versions, cardKey{v.World, v.Card}, v, byRev)
	return nil
}

func (t tx) EndVersion(_ context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	endRows(&t.s.versions, cardKey{w, id}, func(v *canon.Version) *canon.Seq { return &v.To }, to)
	return nil
}

func (t tx) PutRefs(_ context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	key := cardKey{w, from}
	if len(refs) == 0 {
		t.s.refs.remove(key)
		return nil
	}
	t.s.refs.put(key, slices.Clone(refs))
	return nil
}

func (t tx) Index(_ context.Context, c canon.Card, d *canon.SearchDoc) error {
	key := cardKey{c.World, c.ID}
	if d == nil {
		t.s.docs.remove(key)
		return nil
	}
	t.s.docs.put(key, doc{c.Label, *d})
	return nil
}

func (t tx) PutLink(_ context.Context, l canon.Link) error {
	l.Attrs = bytes.Clone(l.Attrs)
	l.At = storedTime(l.At)
	bySince := func(a, b canon.Link) int { return cmp.Compare(a.Since, b.Since) }
	putRow(&t.s.links, linkKey{l.World, l.ID}, l, bySince)
	return nil
}

func (t tx) EndLink(_ context.Context, w access.WorldID, id canon.LinkID, to canon.Seq) error {
	endRows(&t.s.links, linkKey{w, id}, func(l *canon.Link) *canon.Seq { return &l.Until }, to)
	return nil
}

func (t tx) PutLayer(_ context.Context, l canon.Layer) error {
	l.At = storedTime(l.At)
	bySince := func(a, b canon.Layer) int { return cmp.Compare(a.Since, b.Since) }
	putRow(&t.s.layers, layerKey{l.World, l.ID}, l, bySince)
	return nil
}

func (t tx) EndLayer(_ context.Context, w access.WorldID, id canon.LayerID, to canon.Seq) error {
	endRows(&t.s.layers, layerKey{w, id}, func(l *canon.Layer) *canon.Seq { return &l.Until }, to)
	return nil
}

func (t tx) Clear(_ context.Context, w access.WorldID) error {
	ofCard := func(k cardKey) bool { return k.world == w }
	t.s.worlds.dropRows(func(k access.WorldID) bool { return k == w })
	t.s.members.dropRows(func(k memberKey) bool { return k.world == w })
	t.s.cards.dropRows(ofCard)
	t.s.names.dropRows(func(k nameKey) bool { return k.world == w })
	t.s.versions.dropRows(ofCard)
	t.s.refs.dropRows(ofCard)
	t.s.docs.dropRows(ofCard)
	t.s.links.dropRows(func(k linkKey) bool { return k.world == w })
	t.s.layers.dropRows(func(k layerKey) bool { return k.world == w })
	t.s.events.dropRows(func(k eventKey) bool { return k.world == w })
	return nil
}

func (t tx) Discard(ctx context.Context, w access.WorldID, _ int) (left bool, err error) {
	stream := canon.WorldStream(w)
	t.s.bodies.dropRows(func(k bodyKey) bool { return k.world == w })
	t.s.streams.remove(stream)
	for key, used := range t.s.repeats.all() {
		if used.Stream == stream {
			t.s.repeats.remove(key)
		}
	}
	return false, t.Clear(ctx, w)
}

// putRow inserts a row among the sorted rows of a key, or replaces the row that compares equal.
// Published states keep the rows that they had.
func putRow[K comparable, T any](t *table[K, []T], key K, row T, compare func(a, b T) int) {
	rows := slices.Clone(t.rows[key])
	i, found := slices.BinarySearchFunc(rows, row, compare)
	if found {
		rows[i] = row
	} else {
		rows = slices.Insert(rows, i, row)
	}
	t.put(key, rows)
}

// endRows ends the rows of a key that have no end yet at a commit. Published states keep the rows
// that they had.
func endRows[K comparable, T any](t *table[K, []T], key K, end func(*T) *canon.Seq, at canon.Seq) {
	rows := slices.Clone(t.rows[key])
	for i := range rows {
		if e := end(&rows[i]); *e == 0 {
			*e = at
		}
	}
	if rows != nil {
		t.put(key, rows)
	}
}

// storedTime returns a time with the precision and zone that stores keep.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
