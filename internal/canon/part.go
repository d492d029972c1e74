package canon

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
	"loregate/internal/slicesx"
)

// GMPart is the name part of the cards below a card that the game master keeps about it: notes, and the hidden
// parts of its text.
const GMPart = "GM"

// ToldPart is the name part of the cards that hold the hidden parts which the game master has shown to some readers
// by name. Below GMPart nobody sees a card by name.
const ToldPart = "Told by the GM"

// The keys of GMPart and ToldPart.
const (
	gmKey   = "gm"
	toldKey = "told_by_the_gm"
)

// holderPart returns the name part of the card that holds the parts with a label, and its key.
func holderPart(l access.Label) (name string, key markup.Key) {
	if len(l.Subjects) > 0 {
		return ToldPart, toldKey
	}
	return GMPart, gmKey
}

// PartsKind is the kind of hidden parts that the text of a card has ever had in cards below it.
type PartsKind uint8

// The kinds.
const (
	NoParts    PartsKind = iota
	LevelParts           // parts that levels see
	NamedParts           // also parts that a reader sees by name
)

// Places are the ranges of a card's content that are hidden parts of the text of the card above it, in their order in
// the content, and where they belong. The rest of the content is a text of its own.
type Places struct {
	Base  Hash    `json:"base,omitzero"` // of the text above in which At counts
	Parts []Place `json:"parts,omitempty"`
	// Fields are the names of the fields of this card that are hidden fields of the card above.
	Fields []string `json:"fields,omitempty"`
	// Form is the form of the parts and of the text above that Base names; "" if it is not known.
	Form string `json:"form,omitempty"`
}

// Place is a hidden part and its place.
type Place struct {
	ID    string `json:"id"` // within the card above
	At    int    `json:"at"` // byte offset in the text above
	Order int    `json:"order"`
	From  int    `json:"from"` // byte offset in the content of this card
	Len   int    `json:"len"`
}

// Holds reports whether a hidden part or field with an id is among the places.
func (p *Places) Holds(id string) bool {
	name, isField := strings.CutPrefix(id, fieldPrefix)
	return isField && slices.Contains(p.Fields, name) ||
		slices.ContainsFunc(p.Parts, func(x Place) bool { return x.ID == id })
}

// HoldsParts reports whether a card holds hidden parts or fields of the card above it.
func (c Card) HoldsParts() bool {
	return c.Places != nil && len(c.Places.Parts)+len(c.Places.Fields) > 0
}

// Part is a hidden part of a card's text, as a caller reads it.
type Part struct {
	ID    string
	Text  string // as written, with its mark
	Label access.Label
	At    int  // byte offset in the whole text
	Lost  bool // the block that it followed is gone; it stands at the end of its section
	// Planned reports that only a dry run has made the part: its commit gives another id.
	Planned bool
}

// Opened is a card, or a hidden part of a text, that a change shows to more readers.
type Opened struct {
	Card     CardID
	Name     string
	Part     string       // id of the part; "" for the card with its open text and fields
	Text     string       // of the part
	From, To access.Label // those who saw it before, and those who see it now; From also of a card that was in the trash
}

// showsParts reports whether a view may see hidden parts of a card's text.
func (c Card) showsParts(v access.View) bool {
	return c.Parts != NoParts && (v.Level >= access.LevelGM || c.Parts == NamedParts && v.Subject != "")
}

// IsTold reports whether the view, which is no game master's, sees hidden parts of a card. The version number that it
// is shown does not count their changes.
func (s *Snapshot) IsTold(ctx context.Context, c Card) (bool, error) {
	if s.View().Level >= access.LevelGM {
		return false, nil
	}
	holders, err := s.holders(ctx, c)
	return len(holders) > 0, err
}

// FormOf returns the form in which the marks of a kind of text are read; ok is false for texts without marks.
func FormOf(k TextKind) (form secrecy.Form, ok bool) {
	switch k {
	case TextHTML:
		return secrecy.HTML, true
	case TextMarkdown:
		return secrecy.Markdown, true
	case TextPlain:
		return secrecy.Plain, true
	}
	return 0, false
}

// keptText is a card's text with the cards that hold its hidden parts.
type keptText struct {
	secrecy.Text
	holders []Card // by the order of their labels
}

