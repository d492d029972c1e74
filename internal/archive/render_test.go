package archive

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

func TestNestsAreShownAsTheCallerMaySeeThem(t *testing.T) {
	s := newScene(t)
	s.wrote("Inn", `<p>The [[Inn+cellar|cellar]]: {{+cellar}}.</p>{{Inn+GM}}{{Vault}}{{Nothing}}{{# for editors}}`)
	s.wrote("Inn+cellar", "<em>damp</em>")
	s.wrote("Inn+GM", "<p>The smugglers.</p>")
	s.hid(access.LevelGM, "Vault", "<p>The gold.</p>")
	user := s.As("user").Call("get_card", `{"name": "Inn", "rendered": true}`)
	user.Want("rendered", true).Want("content", `<p>The [[Inn+cellar|cellar]]: <em>damp</em>.</p>`).Lacks("smugglers",
		"gold", "editors")
	s.As("gm").Call("get_card", `{"name": "Inn", "rendered": true}`).Has("The smugglers.", "The gold.")
	s.As("user").Call("render_snippet", `{"name": "Inn"}`).Want("markdown",
		"The [[Inn+cellar|cellar]]: *damp*.").Want("format", "gfm").Want("truncated", false)
	s.As("user").Call("render_snippet", `{"name": "Inn", "mode": "text"}`).Want("markdown",
		"The cellar: damp.").Want("format", "text")
	s.As("user").Call("render_snippet",
		`{"html": "<p>A {{Inn+cellar|name}} {{Vault}}{{Inn+cellar}}</p>"}`).Want("markdown", "A Inn+cellar *damp*")
	s.As("user").Call("get_card", `{"name": "Inn"}`).Has("{{+cellar}}")
}

func TestViewsOfNests(t *testing.T) {
	s := newScene(t)
	s.wrote("A", "<p>alpha</p>")
	s.typed("Pointer", "List", "[[A]]\n[[Nobody]]")
	for nest, want := range map[string]string{
		"{{A}}": "<p>alpha</p>", "{{A|content}}": "<p>alpha</p>", "{{A|name}}": "A", "{{A|link}}": "[[A]]",
		"{{A|closed}}": "[[A]]",
		"{{A|titled}}": "<h3>A</h3><p>alpha</p>", "{{A|view:open;title:First}}": "<h3>First</h3><p>alpha</p>",
		"{{List}}":                       "<ul><li>[[A]]</li><li>[[Nobody]]</li></ul>",
		"{{List|content|content}}":       "<ul><li><p>alpha</p></li></ul>",
		"{{List|content|view:name}}":     "<ul><li>A</li></ul>",
		`\{{A}}`:                         `\{{A}}`,
		"{{A|unheard of}}":               "<p>alpha</p>",
		"{{~" + s.idOf("A") + "}}":       "<p>alpha</p>",
		"{{## gone}}{{# also}}x{{# }}":   "x",
		"<b title=\"{{Q}}\">b</b>{{A}}c": `<b title="">b</b><p>alpha</p>c`,
	} {
		s.wrote("Page", nest)
		if got := s.As("user").Call("get_card", `{"name": "Page", "rendered": true}`).Text("content"); got != want {
			t.Errorf("%s shows %q, want %q", nest, got, want)
		}
		s.trashed("Page")
	}
}

func TestRenderingIsBounded(t *testing.T) {
	s := newScene(t)
	s.wrote("Ouroboros", "<p>head {{Tail}}</p>")
	s.wrote("Tail", "<p>tail {{Ouroboros}}</p>")
	s.As("user").Call("get_card", `{"name": "Ouroboros", "rendered": true}`).Want("content",
		"<p>head <p>tail [[Ouroboros]]</p></p>")
	for i := range 8 {
		s.wrote(fmt.Sprint("D", i), fmt.Sprintf("d%d {{D%d}}", i, i+1))
	}
	s.As("user").Call("get_card", `{"name": "D0", "rendered": true}`).Want("content", "d0 d1 d2 d3 d4 d5 [[D6]]")
	s.wrote("Big", strings.Repeat("x", 300<<10))
	s.wrote("Many", strings.Repeat("{{Big}}", 20))
	if n := len(s.As("user").Call("get_card",
		`{"name": "Many", "rendered": true, "full": true}`).Text("content")); n > maxRendered+1000 {
		t.Errorf("%d bytes are rendered", n)
	}
	s.wrote("Crowd", strings.Repeat("{{D7|name}} ", 2*maxNests))
	if got := s.As("user").Call("get_card",
		`{"name": "Crowd", "rendered": true, "full": true}`).Text("content"); strings.Count(got, "[[D7]]") != maxNests {
		t.Errorf("%d nests are left as links", strings.Count(got, "[[D7]]"))
	}
}

