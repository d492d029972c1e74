package markup_test

import (
	"fmt"
	"iter"
	"strings"
)

// hostileElements are known and unknown HTML elements that the documents are made of.
var hostileElements = strings.Fields(`a abbr address applet article aside b base bdi big blockquote body br button caption center
	cite code col colgroup dd del details dfn dir div dl dt em embed fieldset figure font footer form frameset h1 h2 h6 head header hr html
	i iframe img input ins kbd li link listing main marquee math meta nav nobr noembed noframes noscript object ol optgroup option
	p param plaintext pre q rp rt ruby s samp script section select small span strike strong style sub summary sup svg table tbody td
	template textarea tfoot th thead title tr tt u ul var video wbr x-y xmp`)

// hostileMarks are the characters and constructs of Markdown, wiki syntax and HTML at which a
// converter opens something or looks ahead.
var hostileMarks = []string{
	"[[", "]]", "{{", "}}", "{{#", "\\{{", "[[|", "[", "]", "![", "](", "[a](", "[a](<", "[a][", "[a]: b\n", "[a]:\n",
	"[[a]]", "{{a}}", "{{_+_}}", "[a", "[a]", "[a] ", "(", "<(",
	"*", "**", "***", "_", "__", "~", "~~", "*a ", "*a **a ", "a* ", "_a __a ", "~~a ~a ", "*a_ ", "a**b*c ", "`", "``",
	"`a ``b ", "``a", "\\", "\\`", "\\[", "&", "&amp", "&amp;", "&#x", "&#0;", "&CounterClockwiseContourIntegral;",
	"<", "</", "<!", "<!--", "<!-->", "<!-- -->", "<?", "<![CDATA[", "<a", "<a ", "<a b", "<a b=", `<a b="`, "<a/",
	"<a><!--", "<a@b", "<http:", "<!A", "-->", "]]>", "?>",
	"> ", ">", "- ", "- a\n", "* a\n\n", "+ ", "1. ", "1. a\n", "1) a\n", "- [ ] a\n", "-\n", ">\n", "> a\n", "    a\n",
	"\ta\n", "# ", "# a\n", "#", "a\n===\n", "a\n---\n", "---\n", "```", "```\n", "~~~\n", "``` a\n", "\n", "\n\n", " \n",
	"  \n", "a\n", "a  \n", "a\\\n", "\r", "\r\n",
	"|", "| a ", "|-", "|-|\n", "a|b\n-|-\n", "|a|\n|-|\n|b|\n\n", "|\\|", "`\\|", "|`\\|`",
	"http://a.b ", "https://a.b(", "www.a.b ", "www.", "a@b.c ", "a@", "a.b@", "mailto:a ", "::", ": ", "[^a]",
	"[^a]: b\n", "==", "^",
	"\u0301", "a\u0301\u0302", "\u200d", "\u202e", "\ufe0f", "👨‍👩‍👧", "\U000e0041", "\xff", "\xc3", "\x00", "ẞ", "ﷺ", "한",
	"\u2028", "a,", " a", "\t", "Aa", "ies ", "A+", "+",
}

// hostileDocs yields names and documents of about size bytes. Each document triggers a costly case
// of a converter.
func hostileDocs(size int) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, docs := range []iter.Seq2[string, string]{repeated(size), elements(size), structuredDocs(size)} {
			for name, doc := range docs {
				if !yield(name, doc) {
					return
				}
			}
		}
	}
}

func fill(piece string, size int) string { return strings.Repeat(piece, max(size/len(piece), 1)) }

func repeated(size int) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, mark := range hostileMarks {
			name := fmt.Sprintf("%q", mark)
			ok := yield("repeat "+name, fill(mark, size)) &&
				yield("closed "+name, fill(mark, size/2)+fill("]]}}--></a>)`*_", size/2)) &&
				yield("in a paragraph "+name, "<p>"+fill(mark, size)+"</p>") &&
				yield("in a cell "+name, "<table><tr><td>"+fill(mark, size)+"</td></tr></table>") &&
				yield("in code "+name, "<pre><code>"+fill(mark, size)+"</code></pre>") &&
				yield("in a link "+name, "<a href=\""+fill(mark, size)+"\">"+"x</a>") &&
				yield("in a list "+name, "- "+fill(mark, size))
			if !ok {
				return
			}
		}
	}
}

func elements(size int) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, e := range hostileElements {
			open, end := "<"+e+">", "</"+e+">"
			n := size / (len(open) + len(end))
			ok := yield("open "+open, fill(open, size)) &&
				yield("close "+open, fill(end, size)) &&
				yield("nest "+open, strings.Repeat(open, n)+"x"+strings.Repeat(end, n)) &&
				yield("row of "+open, fill(open+"x"+end, size)) &&
				yield("text in "+open, fill(open+"x", size)) &&
				yield("in blocks "+open, fill("<p>"+open+"x", size)) &&
				yield("in cells "+open, "<table>"+fill("<tr><td>"+open+"x", size)) &&
				yield("in items "+open, fill("<ul><li>"+open+"x", size)) &&
				yield("around paragraphs "+open, strings.Repeat(open, 60)+fill("<p>x\n</p>", size)+strings.Repeat(end, 60)) &&
				yield("attributes of "+open, "<"+e+fill(` a="b"`, size)+">") &&
				yield("a long attribute of "+open, "<"+e+` style="`+fill("color:red;", size)+`" title="`+fill("x", size)+`">x`)
			if !ok {
				return
			}
		}
	}
}

