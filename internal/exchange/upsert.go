package exchange

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// putSheet creates or updates one card. It reports a card that the canon refuses and returns nil,
// so that the import continues.
func (w *Writer) putSheet(ctx context.Context, p *canon.Plan, t *tally, s *Sheet) error {
	if s.Data != nil && s.Content.file == nil {
		return nil // readSheet has reported it
	}
	parent, name, ok := w.findParent(p, t, s)
	if !ok {
		t.addProblem(s.File, "left out, because the card above it was left out")
		return nil
	}
	if !s.Parent.IsZero() && parent.ID.IsZero() {
		above, found, err := p.Has("~" + s.Parent.String())
		if err != nil {
			return err
		}
		if found && markup.KeyOf(name).HasPrefix(above.Key) && markup.KeyOf(name) != above.Key {
			parent = above
		} else {
			t.addProblem(s.File, "its parent card does not exist; the card is for the GM only")
			s.Label = s.Label.Meet(access.NewLabel(access.LevelGM))
		}
	}
	if s.effectiveLabel(p, parent, name).Level < s.MinLevel {
		s.Label = s.Label.Meet(access.NewLabel(s.MinLevel))
	}
	card, found, err := w.findExisting(ctx, p, t, s, parent, name)
	if err != nil {
		return err
	}
	if !found {
		if card, trashed, err := p.Trashed(ctx, s.ID); err != nil || trashed {
			if err != nil {
				return err
			}
			return w.putTrashed(ctx, p, t, s, card)
		}
	}
	if err := w.hideSaid(ctx, p, t, s, card); err != nil {
		return err
	}
	if found {
		card, err = w.updateCard(p, t, s, card)
	} else {
		card, err = w.createCard(ctx, p, t, s, parent, name)
	}
	if err != nil {
		return reportRefusal(t, s.File, err)
	}
	t.claimed[card.ID] = s
	t.got[s] = card
	if !s.InPlace {
		return nil
	}
	holders, err := p.Holders(card)
	t.parts[s] = digestParts(holders)
	return err
}

// putTrashed notes the card of a sheet that is in the trash to be restored, if the undo of an import put it there,
// or the memory of a source that has one does not know it. Other cards stay there.
func (w *Writer) putTrashed(ctx context.Context, p *canon.Plan, t *tally, s *Sheet, card canon.Card) error {
	undone, err := p.WentByUndo(ctx, card)
	if err != nil {
		return err
	}
	if _, known := w.Known[s.ID]; !undone && (known || w.Known == nil) || card.TrashRoot != card.ID {
		t.addProblem(s.File, "its card is in the trash and stays there; to update it, restore it and import again")
		return nil
	}
	t.undone = append(t.undone, card)
	t.claimed[card.ID], t.got[s] = s, card
	t.count(s, &t.updated)
	return nil
}

