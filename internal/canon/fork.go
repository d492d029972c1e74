package canon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// A step of a fork is one commit of up to forkStep changes with up to forkBytes of content.
// Such a step delays other writers about as much as an ordinary commit of a batch does.
const (
	forkStep  = 50
	forkBytes = 256 << 10
)

// Fork creates a world from the current state of another one: its living cards, links, layers,
// settings and members, with the same ids. Changes in the fork do not affect its origin. Fork needs
// an operator's grant.
//
// The fork is the state of its origin at one commit: Fork reads it from one snapshot and writes it
// in small steps, between which other writers may write. Until the last step the world is
// unfinished and hidden from everyone. Content that is erased from the origin meanwhile is missing
// from the fork. A fork that fails is discarded. If its process was killed, it stays unfinished
// until SweepForks discards it.
func (c *Canon) Fork(ctx context.Context, g access.Grant, src access.WorldID, n NewWorld) (World, error) {
	if !g.Valid() {
		return World{}, errClosed
	}
	if _, err := c.SweepForks(ctx); err != nil {
		return World{}, err
	}
	origin, copied, err := c.snapshotForFork(ctx, src)
	if err != nil {
		return World{}, err
	}
	n.Title = cmp.Or(n.Title, origin.Title)
	n.Settings = origin.Settings
	last, err := c.planNewWorld(ctx, g, n, origin)
	if err != nil {
		return World{}, err
	}
	last.Changes = append(last.Changes, copied.members...)
	f := &forkWriter{c: c, g: g, src: src, id: access.WorldID(c.newID(""))}
	if err := f.write(ctx, copied.changes, last); err != nil && !errors.Is(err, errDryRun) {
		err = fmt.Errorf("canon: fork of %s: %w", origin.Slug, commitError(err))
		if derr := c.discardFork(context.WithoutCancel(ctx), f.id); derr != nil {
			err = errors.Join(err, derr)
		}
		return World{}, err
	}
	return c.World(ctx, f.id)
}

// forkWriter writes a fork step by step.
type forkWriter struct {
	c   *Canon
	g   access.Grant
	src access.WorldID
	id  access.WorldID
}

// write commits the unfinished world, then the changes in steps, and finally the world under its
// own slug with its members.
func (f *forkWriter) write(ctx context.Context, changes []Change, last ChangeSet) error {
	hidden := *last.Changes[0].World
	if err := f.c.place(ctx, f.g, f.id, hidden.Slug); err != nil {
		return err
	}
	hidden.Slug = unfinishedSlug(f.id)
	if err := f.commit(ctx, ChangeSet{Changes: []Change{{World: &hidden}}}); err != nil {
		return err
	}
	for len(changes) > 0 {
		n := stepLen(changes)
		step := ChangeSet{Changes: changes[:n], only: f.checkNotAbandoned}
		changes = changes[n:]
		var err error
		if step.bodies, err = f.readBodies(ctx, step.Changes); err != nil {
			return err
		}
		if err := f.commit(ctx, step); err != nil {
			return err
		}
	}
	last.only = f.checkNotAbandoned
	return f.commit(ctx, last)
}

// stepLen returns the number of changes in the next step.
func stepLen(changes []Change) int {
	size := 0
	for i, ch := range changes {
		if ch.Card != nil {
			size += ch.Card.Size
		}
		if i == forkStep || i > 0 && size > forkBytes {
			return i
		}
	}
	return len(changes)
}

// checkNotAbandoned refuses a step if another process has marked the fork as abandoned or discarded
// it.
func (f *forkWriter) checkNotAbandoned(ctx context.Context, r Reader) error {
	w, ok, err := First(r.Worlds(ctx, WorldQuery{ID: f.id}))
	if err == nil && (!ok || w.Slug != unfinishedSlug(f.id)) {
		err = fault.New(fault.Conflict, "this fork made no progress for too long and was discarded; fork the world again")
	}
	return err
}

// commit commits one step.
func (f *forkWriter) commit(ctx context.Context, set ChangeSet) error {
	set.Note = forkNote
	return f.c.write(ctx, f.id, func(tx Tx) error {
		if err := Prefetch(ctx, tx, set.commitNeeds(f.g, f.id)); err != nil {
			return err
		}
		_, err := f.c.commitIn(ctx, tx, f.g, f.id, set)
		return err
	})
}

// readBodies reads the contents of cards from the origin. Erased contents have no bytes in the
// result.
func (f *forkWriter) readBodies(ctx context.Context, changes []Change) (bodies map[Hash][]byte, err error) {
	n := Needs{World: f.src}
	for _, ch := range changes {
		if ch.Card != nil && ch.Card.Content != (Hash{}) {
			n.Bodies = append(n.Bodies, ch.Card.Content)
		}
	}
	if len(n.Bodies) == 0 {
		return nil, nil
	}
	err = f.c.read(ctx, func(r Reader) error {
		if err := Prefetch(ctx, r, n); err != nil {
			return err
		}
		bodies = make(map[Hash][]byte, len(n.Bodies))
		for _, h := range n.Bodies {
			if bodies[h], _, err = r.Body(ctx, f.src, h); err != nil {
				return err
			}
		}
		return nil
	})
	return bodies, err
}

