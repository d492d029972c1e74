package secrecy

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/markup"
)

// Unsure is a mark in a text of which only its author knows whether it hides: one without its end, or one that looks
// secret.
type Unsure struct {
	Mark  Mark   // of a mark that looks secret
	Sign  string // of a mark without its end
	Line  int    // of the text, from 1
	Text  string // the beginning of the line
	Mixed bool   // which of several signs has no partner is not known: it cannot be told which is text
}

// maxUnsure is the number of marks without an end that are looked for in a text.
const maxUnsure = 20

// FindUnsure returns the unsure marks of a text that the text before did not have, in the order of their lines.
func FindUnsure(was, text string, form Form) []Unsure { return Read(text, form).FindUnsure(was) }

// FindUnsure returns the unsure marks that the text before did not have, in the order of their lines.
func (r *Reading) FindUnsure(was string) (list []Unsure) {
	text, form := r.text, r.form
	if !mayBeUnsure(text, form) || r.isSure() || wholeMarked(text, form) {
		return nil
	}
	now := readUnsure(text, form)
	if len(now.signs)+len(now.doubts) == 0 {
		return nil
	}
	before := readUnsure(was, form)
	signs := map[string]int{}
	for _, at := range before.signs {
		signs[signAt(was, at)]++
	}
	for _, at := range now.signs {
		sign := signAt(text, at)
		if signs[sign]--; signs[sign] >= 0 {
			continue
		}
		u := Unsure{Sign: sign, Mixed: sign == percents && strings.Count(text[at:], percents) > 1}
		u.setLine(text, at)
		list = append(list, u)
	}
	for _, m := range now.order {
		if len(now.doubts[m]) > len(before.doubts[m]) {
			u := Unsure{Mark: m}
			u.setLine(text, now.placeOf(m, was))
			list = append(list, u)
		}
	}
	slices.SortStableFunc(list, func(a, b Unsure) int { return a.Line - b.Line })
	return list
}

func (u *Unsure) setLine(text string, at int) {
	at = min(at, len(text))
	u.Line = 1 + strings.Count(text[:at], "\n")
	line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:at], '\n')+1:], "\n")
	u.Text = markup.Shorten(strings.TrimSpace(line), 80)
}

// unsureMarks are the unsure marks of a text.
type unsureMarks struct {
	text   string // without the signs of the marks without an end
	form   Form
	exact  []span          // the parts that exact marks hide
	signs  []int           // offsets of marks without an end
	doubts map[Mark][]span // the parts whose marks look secret
	beyond map[Mark][]span // parts in other blocks of HTML that these marks would hide too
	order  []Mark          // of doubts
}

const percents = "%%"

// mayBeUnsure reports whether a text has a sign of a mark or a word that looks secret.
func mayBeUnsure(text string, form Form) bool {
	return form == Plain || MayHoldMark(text, form) || form == HTML && mayBeUnsure(text, Markdown) ||
		form == Markdown && (strings.ContainsAny(text, ":#<!=/|-&") || holdsWide(text))
}

func readUnsure(text string, form Form) unsureMarks {
	u := unsureMarks{text: text, form: form, doubts: map[Mark][]span{}, beyond: map[Mark][]span{}}
	if wholeMarked(text, form) {
		return u
	}
	note := func(m Mark) bool {
		if _, known := u.doubts[m]; m.Doubt && !known && len(u.order) < maxUnsure {
			u.doubts[m], u.order = nil, append(u.order, m)
		}
		return !m.Doubt
	}
	split := func(text string, hides func(Mark) bool) Result {
		return Result{form: form, hides: hides, foreign: form != Markdown}.split(text)
	}
	h := split(text, note)
	if (h.UnclosedAt >= 0 || len(h.loose) > 0) && MayHoldMark(text, form) {
		u.text = Read(text, form).withoutSigns(func(s span) bool {
			u.signs = append(u.signs, s.from)
			return true
		}).text
		h = split(u.text, note)
	}
	u.exact = h.spans()
	if form == Markdown {
		for _, m := range append(textMarks(h.Open), headMarks(text)...) {
			if note(m); m.Doubt {
				u.doubts[m] = []span{{0, len(u.text)}}
			}
		}
	}
	for _, m := range u.order {
		h := split(u.text, func(o Mark) bool { return !o.Doubt || o == m })
		for _, s := range h.spans() {
			if !slices.ContainsFunc(u.exact, func(e span) bool { return e.from <= s.from && s.to <= e.to }) {
				u.doubts[m] = append(u.doubts[m], s)
			}
		}
	}
	if form != Markdown {
		u.addForeign()
	}
	return u
}

// placeOf returns the offset of a mark that looks secret: of the first whose line the text before does not have.
func (u unsureMarks) placeOf(m Mark, before string) int {
	first := -1
	for _, s := range u.doubts[m] {
		at := s.from + len(u.text[s.from:s.to]) - len(strings.TrimLeft(u.text[s.from:s.to], " \t\n"))
		if first < 0 {
			first = at
		}
		if line, _, _ := strings.Cut(u.text[at:], "\n"); !strings.Contains(before, line) {
			return at
		}
	}
	if s := u.doubts[m]; len(s) == 1 && s[0] == (span{0, len(u.text)}) {
		return max(0, strings.Index(u.text, strings.TrimSuffix(m.What, "::")))
	}
	return max(first, 0)
}

