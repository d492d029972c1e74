package canon

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// RevertTo gives a card the name, type, content and fields that it had in a version,
// and its children what they had when that version was replaced: those trashed since come
// back, and those changed since get their content of that time. Cards made since stay, and
// so does the place of a card that moved only because one above it did.
func (p *Plan) RevertTo(c Card, v Version) (Card, error) {
	if v.Purged {
		return Card{}, ruleFault("to_version", "the body of that version was erased")
	}
	if c.Trashed() {
		return Card{}, ruleFault("name", "the card is in the trash; restore it first, then choose a version")
	}
	if err := p.revertBelow(c, v); err != nil {
		return Card{}, err
	}
	c, err := p.renameAs(c, v)
	if err != nil {
		return Card{}, err
	}
	return p.revertOne(c, v)
}

// renameAs gives a card the name that it had in a version. The names of those above it
// are as they are now, unless the card was moved itself.
func (p *Plan) renameAs(c Card, v Version) (Card, error) {
	last, ok, err := p.r.VersionByRev(p.ctx, p.world.ID, c.ID, c.Rev)
	if err != nil || !ok {
		return Card{}, fmt.Errorf("canon: version %d of card %s: present %t: %w", c.Rev, c.ID, ok, err)
	}
	stored, ok, err := p.r.CardByID(p.ctx, p.sight, c.ID)
	if err != nil || !ok {
		return Card{}, fmt.Errorf("canon: card %s: present %t: %w", c.ID, ok, err)
	}
	was, name := markup.Parts(last.Name), markup.Parts(v.Name)
	above := len(was) - len(markup.Parts(stored.Part)) // parts of the parent's name when the last version was written
	if above > 0 && len(name) > above && markup.KeyOf(markup.Join(name[:above]...)) == markup.KeyOf(markup.Join(was[:above]...)) {
		parent, err := p.parentOf(stored)
		if err != nil {
			return Card{}, err
		}
		if !parent.ID.IsZero() {
			name = append([]string{parent.Name}, name[above:]...)
		}
	}
	to := markup.Join(name...)
	if markup.KeyOf(to) == c.Key {
		return c, nil
	}
	return p.Rename(c, to)
}

func (p *Plan) revertOne(c Card, v Version) (Card, error) {
	e := Edit{Type: &v.Type, Fields: v.Fields, Replace: true}
	if v.Content != c.Content {
		b, err := p.Bytes(p.ctx, v.Content)
		if err != nil {
			return Card{}, err
		}
		if TextOf(v.Type) == TextFile {
			e.File = b
		} else {
			content := string(b)
			e.Content = &content
		}
	}
	return p.Update(c, e)
}

