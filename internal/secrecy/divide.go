package secrecy

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Writer divides the texts that somebody writes into their open text and their hidden parts.
type Writer struct {
	Form  Form
	Hides bool          // marks hide; without it they are text
	Label access.Label  // of new parts
	NewID func() string // of new parts
	Spans []markup.Span // ranges of the whole text that are hidden besides those with an exact mark
	// AsWritten keeps the text of parts that have no mark. Otherwise they get a comment around them.
	AsWritten bool
}

// Outcome tells how a written text was divided.
type Outcome struct {
	New, Gone []string // ids of parts
	Ignored   []Mark   // new marks that hide nothing, because the writer may hide nothing
	Hid       bool     // text that was open before is hidden now
}

// Divide divides a whole text that its writer made of the whole text before. Text that is the same as before keeps its
// label, hidden text also where it has lost its mark. New text with an exact mark is hidden. Only the parts of before
// are compared, so that parts which the writer does not see must not be among them.
func (w Writer) Divide(before Text, whole string) (Text, Outcome) {
	if len(w.Spans) == 0 && whole == before.Whole() && len(before.Parts)+len(before.Open) > 0 {
		return before, Outcome{}
	}
	if len(w.Spans)+len(before.Parts) == 0 && !MayHoldMark(whole, w.Form) {
		return Text{Open: whole}, Outcome{}
	}
	d := &division{Writer: w, before: before, was: before.Whole(), text: whole, places: before.Places()}
	d.shared = markup.Shared(d.was, whole)
	d.keepParts()
	d.hideMarks(markup.Span{From: 0, To: len(whole)}, 0)
	for _, s := range w.Spans {
		d.hide(s)
	}
	if len(before.Parts) > 0 {
		d.keepDoubtful()
		d.openAround()
		d.keepLines()
	}
	return d.joinRuns(), d.out
}

// division is the work of Divide.
type division struct {
	Writer
	before Text
	was    string        // the whole text before
	places []markup.Span // of the parts in it
	text   string        // the whole text
	shared []markup.SharedPiece
	owners []int         // by byte of the text, one more than the index of its part; 0: open
	ranges []markup.Span // of the parts of before in the text
	marked []markup.Span // ranges with exact marks that hide
	parts  []Passage     // those of before, then the new ones
	out    Outcome
}

