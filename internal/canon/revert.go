package canon

import (
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
	"loregate/internal/slicesx"
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

// revertOne gives a card the type, content and fields of a version. Fields that are hidden now stay.
func (p *Plan) revertOne(c Card, v Version) (Card, error) {
	e, err := p.editTo(c, v, p.lastOf(v))
	if err != nil {
		return Card{}, err
	}
	holders, err := p.Holders(c)
	if err != nil {
		return Card{}, err
	}
	if e.Fields, err = withHidden(e.Fields, holders); err != nil {
		return Card{}, err
	}
	return p.Update(c, e)
}

// bringBack gives a card the type, content and fields of a version, with the hidden parts and fields as they were
// after a commit. What is hidden now stays hidden, and readers who have been told a part since no longer see it.
func (p *Plan) bringBack(c Card, v Version, at Seq) (Card, error) {
	e, err := p.editTo(c, v, at)
	if err != nil {
		return Card{}, err
	}
	if c, err = p.Update(c, e); err != nil {
		return Card{}, err
	}
	return p.takeBack(c, at)
}

// takeBack takes the hidden parts and fields of a card from the readers who did not see them after a commit.
func (p *Plan) takeBack(c Card, at Seq) (Card, error) {
	if !c.showsParts(p.View()) {
		return c, nil
	}
	then, err := p.holdersAt(p.ctx, c, at)
	if err != nil {
		return Card{}, err
	}
	now, err := p.partLabels(c)
	if err != nil {
		return Card{}, err
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		for _, h := range then {
			label := now[id].Meet(h.Label)
			if !h.Places.Holds(id) || label.Equal(now[id]) {
				continue
			}
			if c, err = p.LabelParts(c, []string{id}, label); err != nil {
				return Card{}, err
			}
		}
	}
	return c, nil
}

// partLabels returns the labels of the hidden parts and fields of a card by their ids, in the state after the plan.
func (p *Plan) partLabels(c Card) (map[string]access.Label, error) {
	parts, err := p.HiddenParts(c)
	if err != nil {
		return nil, err
	}
	labels := map[string]access.Label{}
	for _, x := range parts {
		labels[x.ID] = x.Label
	}
	holders, err := p.Holders(c)
	for _, h := range holders {
		for _, name := range h.Places.Fields {
			labels[fieldPrefix+name] = h.Label
		}
	}
	return labels, err
}

// editTo returns the edit that gives a card the type, content and fields of a version, with the hidden parts and fields
// as they were after a commit. They are hidden, also those without a mark. What is hidden now stays hidden.
func (p *Plan) editTo(c Card, v Version, at Seq) (Edit, error) {
	e := Edit{Type: &v.Type, Format: &v.Format, Fields: v.Fields, Replace: true}
	if TextOf(v.Type) == TextFile && v.Content != c.Content {
		b, err := p.Bytes(p.ctx, v.Content)
		if err != nil {
			return Edit{}, err
		}
		e.File = b
	}
	if !c.showsParts(p.View()) {
		if e.File == nil && v.Content != c.Content {
			content, err := p.Body(p.ctx, v.Content)
			if err != nil {
				return Edit{}, err
			}
			e.Content = &content
		}
		return e, nil
	}
	then, err := p.holdersAt(p.ctx, c, at)
	if err != nil {
		return Edit{}, err
	}
	if e.Fields, err = withHidden(v.Fields, slicesx.Map(then, Version.holder)); err != nil {
		return Edit{}, err
	}
	for _, h := range then {
		e.HideFields = append(e.HideFields, h.Places.Fields...)
	}
	if TextOf(v.Type) == TextFile {
		return e, nil
	}
	t, err := p.versionParts(p.ctx, v, then)
	if err != nil {
		return Edit{}, err
	}
	content := t.Whole()
	e.Content, e.AsWritten, e.Hide, e.exact = &content, true, secrecy.Ranges(t.Places()), &t
	return e, nil
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
