package markup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"loregate/internal/cputest"
	"loregate/internal/markup"
)

func TestToHTML(t *testing.T) {
	for in, want := range map[string]string{
		"# Title\n\ntext":                   "<h1>Title</h1>\n<p>text</p>",
		"two\nlines":                        "<p>two\nlines</p>",
		"~~no~~ **yes**":                    "<p><del>no</del> <strong>yes</strong></p>",
		"[[A & B|\"q\"]] {{C|v;k:\"x\"}}":   `<p>[[A & B|"q"]] {{C|v;k:"x"}}</p>`,
		"`[[A_b_c|d]]` *[[E*]]*":            "<p><code>[[A_b_c|d]]</code> <em>[[E*]]</em></p>",
		"    {{A|b}}":                       "<pre><code>{{A|b}}\n</code></pre>",
		`\[[A]] \{{B}}`:                     `<p>\[[A]] \{{B}}</p>`,
		"| x |\n|---|\n| [[A|B]] {{C|d}} |": "<table>\n<thead>\n<tr>\n<th>x</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>[[A|B]] {{C|d}}</td>\n</tr>\n</tbody>\n</table>",
		"- [x] a\n- [ ] b":                  "<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> a</li>\n<li><input disabled=\"\" type=\"checkbox\"> b</li>\n</ul>",
		"- a\n\n- b":                        "<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
		"a<script>alert(1)</script>":        "<p>a</p>",
		"[x](javascript:alert(1))":          "<p>x</p>",
		"<span class=\"spoiler\" style=\"color:red\">x</span>": `<p><span class="spoiler" style="color: red">x</span></p>`,
		"[[<script>alert(1)</script>]]":                        "<p>[[]]</p>",
		"":                                                     "",
	} {
		got, err := markup.ToHTML(context.Background(), in)
		if err != nil || got != want {
			t.Errorf("ToHTML(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if got, _ := markup.ToHTMLTrusted(context.Background(),
		"<!-- c -->\n\n<script>x</script> [[A]]"); got != "<!-- c -->\n<script>x</script> [[A]]" {
		t.Errorf("trusted gave %q", got)
	}
	for in, want := range map[string]error{
		strings.Repeat("a", markup.MaxConvert+1): markup.ErrTooLong,
		strings.Repeat(">", 10000) + "a":         markup.ErrTooDeep,
		strings.Repeat("- ", 10000) + "a":        markup.ErrTooDeep,
		strings.Repeat("[a](", 1<<17):            markup.ErrTooDense,
	} {
		if _, err := markup.ToHTML(context.Background(), in); !errors.Is(err, want) {
			t.Errorf("ToHTML(%.10q…) = %v, want %v", in, err, want)
		}
	}
}

func TestToMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"<h2>T</h2><p>a <b>b</b> <i>c</i></p>":                        "## T\n\na **b** *c*",
		"<p>[[A_b|c*d*]] {{+x_y|titled}} \\[[E]]</p>":                 "[[A_b|c*d*]] {{+x_y|titled}} \\[[E]]",
		"<p>[[A &amp; B]]</p>":                                        "[[A &amp; B]]",
		"<table><tr><th>h</th></tr><tr><td>[[A|B]]</td></tr></table>": "| h |\n|---|\n| [[A|B]] |",
		"<ul><li><input type=checkbox checked> a</li></ul>":           "- [x] a",
		"<p>x</p><script>alert(1)</script><!-- c -->":                 "x",
		"": "",
	} {
		if got, err := markup.ToMarkdown(context.Background(), in); err != nil || got != want {
			t.Errorf("ToMarkdown(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := markup.ToMarkdown(context.Background(), strings.Repeat("<div>", 10000)); !errors.Is(err,
		markup.ErrTooDeep) {
		t.Errorf("deep HTML gave %v", err)
	}
}

// Converting Markdown to HTML, to Markdown and to HTML again gives the same HTML.
func TestRoundTrip(t *testing.T) {
	for _, md := range []string{
		"# Title\n\nPara *em* **strong** ~~del~~ `code [[A & B]]` https://x.org/a?b=1&c=2 and [l](http://e.org \"t\").",
		"- a\n- b\n  - c\n\n1. x\n2. y\n\n- [x] done\n- [ ] todo",
		"> quote\n> more\n>\n> - list\n> - in quote",
		"```go\nfunc a() { [[A|B]] }\n\nx\n```\n\n---\n\ntext",
		"| a | b |\n|:--|--:|\n| [[A|B]] | {{C|view:x}} |\n| x \\| y | `z` |",
		"Escape \\[[A]] and \\{{B}} and [[A & B|\"q\"]] a_b_c 1*2 3*4  \nbreak & < > snow",
		"{{Nest|titled}}\n\n## Sub [[L]]\n\nTerm \"quoted\" it's 100% $5 #tag + x - y. 1. no \\# no \\* no",
		"[[A < B|c]] *[[A]]* _[[A]]_ **[[A]]**x \\*no\\*",
		"3. three\n4. four\n\npara\n\n- one\n\n  two\n\n- three",
		"- a\n\n<!-- -->\n\n- b\n\n* c", "a\\\nb",
		"Ezra\n[[Fathom]]\n**glass**\n*heart*\n`code`\n[l](http://e.org)",
		"a\n\\- b\n\\# c\n\\> d\n1\\. e\n\\---\n\\===\n\\* f\n+g", "**a\nb** c\nd  \ne\nf",
		"- one\n  two\n  - three\n    four\n- five", "> - a\n>   b\n>\n> c\n> d", "> > a\n> > b\n\n1. c\n   d",
		"a | b\n\\--- | ---", "Two\nlines\n=====\n\nx", "[a\nb](http://e.org)\nc",
		"黒い\n王", "- [ ] a\n  b", "~~a~~\n~~b~~",
		"![img](/api/mcp/a.png) été 日本 👩\u200d🚀", "\\- not a list\n\n1\\. nor this\n\n\\> nor a quote",
	} {
		first, err := markup.ToHTML(context.Background(), md)
		if err != nil {
			t.Fatal(err)
		}
		back, err := markup.ToMarkdown(context.Background(), first)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := markup.ToHTML(context.Background(), back); second != first {
			t.Errorf("%q came back as %q:\n%s", md, back, markup.Diff(first, second))
		}
	}
}

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		`<p onclick="x()" style="color:red;position:fixed;background-color:rgb(1, 2,3)" class="spoiler a">[[A & B|"q"]] {{X|v;a:"b"}}</p>`: `<p style="color: red; background-color: rgb(1, 2,3)" class="spoiler a">[[A & B|"q"]] {{X|v;a:"b"}}</p>`,
		`<script>a</script><style>b</style><iframe src=x>c</iframe>d`:                                                                      `d`,
		`<a title="[[x" onclick="y]]" href="{{_|url}}">m</a>`:                                                                              `<a title="[[x&#34; onclick=&#34;y]]" href="{{_|url}}">m</a>`,
		`<p title='[[x|"onmouseover=alert(1) y="]]'>t</p>`:                                                                                 `<p title="[[x|&#34;onmouseover=alert(1) y=&#34;]]">t</p>`,
		`<a href="java{{x}}script:alert(1)">q</a>`:                                                                                         `q`,
		`<a href="{{x}}javascript:alert(1)">q</a>`:                                                                                         `q`,
		`<a href="/a/{{x}}">q</a>`:                                                                                                         `<a href="/a/{{x}}">q</a>`,
		`[[<script>alert(1)</script>]]`:                                                                                                    `[[]]`,
		`<[[a]]script>alert(1)</[[a]]script>`:                                                                                              `alert(1)`,
		`<!-- [[ --> ]] <b>x</b> -->`:                                                                                                      ``,
		`<img src="http://e/x.png"><img src="//e/x"><img src="/x.png">`:                                                                    ``,
		`<img src="/api/a.b/c%20d.png?x=1" alt="a">`:                                                                                       `<img src="/api/a.b/c%20d.png?x=1" alt="a">`,
		`<img src="/api/../x"><img src="/api/%2e%2E/x"><img src="/api/..">`:                                                                ``,
		`<img src="/api/mcp/{{X}}.png">`:                                                                                                   `<img src="/api/mcp/.png">`,
		`<a href="data:text/html,x">y</a><a href=" javascript:x">z</a>`:                                                                    `yz`,
		`<p>&#x202e;abc&#xE0041;</p>`:                                                                                                      `<p>abc</p>`,
		`<input type=text><input type=checkbox checked>`:                                                                                   `<input type="checkbox" checked="">`,
		`a < b & c`: `a &lt; b &amp; c`,
	} {
		if got, _ := markup.Sanitize(context.Background(), in); got != want {
			t.Errorf("Sanitize(%q)\n got %s\nwant %s", in, got, want)
		}
	}
}

