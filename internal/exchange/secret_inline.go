package exchange

import (
	"regexp"
	"strings"
)

// inliner tells the secret parts of a line that other programs mark: fields in brackets,
// parts in the tags of forums, and spoilers as >!…!<.
type inliner struct {
	loose map[string]bool // tags that no closing one follows any more
	close int             // the first "!<" at or after the last look
}

var (
	bracketField = regexp.MustCompile(`^[\[(][ \t]*([*_]{0,3})([\pL][\pL\pN _-]{0,40}?)[*_]{0,3}::[ \t]*([^\n]*)`)
	forumTag     = regexp.MustCompile(`\[(/?)([\pL][\pL _-]{0,39})(?:=[^\]\n]{0,200})?\]`)
	forumOpening = regexp.MustCompile(`^` + forumTag.String())
)

// maxInline is the longest field in brackets, and the longest spoiler, in bytes.
const maxInline = 8192

// marked reads a secret part that begins at a place: what it holds and how long it is, 0
// where there is none.
func (l *inliner) marked(body string, at int) (inner string, n int, why mark) {
	s := body[at:]
	switch s[0] {
	case '(':
		return secretField(s)
	case '[':
		if inner, n, why = secretField(s); n > 0 {
			return inner, n, why
		}
		return l.forumPart(s)
	case '>':
		if !strings.HasPrefix(s, ">!") || at > 0 && strings.IndexByte(" \t\n(,;:.*_>-", body[at-1]) < 0 { // else a tag ends here
			return "", 0, why
		}
		return l.spoilerPart(body, at)
	}
	return "", 0, why
}

// secretField reads a Dataview field in brackets that has a secret word as its key and a
// text. One that says yes or no is about the whole note.
func secretField(s string) (inner string, n int, why mark) {
	m := bracketField.FindStringSubmatch(s[:min(len(s), 64)])
	if m == nil || secretWord(m[2], true) == "" {
		return "", 0, why
	}
	line, _, _ := strings.Cut(s[:min(len(s), maxInline)], "\n")
	n = bracketEnd(line)
	inner = strings.TrimSuffix(line[1:n], map[byte]string{'[': "]", '(': ")"}[s[0]])
	if _, value, _ := strings.Cut(inner, "::"); truthOf(strings.TrimSpace(value)) != isText {
		return "", 0, why
	}
	return inner, n, mark{ruleLabel, strings.TrimSpace(m[2]) + "::", !isExact(m[2])}
}

// bracketEnd is where the bracket closes that a line begins with, with those inside it;
// where it does not, the end of the line.
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

// forumPart reads a part in tags such as [spoiler]…[/spoiler], however nested. A tag that
// none closes is text, as in "[GM] The real story".
func (l *inliner) forumPart(s string) (inner string, n int, why mark) {
	first := forumOpening.FindStringSubmatchIndex(s[:min(len(s), 300)])
	if first == nil || first[2] != first[3] {
		return "", 0, why
	}
	name := strings.ToLower(s[first[4]:first[5]])
	if l.loose[name] || !isExact(name) {
		return "", 0, why
	}
	depth, from := 0, 0
	for from < len(s) {
		m := forumTag.FindStringSubmatchIndex(s[from:])
		if m == nil {
			break
		}
		start, end := from+m[0], from+m[1]
		if strings.EqualFold(s[from+m[4]:from+m[5]], name) {
			if m[2] == m[3] {
				depth++
			} else {
				depth--
				inner, n = s[first[1]:start], end
			}
		}
		if from = end; depth == 0 {
			break
		}
	}
	if n == 0 {
		l.loose[name] = true
		return "", 0, why
	}
	return inner, n, mark{ruleBlock, "[" + name + "]", false}
}

// spoilerPart reads a spoiler as >!…!<, within its paragraph. At the start of a line it
// need not end, and goes to the end of that line.
func (l *inliner) spoilerPart(body string, at int) (inner string, n int, why mark) {
	why = mark{ruleBlock, ">!", false}
	s := body[at+2:]
	if l.close < at+2 {
		l.close = len(body)
		if i := strings.Index(s, "!<"); i >= 0 {
			l.close = at + 2 + i
		}
	}
	if i := l.close - at - 2; i < min(len(s), maxInline) && !strings.Contains(s[:i], "\n\n") {
		return s[:i], i + 4, why
	}
	if at == 0 || body[at-1] == '\n' {
		inner, _, _ = strings.Cut(s, "\n")
		return inner, len(inner) + 2, why
	}
	return "", 0, why
}

var admonitionForm = regexp.MustCompile(`^([ \t]*)(?:!!!|\?\?\?)\+?[ \t]+([\pL_-]{1,40}(?:[ \t]+[\pL_-]{1,40}){0,9})?[ \t]*(?:"([^"\n]*)")?[ \t]*(?:\n|$)`)

// admonition reads a secret admonition of MkDocs, as !!! secret "Title", with the lines
// below it that are further in.
func admonition(s, head string) (inner string, n int, why mark) {
	m := admonitionForm.FindStringSubmatch(head)
	if m == nil {
		return "", 0, why
	}
	kinds := strings.Fields(m[2])
	secret := isExact(m[3])
	for _, kind := range kinds {
		secret = secret || isExact(kind)
	}
	if !secret && secretWord(m[2], true) == "" && secretWord(m[3], true) == "" {
		return "", 0, why
	}
	n = len(m[0])
	var lines strings.Builder
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
		lines.WriteString(strings.TrimSpace(line) + "\n")
	}
	return lines.String(), n, mark{ruleBlock, "!!! " + strings.TrimSpace(m[2]+" "+clip(m[3], 60)), !secret}
}
