package canon

import (
	"context"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// OpUndo is the operation whose commits are made by Plan.Undo, in the records of all versions.
const OpUndo = "undo_change"

// Undo plans the opposite of the visible changes of a commit. Hidden changes stay, and nothing
// reveals them. Undo refuses with fault.Conflict if later changes depend on the commit, and with
// fault.NotFound if none of its changes is visible. Only somebody with the role of the caller who made an undo, or a
// higher one, can undo that.
func (p *Plan) Undo(change uuid.UUID) error {
	absent := fault.New(fault.NotFound, "there is no change %s; list changes with recent_changes", change)
	commit, ok, err := p.r.CommitByID(p.ctx, WorldStream(p.world.ID), change)
	if err != nil {
		return err
	}
	if !ok {
		return absent
	}
	rec, err := commit.Record()
	if err != nil {
		return err
	}
	if rec.Op == OpHideMarked {
		return p.undoMarked(rec, absent)
	}
	found := false
	for i := len(rec.Changes) - 1; i >= 0; i-- {
		cards, err := p.affectedCards(rec.Changes[i])
		if err != nil {
			return err
		}
		if cards == nil {
			continue
		}
		found = true
		if rec.Changes[i].Card == nil {
			return ruleFault("id", "that change is not about cards; take it back with the operation that made it")
		}
		if err := p.undoCard(cards[0], *rec.Changes[i].Card, rec, absent); err != nil {
			return err
		}
	}
	if !found {
		return absent
	}
	if rec.Op == OpUndo && p.grant.Role() < rec.Role {
		return fault.New(fault.Denied, "the change was undone by somebody with the role %s; this call has %s", rec.Role,
			p.grant.Role()).With("required_role", rec.Role.String())
	}
	return nil
}

// affectedCards returns the cards that a change affects, or nil if any part of the change is
// hidden. For a change that affects no cards, those who may know of it get one zero Card and everyone
// else nil.
func (p *Plan) affectedCards(ch Change) (cards []Card, err error) {
	var ids []CardID
	label := access.NewLabel(access.LevelUser)
	switch {
	case ch.Card != nil:
		ids = []CardID{ch.Card.ID}
	case ch.Link != nil:
		ids, label = []CardID{ch.Link.From, ch.Link.To}, ch.Link.Label
	case ch.Layer != nil:
		ids, label = []CardID{ch.Layer.Card}, ch.Layer.Label
	case ch.Text != nil && p.View().Sees(ch.Text.Label):
		return []Card{{}}, nil
	case p.grant.Role() >= access.RoleAdmin:
		return []Card{{}}, nil
	}
	if !p.View().Sees(label) {
		return nil, nil
	}
	for _, id := range ids {
		c, ok, err := First(p.r.FindCards(p.ctx, p.visibility, CardQuery{ID: id}))
		if err != nil || !ok {
			return nil, err
		}
		cards = append(cards, c)
	}
	return cards, nil
}

// undoCard plans the opposite of a change to a card. absent is the error if the earlier state is
// hidden.
func (p *Plan) undoCard(c Card, im CardImage, rec Record, absent error) error {
	if now, ok := p.now[c.ID]; ok {
		c = *now
	}
	if c.Seq != rec.Seq {
		return changedLater(c)
	}
	if c.Places != nil && im.Act != ActTrash && im.Act != ActRestore {
		return p.undoParts(c, rec.Seq)
	}
	switch im.Act {
	case ActCreate:
		return p.undoCreate(c)
	case ActTrash:
		_, err := p.Restore(c)
		return err
	case ActRestore:
		return p.Trash(c)
	}
	before, ok, err := p.versionBefore(c, rec.Seq)
	if err != nil {
		return err
	}
	if !ok || !p.View().Sees(before.Label) {
		return absent
	}
	return p.undoState(c, im, before.For(p.View()), rec.Seq)
}

func changedLater(c Card) error {
	return fault.New(fault.Conflict, "%q was changed again later; undo the later changes first",
		c.Name).With("name", c.Name)
}

// undoParts gives a card that is above a holder of hidden parts the hidden parts and fields that it had before a
// commit. Its open text and fields stay.
func (p *Plan) undoParts(h Card, seq Seq) error {
	c, ok, err := p.Has("~" + h.Parent.String())
	if err != nil || !ok {
		return err
	}
	if _, existed, err := p.CardAt(p.ctx, c.ID, seq-1); err != nil || !existed {
		if err == nil {
			err = p.Trash(h)
		}
		return err
	}
	_, err = p.bringBack(c, Version{Type: c.Type, Format: c.Format, Content: c.Content, Fields: c.Fields}, seq-1)
	return err
}

// versionBefore returns a card's last version before a commit, which may have written several.
func (p *Plan) versionBefore(c Card, seq Seq) (Version, bool, error) {
	for rev := c.Rev; rev > 0; rev-- {
		v, ok, err := p.r.VersionByRev(p.ctx, p.world.ID, c.ID, rev)
		if err != nil || ok && v.From < seq {
			return v, ok, err
		}
	}
	return Version{}, false, nil
}

// undoCreate trashes a card, unless it has children that the plan neither trashes nor moves.
func (p *Plan) undoCreate(c Card) error {
	_, total, err := p.Snapshot.Descendants(p.ctx, c.ID, 1, Page{Limit: 1})
	if err != nil {
		return err
	}
	if total.Count > 0 && !p.allChildrenGone(c) {
		return fault.New(fault.Conflict, "%q has cards below it now; undo those first", c.Name).With("name", c.Name)
	}
	return p.Trash(c)
}

// allChildrenGone reports whether the plan already trashes or moves every child of a card.
func (p *Plan) allChildrenGone(c Card) bool {
	for child, err := range p.AllDescendants(p.ctx, c.ID, 1) {
		now := p.now[child.ID]
		if err != nil || !p.gone[child.ID] && (now == nil || now.Parent == c.ID) {
			return false
		}
	}
	return true
}

// undoState gives a card back the name, label or content that it had before a commit.
func (p *Plan) undoState(c Card, im CardImage, before Version, seq Seq) error {
	switch im.Act {
	case ActRename:
		if err := p.keepHidden(c, before.Label, upTo(seq)); err != nil {
			return err
		}
		moved, err := p.renameAs(c, before, access.NewLabel(access.LevelUser))
		if err != nil {
			return err
		}
		c = moved
	case ActLabel:
		if err := p.keepHidden(c, before.Label, upTo(seq)); err != nil {
			return err
		}
		own, err := p.ownLabelBefore(c, seq)
		if err != nil {
			return err
		}
		_, err = p.SetLabel(c, own)
		return err
	}
	if err := checkPast(c, before, "id"); err != nil {
		return err
	}
	if before.Purged {
		return ruleFault("id", "the content before that change was erased, so it cannot be undone")
	}
	_, err := p.bringBack(c, before, seq-1)
	return err
}

// keepHidden gives the cards below a card that others have made or changed the label that they have, if the card
// gets a wider one: they were written for those who read them now. ours reports whether a card is as it was, or
// will be.
func (p *Plan) keepHidden(c Card, wider access.Label, ours func(Card) bool) error {
	if c.Label.Covers(wider) {
		return nil
	}
	for below, err := range p.AllDescendants(p.ctx, c.ID, MaxNesting) {
		if err != nil {
			return err
		}
		if ours(below) || p.now[below.ID] != nil || below.Own.Equal(below.Own.Meet(below.Label)) {
			continue
		}
		if _, err := p.SetLabel(below, below.Own.Meet(below.Label)); err != nil {
			return err
		}
	}
	return nil
}

// upTo reports of a card whether nothing changed it after a commit.
func upTo(seq Seq) func(Card) bool { return func(c Card) bool { return c.Seq <= seq } }

// ownLabelBefore returns a card's own label before a commit. It reads the stream, because versions
// hold only effective labels.
func (p *Plan) ownLabelBefore(c Card, seq Seq) (access.Label, error) {
	for rev := c.Rev; rev > 0; rev-- {
		v, ok, err := p.r.VersionByRev(p.ctx, p.world.ID, c.ID, rev)
		if err != nil {
			return access.Label{}, err
		}
		if !ok || v.From >= seq {
			continue
		}
		im, err := lastImageIn(p.ctx, p.r, WorldStream(p.world.ID), v.From, c.ID)
		if err != nil {
			return access.Label{}, err
		}
		if im != nil {
			return im.Own, nil
		}
	}
	return access.NewLabel(access.LevelUser), nil
}

// lastImageIn returns the last image of a card in a commit, or nil.
func lastImageIn(ctx context.Context, r Reader, s StreamID, seq Seq, id CardID) (*CardImage, error) {
	for commit, err := range r.Commits(ctx, s, seq) {
		if err != nil {
			return nil, err
		}
		rec, err := commit.Record()
		if err != nil {
			return nil, err
		}
		var last *CardImage
		for _, ch := range rec.Changes {
			if ch.Card != nil && ch.Card.ID == id {
				last = ch.Card
			}
		}
		return last, nil
	}
	return nil, nil
}