// live returns a description of something in HTML that a browser would run or fetch, or "".
func live(doc string) string {
	root, err := html.Parse(strings.NewReader("<body>" + doc))
	if err != nil {
		return ""
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "style", "iframe", "object", "embed", "form", "base", "meta", "link", "svg", "math", "template",
			"video", "audio":
			return "element " + n.Data
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.Join(strings.Fields(strings.Map(dropControl, a.Val)), ""))
			switch {
			case strings.HasPrefix(a.Key, "on"):
				return "handler " + a.Key
			case (a.Key == "href" || a.Key == "src") && (strings.HasPrefix(value, "javascript:") ||
				strings.HasPrefix(value, "data:") || strings.HasPrefix(value, "vbscript:")):
				return "address " + a.Val
			case a.Key == "src" && !strings.HasPrefix(a.Val, "/api/"):
				return "image " + a.Val
			case a.Key == "style" && strings.Contains(value, "url("):
				return "style " + a.Val
			}
		}
	}
	return ""
}

func dropControl(r rune) rune {
	if r < ' ' {
		return -1
	}
	return r
}

func TestLiveDetectsUnsanitised(t *testing.T) {
	for _, doc := range []string{"<script>x</script>", "<b onclick=x>", "<a href='java\nscript:x'>", "<img src=//e/x>",
		"<p style='background:url(x)'>"} {
		if live(doc) == "" {
			t.Errorf("%q passes for harmless", doc)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{
		`<a title="[[x" onclick="y]]" href="java[[q]]script:alert(1)">z</a>`, `<p title='{{x|"onclick=a "}}'>`,
		`<[[a]]script>alert(1)</script>`, `[[<img src=x onerror=alert(1)>]]`, `<svg><style><img src=x onerror=alert(1)>`,
		`<!-- [[ --><script>]] -->`, `<img src="/api/{{x}}" style="color:red;background:url(javascript:x)">`,
		"\\[[<b>&lt;script&gt;{{#<!--}}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, _ := markup.Sanitize(context.Background(), s)
		if what := live(out); what != "" {
			t.Fatalf("Sanitize(%q) = %q has %s", s, out, what)
		}
		// The result must be harmless too if every nest shows nothing.
		var bare strings.Builder
		done := 0
		for _, r := range markup.Refs(out) {
			bare.WriteString(out[done:r.Start])
			done = r.End
		}
		bare.WriteString(out[done:])
		if what := live(bare.String()); what != "" {
			t.Fatalf("Sanitize(%q) = %q has %s without its refs", s, out, what)
		}
		if html, err := markup.ToHTML(context.Background(), s); err == nil {
			if what := live(html); what != "" {
				t.Fatalf("ToHTML(%q) = %q has %s", s, html, what)
			}
		}
	})
}

func FuzzConvert(f *testing.F) {
	for _, s := range []string{"# a\n\n- [[b|c]]\n\n| x |\n|-|\n| {{y|z}} |", "> a\n```\n[[b]]\n```",
		"<p>[[a]]</p>\\{{x}}", "w[[a]]0e[[b]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := markup.ToHTMLTrusted(context.Background(), s)
		if err != nil {
			return
		}
		at := 0
		for _, r := range markup.Refs(s) {
			piece := s[r.Start:r.End]
			if strings.ContainsAny(s, "<") || strings.ContainsAny(piece, "&\"'>") {
				continue // inside tags, links and nests are escaped
			}
			i := strings.Index(out[at:], piece)
			if i < 0 && !strings.Contains(out, piece) && !strings.Contains(s, "]:") && !strings.Contains(s, "](") &&
				!strings.Contains(s, "```") && !strings.Contains(s, "~~~") && !strings.Contains(s, "|") {
				t.Fatalf("%q is lost from %q: %q", piece, s, out)
			}
		}
		if _, err := markup.ToMarkdown(context.Background(), s); err != nil && !errors.Is(err, markup.ErrTooDeep) {
			t.Fatal(err)
		}
	})
}