// holders returns the visible cards that hold hidden parts of a card's text.
func (s *Snapshot) holders(ctx context.Context, c Card) ([]Card, error) {
	all, err := s.storedHolders(ctx, c)
	for _, now := range s.planned {
		if now.Parent != c.ID || now.Places == nil || !s.View().Sees(now.Label) {
			continue
		}
		if i := slices.IndexFunc(all, func(h Card) bool { return h.ID == now.ID }); i >= 0 {
			all[i] = now
		} else {
			all = append(all, now)
		}
	}
	return all, err
}

// storedHolders is holders without those that only a dry run has written.
func (s *Snapshot) storedHolders(ctx context.Context, c Card) ([]Card, error) {
	if !c.showsParts(s.View()) {
		return nil, nil
	}
	all, err := s.holdersBelow(ctx, c, c.Key)
	if err != nil || len(all) > 0 {
		return all, err
	}
	was, ok, err := s.ByID(ctx, c.ID)
	if err != nil || !ok || was.Key == c.Key {
		return nil, err
	}
	return s.holdersBelow(ctx, c, was.Key) // the plan renames it
}

// holdersBelow finds the cards below a key that hold hidden parts of a card.
func (s *Snapshot) holdersBelow(ctx context.Context, c Card, key markup.Key) ([]Card, error) {
	all, err := s.Homonyms(ctx, key+"+"+gmKey)
	if err == nil && c.Parts == NamedParts {
		var told []Card
		told, err = s.Homonyms(ctx, key+"+"+toldKey)
		all = append(all, told...)
	}
	return slices.DeleteFunc(all, func(o Card) bool { return o.Places == nil || o.Parent != c.ID }), err
}

// wholeText returns a card's text with the hidden parts that the view sees.
func (s *Snapshot) wholeText(ctx context.Context, c Card) (keptText, error) {
	var t keptText
	var err error
	if c.TextKind() != TextFile {
		if t.Open, err = s.Body(ctx, c.Content); err != nil {
			return keptText{}, err
		}
	}
	if t.holders, err = s.holders(ctx, c); err != nil {
		return keptText{}, err
	}
	for _, h := range t.holders {
		if err := s.addParts(ctx, &t.Text, c.TextKind(), c.Content, h.version()); err != nil {
			return keptText{}, err
		}
	}
	t.Sort()
	return t, nil
}

// addParts adds the parts that a version of a card holds to the text of a kind with the given hash.
func (s *Snapshot) addParts(ctx context.Context, t *secrecy.Text, kind TextKind, of Hash, h Version) error {
	places, label := h.Places, h.Label
	if len(places.Parts) == 0 {
		return nil
	}
	text, err := s.Body(ctx, h.Content)
	if err != nil {
		return err
	}
	base := t.Open
	lost := false
	if places.Base != of {
		if base, err = s.Body(ctx, places.Base); err != nil {
			return err
		}
		lost = base == "" && places.Base != Hash{} // it was erased
	}
	parts := make([]secrecy.Passage, 0, len(places.Parts))
	for _, p := range places.Parts {
		if p.From < 0 || p.Len <= 0 || p.From+p.Len > len(text) {
			continue // the content was erased
		}
		parts = append(parts, secrecy.Passage{ID: p.ID, Label: label, At: min(max(p.At, 0), len(base)), Order: p.Order,
			Text: text[p.From : p.From+p.Len]})
	}
	if places.Base != of {
		base, parts = convertParts(ctx, secrecy.Text{Open: base, Parts: parts}, places.Form, kind)
	}
	for i := range parts {
		if lost {
			parts[i].At, parts[i].Lost = len(t.Open), true
		}
		if s.View().Level < label.Level {
			parts[i].Text, parts[i].Signs = secrecy.Unwrap(parts[i].Text)
		}
	}
	if !lost {
		parts = secrecy.Relocate(base, t.Open, parts)
	}
	t.Parts = append(t.Parts, parts...)
	return nil
}

// The names of the forms in Places.
var formNames = map[TextKind]string{TextHTML: "html", TextMarkdown: "markdown"}

