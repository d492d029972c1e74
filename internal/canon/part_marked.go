package canon

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
	"loregate/internal/slicesx"
)

// OpHideMarked is the operation whose commits hide the marked texts of before.
const OpHideMarked = "hide_marked"

// MarkedText lists the exact marks in the open text and the open fields of a card that hide nothing because they were
// written before marks hid.
type MarkedText struct {
	Marks  []string // those that are to be hidden, as written
	Fields []string // the names of fields that are to be hidden
	Plain  []string // marks and fields of writers who may hide nothing; they are text
	Unsure []string // lines with a mark without its end, which is text
	Mixed  bool     // which of several signs has no end is not known: a game master must mend the text, and Marks is empty

	whole string
	spans []markup.Span // of Marks in the whole text
}

// IsEmpty reports whether nothing is to be hidden.
func (m MarkedText) IsEmpty() bool { return len(m.Marks)+len(m.Fields) == 0 }

// MarkFinder finds marked texts in a snapshot.
type MarkFinder struct {
	snapshot *Snapshot
	hides    map[uuid.UUID]verdict // by commit
	imports  map[string]bool       // correlation ids of imports
}

// verdict is the fate of a mark that a commit wrote.
type verdict int

const (
	isHidden  verdict = iota + 1
	isPlain           // its writer may hide nothing
	isDecided         // it is open because somebody decided so: by a reveal, an undo, or an import that read the marks
)

// FindMarked returns a finder of marked texts. The view must see the history of all cards that players see.
func (s *Snapshot) FindMarked(ctx context.Context) (*MarkFinder, error) {
	f := &MarkFinder{snapshot: s, hides: map[uuid.UUID]verdict{}, imports: map[string]bool{}}
	steps, err := s.Steps(ctx)
	for _, step := range steps {
		if step.Kind == KindImport {
			f.imports[step.Correlation] = true
		}
	}
	return f, err
}

// In returns the marked texts of a card. A mark counts as written by the commit that first has it at its place, or
// with its text; one that a hidden part had stays open.
func (f *MarkFinder) In(ctx context.Context, c Card) (m MarkedText, err error) {
	s := f.snapshot
	if onlyMasters(c.Label) {
		return m, nil
	}
	var fields []string
	if c.Label.Level < access.LevelGM { // of a card that is told to its readers the fields are too
		if fields, err = s.secretFields(ctx, c.Type, c.Fields); err != nil {
			return m, err
		}
	}
	var spans []markup.Span
	var whole keptText
	form, isText := FormOf(c.TextKind())
	if isText {
		open, err := s.Body(ctx, c.Content)
		if err != nil || len(fields) == 0 && !secrecy.MayHoldMark(open, form) {
			return m, err
		}
		if whole, err = s.wholeText(ctx, c); err != nil {
			return m, err
		}
		spans = whole.OpenMarks(form)
	}
	if len(fields) == 0 && !isText {
		return m, nil
	}
	typ, err := s.Type(ctx, c.Type)
	if err != nil && fault.KindOf(err) != fault.Rule { // a type that is gone is not raw
		return m, err
	}
	if !s.mayHaveHolders(c, typ) {
		return m, nil
	}
	mixed := false
	for _, u := range secrecy.FindUnsure("", whole.Open, form) {
		if isText && u.Sign != "" {
			m.Unsure, mixed = append(m.Unsure, u.Text), mixed || u.Mixed
		}
	}
	if len(fields)+len(spans) == 0 {
		return m, nil
	}
	t := &markTrace{MarkFinder: f, card: c, text: whole.Whole(), form: form, spans: slices.Clone(spans), fields: fields,
		verdicts: make([]verdict, len(spans)), ofField: map[string]verdict{}}
	if err := t.walkBack(ctx); err != nil {
		return m, err
	}
	m.whole = whole.Whole()
	for i, span := range spans {
		text := m.whole[span.From:span.To]
		switch t.verdicts[i] {
		case isHidden:
			m.Marks, m.spans = append(m.Marks, text), append(m.spans, span)
		case isPlain:
			m.Plain = append(m.Plain, text)
		}
	}
	if mixed && len(m.Marks) > 0 {
		m.Mixed, m.Marks, m.spans = true, nil, nil
	}
	for _, name := range fields {
		switch t.ofField[name] {
		case isHidden:
			m.Fields = append(m.Fields, name)
		case isPlain:
			m.Plain = append(m.Plain, name)
		}
	}
	return m, nil
}

