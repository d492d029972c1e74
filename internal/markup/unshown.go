package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Unshown returns what the source of a card's content says beside its visible words, a
// line each: targets of links that show another text, nests, comments, the values of
// attributes, what stands in scripts and titles. The cost is linear.
func Unshown(content string) string {
	var b strings.Builder
	add := func(text string) {
		if text = strings.TrimSpace(Clean(html.UnescapeString(text))); text != "" {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	for s := range scan(content) {
		switch s.kind {
		case link:
			if r := s.ref(content); strings.TrimSpace(r.Text) != "" {
				add(r.Target)
			}
		case nest, comment:
			add(content[s.start+2 : s.end-2])
		}
	}
	if !strings.Contains(content, "<") {
		return b.String()
	}
	z := html.NewTokenizer(strings.NewReader(content))
	var skip skipper
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return b.String()
		case html.CommentToken:
			add(string(z.Text()))
		case html.TextToken:
			if skip.on() {
				add(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			skip.see(string(name), kind)
			for more {
				var value []byte
				_, value, more = z.TagAttr()
				add(string(value))
			}
		}
	}
}
