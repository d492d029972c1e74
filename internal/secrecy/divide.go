package secrecy

import (
	"hash/maphash"
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
	Form   Form
	Hides  bool          // marks hide; without it they are text
	Label  access.Label  // of new parts
	NewID  func() string // of new parts
	Ranges []Range       // of the whole text, hidden besides those with an exact mark
	// AsWritten keeps the text of parts that have no mark. Otherwise they get a comment around them.
	AsWritten bool
	// TextSigns makes marks without an end text. Otherwise they hide the rest of the text.
	TextSigns bool
	// Converted tells that the text before is in another form, so that nothing but its words can be compared.
	Converted bool
	// Anew lets the marks in text that was open hide too.
	Anew bool
}

// Range is a range of a text that is hidden.
type Range struct {
	markup.Span
	Label access.Label // zero: that of new parts
}

// Ranges returns ranges without a label.
func Ranges(spans []markup.Span) []Range {
	return slicesx.Map(spans, func(s markup.Span) Range { return Range{Span: s} })
}

// Outcome tells how a written text was divided.
type Outcome struct {
	New, Gone []string // ids of parts
	Ignored   []Mark   // new marks that hide nothing, because the writer may hide nothing
	Hid       bool     // text that was open before is hidden now
}

// Divide divides a whole text that its writer made of the whole text before. Text that is the same as before keeps
// its label, hidden text also where it has lost its mark. New text with an exact mark is hidden. Only the parts of
// before are compared, so that parts which the writer does not see must not be among them.
func (w Writer) Divide(before Text, whole string) (Text, Outcome) {
	if len(w.Ranges) == 0 && !w.Anew && whole == before.Whole() && len(before.Parts)+len(before.Open) > 0 {
		return before, Outcome{}
	}
	if len(w.Ranges)+len(before.Parts) == 0 && !MayHoldMark(whole, w.Form) {
		return Text{Open: whole}, Outcome{}
	}
	if w.Converted && len(before.Parts) > 0 {
		if text, out, ok := w.divideConverted(before, whole); ok {
			return text, out
		}
	}
	d := &division{Writer: w, before: before, was: before.Whole(), text: whole, places: before.Places()}
	d.shared = markup.Shared(d.was, whole)
	d.scan = whole
	if d.Hides {
		d.scan = withoutSigns(whole, d.Form, func(s span) bool {
			return d.TextSigns || d.wasOpen(markup.Span{From: s.from, To: s.to})
		})
	}
	d.keepParts()
	for _, r := range w.Ranges {
		if d.Label = w.Label; r.Label.Level != access.LevelNone {
			d.Label = r.Label
		}
		d.hide(r.Span)
	}
	d.Label = w.Label
	d.hideMarks(markup.Span{From: 0, To: len(whole)}, 0)
	if len(before.Parts) > 0 {
		d.keepDoubtful()
		d.openAround()
		d.keepLines()
	}
	return d.joinRuns(), d.out
}

// divideConverted divides a text that was converted, with marks around its hidden parts. ok is false if a part of
// before is none of the marked parts.
func (w Writer) divideConverted(before Text, whole string) (t Text, out Outcome, ok bool) {
	d := &division{Writer: w, before: before, text: whole, scan: whole, owners: make([]int32, len(whole)),
		parts: slices.Clone(before.Parts)}
	for _, r := range w.Ranges {
		d.hide(r.Span)
	}
	d.hideMarks(markup.Span{From: 0, To: len(whole)}, 0)
	for i := range before.Parts {
		if !slices.Contains(d.owners, int32(i+1)) {
			return Text{}, Outcome{}, false
		}
	}
	d.keepLines()
	return d.joinRuns(), d.out, true
}

// division is the work of Divide.
type division struct {
	Writer
	before     Text
	was        string        // the whole text before
	places     []markup.Span // of the parts in it
	text       string        // the whole text
	scan       string        // the same without the signs of marks without an end that are text
	shared     []markup.SharedPiece
	owners     []int32              // by byte of the text, one more than the index of its part; 0: open
	ranges     []markup.Span        // of the parts of before in the text
	marked     []markup.Span        // ranges with exact marks that hide
	sharedOpen []markup.SharedPiece // with the open text before; nil: not looked for
	wasHidden  []bool               // by byte of the text before; nil: not looked for
	marks      map[int]bool         // beginnings of the exact marks of the text before; nil: not looked for
	parts      []Passage            // those of before, then the new ones
	out        Outcome
}

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

// fill gives the open bytes of a range to a part.
func (d *division) fill(r markup.Span, owner int) {
	for i := r.From; i < r.To; i++ {
		if d.owners[i] == 0 {
			d.owners[i] = int32(owner)
		}
	}
}

