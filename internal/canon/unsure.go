package canon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
	"loregate/internal/slicesx"
)

// DetailUnsure is the detail of a fault with the marks of a text of which only its author knows whether they hide.
const DetailUnsure = "unsure_marks"

// UnsureMark is one of these marks.
type UnsureMark struct {
	Field  string `json:"field"`
	Line   int    `json:"line"`
	Text   string `json:"text"` // the beginning of the line
	Why    string `json:"why"`
	Remedy string `json:"remedy"`
}

// maxUnsure is the number of marks that a fault names.
const maxUnsure = 5

// Settle returns a text that is going to be converted, with its unsure marks as the call answers: an author who
// hides parts of texts is asked about those that the text before did not have. was returns that text in the same
// form; nil if there is none. Settled puts the signs that are text back after the conversion.
func Settle(g access.Grant, field string, was func() (string, error), text string, kind TextKind) (string, error) {
	form, ok := FormOf(kind)
	if !ok || g.View().Level < access.LevelGM || len(secrecy.FindUnsure("", text, form)) == 0 {
		return text, nil
	}
	before := ""
	if was != nil {
		var err error
		if before, err = was(); err != nil {
			return "", err
		}
	}
	list, err := unsureMarks(g, field, before, form, secrecy.Read(text, form))
	switch {
	case err != nil:
		return "", err
	case g.Request().Unsure == access.UnsureHides:
		return secrecy.MarkUnsure(text, form, list), nil
	}
	return secrecy.MaskUnclosed(text, form), nil
}

// OpenPart returns the part of a Markdown text that everybody may read, with its unsure marks as the call answers. was
// is the open part before, and hid reports whether text of it is hidden now.
func OpenPart(g access.Grant, field, was, text string) (open string, hid bool, err error) {
	if g.View().Level < access.LevelGM {
		return text, false, nil
	}
	ids := 0
	w := secrecy.Writer{Form: secrecy.Markdown, Hides: true, Label: access.NewLabel(access.LevelGM),
		NewID: func() string { ids++; return strconv.Itoa(ids) }, Read: secrecy.Read(text, secrecy.Markdown),
		TextSigns: g.Request().Unsure == access.UnsureText}
	spans, err := unsureSpans(g, field, was, text, w.Form, w.Read)
	w.Ranges = secrecy.Ranges(spans)
	now, out := w.Divide(secrecy.Text{Open: was}, text)
	return now.Open, out.Hid, err
}

// Settled returns a text that Settle has settled, after its conversion.
func Settled(text string) string { return secrecy.UnmaskHTML(text) }

// unsureSpans returns the ranges of a text that hide because the call says so of its unsure marks.
func unsureSpans(g access.Grant, field, was, text string, form secrecy.Form, read *secrecy.Reading) ([]markup.Span,
	error) {
	list, err := unsureMarks(g, field, was, form, read)
	if err != nil || g.Request().Unsure != access.UnsureHides {
		return nil, err
	}
	return secrecy.UnsureSpans(text, form, list), nil
}

// unsureMarks returns the new unsure marks of a text, or a fault if the call has no answer about them.
func unsureMarks(g access.Grant, field, was string, form secrecy.Form, read *secrecy.Reading) ([]secrecy.Unsure,
	error) {
	list := read.FindUnsure(was)
	open := slicesx.Filter(list, func(u secrecy.Unsure) bool {
		return g.Request().Unsure == access.UnsureRefused || g.Request().Unsure == access.UnsureText && u.Mixed
	})
	if len(open) == 0 {
		return list, nil
	}
	var marks []UnsureMark
	for _, u := range open {
		marks = append(marks, UnsureMark{Field: field, Line: u.Line, Text: u.Text, Why: whyUnsure(u),
			Remedy: remedyOf(u, form)})
	}
	return list, unsureFault(marks)
}

// unsureFault returns the fault of marks of which only their author knows whether they hide; nil if there are none.
func unsureFault(all []UnsureMark) error {
	if len(all) == 0 {
		return nil
	}
	e := &fault.Error{Kind: fault.Rule}
	marks := all[:min(len(all), maxUnsure)]
	var said []string
	for _, m := range marks {
		why := fmt.Sprintf("line %d, %q: %s; %s", m.Line, m.Text, m.Why, m.Remedy)
		e.Fields = append(e.Fields, fault.Field{Field: m.Field, Error: why})
		said = append(said, why)
	}
	if more := len(all) - len(marks); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	e.Message = marks[0].Field + ": " + strings.Join(said, "; ")
	return e.With(DetailUnsure, marks)
}

func whyUnsure(u secrecy.Unsure) string {
	switch {
	case u.Mixed:
		return "one of the signs " + u.Sign + " has no partner, so that it is not known which text they hide"
	case u.Sign != "":
		return "the mark " + u.Sign + " has no end, so that it is not known how much it hides"
	}
	return "this looks secret (" + u.Mark.Rule + " " + u.Mark.What + "), and hides nothing"
}

func remedyOf(u secrecy.Unsure, form secrecy.Form) string {
	closing := secrecy.ClosingSign(u.Sign)
	switch {
	case u.Mixed:
		return "close it, or write the one that is text as code"
	case closing != "":
		return "close it with " + closing
	case u.Sign != "":
		return "close it"
	}
	return "write " + secrecy.ExactExample(form) + " around it to hide it"
}

