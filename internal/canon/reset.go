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
	"loregate/internal/markup"
)

// Reset returns a fork to the commit of its origin from which it was forked: cards, links, layers,
// title and settings. It does so by a single commit. The members stay, and so does the history with
// everything that was played. Reset needs a grant of the world's admin or of the operator, and
// refuses with fault.Rule if the world is no fork.
func (c *Canon) Reset(ctx context.Context, g access.Grant, w access.WorldID) (receipt Receipt, err error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	if !g.Caller().Operator && (g.World() != w || g.Role() < access.RoleAdmin) {
		return Receipt{}, fault.New(fault.Denied, "only the world's admin can reset a fork").With("required_role",
			"admin")
	}
	if err := mayCommit(g); err != nil {
		return Receipt{}, err
	}
	var set ChangeSet
	err = c.write(ctx, w, func(tx Tx) (err error) {
		again := false
		if receipt, again, err = findRepeat(ctx, tx, g); err != nil || again {
			return err
		}
		forked, now, err := traceFork(ctx, tx, w)
		if err != nil {
			return err
		}
		if set, err = planReset(ctx, tx, w, forked, now); err != nil {
			return err
		}
		receipt, err = c.commitIn(ctx, tx, g, w, set)
		return err
	})
	return receipt, c.endWrite(g, set, receipt, err)
}

// trace is the state of a world's cards, links, layers and settings according to its stream.
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

// applyChange updates the state by one change.
func (t *trace) applyChange(ch Change) {
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

// traceFork reads a fork's stream. forked is the state in which the fork was created, now is the
// current state.
func traceFork(ctx context.Context, r Reader, w access.WorldID) (forked, now *trace, err error) {
	world, ok, err := finishedWorld(ctx, r, w)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, fault.New(fault.NotFound, "no such world")
	}
	if world.Origin.IsZero() {
		return nil, nil, ruleFault("world", "%s is not a fork; only worlds created by world fork can be reset", world.Slug)
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
			now.applyChange(ch)
			if making {
				forked.applyChange(ch)
			}
		}
	}
	return forked, now, nil
}

// planReset returns the changes from the current state of a fork back to the one in which it was
// created.
func planReset(ctx context.Context, r Reader, w access.WorldID, forked, now *trace) (ChangeSet, error) {
	b := &resetPlan{r: r, visibility: Visibility{w, access.View{Level: access.LevelAll}}, to: forked,
		alive: map[CardID]*CardImage{}, labels: map[CardID]access.Label{}}
	world := b.resetWorld(now.world)
	for _, id := range sortedIDs(now.links) {
		if l := *now.links[id]; forked.links[id] == nil {
			l.Gone = true
			b.addChange(Change{Link: &l})
		}
	}
	for _, id := range sortedIDs(now.layers) {
		if l := *now.layers[id]; forked.layers[id] == nil {
			l.Gone = true
			b.addChange(Change{Layer: &l})
		}
	}
	if err := b.resetCards(ctx); err != nil {
		return ChangeSet{}, err
	}
	if world != nil {
		b.addChange(Change{World: world})
	}
	for _, id := range sortedIDs(forked.links) {
		if l := forked.links[id]; now.links[id] == nil || !sameImage(l, now.links[id]) {
			b.addChange(Change{Link: l})
		}
	}
	for _, id := range sortedIDs(forked.layers) {
		if l := forked.layers[id]; now.layers[id] == nil || !sameImage(l, now.layers[id]) {
			b.addChange(Change{Layer: l})
		}
	}
	return ChangeSet{Changes: b.changes, Note: "reset to the state in which it was forked"}, nil
}

func sortedIDs[K ~[16]byte, V any](m map[K]V) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return bytes.Compare(a[:], b[:]) })
}

