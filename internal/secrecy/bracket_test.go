package secrecy

import (
	"strings"
	"testing"
)

// TestBrackets writes comments that say that the text after them is secret: the author is asked about it once.
func TestBrackets(t *testing.T) {
	for text, want := range map[string]struct {
		form  Form
		asked int
		open  string // if the marks hide
	}{
		"A <!-- gm -->HID<!-- /gm --> b":                                {Markdown, 1, "A b"},
		"A %% gm %%HID%% /gm %% b":                                      {Markdown, 1, "A b"},
		"A <!-- secret:start -->HID<!-- secret:end --> b":               {Markdown, 1, "A b"},
		"A <!-- begin GM notes -->HID<!-- end GM notes --> b":           {Markdown, 1, "A b"},
		"A <!-- gm -->HID<!-- endgm --> b":                              {Markdown, 1, "A b"},
		"A <!-- gm -->HID <!-- x -->HID<!-- end --> b":                  {Markdown, 1, "A b"},
		"A <!-- gm -->HID <!-- secret -->HID<!-- / --> HID<!-- /gm -->": {Markdown, 2, "A"},
		"A\n\n<!-- geheim -->\n\nHID\n\n## B\n":                         {Markdown, 1, "A\n\n## B\n"},
		"<!-- gm -->\n\n## HID\n\nHID\n\n## B\n":                        {Markdown, 1, "## B\n"},
		"- A\n- <!-- gm --> HID\n- B\n":                                 {Markdown, 1, "- A\n- B\n"},
		"> <!-- gm -->\n> HID\n\nB\n":                                   {Markdown, 1, "B\n"},
		"A <!-- gm --> b":                                               {Markdown, 1, "A"},
		"A b <!-- gm -->\n":                                             {Markdown, 0, "A b\n"},
		"A <!-- the secret is known --> b":                              {Markdown, 0, "A b"},
		"A %% ask the GM %% b":                                          {Markdown, 0, "A b"},
		"A <!-- /gm --> b":                                              {Markdown, 0, "A b"},
		"`<!-- gm -->` b":                                               {Markdown, 0, "`<!-- gm -->` b"},
		"<div class=\"secret\"><!-- gm -->HID</div> b":                  {Markdown, 0, "b"},
		"<p>A</p><p><!-- gm --></p><p>HID</p><h2>B</h2>":                {HTML, 1, "<p>A</p><h2>B</h2>"},
		"<p>A <!-- gm -->HID</p><p>B</p>":                               {HTML, 1, "<p>A</p><p>B</p>"},
		"<div><!-- gm --><p>HID</p></div><p>B</p>":                      {HTML, 1, "<p>B</p>"},
		"<p>A <!-- gm -->HID<!-- /gm --> b</p>":                         {HTML, 1, "<p>A b</p>"},
		"<p>A</p><p><!-- gm --></p><p>HID</p><p><!-- /gm --></p><p/>":   {HTML, 1, "<p>A</p><p/>"},
	} {
		list := FindUnsure("", text, want.form)
		if got := answered(text, want.form, list, true); len(list) != want.asked || got.Open != want.open {
			t.Errorf("%q: asked %+v, and if the marks hide, players read %q", text, list, got.Open)
		}
		if got := answered(text, want.form, list, false); got.Whole() != text {
			t.Errorf("%q: written as text, it is %q", text, got.Whole())
		}
		if again := FindUnsure(text, "More.\n\n"+text, want.form); len(again) > 0 {
			t.Errorf("%q: its author is asked again: %+v", text, again)
		}
		if marked := MarkUnsure(text, want.form, list); HasMark(marked, want.form) && strings.Contains(
			Split(marked, want.form, isExactMark).Open, "HID") {
			t.Errorf("%q: marked for a conversion, it is %q", text, marked)
		}
	}
}

// TestManyBrackets reads texts with very many comments that are marks.
func TestManyBrackets(t *testing.T) {
	for _, unit := range []string{"<!-- gm -->a\n\n", "%% gm %%a%% end %%\n", "<!-- gm -->a<!-- /gm -->", "# A\n\n[//]: # (gm)\n\na\n\n"} {
		text := strings.Repeat(unit, 20_000)
		h := Split(text, Markdown, everyMark)
		if strings.Contains(h.Open, "a") {
			t.Errorf("%q, repeated: players read %.60q", unit, h.Open)
		}
	}
}

// TestManyBracketsTakeWorkInProportion reads texts that pair or repeat many marks; a comparison of each with each would
// not end.
func TestManyBracketsTakeWorkInProportion(t *testing.T) {
	const n = 30_000
	for name, text := range map[string]string{
		"pairs":       strings.Repeat("<!-- gm -->x<!-- / -->", n),
		"ends":        strings.Repeat("<!-- gm -->", n) + strings.Repeat("<!-- / -->", n),
		"definitions": strings.Repeat("[b]", n),
		"fences":      strings.Repeat("<p>:::secret</p>", n),
		"labels":      strings.Repeat("<p>GM: x</p>", n/10),
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []Form{Markdown, HTML} {
				FindUnsure("", text, form)
			}
		})
	}
}
