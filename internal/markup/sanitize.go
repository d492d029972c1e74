package markup

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
)

// Sanitize makes HTML safe to show. It removes scripts, styles, forms, frames, event handlers,
// addresses other than http, https, mailto and relative ones, images from elsewhere (only /api/… is
// allowed), comments, and the characters that Clean removes. Classes, colours and other text styles
// are kept. Links and nests are preserved byte for byte in text and escaped in attributes; one that
// contains '<' is sanitised like any HTML.
//
// Sanitize does not see the content that a nest shows. Nests must be resolved before Sanitize, or
// their content must be sanitised separately and never inserted into a tag. It is idempotent for
// its own output. Its only error is that of ctx, soon after ctx ends.
func Sanitize(ctx context.Context, content string) (string, error) {
	p := protectSyntax(Clean(content))
	p.text = dropLongTags(p.text)
	var out strings.Builder
	in := checkedReader{strings.NewReader(p.text), ctx}
	if err := policy().SanitizeReaderToWriter(in, &out); err != nil {
		return "", err
	}
	return Clean(p.restoreHTML(ctx, out.String(), safeTag)), ctx.Err()
}

// maxTag is the maximum length of a tag that keeps its attributes, in bytes. Parsing a style takes
// a microsecond per byte.
const maxTag = 16 << 10

// dropLongTags removes the attributes of tags that are too long.
func dropLongTags(text string) string {
	if len(text) <= maxTag {
		return text
	}
	var b strings.Builder
	done := 0
	for t := range tokensOf(text) {
		if t.end-t.start <= maxTag || t.name == "" {
			continue
		}
		b.WriteString(text[done:t.start])
		if t.kind != html.EndTagToken && len(t.name) < maxTag {
			b.WriteString("<" + t.name + ">")
		}
		done = t.end
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// safeTag returns the tag to write for a tag with wiki syntax in an attribute. The restored tag is
// kept only if the bare one, in which nests show nothing, is harmless too: java{{X}}script: must
// not become an address. Images never keep wiki syntax.
func safeTag(restored, bare string) string {
	without := strings.ReplaceAll(bare, ` href=""`, "")
	if clean := policy().Sanitize(without); clean != without || strings.HasPrefix(bare, "<img") {
		return clean
	}
	return restored
}

// policy returns the shared policy. It is not changed after it is created.
var policy = sync.OnceValue(newPolicy)

// pathStep matches one step of a path, but not ".." in any encoding.
const pathStep = `([\p{L}\p{N}_+,:@*~-]|%[013-9a-fA-F][0-9a-fA-F]|%2[0-9a-dfA-DF]|\.[\p{L}\p{N}_+,:@*~-])+`

// newPolicy makes the patterns, too: most programs never sanitize a text, and Unicode's classes are large.
func newPolicy() *bluemonday.Policy {
	var (
		classNames = regexp.MustCompile(`^[\p{L}\p{N}\s_-]+$`)
		ownImage   = regexp.MustCompile(`^/api(/` + pathStep + `)+(\?[\p{L}\p{N}_%+,:@*~=&-]*)?$`)
		colour     = regexp.MustCompile(`(?i)^(#[0-9a-f]{3,8}|[a-z]{3,24}|(rgb|hsl)a?\([0-9.,%\s/deg-]{1,60}\))$`)
		wordStyle  = regexp.MustCompile(`(?i)^[a-z-]{1,24}$`)
		fontSize   = regexp.MustCompile(`(?i)^([a-z-]{1,12}|[0-9]{1,3}(\.[0-9]{1,2})?(px|pt|em|rem|%))$`)
		numberOf   = regexp.MustCompile(`^[0-9]{1,4}$`)
	)
	p := bluemonday.NewPolicy()
	p.AllowElements("article", "aside", "section", "header", "footer", "figure", "figcaption", "details", "summary",
		"h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "wbr", "blockquote", "pre",
		"abbr", "b", "bdi", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "s", "samp", "small",
		"strike", "strong", "sub", "sup", "tt", "u", "var", "ruby", "rp", "rt", "a", "font")
	p.AllowLists()
	p.AllowTables()
	p.AllowAttrs("class").Matching(classNames).Globally()
	p.AllowAttrs("title").Matching(bluemonday.Paragraph).Globally()
	p.AllowAttrs("color").Matching(colour).OnElements("font")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`(?i)^(open)?$`)).OnElements("details")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`(?i)^(checked|disabled)?$`)).OnElements("input")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`(?i)^checkbox$`)).OnElements("input")
	p.AllowAttrs("start").Matching(numberOf).OnElements("ol")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.AllowAttrs("src").Matching(ownImage).OnElements("img")
	p.AllowAttrs("alt").Matching(bluemonday.Paragraph).OnElements("img")
	p.AllowAttrs("width", "height").Matching(numberOf).OnElements("img")
	p.AllowStyles("color", "background-color", "background").Matching(colour).Globally()
	p.AllowStyles("font-weight", "font-style", "text-align", "text-decoration").Matching(wordStyle).Globally()
	p.AllowStyles("font-size").Matching(fontSize).Globally()
	return p
}
