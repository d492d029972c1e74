package prooftest

import "strings"

// textForm is the form in which a card keeps its text.
type textForm int

const (
	inMarkdown textForm = iota
	inHTML
)

// exactMark is a mark that hides a part of a text, with the places of secrets: {a} and {b}.
type exactMark struct {
	kind string
	form textForm
	text string
}

// exactMarks has each mark of the table of import --explain that hides a part of a text.
var exactMarks = []exactMark{
	{"callout secret", inMarkdown, "> [!secret]\n> {a}\n"},
	{"callout gm with a fold and a title", inMarkdown, "> [!gm]- Title {b}\n> {a}\n"},
	{"callout dm-only", inMarkdown, "> [!dm-only]+\n> {a}\n>\n> {b}\n"},
	{"callout spoiler", inMarkdown, "> [!spoiler]\n> - {a}\n> - {b}\n"},
	{"callout hidden", inMarkdown, "> [!hidden]\n> # {a}\n> {b}\n"},
	{"callout in a callout", inMarkdown, "> [!note] Seen\n> Seen.\n>\n> > [!secret]\n> > {a}\n"},
	{"callout in a list", inMarkdown, "- One.\n  > [!secret]\n  > {a}\n- Two.\n"},
	{"callout in a hidden callout", inMarkdown, "> [!secret]\n> {a}\n> > [!note]\n> > {b}\n"},
	{"percent signs in a line", inMarkdown, "They say %%{a} and {b}%% softly.\n"},
	{"percent signs around a block", inMarkdown, "%%\n{a}\n\n{b}\n%%\n"},
	{"percent signs in a cell", inMarkdown, "| one | two |\n|---|---|\n| x %%{a}%% | y |\n| z | %%{b}%% |\n"},
	{"percent signs in a list", inMarkdown, "- One.\n- %%{a}%%\n- Two %%{b}%%.\n"},
	{"percent signs in a heading", inMarkdown, "## Harbour %%{a}%%\n\nSeen.\n"},
	{"percent signs in a task", inMarkdown, "- [ ] Find it %%{a}%%\n- [x] Done\n"},
	{"percent signs in a footnote", inMarkdown, "A note.[^1]\n\n[^1]: Known %%{a}%% here.\n"},
	{"comment of HTML", inMarkdown, "They say <!-- {a} --> softly.\n"},
	{"comment of HTML in lines", inMarkdown, "<!--\n{a}\n\n{b}\n-->\n"},
	{"comment of Markdown", inMarkdown, "[//]: # ({a})\n"},
	{"element of class secret", inMarkdown, "<div class=\"secret\">\n{a}\n</div>\n"},
	{"element of class gm-only", inMarkdown, "They say <span class=\"gm-only\">{a}</span> softly.\n"},
	{"element secret", inMarkdown, "They say <secret>{a}</secret> softly.\n"},
	{"element gm", inMarkdown, "They say <gm>{a} <b>{b}</b></gm> softly.\n"},
	{"element hidden", inMarkdown, "<p hidden>{a}</p>\n"},
	{"element of display none", inMarkdown, "They say <span style=\"display:none\">{a}</span> softly.\n"},
	{"element template", inMarkdown, "<template>{a}</template>\n"},
	{"code block ad-secret", inMarkdown, "```ad-secret\ntitle: {b}\n{a}\n```\n"},
	{"code block ad-gm", inMarkdown, "````ad-gm\n{a}\n```\n{b}\n```\n````\n"},
	{"colons", inMarkdown, "::: secret\n{a}\n:::\n"},
	{"slashes", inMarkdown, "/// secret\n{a}\n///\n"},
	{"exclamation marks", inMarkdown, "!!! secret \"Title {b}\"\n    {a}\n"},
	{"question marks", inMarkdown, "??? secret\n    {a}\n\n    {b}\n"},
	{"equal signs", inMarkdown, "=== \"GM notes\"\n    {a}\n"},
	{"shortcode of Hugo", inMarkdown, "{{< secret >}}{a}{{< /secret >}}\n"},
	{"shortcode of Jekyll", inMarkdown, "{% secret %}\n{a}\n{% endsecret %}\n"},
	{"brackets secret", inMarkdown, "They say [secret]{a}[/secret] softly.\n"},
	{"brackets spoiler", inMarkdown, "[spoiler]\n{a}\n\n{b}\n[/spoiler]\n"},
	{"brackets hidden", inMarkdown, "They say [HIDDEN]{a}[/Hidden] softly.\n"},
	{"brackets gm", inMarkdown, "They say [gm]{a}[/gm] softly.\n"},
	{"brackets nested", inMarkdown, "They say [secret]{a} [secret]{b}[/secret] x[/secret] softly.\n"},
	{"spoiler of Discord", inMarkdown, "They say >!{a}!< softly.\n"},
	{"heading GM notes", inMarkdown, "## GM notes\n\n{a}\n\n### More\n\n{b}\n"},
	{"heading Secrets, underlined", inMarkdown, "Secrets\n-------\n\n{a}\n"},
	{"heading For the GM", inMarkdown, "### For the GM\n\n- {a}\n- {b}\n"},
	{"label gm in brackets", inMarkdown, "They say [gm:: {a}] softly.\n"},
	{"label dm notes in parentheses", inMarkdown, "They say (dm notes:: {a}) softly.\n"},
	{"label in a cell", inMarkdown, "| one | two |\n|---|---|\n| x [gm:: {a}] | y |\n"},
	{"two marks in a line", inMarkdown, "They %%{a}%% say %%{b}%% softly.\n"},
	{"two marks, one after the other", inMarkdown, "%%{a}%%\n\n> [!secret]\n> {b}\n"},
	{"link to an open card", inMarkdown, "They say %%[[Quay]] {a} [[Hidden {b}]]%% softly.\n"},
	{"HTML: class secret", inHTML, "<section class=\"secret\"><p>{a}</p></section>"},
	{"HTML: class gm-only in a line", inHTML, "<p>They say <span class=\"gm-only\">{a}</span> softly.</p>"},
	{"HTML: data-visibility", inHTML, "<div data-visibility=\"gm\"><p>{a}</p><p>{b}</p></div>"},
	{"HTML: hidden", inHTML, "<p hidden>{a}</p>"},
	{"HTML: display none", inHTML, "<p style=\"display:none\">{a}</p>"},
	{"HTML: element secret", inHTML, "<p>They say <secret>{a}</secret> softly.</p>"},
	{"HTML: comment", inHTML, "<p>They say <!-- {a} --> softly.</p>"},
	{"HTML: brackets", inHTML, "<p>They say [secret]{a}[/secret] softly.</p>"},
	{"HTML: brackets around blocks", inHTML, "<p>[gm]</p><p>{a}</p><p>{b}[/gm]</p>"},
	{"HTML: heading", inHTML, "<h2>GM notes</h2><p>{a}</p><h3>More</h3><p>{b}</p>"},
	{"HTML: in a list", inHTML, "<ul><li>One.</li><li class=\"secret\">{a}</li><li>Two.</li></ul>"},
	{"HTML: in a table", inHTML, "<table><tr><td>x <span class=\"secret\">{a}</span></td><td>y</td></tr></table>"},
	{"HTML: template", inHTML, "<template><p>{a}</p></template>"},
}

// withMark returns a text with a mark between open words, and the same text without it.
func (m exactMark) around(before, after string) (marked, open string) {
	if m.form == inHTML {
		return "<p>The quay " + before + ".</p>" + m.text + "<h2>After</h2><p>The road " + after + ".</p>",
			"<p>The quay " + before + ".</p><h2>After</h2><p>The road " + after + ".</p>"
	}
	return "The quay " + before + ".\n\n" + m.text + "\n## After\n\nThe road " + after + ".\n",
		"The quay " + before + ".\n\n## After\n\nThe road " + after + ".\n"
}

// fill puts secrets into the places of a text.
func (x *weave) fill(text, a, b string) string {
	return strings.NewReplacer("{a}", x.secretOf(a), "{b}", x.secretOf(b)).Replace(text)
}

// secretOf returns a sentence with a secret word. In a twin it is longer, and has a link and numbers.
func (x *weave) secretOf(word string) string {
	if x.twin {
		return "a " + word + " hides below the mill and pays 300 coins to [[Mother " + strings.ToUpper(word[:4]) + "]] and the gang of the road"
	}
	return "a " + word + " hides below the mill"
}