// revertBelow reverts the direct children that were there when a version was replaced.
func (p *Plan) revertBelow(c Card, at Version) error {
	trash, err := p.trashedFrom(c)
	if err != nil {
		return err
	}
	for _, t := range trash {
		v, ok, err := p.versionAt(t.ID, at)
		if err != nil {
			return err
		}
		if !ok || v.Trashed || v.Purged {
			continue
		}
		back, err := p.Restore(t)
		if err != nil {
			return err
		}
		if _, err := p.revertOne(back, v); err != nil {
			return err
		}
	}
	children, err := p.childrenOf(c)
	if err != nil {
		return err
	}
	for _, child := range children {
		v, ok, err := p.versionAt(child.ID, at)
		if err != nil {
			return err
		}
		if ok && v.Rev != child.Rev && !v.Trashed && !v.Purged {
			if _, err := p.revertOne(child, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// trashedFrom lists what went to the trash from directly below a card, latest first.
func (p *Plan) trashedFrom(c Card) (list []Card, err error) {
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		trash, _, err := p.Look.Trash(p.ctx, page)
		if err != nil {
			return nil, err
		}
		for _, t := range trash {
			if t.Parent == c.ID {
				list = append(list, t)
			}
		}
		if len(trash) < page.Limit {
			return list, nil
		}
	}
}

func (p *Plan) childrenOf(c Card) (list []Card, err error) {
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		children, _, err := p.Look.Descendants(p.ctx, c.ID, 1, page)
		if err != nil {
			return nil, err
		}
		if list = append(list, children...); len(children) < page.Limit {
			return list, nil
		}
	}
}

// versionAt finds a card's version that was current when another version was replaced;
// for one that is current, the latest.
func (p *Plan) versionAt(id CardID, at Version) (Version, bool, error) {
	for page := (Page{Limit: 100}); ; page.Offset += page.Limit {
		list, _, err := p.Look.Versions(p.ctx, id, page)
		if err != nil {
			return Version{}, false, err
		}
		for _, v := range list {
			if at.To == 0 || v.From < at.To {
				return v, true, nil
			}
		}
		if len(list) < page.Limit {
			return Version{}, false, nil
		}
	}
}

// Undo plans the opposite of what is in sight of a commit; what is not stays as it is,
// and shows in nothing. It refuses with fault.Conflict where later changes stand on it,
// and with fault.NotFound where none of it is in sight.
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
	found := false
	for i := len(rec.Changes) - 1; i >= 0; i-- {
		cards, err := p.concerned(rec.Changes[i])
		if err != nil {
			return err
		}
		if cards == nil {
			continue
		}
		found = true
		if rec.Changes[i].Card == nil {
			return ruleFault("id", "that change is not about cards; undo it with the operation that made it")
		}
		if err := p.undoCard(cards[0], *rec.Changes[i].Card, rec, absent); err != nil {
			return err
		}
	}
	if !found {
		return absent
	}
	return nil
}

// concerned are the cards that a change is about, where all of it is in sight; nil where
// not. What is not about cards is seen by those who administer the world.
func (p *Plan) concerned(ch Change) (cards []Card, err error) {
	var ids []CardID
	label := access.NewLabel(access.LevelUser)
	switch {
	case ch.Card != nil:
		ids = []CardID{ch.Card.ID}
	case ch.Link != nil:
		ids, label = []CardID{ch.Link.From, ch.Link.To}, ch.Link.Label
	case ch.Layer != nil:
		ids, label = []CardID{ch.Layer.Card}, ch.Layer.Label
	case p.grant.Role() >= access.RoleAdmin:
		return []Card{{}}, nil
	}
	if !p.View().Sees(label) {
		return nil, nil
	}
	for _, id := range ids {
		c, ok, err := p.r.CardByID(p.ctx, p.sight, id)
		if err != nil || !ok {
			return nil, err
		}
		cards = append(cards, c)
	}
	return cards, nil
}

func (p *Plan) undoCard(c Card, im CardImage, rec Record, absent error) error {
	if now, ok := p.now[c.ID]; ok {
		c = *now
	}
	if c.Seq != rec.Seq {
		return fault.New(fault.Conflict, "%q was changed again since; undo the later changes first", c.Name).With("name", c.Name)
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
	return p.undoState(c, im, before, rec.Seq)
}

// versionBefore is a card's last version of before a commit, which may have written
// several.
func (p *Plan) versionBefore(c Card, seq Seq) (Version, bool, error) {
	for rev := c.Rev; rev > 0; rev-- {
		v, ok, err := p.r.VersionByRev(p.ctx, p.world.ID, c.ID, rev)
		if err != nil || ok && v.From < seq {
			return v, ok, err
		}
	}
	return Version{}, false, nil
}

func (p *Plan) undoCreate(c Card) error {
	_, total, err := p.Look.Descendants(p.ctx, c.ID, 1, Page{Limit: 1})
	if err != nil {
		return err
	}
	if total.Count > 0 && !p.allGone(c) {
		return fault.New(fault.Conflict, "%q has cards below it now; undo those first", c.Name).With("name", c.Name)
	}
	return p.Trash(c)
}

// allGone reports whether the plan trashes or moves away every child of a card already.
func (p *Plan) allGone(c Card) bool {
	children, err := p.childrenOf(c)
	for _, child := range children {
		now := p.now[child.ID]
		if !p.gone[child.ID] && (now == nil || now.Parent == c.ID) {
			return false
		}
	}
	return err == nil
}

func (p *Plan) undoState(c Card, im CardImage, before Version, seq Seq) error {
	switch im.Act {
	case ActRename:
		moved, err := p.renameAs(c, before)
		if err != nil {
			return err
		}
		c = moved
	case ActLabel:
		own, err := p.ownBefore(c, seq)
		if err != nil {
			return err
		}
		_, err = p.SetLabel(c, own)
		return err
	}
	if before.Purged {
		return ruleFault("id", "the body before that change was erased")
	}
	_, err := p.revertOne(c, before)
	return err
}

// ownBefore is the label a card was given before a commit, read from the stream, for
// versions keep effective labels only.
func (p *Plan) ownBefore(c Card, seq Seq) (access.Label, error) {
	own := access.NewLabel(access.LevelUser)
	for v := range c.Rev {
		row, ok, err := p.r.VersionByRev(p.ctx, p.world.ID, c.ID, v+1)
		if err != nil {
			return own, err
		}
		if !ok || row.From >= seq {
			continue
		}
		im, err := imageIn(p.ctx, p.r, WorldStream(p.world.ID), row.From, c.ID)
		if err != nil {
			return own, err
		}
		if im != nil {
			own = im.Own
		}
	}
	return own, nil
}

// imageIn is the last image of a card in a commit; nil where it has none.
func imageIn(ctx context.Context, r Reader, s StreamID, seq Seq, id CardID) (*CardImage, error) {
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

// Purge erases the body of a version of a card, keeping its hash. Only the operator may.
func (p *Plan) Purge(c Card, v Version) error {
	if !p.grant.Caller().Operator {
		return fault.New(fault.Denied, "bodies are erased by the instance's operator")
	}
	if v.Content == (Hash{}) || v.Purged {
		return nil
	}
	p.rest(c)
	p.set.Changes = append(p.set.Changes, Change{Purge: &PurgeImage{Card: c.ID, Rev: v.Rev, Body: v.Content}})
	return nil
}

// Link plans a typed edge. A link in sight that has the id is replaced.
func (p *Plan) Link(l Link) (LinkID, error) {
	if l.Kind == "" || len(l.Kind) > 64 {
		return LinkID{}, fault.BadField("kind", "1 to 64 characters")
	}
	for _, end := range []CardID{l.From, l.To} {
		if _, ok := p.now[end]; ok {
			continue
		}
		if _, ok, err := p.ByID(p.ctx, end); err != nil || !ok {
			if err != nil {
				return LinkID{}, err
			}
			return LinkID{}, p.absent(p.ctx, "~"+end.String())
		}
	}
	if l.Label.Level == access.LevelNone {
		l.Label = access.NewLabel(access.LevelUser)
	}
	if !p.View().Sees(l.Label) {
		return LinkID{}, p.above("level", l.Label)
	}
	attrs, err := mergeFields(nil, l.Attrs)
	if err != nil {
		return LinkID{}, err
	}
	hidden, err := p.hiddenLink(l.ID)
	if err != nil {
		return LinkID{}, err
	}
	if hidden || l.ID == (LinkID{}) {
		l.ID = LinkID(p.canon.newID())
	}
	p.set.Changes = append(p.set.Changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To, Attrs: attrs, Label: l.Label}})
	return l.ID, nil
}

// hiddenLink reports whether a link has an id and is out of sight: it must not be replaced.
func (p *Plan) hiddenLink(id LinkID) (bool, error) {
	if id == (LinkID{}) {
		return false, nil
	}
	if _, ok, err := p.r.LinkByID(p.ctx, p.sight, id); err != nil || ok {
		return false, err
	}
	_, ok, err := p.r.LinkByID(p.ctx, Sight{p.world.ID, access.View{Level: access.LevelAll}}, id)
	return ok, err
}

// hiddenLayer is hiddenLink for layers.
func (p *Plan) hiddenLayer(id LayerID) (bool, error) {
	if id == (LayerID{}) {
		return false, nil
	}
	if _, ok, err := p.r.LayerByID(p.ctx, p.sight, id); err != nil || ok {
		return false, err
	}
	_, ok, err := p.r.LayerByID(p.ctx, Sight{p.world.ID, access.View{Level: access.LevelAll}}, id)
	return ok, err
}

// Unlink ends a link.
func (p *Plan) Unlink(l Link) {
	p.set.Changes = append(p.set.Changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To, Attrs: l.Attrs, Label: l.Label, Gone: true}})
}

// Layer plans text laid over a place or realm. A layer in sight that has the id is replaced.
func (p *Plan) Layer(l Layer) (LayerID, error) {
	if _, made := p.now[l.Card]; !made {
		if _, ok, err := p.ByID(p.ctx, l.Card); err != nil || !ok {
			if err != nil {
				return LayerID{}, err
			}
			return LayerID{}, p.absent(p.ctx, "~"+l.Card.String())
		}
	}
	if l.Label.Level == access.LevelNone {
		l.Label = access.NewLabel(access.LevelUser)
	}
	if !p.View().Sees(l.Label) {
		return LayerID{}, p.above("level", l.Label)
	}
	if err := checkContent(l.Text); err != nil {
		return LayerID{}, err
	}
	hidden, err := p.hiddenLayer(l.ID)
	if err != nil {
		return LayerID{}, err
	}
	if hidden || l.ID == (LayerID{}) {
		l.ID = LayerID(p.canon.newID())
	}
	p.set.Changes = append(p.set.Changes, Change{Layer: &LayerImage{ID: l.ID, Card: l.Card, Kind: l.Kind, Text: l.Text,
		FromTick: l.FromTick, ToTick: l.ToTick, Label: l.Label}})
	return l.ID, nil
}
