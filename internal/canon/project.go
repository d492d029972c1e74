package canon

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// projector turns a commit's changes into rows. No other code does that: commits and rebuilds share
// it, so the tables always follow from the streams.
type projector struct {
	tx               Tx
	world            access.WorldID
	rec              *Record
	fresh            map[Hash][]byte // bodies in memory; others are read from the store
	cards            []Card          // changed cards in their state after the change
	opened           []Opened        // cards that more readers see after the change
	known            map[CardID]Card // cards that this commit wrote, in their current state
	made             map[CardID]bool // cards that this commit created
	worldRow         *World          // the world's row; read when first needed
	replaying        bool            // the commit is replayed: bodies are neither stored nor erased
	opensOnlyNow     bool            // the earlier versions of cards that open below the card are hidden
	rehearses        bool            // the commit is a dry run: nobody searches what it writes
	nameRulesChanged bool            // cards below an unchanged card may change too
	// partsBelow is set if a card with several parts in its Part may belong below a card of this
	// commit.
	partsBelow bool
}

// all is the visibility of every row of the world.
func (p *projector) all() Visibility { return Visibility{p.world, access.View{Level: access.LevelAll}} }

// projectChange writes the rows that follow from one change.
func (p *projector) projectChange(ctx context.Context, ch Change) (err error) {
	defer fault.Wrap(&err, "canon: commit %d", p.rec.Seq)
	switch {
	case ch.Card != nil:
		return p.projectCard(ctx, *ch.Card)
	case ch.Link != nil:
		return p.projectLink(ctx, *ch.Link)
	case ch.Layer != nil:
		return p.projectLayer(ctx, *ch.Layer)
	case ch.World != nil:
		return p.projectWorld(ctx, *ch.World)
	case ch.Member != nil:
		return p.tx.PutMember(ctx, Member{World: p.world, Subject: ch.Member.Subject, Role: ch.Member.Role,
			May: ch.Member.May, Player: ch.Member.Player})
	case ch.Purge != nil:
		return p.projectPurge(ctx, *ch.Purge)
	case ch.Text != nil && ch.Text.Gone:
		return p.eraseText(ctx, ch.Text.Content)
	case ch.Text != nil:
		return nil
	}
	return fmt.Errorf("empty change")
}

// checkView refuses the commit if a changed card is above the view.
func (p *projector) checkView(v access.View) error {
	for _, c := range p.cards {
		if !v.Sees(c.Label) {
			return fault.New(fault.Denied, "this call cannot write at level %s; use a key of that role", c.Label.Level).
				With("required_role", c.Label.Level.String())
		}
	}
	return nil
}

func (p *projector) loadSettings(ctx context.Context) (Settings, error) {
	if p.worldRow == nil {
		w, ok, err := First(p.tx.Worlds(ctx, WorldQuery{ID: p.world}))
		if err != nil || !ok {
			return Settings{}, fmt.Errorf("world row %s: present %t: %w", p.world, ok, err)
		}
		p.worldRow = &w
	}
	return p.worldRow.Settings, nil
}

// projectWorld writes the world's row. If the name rules have changed, it updates all cards.
func (p *projector) projectWorld(ctx context.Context, im WorldImage) error {
	old, exists, err := First(p.tx.Worlds(ctx, WorldQuery{ID: p.world}))
	if err != nil {
		return err
	}
	w := World{ID: p.world, Slug: im.Slug, Title: im.Title, Settings: im.Settings, CreatedAt: p.rec.At, Origin: im.Origin,
		OriginSeq: im.OriginSeq}
	if exists {
		w.CreatedAt = old.CreatedAt
	}
	if other, held, err := First(p.tx.Worlds(ctx, WorldQuery{Slug: im.Slug})); err != nil || held && other.ID != p.world {
		if err == nil {
			err = takenFault(im.Slug)
		}
		return err
	}
	p.worldRow = &w
	if err := p.tx.PutWorld(ctx, w); err != nil {
		return err
	}
	if !exists || slices.Equal(old.Settings.gmParts(), im.Settings.gmParts()) {
		return nil
	}
	p.nameRulesChanged = true
	defer func() { p.nameRulesChanged = false }()
	return p.eachRoot(ctx, func(c Card) error { return p.updatePlacement(ctx, c, Card{}) })
}

// projectCard writes the rows that follow from a change to a card: the card, its version, its
// references and search text, and the cards below it.
func (p *projector) projectCard(ctx context.Context, im CardImage) error {
	old, exists, err := First(p.tx.FindCards(ctx, p.all(), CardQuery{ID: im.ID}))
	if err != nil {
		return err
	}
	if exists == (im.Act == ActCreate) {
		return fmt.Errorf("%s of card %s, which exists: %t", im.Act, im.ID, exists)
	}
	parent, err := p.findParent(ctx, im.Parent)
	if err != nil {
		return err
	}
	settings, err := p.loadSettings(ctx)
	if err != nil {
		return err
	}
	c := old
	c.World, c.ID, c.Part, c.Codename, c.Type, c.Format = p.world, im.ID, im.Part, im.Codename, im.Type, im.Format
	p.partsBelow = p.partsBelow || len(markup.Parts(c.Part)) > 1
	c.Content, c.Size, c.Length, c.Fields, c.Own = im.Content, im.Size, im.Length, im.Fields, im.Own
	c.Places = im.Places
	placeUnder(&c, parent, settings)
	if !exists {
		c.CreatedAt, c.CreatedBy = p.rec.At, p.rec.By
		if p.made == nil {
			p.made = map[CardID]bool{}
		}
		p.made[c.ID] = true
	}
	switch im.Act {
	case ActTrash:
		err = p.trashCard(ctx, &c)
	case ActRestore:
		err = p.restoreCard(ctx, &c)
	default:
		p.opensOnlyNow = im.HidePast && im.Act != ActUpdate
		err = p.reviseCard(ctx, old, &c)
		p.opensOnlyNow = false
	}
	p.cards = append(p.cards, c)
	if err == nil && im.HidePast {
		err = p.hidePast(ctx, c)
	}
	if err == nil && (c.Places != nil || old.Places != nil) {
		err = p.countParts(ctx, c)
	}
	return err
}

