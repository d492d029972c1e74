package archive

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// writer adds sheets to a plan.
type writer struct {
	ctx  context.Context
	deps *deps
	call *op.Call
	plan *canon.Plan

	done    map[canon.CardID]bool // cards written so far; each is written at most once
	along   []canon.CardID        // cards that were written as parts of another card
	patched markup.Result         // result of the last patch
}

func newWriter(ctx context.Context, d *deps, c *op.Call, p *canon.Plan) *writer {
	return &writer{ctx: ctx, deps: d, call: c, plan: p, done: map[canon.CardID]bool{}}
}

// asFault returns the fault in an error.
func asFault(err error) (*fault.Error, bool) {
	var f *fault.Error
	ok := errors.As(err, &f)
	return f, ok
}

// deniedFor is the fault for a call that needs a higher role.
func deniedFor(role, has access.Role, what string) error {
	return fault.New(fault.Denied, "%s needs the role %s; this call has %s", what, role, has).With("required_role",
		role.String())
}

// mostHidden returns the id of the card above a new one that the fewest readers see, if several have its name and a game
// master writes: who made a card of that name for everybody does not read the new one then.
func mostHidden(ctx context.Context, p *canon.Plan, name string) (canon.CardID, error) {
	parts := markup.Parts(name)
	if p.View().Level < access.LevelGM || len(parts) < 2 {
		return canon.CardID{}, nil
	}
	all, err := p.Homonyms(ctx, markup.KeyOf(markup.Join(parts[:len(parts)-1]...)))
	if err != nil || len(all) < 2 {
		return canon.CardID{}, err
	}
	return slices.MaxFunc(all, canon.CompareHomonyms).ID, nil
}

// createCard creates a card and writes its parts.
func (w *writer) createCard(s *sheet, name string) (canon.Card, error) {
	n := canon.NewCard{Name: name, Type: s.typ, Fields: s.fields, Orphan: s.orphan, Parent: s.parent}
	if n.Parent.IsZero() {
		var err error
		if n.Parent, err = mostHidden(w.ctx, w.plan, name); err != nil {
			return canon.Card{}, err
		}
	}
	if s.codename != nil {
		n.Codename = *s.codename
	}
	n.Type = cmp.Or(n.Type, canon.TypeRichText)
	typ, err := w.plan.Type(w.ctx, n.Type)
	if err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	blank := canon.Card{Name: name, Type: typ.Name}
	made := blank
	if err := s.text.setFormat(&made); err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	n.Format, made.Label = made.Format, access.NewLabel(s.level)
	content, err := w.contentFor(s, blank, made)
	if err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	if canon.TextOf(typ.Name) == canon.TextFile {
		return canon.Card{}, fault.Below(s.path,
			fault.BrokenRule("type", "cards of type %s are made with upload_attachment", typ.Name))
	}
	if content != nil {
		n.Content = *content
	}
	label := access.NewLabel(s.level)
	if s.level == access.LevelNone {
		if label.Level, err = listingLevel(w.ctx, w.plan.Snapshot, made, n.Content); err != nil {
			return canon.Card{}, err
		}
	}
	n.Label = &label
	card, err := w.plan.Create(n)
	if err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	w.done[card.ID] = true
	return card, w.writeParts(s, card)
}

// contentFor returns the new content of a card that has the type and format of is after the write; nil
// leaves it as it is.
func (w *writer) contentFor(s *sheet, was, is canon.Card) (*string, error) {
	before := ""
	if !was.ID.IsZero() && (s.patch != nil || s.text.hasContent() || was.Format != is.Format) &&
		was.TextKind() != canon.TextFile {
		var err error
		if before, err = w.plan.Text(was); err != nil {
			return nil, err
		}
	}
	switch {
	case s.patch != nil:
		return w.patchedContent(s, is, before)
	case s.text.hasContent() && was.TextKind() == is.TextKind():
		return w.storedContent(s.text, is, before)
	case s.text.hasContent():
		return w.storedContent(s.text, is, "")
	}
	return w.convertStored(was, is, before)
}

