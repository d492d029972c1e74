package canon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Reset brings a fork back to the commit of its origin that it was made from, by one
// commit: cards, links, layers, title and settings. Who its members are stays, and so does
// the history, with what was played. It needs a grant of the world's admin, or the
// operator's, and refuses with fault.Rule where the world is no fork.
func (c *Canon) Reset(ctx context.Context, g access.Grant, w access.WorldID) (receipt Receipt, err error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	if !g.Caller().Operator && (g.World() != w || g.Role() < access.RoleAdmin) {
		return Receipt{}, fault.New(fault.Denied, "a fork is brought back by the world's admin").With("required_role", "admin")
	}
	if err := mayCommit(g); err != nil {
		return Receipt{}, err
	}
	err = c.store.Write(ctx, func(tx Tx) (err error) {
		again := false
		if receipt, again, err = repeated(ctx, tx, g); err != nil || again {
			return err
		}
		forked, now, err := traced(ctx, tx, w)
		if err != nil {
			return err
		}
		set, err := wayBack(ctx, tx, w, forked, now)
		if err != nil {
			return err
		}
		receipt, err = c.commitIn(ctx, tx, g, w, set)
		return err
	})
	return receipt, committed(err)
}

// trace is what a world's stream says of its cards, links, layers and settings.
type trace struct {
	world  *WorldImage
	cards  map[CardID]*CardImage
	order  []CardID // of cards, parents first
	links  map[LinkID]*LinkImage
	layers map[LayerID]*LayerImage
}

func newTrace() *trace {
	return &trace{cards: map[CardID]*CardImage{}, links: map[LinkID]*LinkImage{}, layers: map[LayerID]*LayerImage{}}
}

func (t *trace) apply(ch Change) {
	switch {
	case ch.World != nil:
		t.world = ch.World
	case ch.Card != nil:
		if _, known := t.cards[ch.Card.ID]; !known {
			t.order = append(t.order, ch.Card.ID)
		}
		t.cards[ch.Card.ID] = ch.Card
	case ch.Link != nil && ch.Link.Gone:
		delete(t.links, ch.Link.ID)
	case ch.Link != nil:
		t.links[ch.Link.ID] = ch.Link
	case ch.Layer != nil && ch.Layer.Gone:
		delete(t.layers, ch.Layer.ID)
	case ch.Layer != nil:
		t.layers[ch.Layer.ID] = ch.Layer
	}
}

// traced reads a fork's stream: what it says when the fork was made, and what it says now.
func traced(ctx context.Context, r Reader, w access.WorldID) (forked, now *trace, err error) {
	world, ok, err := finishedWorld(ctx, r, w)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, fault.New(fault.NotFound, "no such world")
	}
	if world.Origin.IsZero() {
		return nil, nil, ruleFault("world", "%s is no fork; make one with world fork, and bring that back", world.Slug)
	}
	forked, now = newTrace(), newTrace()
	op, making := "", true
	for commit, err := range r.Commits(ctx, WorldStream(w), 1) {
		if err != nil {
			return nil, nil, err
		}
		rec, err := commit.Record()
		if err != nil {
			return nil, nil, err
		}
		if rec.Seq == 1 {
			op = rec.Op
		}
		making = making && rec.Op == op && (rec.Note == forkNote || rec.Seq == 1)
		for _, ch := range rec.Changes {
			now.apply(ch)
			if making {
				forked.apply(ch)
			}
		}
	}
	return forked, now, nil
}