// keepParts finds the parts of before in the text.
func (d *division) keepParts() {
	d.owners = make([]int, len(d.text))
	d.parts = slices.Clone(d.before.Parts)
	d.ranges = make([]markup.Span, len(d.places))
	for i, p := range d.places {
		r := d.follow(p)
		if !strings.ContainsFunc(d.text[r.From:r.To], isWordSign) || !d.hasShared(p) && !d.replaces(p, r) {
			r.To = r.From
		}
		d.ranges[i] = r
		d.fill(r, i+1)
	}
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

// fill gives the open bytes of a range to a part.
func (d *division) fill(r markup.Span, owner int) {
	for i := r.From; i < r.To; i++ {
		if d.owners[i] == 0 {
			d.owners[i] = owner
		}
	}
}

// hideMarks hides the ranges with exact marks in a part of the text. Marks that were open before stay open.
func (d *division) hideMarks(in markup.Span, depth int) {
	text := d.text[in.From:in.To]
	if depth > maxRounds || !MayHoldMark(text, d.Form) {
		return
	}
	for _, s := range exactSpans(text, d.Form) {
		s := markup.Span{From: in.From + s.from, To: in.From + s.to}
		if d.wasOpen(s) {
			continue
		}
		from, to := Peel(d.text[s.From:s.To])
		if head := (markup.Span{From: s.From, To: s.From + from}); from > 0 && d.wasOpen(head) {
			d.hideMarks(markup.Span{From: head.To, To: s.From + to}, depth+1)
			continue
		}
		if !d.Hides {
			d.ignore(s)
			continue
		}
		d.marked = append(d.marked, s)
		d.hide(s)
	}
}

// exactSpans returns the ranges of a text that exact marks hide.
func exactSpans(text string, form Form) []span {
	if wholeMarked(text, form) {
		return []span{{0, len(text)}}
	}
	h := Split(text, form, isExactMark)
	return h.spans()
}

func isExactMark(m Mark) bool { return !m.Doubt }

// wholeMarked reports whether a Markdown text has an exact mark that is about all of it, such as the tag #gm.
func wholeMarked(text string, form Form) bool {
	return form == Markdown && slices.ContainsFunc(textMarks(text), isExactMark)
}

// spans returns the ranges of the parts in the text that was split.
func (h Result) spans() []span {
	all := make([]span, len(h.Parts))
	before := 0
	for i, p := range h.Parts {
		all[i] = span{before + p.At, before + p.At + len(p.Text)}
		before += len(p.Text)
	}
	return all
}

// wasOpen reports whether a range of the text stood in the text before as it is, and was open.
func (d *division) wasOpen(s markup.Span) bool {
	for _, m := range d.shared {
		if s.From < m.B || s.To > m.B+m.Len {
			continue
		}
		at := m.A + s.From - m.B
		return !slices.ContainsFunc(d.places, func(p markup.Span) bool { return p.From < at+s.To-s.From && at < p.To })
	}
	return false
}

func (d *division) ignore(s markup.Span) {
	for i := s.From; i < s.To; i++ {
		if d.owners[i] != 0 {
			return // it is hidden anyway
		}
	}
	d.out.Ignored = append(d.out.Ignored, Mark{Rule: ruleBlock, What: markup.Shorten(d.text[s.From:s.To], 60)})
}

// hide hides a range: as a part of the first hidden part in it, as a part that stood elsewhere, or as a new one.
func (d *division) hide(s markup.Span) {
	owner := 0
	for i := s.From; i < s.To && owner == 0; i++ {
		owner = d.owners[i]
	}
	if owner > len(d.before.Parts) || owner == 0 {
		if moved := d.movedPart(d.text[s.From:s.To]); moved != 0 {
			owner = moved
		}
	}
	if owner == 0 {
		d.parts = append(d.parts, Passage{ID: d.NewID(), Label: d.Label})
		owner = len(d.parts)
		d.out.New = append(d.out.New, d.parts[owner-1].ID)
	}
	if !d.out.Hid {
		d.out.Hid = d.hidesOpen(s)
	}
	d.fill(s, owner)
}

// movedPart returns the owner for a text that is the one of a part which is nowhere in the text any more; 0 if there is
// none.
func (d *division) movedPart(text string) int {
	text = strings.TrimSpace(text)
	for i, p := range d.before.Parts {
		if strings.TrimSpace(p.Text) == text && !slices.Contains(d.owners, i+1) {
			return i + 1
		}
	}
	return 0
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

// keepDoubtful hides the ranges whose mark only looks secret, and which are hidden parts already: new text in them is
// secret too.
func (d *division) keepDoubtful() {
	h := Split(d.text, d.Form, func(Mark) bool { return true })
	for _, s := range h.spans() {
		first := s.from + len(d.text[s.from:s.to]) - len(strings.TrimLeft(d.text[s.from:s.to], " \t\n"))
		if first < s.to && d.owners[first] > 0 && d.owners[first] <= len(d.before.Parts) {
			d.fill(markup.Span{From: s.from, To: s.to}, d.owners[first])
		}
	}
}

// openAround opens the text that replaced a part with a mark, where the mark stands in it still and the rest has no
// word of the part.
func (d *division) openAround() {
	for i, r := range d.ranges {
		owner := i + 1
		if !slices.ContainsFunc(d.marked, func(s markup.Span) bool { return r.From <= s.From && s.To <= r.To }) {
			continue
		}
		words := wordsOf(d.before.Parts[i].Text)
		at := r.From
		for _, s := range append(slices.Clone(d.marked), markup.Span{From: r.To, To: r.To}) {
			if s.From < at || s.From > r.To {
				continue
			}
			if rest := d.text[at:s.From]; d.mapStart(d.places[i].From) == r.From && !sharesWord(words, rest) {
				for k := at; k < s.From; k++ {
					if d.owners[k] == owner {
						d.owners[k] = 0
					}
				}
			}
			at = s.To
		}
	}
}

// minWord is the number of bytes of a word that tells something of its text.
const minWord = 4

func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !isWordSign(r) }) {
		if len(word) >= minWord {
			all[word] = true
		}
	}
	return all
}

func sharesWord(words map[string]bool, text string) bool {
	for word := range wordsOf(text) {
		if words[word] {
			return true
		}
	}
	return false
}

