package exchange

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// hidden is what a format hides from readers, taken out of a text.
type hidden struct {
	open   string // what readers see
	secret string // the rest
	loose  int    // where something begins that does not end, all after which is secret; -1
}

// split takes out of a note's text what its format hides from readers: %%comments%%, HTML
// comments, elements of class secret and [!secret] callouts. Code that readers see is
// left alone. Where in doubt it hides.
func split(body string) hidden {
	h := hidden{loose: -1}
	var secrets []string
	keep := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			secrets = append(secrets, s)
		}
	}
	h.open = takeCallouts(h.takeMarked(body, keep), keep)
	h.secret = strings.Join(secrets, "\n\n")
	return h
}

// takeMarked takes out comments and secret elements in one pass from left to right, so
// that code inside a comment is secret and a comment inside code is not.
func (h *hidden) takeMarked(body string, keep func(string)) string {
	if !strings.Contains(body, "%%") && !strings.Contains(body, "<") {
		return body
	}
	code := newCoder(body)
	var out strings.Builder
	var tags tagger
	for at := 0; at < len(body); {
		if n := code.length(at); n > 0 {
			out.WriteString(body[at : at+n])
			at += n
			continue
		}
		inner, n, closed := tags.marked(body, at)
		if n == 0 {
			out.WriteByte(body[at])
			at++
			continue
		}
		keep(inner)
		if !closed {
			h.loose = at
		}
		at += n
	}
	return out.String()
}

// tagger tells secret elements. It looks at no tag twice, and gives up on texts made to be
// slow: then all that follows is secret.
type tagger struct {
	seen  int // end of the last tag that was read
	loose int // tags so far that did not end
}

const (
	maxTag   = 8192
	maxLoose = 5000
)

// marked reads a comment or secret element that begins at a place: what it holds and how
// long it is, 0 where there is none. One that does not end goes on to the end.
func (t *tagger) marked(body string, at int) (inner string, n int, closed bool) {
	s := body[at:]
	switch {
	case strings.HasPrefix(s, "%%"):
		inner, left, closed := strings.Cut(s[2:], "%%")
		return inner, len(s) - len(left), closed
	case strings.HasPrefix(s, "<!--"):
		inner, left, closed := strings.Cut(s[4:], "-->")
		return inner, len(s) - len(left), closed
	case s[0] != '<' || at < t.seen || len(s) < 2 || (s[1]|0x20) < 'a' || (s[1]|0x20) > 'z':
		return "", 0, false
	}
	window, _, _ := strings.Cut(s[:min(len(s), maxTag)], "\n\n") // no tag goes over a blank line
	if !strings.Contains(window, ">") {
		return "", 0, false
	}
	name, length := secretTag(window)
	if length == 0 {
		if t.loose++; t.loose > maxLoose {
			return s, len(s), false
		}
	}
	t.seen = at + length
	if name == "" {
		return "", 0, false
	}
	n, closed = elementLength(s, name)
	return s[:n], n, closed
}

// Classes of elements that are for the GM alone.
var secretClasses = []string{"secret", "gm-only", "dm-only", "gm-secret", "dm-secret"}

// secretTag reads the tag that s begins with: the name of its element, "" where that is
// not of a secret class, and its length, 0 where it does not end.
func secretTag(s string) (name string, length int) {
	z := html.NewTokenizer(strings.NewReader(s))
	if kind := z.Next(); kind != html.StartTagToken && kind != html.SelfClosingTagToken {
		return "", 0
	}
	length = len(z.Raw())
	t := z.Token()
	for _, a := range t.Attr {
		if a.Key == "class" && slices.ContainsFunc(strings.Fields(strings.ToLower(a.Val)), func(c string) bool { return slices.Contains(secretClasses, c) }) {
			return t.Data, length
		}
	}
	return "", length
}

// elementLength is how long the element at the start of s is, with those inside it.
func elementLength(s, tag string) (n int, closed bool) {
	z := html.NewTokenizer(strings.NewReader(s))
	depth := 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return len(s), false
		}
		n += len(z.Raw())
		name, _ := z.TagName()
		if string(name) != tag {
			continue
		}
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken: // of HTML elements the slash says nothing
			depth++
		case html.EndTagToken:
			if depth--; depth == 0 {
				return n, true
			}
		}
	}
}

// calloutForm is the first line of a secret callout, in quotes and lists however nested.
var calloutForm = regexp.MustCompile(`(?i)^((?:\s|>|[-*+]\s|\d{1,9}[.)]\s)*>(?:\s|>|[-*+]\s|\d{1,9}[.)]\s)*)` +
	`\[!\s*(?:secrets?|hidden|spoilers?|(?:gm|dm)(?:[ _-]?(?:only|notes?|secrets?|info))?)\s*(?:\|[^\]]*)?\][+-]?[ \t]*(.*)$`)

// takeCallouts takes out block quotes that begin with a secret callout, wherever in a
// quote it stands: a nested one ends with its own depth.
func takeCallouts(text string, keep func(string)) string {
	if !strings.Contains(text, "[!") {
		return text
	}
	code := newCoder(text)
	var out, taken []string
	depth := 0
	end := func() {
		if depth > 0 {
			keep(strings.Join(taken, "\n"))
		}
		taken, depth = nil, 0
	}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		m := calloutForm.FindStringSubmatch(line)
		switch {
		case m != nil:
			end()
			depth = strings.Count(m[1], ">")
			if m[2] != "" {
				taken = append(taken, "**"+m[2]+"**", "")
			}
		case depth > 0 && continues(line, depth, taken):
			taken = append(taken, unquote(line, depth))
		default:
			end()
			if n := code.fence(at); n > 0 {
				line, next = strings.TrimSuffix(text[at:at+n], "\n"), at+n
			}
			out = append(out, line)
		}
		at = next
	}
	end()
	if strings.HasSuffix(text, "\n") {
		out = append(out, "")
	}
	return strings.Join(out, "\n")
}

// continues reports whether a line belongs to a callout of a depth: it is quoted as
// deeply, or goes on with the paragraph that the line before it is in.
func continues(line string, depth int, taken []string) bool {
	quotes, rest := quoteDepth(line)
	if quotes >= depth {
		return true
	}
	return strings.TrimSpace(rest) != "" && len(taken) > 0 && strings.TrimSpace(taken[len(taken)-1]) != ""
}

func quoteDepth(line string) (n int, rest string) {
	for i, r := range line {
		switch r {
		case '>':
			n++
		case ' ', '\t':
		default:
			return n, line[i:]
		}
	}
	return n, ""
}

func unquote(line string, depth int) string {
	for range depth {
		line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), ">")
	}
	return strings.TrimPrefix(line, " ")
}