// signAt returns the sign with which a mark without an end begins.
func signAt(text string, at int) string {
	rest := text[at:]
	if strings.HasPrefix(rest, percents) {
		return percents
	}
	line, _, _ := strings.Cut(rest, "\n")
	for _, sign := range []string{"<!--", ">!"} {
		if strings.HasPrefix(rest, sign) {
			return sign
		}
	}
	if m := bracketField.FindString(line); m != "" {
		return m
	}
	if i := strings.IndexAny(line, ">]}"); i >= 0 && strings.IndexByte("<[&{", line[0]) >= 0 {
		line = line[:i+1]
	}
	return strings.TrimRight(markup.Clip(line, 60), " \t\r")
}

// MarkUnsure puts comments around the parts of a text whose marks look secret, for a conversion that keeps only exact
// marks.
func MarkUnsure(text string, form Form, list []Unsure) string {
	spans := UnsureSpans(text, form, list)
	for _, s := range slices.Backward(spans) {
		wrapped, grown := wrap(text, form, span{s.From, s.To})
		if grown == 0 {
			wrapped, _ = wrap(text, form, span{0, len(text)})
		}
		text = wrapped
	}
	return text
}

// UnsureSpans returns the ranges of a text that hide if its unsure marks do, besides those that exact marks hide.
func UnsureSpans(text string, form Form, list []Unsure) (all []markup.Span) {
	u := readUnsure(text, form)
	for _, m := range list {
		for _, s := range slices.Concat(u.doubts[m.Mark], u.beyond[m.Mark]) {
			from, to := trimmed(text, markup.Span{From: s.from, To: s.to})
			all = append(all, markup.Span{From: from, To: to})
		}
		for _, at := range u.signs {
			if m.Sign != "" && signAt(text, at) == m.Sign {
				all = append(all, markup.Span{From: at, To: len(text)})
			}
		}
	}
	slices.SortFunc(all, func(a, b markup.Span) int { return cmp.Compare(a.From, b.From) })
	merged := all[:0]
	for _, s := range all {
		if n := len(merged); n > 0 && s.From < merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, s.To)
		} else if s.From < s.To {
			merged = append(merged, s)
		}
	}
	return merged
}

// stand is the first of the characters that stand for the first bytes of signs during a conversion. They are of
// private use.
const stand = '\ue000'

// MaskUnclosed takes the marks without an end from a text that is going to be converted. UnmaskHTML puts them back as
// text.
func MaskUnclosed(text string, form Form) string {
	if strings.ContainsFunc(text, isStand) || !MayHoldMark(text, form) {
		return text
	}
	var at []int
	Read(text, form).withoutSigns(func(s span) bool {
		at = append(at, s.from)
		return true
	})
	slices.Sort(at)
	for _, i := range slices.Backward(at) {
		if strings.HasPrefix(text[i:], percents) && strings.Count(text, percents) > 1 {
			continue // which of them is text is not known
		}
		text = text[:i] + string(stand+rune(text[i])) + text[i+1:]
	}
	return text
}

func isStand(r rune) bool { return r >= stand && r < stand+0x80 }

// UnmaskHTML puts the signs of MaskUnclosed back into a text that was converted.
func UnmaskHTML(text string) string {
	if !strings.ContainsFunc(text, isStand) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == stand+'<':
			b.WriteString("&lt;")
		case isStand(r):
			b.WriteRune(r - stand)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ClosingSign returns the sign that ends a mark without its end; "" if only its author can tell.
func ClosingSign(sign string) string {
	switch t := readTag(sign); {
	case sign == percents:
		return percents
	case sign == "<!--":
		return "-->"
	case sign == ">!":
		return "!<"
	case bracketField.MatchString(sign):
		return map[byte]string{'[': "]", '(': ")"}[sign[0]]
	case t.name != "":
		return "</" + t.name + ">"
	case strings.HasPrefix(sign, "[") || strings.HasPrefix(sign, "&"):
		if f, ok := forumTagAt(sign, 0); ok {
			return "[/" + f.name + "]"
		}
	case strings.HasPrefix(sign, ":::"), strings.HasPrefix(sign, "///"), strings.HasPrefix(sign, "```"), strings.HasPrefix(sign, "~~~"):
		return sign[:len(sign)-len(strings.TrimLeft(sign, sign[:1]))]
	}
	return ""
}

// HasMark reports whether an exact mark hides a part of a text.
func HasMark(text string, form Form) bool {
	return MayHoldMark(text, form) && len(exactSpans(text, form)) > 0
}

// HasAnyMark is HasMark for a short text, such as a name or a field, that may be read as Markdown or as HTML.
func HasAnyMark(text string) bool { return HasMark(text, Markdown) || HasMark(text, HTML) }

// ExactExample returns a mark that hides in a form of text.
func ExactExample(form Form) string {
	switch form {
	case HTML:
		return `<span class="secret">…</span>`
	case Plain:
		return "[gm]…[/gm]"
	}
	return "%%…%%"
}

// NewMark returns the offset of the first exact mark of a text, read as Markdown or as HTML, that the text before did
// not have. Programs and styles are none.
func NewMark(was, text string) (at int, ok bool) {
	for _, form := range []Form{Markdown, HTML} {
		if !MayHoldMark(text, form) {
			continue
		}
		h := Split(text, form, func(m Mark) bool { return !m.Doubt && !isProgram(m.What) })
		for _, s := range h.spans() {
			if !strings.Contains(was, strings.TrimSpace(text[s.from:s.to])) {
				return firstSign(text, markup.Span{From: s.from, To: s.to}), true
			}
		}
	}
	return 0, false
}

func isProgram(element string) bool {
	return element == "<script>" || element == "<style>" || element == "<template>"
}
