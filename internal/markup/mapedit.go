package markup

import (
	"context"
	"errors"
	"html"
	"strings"
)

// ErrNotExact is returned by MapEdit if no change of the source gives exactly the edited view.
var ErrNotExact = errors.New("the change cannot be mapped exactly onto the text as it is stored")

// A View is the form of a source in another format. Both directions of a View keep links and nests.
type View struct {
	render func(context.Context, string) (string, error) // from the source
	back   func(context.Context, string) (string, error) // to the source
	split  func(string) []textSpan                       // the blocks of a source, in order
	join   string                                        // between the views of two blocks
	gap    string                                        // between two blocks of a source
	tidy   func(string) string                           // puts each block of a view on lines of its own; nil if that is so
}

// textSpan is a byte range.
type textSpan struct{ start, end int }

// HTMLView shows Markdown as HTML, MarkdownView shows HTML as Markdown.
var HTMLView, MarkdownView = Views(ToHTML, ToMarkdown)

// Views returns the views of Markdown as HTML and of HTML as Markdown that convert by two functions, which do at least
// what ToHTML and ToMarkdown do.
func Views(toHTML, toMarkdown func(context.Context, string) (string, error)) (asHTML, asMarkdown View) {
	asHTML = View{split: splitMarkdown, join: "\n", gap: "\n\n", tidy: tidyHTML, back: toMarkdown,
		render: func(ctx context.Context, source string) (string, error) { return toHTML(ctx, MarkdownToWiki(source)) }}
	return asHTML, View{split: splitHTML, join: "\n\n", gap: "\n", render: toMarkdown, back: toHTML}
}

// Render returns the view of a source. Its errors are those of ToHTML.
func (v View) Render(ctx context.Context, source string) (string, error) {
	return v.render(ctx, source)
}

// Source returns a new source whose view is a text, without an earlier source to keep.
func (v View) Source(ctx context.Context, view string) (string, error) { return v.back(ctx, view) }

// MapEdit returns the source whose view is edited: source with changes only in the blocks where edited
// differs from the source's view, and there only where the text differs. Line ends between the blocks of
// HTML do not count. It returns ErrNotExact if
// there is no such source, for example because the block that changed is written in a way that the
// view does not show. Each result is proved by rendering it.
func (v View) MapEdit(ctx context.Context, source, edited string) (string, error) {
	m := editMapper{view: v, ctx: ctx, source: source}
	if err := m.readBlocks(); err != nil {
		return "", err
	}
	if v.tidy != nil {
		if shown := strings.Join(m.before, "\n"); v.tidy(shown) == shown {
			edited = v.tidy(edited)
		}
	}
	m.after = strings.Split(edited, "\n")
	head, tail := sharedEnds(m.before, m.after)
	x, y := m.before[head:len(m.before)-tail], m.after[head:len(m.after)-tail]
	edits := []edit{{0, len(x), 0, len(y)}}
	if len(x) <= maxDiffLines && len(y) <= maxDiffLines {
		if found, ok := editsOf(numberLines(x, y)); ok {
			edits = found
		}
	}
	var out strings.Builder
	done := 0
	for _, run := range m.runsOf(edits, head) {
		text, at, err := m.mapRun(run)
		if err != nil {
			return "", err
		}
		out.WriteString(source[done:at.start])
		out.WriteString(text)
		done = at.end
	}
	out.WriteString(source[done:])
	return out.String(), nil
}

// editMapper maps the edits of a view onto its source.
type editMapper struct {
	view   View
	ctx    context.Context // of the call of MapEdit
	source string
	blocks []viewBlock
	before []string // lines of the view
	after  []string // lines of the edited view
}

// viewBlock is a block of the source with the lines of the view that show it, from first to last,
// exclusive.
type viewBlock struct {
	textSpan
	first, last int
}

// blockRun is a run of blocks, from and to exclusive, whose lines become other ones. Without blocks, new
// lines come before the block at from.
type blockRun struct {
	from, to    int
	first, last int // of the lines of the edited view
}

// readBlocks splits the source into blocks. It returns ErrNotExact if the views of the blocks, one after
// the other, are not the view of the source.
func (m *editMapper) readBlocks() error {
	whole, err := m.view.render(m.ctx, m.source)
	if err != nil {
		return err
	}
	var views []string
	line := 0
	for _, span := range m.view.split(m.source) {
		shown, err := m.view.render(m.ctx, m.source[span.start:span.end])
		if err != nil {
			return err
		}
		if shown == "" {
			continue
		}
		if len(views) > 0 {
			line += strings.Count(m.view.join, "\n") - 1
		}
		views = append(views, shown)
		lines := strings.Count(shown, "\n") + 1
		m.blocks = append(m.blocks, viewBlock{span, line, line + lines})
		line += lines
	}
	if strings.Join(views, m.view.join) != whole {
		return ErrNotExact
	}
	m.before = strings.Split(whole, "\n")
	return nil
}