// hideMarks hides the ranges with exact marks in a part of the text. Marks that were open before stay open.
func (d *division) hideMarks(in markup.Span, depth int) {
	text := d.scan[in.From:in.To]
	if depth > maxRounds || !MayHoldMark(text, d.Form) {
		return
	}
	for _, s := range exactSpans(text, d.Form) {
		s := markup.Span{From: in.From + s.from, To: in.From + s.to}
		if d.wasOpen(s) {
			continue
		}
		from, to := Peel(d.text[s.From:s.To])
		if head := (markup.Span{From: s.From, To: s.From + from}); from > 0 && d.wasOpen(head) && d.wasMark(s.From) {
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

func everyMark(Mark) bool { return true }

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

// wasMark reports whether a mark began in the text before at the place that a place in the text had there.
func (d *division) wasMark(at int) bool {
	if d.marks == nil {
		d.marks = map[int]bool{}
		d.findMarks(markup.Span{From: 0, To: len(d.was)}, 0)
	}
	for _, m := range d.shared {
		if m.B <= at && at < m.B+m.Len {
			return d.marks[m.A+at-m.B]
		}
	}
	return false
}

// findMarks notes the beginnings of the exact marks in a range of the text before, also within others.
func (d *division) findMarks(in markup.Span, depth int) {
	text := d.was[in.From:in.To]
	if depth > maxRounds || !MayHoldMark(text, d.Form) {
		return
	}
	for _, s := range exactSpans(text, d.Form) {
		at := in.From + s.from
		d.marks[at] = true
		if from, to := Peel(text[s.from:s.to]); from > 0 {
			d.findMarks(markup.Span{From: at + from, To: at + to}, depth+1)
		}
	}
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
		owner = int(d.owners[i])
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

// movedPart returns the owner for a text that is the one of a part which is nowhere in the text any more; 0 if
// there is none.
func (d *division) movedPart(text string) int {
	text = strings.TrimSpace(text)
	for i, p := range d.before.Parts {
		if (strings.TrimSpace(p.Text) == text || d.Converted && hasMostWords(p.Text, text)) &&
			!slices.Contains(d.owners, int32(i+1)) {
			return i + 1
		}
	}
	return 0
}

// hasMostWords reports whether most of the words of two texts are the same.
func hasMostWords(a, b string) bool {
	all, others := wordsOf(a), wordsOf(b)
	same := 0
	for word := range all {
		if others[word] {
			same++
		}
	}
	return 2*same >= max(len(all), len(others))
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
	h := Split(d.scan, d.Form, everyMark)
	for _, s := range h.spans() {
		first := s.from + len(d.text[s.from:s.to]) - len(strings.TrimLeft(d.text[s.from:s.to], " \t\n"))
		if first < s.to && d.owners[first] > 0 && int(d.owners[first]) <= len(d.before.Parts) {
			d.fill(markup.Span{From: s.from, To: s.to}, int(d.owners[first]))
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
			if rest := d.text[at:s.From]; strings.ContainsFunc(rest, isWordSign) &&
				d.mapStart(d.places[i].From) == r.From && !sharesWord(words, rest) {
				for k := at; k < s.From; k++ {
					if int(d.owners[k]) == owner {
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

// keepLines hides the lines and phrases of hidden parts that turn up in open text, and texts of several words out of
// them. The beginnings of lines, the signs between words and tags do not matter.
func (d *division) keepLines() {
	open := map[string]bool{}
	for line := range strings.SplitSeq(d.before.Open, "\n") {
		open[coreOf(line)] = true
	}
	openWords := sayings{}
	openWords.addAll(d.before.Open)
	lines, said := map[string]int{}, sayings{}
	for i, p := range d.before.Parts {
		from, to := Peel(p.Text)
		for line := range strings.SplitSeq(p.Text+"\n"+p.Text[from:to], "\n") {
			core := coreOf(line)
			if open[core] || len(wordsOf(core)) == 0 {
				continue
			}
			lines[core] = i + 1
			for phrase := range strings.FieldsFuncSeq(withoutTags(line), isPhraseEnd) {
				said.addPhrase(phrase, i+1)
			}
		}
		said.addAll(p.Text[from:to], i+1)
	}
	d.keepSaid(said, openWords)
	at := 0
	for line := range strings.SplitAfterSeq(d.text, "\n") {
		if owner := lines[coreOf(line)]; owner > 0 {
			d.fill(markup.Span{From: at, To: at + len(line)}, owner)
		}
		at += len(line)
	}
}

// coreOf returns a line from its first word to its last, without tags.
func coreOf(line string) string {
	line = lineBegin.ReplaceAllString(withoutTags(strings.NewReplacer("<!--", " ", "-->", " ").Replace(line)), " ")
	return strings.TrimFunc(line, func(r rune) bool { return !isWordSign(r) })
}

func isPhraseEnd(r rune) bool { return strings.ContainsRune(".!?;[]{}|&*_=~%#:", r) }

// Number of words of a text that is known again.
const (
	minPhrase = 3 // of a phrase as a whole
	minSaid   = 5 // out of a longer text
)

// sayings are the texts of several words that a text says, with the owner of each.
type sayings map[uint64]int

// sayingSeed makes the sayings of all texts comparable.
var sayingSeed = maphash.MakeSeed()

// addAll adds all texts of minPhrase to minSaid words; with an owner, those of minSaid words alone.
func (s sayings) addAll(text string, owner ...int) {
	words := wordsIn(text)
	for i := range words {
		for n := minPhrase; n <= minSaid && i+n <= len(words); n++ {
			if len(owner) == 0 {
				s[hashWords(text, words[i:i+n])] = 1
			} else if n == minSaid {
				s[hashWords(text, words[i:i+n])] = owner[0]
			}
		}
	}
}

// addPhrase adds a phrase of few words.
func (s sayings) addPhrase(text string, owner int) {
	if words := wordsIn(text); len(words) >= minPhrase && len(words) < minSaid {
		s[hashWords(text, words)] = owner
	}
}

func hashWords(text string, words []markup.Span) uint64 {
	var h maphash.Hash
	h.SetSeed(sayingSeed)
	for _, w := range words {
		_, _ = h.WriteString(strings.ToLower(text[w.From:w.To])) // never fails
		_ = h.WriteByte(' ')
	}
	return h.Sum64()
}

// wordsIn returns the ranges of the words of a text, without those in tags.
func wordsIn(text string) (words []markup.Span) {
	text = withoutTags(text)
	for i := 0; i < len(text); {
		from := strings.IndexFunc(text[i:], isWordSign)
		if from < 0 {
			break
		}
		from += i
		to := strings.IndexFunc(text[from:], func(r rune) bool { return !isWordSign(r) })
		if i = from + to; to < 0 {
			i = len(text)
		}
		words = append(words, markup.Span{From: from, To: i})
	}
	return words
}

var anyTag = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)

// withoutTags returns a text of the same length with blanks in place of tags.
func withoutTags(text string) string {
	return anyTag.ReplaceAllStringFunc(text, func(tag string) string { return strings.Repeat(" ", len(tag)) })
}

// keepSaid hides the texts of hidden parts that stand anywhere in the text, and not in the open text before, with
// the new text around them in their line or block.
func (d *division) keepSaid(hidden, open sayings) {
	words := wordsIn(d.text)
	done := 0
	for i := range words {
		for n := minPhrase; n <= minSaid && i+n <= len(words); n++ {
			said := markup.Span{From: words[i].From, To: words[i+n-1].To}
			h := hashWords(d.text, words[i:i+n])
			owner := hidden[h]
			if owner == 0 || open[h] != 0 || said.To <= done {
				continue
			}
			for _, s := range d.withoutOpen(d.blockAround(said)) {
				if s.From < said.To && said.From < s.To {
					d.fill(s, owner)
					done = max(done, s.To)
				}
			}
		}
	}
}

// blockTag matches a tag that begins or ends a block.
var blockTag = regexp.MustCompile(`(?i)</?(?:p|div|li|t[dhr]|h[1-6]|blockquote|[ou]l|table|section|br|hr|pre)\b[^<>]*>`)

// blockAround returns the line of a range, or in HTML its block.
func (d *division) blockAround(said markup.Span) markup.Span {
	block := markup.Span{From: strings.LastIndexByte(d.text[:said.From], '\n') + 1, To: len(d.text)}
	if i := strings.IndexByte(d.text[said.To:], '\n'); i >= 0 {
		block.To = said.To + i
	}
	if tags := blockTag.FindAllStringIndex(d.text[block.From:said.From], -1); len(tags) > 0 {
		block.From += tags[len(tags)-1][1]
	}
	if tag := blockTag.FindStringIndex(d.text[said.To:block.To]); tag != nil {
		block.To = said.To + tag[0]
	}
	return block
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
		r := run{markup.Span{From: from, To: i}, int(d.owners[from])}
		if d.Form == HTML && r.owner > 0 {
			keepTags(d.text, &r.Span)
		}
		if r.owner > 0 && r.From < r.To && strings.TrimSpace(d.text[r.From:r.To]) != "" {
			all = append(all, r)
		}
	}
	return all
}

// bareTag matches a tag without attributes.
var bareTag = regexp.MustCompile(`^</?[a-zA-Z0-9]+\s*/?>`)

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
	h := Split(d.text, d.Form, everyMark)
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

// Marked returns a text in which a mark that an import reads is around every hidden part.
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
	return t
}

// wrap puts a comment around a range of a text, and returns the number of bytes by which it grows: 0 if none hides
// there.
func wrap(text string, form Form, s span) (wrapped string, grown int) {
	for _, signs := range wrappers[form] {
		wrapped := text[:s.from] + signs[0] + text[s.from:s.to] + signs[1] + text[s.to:]
		grown := len(signs[0]) + len(signs[1])
		h := Split(wrapped, form, isExactMark)
		if slices.Contains(h.spans(), span{s.from, s.to + grown}) {
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
	from = s.From + len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
	return from, from + len(strings.TrimSpace(part))
}
