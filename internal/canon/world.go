package canon

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// slugForm is what a world's slug looks like: it stands in addresses and file names.
var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// NewWorld is a world to be made.
type NewWorld struct {
	Slug     string
	Title    string
	Settings Settings
	First    bool // only where there is no world yet: fault.Conflict otherwise
}

// CreateWorld makes a world, and its maker an admin of it. It needs an operator's grant.
func (c *Canon) CreateWorld(ctx context.Context, g access.Grant, n NewWorld) (World, error) {
	return c.makeWorld(ctx, g, n, World{}, nil)
}

func (c *Canon) makeWorld(ctx context.Context, g access.Grant, n NewWorld, origin World, more []Change) (World, error) {
	if !g.Valid() {
		return World{}, errClosed
	}
	if !g.Caller().Operator {
		return World{}, fault.New(fault.Denied, "worlds are made by the instance's operator")
	}
	if !slugForm.MatchString(n.Slug) {
		return World{}, fault.BadField("slug", "use 1 to 63 of a-z, 0-9 and '-'")
	}
	if err := checkSettings(n.Settings); err != nil {
		return World{}, err
	}
	id := access.WorldID(c.newID())
	err := c.store.Read(ctx, func(r Reader) error {
		_, ok, err := r.WorldBySlug(ctx, n.Slug)
		if err == nil && ok {
			err = taken(n.Slug)
		}
		return err
	})
	if err != nil {
		return World{}, err
	}
	set := ChangeSet{Changes: append([]Change{
		{World: &WorldImage{Slug: n.Slug, Title: n.Title, Settings: n.Settings, Origin: origin.ID, OriginSeq: origin.OriginSeq}},
		{Member: &MemberImage{Subject: g.Caller().Subject, Role: access.RoleAdmin}},
	}, more...)}
	if n.First {
		set.only = noWorld
	}
	if !origin.ID.IsZero() {
		set.Note = forkNote
	}
	if _, err := c.commitTo(ctx, g, id, set); err != nil {
		return World{}, err
	}
	return c.World(ctx, id)
}

// noWorld refuses where another process was first.
func noWorld(ctx context.Context, r Reader) error {
	all, err := r.Worlds(ctx)
	if err == nil && len(all) > 0 {
		err = fault.New(fault.Conflict, "there is a world already; use it, or make another by name")
	}
	return err
}

// World finds a world by its id. Who may know of it is the caller's matter: this is for
// wiring, which has no grant yet.
func (c *Canon) World(ctx context.Context, id access.WorldID) (w World, err error) {
	err = c.store.Read(ctx, func(r Reader) error {
		found, ok, err := r.World(ctx, id)
		if err == nil && !ok {
			err = fault.New(fault.NotFound, "no such world")
		}
		w = found
		return err
	})
	return w, err
}

// WorldBySlug finds a world by its slug, as World does.
func (c *Canon) WorldBySlug(ctx context.Context, slug string) (w World, ok bool, err error) {
	err = c.store.Read(ctx, func(r Reader) (err error) {
		w, ok, err = r.WorldBySlug(ctx, slug)
		return err
	})
	return w, ok, err
}

// Worlds lists all worlds, by slug. It is for wiring and for the operator.
func (c *Canon) Worlds(ctx context.Context) (list []World, err error) {
	err = c.store.Read(ctx, func(r Reader) (err error) {
		list, err = r.Worlds(ctx)
		return err
	})
	return list, err
}

// Memberships lists the worlds a subject is a member of.
func (c *Canon) Memberships(ctx context.Context, s access.Subject) (list []Member, err error) {
	err = c.store.Read(ctx, func(r Reader) (err error) {
		list, err = r.Memberships(ctx, s)
		return err
	})
	return list, err
}

// Configure changes the world's title and settings.
func (p *Plan) Configure(title string, s Settings) error {
	if p.grant.Role() < access.RoleAdmin {
		return fault.New(fault.Denied, "a world is configured by its admin").With("required_role", "admin")
	}
	if err := checkSettings(s); err != nil {
		return err
	}
	p.set.Changes = append(p.set.Changes, Change{World: &WorldImage{
		Slug: p.world.Slug, Title: title, Settings: s, Origin: p.world.Origin, OriginSeq: p.world.OriginSeq,
	}})
	return nil
}

