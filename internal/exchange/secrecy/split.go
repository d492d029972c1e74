package secrecy

import (
	"loregate/internal/markup"
	"regexp"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"

	"golang.org/x/net/html"
)

// Result is a text split into its open part and its secrets. The parts at their places in the open
// text give the text again.
type Result struct {
	Open       string // text visible to readers
	Parts      []Part // the secrets, in order
	UnclosedAt int    // offset of an unclosed mark, after which everything is secret; -1 if there is none

	hides func(exchange.Mark) bool
}

// Part is a part of a text that was taken out, as written.
type Part struct {
	At   int // its offset in the open text
	Text string
}

// span is a part of a text between two offsets; to is exclusive.
type span struct{ from, to int }

// Split separates a note's text from the secrets in it: those that its format hides from
// readers, see Rules, and those for which hides returns true. Code that readers see is left alone.
// If hides is nil, only the marks of our own dialect count: comments, secret elements and callouts.
func Split(body string, hides func(exchange.Mark) bool) Result {
	h := Result{Open: body, UnclosedAt: -1, hides: hides}
	open := []span{{0, len(body)}}
	for _, find := range []func(string) []span{h.findMarked, h.findSections, h.findCallouts} {
		if found := find(h.Open); len(found) > 0 {
			open = subtractSpans(open, found)
			h.Open = joinSpans(body, open)
		}
	}
	at, place := 0, 0
	for _, s := range append(open, span{len(body), len(body)}) {
		if s.from > at {
			h.Parts = append(h.Parts, Part{place, body[at:s.from]})
		}
		at, place = s.to, place+s.to-s.from
	}
	return h
}

// Secret returns all secrets as one text, each on lines of its own.
func (h *Result) Secret() string {
	texts := make([]string, len(h.Parts))
	for i, p := range h.Parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, PartSeparator)
}

// PartSeparator stands between two parts in the text of all secrets.
const PartSeparator = "\n"

// subtractSpans removes spans of the text that joinSpans gives for open from open.
func subtractSpans(open, found []span) (left []span) {
	place := 0 // of the open span in the joined text
	for _, o := range open {
		at := o.from
		for len(found) > 0 && found[0].from < place+o.to-o.from {
			from, to := o.from+max(found[0].from-place, 0), o.from+found[0].to-place
			if from > at {
				left = append(left, span{at, from})
			}
			if at = min(to, o.to); to > o.to {
				break // it goes on in the next open span
			}
			found = found[1:]
		}
		if at < o.to {
			left = append(left, span{at, o.to})
		}
		place += o.to - o.from
	}
	return left
}

func joinSpans(text string, spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(text[s.from:s.to])
	}
	return b.String()
}

// isHidden reports whether a part with the given mark is taken out.
func (h *Result) isHidden(m exchange.Mark) bool {
	if h.hides == nil {
		return !m.Doubt
	}
	return h.hides(m)
}

// findMarked finds comments, secret blocks and secret elements in one pass from left to right.
// Code inside a comment is therefore secret, and a comment inside code is not.
func (h *Result) findMarked(body string) (found []span) {
	if !strings.ContainsAny(body, "%<`~[:!?") {
		return nil
	}
	code := markdown.NewCodeScanner(body)
	var tags elementScanner
	inline := inlineScanner{unclosed: map[string]bool{}}
	for at := 0; at < len(body); {
		if n := code.CodeLength(at); n > 0 {
			if word := h.secretBlock(body[at : at+n]); word != "" && h.isHidden(exact(ruleBlock, word)) {
				found = append(found, span{at, at + n})
			}
			at += n
			continue
		}
		n, closed, why := tags.readMarked(body, at)
		if n == 0 && h.hides != nil && (at == 0 || body[at-1] == '\n') {
			n, closed, why = readMarkedLine(body[at:])
		}
		if n == 0 && h.hides != nil {
			n, why = inline.readInline(body, at)
			closed = true
		}
		if n == 0 || !h.isHidden(why) {
			at++
			continue
		}
		if !closed {
			h.UnclosedAt = at
		}
		found = append(found, span{at, at + n})
		at += n
	}
	return found
}

// elementScanner finds comments and secret HTML elements. It parses no tag twice. After too many
// unclosed tags it treats all further text as secret, so that hostile texts are not slow.
type elementScanner struct {
	seen     int // end of the last tag that was parsed
	unclosed int // number of unclosed tags so far
}

const (
	maxTag      = 8192
	maxUnclosed = 5000
)

// readMarked returns the length of the comment or secret element that begins at offset at, 0 if
// there is none. An unclosed one extends to the end of the text.
func (t *elementScanner) readMarked(body string, at int) (n int, closed bool, why exchange.Mark) {
	s := body[at:]
	switch {
	case strings.HasPrefix(s, "%%"):
		_, left, closed := strings.Cut(s[2:], "%%")
		return len(s) - len(left), closed, exact(ruleComment, "%%")
	case strings.HasPrefix(s, "<!--"):
		_, left, closed := strings.Cut(s[4:], "-->")
		return len(s) - len(left), closed, exact(ruleComment, "<!-- -->")
	case s[0] != '<' || at < t.seen || len(s) < 2 || (s[1]|0x20) < 'a' || (s[1]|0x20) > 'z':
		return 0, false, why
	}
	window, _, _ := strings.Cut(s[:min(len(s), maxTag)], "\n\n") // a tag cannot contain a blank line
	if !strings.Contains(window, ">") {
		return 0, false, why
	}
	name, length, why := secretTag(window)
	if length == 0 {
		if t.unclosed++; t.unclosed > maxUnclosed {
			return len(s), false, exact(ruleElement, "too many unclosed tags")
		}
	}
	t.seen = at + length
	if name == "" {
		return 0, false, why
	}
	n, closed = elementLength(s, name)
	return n, closed, why
}

