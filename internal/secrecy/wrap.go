package secrecy

import (
	"slices"
	"strings"
	"unicode"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// wrapUnmarked puts a comment around the parts that an import would no longer hide.
func (d *division) wrapUnmarked(runs []run) []run {
	if !d.Hides || d.AsWritten {
		return runs
	}
	read := d.read
	if read == nil || read.text != d.text {
		read = Read(d.text, d.Form)
	}
	covered := slices.Clone(read.spans())
	if wholeMarked(d.text, d.Form) {
		covered = []span{{0, len(d.text)}}
	}
	for i := range runs {
		r := &runs[i]
		from, to := trimmed(d.text, r.Span)
		if r.owner <= len(d.before.Parts) && strings.TrimSpace(d.before.Parts[r.owner-1].Text) == d.text[from:to] {
			continue // it is as it came in
		}
		if !holdsWords(joinSpans(d.text, subtractFrom(span{from, to}, covered))) {
			continue
		}
		text, grown := wrap(d.text, d.Form, span{from, to})
		d.text = text
		r.To += grown
		for k := i + 1; k < len(runs); k++ {
			runs[k].From, runs[k].To = runs[k].From+grown, runs[k].To+grown
		}
		for k := range covered {
			if covered[k].from >= to {
				covered[k].from, covered[k].to = covered[k].from+grown, covered[k].to+grown
			}
		}
	}
	return runs
}

// Marked returns a text in which a mark that an import reads is around every hidden part. Parts that no mark hides at
// their place, because it is in code, come to the top.
func (t Text) Marked(form Form) Text {
	if len(t.Parts) == 0 {
		return t
	}
	d := &division{Writer: Writer{Form: form, Hides: true}, text: t.Whole()}
	runs := make([]run, len(t.Parts))
	for i, place := range t.Places() {
		runs[i] = run{place, i + 1}
	}
	t.Parts = slices.Clone(t.Parts)
	for i, r := range d.wrapUnmarked(runs) {
		t.Parts[i].Text = d.text[r.From:r.To]
	}
	whole := t.Whole()
	if wholeMarked(whole, form) {
		return t
	}
	hidden := Read(whole, form).spans()
	var top, rest []Passage
	for i, place := range t.Places() {
		from, to := trimmed(whole, place)
		if holdsWords(joinSpans(whole, subtractFrom(span{from, to}, hidden))) {
			top = append(top, t.Parts[i])
		} else {
			rest = append(rest, t.Parts[i])
		}
	}
	for t.Parts = rest; len(top) > 0; top = top[:len(top)-1] {
		t.Parts = slices.Insert(t.Parts, 0, t.atTop(top[len(top)-1], form))
	}
	return t
}

// atTop returns a part as it stands before all of a text, in a mark of its own.
func (t Text) atTop(p Passage, form Form) Passage {
	text, after := strings.TrimSpace(p.Text), "\n\n"
	wrapped, grown := wrap(text+after+t.Whole(), form, span{0, len(text)})
	if p.Text = wrapped[:len(text)+grown] + after; grown == 0 {
		p.Text = Comment(text) + after
	}
	p.At, p.Order = 0, 0
	return p
}

// Comment returns a text as a comment of HTML.
func Comment(text string) string {
	return "<!-- " + endOfComment.Replace(strings.TrimSpace(text)) + " -->"
}

// endOfComment changes the signs that end a comment of HTML.
var endOfComment = strings.NewReplacer("-->", "--&gt;", "--!>", "--!&gt;")

// wrap puts a comment around a range of a text, and returns the number of bytes by which it grows: 0 if none hides
// there.
func wrap(text string, form Form, s span) (wrapped string, grown int) {
	rest := "" // the text that is open besides
	for _, signs := range wrappers[form] {
		wrapped := text[:s.from] + signs[0] + text[s.from:s.to] + signs[1] + text[s.to:]
		grown := len(signs[0]) + len(signs[1])
		h := Split(wrapped, form, isExactMark)
		if slices.Contains(h.spans(), span{s.from, s.to + grown}) {
			return wrapped, grown
		}
		if len(subtractFrom(span{s.from, s.to + grown}, h.spans())) > 0 {
			continue
		}
		if len(rest) == 0 { // a part beside it is hidden too
			h := Split(text, form, isExactMark)
			for _, o := range subtractFrom(span{0, len(text)}, mergeSpans(h.spans(), []span{s})) {
				rest += text[o.from:o.to]
			}
		}
		if h.Open == rest {
			return wrapped, grown
		}
	}
	return text, 0
}

// wrappers are the comments that hide a text, by its form.
var wrappers = map[Form][][2]string{
	Markdown: {{"%%", "%%"}, {"<!--", "-->"}, {"%%\n", "\n%%"}, {"<!--\n", "\n-->"}, {`<span class="secret">`, "</span>"}},
	HTML:     {{"<!--", "-->"}, {`<span class="secret">`, "</span>"}, {`<div class="secret">`, "</div>"}},
	Plain:    {{"<!--", "-->"}, {"[gm]", "[/gm]"}},
}

// IsMarked reports whether an import would hide all of a part, by marks that hide or look secret.
func IsMarked(part string, form Form) bool {
	h := Split(part, form, everyMark)
	return wholeMarked(part, form) || !holdsWords(joinSpans(part, subtractFrom(span{0, len(part)}, h.spans())))
}

// lineBegin matches the beginning of a line that only says where it stands, and a tag.
var lineBegin = lazyregexp.New(`(?m)<[^<>]*>|^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?`)

// holdsWords reports whether a text has more than the beginnings of lines, tags and signs.
func holdsWords(text string) bool {
	return strings.ContainsFunc(text, isWordSign) &&
		strings.ContainsFunc(lineBegin.ReplaceAllString(text, " "), isWordSign)
}

// subtractFrom returns the parts of a span that are in none of others, which are in order.
func subtractFrom(s span, others []span) (left []span) {
	for _, o := range others {
		if o.to <= s.from || o.from >= s.to {
			continue
		}
		if o.from > s.from {
			left = append(left, span{s.from, o.from})
		}
		s.from = o.to
	}
	if s.from < s.to {
		left = append(left, s)
	}
	return left
}

func trimmed(text string, s markup.Span) (from, to int) {
	part := text[s.From:s.To]
	from = s.From + len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
	return from, from + len(strings.TrimSpace(part))
}
