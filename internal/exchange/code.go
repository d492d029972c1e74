package exchange

import (
	"regexp"
	"strings"
)

// coder finds the code in a text. It remembers which marks never close, so that going
// through a text from left to right takes linear time.
type coder struct {
	text   string
	fences map[byte]int // by '`' or '~': fences at least this long do not close from here on
	ticks  map[int]int  // by length: inline code of it is not closed before this place
	end    int          // of the paragraph last looked at
}

func newCoder(text string) *coder {
	return &coder{text: text, fences: map[byte]int{}, ticks: map[int]int{}}
}

var fenceForm = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")

// length is how long the code that begins at a place is: a fence at the start of a line,
// or inline code; 0 for none. A fence that does not end is no code here, for what hides
// nothing to one reader may hide something to another.
func (c *coder) length(at int) int {
	if at == 0 || c.text[at-1] == '\n' {
		if n := c.fence(at); n > 0 {
			return n
		}
	}
	if c.text[at] != '`' {
		return 0
	}
	s := c.text[at:]
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	if open, ok := c.ticks[ticks]; ok && at < open {
		return ticks // the ticks themselves
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

func (c *coder) fence(at int) int {
	s := c.text[at:]
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
