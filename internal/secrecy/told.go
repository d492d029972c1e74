package secrecy

import (
	"slices"

	"loregate/internal/markup"
)

// cutFromTold makes parts of their own of the marks that are written into a part, or beside it, of which named readers
// are told: the new text is none of it.
func (d *division) cutFromTold() {
	if !d.Hides || !slices.ContainsFunc(d.before.Parts, isTold) {
		return
	}
	for _, s := range d.read.exactSpans() {
		d.cutMarks(markup.Span{From: s.from, To: s.to}, false, 0)
	}
}

// findNewTold notes the new text in the parts that named readers are told: they would read it.
func (d *division) findNewTold() {
	for from := 0; d.Hides && from < len(d.owners); {
		owner, to := d.owners[from], from+1
		for to < len(d.owners) && d.owners[to] == owner {
			to++
		}
		s := markup.Span{From: from, To: to}
		if n := int(owner); n > 0 && n <= len(d.before.Parts) && isTold(d.before.Parts[n-1]) && d.holdsNew(s, n) {
			d.out.Told = append(d.out.Told, Mark{Rule: ruleBlock, What: markup.Shorten(d.text[from:to], 60)})
		}
		from = to
	}
}

func isTold(p Passage) bool { return len(p.Label.Subjects) > 0 }

// cutMarks cuts a range with a mark from a told part, and else the marks in it. A mark that is not within another one is
// that of the part if it has text that was told.
func (d *division) cutMarks(s markup.Span, within bool, depth int) {
	owner := d.toldIn(s)
	if owner == 0 || depth > maxRounds {
		return
	}
	if within || !d.holdsTold(s, owner) {
		d.parts = append(d.parts, Passage{ID: d.NewID(), Label: d.Label})
		d.out.New = append(d.out.New, d.parts[len(d.parts)-1].ID)
		for i := s.From; i < s.To; i++ {
			if d.owners[i] == int32(owner) {
				d.owners[i] = int32(len(d.parts))
			}
		}
		return
	}
	from, to := Peel(d.text[s.From:s.To])
	if from == 0 && to == s.To-s.From {
		return
	}
	inner := d.text[s.From+from : s.From+to]
	if !MayHoldMark(inner, d.Form) {
		return
	}
	for _, m := range exactSpans(inner, d.Form) {
		at := s.From + from
		d.cutMarks(markup.Span{From: at + m.from, To: at + m.to}, true, depth+1)
	}
}

// toldIn returns the owner of the first byte of a range that belongs to a told part; 0 if there is none.
func (d *division) toldIn(s markup.Span) int {
	for i := s.From; i < s.To; i++ {
		if n := int(d.owners[i]); n > 0 && n <= len(d.before.Parts) && isTold(d.before.Parts[n-1]) {
			return n
		}
	}
	return 0
}

// holdsTold reports whether a range has words that its owner had before.
func (d *division) holdsTold(s markup.Span, owner int) bool {
	was := d.places[owner-1]
	for _, m := range d.shared {
		from, to := max(m.A, was.From, m.A+s.From-m.B), min(m.A+m.Len, was.To, m.A+s.To-m.B)
		if from < to && holdsWords(d.was[from:to]) {
			return true
		}
	}
	return false
}
