package secrecy

import (
	"strings"

	"loregate/internal/lazyregexp"
)

var bracketField = lazyregexp.New(`^[\[(][^\pL\pN\n\])]{0,12}(\pL[\pL\pN _-]{0,40}?)[*_]{0,3}::`)

// maxInline is the maximum length of a field in brackets and of a spoiler, in bytes.
const maxInline = 8192

// readSecretField reads a Dataview field in brackets with a secret word in its key and a text as its value. A field
// with a yes or no is about the whole note and is not read here. One that is not closed in its paragraph ends with
// its line; ends is false then.
func readSecretField(s string) (n int, ends bool, why Mark) {
	m := bracketField.FindStringSubmatch(s[:min(len(s), 64)])
	if m == nil || FindWord(m[1], true) == "" {
		return 0, true, why
	}
	paragraph, _, _ := strings.Cut(s[:min(len(s), maxInline)], "\n\n")
	inner := ""
	if n = bracketEnd(paragraph); n > 0 {
		inner, ends = paragraph[1:n-1], true
	} else {
		inner, _, _ = strings.Cut(paragraph[1:], "\n")
		n = 1 + len(inner)
	}
	if _, value, _ := strings.Cut(inner, "::"); truthOf(strings.TrimSpace(value)) != isText {
		return 0, true, why
	}
	return n, ends, Mark{Rule: ruleLabel, What: strings.TrimSpace(m[1]) + "::", Doubt: !isExact(m[1])}
}

// bracketEnd returns the offset after the bracket that closes the one at the start of a text, or 0. Nested brackets
// and escaped signs are skipped.
func bracketEnd(text string) int {
	opens, closes := text[0], byte(']')
	if opens == '(' {
		closes = ')'
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// spoilerScanner finds spoilers such as >!…!< in a Markdown text.
type spoilerScanner struct {
	text  string
	close int // offset of the first "!<" at or after the last search
}

// read returns the length of the spoiler that begins at an offset, 0 if there is none. It ends within its paragraph.
// A spoiler at the start of a line may be unclosed; it then extends to the end of that line. ends is false for those
// without an end.
func (l *spoilerScanner) read(at int) (n int, ends bool, why Mark) {
	if !strings.HasPrefix(l.text[at:], ">!") || strings.HasPrefix(l.text[at+2:], "[") ||
		strings.HasPrefix(l.text[at+2:], "!") {
		return 0, true, why // a picture or admonition in a quote
	}
	why = exact(ruleBlock, ">!")
	s := l.text[at+2:]
	if l.close < at+2 {
		l.close = len(l.text)
		if i := strings.Index(s, "!<"); i >= 0 {
			l.close = at + 2 + i
		}
	}
	if i := l.close - at - 2; i < min(len(s), maxInline) && !strings.Contains(s[:i], "\n\n") {
		return i + 4, true, why
	}
	if at == 0 || l.text[at-1] == '\n' {
		line, _, _ := strings.Cut(s, "\n")
		return len(line) + 2, false, why
	}
	return 0, false, why
}
