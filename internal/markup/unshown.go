package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Unshown returns the text in a card's content that Text leaves out, one piece per line: targets of
// links with another text, nests, comments, attribute values, and the text of scripts and titles.
// The cost is linear.
func Unshown(content string) string {
	var b strings.Builder
	add := func(text string) {
		if text = strings.TrimSpace(Clean(html.UnescapeString(text))); text != "" {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	for s := range scanSyntax(content) {
		switch s.kind {
		case linkSpan:
			if r := s.toRef(content); strings.TrimSpace(r.Text) != "" {
				add(r.Target)
			}
		case nestSpan, commentSpan:
			add(content[s.start+2 : s.end-2])
		}
	}
	if !strings.Contains(content, "<") {
		return b.String()
	}
	z := html.NewTokenizer(strings.NewReader(content))
	var skip hiddenElements
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return b.String()
		case html.CommentToken:
			add(string(z.Text()))
		case html.TextToken:
			if skip.isOpen() {
				add(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			skip.addTag(string(name), kind)
			for more {
				var value []byte
				_, value, more = z.TagAttr()
				add(string(value))
			}
		}
	}
}