// keepLines hides the lines of hidden parts, and longer texts in a line, that turn up in open text.
func (d *division) keepLines() {
	open, hidden := map[string]bool{}, map[string]int{}
	for line := range strings.SplitSeq(d.before.Open, "\n") {
		open[strings.TrimSpace(line)] = true
	}
	work := 0
	for i, p := range d.before.Parts {
		from, to := Peel(p.Text)
		for line := range strings.SplitSeq(p.Text+"\n"+p.Text[from:to], "\n") {
			line = strings.TrimSpace(line)
			if open[line] || len(wordsOf(line)) == 0 {
				continue
			}
			hidden[line] = i + 1
			if len(strings.Fields(line)) < minSaid || strings.Contains(d.before.Open, line) {
				continue
			}
			if work += len(d.text); work < maxSought {
				d.keepText(line, i+1)
			}
		}
	}
	at := 0
	for line := range strings.SplitAfterSeq(d.text, "\n") {
		if owner := hidden[strings.TrimSpace(line)]; owner > 0 {
			d.fill(markup.Span{From: at, To: at + len(line)}, owner)
		}
		at += len(line)
	}
}

const (
	minSaid   = 3       // words of a text that is known again in the middle of a line
	maxSought = 1 << 26 // bytes in which such texts are looked for
)

// keepText hides a text wherever it stands.
func (d *division) keepText(text string, owner int) {
	for at := 0; ; {
		i := strings.Index(d.text[at:], text)
		if i < 0 {
			return
		}
		at += i + len(text)
		d.fill(markup.Span{From: at - len(text), To: at}, owner)
	}
}

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
		if owner := d.owners[from]; owner > 0 && strings.TrimSpace(d.text[from:i]) != "" {
			all = append(all, run{markup.Span{From: from, To: i}, owner})
		}
	}
	return all
}

// widen takes the blank into the parts that would show in the open text where they stood: the rest of a line, an empty
// line, a space, an empty element.
func (d *division) widen(runs []run) []run {
	for i := range runs {
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
	bareLine    = regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?[ \t>]*$`)
	openingTag  = regexp.MustCompile(`<(p|li|div|span|blockquote|ul|ol|h[1-6]|em|strong|b|i)(?:\s[^<>]*)?>\s*$`)
	closingForm = regexp.MustCompile(`^\s*</([a-zA-Z0-9]+)\s*>`)
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

// wrapUnmarked puts a comment around the parts that an import would no longer hide.
func (d *division) wrapUnmarked(runs []run) []run {
	if !d.Hides || d.AsWritten {
		return runs
	}
	h := Split(d.text, d.Form, func(Mark) bool { return true })
	covered := h.spans()
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
		for _, wrap := range wrappers[d.Form] {
			text := d.text[:from] + wrap[0] + d.text[from:to] + wrap[1] + d.text[to:]
			end := to + len(wrap[0]) + len(wrap[1])
			again := Split(text, d.Form, isExactMark)
			if slices.Contains(again.spans(), span{from, end}) {
				d.text = text
				grown := end - to
				r.To += grown
				for k := i + 1; k < len(runs); k++ {
					runs[k].From, runs[k].To = runs[k].From+grown, runs[k].To+grown
				}
				for k := range covered {
					if covered[k].from >= to {
						covered[k].from, covered[k].to = covered[k].from+grown, covered[k].to+grown
					}
				}
				break
			}
		}
	}
	return runs
}

// wrappers are the comments that hide a text, by its form.
var wrappers = map[Form][][2]string{
	Markdown: {{"%%", "%%"}, {"<!--", "-->"}, {"%%\n", "\n%%"}, {"<!--\n", "\n-->"}, {`<span class="secret">`, "</span>"}},
	HTML:     {{"<!--", "-->"}, {`<span class="secret">`, "</span>"}, {`<div class="secret">`, "</div>"}},
	Plain:    {{"<!--", "-->"}, {"[gm]", "[/gm]"}},
}

// IsMarked reports whether an import would hide all of a part, by marks that hide or look secret.
func IsMarked(part string, form Form) bool {
	h := Split(part, form, func(Mark) bool { return true })
	return wholeMarked(part, form) || !holdsWords(joinSpans(part, subtractFrom(span{0, len(part)}, h.spans())))
}

// lineBegin matches the beginning of a line that only says where it stands, and a tag.
var lineBegin = regexp.MustCompile(`(?m)<[^<>]*>|^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?`)

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
	from = s.From + len(part) - len(strings.TrimLeft(part, " \t\n"))
	return from, from + len(strings.TrimSpace(part))
}