// convertParts converts a text with hidden parts to the form that the text above has now, because somebody who does not
// see the parts has converted it. Text that cannot be converted stays as it is.
func convertParts(ctx context.Context, t secrecy.Text, form string, to TextKind) (open string,
	parts []secrecy.Passage) {
	convert, from := marked.ToHTML, secrecy.Markdown
	if to == TextMarkdown {
		convert, from = marked.ToMarkdown, secrecy.HTML
	}
	if form == "" || formNames[to] == "" || form == formNames[to] {
		return t.Open, t.Parts
	}
	t.Sort()
	t = t.Marked(from)
	whole, err := convert(ctx, t.Whole())
	if err == nil {
		into, _ := FormOf(to)
		w := secrecy.Writer{Form: into, Hides: true, AsWritten: true, Converted: true, NewID: func() string { return "" },
			Label: access.NewLabel(access.LevelGM)}
		next, out := w.Divide(t, whole)
		if len(out.New)+len(out.Gone) == 0 && len(next.Parts) == len(t.Parts) {
			return next.Open, next.Parts
		}
	}
	for i := range t.Parts {
		if text, err := convert(ctx, t.Parts[i].Text); err == nil {
			t.Parts[i].Text = text
		}
	}
	return t.Open, t.Parts
}

// version returns a card that holds hidden parts as the version that it is now.
func (c Card) version() Version { return Version{Content: c.Content, Places: c.Places, Label: c.Label} }

// Content returns a card's content, of a text with the hidden parts that the view sees at their places.
func (s *Snapshot) Content(ctx context.Context, c Card) (string, error) {
	if !c.showsParts(s.View()) && len(s.planned) == 0 {
		return s.Body(ctx, c.Content)
	}
	t, err := s.wholeText(ctx, c)
	return t.Whole(), err
}

// WholeText returns the text of a card that holds no file, with the hidden parts that the view sees.
func (s *Snapshot) WholeText(ctx context.Context, c Card) (secrecy.Text, error) {
	t, err := s.wholeText(ctx, c)
	return t.Text, err
}

// Parts returns the hidden parts of a card's text that the view sees, in their order, and the text with them. It
// reads nothing, and returns no text, if there are none.
func (s *Snapshot) Parts(ctx context.Context, c Card) (all []Part, whole string, err error) {
	if !c.showsParts(s.View()) && len(s.planned) == 0 {
		return nil, "", nil
	}
	t, err := s.wholeText(ctx, c)
	if err != nil {
		return nil, "", err
	}
	stored, err := s.storedPartIDs(ctx, c)
	if err != nil {
		return nil, "", err
	}
	all = make([]Part, len(t.Parts))
	for i, r := range t.Places() {
		p := t.Parts[i]
		all[i] = Part{ID: p.ID, Text: p.Text, Label: p.Label, At: r.From, Lost: p.Lost,
			Planned: stored != nil && !stored[p.ID]}
	}
	return all, t.Whole(), nil
}

// storedPartIDs returns the ids of the hidden parts that a card has without a dry run; nil if there was none.
func (s *Snapshot) storedPartIDs(ctx context.Context, c Card) (map[string]bool, error) {
	if len(s.planned) == 0 {
		return nil, nil
	}
	holders, err := s.storedHolders(ctx, c)
	ids := map[string]bool{}
	for _, h := range holders {
		for _, p := range h.Places.Parts {
			ids[p.ID] = true
		}
	}
	return ids, err
}

// isDivided reports whether the text of an edit may have hidden parts. The notes that the game master keeps about a
// card have none, nor have texts for programs. Texts that only game masters read have those that the edit names.
//
// Texts for programs keep the parts that they had before their card got its type.
func (p *Plan) isDivided(c Card, typ Type, e Edit) bool {
	if c.Parts != NoParts && c.TextKind() != TextFile {
		typ.Raw = false
		return p.mayHaveHolders(c, typ)
	}
	return p.readsMarks(c, typ) && (e.opens || len(e.Hide) > 0 || !onlyMasters(c.Label) && !e.Undivided)
}

// readsMarks reports whether marks in the text of a card of a type can hide.
func (p *Plan) readsMarks(c Card, typ Type) bool {
	_, ok := FormOf(c.TextKind())
	return ok && p.mayHaveHolders(c, typ)
}

// onlyMasters reports whether no reader below a game master sees a label.
func onlyMasters(l access.Label) bool { return l.Level >= access.LevelGM && len(l.Subjects) == 0 }

// mayHaveHolders reports whether cards below a card may hold hidden parts and fields of it.
func (s *Snapshot) mayHaveHolders(c Card, typ Type) bool {
	return !typ.Raw && c.Places == nil && s.world.Settings.nameLevel(c.Key) == access.LevelUser
}

