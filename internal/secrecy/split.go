package secrecy

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Result is a text split into its open part and its secrets. The parts at their places in the open
// text give the text again.
type Result struct {
	Open       string // text visible to readers
	Parts      []Part // the secrets, in order
	UnclosedAt int    // offset of an unclosed mark, after which everything is secret; -1 if there is none

	form  Form
	hides func(Mark) bool
	loose []int // offsets of signs without an end that hide nothing more than their line
	round int
	// foreign makes comments of Markdown in HTML marks that look secret: their author may think that they hide.
	foreign bool
}

// Part is a part of a text that was taken out, as written.
type Part struct {
	At   int // its offset in the open text
	Text string
}

// Form is the form of a text, which decides about the marks that it can have.
type Form int

// The forms.
const (
	Markdown Form = iota // with HTML in it
	HTML
	Plain // plain texts, BBCode and wikitext: tags count as those of HTML, but may be words
)

// maxRounds is the number of times that a text is read again because a part was taken out: the text around it may
// be a mark now.
const maxRounds = 4

// span is a part of a text between two offsets; to is exclusive.
type span struct{ from, to int }

// Split separates a text from the secrets in it: those that its format hides from readers, see Rules,
// and those for which hides returns true. Code in Markdown, which readers see, is left alone. If hides is
// nil, only the marks of our own dialect count: comments, secret elements and callouts. The time that it
// takes is linear in the length of the text.
func Split(body string, form Form, hides func(Mark) bool) Result {
	return Result{form: form, hides: hides}.split(body)
}

// split is Split with the form and the marks of h.
func (h Result) split(body string) Result {
	form, hides := h.form, h.hides
	h.Open, h.UnclosedAt = body, -1
	if form == Markdown {
		h.Open = withLineFeeds(body)
	}
	plain, open := h.Open, []span{{0, len(body)}}
	take := func(found []span, unclosed int) {
		if h.UnclosedAt < 0 && unclosed >= 0 {
			h.UnclosedAt = placeIn(open, unclosed)
		}
		if len(found) > 0 {
			open = subtractSpans(open, found)
			h.Open = joinSpans(plain, open)
		}
	}
	for round := 0; ; round++ {
		h.round = round
		before := len(h.Open)
		if form != Markdown {
			found, unclosed := h.findHTML(h.Open)
			take(mergeSpans(found, h.findBrackets(h.Open, nil, found)), unclosed)
		} else if found, unclosed, ok := h.findInMarkdown(h.Open); ok && round < maxRounds {
			take(found, unclosed)
		} else if h.isHidden(Mark{Rule: ruleBlock, What: "unclear nesting", Doubt: hides != nil}) {
			take([]span{{0, len(h.Open)}}, 0)
		}
		if len(h.Open) == before || form != Markdown && round == maxRounds {
			break // the rest has no mark
		}
	}
	h.Open = joinSpans(body, open)
	at, place := 0, 0
	for _, s := range append(open, span{len(body), len(body)}) {
		if s.from > at {
			h.Parts = append(h.Parts, Part{place, body[at:s.from]})
		}
		at, place = s.to, place+s.to-s.from
	}
	return h
}

// findInMarkdown finds the secret parts of a Markdown text. ok is false if its blocks are not sure.
func (h *Result) findInMarkdown(text string) (found []span, unclosed int, ok bool) {
	o, ok := readOutline(text)
	for tries := 0; ok; tries++ {
		readable, unsure := maskMarkdown(o)
		if len(unsure) > 0 {
			if o, ok = readOutline(fillSpans(o.text, unsure)); tries == maxOpenFences {
				return nil, -1, false
			}
			if ok {
				o.text = text
			}
			continue
		}
		found, unclosed = h.findHTML(readable)
		o.readable = readable
		break
	}
	if !ok {
		return nil, -1, false
	}
	bracketed := h.findBrackets(o.readable, o, found)
	if len(found) > 0 {
		// The blocks are those that the author sees: a hidden part is a text in them.
		readable := fillSpans(o.readable, found)
		if o, ok = readOutline(fillSpans(text, found)); !ok {
			return nil, -1, false
		}
		o.readable = readable
	}
	blocks, open := h.findBlocks(o)
	if unclosed < 0 || open >= 0 && open < unclosed {
		unclosed = open
	}
	return mergeSpans(append(found, bracketed...), blocks), unclosed, true
}

// mergeSpans returns the spans of both lists, in order and without overlaps.
func mergeSpans(a, b []span) (all []span) {
	both := append(slices.Clone(a), b...)
	slices.SortFunc(both, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	for _, s := range both {
		if n := len(all); n > 0 && s.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, s.to)
		} else if s.from < s.to {
			all = append(all, s)
		}
	}
	return all
}

// Secret returns all secrets as one text, each on lines of its own.
func (h *Result) Secret() string {
	texts := make([]string, len(h.Parts))
	for i, p := range h.Parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, PartSeparator)
}

// Spans returns the ranges of the secrets in the text.
func (h *Result) Spans() []markup.Span {
	return slicesx.Map(h.spans(), func(s span) markup.Span { return markup.Span{From: s.from, To: s.to} })
}

// Source returns the range in the text of a range of its open part.
func (h *Result) Source(from, to int) markup.Span {
	s := markup.Span{From: from, To: to}
	for _, p := range h.Parts {
		if p.At <= from {
			s.From += len(p.Text)
		}
		if p.At < to {
			s.To += len(p.Text)
		}
	}
	return s
}

// PartSeparator stands between two parts in the text of all secrets.
const PartSeparator = "\n"

// subtractSpans removes spans of the text that joinSpans gives for open from open.
func subtractSpans(open, found []span) (left []span) {
	place := 0 // of the open span in the joined text
	for _, o := range open {
		at := o.from
		for len(found) > 0 && found[0].from < place+o.to-o.from {
			from, to := o.from+max(found[0].from-place, 0), o.from+found[0].to-place
			if from > at {
				left = append(left, span{at, from})
			}
			if at = min(to, o.to); to > o.to {
				break // it goes on in the next open span
			}
			found = found[1:]
		}
		if at < o.to {
			left = append(left, span{at, o.to})
		}
		place += o.to - o.from
	}
	return left
}

// withLineFeeds returns a text of the same length in which no line ends with CR alone, and without a byte order mark.
func withLineFeeds(text string) string {
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		text = "   " + rest
	}
	if !strings.Contains(text, "\r") {
		return text
	}
	b := []byte(text)
	for i, c := range b {
		if c == '\r' && (i+1 == len(b) || b[i+1] != '\n') {
			b[i] = '\n'
		}
	}
	return string(b)
}

// placeIn returns the offset in a text for one in the text that joinSpans gives for open.
func placeIn(open []span, at int) int {
	for _, o := range open {
		if at < o.to-o.from {
			return o.from + at
		}
		at -= o.to - o.from
	}
	return at
}

func joinSpans(text string, spans []span) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, s := range spans {
		b.WriteString(text[s.from:s.to])
	}
	return b.String()
}

// isHidden reports whether a part with the given mark is taken out.
func (h *Result) isHidden(m Mark) bool {
	if h.hides == nil {
		return !m.Doubt
	}
	return h.hides(m)
}
