package secrecy

import (
	"runtime"
	"strings"
	"testing"
)

// TestHTMLMarks splits HTML texts. [HID] parts are in the secret, the rest is open as written.
func TestHTMLMarks(t *testing.T) {
	for _, tc := range []struct{ name, in, open string }{
		{"no mark", `<p class="lead">a &amp; b</p>`, `<p class="lead">a &amp; b</p>`},
		{"a section", `a<section class="secret">HID</section>c`, "ac"},
		{"in capitals, unquoted, without an end", `a<SECTION id=1 CLASS='note secret x'>HID`, "a"},
		{"a section in a section", `<section class="secret"><p>HID<section>HID</section>HID</p></section>c`, "c"},
		{"another class", `<section class="secretary">b</section>`, `<section class="secretary">b</section>`},
		{"revealed", `<section class="secret revealed">b</section>`, `<section class="secret revealed">b</section>`},
		{"revealed does not open other classes", `<p class="gm-only revealed">HID</p>`, ""},
		{"within an open one", `<section class="a"><section class="secret">HID</section>c</section>`,
			`<section class="a">c</section>`},
		{"classes", `<p class="gm">HID</p><p class="GM-Only">HID</p><div class="dmNotes">HID</div>`, ""},
		{"entities in an attribute", `<p class="sec&#114;et">HID</p>b`, "b"},
		{"data-visibility", `<span data-visibility="gm">HID</span><i data-visibility=owner>HID</i><b DATA-Visibility="none">HID</b>` +
			`<i data-visibility="all">a</i>`, `<i data-visibility="all">a</i>`},
		{"other data", `<p data-audience="gm">HID</p><p data-secret>HID</p><p data-hidden="true">HID</p><p data-public=no>HID</p>` +
			`<p data-hidden="false" data-uuid="Item.secret">a</p>`, `<p data-hidden="false" data-uuid="Item.secret">a</p>`},
		{"hidden", `<p hidden>HID</p><p hidden="until-found">HID</p><img hidden alt="HID">a`, "a"},
		{"styles", `<p style="display:none">HID</p><p style="color:red; DISPLAY : none!important">HID</p>` +
			`<p style="visibility:hidden">HID</p><p style="display:/**/none">HID</p><p style="d\69splay:none">HID</p>` +
			`<p style="opacity:0">HID</p><p style="opacity:0.5">a</p>`, `<p style="opacity:0.5">a</p>`},
		{"elements", `<secret>HID</secret><GM>HID</GM><gm-only>HID</gm-only>a`, "a"},
		{"elements that are not shown", `<template><p>HID</p></template><noscript>HID</noscript><script>"</p>HID"</script>` +
			`<style>HID</style><meta content="HID">a`, "a"},
		{"comments", `<!-- HID -->a<!-- HID --!>b<!HID>c<?HID?>d</ HID>e<![CDATA[ <p>HID</p> ]]>f`, "abcdef"},
		{"a comment without an end", `a<!-- HID <p>HID</p>`, "a"},
		{"a comment that ends at once", `a<!-->HID-->b<!-->c`, "abc"},
		{"a void element", `<br class="secret">a<input type="hidden" value="HID">b`, "ab"},
		{"an end tag in another element", `<span class="secret">HID<div></span>HID</div></span>a`, "a"},
		{"omitted end tags", `<div class="secret"><p>HID<p>HID<ul><li>HID</ul></div>a`, "a"},
		{"a table with omitted end tags", `<table hidden><tr><td>HID<td>HID</table>a`, "a"},
		{"the end of a cell", `<table><tr><td><span class="secret">HID</td><td>HID</td></tr></table>`, "<table><tr><td>"},
		{"in a cell", `<table><tr><td class="secret">HID</td><td>a</td></tr></table>`, `<table><tr><td>a</td></tr></table>`},
		{"a tag without an end", `a<span class="secret" title="HID`, "a"},
		{"a sign that is no tag", `a < b, 1<2 and <3`, `a < b, 1<2 and <3`},
		{"in a text area", `<textarea><p class="secret">HID</p></textarea>`, `<textarea></textarea>`},
		{"in an attribute", `<a title="<span class='secret'>HID</span>" href="x">a</a>`, `<a href="x">a</a>`},
		{"in an attribute with entities", `<img alt="&lt;secret&gt;HID&lt;/secret&gt;">a`, `<img>a`},
		{"tags in brackets", `a[secret]HID[/secret]b[SECRET]HID[secret]HID[/Secret]HID[/sEcret]c[spoiler=x]HID[/spoiler]d`, "abcd"},
		{"tags in brackets over elements", `<p>a[secret]HID</p><p>HID[/secret]b</p>`, `<p>ab</p>`},
		{"tags in brackets without an end", `a[secret]HID <p>HID`, "a"},
		{"tags with entities", `a&#91;secret&#93;HID&lbrack;/secret]b`, "ab"},
		{"a secret kept elsewhere", `a[secret:12-34]b[secret]HID[/secret]c`, "abc"},
		{"a secret with a number and an end", `a[secret:12]HID[/secret]c[subcontainer:9]HID[/subcontainer]d`, "acd"},
		{"names of the game master only in pairs", `a [gm]HID[/gm] b [GM] c`, `a  b [GM] c`},
		{"a wiki link", `[[Secrets]] and [[Hidden]] a`, `[[Secrets]] and [[Hidden]] a`},
		{"an end tag in an attribute", `[secret]<a title="[/secret]">HID</a>[/secret]a`, "a"},
		{"a heading", `<h2>GM notes</h2><p>HID</p><h3>HID</h3><p>HID</p><h2>Next</h2>a`, `<h2>Next</h2>a`},
		{"a heading in an element", `<div><h2 id=x><b>Secrets</b></h2>HID</div>a`, `<div></div>a`},
		{"another heading", `<h2>Secretaries</h2>a`, `<h2>Secretaries</h2>a`},
		{"details", `<details><summary>GM notes</summary>HID</details><details><summary>b</summary>a</details>`,
			`<details><summary>b</summary>a</details>`},
		{"for screens only", `<span class="visually-hidden">a</span><p aria-hidden="true">b</p>`,
			`<span class="visually-hidden">a</span><p aria-hidden="true">b</p>`},
		{"a doubtful class", `<p class="gm-stuff">HID</p>a`, "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Split(tc.in, HTML, everyMark)
			if got.Open != tc.open || joinParts(got) != tc.in || strings.Contains(got.Open, "HID") {
				t.Errorf("%s\n open %q\n want %q", tc.in, got.Open, tc.open)
			}
			if again := Split(got.Open, HTML, everyMark); again.Open != got.Open {
				t.Errorf("the open part %q has marks: %q", got.Open, again.Open)
			}
		})
	}
	if got := Split(`<p class="gm-stuff">a</p>`, HTML, func(m Mark) bool { return !m.Doubt }); got.Secret() != "" {
		t.Errorf("a doubt hides %q", got.Secret())
	}
}

