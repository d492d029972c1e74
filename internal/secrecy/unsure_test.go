package secrecy

import (
	"strings"
	"testing"
)

// answered divides a new text as its author answers about its unsure marks.
func answered(text string, form Form, list []Unsure, hides bool) Text {
	w := master(form)
	w.TextSigns = !hides
	if hides {
		w.Ranges = Ranges(UnsureSpans(text, form, list))
	}
	got, _ := w.Divide(Text{}, text)
	return got
}

// TestUnsureMarks writes the texts by authors who know the table of marks: a text that must be hidden is, or its
// author is asked; both answers keep it as it was written, and it is asked once.
func TestUnsureMarks(t *testing.T) {
	texts, forms := splitCases(t)
	for i, text := range texts {
		form := forms[i]
		list := FindUnsure("", text, form)
		if got := answered(text, form, list, true); strings.Contains(got.Open, "HID") {
			t.Errorf("%q: although its marks hide, players read %q; asked %+v", text, got.Open, list)
		}
		got := answered(text, form, list, false)
		if got.Whole() != text {
			t.Errorf("%q: written as text, it is %q", text, got.Whole())
		}
		if len(list) == 0 && strings.Contains(got.Open, "HID") {
			t.Errorf("%q: nobody is asked, and players read %q", text, got.Open)
		}
		if again := FindUnsure(text, "More.\n\n"+strings.TrimPrefix(text, "\ufeff"), form); len(again) > 0 {
			t.Errorf("%q: its author is asked again: %+v", text, again)
		}
		for _, u := range list {
			if u.Line < 1 || u.Line > 1+strings.Count(text, "\n") || !strings.Contains(text, strings.TrimSuffix(u.Text, "…")) {
				t.Errorf("%q: the author is asked about line %d, %q", text, u.Line, u.Text)
			}
		}
	}
}

// TestMarksWithoutAnEnd cuts these texts within their hidden parts: the beginning of a part is hidden, or its
// author is asked.
func TestMarksWithoutAnEnd(t *testing.T) {
	texts, forms := splitCases(t)
	for i, text := range texts {
		if len(text) > 200 || strings.Contains(text, "[secret:") { // which stands for a secret kept elsewhere
			continue
		}
		for _, s := range exactSpans(text, forms[i]) {
			at := strings.LastIndex(text[:s.to], "HID")
			if at < s.from {
				continue
			}
			cut := text[:at+len("HID")]
			list := FindUnsure("", cut, forms[i])
			if got := answered(cut, forms[i], list, true); len(list) == 0 && strings.Contains(got.Open, "HID") {
				t.Errorf("%q: nobody is asked, and players read %q", cut, got.Open)
			}
			break
		}
	}
}

