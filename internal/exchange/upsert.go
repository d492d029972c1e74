package exchange

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// put makes or changes one card. What the canon refuses is reported, and the rest goes on.
func (im *importer) put(ctx context.Context, p *canon.Plan, t *tally, s *sheet) error {
	if s.data != nil && s.ready.file == nil {
		return nil // reported when it was read
	}
	parent, name, ok := im.place(p, t, s)
	if !ok {
		t.problem(s.file, "left out with the card above it")
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
			t.problem(s.file, "the card it lies below is not there; comes in for the GM only")
			s.own = s.own.Meet(access.NewLabel(access.LevelGM))
		}
	}
	if s.label(p, parent, name).Level < s.least {
		s.own = s.own.Meet(access.NewLabel(s.least))
	}
	card, found, err := im.existing(ctx, p, t, s, parent, name)
	if err != nil {
		return err
	}
	if !found {
		if _, trashed, err := p.Trashed(ctx, s.id); err != nil || trashed {
			if err == nil {
				t.problem(s.file, "its card is in the trash and stays there; restore it, and import again")
			}
			return err
		}
	}
	if found {
		card, err = im.update(p, t, s, card)
	} else {
		card, err = im.create(ctx, p, t, s, parent, name)
	}
	if err != nil {
		return refusal(t, s.file, err)
	}
	t.claimed[card.ID] = s
	t.got[s] = card
	return nil
}

// refusal reports what the canon refuses for reasons that lie in the file, and passes on
// every other error.
func refusal(t *tally, file string, err error) error {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Rule, fault.Denied, fault.NotFound, fault.Conflict, fault.TooLarge:
		t.problem(file, "left out: %s", plainly(err))
		return nil
	}
	return err
}

// place finds the card that a sheet goes below and makes its whole name.
func (im *importer) place(p *canon.Plan, t *tally, s *sheet) (parent canon.Card, name string, ok bool) {
	if s.above == nil {
		return canon.Card{}, s.name, true
	}
	above, ok := t.got[s.above]
	if !ok {
		above, ok = s.above.got, s.above.done
	}
	if !ok {
		return canon.Card{}, "", false
	}
	if im.rehearsed(p, above) {
		return canon.Card{}, markup.Join(above.Name, s.name), true
	}
	return above, markup.Join(above.Name, s.name), true
}

// rehearsed reports whether a card was made by an earlier commit of a dry run, which left
// nothing behind.
func (im *importer) rehearsed(p *canon.Plan, c canon.Card) bool {
	if !im.grant.Request().DryRun {
		return false
	}
	_, ok, err := p.Has("~" + c.ID.String())
	return err != nil || !ok
}

// existing finds the card that a sheet is about: by id, else by name where the card has
// the same label and place and no other sheet has taken it.
func (im *importer) existing(ctx context.Context, p *canon.Plan, t *tally, s *sheet, parent canon.Card, name string) (canon.Card, bool, error) {
	card, ok, err := p.Has("~" + s.id.String())
	if err != nil || ok || s.shy {
		return card, ok, err
	}
	label := s.label(p, parent, name)
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

// label is the effective label that a sheet's card will have.
func (s *sheet) label(p *canon.Plan, parent canon.Card, name string) access.Label {
	label := access.NewLabel(access.LevelUser).Meet(s.own).Meet(access.NewLabel(p.NameLevel(name)))
	if !parent.ID.IsZero() {
		label = parent.Label.Meet(label)
	}
	return label
}

func (im *importer) create(ctx context.Context, p *canon.Plan, t *tally, s *sheet, parent canon.Card, name string) (canon.Card, error) {
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
			t.problem(s.file, "the codename %q is taken by %q; comes in without it", n.Codename, other.Name)
			n.Codename = ""
		}
	}
	card, err := p.Create(n)
	if fault.KindOf(err) == fault.Rule && n.File == nil && n.Type != "" && n.Type != canon.TypeRichText {
		t.problem(s.file, "type %s does not take it (%s); comes in as RichText", n.Type, plainly(err))
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

// update gives a card what a sheet says. Its label goes up first, so that what comes in
// for few is never a version that more may read.
func (im *importer) update(p *canon.Plan, t *tally, s *sheet, was canon.Card) (canon.Card, error) {
	if s.folder {
		t.unchanged++
		return was, nil
	}
	card, err := p.SetLabel(was, was.Own.Meet(s.own))
	if err != nil {
		return canon.Card{}, err
	}
	e, err := im.edit(p, s, card)
	if err != nil {
		return canon.Card{}, err
	}
	next, err := p.Update(card, e)
	if err != nil {
		return canon.Card{}, err
	}
	if same(was, next) {
		t.unchanged++
	} else {
		t.updated++
	}
	return next, nil
}

func (im *importer) edit(p *canon.Plan, s *sheet, card canon.Card) (canon.Edit, error) {
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

func same(a, b canon.Card) bool {
	return a.Type == b.Type && a.Content == b.Content && a.Codename == b.Codename && string(a.Fields) == string(b.Fields) && a.Own.Equal(b.Own)
}