// restoreUndone takes cards out of the trash that putTrashed noted, parents first.
func (w *Writer) restoreUndone(ctx context.Context, cards []canon.Card) error {
	part := w.Grant.Part(strconv.Itoa(w.commits)+"-restored", w.Grant.Request().InputHash)
	return persist(ctx, func() error {
		_, err := w.Canon.Update(ctx, part, func(p *canon.Plan) error {
			for _, c := range cards {
				if _, trashed, err := p.Trashed(ctx, c.ID); err != nil || !trashed {
					return err
				}
				if _, err := p.Restore(c); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	})
}

// reportRefusal reports an error that is caused by the file's content, and returns every other
// error.
func reportRefusal(t *tally, file string, err error) error {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Rule, fault.Denied, fault.NotFound, fault.Conflict, fault.TooLarge:
		t.addProblem(file, "left out: %s", ErrorText(err))
		return nil
	}
	return err
}

// findParent returns the parent of a sheet's card and the card's full name.
func (w *Writer) findParent(p *canon.Plan, t *tally, s *Sheet) (parent canon.Card, name string, ok bool) {
	if s.Above == nil {
		return canon.Card{}, s.Name, true
	}
	above, ok := t.got[s.Above]
	if !ok {
		above, ok = s.Above.card.asCard(), s.Above.done
	}
	if !ok {
		return canon.Card{}, "", false
	}
	if w.isDryRunCard(p, above) {
		return canon.Card{}, markup.Join(above.Name, s.Name), true
	}
	return above, markup.Join(above.Name, s.Name), true
}

// isDryRunCard reports whether a card was created by an earlier commit of a dry run and therefore
// does not exist.
func (w *Writer) isDryRunCard(p *canon.Plan, c canon.Card) bool {
	if !w.Grant.Request().DryRun {
		return false
	}
	_, ok, err := p.Has("~" + c.ID.String())
	return err != nil || !ok
}

// findExisting finds the existing card for a sheet: by id, or else by name if the card has the same
// label and parent and no other sheet has claimed it.
func (w *Writer) findExisting(ctx context.Context, p *canon.Plan, t *tally, s *Sheet, parent canon.Card,
	name string) (canon.Card, bool, error) {
	card, ok, err := p.Has("~" + s.ID.String())
	if err != nil || ok || s.MatchIDOnly {
		return card, ok, err
	}
	label := s.effectiveLabel(p, parent, name)
	others, err := p.Homonyms(ctx, markup.KeyOf(name))
	if err != nil {
		return canon.Card{}, false, err
	}
	for _, o := range others {
		if w.claimed[o.ID] != nil || t.claimed[o.ID] != nil || (s.Above != nil && o.Parent != parent.ID) {
			continue
		}
		if o.Label.Equal(label) || s.Folder {
			return p.Has("~" + o.ID.String())
		}
	}
	return canon.Card{}, false, nil
}

// effectiveLabel returns the effective label that the sheet's card will have.
func (s *Sheet) effectiveLabel(p *canon.Plan, parent canon.Card, name string) access.Label {
	label := access.NewLabel(access.LevelUser).Meet(s.Label).Meet(access.NewLabel(p.NameLevel(name)))
	if !parent.ID.IsZero() {
		label = parent.Label.Meet(label)
	}
	return label
}

func (w *Writer) createCard(ctx context.Context, p *canon.Plan, t *tally, s *Sheet, parent canon.Card,
	name string) (canon.Card, error) {
	n := canon.NewCard{ID: s.ID, Name: name, Type: s.Content.Type, Format: s.Format, File: s.Content.file,
		Fields:   s.Fields,
		Codename: s.Codename, Label: &s.Label, Parent: parent.ID, Root: s.Root, Orphan: s.Exact || s.Above != nil,
		Hide: s.Hide, HideFields: s.hiddenFields(nil), Undivided: !s.readsMarks(), MarksKnown: s.MarksKnown,
		AsWritten: s.InPlace}
	if s.Content.Text != nil {
		n.Content = *s.Content.Text
	}
	if n.Codename != "" {
		if other, held, err := p.Exists(ctx, ":"+n.Codename); err != nil || held && other.Label.Level == n.Label.Level {
			if err != nil {
				return canon.Card{}, err
			}
			t.addProblem(s.File, "the codename %q belongs to %q; the card has none", n.Codename, other.Name)
			n.Codename = ""
		}
	}
	card, err := p.Create(n)
	if fault.KindOf(err) == fault.Rule && n.File == nil && n.Type != "" && n.Type != canon.TypeRichText {
		t.addProblem(s.File, "the type %s does not accept the content (%s); the card is RichText", n.Type, ErrorText(err))
		n.Type = canon.TypeRichText
		card, err = p.Create(n)
	}
	if err != nil {
		return canon.Card{}, err
	}
	t.count(s, &t.created)
	if n.File != nil {
		t.attached++
	}
	return card, nil
}

// updateCard updates a card from a sheet. It raises the label first, so that restricted text is
// never stored as a version that more people may read.
func (w *Writer) updateCard(p *canon.Plan, t *tally, s *Sheet, was canon.Card) (canon.Card, error) {
	if s.Folder {
		t.unchanged++
		return was, nil
	}
	card, err := p.SetLabel(was, w.ownLabel(s, was))
	if err != nil {
		return canon.Card{}, err
	}
	if card, err = w.followName(p, t, s, card); err != nil {
		return canon.Card{}, err
	}
	e, err := w.newEdit(p, s, card)
	if err != nil {
		return canon.Card{}, err
	}
	if err := s.leaveUnsure(p, t, card, &e); err != nil {
		return canon.Card{}, err
	}
	next, err := p.Update(card, e)
	if err != nil {
		return canon.Card{}, err
	}
	if p.HidOpenText(next) {
		t.addProblem(s.File, "hides text that could be read here; its earlier versions are hidden too")
	}
	if next, err = openParts(p, s, next); err != nil {
		return canon.Card{}, err
	}
	if isSameCard(was, next) {
		t.count(s, &t.unchanged)
	} else {
		t.count(s, &t.updated)
	}
	return next, nil
}

// leaveUnsure leaves the text out of an edit if players read the card, and if it has a new mark of which it is not
// known whether it hides.
func (s *Sheet) leaveUnsure(p *canon.Plan, t *tally, card canon.Card, e *canon.Edit) error {
	if !s.Asks || !s.readsMarks() || e.Content == nil || card.Label.Level >= access.LevelGM {
		return nil
	}
	after := card
	if e.Type != nil {
		after.Type = *e.Type
	}
	after.Format = s.Format
	m, err := p.FirstUnsure(after, card, *e.Content)
	if s.Unsure != nil && m == nil {
		m = &canon.UnsureMark{Line: s.Unsure.Line, Text: s.Unsure.Text, Why: "this looks secret (" + s.Unsure.Mark.Rule + ")"}
	}
	if err != nil || m == nil {
		return err
	}
	t.addProblem(s.File, "line %d of the text, %q: %s; the text of %q stays as it is, write it on the page of the card",
		m.Line, m.Text, m.Why, card.Name)
	e.Content, e.Format, e.Type = nil, nil, nil
	return nil
}

// followName renames a card that the source has renamed, unless it was renamed here.
func (w *Writer) followName(p *canon.Plan, t *tally, s *Sheet, card canon.Card) (canon.Card, error) {
	if s.NameWas == "" || markup.KeyOf(s.NameWas) != card.Key || markup.KeyOf(s.Name) == card.Key {
		return card, nil
	}
	next, err := p.RenameImported(card, s.Name)
	if fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Rule {
		t.addProblem(s.File, "is renamed at the source, and the card stays %q: %s", card.Name, ErrorText(err))
		return card, nil
	}
	return next, err
}

// openParts opens the hidden parts of a card that the importer's user opens.
func openParts(p *canon.Plan, s *Sheet, card canon.Card) (canon.Card, error) {
	if len(s.Opens) == 0 {
		return card, nil
	}
	parts, err := p.HiddenParts(card)
	if err != nil {
		return canon.Card{}, err
	}
	var ids []string
	for _, part := range parts {
		is := strings.TrimSpace(part.Text)
		bare := !secrecy.HasAnyMark(is)
		if slices.ContainsFunc(s.Opens, func(text string) bool {
			return strings.TrimSpace(text) == is || bare && is != "" && strings.Contains(text, is)
		}) {
			ids = append(ids, part.ID)
		}
	}
	if len(ids) == 0 {
		return card, nil
	}
	return p.LabelParts(card, ids, access.NewLabel(access.LevelUser))
}

// hideParts hides the parts of a card that was changed here which the importer's user hides.
func hideParts(p *canon.Plan, t *tally, s *Sheet, card canon.Card) (canon.Card, error) {
	if len(s.Hides) == 0 {
		return card, nil
	}
	whole, err := p.Text(card)
	if err != nil {
		return canon.Card{}, err
	}
	var there []string
	for _, text := range s.Hides {
		if text = strings.TrimSpace(text); strings.Contains(whole, text) {
			there = append(there, text)
		} else {
			t.addProblem(s.File, "a part that you hide was changed here: hide it on the page of %q", card.Name)
		}
	}
	if len(there) == 0 {
		return card, nil
	}
	return p.HideText(card, there, false)
}

func (w *Writer) newEdit(p *canon.Plan, s *Sheet, card canon.Card) (canon.Edit, error) {
	e := canon.Edit{Content: s.Content.Text, File: s.Content.file, Fields: s.Fields, Replace: s.Exact && !s.Beside,
		Hide: s.Hide, HideFields: s.hiddenFields(card.Fields), Undivided: !s.readsMarks(), MarksKnown: s.MarksKnown,
		AsWritten: s.InPlace, Beside: s.Beside}
	if s.Content.Text != nil {
		e.Format = &s.Format
	}
	typ := s.Content.Type
	if typ == "" && canon.TextOf(card.Type) != canon.TextHTML {
		typ = canon.TypeRichText
	}
	if typ != "" && markup.KeyOf(typ) != markup.KeyOf(card.Type) {
		e.Type = &typ
	}
	if s.Exact && s.Codename != card.Codename {
		e.Codename = &s.Codename
	}
	if s.Items && s.Content.Text != nil {
		there, err := p.Text(card)
		if err != nil {
			return canon.Edit{}, err
		}
		merged := markup.AddItems(there, markup.Items(*s.Content.Text), s.Gone)
		e.Content = &merged
	}
	return e, nil
}

// hiddenFields returns the names of the fields that are hidden: in our own dialect also those with an exact mark,
// unless the card has the same value open.
func (s *Sheet) hiddenFields(open json.RawMessage) []string {
	if !s.Exact || s.Beside || s.Label.Level >= access.LevelGM && len(s.Label.Subjects) == 0 {
		return s.HideFields
	}
	names, was := slices.Clone(s.HideFields), decoded.ParseObject(string(open))
	for name, v := range decoded.ParseObject(string(s.Fields)) {
		if (secrecy.HasAnyMark(name) || secrecy.HidesField("", v)) && !reflect.DeepEqual(v, was[name]) {
			names = append(names, name)
		}
	}
	return names
}

func isSameCard(a, b canon.Card) bool {
	return a.Type == b.Type && a.Format == b.Format && a.Content == b.Content && a.Codename == b.Codename &&
		string(a.Fields) == string(b.Fields) && a.Own.Equal(b.Own)
}
