package exchange

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// putSheet creates or updates one card. It reports a card that the canon refuses and returns nil,
// so that the import continues.
func (im *importer) putSheet(ctx context.Context, p *canon.Plan, t *tally, s *sheet) error {
	if s.data != nil && s.ready.file == nil {
		return nil // readSheet has reported it
	}
	parent, name, ok := im.findParent(p, t, s)
	if !ok {
		t.addProblem(s.file, "left out with the card above it")
		return nil
	}
	if !s.parent.IsZero() && parent.ID.IsZero() {
		above, found, err := p.Has("~" + s.parent.String())
		if err != nil {
			return err
		}
		if found && markup.KeyOf(name).HasPrefix(above.Key) && markup.KeyOf(name) != above.Key {
			parent = above
		} else {
			t.addProblem(s.file, "the card it lies below is not there; comes in for the GM only")
			s.own = s.own.Meet(access.NewLabel(access.LevelGM))
		}
	}
	if s.effectiveLabel(p, parent, name).Level < s.minLevel {
		s.own = s.own.Meet(access.NewLabel(s.minLevel))
	}
	card, found, err := im.findExisting(ctx, p, t, s, parent, name)
	if err != nil {
		return err
	}
	if !found {
		if _, trashed, err := p.Trashed(ctx, s.id); err != nil || trashed {
			if err == nil {
				t.addProblem(s.file, "its card is in the trash and stays there; restore it, and import again")
			}
			return err
		}
	}
	if found {
		card, err = im.updateCard(p, t, s, card)
	} else {
		card, err = im.createCard(ctx, p, t, s, parent, name)
	}
	if err != nil {
		return reportRefusal(t, s.file, err)
	}
	t.claimed[card.ID] = s
	t.got[s] = card
	return nil
}

// reportRefusal reports an error that is caused by the file's content, and returns every other
// error.
func reportRefusal(t *tally, file string, err error) error {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Rule, fault.Denied, fault.NotFound, fault.Conflict, fault.TooLarge:
		t.addProblem(file, "left out: %s", errorText(err))
		return nil
	}
	return err
}

// findParent returns the parent of a sheet's card and the card's full name.
func (im *importer) findParent(p *canon.Plan, t *tally, s *sheet) (parent canon.Card, name string, ok bool) {
	if s.above == nil {
		return canon.Card{}, s.name, true
	}
	above, ok := t.got[s.above]
	if !ok {
		above, ok = s.above.card, s.above.done
	}
	if !ok {
		return canon.Card{}, "", false
	}
	if im.isDryRunCard(p, above) {
		return canon.Card{}, markup.Join(above.Name, s.name), true
	}
	return above, markup.Join(above.Name, s.name), true
}

// isDryRunCard reports whether a card was created by an earlier commit of a dry run and therefore
// does not exist.
func (im *importer) isDryRunCard(p *canon.Plan, c canon.Card) bool {
	if !im.grant.Request().DryRun {
		return false
	}
	_, ok, err := p.Has("~" + c.ID.String())
	return err != nil || !ok
}

// findExisting finds the existing card for a sheet: by id, or else by name if the card has the same
// label and parent and no other sheet has claimed it.
func (im *importer) findExisting(ctx context.Context, p *canon.Plan, t *tally, s *sheet, parent canon.Card,
	name string) (canon.Card, bool, error) {
	card, ok, err := p.Has("~" + s.id.String())
	if err != nil || ok || s.matchIDOnly {
		return card, ok, err
	}
	label := s.effectiveLabel(p, parent, name)
	others, err := p.Homonyms(ctx, markup.KeyOf(name))
	if err != nil {
		return canon.Card{}, false, err
	}
	for _, o := range others {
		if im.claimed[o.ID] != nil || t.claimed[o.ID] != nil || (s.above != nil && o.Parent != parent.ID) {
			continue
		}
		if o.Label.Equal(label) || s.folder {
			return p.Has("~" + o.ID.String())
		}
	}
	return canon.Card{}, false, nil
}

// effectiveLabel returns the effective label that the sheet's card will have.
func (s *sheet) effectiveLabel(p *canon.Plan, parent canon.Card, name string) access.Label {
	label := access.NewLabel(access.LevelUser).Meet(s.own).Meet(access.NewLabel(p.NameLevel(name)))
	if !parent.ID.IsZero() {
		label = parent.Label.Meet(label)
	}
	return label
}

func (im *importer) createCard(ctx context.Context, p *canon.Plan, t *tally, s *sheet, parent canon.Card,
	name string) (canon.Card, error) {
	n := canon.NewCard{ID: s.id, Name: name, Type: s.ready.typ, File: s.ready.file, Fields: s.fields,
		Codename: s.codename, Label: &s.own, Parent: parent.ID, Root: s.root, Orphan: s.exact || s.above != nil}
	if s.ready.text != nil {
		n.Content = *s.ready.text
	}
	if n.Codename != "" {
		if other, held, err := p.Exists(ctx, ":"+n.Codename); err != nil || held && other.Label.Level == n.Label.Level {
			if err != nil {
				return canon.Card{}, err
			}
			t.addProblem(s.file, "the codename %q is taken by %q; comes in without it", n.Codename, other.Name)
			n.Codename = ""
		}
	}
	card, err := p.Create(n)
	if fault.KindOf(err) == fault.Rule && n.File == nil && n.Type != "" && n.Type != canon.TypeRichText {
		t.addProblem(s.file, "type %s does not take it (%s); comes in as RichText", n.Type, errorText(err))
		n.Type = canon.TypeRichText
		card, err = p.Create(n)
	}
	if err != nil {
		return canon.Card{}, err
	}
	t.created++
	if n.File != nil {
		t.attached++
	}
	return card, nil
}

// updateCard updates a card from a sheet. It raises the label first, so that restricted text is
// never stored as a version that more people may read.
func (im *importer) updateCard(p *canon.Plan, t *tally, s *sheet, was canon.Card) (canon.Card, error) {
	if s.folder {
		t.unchanged++
		return was, nil
	}
	card, err := p.SetLabel(was, was.Own.Meet(s.own))
	if err != nil {
		return canon.Card{}, err
	}
	e, err := im.newEdit(p, s, card)
	if err != nil {
		return canon.Card{}, err
	}
	next, err := p.Update(card, e)
	if err != nil {
		return canon.Card{}, err
	}
	if isSameCard(was, next) {
		t.unchanged++
	} else {
		t.updated++
	}
	return next, nil
}

func (im *importer) newEdit(p *canon.Plan, s *sheet, card canon.Card) (canon.Edit, error) {
	e := canon.Edit{Content: s.ready.text, File: s.ready.file, Fields: s.fields, Replace: s.exact}
	typ := s.ready.typ
	if typ == "" && canon.TextOf(card.Type) != canon.TextHTML {
		typ = canon.TypeRichText
	}
	if typ != "" && markup.KeyOf(typ) != markup.KeyOf(card.Type) {
		e.Type = &typ
	}
	if s.exact && s.codename != card.Codename {
		e.Codename = &s.codename
	}
	if s.items && s.ready.text != nil {
		there, err := p.Text(card)
		if err != nil {
			return canon.Edit{}, err
		}
		merged := markup.AddItems(there, markup.Items(*s.ready.text), nil)
		e.Content = &merged
	}
	return e, nil
}

func isSameCard(a, b canon.Card) bool {
	return a.Type == b.Type && a.Content == b.Content && a.Codename == b.Codename &&
		string(a.Fields) == string(b.Fields) && a.Own.Equal(b.Own)
}