// markTrace follows the marks of a card's text, and its secret fields, back to the commits that wrote them.
type markTrace struct {
	*MarkFinder
	card     Card
	text     string
	form     secrecy.Form
	spans    []markup.Span
	fields   []string
	verdicts []verdict // of the marks; zero: not known yet
	ofField  map[string]verdict
}

func (t *markTrace) walkBack(ctx context.Context) error {
	versions, err := Collect(t.snapshot.AllVersions(ctx, t.card.ID))
	if err != nil {
		return err
	}
	versions = slices.DeleteFunc(versions, func(v Version) bool { return v.Purged })
	for i, v := range versions {
		by, err := t.judge(ctx, v)
		if err != nil {
			return err
		}
		if i+1 == len(versions) {
			t.settle(by, nil, nil)
			return nil
		}
		was := versions[i+1]
		if v.Op == OpUndo && was.Op == OpHideMarked {
			by = isDecided
		}
		marks, err := t.marksBefore(ctx, was, v.From-1)
		if err != nil {
			return err
		}
		fields, err := t.fieldsBefore(ctx, was, v.From-1)
		if err != nil {
			return err
		}
		if t.settle(by, marks, fields); !t.hasUnsettled() {
			return nil
		}
	}
	return nil
}

// hasUnsettled reports whether the writer of a mark or field is not known yet.
func (t *markTrace) hasUnsettled() bool {
	return slices.Contains(t.verdicts, 0) || len(t.ofField) < len(t.fields)
}

// marksBefore traces the marks into a version, with the hidden parts as they were after a commit.
func (t *markTrace) marksBefore(ctx context.Context, v Version, at Seq) ([]secrecy.TracedMark, error) {
	if _, isText := FormOf(KindOf(v.Type, v.Format)); !isText || len(t.spans) == 0 {
		return nil, nil
	}
	then, err := t.snapshot.holdersAt(ctx, t.card, at)
	if err != nil {
		return nil, err
	}
	was, err := t.snapshot.versionParts(ctx, v, then)
	if err != nil {
		return nil, err
	}
	marks := was.TraceMarks(t.form, t.text, t.spans)
	t.text = was.Whole()
	return marks, nil
}

// fieldsBefore returns the names of the fields that a version had as secret ones. Those that were hidden are decided.
func (t *markTrace) fieldsBefore(ctx context.Context, v Version, at Seq) ([]string, error) {
	if len(t.fields) == 0 {
		return nil, nil
	}
	holders, err := t.snapshot.holdersAt(ctx, t.card, at)
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		for _, name := range h.Places.Fields {
			if slices.Contains(t.fields, name) && t.ofField[name] == 0 {
				t.ofField[name] = isDecided
			}
		}
	}
	return t.snapshot.secretFields(ctx, v.Type, v.Fields)
}

// settle gives a verdict to the marks and fields that the version before has not.
func (t *markTrace) settle(by verdict, before []secrecy.TracedMark, fields []string) {
	for i := range t.verdicts {
		switch {
		case t.verdicts[i] != 0:
		case before == nil || !before[i].Was:
			t.verdicts[i] = by
		case before[i].Hidden:
			t.verdicts[i] = isDecided
		}
		if before != nil {
			t.spans[i] = before[i].Span
		}
	}
	for _, name := range t.fields {
		if t.ofField[name] == 0 && !slices.Contains(fields, name) {
			t.ofField[name] = by
		}
	}
}

// judge returns the verdict about the marks that a version's commit wrote.
func (f *MarkFinder) judge(ctx context.Context, v Version) (verdict, error) {
	if known := f.hides[v.Change]; known != 0 {
		return known, nil
	}
	by := isHidden
	commit, ok, err := f.snapshot.r.CommitByID(ctx, WorldStream(v.World), v.Change)
	if err != nil {
		return 0, err
	}
	if ok {
		rec, err := commit.Record()
		switch {
		case err != nil:
			return 0, err
		case rec.Role.Level() < access.LevelGM:
			by = isPlain
		case f.imports[rec.Correlation]:
			by = isDecided
		}
	}
	f.hides[v.Change] = by
	return by, nil
}

