package secrecy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
)

// Without returns another text without the words of the parts of t, wherever they stand in it, as far as the open text
// of t does not say them too. Other text stays, also at the places of parts.
func (t Text) Without(text string, form Form) string {
	d := &division{Writer: Writer{Form: form}, before: t, was: t.Whole(), text: text, places: t.Places(),
		owners: make([]int32, len(text)), parts: slices.Clone(t.Parts)}
	d.shared = markup.Shared(d.was, text)
	d.wasHidden = make([]bool, len(d.was))
	for i, p := range d.places {
		for k := p.From; k < p.To; k++ {
			d.wasHidden[k] = true
		}
		d.fillShared(p, i+1)
	}
	d.keepLines()
	var open strings.Builder
	for i := range len(text) {
		if d.owners[i] == 0 {
			open.WriteByte(text[i])
		}
	}
	return open.String()
}

// fillShared hides the pieces of a part in the text: those that are a phrase, or all that the part says.
func (d *division) fillShared(p markup.Span, owner int) {
	least := min(len(wordsIn(d.was[p.From:p.To])), minPhrase)
	for _, m := range d.shared {
		s := markup.Span{From: max(m.A, p.From), To: min(m.A+m.Len, p.To)}
		d.cutToWords(&s, m.B-m.A)
		if s.From < s.To && least > 0 && len(wordsIn(d.was[s.From:s.To])) >= least {
			d.fill(markup.Span{From: s.From + m.B - m.A, To: s.To + m.B - m.A}, owner)
		}
	}
}

// cutToWords leaves the words out of a range of the text before that are cut there, or in the text at a distance.
func (d *division) cutToWords(s *markup.Span, distance int) {
	isCut := func(text string, at int) bool {
		last, _ := utf8.DecodeLastRuneInString(text[:at])
		next, _ := utf8.DecodeRuneInString(text[at:])
		return at > 0 && at < len(text) && isWordSign(last) && isWordSign(next)
	}
	cut := func(at int) bool { return isCut(d.was, at) || isCut(d.text, at+distance) }
	for s.From < s.To && cut(s.From) {
		s.From++
	}
	for s.From < s.To && cut(s.To) {
		s.To--
	}
}