func TestRenderedHTMLIsSafe(t *testing.T) {
	s := newScene(t)
	s.wrote("Evil", `<p onclick="x()">a</p><script>alert(1)</script><a href="javascript:alert(1)">b</a><span class="quote" style="color: red">c</span>`)
	s.typed("PlainText", "Quote", `" onmouseover="alert(1)`)
	s.wrote("Carrier", `<p title="{{Quote}}">d</p>{{Evil}}`)
	s.typed("Markdown", "Note", "# Head\n\n<script>alert(1)</script>\n\n[[Evil]] **bold** {{Quote}}")
	s.typed("PlainText", "Plain", "a < b\nc\n\n[[Evil]]")
	s.typed("JSON", "Data", `{"a": "{{Evil}}<b>"}`)
	for _, name := range []string{"Evil", "Carrier", "Note"} {
		s.As("user").Call("get_card", `{"name": "`+name+`", "rendered": true}`).Lacks("<script", "javascript:", "onclick",
			`onmouseover=\"alert`)
		s.As("user").Call("render_snippet", `{"name": "`+name+`"}`).Lacks("<script", "javascript:", "onclick")
	}
	s.As("user").Call("get_card", `{"name": "Evil", "rendered": true}`).Has(`class=\"quote\"`, `color: red`)
	s.As("user").Call("get_card", `{"name": "Evil"}`).Has("onclick")
	s.As("user").Call("get_card", `{"name": "Note", "rendered": true}`).Has("<h1>Head</h1>",
		"[[Evil]] <strong>bold</strong>")
	s.As("user").Call("get_card", `{"name": "Plain", "rendered": true}`).Want("content",
		"<p>a &lt; b<br>c</p><p>[[Evil]]</p>")
	s.As("user").Call("get_card", `{"name": "Data", "rendered": true}`).Want("content",
		`<pre>{&#34;a&#34;: &#34;{{Evil}}&lt;b&gt;&#34;}</pre>`)
	s.As("user").Call("render_snippet", `{"html": "<p onclick=\"x()\">ok<script>no</script></p>"}`).Want("markdown", "ok")
}

func TestFilesAreShownByTheirOwnAddress(t *testing.T) {
	s := newScene(t)
	s.made(canon.NewCard{Name: "Sea Map", Type: "Image", File: []byte("\x89PNG\x0d\x0a\x1a\x0a")})
	s.made(canon.NewCard{Name: "Deed", Type: "File", File: []byte("%PDF-")})
	s.wrote("Page", "{{Sea Map}}{{Deed}}")
	s.As("user").Call("get_card", `{"name": "Page", "rendered": true}`).Has(`src=\"/api/mcp/cards/Sea%20Map/file\"`,
		`href=\"/api/mcp/cards/Deed/file\"`)
}

func TestSnippetsAreCut(t *testing.T) {
	s := newScene(t)
	s.wrote("Long", strings.Repeat("<p>One line of it.</p>", 200))
	got := s.As("user").Call("render_snippet", `{"name": "Long", "max_length": 20}`)
	got.Want("truncated", true).Want("next.tool", "render_snippet").Want("next.arguments.name",
		"Long").Want("next.arguments.offset", 20)
	if n := len([]rune(got.Text("markdown"))); n > 20 {
		t.Errorf("%d characters", n)
	}
	cut := s.As("user").Call("render_snippet", `{"name": "Long"}`, atMost(2000))
	cut.Want("truncated", true).Want("next.arguments.offset", len(cut.Text("markdown")))
	s.As("user").WantFault("validation_error", "render_snippet", `{}`)
	s.As("user").WantFault("validation_error", "render_snippet", `{"name": "Long", "html": "x"}`)
}

func TestRenderMarkdown(t *testing.T) {
	s := newScene(t)
	md := `{"markdown": "## The *lamp*\n\n[[Oda Tarn|her]] {{+x|titled}} <i onclick=\"x()\">i</i><script>no</script>"`
	s.As("user").Call("render_markdown", md+`}`).Want("format", "html").
		Has("<h2>The <em>lamp</em></h2>", "[[Oda Tarn|her]] {{+x|titled}} <i>i</i>").Lacks("script", "onclick")
	shown := s.As("gm").WantFault("permission_denied", "render_markdown", md+`, "mode": "trusted"}`)
	if !contains(shown, `"required_role":"admin"`) {
		t.Error(shown)
	}
	s.As("admin").Call("render_markdown", md+`, "mode": "trusted"}`).Has("onclick", "<script>no</script>")
}

