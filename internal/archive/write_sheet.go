package archive

import (
	"context"
	"errors"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// writer puts sheets into a plan.
type writer struct {
	ctx  context.Context
	deps *deps
	call *op.Call
	plan *canon.Plan

	done    map[canon.CardID]bool // cards written so far, each at most once
	along   []canon.CardID        // those that came with another card
	patched markup.Result         // of the last patch
}

func newWriter(ctx context.Context, d *deps, c *op.Call, p *canon.Plan) *writer {
	return &writer{ctx: ctx, deps: d, call: c, plan: p, done: map[canon.CardID]bool{}}
}

// asFault finds the fault in an error.
func asFault(err error) (*fault.Error, bool) {
	var f *fault.Error
	ok := errors.As(err, &f)
	return f, ok
}

// deniedFor is the answer to a call that only a higher role may make.
func deniedFor(role, has access.Role, what string) error {
	return fault.New(fault.Denied, "%s needs the role %s; this call has %s", what, role, has).With("required_role", role.String())
}

// create makes a card and what comes with it.
func (w *writer) create(s *sheet, name string) (canon.Card, error) {
	n := canon.NewCard{Name: name, Type: s.typ, Fields: s.fields, Orphan: s.orphan}
	if s.codename != nil {
		n.Codename = *s.codename
	}
	if s.level != access.LevelNone {
		label := access.NewLabel(s.level)
		n.Label = &label
	}
	if n.Type == "" {
		n.Type = canon.TypeRichText
	}
	typ, err := w.plan.Type(w.ctx, n.Type)
	if err != nil {
		return canon.Card{}, within(s.path, err)
	}
	content, err := w.content(s, canon.Card{Name: name, Type: typ.Name})
	if err != nil {
		return canon.Card{}, within(s.path, err)
	}
	if canon.TextOf(typ.Name) == canon.TextFile {
		return canon.Card{}, within(s.path, ruleOn("type", "cards of type %s are made with upload_attachment", typ.Name))
	}
	if content != nil {
		n.Content = *content
	}
	card, err := w.plan.Create(n)
	if err != nil {
		return canon.Card{}, within(s.path, err)
	}
	w.done[card.ID] = true
	return card, w.parts(s, card)
}

// content is what the sheet makes of a card's content; nil leaves it as it is.
func (w *writer) content(s *sheet, c canon.Card) (*string, error) {
	if s.patch == nil {
		return s.text.stored(w.ctx, c.Type)
	}
	before := ""
	if !c.ID.IsZero() {
		var err error
		if before, err = w.plan.Text(c); err != nil {
			return nil, err
		}
	}
	r, err := s.patch.apply(w.ctx, c, before)
	w.patched = r
	return &r.Content, err
}

// update changes a card and writes what comes with it.
func (w *writer) update(s *sheet, c canon.Card) (canon.Card, error) {
	if w.done[c.ID] {
		return canon.Card{}, within(s.path, ruleOn("name", "%q is given twice", c.Name))
	}
	w.done[c.ID] = true
	if err := w.deps.tags.Check(w.call, heldIn(w.plan.Snapshot, c), s.ifMatch, s.text.given()); err != nil {
		return canon.Card{}, within(s.path, err)
	}
	after := c
	e := canon.Edit{Fields: s.fields, Codename: s.codename}
	if s.typ != "" {
		typ, err := w.plan.Type(w.ctx, s.typ)
		if err != nil {
			return canon.Card{}, within(s.path, err)
		}
		e.Type, after.Type = &typ.Name, typ.Name
	}
	if err := keepsFile(c.Type, after.Type, s); err != nil {
		return canon.Card{}, within(s.path, err)
	}
	var err error
	if e.Content, err = w.content(s, after); err != nil {
		return canon.Card{}, within(s.path, err)
	}
	edit := func() (err error) { c, err = w.plan.Update(c, e); return err }
	relabel := func() (err error) { c, err = w.relabel(s, c); return err }
	// What is written for few must be no version that more may read: a label goes up
	// before the rest is written, and down after it.
	steps := []func() error{relabel, edit}
	if s.level < c.Own.Level {
		steps = []func() error{edit, relabel}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return canon.Card{}, within(s.path, err)
		}
	}
	return c, w.parts(s, c)
}

// keepsFile refuses to make text of a file, or a file of text, by the type alone.
func keepsFile(from, to string, s *sheet) error {
	was, is := canon.TextOf(from) == canon.TextFile, canon.TextOf(to) == canon.TextFile
	switch {
	case is && !was:
		return ruleOn("type", "a file is attached with upload_attachment")
	case was && !is && !s.text.given():
		return ruleOn("type", "the card holds a file; give its content as text together with the type")
	}
	return nil
}

// relabel gives a card that is there the level of its sheet.
func (w *writer) relabel(s *sheet, c canon.Card) (canon.Card, error) {
	if s.level == access.LevelNone || s.level == c.Own.Level {
		return c, nil
	}
	if err := needs(w.plan.Snapshot, access.RoleAdmin, "to change the level of a card that is there"); err != nil {
		return canon.Card{}, err
	}
	return w.plan.SetLabel(c, access.NewLabel(s.level))
}

// put updates a card where it is there and makes it where it is not.
func (w *writer) put(s *sheet, name string) (canon.Card, error) {
	c, ok, err := w.plan.Has(name)
	switch {
	case err != nil:
		return canon.Card{}, err
	case ok:
		return w.update(s, c)
	case isHandle(name):
		_, err := w.plan.Card(name)
		return canon.Card{}, within(s.path, err)
	}
	return w.create(s, name)
}

// parts writes the cards that come with a card, and removes those that are to go.
func (w *writer) parts(s *sheet, c canon.Card) error {
	for i := range s.parts {
		part := &s.parts[i]
		name := part.name
		if part.below {
			name = under(c.Name, name)
		}
		written, err := w.put(part, name)
		if err != nil {
			return err
		}
		w.along = append(w.along, written.ID)
	}
	for _, key := range s.drops {
		if err := w.drop(under(c.Name, key)); err != nil {
			return within(s.path+"fields."+key+".", err)
		}
	}
	return nil
}

// drop puts a child card that a field set to null stands for in the trash.
func (w *writer) drop(name string) error {
	if err := needs(w.plan.Snapshot, access.RoleAdmin, "to remove a child card"); err != nil {
		return err
	}
	c, ok, err := w.plan.Has(name)
	if err != nil || !ok {
		return err
	}
	_, below, err := w.plan.Descendants(w.ctx, c.ID, 1, canon.Page{Limit: 1})
	if err != nil {
		return err
	}
	if below.Count > 0 {
		return ruleOn("name", "there are cards below %q; use delete_card", c.Name)
	}
	return w.plan.Trash(c)
}

// targets names the card that a call acted on, then those that came with it.
func (w *writer) targets(c canon.Card) {
	w.plan.Target(c.ID)
	for _, id := range w.along {
		w.plan.Target(id)
	}
}