// FirstUnsure returns the first mark in a new text of a card that the text before did not have, and of which it is not
// known whether it hides, or that hides nothing in cards of the type; nil if there is none.
func (p *Plan) FirstUnsure(c, before Card, text string) (*UnsureMark, error) {
	typ, err := p.Type(p.ctx, c.Type)
	if err != nil {
		return nil, err
	}
	was := ""
	if before.TextKind() != TextFile {
		if was, err = p.Text(before); err != nil {
			return nil, err
		}
	}
	form, ok := FormOf(c.TextKind())
	if ok = ok && p.readsMarks(c, typ); !ok {
		if at, found := secrecy.NewMark(was, text); found {
			return newMarkIn(c, text, at), nil
		}
	}
	list := secrecy.FindUnsure(was, text, secrecy.Markdown) // notes are written as Markdown, also those of HTML
	if ok && form != secrecy.Markdown {
		list = append(secrecy.FindUnsure(was, text, form), list...)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return &UnsureMark{Line: list[0].Line, Text: list[0].Text, Why: whyUnsure(list[0])}, nil
}

// newMarkIn returns the mark at an offset of a text in which marks hide nothing.
func newMarkIn(c Card, text string, at int) *UnsureMark {
	line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:at], '\n')+1:], "\n")
	return &UnsureMark{Field: "content", Line: 1 + strings.Count(text[:at], "\n"), Text: markup.Shorten(line, 80),
		Why:    "marks hide nothing in a card of type " + c.Type,
		Remedy: "write it into a card of its own with level gm"}
}

// checkNoMarks returns a fault if a game master writes a new mark into a text in which no mark hides, such as that of a
// list, and the call has no answer about it.
func (p *Plan) checkNoMarks(c, before Card, typ Type, e Edit) error {
	if p.View().Level < access.LevelGM || onlyMasters(c.Label) || e.AsWritten || e.Undivided || p.readsMarks(c, typ) ||
		p.grant.Request().Unsure == access.UnsureText || c.Places != nil || c.TextKind() == TextFile {
		return nil
	}
	was := ""
	if !before.ID.IsZero() {
		var err error
		if was, err = p.Text(before); err != nil {
			return err
		}
	}
	text := *e.Content
	if HoldsTags(c.Key) {
		if err := p.checkNoTagMarks(was, text); err != nil {
			return err
		}
		was, text = tagLines.Replace(was), tagLines.Replace(text)
	}
	at, ok := secrecy.NewMark(was, text)
	if !ok {
		return nil
	}
	return unsureFault([]UnsureMark{*newMarkIn(c, text, at)})
}

// checkNoneAdded returns a fault if a game master writes new text under marks that were opened, which hide nothing
// since, or into a part that named readers are told, and the call does not say that it is text for them.
func (p *Plan) checkNoneAdded(text string, out secrecy.Outcome) error {
	if p.grant.Request().Unsure == access.UnsureText {
		return nil
	}
	added := func(why string) func(secrecy.Mark) UnsureMark {
		return func(m secrecy.Mark) UnsureMark {
			line, _, _ := strings.Cut(m.What, "\n")
			before, _, _ := strings.Cut(text, line)
			return UnsureMark{Field: "content", Line: 1 + strings.Count(before, "\n"), Text: line, Why: why,
				Remedy: "write the new text in a mark of its own to hide it"}
		}
	}
	return unsureFault(append(
		slicesx.Map(out.Ignored, added("the mark around this was opened and hides nothing, also no new text")),
		slicesx.Map(out.Told, added("some readers are told this part, and would read its new text too"))...))
}

// copiedMark is a sentence that is written for everybody, without a mark, and is hidden in a card.
func copiedMark(sentence string, in Card) UnsureMark {
	name := in.Name
	if in.HoldsParts() {
		name = strings.TrimSuffix(name, "+"+in.Part)
	}
	return UnsureMark{Field: "content", Line: 1, Text: markup.Shorten(sentence, 80),
		Why: fmt.Sprintf("this is hidden in %q, and would be open here", name), Remedy: "write a mark around it to hide it"}
}

// tagLines puts tags on lines of their own, without brackets, which could be taken for a mark.
var tagLines = strings.NewReplacer("[[", "\n\n", "]]", "\n\n")

// checkNoTagMarks returns a fault if a list of tags gets one that says that its card is secret.
func (p *Plan) checkNoTagMarks(was, text string) error {
	before := markup.Items(was)
	for i, item := range markup.Items(text) {
		if _, ok := secrecy.SaysHidden(TagPart, markup.Clean(item)); ok && !slices.Contains(before, item) {
			return saysHiddenFault("tags", i+1, item)
		}
	}
	return nil
}

// hidesWhole reports whether a new card is hidden because its name or a field says so, and the call that such marks
// hide.
func (p *Plan) hidesWhole(n NewCard) bool {
	if p.View().Level < access.LevelGM || p.grant.Request().Unsure != access.UnsureHides {
		return false
	}
	fields, err := pickFields(n.Fields, nil)
	for name, v := range fields {
		if _, ok := secrecy.SaysHidden(name, v); ok && err == nil {
			return true
		}
	}
	return secrecy.NameSaysHidden(n.Name)
}

// checkNameMarks returns a fault if a game master gives a card that players read a name with a mark of secrecy, or one
// that looks secret, and the call has no answer about it.
func (p *Plan) checkNameMarks(field string, c Card) error {
	r := p.grant.Request()
	if p.View().Level < access.LevelGM || onlyMasters(c.Label) || r.Unsure == access.UnsureText ||
		!secrecy.HasAnyMark(c.Name) && !(r.TakesAnswer && secrecy.NameSaysHidden(c.Name)) {
		return nil
	}
	return saysHiddenFault(field, 1, c.Name)
}

// saysHiddenFault returns the fault of a name, tag or field that says of a card that it is hidden.
func saysHiddenFault(field string, line int, text string) error {
	return unsureFault([]UnsureMark{{Field: field, Line: line, Text: markup.Shorten(text, 80),
		Why: "this says that the card is secret, and hides nothing", Remedy: "give the card the level gm to hide it"}})
}
