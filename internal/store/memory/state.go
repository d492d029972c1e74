package memory

import (
	"iter"
	"maps"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// state is the complete content of a store at one time.
type state struct {
	worlds   table[access.WorldID, canon.World]
	members  table[memberKey, canon.Member]
	cards    table[cardKey, *canon.Card]
	names    table[nameKey, canon.CardID]    // the owners of the names that living cards must not share
	versions table[cardKey, []canon.Version] // by Rev
	refs     table[cardKey, []canon.Ref]     // by source, in order
	docs     table[cardKey, doc]
	links    table[linkKey, []canon.Link]   // by Since
	layers   table[layerKey, []canon.Layer] // by Since
	events   table[eventKey, canon.StoredEvent]
	bodies   table[bodyKey, []byte]
	streams  table[canon.StreamID, []canon.StoredCommit] // by Seq
	repeats  table[repeatKey, canon.Repeat]
}

type (
	memberKey struct {
		world   access.WorldID
		subject access.Subject
	}
	cardKey struct {
		world access.WorldID
		id    canon.CardID
	}
	nameKey struct {
		world    access.WorldID
		label    string
		key      markup.Key // of the card's name; or codename is set
		codename string
	}
	linkKey struct {
		world access.WorldID
		id    canon.LinkID
	}
	layerKey struct {
		world access.WorldID
		id    canon.LayerID
	}
	eventKey struct {
		world access.WorldID
		seq   canon.Seq
	}
	bodyKey struct {
		world access.WorldID
		hash  canon.Hash
	}
	repeatKey struct{ account, key string }
)

// doc is the searchable text of a card, with the label it was indexed with.
type doc struct {
	label access.Label
	canon.SearchDoc
}

// fork returns a copy of s that can be changed without changing s.
func (s *state) fork() *state {
	return &state{
		worlds:   s.worlds.fork(),
		members:  s.members.fork(),
		cards:    s.cards.fork(),
		names:    s.names.fork(),
		versions: s.versions.fork(),
		refs:     s.refs.fork(),
		docs:     s.docs.fork(),
		links:    s.links.fork(),
		layers:   s.layers.fork(),
		events:   s.events.fork(),
		bodies:   s.bodies.fork(),
		streams:  s.streams.fork(),
		repeats:  s.repeats.fork(),
	}
}

// table is a map that is copied on the first change after a fork.
type table[K comparable, V any] struct {
	rows map[K]V
	mine bool // no other state has rows
}

func (t table[K, V]) fork() table[K, V] { return table[K, V]{rows: t.rows} }

func (t table[K, V]) get(k K) (V, bool) {
	v, ok := t.rows[k]
	return v, ok
}

func (t table[K, V]) all() iter.Seq2[K, V] { return maps.All(t.rows) }

func (t *table[K, V]) put(k K, v V) {
	t.copyShared()
	t.rows[k] = v
}

func (t *table[K, V]) remove(k K) {
	t.copyShared()
	delete(t.rows, k)
}

func (t *table[K, V]) dropRows(match func(K) bool) {
	t.copyShared()
	maps.DeleteFunc(t.rows, func(k K, _ V) bool { return match(k) })
}

func (t *table[K, V]) copyShared() {
	if t.mine {
		return
	}
	rows := make(map[K]V, len(t.rows)+1)
	maps.Copy(rows, t.rows)
	t.rows, t.mine = rows, true
}