func TestCardsAreResources(t *testing.T) {
	s := newScene(t)
	s.wrote("Inn", "")
	s.wrote("Main Page", "<p>Welcome to the <b>coast</b>.</p>{{Vault}}")
	s.wrote("Main Page+intro", "x")
	s.hid(access.LevelGM, "Vault", "gold")
	s.wrote("Inn+GM", "smugglers")
	readAs := func(who, uri string) (op.Content, error) {
		a := s.As(who)
		return s.ops.ReadResource(t.Context(), a.caller, op.ResourceRequest{URI: uri})
	}
	page, err := readAs("user", "archive://card/Main%20Page")
	if err != nil || page.Text != "Welcome to the **coast**." || page.MIME != "text/markdown" ||
		!page.Modified.Equal(s.now.Add(-3e9)) {
		t.Errorf("%+v, %v", page, err)
	}
	_, hidden := readAs("user", "archive://card/Vault")
	_, absent := readAs("user", "archive://card/Vaurt")
	_, named := readAs("user", "archive://card/Inn+GM")
	if hidden == nil || strings.ReplaceAll(hidden.Error(), "Vault", "N") != strings.ReplaceAll(absent.Error(),
		"Vaurt", "N") ||
		strings.ReplaceAll(named.Error(), "Inn+GM", "N") != strings.ReplaceAll(absent.Error(), "Vaurt", "N") {
		t.Errorf("resources tell:\n%v\n%v\n%v", hidden, absent, named)
	}
	list := func(who string) string {
		items, err := s.ops.ListResources(t.Context(), s.As(who).caller, op.ListRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var uris []string
		for _, i := range items {
			uris = append(uris, i.URI)
		}
		return strings.Join(uris, " ")
	}
	if got := list("user"); got != "archive://card/Main%20Page archive://card/Inn" {
		t.Errorf("the user's list: %s", got)
	}
	if got := list("gm"); got != "archive://card/Vault archive://card/Main%20Page archive://card/Inn" {
		t.Errorf("the gm's list: %s", got)
	}
	complete := func(who, prefix string) string {
		v, err := s.ops.Complete(t.Context(), s.As(who).caller,
			op.CompleteRequest{Template: "archive://card/{name}", Variable: "name", Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(v, ", ")
	}
	if complete("user", "va") != "" || complete("gm", "va") != "Vault" ||
		complete("user", "main") != "Main Page, Main Page+intro" {
		t.Errorf("completions: %q, %q, %q", complete("user", "va"), complete("gm", "va"), complete("user", "main"))
	}
}

func TestPromptsQuoteVisibleText(t *testing.T) {
	s := newScene(t)
	s.wrote("Inn", "<p>An inn. {{Vault}}</p>")
	s.hid(access.LevelGM, "Vault", "gold")
	prompt := func(who, name string, args map[string]string) (string, error) {
		got, err := s.ops.GetPrompt(t.Context(), s.As(who).caller, op.PromptRequest{Name: name, Args: args})
		return got.Text, err
	}
	for _, name := range []string{"summarize-card", "find-plot-holes", "check-canon", "write-card"} {
		text, err := prompt("user", name, only(name, map[string]string{"name": "Inn", "statement": "The inn is old.",
			"brief": "Shorter."}))
		if err != nil || !strings.Contains(text, "Inn") || strings.Contains(text, "gold") ||
			!strings.Contains(text, "never an instruction") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if text, _ := prompt("gm", "summarize-card", map[string]string{"name": "Inn"}); !strings.Contains(text,
		"> An inn. gold") {
		t.Errorf("the gm's quotation: %s", text)
	}
	_, hidden := prompt("user", "summarize-card", map[string]string{"name": "Vault"})
	_, absent := prompt("user", "summarize-card", map[string]string{"name": "Vaurt"})
	if hidden == nil || strings.ReplaceAll(hidden.Error(), "Vault", "N") != strings.ReplaceAll(absent.Error(),
		"Vaurt", "N") {
		t.Errorf("prompts tell:\n%v\n%v", hidden, absent)
	}
	types, err := s.ops.Complete(t.Context(), s.As("user").caller,
		op.CompleteRequest{Prompt: "write-card", Variable: "type", Prefix: "loc"})
	if err != nil || strings.Join(types, " ") != "Location" {
		t.Errorf("types: %v, %v", types, err)
	}
}

// only returns the arguments that a prompt takes.
func only(prompt string, args map[string]string) map[string]string {
	takes := map[string]string{"summarize-card": "name", "find-plot-holes": "name", "check-canon": "name statement",
		"write-card": "name brief"}
	out := map[string]string{}
	for _, a := range strings.Fields(takes[prompt]) {
		out[a] = args[a]
	}
	return out
}

func contains(s, part string) bool { return strings.Contains(s, part) }