// structuredDocs yields documents that are more than one repeated piece.
func structuredDocs(size int) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		var ticks, indented, numbered, refs strings.Builder
		for i := 1; ticks.Len() < size; i++ {
			ticks.WriteString(strings.Repeat("`", i%2000+1) + "a")
		}
		for i := 0; indented.Len() < size; i++ {
			indented.WriteString(strings.Repeat(" ", 2*(i%90)) + "- a\n")
		}
		for i := 0; numbered.Len() < size; i++ {
			fmt.Fprintf(&numbered, "<b class=c%d>", i)
		}
		for i := 0; refs.Len() < size; i++ {
			fmt.Fprintf(&refs, "[r%d]: /u%d\n[r%d] ", i, i, i)
		}
		half := size / 2
		deep := ""
		for i := range 45 {
			deep += strings.Repeat(" ", 2*i) + "- a\n"
		}
		some := func(format string, n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, format, i)
			}
			return b.String()
		}
		for _, doc := range [][2]string{
			{"wide table", fill("|a", half) + "|\n" + fill("|-", half) + "|\n" + fill("|x|\n", half)},
			{"many tables", fill(fill("|a", 60)+"|\n"+fill("|-", 60)+"|\n"+fill("|x|\n", 200)+"\n", size)},
			{"piped code", "|a|\n|-|\n" + fill("|`a\\|b`|\n", size)},
			{"colspan", `<table><tr><td colspan="1000000000">x</td></tr></table>`},
			{"rowspan", `<table><tr><td rowspan="1000000000">x</td></tr></table>`},
			{"spans", "<table>" + fill(`<tr><td colspan="900" rowspan="900">x</td></tr>`, size) + "</table>"},
			{"many spans", fill(`<table><tr><td colspan="999" rowspan="999">x</td></tr></table>`, size)},
			{"wide row, many rows", "<table><tr>" + fill("<td>", half) + "</tr>" + fill("<tr>", half) + "</table>"},
			{"colspans in one row", "<table><tr>" + fill(`<td colspan=50>`, size) + "</table>"},
			{"ticks of all lengths", ticks.String()},
			{"deeper and deeper", indented.String()},
			{"deep, then blank lines", deep + strings.Repeat("\n", size) + "x"},
			{"deep, then lines", deep + fill("x\n", size)},
			{"formatting that is opened again", some("<b class=c%d>", min(half/16, 480)) + fill("<p>x", half)},
			{"distinct formatting", numbered.String()},
			{"references", refs.String()},
			{"one long reference", "[a]: /" + fill("x", half) + "\n\n" + fill("[a]\n", half)},
			{"one long reference title", "[a]: /x \"" + fill("x", half) + "\"\n\n" + fill("![a]\n\n", half)},
			{"nested quotes", fill(strings.Repeat(">", 99)+" a\n", size)},
			{"nested quotes, lazy", strings.Repeat(">", 99) + " a\n" + fill("a\n", size)},
			{"quotes in HTML", strings.Repeat("<blockquote>", 90) + fill("<p>a</p>", size)},
			{"lists in HTML", strings.Repeat("<ul><li>", 90) + fill("a<br>", size)},
			{"lists of code in HTML", strings.Repeat("<ol><li>", 40) + "<pre>" + fill("a\n", size) + "</pre>"},
			{"bold over lines", strings.Repeat("<b><i>", 40) + fill("a<br>", size)},
			{"a start in the millions", "<ol start=9999999999999999999>" + fill("<li>a", size)},
			{"a tall list of tables", fill("<ul><li><table><tr><td>a<td>b</table>", size)},
			{"nested tables", fill("<table><tr><td>a<td>", size)},
			{"nests that repeat the card", fill("{{"+fill("_+", 2000)+"x}} ", size)},
			{"links that repeat the card", fill("[["+fill("_left+", 2000)+"x]] ", size)},
			{"options", "{{a" + fill("|b:c;d", size) + "}}"},
			{"long word", fill("x", size)},
			{"long name", "[[" + fill("a+", size) + "]]"},
			{"headings", fill("<h1>a", size) + fill("\n# a", size)},
			{"style", `<p style="` + fill("/*", size) + `">x</p>`},
			{"style strings", `<p style="` + fill("a:'", size) + `">x</p>`},
			{"style urls", `<p style="` + fill("color:url(", size) + `">x</p>`},
			{"style signs", `<p style="` + fill("color:rgb(", size) + `">x</p>`},
			{"classes", `<p class="` + fill("a ", size) + `">` + fill(`<b class="a b">x</b>`, size)},
			{"nests in attributes", fill(`<a title="{{x}}" href="{{y}}">z</a>`, size)},
			{"links and images", fill(`<a href="/x" title="[[y]]"><img src="/api/a" alt="b"></a>`, size)},
			{"links in bold", fill("<b><a href=/x>", size)},
			{"headings in links", fill("<a href=/x><h2>", size)},
			{"code in pre", fill("<code><pre>", size)},
			{"closed formatting across", fill("<b><i></b></i>", size)},
			{"paragraphs across", fill("<b><p></b></p>", size)},
			{"cells across", fill("<table><b><tr><i><td></b>", size)},
			{"definitions over lines", fill("[a\n", size) + "]: b"},
			{"titles without an end", fill("[a]: b 'c\n", size)},
			{"links without an end", fill("[a](b 'c ", size)},
			{"links and stars", fill("[*a](", half) + fill("**b]", half)},
			{"brackets in links", strings.Repeat("[", half) + strings.Repeat("](a)", half/4)},
			{"mail without a host", fill("a.", half) + "@" + fill("b-", half)},
			{"dots and signs", "http://a." + fill("b?!.,", size)},
			{"closing brackets of an address", "http://a.b" + fill(")", size)},
			{"ends of entities", "http://a.b/" + fill("&a;", size)},
		} {
			if !yield(doc[0], doc[1]) {
				return
			}
		}
	}
}