// lastPart returns the last part of a key.
func lastPart(k markup.Key) markup.Key { return k[strings.LastIndexByte(string(k), '+')+1:] }

// divideText divides a text that the plan writes to a card. It returns the text that everybody reads who sees the
// card, and notes the rest for writeParts.
func (p *Plan) divideText(c *Card, before Card, typ Type, e Edit) (string, error) {
	form, ok := FormOf(c.TextKind())
	if !ok {
		form = secrecy.Plain
	}
	was, err := p.textBefore(before)
	if err != nil {
		return "", err
	}
	read := secrecy.Read(*e.Content, form)
	if e.MarksKnown {
		read = secrecy.ReadKnown(*e.Content, form, e.Hide)
	}
	w := secrecy.Writer{Form: form, Hides: p.View().Level >= access.LevelGM && !e.Undivided && p.readsMarks(*c, typ),
		Label: access.NewLabel(access.LevelGM), NewID: p.newPartID, Ranges: e.Hide, AsWritten: e.AsWritten,
		Converted: before.TextKind() != c.TextKind(), Anew: e.opens, Read: read}
	if w.Hides && !e.AsWritten && !e.opens {
		spans, err := unsureSpans(p.grant, "content", was.Whole(), *e.Content, form, w.Read)
		if err != nil {
			return "", err
		}
		w.Ranges = append(slices.Clone(w.Ranges), secrecy.Ranges(spans)...)
		w.TextSigns = p.grant.Request().Unsure == access.UnsureText
	}
	text, out, ok := exactText(was.Text, e, w.Converted)
	if !ok {
		text, out = w.Divide(was.Text, *e.Content)
	}
	if !e.Undivided {
		if w.Hides && !e.AsWritten && !e.opens {
			if err := p.checkNoneAdded(*e.Content, out); err != nil {
				return "", err
			}
		}
		if w.Hides {
			p.set.removed = append(p.set.removed, removedParts(was.Text, out.Gone)...)
		}
		for _, m := range out.Ignored {
			p.set.ignored = append(p.set.ignored, m.What)
		}
	}
	if !w.Hides && p.View().Level < access.LevelGM && e.exact == nil {
		if err := p.checkNotOutdated(before, was.Open, text.Open); err != nil {
			return "", err
		}
	}
	next := &dividedText{holders: was.holders, now: text, hides: out.Hid, hid: out.Hid && !e.KeepHistory}
	if d := p.divided[c.ID]; d != nil {
		if next.hid = next.hid || d.hid; !d.written {
			next.fields = d.fields
		}
	}
	if len(text.Parts)+len(was.holders)+len(next.fields) > 0 {
		p.divided[c.ID] = next
	}
	if out.Hid {
		return text.Open, p.labelRefers(*c, text.Open)
	}
	return text.Open, nil
}

// removedParts returns the beginnings of the hidden parts of a text with the given ids.
func removedParts(t secrecy.Text, ids []string) (all []string) {
	for _, p := range t.Parts {
		if slices.Contains(ids, p.ID) {
			text, _ := secrecy.Unwrap(p.Text)
			all = append(all, markup.Shorten(strings.TrimSpace(text), 80))
		}
	}
	return all
}

// exactText returns the text that an edit brings back, with its parts as they were and the labels that they have now.
// ok is false if that would open text that was hidden since: then the texts have to be compared.
func exactText(now secrecy.Text, e Edit, converted bool) (t secrecy.Text, out secrecy.Outcome, ok bool) {
	if e.exact == nil || converted || e.exact.Whole() != *e.Content {
		return t, out, false
	}
	t = secrecy.Text{Open: e.exact.Open, Parts: slices.Clone(e.exact.Parts)}
	labels := map[string]access.Label{}
	for _, p := range now.Parts {
		labels[p.ID] = p.Label
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		if label, is := labels[p.ID]; is {
			p.Label = label
			delete(labels, p.ID)
			continue
		}
		out.New, out.Hid = append(out.New, p.ID), out.Hid || secrecy.IsIn(now.Open, p.Text)
	}
	if len(labels) == 0 {
		return t, out, true
	}
	tells := secrecy.Tells(t.Open)
	for _, p := range now.Parts {
		if _, isGone := labels[p.ID]; !isGone {
			continue
		}
		if tells(p.Text) {
			return t, out, false
		}
		out.Gone = append(out.Gone, p.ID)
	}
	return t, out, true
}