// snapshotForFork returns a world as the changes that would create it, parents before children.
func (c *Canon) snapshotForFork(ctx context.Context, id access.WorldID) (w World, f *forkContent, err error) {
	err = c.read(ctx, func(r Reader) error {
		f = &forkContent{r: r, all: Visibility{id, access.View{Level: access.LevelAll}}, done: map[CardID]bool{}}
		found, ok, err := finishedWorld(ctx, r, id)
		if err != nil || !ok {
			return fmt.Errorf("canon: world %s: present %t: %w", id, ok, err)
		}
		head, err := r.Head(ctx, WorldStream(id))
		if err != nil {
			return err
		}
		w = found
		w.OriginSeq = head.Seq
		members, err := r.Members(ctx, MemberQuery{World: id})
		if err != nil {
			return err
		}
		for _, m := range members {
			f.members = append(f.members, Change{Member: &MemberImage{Subject: m.Subject, Role: m.Role, May: m.May,
				Player: m.Player}})
		}
		if err := f.addCards(ctx); err != nil {
			return err
		}
		return f.addLinks(ctx)
	})
	return w, f, err
}

// forkContent collects the changes that create a fork of the world that it reads.
type forkContent struct {
	r       Reader
	all     Visibility
	members []Change
	changes []Change        // cards, layers and links
	done    map[CardID]bool // cards in changes
	view    bool            // labels include the effect of the name rules
	relaxed bool            // of a view: a card is open although the default name rules would hide it
	latest  time.Time       // of a view: the time of the latest version
}

// addCards adds all living cards with their layers, each card after its parent.
func (f *forkContent) addCards(ctx context.Context) error {
	wait, err := Collect(pages(ctx, pageSize, func(p Page) ([]Card, Total, error) {
		return f.r.Cards(ctx, f.all, Filter{Sort: SortName, TagLists: true}, p)
	}))
	if err != nil {
		return err
	}
	for len(wait) > 0 {
		var still []Card
		for part := range slices.Chunk(wait, pageSize) {
			rest, err := f.addPlaceable(ctx, part)
			if err != nil {
				return err
			}
			still = append(still, rest...)
		}
		if len(still) == len(wait) {
			return fmt.Errorf("canon: %d cards have no living parent", len(still))
		}
		wait = still
	}
	return nil
}

// addPlaceable adds the cards whose parents were added and returns the others.
func (f *forkContent) addPlaceable(ctx context.Context, cards []Card) (wait []Card, err error) {
	var added []CardID
	for _, c := range cards {
		if !c.Parent.IsZero() && !f.done[c.Parent] {
			wait = append(wait, c)
			continue
		}
		f.done[c.ID] = true
		im := imageFromCard(c, ActCreate)
		if im.Places, err = placesToday(ctx, f.r, f.all, c); err != nil {
			return nil, err
		}
		if f.view {
			im.Own = c.Label
			f.relaxed = f.relaxed || Settings{}.nameLevel(c.Key) > c.Label.Level
			if c.UpdatedAt.After(f.latest) {
				f.latest = c.UpdatedAt
			}
		}
		f.changes = append(f.changes, Change{Card: im})
		added = append(added, c.ID)
	}
	return wait, f.addLayers(ctx, added)
}

// addLayers adds the layers of cards, oldest first.
func (f *forkContent) addLayers(ctx context.Context, cards []CardID) error {
	if len(cards) == 0 {
		return nil
	}
	layers, err := f.r.Layers(ctx, f.all, LayerQuery{Cards: cards})
	for _, l := range slices.Backward(layers) {
		f.changes = append(f.changes, Change{Layer: &LayerImage{ID: l.ID, Card: l.Card, Kind: l.Kind, Text: l.Text,
			FromTick: l.FromTick, ToTick: l.ToTick, Label: l.Label}})
	}
	return err
}

// addLinks adds all current links.
func (f *forkContent) addLinks(ctx context.Context) error {
	links := pages(ctx, pageSize, func(p Page) ([]Link, Total, error) {
		return f.r.Links(ctx, f.all, LinkQuery{Page: p})
	})
	for l, err := range links {
		if err != nil {
			return err
		}
		f.changes = append(f.changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To, Attrs: l.Attrs,
			Label: l.Label}})
	}
	return nil
}

func imageFromCard(c Card, act Act) *CardImage {
	return &CardImage{Act: act, ID: c.ID, Parent: c.Parent, Part: c.Part, Codename: c.Codename, Type: c.Type,
		Format:  c.Format,
		Content: c.Content, Size: c.Size, Length: c.Length, Fields: c.Fields, Own: c.Own, Places: c.Places}
}

// forkNote marks the commits that created a fork. They are the first commits of its stream with
// this note.
const forkNote = "as forked"
