package secrecy

import (
	"slices"
	"strings"

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
	// Read is the whole text with its marks; nil if they were not read before.
	Read *Reading
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
	Told      []Mark   // new text in parts that named readers are told
	Hid       bool     // text that was open before is hidden now
}

// Divide divides a whole text that its writer made of the whole text before. Text that is the same as before keeps
// its label, hidden text also where it has lost its mark. New text with an exact mark is hidden. Only the parts of
// before are compared, so that parts which the writer does not see must not be among them.
func (w Writer) Divide(before Text, whole string) (Text, Outcome) {
	if len(w.Ranges) == 0 && !w.Anew && whole == before.Whole() && len(before.Parts)+len(before.Open) > 0 {
		return before, Outcome{}
	}
	if len(w.Ranges)+len(before.Parts) == 0 && (w.Read != nil && w.Read.known || !MayHoldMark(whole, w.Form)) {
		return Text{Open: whole}, Outcome{}
	}
	if w.Converted && len(before.Parts) > 0 {
		if text, out, ok := w.divideConverted(before, whole); ok {
			return text, out
		}
	}
	d := &division{Writer: w, before: before, was: before.Whole(), text: whole, places: before.Places()}
	d.shared = markup.Shared(d.was, whole)
	if d.read = w.Read; d.read == nil {
		d.read = Read(whole, d.Form)
	}
	if d.Hides {
		d.read = d.read.withoutSigns(func(s span) bool {
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
		d.cutFromTold()
		d.findNewTold()
	}
	return d.joinRuns(), d.out
}

// divideConverted divides a text that was converted, with marks around its hidden parts. ok is false if a part of
// before is none of the marked parts.
func (w Writer) divideConverted(before Text, whole string) (t Text, out Outcome, ok bool) {
	d := &division{Writer: w, before: before, text: whole, read: Read(whole, w.Form),
		owners: make([]int32, len(whole)), parts: slices.Clone(before.Parts)}
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
	read       *Reading      // of it without the signs of marks without an end that are text
	shared     []markup.SharedPiece
	owners     []int32              // by byte of the text, one more than the index of its part; 0: open
	ranges     []markup.Span        // of the parts of before in the text
	marked     []markup.Span        // ranges with exact marks that hide
	sharedOpen []markup.SharedPiece // with the open text before; nil: not looked for
	wasHidden  []bool               // by byte of the text before; nil: not looked for
	marks      map[int]markup.Span  // exact marks of the text before, by their beginnings; nil: not looked for
	parts      []Passage            // those of before, then the new ones
	out        Outcome
}

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
	read := d.read
	if in.To-in.From < len(read.text) {
		text := read.text[in.From:in.To]
		if depth > maxRounds || !MayHoldMark(text, d.Form) {
			return
		}
		read = Read(text, d.Form)
	}
	for _, s := range read.exactSpans() {
		s := markup.Span{From: in.From + s.from, To: in.From + s.to}
		if d.wasOpen(s) {
			continue
		}
		from, to := Peel(d.text[s.From:s.To])
		if head := (markup.Span{From: s.From, To: s.From + from}); from > 0 && d.wasOpen(head) && d.wasMark(s.From) {
			d.hideMarks(markup.Span{From: head.To, To: s.From + to}, depth+1)
			if inner := (markup.Span{From: head.To, To: s.From + to}); d.Hides && d.holdsNew(inner, 0) {
				d.out.Ignored = append(d.out.Ignored, Mark{Rule: ruleBlock, What: markup.Shorten(d.text[s.From:s.To], 60)})
			}
			continue
		}
		if !d.Hides {
			d.ignore(s)
			continue
		}
		d.marked = append(d.marked, s)
		for _, r := range d.withoutWrittenUnder(s) {
			d.hide(r)
		}
	}
}

// wholeLines returns the lines that lie within a range of a text as a whole.
func wholeLines(text string, from, to int) markup.Span {
	if from > 0 && text[from-1] != '\n' {
		from = min(to, from+max(0, strings.IndexByte(text[from:to]+"\n", '\n'))+1)
	}
	if to < len(text) {
		to = max(from, strings.LastIndexByte(text[:to], '\n')+1)
	}
	return markup.Span{From: from, To: to}
}

// withoutWrittenUnder returns a range with a mark without the open text that stood under the same mark before: somebody
// who does not see the mark wrote it there, such as below the last section.
func (d *division) withoutWrittenUnder(s markup.Span) []markup.Span {
	if d.owners[s.From] == 0 || int(d.owners[s.From]) > len(d.before.Parts) {
		return []markup.Span{s}
	}
	var open, was []markup.Span
	head := -1
	for _, m := range d.shared {
		if m.B <= s.From && s.From < m.B+m.Len {
			head = m.A + s.From - m.B
		}
		for from, to := max(m.B, s.From), min(m.B+m.Len, s.To); from < to; from++ {
			end := from
			for end < to && !d.wasHidden[m.A+end-m.B] {
				end++
			}
			if lines := wholeLines(d.text, from, end); strings.ContainsFunc(d.text[lines.From:lines.To], isWordSign) {
				open = append(open, lines)
				was = append(was, markup.Span{From: m.A + lines.From - m.B, To: m.A + lines.To - m.B})
			}
			from = end
		}
	}
	if len(open) == 0 || head < 0 {
		return []markup.Span{s}
	}
	mark := d.marksBefore()[head]
	var left []markup.Span
	for i, r := range open {
		if mark.From <= was[i].From && was[i].To <= mark.To {
			left = append(left, markup.Span{From: s.From, To: r.From})
			s.From = r.To
		}
	}
	return append(left, s)
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

// wasMark reports whether a mark began in the text before at the place that a place in the text had there.
func (d *division) wasMark(at int) bool {
	for _, m := range d.shared {
		if m.B <= at && at < m.B+m.Len {
			_, ok := d.marksBefore()[m.A+at-m.B]
			return ok
		}
	}
	return false
}

// marksBefore returns the exact marks of the text before, by their beginnings.
func (d *division) marksBefore() map[int]markup.Span {
	if d.marks == nil {
		d.marks = map[int]markup.Span{}
		d.findMarks(markup.Span{From: 0, To: len(d.was)}, 0)
	}
	return d.marks
}

// findMarks notes the exact marks in a range of the text before, also within others.
func (d *division) findMarks(in markup.Span, depth int) {
	text := d.was[in.From:in.To]
	if depth > maxRounds || !MayHoldMark(text, d.Form) {
		return
	}
	for _, s := range exactSpans(text, d.Form) {
		at := in.From + s.from
		d.marks[at] = markup.Span{From: at, To: in.From + s.to}
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
		if n := int(d.owners[i]); n > 0 && d.Label.Covers(d.parts[n-1].Label) { // not one that somebody was told
			owner = n
		}
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

// keepDoubtful hides the ranges whose mark only looks secret, and which are hidden parts already: new text in them is
// secret too.
func (d *division) keepDoubtful() {
	for _, s := range d.read.spans() {
		first := s.from + len(d.text[s.from:s.to]) - len(strings.TrimLeft(d.text[s.from:s.to], " \t\n"))
		if first < s.to && d.owners[first] > 0 && int(d.owners[first]) <= len(d.before.Parts) {
			for _, r := range d.withoutWrittenUnder(markup.Span{From: first, To: s.to}) {
				d.fill(r, int(d.owners[first]))
			}
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
			if rest := d.text[at:s.From]; holdsWords(rest) &&
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
