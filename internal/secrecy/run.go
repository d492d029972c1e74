package secrecy

import (
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// run is a range of the text that belongs to one part.
type run struct {
	markup.Span
	owner int
}

// joinRuns makes the text of the owners of its bytes.
func (d *division) joinRuns() Text {
	runs := d.widen(d.runs())
	runs = d.wrapUnmarked(runs)
	var t Text
	var open strings.Builder
	at, used := 0, map[int]bool{}
	for _, r := range runs {
		open.WriteString(d.text[at:r.From])
		p := d.parts[r.owner-1]
		if used[r.owner] {
			p.ID = d.NewID()
			d.out.New = append(d.out.New, p.ID)
		}
		used[r.owner] = true
		if i := r.owner - 1; i >= len(d.before.Parts) || p.At != open.Len() || p.ID != d.before.Parts[i].ID {
			p.Lost = false
		}
		p.At, p.Text = open.Len(), d.text[r.From:r.To]
		t.Parts = append(t.Parts, p)
		at = r.To
	}
	open.WriteString(d.text[at:])
	t.Open = open.String()
	for i, p := range d.before.Parts {
		if !used[i+1] {
			d.out.Gone = append(d.out.Gone, p.ID)
		}
	}
	orderParts(t.Parts, d.before.Parts)
	return t
}

// orderParts gives the parts at one place ascending orders. Those of before keep theirs where they can, because parts
// that the writer does not see stand between them.
func orderParts(parts, before []Passage) {
	const gap = 1024
	known := map[string]int{}
	for _, p := range before {
		known[p.ID] = p.Order
	}
	for i := range parts {
		last := 0
		if i > 0 && parts[i-1].At == parts[i].At {
			last = parts[i-1].Order
		}
		if order, ok := known[parts[i].ID]; ok && order > last {
			parts[i].Order = order
			continue
		}
		parts[i].Order = last + gap
		if i+1 < len(parts) && parts[i+1].At == parts[i].At {
			if next, ok := known[parts[i+1].ID]; ok && next > last+1 {
				parts[i].Order = last + (next-last)/2
			}
		}
	}
}

func (d *division) runs() (all []run) {
	for i := 0; i < len(d.owners); {
		from := i
		for i < len(d.owners) && d.owners[i] == d.owners[from] {
			i++
		}
		r := run{markup.Span{From: from, To: i}, int(d.owners[from])}
		if d.Form == HTML && r.owner > 0 {
			keepTags(d.text, &r.Span)
			text := d.text[r.From:r.To]
			if o := r.owner - 1; o < len(d.before.Parts) && d.before.Parts[o].Text != text && !IsMarked(text, HTML) {
				leaveTags(d.text, &r.Span)
			}
		}
		if r.owner > 0 && r.From < r.To && strings.TrimSpace(d.text[r.From:r.To]) != "" {
			all = append(all, r)
		}
	}
	return all
}

// bareTag matches a tag without attributes.
var bareTag = lazyregexp.New(`^</?[a-zA-Z0-9]+\s*/?>`)

// keepTags takes the tags without attributes out of a range that it cuts.
func keepTags(text string, s *markup.Span) {
	if at := strings.LastIndexByte(text[:s.From], '<'); at >= 0 {
		if tag := bareTag.FindString(text[at:]); at+len(tag) > s.From {
			s.From = min(at+len(tag), s.To)
		}
	}
	if at := strings.LastIndexByte(text[s.From:s.To], '<'); at >= 0 {
		if tag := bareTag.FindString(text[s.From+at:]); s.From+at+len(tag) > s.To {
			s.To = s.From + at
		}
	}
}

var (
	tagAtEnd   = lazyregexp.New(`</[a-zA-Z0-9]+\s*>\s*$`)
	tagAtStart = lazyregexp.New(`^\s*<[a-zA-Z0-9]+(?:\s[^<>]*)?>`)
)

// leaveTags takes tags out of the ends of a range that does not hold their partners.
func leaveTags(text string, s *markup.Span) {
	for s.From < s.To && !isBalanced(text[s.From:s.To]) {
		inner := text[s.From:s.To]
		if tag := tagAtEnd.FindStringIndex(inner); tag != nil && isBalanced(inner[:tag[0]]) {
			s.To = s.From + tag[0]
		} else if tag := tagAtStart.FindStringIndex(inner); tag != nil && isBalanced(inner[tag[1]:]) {
			s.From += tag[1]
		} else {
			return
		}
	}
}

// widen takes the blank into the parts that would show in the open text where they stood: the rest of a line, an
// empty line, a space, an empty element.
func (d *division) widen(runs []run) []run {
	for i := range runs {
		if o := runs[i].owner - 1; o < len(d.ranges) && runs[i].Span == d.ranges[o] {
			continue // it has its blank
		}
		low, high := 0, len(d.text)
		if i > 0 {
			low = runs[i-1].To
		}
		if i+1 < len(runs) {
			high = runs[i+1].From
		}
		if d.Form == HTML {
			widenElement(d.text, &runs[i].Span, low, high)
		}
		if !widenLine(d.text, &runs[i].Span, low, high) {
			widenSpace(d.text, &runs[i].Span, low, high)
		}
	}
	return runs
}

var (
	bareLine    = lazyregexp.New(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?[ \t>]*$`)
	openingTag  = lazyregexp.New(`<(p|li|div|span|blockquote|ul|ol|h[1-6]|em|strong|b|i)(?:\s[^<>]*)?>\s*$`)
	closingForm = lazyregexp.New(`^\s*</([a-zA-Z0-9]+)\s*>`)
)

// widenElement takes in the elements that hold nothing else.
func widenElement(text string, s *markup.Span, low, high int) {
	for {
		opens := openingTag.FindStringSubmatchIndex(strings.ToLower(text[low:s.From]))
		closes := closingForm.FindStringSubmatchIndex(strings.ToLower(text[s.To:high]))
		if opens == nil || closes == nil ||
			!strings.EqualFold(text[low+opens[2]:low+opens[3]], text[s.To+closes[2]:s.To+closes[3]]) {
			return
		}
		s.From, s.To = low+opens[0], s.To+closes[1]
	}
}

// widenLine takes in the rest of the lines that hold nothing else, and one of the empty lines around them.
func widenLine(text string, s *markup.Span, low, high int) bool {
	from := strings.LastIndexByte(text[:s.From], '\n') + 1
	to := s.To
	if to == 0 || text[to-1] != '\n' {
		if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(text)
		}
	}
	if from < low || to > high || !bareLine.MatchString(text[from:s.From]) || strings.TrimSpace(text[s.To:to]) != "" {
		return false
	}
	s.From, s.To = from, to
	above := strings.TrimRight(text[:from], " \t")
	blankAbove := above == "" || strings.HasSuffix(above, "\n\n")
	line, _, _ := strings.Cut(text[to:], "\n")
	switch {
	case to < len(text) && strings.TrimSpace(line) == "" && blankAbove && to+len(line) < high:
		s.To = min(to+len(line)+1, high)
	case to == len(text) && strings.HasSuffix(above, "\n\n"):
		s.From = max(len(strings.TrimRight(above, " \t\n"))+1, low)
	}
	return true
}

// widenSpace takes in a space before or after a part in a line.
func widenSpace(text string, s *markup.Span, low, high int) {
	atEnd := s.To == len(text) || strings.IndexByte(" \t\n.,;:!?)|<", text[s.To]) >= 0
	switch {
	case s.From > low && text[s.From-1] == ' ' && atEnd:
		s.From--
	case (s.From == 0 || text[s.From-1] == '\n') && s.To < high && text[s.To] == ' ':
		s.To++
	}
}
