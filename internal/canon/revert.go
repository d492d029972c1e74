package canon

import (
	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// RevertTo gives a card the name, type, content and fields of one of its versions. It also reverts
// the children to their state at the time when that version was replaced: children trashed since
// are restored, and children changed since get their content of that time. Children created since
// stay. A card that moved only because a card above it moved keeps its place.
//
// It refuses a version that was hidden from some readers of the card, who would read it, and passes over
// such versions of the children.
func (p *Plan) RevertTo(c Card, v Version) (Card, error) {
	if v.Purged {
		return Card{}, ruleFault("to_version", "the content of that version was erased; choose another version")
	}
	if c.Trashed() {
		return Card{}, ruleFault("name", "the card is in the trash; restore it first, then choose a version")
	}
	if err := p.revertBelow(c, v); err != nil {
		return Card{}, err
	}
	c, err := p.renameAs(c, v, c.Label)
	if err != nil {
		return Card{}, err
	}
	if err := checkPast(c, v, "to_version"); err != nil {
		return Card{}, err
	}
	return p.revertOne(c, v)
}

// checkPast returns an error about a field if some readers of a card must not see one of its versions: to
// bring it back would show them a text that was hidden from them.
func checkPast(c Card, v Version, field string) error {
	if v.Label.Covers(c.Label) {
		return nil
	}
	return ruleFault(field, "that version was hidden from some who read %q, and they would read it; "+
		"raise the card's level first, reveal the part that was hidden, or write anew what they may read", c.Name)
}

// renameAs gives a card the name that it had in a version. If the card that was its parent then
// still exists, the card goes below that parent, under the present name of the parent; else it gets the
// name that all who see the version know, and not a former one. It gets at least the given label.
func (p *Plan) renameAs(c Card, v Version, least access.Label) (Card, error) {
	if raw, ok, err := p.r.VersionByRev(p.ctx, p.world.ID, c.ID, v.Rev); err != nil || ok {
		if err != nil {
			return Card{}, err
		}
		v.Name, v.From = raw.Name, raw.From
	}
	im, err := lastImageIn(p.ctx, p.r, WorldStream(p.world.ID), v.From, c.ID)
	if err != nil {
		return Card{}, err
	}
	name := v.Name
	if parts := markup.Parts(v.Name); im != nil && !im.Parent.IsZero() {
		parent, ok, err := p.Has("~" + im.Parent.String())
		if err != nil {
			return Card{}, err
		}
		if above := len(parts) - len(markup.Parts(im.Part)); ok && above > 0 {
			name = markup.Join(append([]string{parent.Name}, parts[above:]...)...)
		}
	}
	if markup.KeyOf(name) == c.Key {
		return c, nil
	}
	return p.moveTo(c, name, least)
}

// revertOne gives a card the type, content and fields of a version.
func (p *Plan) revertOne(c Card, v Version) (Card, error) {
	holders, err := p.Holders(c)
	if err != nil {
		return Card{}, err
	}
	fields, err := withHidden(v.Fields, holders) // fields that are hidden now stay
	if err != nil {
		return Card{}, err
	}
	e := Edit{Type: &v.Type, Format: &v.Format, Fields: fields, Replace: true}
	switch {
	case TextOf(v.Type) == TextFile && v.Content != c.Content:
		b, err := p.Bytes(p.ctx, v.Content)
		if err != nil {
			return Card{}, err
		}
		e.File = b
	case c.showsParts(p.View()):
		t, err := p.versionParts(p.ctx, c, v, p.lastOf(v))
		if err != nil {
			return Card{}, err
		}
		content := t.Whole()
		e.Content, e.AsWritten = &content, true
		e.Hide = secrecy.Ranges(t.Places()) // also those without a mark
	case v.Content != c.Content:
		content, err := p.Body(p.ctx, v.Content)
		if err != nil {
			return Card{}, err
		}
		e.Content = &content
	}
	return p.Update(c, e)
}

// revertBelow reverts the direct children that existed when a version was replaced.
func (p *Plan) revertBelow(c Card, at Version) error {
	trash, err := p.trashedFrom(c)
	if err != nil {
		return err
	}
	for _, t := range trash {
		v, ok, err := p.versionAt(t, at)
		if err != nil {
			return err
		}
		if !ok || t.Places != nil || v.Trashed || v.Purged {
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
	children, err := Collect(p.AllDescendants(p.ctx, c.ID, 1))
	if err != nil {
		return err
	}
	for _, child := range children {
		v, ok, err := p.versionAt(child, at)
		if err != nil {
			return err
		}
		if ok && child.Places == nil && v.Rev != child.Rev && !v.Trashed && !v.Purged {
			if _, err := p.revertOne(child, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// trashedFrom lists the direct children of a card that were put in the trash themselves, latest
// first.
func (p *Plan) trashedFrom(c Card) (list []Card, err error) {
	for t, err := range p.AllTrash(p.ctx) {
		if err != nil {
			return nil, err
		}
		if t.Parent == c.ID {
			list = append(list, t)
		}
	}
	return list, nil
}

// versionAt finds the version of a card that all its readers may see and that was current when a version
// of another card was replaced. If that other version is current, it finds the latest one.
func (p *Plan) versionAt(c Card, at Version) (Version, bool, error) {
	for v, err := range p.AllVersions(p.ctx, c.ID) {
		if err != nil || (at.To == 0 || v.From < at.To) && v.Label.Covers(c.Label) {
			return v, err == nil, err
		}
	}
	return Version{}, false, nil
}