// divideBeforeOpening divides the texts of a card that gets a label under which players see it, and of the cards
// below it. It returns the card after that.
func (p *Plan) divideBeforeOpening(c, parent Card, own access.Label) (Card, error) {
	open := c
	open.Own = own
	p.placeCard(&open, parent)
	if !onlyMasters(c.Label) || onlyMasters(open.Label) {
		return c, nil
	}
	below, err := Collect(p.AllDescendants(p.ctx, c.ID, MaxNesting))
	if err != nil {
		return Card{}, err
	}
	if c, err = p.divideOpening(c); err != nil {
		return Card{}, err
	}
	for _, d := range below {
		if !onlyMasters(d.Own) {
			if _, err := p.divideOpening(d); err != nil {
				return Card{}, err
			}
		}
	}
	return c, nil
}

// divideOpening divides the text and the fields of a card that will open: in the texts of a card that players do
// not see, marks have hidden nothing. A card that holds hidden parts stays hidden.
func (p *Plan) divideOpening(c Card) (Card, error) {
	if now := p.now[c.ID]; now != nil {
		c = *now
	}
	form, isText := FormOf(c.TextKind())
	switch {
	case c.Places != nil && p.world.Settings.nameLevel(c.Key) == access.LevelUser:
		return p.SetLabel(c, c.Own.Meet(c.Label))
	case !isText || c.Places != nil:
		return c, nil
	}
	text, err := p.Text(c)
	if err != nil {
		return Card{}, err
	}
	e := Edit{Fields: c.Fields, opens: true}
	if secrecy.MayHoldMark(text, form) {
		e.Content = &text
	} else if len(c.Fields) == 0 {
		return c, nil
	}
	return p.Update(c, e)
}

