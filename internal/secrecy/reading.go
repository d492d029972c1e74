package secrecy

import (
	"slices"
	"strings"
)

// Reading is a text with its marks, which are read once, when they are needed.
type Reading struct {
	text  string
	form  Form
	exact *Result // the text split by its exact marks
	looks bool    // it has marks that only look secret
	known bool    // it was not read: its writer knows what the marks hide
}

// isSure reports whether each mark of the text has its end and hides for certain.
func (r *Reading) isSure() bool {
	h := r.split()
	if r.form != Markdown && mayBeUnsure(r.text, Markdown) {
		return false
	}
	return !r.looks && h.UnclosedAt < 0 && len(h.loose) == 0 && (r.form != Markdown || len(headMarks(r.text)) == 0 &&
		!slices.ContainsFunc(textMarks(h.Open), func(m Mark) bool { return m.Doubt }))
}

// Read returns a text whose marks are going to be read.
func Read(text string, form Form) *Reading { return &Reading{text: text, form: form} }

// ReadKnown returns a text of whose marks it is known which ranges they hide.
func ReadKnown(text string, form Form, ranges []Range) *Reading {
	h := &Result{UnclosedAt: -1, form: form}
	var open strings.Builder
	at := 0
	spans := make([]span, 0, len(ranges))
	for _, r := range ranges {
		spans = append(spans, span{r.From, r.To})
	}
	for _, s := range mergeSpans(spans, nil) {
		open.WriteString(text[at:s.from])
		h.Parts = append(h.Parts, Part{At: open.Len(), Text: text[s.from:s.to]})
		at = s.to
	}
	h.Open = open.String() + text[at:]
	return &Reading{text: text, form: form, exact: h, known: true}
}

// split splits the text by its exact marks.
func (r *Reading) split() *Result {
	if r.exact == nil {
		h := Split(r.text, r.form, func(m Mark) bool {
			r.looks = r.looks || m.Doubt
			return !m.Doubt
		})
		r.exact = &h
	}
	return r.exact
}

func (r *Reading) exactSpans() []span {
	if wholeMarked(r.text, r.form) {
		return []span{{0, len(r.text)}}
	}
	return r.split().spans()
}

// spans returns the ranges of the text that marks hide, also those that only look secret.
func (r *Reading) spans() []span {
	if exact := r.split().spans(); !r.looks {
		return exact
	}
	h := Split(r.text, r.form, everyMark)
	return h.spans()
}

// exactSpans returns the ranges of a text that exact marks hide.
func exactSpans(text string, form Form) []span { return Read(text, form).exactSpans() }

func isExactMark(m Mark) bool { return !m.Doubt }

func everyMark(Mark) bool { return true }

// HidesWhole reports whether a Markdown text has an exact mark that is about all of it.
func HidesWhole(text string) bool { return wholeMarked(text, Markdown) }

// wholeMarked reports whether a Markdown text has an exact mark that is about all of it, such as the tag #gm.
func wholeMarked(text string, form Form) bool {
	return form == Markdown && slices.ContainsFunc(textMarks(text), isExactMark)
}

// withoutSigns returns the reading of a text of the same length in which marks without an end are none, as far as
// isText accepts the ranges of their signs. Of an odd number of percent signs isText accepts those that have no
// partner.
func (r *Reading) withoutSigns(isText func(span) bool) *Reading {
	text := []byte(r.text)
	blot := func(at int) { text[at] = 'x' }
	for range maxUnsure {
		at := r.split().UnclosedAt
		if at < 0 {
			break
		}
		sign := signAt(r.text, at)
		for sign == percents && !isText(span{at, at + len(sign)}) {
			next := strings.Index(r.text[at+len(sign):], percents)
			if next < 0 {
				return r
			}
			at += len(sign) + next
		}
		if sign != percents && !isText(span{at, at + len(sign)}) {
			break
		}
		blot(at)
		r = Read(string(text), r.form)
	}
	loose := 0
	for _, at := range r.split().loose {
		if isText(span{at, at + len(signAt(r.text, at))}) {
			blot(at)
			loose++
		}
	}
	if loose > 0 {
		return Read(string(text), r.form)
	}
	return r
}
