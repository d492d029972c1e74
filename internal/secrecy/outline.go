package secrecy

import (
	"sort"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// outline is a Markdown text with its blocks, as the programs read them in which game masters write.
type outline struct {
	text   string
	blocks []markup.Block
	// readable is the text without its code, and signs that begin no tag.
	readable string
	soft     []span // fences around text that is no code, and fences without an end
}

// readLines are the lines of a text as the parser of blocks gets them. It knows neither callouts nor admonitions, so
// the beginnings of their lines are written in its terms.
type readLines struct {
	text string
	from []int // by line, its offset in the text
	all  []readLine
	at   []int // by line, its offset in what the parser gets
}

// readLine is a line: a beginning that stands for that of the text, and its rest from an offset on.
type readLine struct {
	begin string
	rest  int // offset in the text
	end   int // of the line in the text, before its line end
}

const (
	maxOpenFences  = 8 // fences in each other, or without an end, that a text may have
	maxAdmonitions = 8 // admonitions in each other
)

// readOutline returns the blocks of a Markdown text. A fence that goes to the end of the text because it has no end is
// left out: marks after it may hide text from some readers. So are the fences of a plugin around text that is no code.
// ok is false for a text whose blocks are not sure.
func readOutline(text string) (o *outline, ok bool) {
	lines := strings.Count(text, "\n") + 1
	l := &readLines{text: text, from: make([]int, 0, lines), all: make([]readLine, 0, lines), at: make([]int, 0, lines)}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		l.from = append(l.from, at)
		l.all = append(l.all, readLine{rest: at, end: at + len(line)})
		at += len(line) + 1
	}
	if strings.Contains(text, "\t") {
		l.expandTabs()
	}
	for n := 0; n < maxAdmonitions && l.quoteAdmonitions(); n++ {
	}
	if strings.Contains(text, "[!") {
		l.headCallouts()
	}
	o = &outline{text: text}
	for range maxOpenFences {
		source := l.join()
		blocks, err := markup.Blocks(source)
		if err != nil {
			return nil, false
		}
		again := false
		for _, b := range blocks {
			isText := strings.HasPrefix(b.Info, "ad-") || !b.Ended && strings.TrimSpace(source[b.To:]) == ""
			if b.Kind != markup.FenceBlock || !isText || secretLanguage(b.Info) != "" {
				continue
			}
			again = true
			first, last := l.lineAt(b.From), l.lineAt(b.To-1)
			o.soft = append(o.soft, span{l.from[first], l.all[last].end})
			l.clear(first)
			if b.Ended {
				l.clear(last)
			}
		}
		if !again {
			for i := range blocks {
				l.place(&blocks[i])
			}
			o.soft = mergeSpans(o.soft, nil)
			o.blocks = blocks
			return o, true
		}
	}
	return nil, false
}

func (l *readLines) lineOf(i int) string { return l.all[i].begin + l.text[l.all[i].rest:l.all[i].end] }

// clear makes a line blank but for the signs of the quotes around it.
func (l *readLines) clear(i int) {
	line := l.lineOf(i)
	n := strings.LastIndexByte(line[:len(line)-len(strings.TrimLeft(line, "> \t"))], '>') + 1
	l.all[i].begin, l.all[i].rest = line[:n], l.all[i].end
}

