package markdown

import (
	"strings"

	"loregate/internal/lazyregexp"
)

// CodeScanner finds code in a Markdown text. It remembers the opening marks that are never closed,
// so that scanning a text from left to right takes linear time.
type CodeScanner struct {
	text   string
	fences map[byte]int // by '`' or '~': fences at least this long are not closed from here on
	ticks  map[int]int  // by number of ticks: inline code with that many is not closed before this offset
	end    int          // end of the paragraph that was scanned last
}

// NewCodeScanner returns a scanner of a text. Its offsets must be asked for in ascending order.
func NewCodeScanner(text string) *CodeScanner {
	return &CodeScanner{text: text, fences: map[byte]int{}, ticks: map[int]int{}}
}

var fenceForm = lazyregexp.New("^ {0,3}(`{3,}|~{3,})")

// CodeLength returns the length of the code that begins at offset at: a fenced block at the start
// of a line, or inline code. It returns 0 if no code begins there. An unclosed fence does not count
// as code, because marks after it may hide text from some readers and not from others.
func (c *CodeScanner) CodeLength(at int) int {
	if at == 0 || c.text[at-1] == '\n' {
		if n := c.fenceLength(at); n > 0 {
			return n
		}
	}
	if c.text[at] != '`' {
		return 0
	}
	s := c.text[at:]
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	if open, ok := c.ticks[ticks]; ok && at < open {
		return ticks // skip only the ticks
	}
	if c.end <= at {
		c.end = len(c.text)
		if i := strings.Index(s, "\n\n"); i >= 0 {
			c.end = at + i
		}
	}
	end := max(c.end-at, ticks)
	for from := ticks; ; {
		i := strings.IndexByte(s[from:end], '`')
		if i < 0 {
			c.ticks[ticks] = at + end
			return ticks
		}
		from += i
		run := len(s[from:end]) - len(strings.TrimLeft(s[from:end], "`"))
		if from += run; run == ticks {
			return from
		}
	}
}

// fenceLength returns the length of the fenced block that begins at the line at offset at, or 0.
func (c *CodeScanner) fenceLength(at int) int {
	s := c.text[at:]
	if !mayBeFence(s) {
		return 0
	}
	m := fenceForm.FindStringSubmatch(s[:min(len(s), 2000)])
	if m == nil {
		return 0
	}
	mark := m[1]
	if least := c.fences[mark[0]]; least > 0 && len(mark) >= least {
		return 0
	}
	info, after, ok := strings.Cut(s, "\n")
	if mark[0] == '`' && strings.Contains(info[strings.Index(info, mark)+len(mark):], "`") {
		return 0 // inline code
	}
	if ok {
		length := len(s) - len(after)
		for line := range strings.SplitAfterSeq(after, "\n") {
			length += len(line)
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, mark) && strings.Trim(trimmed, mark[:1]) == "" {
				return length
			}
		}
	}
	c.fences[mark[0]] = len(mark)
	return 0
}

// mayBeFence reports whether a line may begin with a fence. Few do, and fenceForm takes longer.
func mayBeFence(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), 6)], " ")
	return strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~")
}

// WithoutCode returns a text without its code.
func WithoutCode(text string) string {
	if !strings.ContainsAny(text, "`~") {
		return text
	}
	code := NewCodeScanner(text)
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); {
		n := code.CodeLength(at)
		if n == 0 {
			at++
			continue
		}
		b.WriteString(text[from:at])
		b.WriteByte('\n')
		at += n
		from = at
	}
	b.WriteString(text[from:])
	return b.String()
}