// wayBack is the change from what is now to what was when a fork was made.
func wayBack(ctx context.Context, r Reader, w access.WorldID, forked, now *trace) (ChangeSet, error) {
	b := &back{r: r, sight: Visibility{w, access.View{Level: access.LevelAll}}, to: forked, alive: map[CardID]*CardImage{}}
	if forked.world != nil && !same(forked.world, now.world) {
		b.plan(Change{World: forked.world})
	}
	for _, id := range sorted(now.links) {
		if l := *now.links[id]; forked.links[id] == nil {
			l.Gone = true
			b.plan(Change{Link: &l})
		}
	}
	for _, id := range sorted(now.layers) {
		if l := *now.layers[id]; forked.layers[id] == nil {
			l.Gone = true
			b.plan(Change{Layer: &l})
		}
	}
	if err := b.cards(ctx); err != nil {
		return ChangeSet{}, err
	}
	for _, id := range sorted(forked.links) {
		if l := forked.links[id]; now.links[id] == nil || !same(l, now.links[id]) {
			b.plan(Change{Link: l})
		}
	}
	for _, id := range sorted(forked.layers) {
		if l := forked.layers[id]; now.layers[id] == nil || !same(l, now.layers[id]) {
			b.plan(Change{Layer: l})
		}
	}
	return ChangeSet{Changes: b.changes, Note: "brought back to what it was forked from"}, nil
}

func sorted[K ~[16]byte, V any](m map[K]V) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return bytes.Compare(a[:], b[:]) })
}

// same compares images by what is stored of them.
func same(a, b any) bool {
	x, xerr := json.Marshal(a)
	y, yerr := json.Marshal(b)
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// back plans a world's cards back, beside a tally of what each step leaves alive.
type back struct {
	r       Reader
	sight   Visibility
	to      *trace
	alive   map[CardID]*CardImage
	changes []Change
}

func (b *back) plan(ch Change) { b.changes = append(b.changes, ch) }

// put plans a card's state.
func (b *back) put(act Act, im CardImage) {
	im.Act = act
	b.plan(Change{Card: &im})
	b.alive[im.ID] = &im
}

// cards first lets go of every name that is not where it was, so that each is free when
// the card that it belongs to comes for it.
func (b *back) cards(ctx context.Context) error {
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := b.r.Cards(ctx, b.sight, Filter{}, page)
		if err != nil {
			return err
		}
		for _, c := range cards {
			b.alive[c.ID] = imageOf(c, "")
		}
		if len(cards) < page.Limit {
			break
		}
	}
	b.park()
	b.clear()
	if err := b.restore(ctx); err != nil {
		return err
	}
	b.park() // what came back in company may be elsewhere too
	b.clear()
	for _, id := range b.to.order {
		is, im := *b.alive[id], *b.to.cards[id]
		if is.Act, im.Act = "", ""; !same(is, im) {
			b.put(ActUpdate, im)
		}
	}
	return nil
}

// park moves cards that are not where they were to names of their own, away from what was
// made since.
func (b *back) park() {
	for _, id := range b.to.order {
		is, was := b.alive[id], b.to.cards[id]
		if is != nil && (is.Parent != was.Parent || is.Part != was.Part) {
			parked := *is
			parked.Parent, parked.Part = CardID{}, "Brought back "+id.String()
			b.put(ActRename, parked)
		}
	}
}

// clear puts in the trash what was made since.
func (b *back) clear() {
	var top []CardID
	for _, id := range sorted(b.alive) {
		if parent := b.alive[id].Parent; b.to.cards[id] == nil && (parent.IsZero() || b.to.cards[parent] != nil) {
			top = append(top, id)
		}
	}
	for _, id := range top {
		b.put(ActTrash, *b.alive[id])
	}
	maps.DeleteFunc(b.alive, func(id CardID, _ *CardImage) bool { return b.to.cards[id] == nil })
}

// restore brings back from the trash what was there, each card under its parent.
func (b *back) restore(ctx context.Context) error {
	for _, id := range b.to.order {
		if b.alive[id] != nil {
			continue
		}
		went, err := b.r.FindCards(ctx, b.sight, CardQuery{TrashRoot: id})
		if err != nil {
			return err
		}
		b.put(ActRestore, *b.to.cards[id])
		up := map[CardID]bool{id: true}
		for _, c := range slices.SortedStableFunc(slices.Values(went), func(a, b Card) int { return cmp.Compare(a.Key, b.Key) }) {
			if up[c.Parent] && b.alive[c.ID] == nil {
				up[c.ID] = true
				b.alive[c.ID] = imageOf(c, "")
			}
		}
	}
	return nil
}
