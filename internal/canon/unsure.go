package canon

import (
	"fmt"
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
	e := &fault.Error{Kind: fault.Rule}
	var marks []UnsureMark
	var said []string
	for _, u := range open[:min(len(open), maxUnsure)] {
		m := UnsureMark{Field: field, Line: u.Line, Text: u.Text, Why: whyUnsure(u), Remedy: remedyOf(u, form)}
		marks = append(marks, m)
		why := fmt.Sprintf("line %d, %q: %s; %s", m.Line, m.Text, m.Why, m.Remedy)
		e.Fields = append(e.Fields, fault.Field{Field: field, Error: why})
		said = append(said, why)
	}
	if more := len(open) - len(marks); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	e.Message = field + ": " + strings.Join(said, "; ")
	return list, e.With(DetailUnsure, marks)
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