// putCard writes a card's row.
func (p *projector) putCard(ctx context.Context, c Card) error {
	if p.known == nil {
		p.known = map[CardID]Card{}
	}
	p.known[c.ID] = c
	return p.tx.PutCard(ctx, c)
}

// putNewVersion writes a living card as a new version, with its references and search text.
func (p *projector) putNewVersion(ctx context.Context, c *Card) error {
	p.stampVersion(c)
	if err := p.putCard(ctx, *c); err != nil {
		return err
	}
	if err := p.putVersion(ctx, *c, false); err != nil {
		return err
	}
	return p.indexCard(ctx, *c)
}

// reviseCard writes the new state of a living card as a new version. If its name or label has
// changed, it updates all cards below it.
func (p *projector) reviseCard(ctx context.Context, old Card, c *Card) error {
	p.noteOpened(old, *c)
	if err := p.putNewVersion(ctx, c); err != nil {
		return err
	}
	if old.IsTagList() && !(c.IsTagList() && c.Parent == old.Parent) {
		if err := p.indexAgain(ctx, old.Parent); err != nil {
			return err
		}
	}
	if old.ID.IsZero() {
		return p.adoptOrphans(ctx, *c)
	}
	if old.Name == c.Name && old.Label.Equal(c.Label) {
		return nil
	}
	return p.updatePlacementBelow(ctx, *c)
}

// stampVersion counts a new version of a card and sets its time, author and commit.
func (p *projector) stampVersion(c *Card) {
	c.Rev++
	c.Counts = c.Counts.addVersion(c.Label.Level)
	c.UpdatedAt, c.UpdatedBy, c.Seq = p.rec.At, p.rec.By, p.rec.Seq
}

// putVersion closes the current version of a card and writes the new one.
func (p *projector) putVersion(ctx context.Context, c Card, trashed bool) error {
	if c.Rev > 1 {
		if err := p.tx.EndVersion(ctx, p.world, c.ID, p.rec.Seq); err != nil {
			return err
		}
	}
	return p.tx.PutVersion(ctx, Version{
		World: p.world, Card: c.ID, Rev: c.Rev, From: p.rec.Seq, Counts: c.Counts, Label: c.Label,
		Name: c.Name, Type: c.Type, Format: c.Format, Content: c.Content, Size: c.Size, Length: c.Length, Fields: c.Fields,
		Places: c.Places, Trashed: trashed, At: p.rec.At, By: p.rec.By, Op: p.rec.Op, Change: p.rec.ID,
	})
}

func (p *projector) projectLink(ctx context.Context, im LinkImage) error {
	// EndLink runs even if no query finds the link: links to cards in the trash are hidden.
	if err := p.tx.EndLink(ctx, p.world, im.ID, p.rec.Seq); err != nil || im.Gone {
		return err
	}
	return p.tx.PutLink(ctx, Link{World: p.world, ID: im.ID, Kind: im.Kind, From: im.From, To: im.To,
		Attrs: im.Attrs, Label: im.Label, Since: p.rec.Seq, At: p.rec.At})
}

func (p *projector) projectLayer(ctx context.Context, im LayerImage) error {
	if err := p.tx.EndLayer(ctx, p.world, im.ID, p.rec.Seq); err != nil || im.Gone {
		return err
	}
	return p.tx.PutLayer(ctx, Layer{World: p.world, ID: im.ID, Card: im.Card, Kind: im.Kind, Text: im.Text,
		FromTick: im.FromTick, ToTick: im.ToTick, Label: im.Label, At: p.rec.At, Since: p.rec.Seq})
}

// projectPurge marks the body of a version as erased, and erases the bytes if no other version uses
// them. If the version is the current one of a living card, it also removes the references and
// search text derived from the body. A replay does not touch bodies: erased ones are gone already,
// and the store may hold bytes that a later commit stored again.
func (p *projector) projectPurge(ctx context.Context, im PurgeImage) error {
	v, ok, err := p.tx.VersionByRev(ctx, p.world, im.Card, im.Rev)
	if err != nil || !ok {
		return fmt.Errorf("version %d of card %s: present %t: %w", im.Rev, im.Card, ok, err)
	}
	v.Purged = true
	if err := p.tx.PutVersion(ctx, v); err != nil {
		return err
	}
	c, ok, err := First(p.tx.FindCards(ctx, p.all(), CardQuery{ID: im.Card}))
	if err != nil {
		return err
	}
	if ok && !c.Trashed() && c.Rev == im.Rev {
		if err := p.indexErased(ctx, c); err != nil {
			return err
		}
	}
	if p.replaying {
		return nil
	}
	used, err := p.tx.BodyInUse(ctx, p.world, im.Body)
	if err != nil || used {
		return err
	}
	return p.tx.EraseBody(ctx, p.world, im.Body)
}

// eraseText erases a text beside the cards. Nothing else has its bytes, which begin with a word of their own.
func (p *projector) eraseText(ctx context.Context, h Hash) error {
	if p.replaying {
		return nil
	}
	return p.tx.EraseBody(ctx, p.world, h)
}
