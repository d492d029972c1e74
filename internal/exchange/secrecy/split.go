package secrecy

import (
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

	form  Form
	hides func(exchange.Mark) bool
}

// Part is a part of a text that was taken out, as written.
type Part struct {
	At   int // its offset in the open text
	Text string
}

// Form is the form of a text, which decides about the marks that it can have.
type Form int

// The forms.
const (
	Markdown Form = iota // with HTML in it
	HTML                 // also plain texts, BBCode and wikitext: their tags count as those of HTML
)

// span is a part of a text between two offsets; to is exclusive.
type span struct{ from, to int }

// Split separates a text from the secrets in it: those that its format hides from readers, see Rules,
// and those for which hides returns true. Code in Markdown, which readers see, is left alone. If hides is
// nil, only the marks of our own dialect count: comments, secret elements and callouts. The time that it
// takes is linear in the length of the text.
func Split(body string, form Form, hides func(exchange.Mark) bool) Result {
	h := Result{Open: body, UnclosedAt: -1, form: form, hides: hides}
	steps := []func(string) []span{h.findMarked, h.findSections, h.findCallouts}
	if form == HTML {
		steps = []func(string) []span{h.findHTML}
	}
	open := []span{{0, len(body)}}
	for _, find := range steps {
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
	tags := elementScanner{h: h}
	inline := inlineScanner{forum: forumScanner{text: body, form: Markdown, judge: &tags.judge}}
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
			n, closed, why = inline.readInline(body, at)
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

// elementScanner finds comments and secret HTML elements in Markdown. It parses no tag twice. After too
// many unclosed tags it treats all further text as secret, so that hostile texts are not slow.
type elementScanner struct {
	h          *Result
	judge      judge
	seen       int             // end of the last tag that was parsed
	unclosed   int             // number of unclosed tags so far
	attributes []span          // secret attributes of the last tag
	endless    map[string]bool // names of elements that a page does not show, without an end in the rest of the text
}

const (
	maxTag      = 8192
	maxUnclosed = 5000
)

// readMarked returns the length of the comment, secret element or secret attribute that begins at offset at,
// 0 if there is none. An unclosed one extends to the end of the text.
func (t *elementScanner) readMarked(body string, at int) (n int, closed bool, why exchange.Mark) {
	s := body[at:]
	switch {
	case strings.HasPrefix(s, "%%"):
		_, left, closed := strings.Cut(s[2:], "%%")
		return len(s) - len(left), closed, exact(ruleComment, "%%")
	case strings.HasPrefix(s, "<!--"):
		_, left, closed := strings.Cut(s[4:], "-->")
		return len(s) - len(left), closed, exact(ruleComment, "<!-- -->")
	case len(t.attributes) > 0 && t.attributes[0].from <= at:
		a := t.attributes[0]
		if t.attributes = t.attributes[1:]; a.from == at {
			return a.to - at, true, exact(ruleElement, "attribute")
		}
	}
	if s[0] != '<' || at < t.seen || len(s) < 2 {
		return 0, false, why
	}
	if s[1] == '!' || s[1] == '?' {
		return readDeclaration(s)
	}
	if !isLetter(s[1]) {
		return 0, false, why
	}
	return t.readElement(body, at)
}

// readElement is readMarked for an element. It also finds the secret attributes of one that is not secret.
func (t *elementScanner) readElement(body string, at int) (n int, closed bool, why exchange.Mark) {
	s := body[at:]
	window, _, _ := strings.Cut(s[:min(len(s), maxTag)], "\n\n") // a tag cannot contain a blank line
	if !strings.Contains(window, ">") {
		return 0, false, why
	}
	g := readTag(window)
	if g.cut {
		if t.unclosed++; t.unclosed > maxUnclosed {
			return len(s), false, exact(ruleElement, "too many unclosed tags")
		}
	}
	t.seen, t.attributes = at+g.size, nil
	if why, marked := t.judge.markOf(g, s[g.size:]); marked {
		if t.endless[g.name] {
			return 0, false, why
		}
		if n, closed = elementLength(s, g); closed || !marks().unshown[g.name] {
			return n, closed, why
		}
		if t.endless == nil {
			t.endless = map[string]bool{}
		}
		t.endless[g.name] = true // a word in a text that is not HTML
		return 0, false, why
	}
	for _, a := range g.attrs {
		if t.h.isMarkedValue(a.value, &t.judge, 0) {
			t.attributes = append(t.attributes, span{at + a.from, at + a.to})
		}
	}
	return 0, false, why
}

// readDeclaration reads a declaration of HTML other than a comment, such as <![CDATA[ … ]]> and <?php … ?>.
func readDeclaration(s string) (n int, closed bool, why exchange.Mark) {
	end := ">"
	switch {
	case strings.HasPrefix(s, "<![CDATA["):
		end = "]]>"
	case s[1] == '?':
		end = "?>"
	case len(s) < 3 || !isLetter(s[2]) || strings.HasPrefix(strings.ToLower(s[:min(len(s), 15)]), "<!doctype html>"):
		return 0, false, why
	}
	_, left, closed := strings.Cut(s, end)
	return len(s) - len(left), closed, exact(ruleComment, "<!")
}

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

// elementLength returns the length of the element at the start of s, which begins with the tag g. A void
// element is its tag.
func elementLength(s string, g tag) (n int, closed bool) {
	if voidElements[g.name] {
		return g.size, true
	}
	z := html.NewTokenizer(strings.NewReader(s))
	var open elements
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return len(s), false
		}
		n += len(z.Raw())
		name, _ := z.TagName()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken: // in HTML a trailing slash does not close an element
			open.push(string(name))
			if string(name) != "script" && string(name) != "style" {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			if open.end(string(name)); len(open.names) == 0 {
				return n, true
			}
		}
	}
}