// FuzzHTML checks that a marked text stays hidden, whatever stands around it, and that the parts give the text
// again.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{`a<section class="secret">b</section>`, "<!--", "[secret]", `<a title="<b>`, "<table><td>", "]]>",
		"<script>", "&#91;", "<h2>GM notes</h2>", "</span>", "<plaintext>", "<svg><title>", "<![CDATA["} {
		f.Add(s, "</p>")
	}
	f.Fuzz(func(t *testing.T, before, within string) {
		if strings.Contains(before+within, "MARKED") {
			return
		}
		h := Split(before+within, HTML, everyMark)
		if joinParts(h) != before+within {
			t.Errorf("%q does not come back: %+v", before+within, h)
		}
		if again := Split(h.Open, HTML, everyMark); len(again.Open) > len(h.Open) {
			t.Errorf("%q grows", h.Open)
		}
		for _, mark := range []string{"[secret]MARKED[/secret]", "<secret>MARKED</secret>", "<!--MARKED-->",
			`<p class="gm-only">MARKED</p>`} {
			clean := strings.NewReplacer("<", " ", "[", " ", "&", " ", "-", " ").Replace(before)
			if got := Split(clean+mark+within, HTML, everyMark); strings.Contains(got.Open, "MARKED") {
				t.Errorf("%q stays open after %q: %q", mark, clean, got.Open)
			}
		}
	})
}

// TestSplitIsLinear splits hostile texts of two sizes: the work grows with the size, not with its square. The
// number of bytes that are allocated stands for the work; a large slice is copied more often when it grows, so up to
// twenty times are allowed.
func TestSplitIsLinear(t *testing.T) {
	for _, unit := range []string{"<b>", "</i>", "<b></i>", "<p><td><b></p>", "[secret]", "[secret:1]", "[/secret]",
		"<!--",
		"<a ", "<a href=\"", "<h2>", "<h1>GM</h1>", "<![CDATA[", "<!-->", "&#91;", "<p title='<b>'>", "<secret>",
		"<td hidden>",
		"<script>", "[a]", "<a<b>", "<textarea>", "%%", "`", "<p class=secret>", "<x y='<p class=secret>'>", "<a b>", "::: secret\n", "> [!secret]\n", "- # GM\n",
		"!!! secret\n    a\n", "{{< secret >}}\n", "```ad-note\na\n", "| GM | a |\n", "> ```\n", "<section class=\"secret\">\n",
		"`a\n", "Secret: x\n", "    a\n\n", "- a\n  - b\n", "\\<", "%% a %% "} {
		for _, form := range []Form{HTML, Markdown} {
			work := func(n int) (bytes uint64) {
				text := strings.Repeat(unit, n/len(unit))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				Split(text, form, everyMark)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			if small, large := work(20_000), work(200_000); large > 20*small+1<<20 {
				t.Errorf("%q in form %d takes %d bytes, and %d for ten times the text", unit, form, small, large)
			}
		}
	}
}