// divideBeforeRules divides the texts of the cards that players see by the name rules of new settings, and did not
// see before. The rest of the plan is made under these settings.
func (p *Plan) divideBeforeRules(s Settings) error {
	old := p.world.Settings
	under := *p.Snapshot
	under.world.Settings = s
	p.Snapshot = &under
	if slices.Equal(old.gmParts(), s.gmParts()) {
		return nil
	}
	labels := map[CardID]access.Label{}
	for c, err := range p.AllCards(p.ctx, Filter{TagLists: true}) {
		if err != nil {
			return err
		}
		if old.nameLevel(c.Key) == s.nameLevel(c.Key) || !onlyMasters(c.Label) {
			continue
		}
		open, err := p.labelUnderRules(c, labels)
		if err != nil {
			return err
		}
		if !onlyMasters(open) {
			if _, err := p.divideOpening(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// labelUnderRules returns the effective label of a card under the plan's settings. known has those of cards above.
func (p *Plan) labelUnderRules(c Card, known map[CardID]access.Label) (access.Label, error) {
	if l, ok := known[c.ID]; ok {
		return l, nil
	}
	parent, err := p.parentOf(c)
	if err != nil {
		return access.Label{}, err
	}
	if !parent.ID.IsZero() {
		if parent.Label, err = p.labelUnderRules(parent, known); err != nil {
			return access.Label{}, err
		}
	}
	p.placeCard(&c, parent)
	known[c.ID] = c.Label
	return c.Label, nil
}

// newPartID returns the id of a new hidden part.
func (p *Plan) newPartID() string {
	id := p.newID().String()
	return id[len(id)-10:]
}

// textBefore returns the text of a card before an edit, in the state after the plan so far.
func (p *Plan) textBefore(before Card) (keptText, error) {
	if before.ID.IsZero() {
		return keptText{}, nil
	}
	if d := p.divided[before.ID]; d != nil {
		return keptText{Text: d.now, holders: d.holders}, nil
	}
	if open, ok := p.text[before.ID]; ok {
		return keptText{Text: secrecy.Text{Open: open}}, nil
	}
	return p.wholeText(p.ctx, before)
}

// dividedText is a text that the plan has divided.
type dividedText struct {
	now     secrecy.Text
	holders []Card // of its parts
	hides   bool   // text that was open is hidden now
	hid     bool   // text or a field that was open is hidden now, and in earlier versions
	fields  fieldChanges
	written bool // by writeParts
	// taken are the ids of the parts and fields that some who were told them no longer see.
	taken []string
	keeps bool // what is hidden stays readable in earlier versions
}

// writeParts writes the hidden parts of a text that divideText has divided.
func (p *Plan) writeParts(c Card) error {
	d := p.divided[c.ID]
	if d == nil || d.written {
		return nil
	}
	d.written = true
	holders := d.holders
	written := map[CardID]bool{}
	d.holders = nil
	for _, label := range p.shareLabels(c, d, holders) {
		h, err := p.holderFor(c, label, holders)
		if err != nil {
			return err
		}
		if h, err = p.writeHolder(c, h, label, d); err != nil {
			return err
		}
		written[h.ID] = true
		d.holders = append(d.holders, h)
	}
	for _, h := range holders {
		if written[h.ID] {
			continue
		}
		h, err := p.writeHolder(c, h, access.Label{}, d)
		if err != nil {
			return err
		}
		d.holders = append(d.holders, h)
	}
	return nil
}

// shareLabels gives the parts and fields of a text that the same readers see below the card one label, because one card
// holds them: the one that is there, or the first. It returns these labels, each once.
func (p *Plan) shareLabels(c Card, d *dividedText, holders []Card) (labels []access.Label) {
	known := slicesx.Map(holders, func(h Card) access.Label { return h.Label })
	shared := func(l access.Label) access.Label {
		i := slices.IndexFunc(known, func(k access.Label) bool { return p.heldLabel(c, k).Equal(p.heldLabel(c, l)) })
		if i < 0 {
			i = len(known)
			known = append(known, l)
		}
		if !slices.ContainsFunc(labels, known[i].Equal) {
			labels = append(labels, known[i])
		}
		return known[i]
	}
	for i := range d.now.Parts {
		d.now.Parts[i].Label = shared(d.now.Parts[i].Label)
	}
	fields := d.fields
	d.fields = nil
	for _, f := range fields {
		for name, v := range f.values {
			d.fields.set(shared(f.label), name, v)
		}
	}
	return labels
}

// heldLabel returns the label of the card that holds the parts with a label below a card.
func (p *Plan) heldLabel(c Card, l access.Label) access.Label {
	_, key := holderPart(l)
	return c.Label.Meet(l).Meet(access.NewLabel(p.world.Settings.nameLevel(key)))
}

// holderFor returns the card that holds the parts with a label, or one without an id that is to be created. A note of
// the game master with that label becomes the holder.
func (p *Plan) holderFor(c Card, label access.Label, holders []Card) (Card, error) {
	_, key := holderPart(label)
	effective := p.heldLabel(c, label)
	for _, h := range holders {
		if lastPart(h.Key) == key && (h.Label.Equal(label) || h.Label.Equal(effective)) {
			return h, nil
		}
	}
	for _, h := range holders {
		if lastPart(h.Key) == key && h.isEmptied() {
			return p.SetLabel(h, label)
		}
	}
	homonyms, err := p.Homonyms(p.ctx, c.Key+"+"+key)
	if err != nil {
		return Card{}, err
	}
	for _, o := range homonyms {
		if now := p.now[o.ID]; now != nil {
			o = *now
		}
		if _, isText := FormOf(o.TextKind()); isText && !p.gone[o.ID] && o.Parent == c.ID && o.Label.Equal(effective) {
			return o, nil
		}
	}
	return Card{}, nil
}

// holderID returns the id of the card that holds the parts with a label, unless there was one before: it is the same
// wherever a card with its parts is copied to.
func holderID(card CardID, label access.Label) CardID {
	return CardID(LinkIDOf("parts", card.String(), label.String()))
}

// writeHolder writes the parts with a label to the card that holds them. A holder of another label than its parts
// keeps none.
func (p *Plan) writeHolder(c, h Card, label access.Label, d *dividedText) (Card, error) {
	was := ""
	if !h.ID.IsZero() {
		var err error
		if was, err = p.Text(h); err != nil {
			return Card{}, err
		}
	}
	mine := slices.DeleteFunc(slices.Clone(d.now.Parts), func(x secrecy.Passage) bool { return !x.Label.Equal(label) })
	content, places := layOut(was, h.Places, mine)
	places.Base, places.Form = c.Content, formNames[c.TextKind()]
	var fields json.RawMessage
	if fields, places.Fields = hiddenFields(h.Places, d.fields.under(label)); h.ID.IsZero() {
		if len(mine)+len(places.Fields) == 0 {
			return Card{}, nil
		}
		name, _ := holderPart(label)
		return p.Create(NewCard{ID: holderID(c.ID, label), Name: c.Name + "+" + name, Parent: c.ID, Type: TypeRichText,
			Format:  c.Format,
			Content: content, Fields: fields, Label: &label, Orphan: true, Places: places})
	}
	if h.Places != nil && content == was && fields == nil && p.placesStay(h, d.now.Open, places) {
		return h, nil
	}
	if !d.keeps && slices.ContainsFunc(d.taken, h.Places.Holds) {
		p.hidesPast[h.ID] = true
	}
	next, err := p.Update(h, Edit{Content: &content, Fields: fields, Places: places})
	if err != nil || d.keeps || !h.HoldsParts() {
		return next, err
	}
	return p.hideEmptied(next)
}

// isEmptied reports whether a card held hidden parts or fields, and holds nothing now.
func (c Card) isEmptied() bool {
	return c.Places != nil && !c.HoldsParts() && c.Size == 0 && len(c.Fields) == 0
}

// hideEmptied hides a holder that has become empty from the readers who were told its parts.
func (p *Plan) hideEmptied(h Card) (Card, error) {
	masters := access.NewLabel(access.LevelGM)
	if !h.isEmptied() || len(h.Own.Subjects) == 0 || !p.View().Sees(masters) {
		return h, nil
	}
	homonyms, err := p.Homonyms(p.ctx, h.Key)
	if err != nil {
		return Card{}, err
	}
	for _, o := range homonyms {
		if now := p.now[o.ID]; now != nil {
			o = *now
		}
		if o.ID != h.ID && len(o.Label.Subjects) == 0 {
			return h, nil // only one card can have the name and the label
		}
	}
	return p.SetLabel(h, masters)
}

// placesStay reports whether the stored places of a holder give the wanted ones in today's text.
func (p *Plan) placesStay(h Card, open string, want *Places) bool {
	if len(h.Places.Parts) != len(want.Parts) {
		return false
	}
	base, err := p.Body(p.ctx, h.Places.Base)
	if err != nil {
		return false
	}
	parts := make([]secrecy.Passage, len(want.Parts))
	for i, w := range want.Parts {
		if was := h.Places.Parts[i]; was.ID != w.ID || was.Order != w.Order || was.From != w.From || was.Len != w.Len ||
			was.At > len(base) {
			return false
		}
		parts[i] = secrecy.Passage{At: h.Places.Parts[i].At, Text: "\n"}
	}
	for i, r := range secrecy.Relocate(base, open, parts) {
		if r.At != want.Parts[i].At || r.Text != "\n" {
			return false
		}
	}
	return true
}

// layOut writes parts into the content of their holder. Other text in it stays between the parts where it stands.
func layOut(was string, places *Places, parts []secrecy.Passage) (content string, out *Places) {
	var b strings.Builder
	out = &Places{}
	begin := func() {
		if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	emit := func(upTo string) {
		for len(parts) > 0 {
			x := parts[0]
			parts = parts[1:]
			begin()
			text := x.Signs.Wrap(x.Text)
			out.Parts = append(out.Parts, Place{ID: x.ID, At: x.At, Order: x.Order, From: b.Len(), Len: len(text)})
			b.WriteString(text)
			if x.ID == upTo {
				return
			}
		}
	}
	other := func(text string) {
		if strings.TrimSpace(text) != "" {
			begin()
			b.WriteString(strings.TrimLeft(text, "\n"))
		}
	}
	at := 0
	if places == nil { // notes of the game master, which may be copies of the parts: earlier imports kept them so
		for _, x := range parts {
			if text := strings.TrimSpace(x.Text); text != "" {
				was = strings.Replace(was, text, "", 1)
			}
		}
	} else {
		for _, place := range places.Parts {
			if place.From < at || place.From+place.Len > len(was) {
				continue
			}
			other(was[at:place.From])
			at = place.From + place.Len
			if slices.ContainsFunc(parts, func(x secrecy.Passage) bool { return x.ID == place.ID }) {
				emit(place.ID)
			}
		}
	}
	other(was[at:])
	emit("")
	return b.String(), out
}

// keepPlaces moves the places of a holder along with an edit of its content by hand, and returns the content with the
// parts that the edit leaves out: only an edit of the text above removes a part.
func (p *Plan) keepPlaces(c *Card, before Card, content string) (string, error) {
	was, err := p.Text(before)
	if err != nil || was == content {
		return content, err
	}
	form, _ := FormOf(c.TextKind())
	spans := make([]markup.Span, len(before.Places.Parts))
	for i, x := range before.Places.Parts {
		spans[i] = markup.Span{From: x.From, To: x.From + x.Len}
	}
	places := &Places{Base: before.Places.Base, Fields: before.Places.Fields, Form: before.Places.Form}
	var left, all []secrecy.Passage
	for i, r := range secrecy.Follow(was, content, spans) {
		x := before.Places.Parts[i]
		text := was[spans[i].From:spans[i].To]
		switch now := content[r.From:r.To]; {
		case strings.TrimSpace(now) != "" && secrecy.IsMarked(now, form):
		case secrecy.IsIn(content, text):
			continue // it is a note of the game master's now, beside the text
		default:
			left = append(left, secrecy.Passage{ID: x.ID, At: x.At, Order: x.Order, Text: text})
			continue
		}
		x.From, x.Len = r.From, r.To-r.From
		places.Parts = append(places.Parts, x)
		all = append(all, secrecy.Passage{ID: x.ID, At: x.At, Order: x.Order, Text: content[r.From:r.To]})
	}
	if len(left) > 0 {
		kept := places
		content, places = layOut(content, kept, append(all, left...))
		places.Base, places.Fields, places.Form = kept.Base, kept.Fields, kept.Form
	}
	c.Places = places
	return content, nil
}

// besideParts returns the content of a holder with another text beside its parts.
func (p *Plan) besideParts(h Card, beside string) (content string, places *Places) {
	was, err := p.Text(h)
	if err != nil {
		return beside, h.Places
	}
	var parts []secrecy.Passage
	for _, x := range h.Places.Parts {
		if x.From+x.Len <= len(was) {
			parts = append(parts, secrecy.Passage{ID: x.ID, At: x.At, Order: x.Order, Text: was[x.From : x.From+x.Len]})
		}
	}
	content, places = layOut(beside, &Places{}, parts)
	places.Base, places.Fields, places.Form = h.Places.Base, h.Places.Fields, h.Places.Form
	return content, places
}

// Beside returns the text of a card that holds hidden parts of another text without these parts.
func (s *Snapshot) Beside(ctx context.Context, c Card) (string, error) {
	text, err := s.Body(ctx, c.Content)
	if err != nil || c.Places == nil {
		return text, err
	}
	rest, _ := layOut(text, c.Places, nil)
	return rest, nil
}

// placesToday returns the places of a holder in today's text above it.
func placesToday(ctx context.Context, r Reader, all Visibility, h Card) (*Places, error) {
	if h.Places == nil || len(h.Places.Parts) == 0 {
		return h.Places, nil
	}
	c, ok, err := First(r.FindCards(ctx, all, CardQuery{ID: h.Parent}))
	if err != nil || !ok || c.Content == h.Places.Base || h.Places.Form != "" && h.Places.Form != formNames[c.TextKind()] {
		return h.Places, err
	}
	s := Snapshot{r: r, visibility: all}
	t := secrecy.Text{}
	if t.Open, err = s.Body(ctx, c.Content); err != nil {
		return nil, err
	}
	if err := s.addParts(ctx, &t, c.TextKind(), c.Content, h.version()); err != nil {
		return nil, err
	}
	places := &Places{Base: c.Content, Parts: slices.Clone(h.Places.Parts), Fields: h.Places.Fields, Form: h.Places.Form}
	at := map[string]int{}
	for _, x := range t.Parts {
		at[x.ID] = x.At
	}
	for i := range places.Parts {
		places.Parts[i].At = at[places.Parts[i].ID]
	}
	return places, nil
}

// Holders returns the cards that hold the hidden parts and fields of a card, in the state after the plan.
func (p *Plan) Holders(c Card) ([]Card, error) {
	if d := p.divided[c.ID]; d != nil {
		return d.holders, nil
	}
	return p.holders(p.ctx, c)
}
