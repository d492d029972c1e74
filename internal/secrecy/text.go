package secrecy

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Text is a text with parts that are hidden from some of its readers. Its whole text is the open text with the
// parts at their places.
type Text struct {
	Open  string
	Parts []Passage // by place, then order
}

// Passage is a hidden part of a text.
type Passage struct {
	ID    string
	Label access.Label
	At    int    // its offset in the open text
	Order int    // among the parts at one place
	Text  string // as written, with its mark and the blank that the open text does not need
	Lost  bool   // the block that it followed is gone
	Signs Signs  // of a comment, without which the text is because its reader may see it
}

// Whole returns the whole text.
func (t Text) Whole() string {
	if len(t.Parts) == 0 {
		return t.Open
	}
	n := len(t.Open)
	for _, p := range t.Parts {
		n += len(p.Text)
	}
	var b strings.Builder
	b.Grow(n)
	at := 0
	for _, p := range t.Parts {
		b.WriteString(t.Open[at:p.At])
		b.WriteString(p.Text)
		at = p.At
	}
	b.WriteString(t.Open[at:])
	return b.String()
}

// Places returns the range of each part in the whole text.
func (t Text) Places() []markup.Span {
	all := make([]markup.Span, len(t.Parts))
	before := 0
	for i, p := range t.Parts {
		all[i] = markup.Span{From: before + p.At, To: before + p.At + len(p.Text)}
		before += len(p.Text)
	}
	return all
}

// Sort brings the parts into the order in which they stand in the text.
func (t Text) Sort() {
	slices.SortStableFunc(t.Parts, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
}

// Relocate moves parts whose places count in was to their places in open: each stays after the block that it
// followed. If that block is gone, it comes to the end of its section and is Lost.
func Relocate(was, open string, parts []Passage) []Passage {
	if was == open || len(parts) == 0 {
		return parts
	}
	parts = slices.Clone(parts)
	shared := markup.Shared(was, open)
	for i := range parts {
		p := &parts[i]
		at, kept := placeAfter(shared, p.At)
		if !kept && strings.TrimSpace(was[:p.At]) != "" {
			at, p.Lost = sectionEnd(was, open, shared, p.At), true
		}
		beginsLine := p.At == 0 || was[p.At-1] == '\n'
		isInLine := !strings.HasSuffix(p.Text, "\n") && p.At < len(was) && was[p.At] != '\n'
		if beginsLine && (p.Lost || !isInLine || at > 0 && open[at-1] != '\n') {
			at = p.toLine(open, at)
		}
		p.At = at
	}
	return parts
}

// placeAfter returns the offset in the second text after the text that stands before an offset in the first. kept
// reports whether a part of the line before it is there.
func placeAfter(shared []markup.SharedPiece, at int) (place int, kept bool) {
	for _, m := range shared {
		switch {
		case m.A >= at:
			return place, kept
		case m.A+m.Len >= at:
			return m.B + at - m.A, true
		}
		place, kept = m.B+m.Len, false
	}
	return place, kept
}

// sectionEnd returns the end of the section of open in which a place of was would be.
func sectionEnd(was, open string, shared []markup.SharedPiece, at int) int {
	from := 0
	for line := at; line > 0; {
		line = strings.LastIndexByte(was[:line-1], '\n') + 1
		if head := was[line:at]; strings.HasPrefix(head, "#") {
			head, _, _ = strings.Cut(head, "\n")
			if i := strings.Index(open, head); i >= 0 && (i == 0 || open[i-1] == '\n') {
				from = i + len(head)
				break
			}
		}
	}
	if from == 0 {
		from, _ = placeAfter(shared, at)
	}
	if i := strings.Index(open[from:], "\n#"); i >= 0 {
		return from + i + 1
	}
	return len(open)
}

// toLine returns the start of the line at or after a place, with a line end for the part where the text has none.
func (p *Passage) toLine(open string, at int) int {
	if at > 0 && open[at-1] != '\n' {
		if i := strings.IndexByte(open[at:], '\n'); i >= 0 {
			at += i + 1
		} else {
			at, p.Text = len(open), "\n"+p.Text
		}
	}
	if at < len(open) && !strings.HasSuffix(p.Text, "\n") {
		p.Text += "\n"
	}
	return at
}
