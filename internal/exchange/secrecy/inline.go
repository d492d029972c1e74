package secrecy

import (
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"regexp"
	"strings"
)

// inlineScanner finds secret parts of a line in the notations of other programs: fields in
// brackets, forum tags, and spoilers such as >!…!<.
type inlineScanner struct {
	forum forumScanner
	close int // offset of the first "!<" at or after the last search
}

var bracketField = regexp.MustCompile(`^[\[(][ \t]*([*_]{0,3})([\pL][\pL\pN _-]{0,40}?)[*_]{0,3}::[ \t]*([^\n]*)`)

// maxInline is the maximum length of a field in brackets and of a spoiler, in bytes.
const maxInline = 8192

// readInline returns the length of the secret part that begins at offset at, 0 if there is none. One that is
// not closed extends to the end of the text.
func (l *inlineScanner) readInline(body string, at int) (n int, closed bool, why exchange.Mark) {
	s := body[at:]
	switch s[0] {
	case '(':
		n, why = readSecretField(s)
	case '[', '&':
		if n, why = readSecretField(s); n == 0 {
			return l.readForumPart(at)
		}
	case '>':
		if strings.HasPrefix(s, ">!") && (at == 0 || strings.IndexByte(" \t\n(,;:.*_>-", body[at-1]) >= 0) {
			// Otherwise the '>' ends a tag.
			n, why = l.readSpoiler(body, at)
		}
	}
	return n, true, why
}

// readSecretField reads a Dataview field in brackets with a secret word in its key and a text as
// its value. A field with a yes or no is about the whole note and is not read here.
func readSecretField(s string) (n int, why exchange.Mark) {
	if s[0] == '&' {
		return 0, why
	}
	m := bracketField.FindStringSubmatch(s[:min(len(s), 64)])
	if m == nil || FindWord(m[2], true) == "" {
		return 0, why
	}
	line, _, _ := strings.Cut(s[:min(len(s), maxInline)], "\n")
	n = bracketEnd(line)
	inner := strings.TrimSuffix(line[1:n], map[byte]string{'[': "]", '(': ")"}[s[0]])
	if _, value, _ := strings.Cut(inner, "::"); truthOf(strings.TrimSpace(value)) != isText {
		return 0, why
	}
	return n, exchange.Mark{Rule: ruleLabel, What: strings.TrimSpace(m[2]) + "::", Doubt: !isExact(m[2])}
}

// bracketEnd returns the offset after the bracket that closes the one at the start of a line, or
// the length of the line if it is not closed. Nested brackets are skipped.
func bracketEnd(line string) int {
	opens, closes := line[0], byte(']')
	if opens == '(' {
		closes = ')'
	}
	depth := 0
	for i := range len(line) {
		switch line[i] {
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(line)
}

// readForumPart reads a part in tags such as [spoiler]…[/spoiler], however nested.
func (l *inlineScanner) readForumPart(at int) (n int, closed bool, why exchange.Mark) {
	text := l.forum.text
	c, size := charAt(text, at)
	if c != '[' {
		return 0, false, why
	}
	t, ok := readForumTag(text, at, at+size, min(len(text), at+maxForumTag))
	opens, toEnd := false, false
	if ok {
		opens, toEnd = l.forum.opens(t)
	}
	if !opens {
		return 0, false, why
	}
	why = exact(ruleBlock, "["+t.name+"]")
	switch {
	case l.forum.isWhole(t):
		return t.to - at, true, why
	case toEnd:
		return len(text) - at, false, why
	}
	nested := 1
	for from := t.to; ; {
		next, ok := nextForumTag(text, from, len(text))
		if !ok {
			return len(text) - at, false, why
		}
		from = next.to
		switch {
		case next.name != t.name:
		case !next.end && !l.forum.isWhole(next):
			nested++
		case next.end:
			if nested--; nested == 0 {
				return next.to - at, true, why
			}
		}
	}
}

// readSpoiler reads a spoiler such as >!…!< within its paragraph. A spoiler at the start of a line
// may be unclosed; it then extends to the end of that line.
func (l *inlineScanner) readSpoiler(body string, at int) (n int, why exchange.Mark) {
	why = exact(ruleBlock, ">!")
	s := body[at+2:]
	if l.close < at+2 {
		l.close = len(body)
		if i := strings.Index(s, "!<"); i >= 0 {
			l.close = at + 2 + i
		}
	}
	if i := l.close - at - 2; i < min(len(s), maxInline) && !strings.Contains(s[:i], "\n\n") {
		return i + 4, why
	}
	if at == 0 || body[at-1] == '\n' {
		line, _, _ := strings.Cut(s, "\n")
		return len(line) + 2, why
	}
	return 0, why
}

var admonitionForm = regexp.MustCompile(`^([ \t]*)(?:!!!|\?\?\?)\+?[ \t]+([\pL_-]{1,40}(?:[ \t]+[\pL_-]{1,40}){0,9})?[ \t]*(?:"([^"\n]*)")?[ \t]*(?:\n|$)`)

// readAdmonition reads a secret admonition of MkDocs, such as !!! secret "Title", with the indented
// lines below it.
func readAdmonition(s, head string) (n int, why exchange.Mark) {
	m := admonitionForm.FindStringSubmatch(head)
	if m == nil {
		return 0, why
	}
	kinds := strings.Fields(m[2])
	secret := isExact(m[3])
	for _, kind := range kinds {
		secret = secret || isExact(kind)
	}
	if !secret && FindWord(m[2], true) == "" && FindWord(m[3], true) == "" {
		return 0, why
	}
	n = len(m[0])
	for at := n; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		at = min(at+len(line)+1, len(s))
		if strings.TrimSpace(line) == "" {
			continue
		}
		if indentOf(line) <= len(m[1]) {
			break
		}
		n = at
	}
	return n, exchange.Mark{Rule: ruleBlock, What: "!!! " + strings.TrimSpace(m[2]+" "+markup.Clip(m[3],
		60)), Doubt: !secret}
}