func checkSettings(s Settings) error {
	if s.BatchRole != "" {
		if _, ok := access.ParseRole(s.BatchRole); !ok {
			return fault.BadField("batch_role", "use user, gm or admin")
		}
	}
	if len(s.GMParts) > 50 {
		return fault.BadField("gm_parts", "at most 50 parts")
	}
	for _, part := range s.GMParts {
		if err := checkName("gm_parts", part); err != nil {
			return err
		}
	}
	return nil
}

// SetMember gives a subject a role in the world, or removes it with RoleNone.
func (p *Plan) SetMember(s access.Subject, role access.Role, player CardID) error {
	if p.grant.Role() < access.RoleAdmin {
		return fault.New(fault.Denied, "members are managed by the world's admin").With("required_role", "admin")
	}
	if err := access.CheckSubject(s); err != nil {
		return fault.BadField("subject", "%v", err)
	}
	if !player.IsZero() {
		if _, ok, err := p.ByID(p.ctx, player); err != nil || !ok {
			if err != nil {
				return err
			}
			return fault.BadField("player", "there is no such card")
		}
	}
	p.set.Changes = append(p.set.Changes, Change{Member: &MemberImage{Subject: s, Role: role, Player: player}})
	return nil
}

// forkBatch is how many changes of a fork share a commit.
const forkBatch = 500

// Fork makes a world that begins as another stands now: living cards, links, layers,
// settings and members, under the same ids. Play in the fork does not touch its origin.
// It needs an operator's grant.
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
	w, err := c.makeWorld(ctx, g, n, origin, nil)
	if err != nil {
		return World{}, err
	}
	for len(changes) > 0 {
		part := changes[:min(forkBatch, len(changes))]
		changes = changes[len(part):]
		if _, err := c.commitTo(ctx, g.Part(strconv.Itoa(len(changes)), [32]byte{}), w.ID, ChangeSet{Changes: part, Note: forkNote, bodies: bodiesOf(part, bodies)}); err != nil {
			return World{}, fmt.Errorf("canon: fork of %s: %w", origin.Slug, err)
		}
	}
	return w, nil
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
	bodies = make(map[Hash][]byte)
	err = c.store.Read(ctx, func(r Reader) error {
		all := Sight{id, access.View{Level: access.LevelAll}}
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
			changes = append(changes, Change{Member: &MemberImage{Subject: m.Subject, Role: m.Role, Player: m.Player}})
		}
		if err := snapshotCards(ctx, r, all, &changes, bodies); err != nil {
			return err
		}
		return snapshotLinks(ctx, r, all, &changes)
	})
	return w, changes, bodies, err
}

func snapshotCards(ctx context.Context, r Reader, all Sight, changes *[]Change, bodies map[Hash][]byte) error {
	done := make(map[CardID]bool)
	var wait []Card
	add := func(card Card) error {
		if card.Content != (Hash{}) {
			b, _, err := r.Body(ctx, all.World, card.Content)
			if err != nil {
				return err
			}
			bodies[card.Content] = b
		}
		done[card.ID] = true
		*changes = append(*changes, Change{Card: imageOf(card, ActCreate)})
		layers, err := r.Layers(ctx, all, LayerQuery{Card: card.ID})
		for _, l := range layers {
			*changes = append(*changes, Change{Layer: &LayerImage{ID: l.ID, Card: l.Card, Kind: l.Kind, Text: l.Text,
				FromTick: l.FromTick, ToTick: l.ToTick, Label: l.Label}})
		}
		return err
	}
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := r.Cards(ctx, all, Filter{Sort: SortName}, page)
		if err != nil {
			return err
		}
		for _, card := range cards {
			if !card.Parent.IsZero() && !done[card.Parent] {
				wait = append(wait, card)
				continue
			}
			if err := add(card); err != nil {
				return err
			}
		}
		if len(cards) < page.Limit {
			break
		}
	}
	for len(wait) > 0 {
		var still []Card
		for _, card := range wait {
			if !done[card.Parent] {
				still = append(still, card)
				continue
			}
			if err := add(card); err != nil {
				return err
			}
		}
		if len(still) == len(wait) {
			return fmt.Errorf("canon: %d cards have no living parent", len(still))
		}
		wait = still
	}
	return nil
}

func snapshotLinks(ctx context.Context, r Reader, all Sight, changes *[]Change) error {
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		links, _, err := r.Links(ctx, all, LinkQuery{Page: page})
		if err != nil {
			return err
		}
		for _, l := range links {
			*changes = append(*changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To, Attrs: l.Attrs, Label: l.Label}})
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