// TestForeignMarks writes comments of Markdown into HTML, where they hide nothing: the author is asked.
func TestForeignMarks(t *testing.T) {
	for text, want := range map[string]struct {
		asked int
		open  string // if the marks hide
	}{
		"<p>A %%HID%% b</p>":                       {1, "<p>A b</p>"},
		"A %%HID%% b":                              {1, "A b"},
		"<p>%%HID%%</p><p>A</p>":                   {1, "<p>A</p>"},
		"<p>50%% of <b>20%%</b></p>":               {1, ""},
		"<p>A <code>%%b%%</code></p>":              {0, "<p>A <code>%%b%%</code></p>"},
		"<p>A <!-- %%HID%% --> b</p>":              {0, "<p>A b</p>"},
		"An inn.\n\n> [!secret] Cellar\n> HID\n":   {1, "An inn.\n"},
		"An inn.\n\n## GM notes\n\nHID\n":          {1, "An inn.\n"},
		"<p>An inn.</p>\n\n::: secret\nHID\n:::\n": {1, "<p>An inn.</p>\n"},
		"An inn.\n\n[//]: # (HID)\n":               {1, "An inn.\n"},
		"<p>1 &gt; 0</p>\n<h2>Open</h2>":           {0, "<p>1 &gt; 0</p>\n<h2>Open</h2>"},
		"<pre>%%a%%</pre><p>%%HID%%</p><p/>":       {1, "<pre>%%a%%</pre><p/>"},

		"<p>An inn.</p><p>GM: HID</p>":                                      {1, "<p>An inn.</p>"},
		"<p>An inn.</p><p><b>Secret:</b> HID</p>":                           {1, "<p>An inn.</p>"},
		"<p>A</p><p><strong>Secret plan</strong>: HID</p>":                  {1, "<p>A</p>"},
		"<ul><li>A</li><li>DM notes: HID</li></ul>":                         {1, "<ul><li>A</li></ul>"},
		"<blockquote>Secret: HID</blockquote><p>A</p>":                      {1, "<p>A</p>"},
		"<p>A</p><p>## GM notes</p><p>HID</p><h2>B</h2>":                    {1, "<p>A</p><h2>B</h2>"},
		"<p>A<br>Secret: HID</p><p>B</p>":                                   {1, "<p>A<br></p><p>B</p>"},
		"<p>A</p><p>GM notes:</p><p>HID</p><p>B</p>":                        {1, "<p>A</p><p>B</p>"},
		"<p>A</p><p>&gt; [!secret] HID</p>":                                 {1, "<p>A</p>"},
		"<p>A</p><p>GM&#58; HID</p>":                                        {1, "<p>A</p>"},
		"<p>A</p><div>GM: HID</div>":                                        {1, "<p>A</p>"},
		"<p>GM: HID</p><p>A</p><p>GM: HID</p>":                              {1, "<p>A</p>"},
		"<p>A</p><p>::: secret</p><p>HID</p>":                               {1, "<p>A</p>"},
		"<p>Open at: noon</p><p># 1</p><pre>GM: x</pre><p>a | b</p>":        {0, "<p>Open at: noon</p><p># 1</p><pre>GM: x</pre><p>a | b</p>"},
		"<table><tbody><tr><td>A</td><td>GM: HID</td></tr></tbody></table>": {1, "<table><tbody><tr><td></td><td></td></tr></tbody></table>"},
		"<p>A</p><p>%% HID</p><p>HID %%</p><p>B</p>":                        {1, "<p>A</p><p>B</p>"},
		"<p>A</p><p>```ad-gm</p><p>HID</p><p>```</p><p>B</p>":               {1, "<p>A</p><p>B</p>"},
		"A\n\n```ad-gm\nHID\n```\n":                                         {1, "A\n"},
		"A\n\n??? secret\n    HID\n":                                        {1, "A\n"},
		"A\n\n{{< secret >}}\nHID\n{{< /secret >}}\n":                       {1, "A\n"},
		"A %%HID": {1, "A"},
		"<table><tr><th>a</th><th>GM notes</th></tr><tr><td>b</td><td>HID</td></tr></table><p>A</p>": {1,
			"<table><tr><th></th><th></th></tr><tr><td></td><td></td></tr></table><p>A</p>"},
	} {
		list := FindUnsure("", text, HTML)
		if got := answered(text, HTML, list, true); len(list) != want.asked || got.Open != want.open {
			t.Errorf("%q: asked %+v, and if the marks hide, players read %q", text, list, got.Open)
		}
		if got := answered(text, HTML, list, false); got.Whole() != text {
			t.Errorf("%q: written as text, it is %q", text, got.Whole())
		}
		if again := FindUnsure(text, text+"<p>More.</p>", HTML); len(again) > 0 {
			t.Errorf("%q: its author is asked again: %+v", text, again)
		}
	}
	if h := Split("<p>%%SEEN%%</p>", HTML, everyMark); len(h.Parts) > 0 {
		t.Errorf("an import leaves %q", h.Open)
	}
}

// TestForeignMarksInPlainTexts writes marks of Markdown that only look secret into plain texts.
func TestForeignMarksInPlainTexts(t *testing.T) {
	for text, want := range map[string]struct {
		asked int
		open  string // if the marks hide
	}{
		"An inn.\n\nGM: HID\n":             {1, "An inn.\n"},
		"An inn.\n\n## Secret plan\n\nHID": {1, "An inn.\n"},
		"Open: noon\n\nA # 1\n":            {0, "Open: noon\n\nA # 1\n"},
	} {
		list := FindUnsure("", text, Plain)
		if got := answered(text, Plain, list, true); len(list) != want.asked || got.Open != want.open {
			t.Errorf("%q: asked %+v, and if the marks hide, players read %q", text, list, got.Open)
		}
	}
}