// runsOf returns the runs of blocks that edits of lines touch. The edits count from a line.
func (m *editMapper) runsOf(edits []edit, head int) (runs []blockRun) {
	at := 0
	shift := 0 // of a line of the edited view against the same line before
	for _, e := range edits {
		e.a1, e.a2, e.b1, e.b2 = e.a1+head, e.a2+head, e.b1+head, e.b2+head
		for at < len(m.blocks) && m.blocks[at].last <= e.a1 {
			at++
		}
		r := blockRun{from: at, to: at, first: e.b1, last: e.b2}
		for r.to < len(m.blocks) && (m.blocks[r.to].first < e.a2 || m.blocks[r.to].first < e.a1) {
			r.to++
		}
		if r.to > r.from {
			r.first = min(r.first, m.blocks[r.from].first+shift)
			r.last = max(r.last, m.blocks[r.to-1].last-e.a2+e.b2)
		}
		shift = e.b2 - e.a2
		if n := len(runs); n > 0 && (runs[n-1].to > r.from || runs[n-1].last > r.first) {
			runs[n-1].to, runs[n-1].last = max(runs[n-1].to, r.to), max(runs[n-1].last, r.last)
			continue
		}
		runs = append(runs, r)
	}
	return runs
}

// mapRun returns the text that takes the place of a range of the source.
func (m *editMapper) mapRun(r blockRun) (text string, at textSpan, err error) {
	if r.last > len(m.after) || r.first > r.last { // the last block ends with lines that the view joins with others
		return "", at, ErrNotExact
	}
	fresh := strings.Trim(strings.Join(m.after[r.first:r.last], "\n"), "\n")
	if r.from == r.to {
		return m.mapNewBlocks(r.from, fresh)
	}
	at = textSpan{m.blocks[r.from].start, m.blocks[r.to-1].end}
	if fresh == "" {
		return "", m.withGap(at), nil
	}
	old := m.source[at.start:at.end]
	shown := strings.Trim(strings.Join(m.before[m.blocks[r.from].first:m.blocks[r.to-1].last], "\n"), "\n")
	for _, candidate := range []func(old, shown, fresh string) (string, bool, error){m.mapWords, m.mapCanonical} {
		if text, ok, err := candidate(old, shown, fresh); err != nil || ok {
			return text, at, err
		}
	}
	return "", at, ErrNotExact
}

// withGap extends a range that is removed over the white space after it, or before it at the end.
func (m *editMapper) withGap(at textSpan) textSpan {
	rest := m.source[at.end:]
	if after := len(rest) - len(strings.TrimLeft(rest, "\n")); after < len(rest) {
		at.end += after
	} else {
		at.start = len(strings.TrimRight(m.source[:at.start], "\n"))
	}
	return at
}

// mapNewBlocks returns the source of new blocks before the block with a number.
func (m *editMapper) mapNewBlocks(before int, fresh string) (string, textSpan, error) {
	at := textSpan{}
	if before > 0 {
		at.start = m.blocks[before-1].end
	}
	at.end = at.start
	if fresh == "" {
		return "", at, nil
	}
	text, err := m.sourceOfBlocks(fresh)
	switch {
	case err != nil:
		return "", at, err
	case before > 0:
		return m.view.gap + text, at, nil
	case len(m.blocks) > 0:
		return text + m.view.gap, at, nil
	}
	return text, textSpan{len(m.source), len(m.source)}, nil
}

// sourceOfBlocks returns the source of new blocks: as the converter writes it, or as it is given, which
// is exact for much HTML in Markdown. A line of words becomes a paragraph.
func (m *editMapper) sourceOfBlocks(fresh string) (string, error) {
	written, err := m.view.back(m.ctx, fresh)
	if err != nil {
		return "", err
	}
	for _, text := range []string{written, fresh} {
		shown, err := m.view.render(m.ctx, text)
		if err != nil {
			return "", err
		}
		if shown == fresh || shown == "<p>"+fresh+"</p>" || text == fresh && sameLines(shown, fresh) {
			return text, nil
		}
	}
	return "", ErrNotExact
}

// sameLines reports whether two texts differ only in blank lines and white space at the ends of lines.
func sameLines(a, b string) bool {
	lines := func(s string) (all []string) {
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
		return all
	}
	return strings.Join(lines(a), "\n") == strings.Join(lines(b), "\n")
}

