package record

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/marked"
	"loregate/internal/secrecy"
)

// Texts are the texts of a card in Markdown.
type Texts struct {
	Whole  string // for game masters with a mark around each hidden part
	Open   string
	Hidden string   // the hidden parts
	Fields string   // the hidden fields, each in a paragraph
	Left   []string // names of hidden fields that fewer people see than the game masters, which are left out
}

// ReadTexts returns a card's texts. Of a card that holds the hidden parts of the text above it they are the rest.
func ReadTexts(ctx context.Context, l *canon.Snapshot, c canon.Card) (t Texts, err error) {
	var text secrecy.Text
	form, ok := canon.FormOf(c.TextKind())
	if c.Places != nil {
		text.Open, err = l.Beside(ctx, c)
	} else if text, err = l.WholeText(ctx, c); err == nil && l.View().Level < access.LevelGM {
		text = secrecy.Text{Open: text.Whole()}
	}
	if err != nil {
		return t, err
	}
	if ok {
		text = text.Marked(form)
	}
	if c.Places == nil && l.View().Level >= access.LevelGM {
		if err := t.readFields(ctx, l, c); err != nil {
			return t, err
		}
	}
	var hidden []string
	for _, p := range text.Parts {
		hidden = append(hidden, p.Text)
	}
	for to, text := range map[*string]string{&t.Whole: text.Whole(), &t.Open: text.Open,
		&t.Hidden: strings.Join(hidden, "\n\n")} {
		if c.TextKind() == canon.TextHTML && text != "" {
			if text, err = marked.ToMarkdown(ctx, text); err != nil {
				return t, err
			}
		}
		*to = text
	}
	return t, nil
}

// readFields adds the hidden fields of a card.
func (t *Texts) readFields(ctx context.Context, l *canon.Snapshot, c canon.Card) error {
	all, err := l.HiddenFields(ctx, c)
	for _, f := range all {
		if f.Label.Level > max(c.Label.Level, access.LevelGM) {
			t.Left = append(t.Left, f.Name)
			continue
		}
		t.Fields = Joined(t.Fields, f.Name+": "+f.Text)
	}
	return err
}

// addFields adds the fields of a card that the game master keeps beside the text above it. Objects, which are data for
// programs, are left out.
func (t *Texts) addFields(c canon.Card) error {
	var all map[string]json.RawMessage
	if len(c.Fields) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.Fields, &all); err != nil {
		return err
	}
	for _, name := range decoded.SortedKeys(all) {
		var text string
		switch {
		case c.Places != nil && slices.Contains(c.Places.Fields, name): // of the card above
		case all[name][0] == '{':
			t.Left = append(t.Left, name)
		case json.Unmarshal(all[name], &text) == nil:
			t.Fields = Joined(t.Fields, name+": "+text)
		default:
			t.Fields = Joined(t.Fields, name+": "+string(all[name]))
		}
	}
	return nil
}

// marksOfRecords are the marks that an import of records reads in every form.
var marksOfRecords = [][2]string{{"[secret]\n", "\n[/secret]"}, {"[gm]\n", "\n[/gm]"}, {"<!--\n", "\n-->"}}

// For returns what to write in a format whose import reads texts in a form, after the function read has joined them:
// the text with the hidden parts at their places, if their marks hide them there; else the open text. Hidden parts
// without a place and hidden fields are in a mark of their own. Those that no mark of the format hides are left out; ok
// reports whether there are none.
func (t Texts) For(form Form, read func(text, hidden string) string) (text, hidden string, ok bool) {
	if strings.TrimSpace(t.Hidden+t.Fields) == "" {
		return t.Whole, "", true
	}
	shown := func(text, hidden string) string { // the words that players read
		h := secrecy.Split(read(text, hidden), form.markForm(), func(m secrecy.Mark) bool { return !m.Doubt })
		return secrecy.WordsOf(h.Open)
	}
	open := shown(t.Open, "")
	text, rest := t.Whole, t.Fields
	if shown(t.Whole, "") != open {
		text, rest = t.Open, Joined(t.Hidden, t.Fields)
	}
	if rest == "" {
		return text, "", true
	}
	for _, signs := range marksOfRecords {
		hidden := signs[0] + strings.TrimSpace(rest) + signs[1]
		if shown(text, hidden) == open {
			return text, hidden, true
		}
	}
	return text, "", false
}

// Joined returns a text with hidden parts at its end, for formats that have one text for both.
func Joined(text, hidden string) string {
	return strings.TrimSpace(strings.TrimSpace(text) + "\n\n" + hidden)
}

// ProblemLeftOut returns the problem of a card whose hidden parts an export leaves out.
func ProblemLeftOut(c canon.Card) exchange.Problem {
	return exchange.Problem{File: c.Name,
		Why: "its hidden parts or fields are left out, because no mark of this format holds them"}
}

// ReportLeft reports the hidden fields of a card that an export leaves out.
func (t Texts) ReportLeft(sum *exchange.Summary, c canon.Card) {
	if len(t.Left) > 0 {
		sum.Problems = append(sum.Problems, exchange.Problem{File: c.Name,
			Why: "its hidden fields are left out: " + strings.Join(t.Left, ", ")})
	}
}

// LabelOf returns the label that an export wrote, as a text, for a card or link that players do not see, or nil. One
// that cannot be read is the GM's.
func LabelOf(written any) *access.Label {
	text := decoded.TextOf(written)
	if written == nil || text == access.LevelUser.String() {
		return nil
	}
	label := access.NewLabel(access.LevelGM)
	if err := label.UnmarshalText([]byte(text)); err != nil || label.Level < access.LevelGM {
		label = access.NewLabel(access.LevelGM)
	}
	return &label
}

// Narrow gives a record's card the label that an export wrote for it.
func (r *Card) Narrow(written any) {
	label := LabelOf(written)
	if label == nil {
		return
	}
	r.Level = max(r.Level, label.Level)
	for _, subject := range label.Subjects {
		r.Readers = append(r.Readers, string(subject))
	}
}

// extension is the member of extensions, which several formats of JSON have, with what an export adds to a card.
const extension = "loregate"

// Visibility returns the label that SetVisibility wrote to an object with extensions, or nil.
func Visibility(object map[string]any) any {
	extensions, _ := object["extensions"].(map[string]any)
	own, _ := extensions[extension].(map[string]any)
	return own["visibility"]
}

// SetVisibility writes the label of a card that players do not see to an object with extensions.
func SetVisibility(object map[string]any, label access.Label) {
	extensions, _ := object["extensions"].(map[string]any)
	if label.Level == access.LevelUser && extensions[extension] == nil {
		return
	}
	if extensions = maps.Clone(extensions); extensions == nil {
		extensions = map[string]any{}
	}
	if delete(extensions, extension); label.Level > access.LevelUser {
		extensions[extension] = map[string]any{"visibility": label.String()}
	}
	object["extensions"] = extensions
}
