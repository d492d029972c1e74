package secrecy

import (
	"strings"

	"loregate/internal/markup"
)

// OpenMarks returns the ranges of the whole text with exact marks that hide nothing: they begin in the open text.
// Of marks within others it returns the outermost. A sign without its end is text.
func (t Text) OpenMarks(form Form) (all []markup.Span) {
	if !MayHoldMark(t.Open, form) {
		return nil
	}
	whole := t.Whole()
	places := t.Places()
	for _, s := range Read(whole, form).withoutSigns(func(span) bool { return true }).exactSpans() {
		s := markup.Span{From: s.from, To: s.to}
		if at := firstSign(whole, s); at < s.To && !isWithin(places, at) {
			all = append(all, s)
		}
	}
	return all
}

// firstSign returns the offset of the first sign in a range of a text that is not blank; the end if there is none.
func firstSign(text string, s markup.Span) int {
	return s.To - len(strings.TrimLeft(text[s.From:s.To], " \t\n"))
}

func isWithin(ranges []markup.Span, at int) bool {
	for _, r := range ranges {
		if r.From <= at && at < r.To {
			return true
		}
	}
	return false
}

// TracedMark is the mark of the text before from which a mark of a text comes.
type TracedMark struct {
	Span   markup.Span // of the whole text before
	Was    bool        // it was a mark there; the rest is zero if not
	Hidden bool        // in a hidden part
}

// TraceMarks finds marks of a text in t, the text before it: each is the mark that began there at its place, or has
// the same text elsewhere.
func (t Text) TraceMarks(form Form, text string, marks []markup.Span) []TracedMark {
	d := division{Writer: Writer{Form: form}, was: t.Whole(), text: text, places: t.Places(), marks: map[int]markup.Span{}}
	d.shared = markup.Shared(d.was, text)
	d.findMarks(markup.Span{From: 0, To: len(d.was)}, 0)
	before := map[int]markup.Span{} // by their first sign
	for _, s := range d.marks {
		before[firstSign(d.was, s)] = s
	}
	all := make([]TracedMark, len(marks))
	for i, s := range marks {
		at := firstSign(text, s)
		for _, m := range d.shared {
			if m.B <= at && at < m.B+m.Len {
				all[i].Span, all[i].Was = before[m.A+at-m.B]
			}
		}
		if !all[i].Was {
			core := strings.TrimSpace(text[s.From:s.To])
			if at := strings.Index(d.was, core); at >= 0 {
				all[i].Span, all[i].Was = markup.Span{From: at, To: at + len(core)}, true
			}
		}
		if all[i].Was {
			all[i].Hidden = isWithin(d.places, firstSign(d.was, all[i].Span))
		}
	}
	return all
}