// mapCanonical maps a change of blocks that are written as the converter writes them.
func (m *editMapper) mapCanonical(old, shown, fresh string) (string, bool, error) {
	written, err := m.view.back(m.ctx, shown)
	if err != nil || written != old {
		return "", false, err
	}
	text, err := m.view.back(m.ctx, fresh)
	if err != nil {
		return "", false, err
	}
	ok, err := m.shows(text, fresh)
	return text, ok, err
}

func (m *editMapper) shows(source, view string) (bool, error) {
	shown, err := m.view.render(m.ctx, source)
	return shown == view, err
}

// maxPlaces is the maximum number of places of a text that mapWords tries, and maxTried that of the
// bytes that it renders for them.
const (
	maxPlaces = 16
	maxTried  = 256 << 10
)

// mapWords maps a change of one piece of text: it looks for that piece in the source.
func (m *editMapper) mapWords(old, shown, fresh string) (string, bool, error) {
	from, to := wordsBetween(shown, fresh)
	tried := 0
	for _, c := range m.wordings(shown[from.start:from.end], fresh[to.start:to.end]) {
		for at, n := 0, 0; n < maxPlaces && tried <= maxTried; n++ {
			i := strings.Index(old[at:], c.was)
			if i < 0 {
				break
			}
			at += i
			text := old[:at] + c.is + old[at+len(c.was):]
			tried += len(text)
			if ok, err := m.shows(text, fresh); err != nil || ok {
				return text, ok, err
			}
			at += max(1, len(c.was))
		}
	}
	return "", false, nil
}

// wording is a change of words as it may stand in the source.
type wording struct{ was, is string }

// wordings returns the forms in which a change of a view may stand in its source.
func (m *editMapper) wordings(was, is string) (list []wording) {
	add := func(was, is string) {
		if was != "" {
			list = append(list, wording{was, is})
		}
	}
	wasBack, err1 := m.view.back(m.ctx, was)
	isBack, err2 := m.view.back(m.ctx, is)
	keep := func(text, of string) string { // the converter trims
		lead := of[:len(of)-len(strings.TrimLeft(of, " "))]
		if strings.TrimSpace(of) == "" {
			return of
		}
		return lead + text + of[len(strings.TrimRight(of, " ")):]
	}
	if err1 == nil && err2 == nil {
		add(keep(wasBack, was), keep(isBack, is))
	}
	add(html.UnescapeString(was), html.UnescapeString(is))
	add(was, is)
	return list
}

// contextSize is the number of bytes around an insertion by which it is found in the source.
const contextSize = 24

// wordsBetween returns the ranges in which two texts differ, extended to whole tags and, if nothing was
// there before, by some text around.
func wordsBetween(a, b string) (from, to textSpan) {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	head = outOfTag(a, b, head)
	for tail > 0 && (startsInside(a[len(a)-tail:]) || !isRuneStart(a[len(a)-tail])) {
		tail--
	}
	if len(a)-tail <= head { // an insertion
		least := max(0, head-contextSize)
		for head > least && !strings.ContainsRune("<>\n&;", rune(a[head-1])) {
			head--
		}
		for head > 0 && head < len(a) && !isRuneStart(a[head]) {
			head--
		}
		if len(a)-tail <= head {
			for n := 0; n < contextSize && tail > 0 && !strings.ContainsRune("<>\n&;", rune(a[len(a)-tail])); n++ {
				tail--
			}
			for tail > 0 && !isRuneStart(a[len(a)-tail]) {
				tail--
			}
		}
	}
	return textSpan{head, len(a) - tail}, textSpan{head, len(b) - tail}
}

func isRuneStart(c byte) bool { return c&0xc0 != 0x80 }

// outOfTag moves an offset up to which two texts are equal before the tag, entity or character that it
// splits.
func outOfTag(a, b string, at int) int {
	for _, s := range []string{a, b} {
		if open := strings.LastIndexByte(s[:at], '<'); open >= 0 && !strings.Contains(s[open:at], ">") {
			at = open
		}
		if amp := strings.LastIndexByte(s[:at], '&'); amp >= at-longestEntity && amp >= 0 && !strings.ContainsAny(s[amp:at], "; ") {
			at = amp
		}
		for at > 0 && at < len(s) && !isRuneStart(s[at]) {
			at--
		}
	}
	return at
}

// startsInside reports whether a text begins inside a tag or an entity.
func startsInside(s string) bool {
	closing := strings.IndexByte(s, '>')
	open := strings.IndexByte(s, '<')
	if closing >= 0 && (open < 0 || closing < open) {
		return true
	}
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	return end >= 0 && !strings.ContainsAny(s[:end], "& \n")
}