// The cost of converting hostile documents is proportional to their length.
func TestConvertHostile(t *testing.T) {
	for _, piece := range []string{"[[", "{{", "[", "![", "*a ", "`", "``a", "<", "<a ", "<!--", "> ", "- a\n", "| a ",
		"&amp", "[a](", "[[a]]", "\\", "<p>", "~~a", "_a_", "http://a.b ", "[a]: b\n"} {
		for name, convert := range map[string]func(string){
			"ToHTML":     func(s string) { _, _ = markup.ToHTML(context.Background(), s) },
			"ToMarkdown": func(s string) { _, _ = markup.ToMarkdown(context.Background(), s) },
			"Sanitize":   func(s string) { _, _ = markup.Sanitize(context.Background(), s) },
			"Text":       func(s string) { markup.Text(s) },
			"Outline":    func(s string) { markup.Outline(s) },
		} {
			cputest.CheckLinear(t, fmt.Sprintf("%s of %q", name, piece), 1<<15/len(piece),
				func(n int) { convert(strings.Repeat(piece, n)) })
		}
	}
}

func BenchmarkSanitize(b *testing.B) {
	page := strings.Repeat("<p class=\"a\">Some <b>words</b> about [[A+B|the thing]] &amp; {{C|titled}} and more.</p>\n", 200)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		_, _ = markup.Sanitize(context.Background(), page)
	}
}

func BenchmarkToHTML(b *testing.B) {
	page := strings.Repeat("Some **words** about [[A+B|the thing]] & {{C|titled}} and more.\n\n", 200)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		_, _ = markup.ToHTML(context.Background(), page)
	}
}