// secretTag reads the tag at the start of s. It returns the name of its element, or "" if the
// element is not secret, and the tag's length, or 0 if the tag is not closed.
func secretTag(s string) (name string, length int, why exchange.Mark) {
	z := html.NewTokenizer(strings.NewReader(s))
	if kind := z.Next(); kind != html.StartTagToken && kind != html.SelfClosingTagToken {
		return "", 0, why
	}
	length = len(z.Raw())
	t := z.Token()
	if isExact(t.Data) {
		return t.Data, length, exact(ruleElement, "<"+t.Data+">")
	}
	for _, a := range t.Attr {
		switch {
		case a.Key == "hidden", a.Key == "style" && hiddenStyle.MatchString(a.Val):
			return t.Data, length, exact(ruleElement, a.Key)
		case a.Key != "class" && !strings.HasPrefix(a.Key, "data-"):
			continue
		}
		for _, class := range strings.Fields(a.Val) {
			if isExact(class) {
				return t.Data, length, exact(ruleElement, a.Key+"="+strings.ToLower(class))
			}
		}
	}
	if t.Data == "details" {
		if m := summaryForm.FindStringSubmatch(s[length:]); m != nil {
			summary, _, _ := strings.Cut(m[1], "</summary")
			summary = markup.Clip(strings.TrimSpace(tagForm.ReplaceAllString(summary, " ")), 100)
			if FindWord(summary, true) != "" {
				return t.Data, length, exchange.Mark{Rule: ruleElement, What: "details: " + markup.Clip(summary, 60),
					Doubt: !isExact(summary)}
			}
		}
	}
	return "", length, why
}

var (
	hiddenStyle = regexp.MustCompile(`(?i)display\s*:\s*none|visibility\s*:\s*hidden`)
	summaryForm = regexp.MustCompile(`(?s)^\s*<(?i:summary)\b[^>]{0,200}>(.{1,300})`)
	tagForm     = regexp.MustCompile(`<[^>]*>`)
)

// secretBlock returns the language of a fenced block that plugins use for secrets, such as
// ad-secret. It returns "" for other languages and for inline code.
func (h *Result) secretBlock(code string) string {
	language := markdown.FenceLanguage(code)
	if language == "" || h.hides == nil {
		return ""
	}
	if name := strings.TrimPrefix(strings.ToLower(language), "ad-"); name != "" && isExact(name) {
		return language
	}
	return ""
}

var (
	containerForm  = regexp.MustCompile(`^(:{3,})[ \t]*\{?\.?([\pL_-]{1,40})[^\n]*\n`)
	definitionForm = regexp.MustCompile(`(?i)^ {0,3}\[(?://|comment|_|)\]:[ \t]*(?:#|<>|//)[ \t]*[("']?([^\n]*?)[)"']?[ \t]*(?:\n|$)`)
	shortcodeForm  = regexp.MustCompile(`^[ \t]*\{\{[<%]\s*([\pL_-]{1,40})[^\n]*\n`)
	liquidComment  = regexp.MustCompile(`^[ \t]*\{%-?\s*comment\b`)
	endLiquid      = regexp.MustCompile(`\{%-?\s*endcomment\s*-?%\}`)
)

// readMarkedLine returns the length of the secret part that begins with a line: a secret container or
// admonition, a comment in the form of a link definition, or a comment or secret shortcode of a
// site's templates. It returns 0 if there is none.
func readMarkedLine(s string) (n int, closed bool, why exchange.Mark) {
	if strings.IndexByte(":[{ \t!?", s[0]) < 0 {
		return 0, false, why
	}
	head := s[:min(len(s), 2000)]
	if m := definitionForm.FindString(head); m != "" {
		return len(m), true, exact(ruleComment, "[//]: #")
	}
	if m := containerForm.FindStringSubmatch(head); m != nil && isExact(m[2]) {
		n, closed = lengthUntil(s, len(m[0]), func(line string) bool { return strings.TrimSpace(line) == m[1] })
		return n, closed, exact(ruleBlock, m[1]+" "+m[2])
	}
	if n, why = readAdmonition(s, head); n > 0 {
		return n, true, why
	}
	if m := shortcodeForm.FindStringSubmatch(head); m != nil && isExact(m[1]) {
		n, closed = lengthUntil(s, len(m[0]), func(line string) bool {
			return strings.HasPrefix(strings.TrimSpace(line), "{{") && strings.Contains(line, "/") &&
				strings.Contains(line, m[1])
		})
		return n, closed, exact(ruleBlock, "{{ "+m[1]+" }}")
	}
	if liquidComment.MatchString(head) {
		if end := endLiquid.FindStringIndex(s); end != nil {
			return end[1], true, exact(ruleComment, "{% comment %}")
		}
		return len(s), false, exact(ruleComment, "{% comment %}")
	}
	return 0, false, why
}

// lengthUntil returns the length of the text up to the first line from an offset for which ends returns
// true, with that line.
func lengthUntil(s string, from int, ends func(line string) bool) (n int, closed bool) {
	for at := from; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		at = min(at+len(line)+1, len(s))
		if ends(line) {
			return at, true
		}
	}
	return len(s), false
}

// elementLength returns the length of the element at the start of s, including nested ones.
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
		case html.StartTagToken, html.SelfClosingTagToken: // in HTML a trailing slash does not close an element
			depth++
		case html.EndTagToken:
			if depth--; depth == 0 {
				return n, true
			}
		}
	}
}