// sameImage compares two images by their stored form.
func sameImage(a, b any) bool {
	x, xerr := json.Marshal(a)
	y, yerr := json.Marshal(b)
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// resetPlan plans the changes of a reset. alive holds the living cards in their state after the
// changes planned so far.
//
// No card is shown to more readers before it has its former text: until then it has at least the label that it had
// before the reset, and the name rules from before and after the reset both apply.
type resetPlan struct {
	r          Reader
	visibility Visibility
	to         *trace
	rules      Settings // name rules during the reset
	alive      map[CardID]*CardImage
	labels     map[CardID]access.Label // effective labels before the reset
	changes    []Change
}

// resetWorld plans the reset of the title and settings, with the name rules from before and after the reset. It
// returns the change that ends the rules from before; nil if they are the same.
func (b *resetPlan) resetWorld(now *WorldImage) (last *WorldImage) {
	was := b.to.world
	if was == nil || sameImage(was, now) {
		b.rules = now.Settings
		return nil
	}
	meanwhile := *was
	if old, parts := now.Settings.gmParts(), was.Settings.gmParts(); !slices.Equal(old, parts) {
		meanwhile.Settings.GMParts = slices.Concat(old, parts)
		last = was
	}
	b.rules = meanwhile.Settings
	b.addChange(Change{World: &meanwhile})
	return last
}

func (b *resetPlan) addChange(ch Change) { b.changes = append(b.changes, ch) }

// putCard plans a card's state.
func (b *resetPlan) putCard(act Act, im CardImage) {
	im.Act = act
	b.addChange(Change{Card: &im})
	b.alive[im.ID] = &im
}

// resetCards plans the reset of all cards. It first frees every name that the fork gave to another
// card, so that the name is free when its original card gets it back.
func (b *resetPlan) resetCards(ctx context.Context) error {
	cards := pages(ctx, pageSize, func(p Page) ([]Card, Total, error) {
		return b.r.Cards(ctx, b.visibility, Filter{TagLists: true}, p)
	})
	for c, err := range cards {
		if err != nil {
			return err
		}
		b.alive[c.ID], b.labels[c.ID] = imageFromCard(c, ""), c.Label
	}
	b.parkMoved()
	b.trashAdded()
	if err := b.restoreTrashed(ctx); err != nil {
		return err
	}
	b.parkMoved() // restored descendants may be in other places too
	b.trashAdded()
	b.keepLabels()
	for _, id := range b.to.order {
		is, im := *b.alive[id], *b.to.cards[id]
		if is.Act, im.Act = "", ""; !sameImage(is, im) {
			b.putCard(ActUpdate, im)
		}
	}
	return nil
}

// parkMoved gives cards that were moved or renamed temporary names of their own, outside the cards
// that were created since the fork.
func (b *resetPlan) parkMoved() {
	for _, id := range b.to.order {
		is, was := b.alive[id], b.to.cards[id]
		if is != nil && (is.Parent != was.Parent || is.Part != was.Part) {
			parked := *is
			parked.Parent, parked.Part = CardID{}, "Brought back "+id.String()
			parked.Own = parked.Own.Meet(b.labels[id])
			b.putCard(ActRename, parked)
		}
	}
}

// keepLabels gives the cards that would be shown to more readers as soon as the card above is as it was their present
// labels as their own.
func (b *resetPlan) keepLabels() {
	final := map[CardID]access.Label{{}: access.NewLabel(access.LevelUser)}
	for _, id := range b.to.order {
		is, was := b.alive[id], b.to.cards[id]
		above := final[was.Parent].Meet(access.NewLabel(b.rules.nameLevel(markup.KeyOf(was.Part))))
		final[id] = above.Meet(was.Own)
		if now := b.labels[id]; now.Level != access.LevelNone && !now.Covers(above.Meet(is.Own)) {
			kept := *is
			kept.Own = kept.Own.Meet(now)
			b.putCard(ActLabel, kept)
		}
	}
}

// trashAdded puts the cards that were created since the fork in the trash.
func (b *resetPlan) trashAdded() {
	var top []CardID
	for _, id := range sortedIDs(b.alive) {
		if parent := b.alive[id].Parent; b.to.cards[id] == nil && (parent.IsZero() || b.to.cards[parent] != nil) {
			top = append(top, id)
		}
	}
	for _, id := range top {
		b.putCard(ActTrash, *b.alive[id])
	}
	maps.DeleteFunc(b.alive, func(id CardID, _ *CardImage) bool { return b.to.cards[id] == nil })
}

// restoreTrashed takes the original cards out of the trash, or creates them, each card after its parent.
func (b *resetPlan) restoreTrashed(ctx context.Context) error {
	for _, id := range b.to.order {
		if b.alive[id] != nil {
			continue
		}
		_, exists, err := First(b.r.FindCards(ctx, b.visibility, CardQuery{ID: id}))
		if err != nil {
			return err
		}
		if !exists { // only a repaired world can lack it
			b.putCard(ActCreate, *b.to.cards[id])
			continue
		}
		went, err := b.r.FindCards(ctx, b.visibility, CardQuery{TrashRoot: id})
		if err != nil {
			return err
		}
		back := *b.to.cards[id]
		for _, c := range went {
			back.Own = back.Own.Meet(c.Label)
		}
		b.putCard(ActRestore, back)
		up := map[CardID]bool{id: true}
		for _, c := range slices.SortedStableFunc(slices.Values(went),
			func(a, b Card) int { return cmp.Compare(a.Key, b.Key) }) {
			if up[c.Parent] && b.alive[c.ID] == nil {
				up[c.ID] = true
				b.alive[c.ID], b.labels[c.ID] = imageFromCard(c, ""), c.Label
			}
		}
	}
	return nil
}