// updateCard changes a card and writes its parts.
func (w *writer) updateCard(s *sheet, c canon.Card) (canon.Card, error) {
	if w.done[c.ID] {
		return canon.Card{}, fault.Below(s.path, fault.BrokenRule("name", "%q occurs twice in the input", c.Name))
	}
	w.done[c.ID] = true
	held, _, err := heldText(w.ctx, w.plan.Snapshot, c)
	if err != nil {
		return canon.Card{}, err
	}
	if err := w.deps.tags.Check(w.call, held, s.ifMatch, s.text.hasContent()); err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	after := c
	e := canon.Edit{Fields: s.fields, Codename: s.codename}
	if s.typ != "" {
		typ, err := w.plan.Type(w.ctx, s.typ)
		if err != nil {
			return canon.Card{}, fault.Below(s.path, err)
		}
		e.Type, after.Type = &typ.Name, typ.Name
	}
	if err := s.text.setFormat(&after); err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	if after.Format != c.Format {
		e.Format = &after.Format
	}
	if err := checkFileType(c.Type, after.Type, s); err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	if e.Content, err = w.contentFor(s, c, after); err != nil {
		return canon.Card{}, fault.Below(s.path, err)
	}
	edit := func() (err error) { c, err = w.plan.Update(c, e); return err }
	relabel := func() (err error) { c, err = w.relabelCard(s, c); return err }
	// No version may show content for few readers to more readers: a level is raised before the
	// other changes and lowered after them.
	steps := []func() error{relabel, edit}
	if s.level < c.Own.Level {
		steps = []func() error{edit, relabel}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return canon.Card{}, fault.Below(s.path, err)
		}
	}
	return c, w.writeParts(s, c)
}

// checkFileType refuses a change of type alone that would turn a file into text or text into a
// file.
func checkFileType(from, to string, s *sheet) error {
	was, is := canon.TextOf(from) == canon.TextFile, canon.TextOf(to) == canon.TextFile
	switch {
	case is && !was:
		return fault.BrokenRule("type", "a file is attached with upload_attachment")
	case was && !is && !s.text.hasContent():
		return fault.BrokenRule("type", "the card contains a file; give its content as text together with the type")
	}
	return nil
}

// relabelCard sets the level of the sheet on an existing card.
func (w *writer) relabelCard(s *sheet, c canon.Card) (canon.Card, error) {
	if s.level == access.LevelNone || s.level == c.Own.Level {
		return c, nil
	}
	if err := w.plan.CheckManages(c.ID); err != nil {
		return canon.Card{}, err
	}
	return w.plan.SetLabel(c, access.NewLabel(s.level))
}

// put updates a card if it exists and creates it otherwise.
func (w *writer) put(s *sheet, name string) (canon.Card, error) {
	c, ok, err := w.plan.Has(name)
	if err == nil && ok && !s.parent.IsZero() && c.Parent != s.parent {
		c, ok, err = w.childOf(s.parent, c.Key)
	}
	switch {
	case err != nil:
		return canon.Card{}, err
	case ok:
		return w.updateCard(s, c)
	case isHandle(name):
		_, err := w.plan.Card(name)
		return canon.Card{}, fault.Below(s.path, err)
	}
	return w.createCard(s, name)
}

// childOf finds the card of a name that several cards have, below one of them.
func (w *writer) childOf(parent canon.CardID, key markup.Key) (canon.Card, bool, error) {
	all, err := w.plan.Homonyms(w.ctx, key)
	for _, o := range all {
		if o.Parent == parent {
			return w.plan.Has("~" + o.ID.String())
		}
	}
	return canon.Card{}, false, err
}

// writeParts writes the parts of a card, and removes the parts that the sheet drops.
func (w *writer) writeParts(s *sheet, c canon.Card) error {
	for i := range s.parts {
		part := &s.parts[i]
		name := part.name
		if part.below {
			name = partFullName(c.Name, name)
			if len(markup.Parts(part.name)) == 1 {
				part.parent = c.ID
			}
		}
		written, err := w.put(part, name)
		if err != nil {
			return err
		}
		w.along = append(w.along, written.ID)
	}
	for _, key := range s.drops {
		if err := w.dropChild(partFullName(c.Name, key)); err != nil {
			return fault.Below(s.path+"fields."+key+".", err)
		}
	}
	return nil
}

// dropChild puts a child card whose field is null in the trash.
func (w *writer) dropChild(name string) error {
	if err := requireRole(w.plan.Snapshot, w.plan.World().Settings.ManagerRole(), "removing a child card"); err != nil {
		return err
	}
	c, ok, err := w.plan.Has(name)
	if err != nil || !ok {
		return err
	}
	if err := w.plan.CheckManages(c.ID); err != nil {
		return err
	}
	_, below, err := w.plan.Descendants(w.ctx, c.ID, 1, canon.Page{Limit: 1})
	if err != nil {
		return err
	}
	if below.Count > 0 {
		return fault.BrokenRule("name", "there are cards below %q; use delete_card", c.Name)
	}
	return w.plan.Trash(c)
}

// setTargets adds the card that a call acted on as a target, then the cards written with it.
func (w *writer) setTargets(c canon.Card) {
	w.plan.Target(c.ID)
	for _, id := range w.along {
		w.plan.Target(id)
	}
}