// secretFields returns the names of the fields that are hidden if a game master writes them, in order.
func (s *Snapshot) secretFields(ctx context.Context, typ string, fields []byte) (names []string, err error) {
	all, err := pickFields(fields, nil)
	if err != nil {
		return nil, err
	}
	for name, v := range all {
		secret := anyText(v, func(text string) bool { return secrecy.HasMark(text, secrecy.Markdown) })
		if m, nested := secrecy.NestedMark(name, nil, v); !secret && (nested && !m.Doubt || secrecy.IsSecretField(name, v)) {
			declared, err := s.declaresSecrets(ctx, typ)
			if err != nil {
				return nil, err
			}
			secret = !declared
		}
		if secret {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// anyText reports whether a text in a value of JSON satisfies ok.
func anyText(v any, ok func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return ok(v)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return anyText(x, ok) })
	case map[string]any:
		for _, x := range v {
			if anyText(x, ok) {
				return true
			}
		}
	}
	return false
}

// HideMarked hides the marks and fields of a card that a finder found, and with them the earlier versions of the card.
func (p *Plan) HideMarked(c Card, m MarkedText) (Card, error) {
	e := Edit{AsWritten: true, HideFields: m.Fields}
	if len(m.spans) > 0 {
		e.Content = &m.whole
		e.Hide = slicesx.Map(m.spans, func(s markup.Span) secrecy.Range { return secrecy.Range{Span: s} })
	}
	if len(m.Fields) > 0 {
		values, err := pickFields(c.Fields, m.Fields)
		if err != nil {
			return Card{}, err
		}
		if e.Fields, err = json.Marshal(values); err != nil {
			return Card{}, fmt.Errorf("canon: hidden fields: %w", err)
		}
	}
	return p.Update(c, e)
}

// undoMarked plans the opposite of a commit of OpHideMarked: its cards are again as they were before it, and the
// marks in their texts hide nothing. The receipt lists what opens. Versions that were hidden stay hidden.
func (p *Plan) undoMarked(rec Record, absent error) error {
	if p.grant.Role() < access.RoleAdmin {
		return fault.New(fault.Denied, "only admins can show these texts again; reveal the parts one by one instead")
	}
	for _, ch := range slices.Backward(rec.Changes) {
		cards, err := p.affectedCards(ch)
		if err != nil {
			return err
		}
		if ch.Card == nil || cards == nil {
			return absent
		}
		c := cards[0]
		if c.Seq != rec.Seq {
			return changedLater(c)
		}
		if ch.Card.Act == ActCreate {
			if err := p.undoCreate(c); err != nil {
				return err
			}
			continue
		}
		before, ok, err := p.versionBefore(c, rec.Seq)
		if err != nil {
			return err
		}
		if !ok || !p.View().Sees(before.Label) {
			return absent
		}
		if err := p.restoreState(c, before); err != nil {
			return err
		}
		if ch.Card.HidePast {
			text, err := p.Text(c)
			if err != nil {
				return err
			}
			p.set.opened = append(p.set.opened, Opened{Card: c.ID, Name: c.Name, Text: text,
				From: c.Label.Meet(access.NewLabel(access.LevelGM)), To: c.Label})
		}
	}
	return nil
}

// restoreState gives a card the text, fields and places of a version, without a comparison with its hidden parts.
func (p *Plan) restoreState(c Card, v Version) error {
	if v.Purged {
		return ruleFault("id", "the content before that change was erased, so it cannot be undone")
	}
	p.dependOn(c)
	text, err := p.Body(p.ctx, v.Content)
	if err != nil {
		return err
	}
	if err := p.writeContent(&c, text, nil); err != nil {
		return err
	}
	c.Fields, c.Places = v.Fields, v.Places
	p.planCard(ActUpdate, &c)
	return nil
}
