package canon

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
)

// forkBatch is how many changes of a fork share a commit.
const forkBatch = 500

// Fork makes a world that begins as another stands now: living cards, links, layers,
// settings and members, under the same ids. Play in the fork does not touch its origin. It
// is there whole or not at all: other writers wait meanwhile. It needs an operator's grant.
func (c *Canon) Fork(ctx context.Context, g access.Grant, src access.WorldID, n NewWorld) (World, error) {
	if !g.Valid() {
		return World{}, errClosed
	}
	origin, changes, bodies, err := c.snapshot(ctx, src)
	if err != nil {
		return World{}, err
	}
	if n.Title == "" {
		n.Title = origin.Title
	}
	n.Settings = origin.Settings
	first, err := c.firstOf(ctx, g, n, origin)
	if err != nil {
		return World{}, err
	}
	id := access.WorldID(c.newID(""))
	err = c.store.Write(ctx, func(tx Tx) error {
		if _, err := c.commitIn(ctx, tx, g, id, first); err != nil {
			return err
		}
		for part := range slices.Chunk(changes, forkBatch) {
			if _, err := c.commitIn(ctx, tx, g, id, ChangeSet{Changes: part, Note: forkNote, bodies: bodiesOf(part, bodies)}); err != nil {
				return fmt.Errorf("canon: fork of %s: %w", origin.Slug, err)
			}
		}
		return nil
	})
	if err := committed(err); err != nil {
		return World{}, err
	}
	return c.World(ctx, id)
}

func bodiesOf(changes []Change, all map[Hash][]byte) map[Hash][]byte {
	part := make(map[Hash][]byte)
	for _, ch := range changes {
		if ch.Card != nil && ch.Card.Content != (Hash{}) {
			part[ch.Card.Content] = all[ch.Card.Content]
		}
	}
	return part
}

// snapshot gives a world as changes that would make it, parents before children.
func (c *Canon) snapshot(ctx context.Context, id access.WorldID) (w World, changes []Change, bodies map[Hash][]byte, err error) {
	var f *forked
	err = c.store.Read(ctx, func(r Reader) error {
		f = &forked{r: r, all: Sight{id, access.View{Level: access.LevelAll}}, bodies: map[Hash][]byte{}, done: map[CardID]bool{}}
		found, ok, err := r.World(ctx, id)
		if err != nil || !ok {
			return fmt.Errorf("canon: world %s: present %t: %w", id, ok, err)
		}
		head, err := r.Head(ctx, WorldStream(id))
		if err != nil {
			return err
		}
		w = found
		w.OriginSeq = head.Seq
		members, err := r.Members(ctx, id)
		if err != nil {
			return err
		}
		for _, m := range members {
			f.changes = append(f.changes, Change{Member: &MemberImage{Subject: m.Subject, Role: m.Role, Player: m.Player}})
		}
		if err := f.cards(ctx); err != nil {
			return err
		}
		return f.links(ctx)
	})
	if err != nil {
		return World{}, nil, nil, err
	}
	return w, f.changes, f.bodies, nil
}

// forked collects what makes a fork of the world that it reads.
type forked struct {
	r       Reader
	all     Sight
	changes []Change
	bodies  map[Hash][]byte
	done    map[CardID]bool // cards that are among changes
}

// cards adds all living cards with their layers, each after the one it lies below.
func (f *forked) cards(ctx context.Context) error {
	var wait []Card
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := f.r.Cards(ctx, f.all, Filter{Sort: SortName}, page)
		if err != nil {
			return err
		}
		still, err := f.below(ctx, cards)
		if err != nil {
			return err
		}
		if wait = append(wait, still...); len(cards) < page.Limit {
			break
		}
	}
	for len(wait) > 0 {
		still, err := f.below(ctx, wait)
		if err != nil {
			return err
		}
		if len(still) == len(wait) {
			return fmt.Errorf("canon: %d cards have no living parent", len(still))
		}
		wait = still
	}
	return nil
}

// below adds the cards whose parents are there, and gives back the others.
func (f *forked) below(ctx context.Context, cards []Card) (wait []Card, err error) {
	for _, c := range cards {
		if !c.Parent.IsZero() && !f.done[c.Parent] {
			wait = append(wait, c)
			continue
		}
		if err := f.card(ctx, c); err != nil {
			return nil, err
		}
	}
	return wait, nil
}

func (f *forked) card(ctx context.Context, c Card) error {
	if c.Content != (Hash{}) {
		b, _, err := f.r.Body(ctx, f.all.World, c.Content)
		if err != nil {
			return err
		}
		f.bodies[c.Content] = b
	}
	f.done[c.ID] = true
	f.changes = append(f.changes, Change{Card: imageOf(c, ActCreate)})
	layers, err := f.r.Layers(ctx, f.all, LayerQuery{Card: c.ID})
	for _, l := range layers {
		f.changes = append(f.changes, Change{Layer: &LayerImage{ID: l.ID, Card: l.Card, Kind: l.Kind, Text: l.Text,
			FromTick: l.FromTick, ToTick: l.ToTick, Label: l.Label}})
	}
	return err
}

func (f *forked) links(ctx context.Context) error {
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		links, _, err := f.r.Links(ctx, f.all, LinkQuery{Page: page})
		if err != nil {
			return err
		}
		for _, l := range links {
			f.changes = append(f.changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To, Attrs: l.Attrs, Label: l.Label}})
		}
		if len(links) < page.Limit {
			return nil
		}
	}
}

func imageOf(c Card, act Act) *CardImage {
	return &CardImage{Act: act, ID: c.ID, Parent: c.Parent, Part: c.Part, Codename: c.Codename, Type: c.Type,
		Content: c.Content, Size: c.Size, Length: c.Length, Fields: c.Fields, Own: c.Own}
}

// forkNote marks the commits by which a fork was made: those at the beginning of its
// stream that bear it.
const forkNote = "as forked"
