package secrecy

import (
	"slices"
	"strings"
	"unicode"

	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// keepParts finds the parts of before in the text.
func (d *division) keepParts() {
	d.owners = make([]int32, len(d.text))
	d.parts = slices.Clone(d.before.Parts)
	d.ranges = make([]markup.Span, len(d.places))
	for i, p := range d.places {
		r := d.follow(p)
		if !strings.ContainsFunc(d.text[r.From:r.To], isWordSign) || !d.hasShared(p) && !d.replaces(p, r) {
			r.To = r.From
		}
		d.ranges[i] = r
		for _, s := range d.withoutOpen(r) {
			d.fill(s, i+1)
		}
	}
}

// withoutOpen returns a range of the text without the words that stood in the open text before.
func (d *division) withoutOpen(r markup.Span) (left []markup.Span) {
	if d.wasHidden == nil {
		d.wasHidden = make([]bool, len(d.was))
		for _, p := range d.places {
			for i := p.From; i < p.To; i++ {
				d.wasHidden[i] = true
			}
		}
	}
	kept := make([]bool, r.To-r.From) // bytes that stood in the text before
	var open []markup.Span
	for _, m := range d.shared {
		for from, to := max(m.B, r.From), min(m.B+m.Len, r.To); from < to; {
			end := from
			for end < to && !d.wasHidden[m.A+end-m.B] {
				end++
			}
			if strings.ContainsFunc(d.text[from:end], isWordSign) {
				open = append(open, markup.Span{From: from, To: end})
			}
			for ; from < to && from <= end; from++ {
				kept[from-r.From] = true
			}
		}
	}
	open = append(open, d.movedAround(r, kept)...)
	slices.SortFunc(open, func(a, b markup.Span) int { return a.From - b.From })
	for _, s := range open {
		if s.From > r.From {
			left = append(left, markup.Span{From: r.From, To: s.From})
		}
		r.From = max(r.From, s.To)
	}
	return append(left, r)
}

// movedAround returns the longer texts in a range that stood in the open text before, and seem new because hidden
// text has moved past them.
func (d *division) movedAround(r markup.Span, kept []bool) (open []markup.Span) {
	isNew := false
	for i, k := range kept {
		isNew = isNew || !k && isWordSign(rune(d.text[r.From+i]))
	}
	if !isNew {
		return nil
	}
	if d.sharedOpen == nil {
		d.sharedOpen = markup.Shared(d.before.Open, d.text)
	}
	for _, m := range d.sharedOpen {
		s := markup.Span{From: max(m.B, r.From), To: min(m.B+m.Len, r.To)}
		if s.From < s.To && len(wordsIn(d.text[s.From:s.To])) >= minSaid &&
			!slices.Contains(kept[s.From-r.From:s.To-r.From], true) {
			open = append(open, s)
		}
	}
	return open
}

// Follow returns the ranges in a text of ranges of the text before.
func Follow(was, text string, ranges []markup.Span) []markup.Span {
	d := division{was: was, text: text, shared: markup.Shared(was, text)}
	return slicesx.Map(ranges, d.follow)
}

// follow returns the range in the text of a range of the text before.
func (d *division) follow(p markup.Span) markup.Span {
	from := d.mapStart(p.From)
	return markup.Span{From: from, To: max(from, d.mapEnd(p.To))}
}

// mapStart returns the place in the text of the start of a range of the text before.
func (d *division) mapStart(at int) (place int) {
	for _, m := range d.shared {
		if at < m.A {
			break
		}
		if at < m.A+m.Len {
			return m.B + at - m.A
		}
		place = m.B + m.Len
	}
	return place
}

// mapEnd returns the place in the text of the end of a range of the text before.
func (d *division) mapEnd(at int) int {
	for _, m := range d.shared {
		if at <= m.A {
			return m.B
		}
		if at <= m.A+m.Len {
			return m.B + at - m.A
		}
	}
	return len(d.text)
}

// hasShared reports whether a word of a range of the text before is in the text.
func (d *division) hasShared(p markup.Span) bool {
	for _, m := range d.shared {
		from, to := max(m.A, p.From), min(m.A+m.Len, p.To)
		if from < to && strings.ContainsFunc(d.was[from:to], isWordSign) {
			return true
		}
	}
	return false
}

// replaces reports whether a range of the text stands where a part stood, and only there.
func (d *division) replaces(p, r markup.Span) bool {
	return d.mapEnd(p.From) == r.From && d.mapStart(p.To) == r.To
}

func isWordSign(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// wasOpen reports whether a range of the text stood in the text before as it is, and was open.
func (d *division) wasOpen(s markup.Span) bool {
	if d.Anew {
		return false
	}
	for _, m := range d.shared {
		if s.From < m.B || s.To > m.B+m.Len {
			continue
		}
		at := m.A + s.From - m.B
		return !slices.ContainsFunc(d.places, func(p markup.Span) bool { return p.From < at+s.To-s.From && at < p.To })
	}
	return false
}

// holdsNew reports whether a range holds words of a part, or open ones, that the text before did not have.
func (d *division) holdsNew(s markup.Span, owner int) bool {
	at := s.From
	isNew := func(to int) bool {
		for ; at < to; at++ {
			if d.owners[at] == int32(owner) && isWordSign(rune(d.text[at])) {
				return true
			}
		}
		return false
	}
	for _, m := range d.shared {
		if m.B+m.Len <= at || m.B >= s.To {
			continue
		}
		if isNew(m.B) {
			return true
		}
		at = m.B + m.Len
	}
	return isNew(s.To)
}

// hidesOpen reports whether a range holds words that were open before.
func (d *division) hidesOpen(s markup.Span) bool {
	for _, m := range d.shared {
		for from, to := max(m.B, s.From), min(m.B+m.Len, s.To); from < to; from++ {
			if at := m.A + from - m.B; d.owners[from] == 0 && isWordSign(rune(d.was[at])) && d.isOpenBefore(at) {
				return true
			}
		}
	}
	return false
}

func (d *division) isOpenBefore(at int) bool {
	return !slices.ContainsFunc(d.places, func(p markup.Span) bool { return p.From <= at && at < p.To })
}