func (l *readLines) join() string {
	var b strings.Builder
	b.Grow(len(l.text))
	l.at = l.at[:0]
	for _, line := range l.all {
		l.at = append(l.at, b.Len())
		b.WriteString(line.begin)
		b.WriteString(l.text[line.rest:line.end])
		if line.end < len(l.text) {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// lineAt returns the line of an offset in what the parser got.
func (l *readLines) lineAt(at int) int { return max(0, sort.SearchInts(l.at, at+1)-1) }

// offset returns the offset in the text for one in what the parser got.
func (l *readLines) offset(at int) int {
	i := l.lineAt(at)
	line := l.all[i]
	return min(line.rest+max(0, at-l.at[i]-len(line.begin)), line.end)
}

// place gives a block its offsets in the text.
func (l *readLines) place(b *markup.Block) {
	b.From = l.from[l.lineAt(b.From)]
	if last := l.lineAt(b.To - 1); last+1 < len(l.from) {
		b.To = l.from[last+1]
	} else {
		b.To = len(l.text)
	}
	for i, s := range b.Lines {
		b.Lines[i] = markup.Span{From: l.offset(s.From), To: l.offset(s.To)}
	}
}

var beginForm = lazyregexp.New(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`)

// expandTabs writes the tabs at the beginnings of lines as spaces.
func (l *readLines) expandTabs() {
	for i := range l.all {
		line := &l.all[i]
		begin := beginForm.FindString(l.text[line.rest:line.end])
		if !strings.Contains(begin, "\t") {
			continue
		}
		var b strings.Builder
		for _, c := range begin {
			if c != '\t' {
				b.WriteRune(c)
				continue
			}
			for b.WriteByte(' '); b.Len()%4 > 0; {
				b.WriteByte(' ')
			}
		}
		line.begin, line.rest = b.String(), line.rest+len(begin)
	}
}

var admonitionLine = lazyregexp.New(`^((?: {0,3}> ?)*)( *)((?:!!!|\?\?\?|===).*)$`)

// quoteAdmonitions writes the indented lines below admonitions that are not secret as quotes. It reports whether there
// are any.
func (l *readLines) quoteAdmonitions() (found bool) {
	for i := range l.all {
		line := l.lineOf(i)
		if !strings.Contains(line, "!!!") && !strings.Contains(line, "???") && !strings.Contains(line, "===") {
			continue
		}
		m := admonitionLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		sign := admonitionForm.FindStringSubmatch(strings.TrimRight(m[3], " \t\r"))
		if sign == nil || sign[1]+sign[2] == "" {
			continue
		}
		if _, secret := markOfAdmonition(sign[1], sign[2]); secret {
			continue
		}
		found = l.quoteBelow(i, len(m[1]), len(m[2])) || found
	}
	return found
}

// quoteBelow writes the lines below a line as a quote that, after some signs of quotes, are indented by 4 more than it.
func (l *readLines) quoteBelow(i, quotes, indent int) (found bool) {
	for j := i + 1; j < len(l.all); j++ {
		line := l.lineOf(j)
		begin := line[:min(quotes, len(line))]
		rest := line[len(begin):]
		if strings.Trim(begin, "> ")+strings.TrimSpace(rest) == "" {
			if j+1 == len(l.all) {
				return found
			}
			next := l.lineOf(j + 1)
			if !isIndented(next, quotes, indent+4) && strings.Trim(next, "> \t\r") != "" {
				return found
			}
			l.all[j].begin, l.all[j].rest = begin+strings.Repeat(" ", indent)+">", l.all[j].end
			continue
		}
		if !isIndented(line, quotes, indent+4) {
			return found
		}
		found = true
		skip := len(begin) + indent + 4 // of the line as it is read
		begun := len(l.all[j].begin)
		l.all[j].begin = begin + rest[:indent] + "> " + l.all[j].begin[min(skip, begun):]
		l.all[j].rest += max(0, skip-begun)
	}
	return found
}

// isIndented reports whether a line, after some signs of quotes, begins with so many spaces.
func isIndented(line string, quotes, indent int) bool {
	return len(line) > quotes+indent && strings.Trim(line[:quotes], "> ") == "" &&
		strings.TrimLeft(line[quotes:quotes+indent], " ") == ""
}

var calloutLine = lazyregexp.New(`^((?:[ >]|(?:[-*+]|\d{1,9}[.)]) +)*> ?)(\[![^\]\n]{1,200}\].*)$`)

// headCallouts writes the first lines of callouts that are not secret as headings: their title is a block of its own.
func (l *readLines) headCallouts() {
	for i := range l.all {
		line := l.lineOf(i)
		if !strings.Contains(line, "[!") {
			continue
		}
		m := calloutLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if _, marked := markOfCallout(strings.TrimSpace(shown(m[2]))); marked {
			continue
		}
		begun := len(l.all[i].begin)
		l.all[i].begin = m[1] + "###### " + l.all[i].begin[min(len(m[1]), begun):]
		l.all[i].rest += max(0, len(m[1])-begun)
	}
}

// isSoft reports whether an offset is in a fence around text that is no code, but not the offset from.
func (o *outline) isSoft(at, from int) bool {
	i := sort.Search(len(o.soft), func(i int) bool { return o.soft[i].from > at }) - 1
	return i >= 0 && at < o.soft[i].to && (from < o.soft[i].from || from >= o.soft[i].to)
}

// filling stands for hidden parts: a text without words.
const filling = "\x01"

// fillSpans returns a text of the same length in which spans are filled with it, so that its blocks stay as they are. A
// line within a span begins as the span's first one.
func fillSpans(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	filled := []byte(text)
	start, begin := 0, beginOf(text, 0) // of the line
	at := 0
	for _, s := range spans {
		for ; at < s.from; at++ {
			if text[at] == '\n' {
				start, begin = at+1, beginOf(text, at+1)
			}
		}
		first := begin
		column := max(0, len(begin)-(s.from-start)) // of the beginning of the line, which stays
		for isFirst := true; at < s.to; at++ {
			switch {
			case text[at] == '\n':
				isFirst, column = false, len(first)
				start, begin = at+1, beginOf(text, at+1)
			case column > 0 && isFirst:
				column--
			case column > 0: // the next lines get the same
				filled[at] = first[len(first)-column]
				column--
			default:
				filled[at] = filling[0]
			}
		}
	}
	return string(filled)
}

// beginOf returns the signs of quotes and the indent with which the line at an offset begins.
func beginOf(text string, at int) string {
	end := at
	for end < len(text) && strings.IndexByte("> \t", text[end]) >= 0 {
		end++
	}
	return text[at:end]
}
