package exchange

import (
	"regexp"
	"strings"
)

// split takes out of a note's text what its format hides from readers: %%comments%%, HTML
// comments, secret sections and [!secret] callouts. Code that readers see is left alone.
// unclosed reports a comment that does not end, all of which is secret.
func split(body string) (open, secret string, unclosed bool) {
	var hidden strings.Builder
	keep := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			if hidden.Len() > 0 {
				hidden.WriteString("\n\n")
			}
			hidden.WriteString(s)
		}
	}
	open, unclosed = takeMarked(body, keep)
	open = takeCallouts(open, keep)
	return open, hidden.String(), unclosed
}

// takeMarked takes out comments and secret sections in one pass from left to right, so
// that code inside a comment is secret and a comment inside code is not.
func takeMarked(body string, keep func(string)) (rest string, unclosed bool) {
	var out strings.Builder
	for at := 0; at < len(body); {
		s := body[at:]
		if n := codeLength(body, at); n > 0 {
			out.WriteString(s[:n])
			at += n
			continue
		}
		inner, n, closed := marked(s)
		if n == 0 {
			out.WriteByte(body[at])
			at++
			continue
		}
		keep(inner)
		unclosed = unclosed || !closed
		at += n
	}
	return out.String(), unclosed
}

// marked reads a comment or secret section at the start of s: what it holds and how long
// it is, 0 where there is none. One that does not end goes on to the end.
func marked(s string) (inner string, n int, closed bool) {
	for _, m := range [][2]string{{"%%", "%%"}, {"<!--", "-->"}} {
		after, ok := strings.CutPrefix(s, m[0])
		if !ok {
			continue
		}
		inner, left, closed := strings.Cut(after, m[1])
		return inner, len(s) - len(left), closed
	}
	if s[0] == '<' {
		if m := sectionForm.FindString(s[:min(len(s), 200)]); m != "" {
			end := sectionEnd.FindStringIndex(s)
			if end == nil {
				return s, len(s), false
			}
			return s[:end[1]], end[1], true
		}
	}
	return "", 0, false
}

var (
	sectionForm = regexp.MustCompile(`(?i)^<section[^>]*class\s*=\s*["']?[^"'>]*\bsecret\b`)
	sectionEnd  = regexp.MustCompile(`(?i)</section\s*>`)
	fenceForm   = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
)

// codeLength is how long the code that begins at a place is: a fence at the start of a
// line, or inline code; 0 for none. A fence that does not end is no code here.
func codeLength(body string, at int) int {
	s := body[at:]
	if at == 0 || body[at-1] == '\n' {
		if m := fenceForm.FindStringSubmatch(s[:min(len(s), 100)]); m != nil {
			return fenceLength(s, m[1])
		}
	}
	if s[0] != '`' {
		return 0
	}
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	paragraph, _, _ := strings.Cut(s[ticks:], "\n\n")
	for from := 0; ; {
		i := strings.Index(paragraph[from:], s[:ticks])
		if i < 0 {
			return ticks // the ticks themselves
		}
		from += i
		run := len(paragraph[from:]) - len(strings.TrimLeft(paragraph[from:], "`"))
		if from += run; run == ticks {
			return ticks + from
		}
	}
}

func fenceLength(s, mark string) int {
	_, after, ok := strings.Cut(s, "\n")
	if !ok {
		return 0
	}
	at := len(s) - len(after)
	for line := range strings.SplitAfterSeq(after, "\n") {
		at += len(line)
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, mark) && strings.Trim(trimmed, mark[:1]) == "" {
			return at
		}
	}
	return 0
}

var calloutForm = regexp.MustCompile(`(?i)^\s*(>[\s>]*)\[!\s*(secret|gm|dm|gm[ -]?only|dm[ -]?only|spoiler)\s*\][+-]?\s*(.*)$`)

// takeCallouts takes out block quotes that begin with a secret callout, wherever in a
// quote it stands: a nested one ends with its own depth.
func takeCallouts(text string, keep func(string)) string {
	if !strings.Contains(text, "[!") {
		return text
	}
	var out, taken []string
	depth := 0
	flush := func() {
		if depth > 0 {
			keep(strings.Join(taken, "\n"))
		}
		taken, depth = nil, 0
	}
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		if depth == 0 {
			if fence = fenceAfter(fence, line); fence != "" {
				out = append(out, line)
				continue
			}
		}
		if m := calloutForm.FindStringSubmatch(line); m != nil {
			flush()
			depth = strings.Count(m[1], ">")
			if m[3] != "" {
				taken = append(taken, "**"+m[3]+"**", "")
			}
			continue
		}
		if depth > 0 && quoteDepth(line) >= depth {
			taken = append(taken, unquote(line, depth))
			continue
		}
		// A line right after a quote continues it (a lazy continuation), and stays secret.
		if depth > 0 && strings.TrimSpace(line) != "" && quoteDepth(line) == 0 && len(taken) > 0 && taken[len(taken)-1] != "" {
			taken = append(taken, line)
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// fenceAfter is the mark of the fence that is open after a line; "" for none.
func fenceAfter(open, line string) string {
	m := fenceForm.FindStringSubmatch(line)
	switch {
	case m == nil:
		return open
	case open == "":
		return m[1]
	case strings.HasPrefix(m[1], open) && strings.Trim(strings.TrimSpace(line), open[:1]) == "":
		return ""
	}
	return open
}

func quoteDepth(line string) (n int) {
	for _, r := range line {
		switch r {
		case '>':
			n++
		case ' ', '\t':
		default:
			return n
		}
	}
	return n
}

func unquote(line string, depth int) string {
	for range depth {
		line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), ">")
	}
	return strings.TrimPrefix(line, " ")
}
