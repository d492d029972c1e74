package secrecy

import (
	"strings"

	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Relabel returns the text with another label for the chosen parts. Parts with the label of the level of users become
// open text, without the signs of a comment. Marks in a chosen part hide there on their own, with the label that the
// part had.
func (t Text) Relabel(form Form, label access.Label, chosen func(Passage) bool, newID func() string) Text {
	var out Text
	var open strings.Builder
	at := 0
	add := func(p Passage, text string) {
		if text != "" {
			p.At, p.Text = open.Len(), text
			out.Parts = append(out.Parts, p)
		}
	}
	for _, p := range t.Parts {
		open.WriteString(t.Open[at:p.At])
		at = p.At
		if !chosen(p) {
			add(p, p.Text)
			continue
		}
		if p.Label.Covers(label) { // nobody more reads it
			p.Label = label
			add(p, p.Text)
			continue
		}
		inner, signs := Unwrap(p.Text)
		isFirst := true
		for _, piece := range pieces(inner, signs == (Signs{}), form) {
			next := p
			if !isFirst {
				next.ID = newID()
			}
			switch {
			case piece.hidden:
				add(next, piece.text)
			case label.Level > access.LevelUser:
				next.Label = label
				add(next, signs.Wrap(piece.text))
			default:
				open.WriteString(piece.text)
				continue
			}
			isFirst = false
		}
	}
	open.WriteString(t.Open[at:])
	out.Open = open.String()
	orderParts(out.Parts, t.Parts)
	return out
}

// piece is a part of a text, hidden by a mark of its own or not.
type piece struct {
	text   string
	hidden bool
}

// pieces returns the pieces of a hidden part: those with marks of their own, and the text between them. isMarked
// tells that the text has its outermost mark, which does not count.
func pieces(text string, isMarked bool, form Form) (all []piece) {
	from, to := 0, len(text)
	if isMarked {
		from, to = Peel(text)
	}
	if strings.TrimSpace(text[to:]) == "" {
		to = len(text)
	}
	d := division{Writer: Writer{Form: form}, text: text[from:to]}
	spans := exactSpans(d.text, form)
	if isMarked && from == 0 && to == len(text) && !holdsWords(joinSpans(text, subtractFrom(span{0, to}, spans))) {
		return []piece{{text, false}} // its mark does not end in it
	}
	runs := slicesx.Map(spans, func(s span) run { return run{markup.Span{From: s.from, To: s.to}, 1} })
	at := 0
	for _, r := range d.widen(runs) {
		if r.From+from > at {
			all = append(all, piece{text[at : r.From+from], false})
		}
		all = append(all, piece{text[r.From+from : r.To+from], true})
		at = r.To + from
	}
	if at < len(text) {
		all = append(all, piece{text[at:], false})
	}
	return all
}
