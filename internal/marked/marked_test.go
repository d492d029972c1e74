package marked_test

import (
	"strings"
	"testing"

	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// open returns the part of a text that its exact marks leave open.
func open(text string, form secrecy.Form) string {
	return secrecy.Split(text, form, func(m secrecy.Mark) bool { return !m.Doubt }).Open
}

// marks are texts in which SEEN is open and each HID is marked, in Markdown.
var marks = map[string]string{
	"a comment of HTML":        "SEEN <!-- HID --> SEEN\n\n<!--\nHID\n\nHID\n-->\n\nSEEN",
	"a comment of Markdown":    "SEEN\n\n[//]: # (HID)\n\nSEEN",
	"a comment of Obsidian":    "SEEN %%HID --> HID%% SEEN\n\n%%\nHID\n\nHID\n%%\n\nSEEN",
	"comments side by side":    "SEEN %%HID%%<!-- HID -->\n\nSEEN",
	"one in bold, one in code": "**SEEN %%HID%%** `%%SEEN%%`",
	"one that does not end":    "SEEN\n\n%% HID\n\nHID",
	"a callout":                "SEEN\n\n> [!secret]- HID\n> HID *HID* [[HID]]\n> <!-- HID -->\n\nSEEN",
	"one in a quote":           "> SEEN\n> > [!gm]\n> > HID\n>\n> SEEN",
	"one in a list":            "- SEEN\n  > [!secret]\n  > HID\n- SEEN\n\nSEEN",
	"one beside its item":      "- SEEN\n- > [!gm] HID\n  > HID\n\nSEEN",
	"a shortcode":              "SEEN {{< secret >}}HID{{< /secret >}} SEEN\n\n{{< secret >}}\nHID\n\nHID\n{{< /secret >}}\n\nSEEN",
	"a tag of Liquid":          "SEEN\n\n{% secret %}\nHID\n{% endsecret %}\n\nSEEN",
	"a container":              "SEEN\n\n::: secret\nHID\n\nHID\n:::\n\nSEEN",
	"another container":        "SEEN\n\n/// secret\nHID\n///\n\nSEEN",
	"an admonition":            "SEEN\n\n!!! secret \"HID\"\n    HID\n\n    HID\n\nSEEN",
	"a folded one":             "SEEN\n\n??? secret\n    HID\n\nSEEN",
	"a code block":             "SEEN\n\n```ad-secret\ntitle: HID\nHID\n```\n\nSEEN",
	"a forum's tag":            "SEEN [secret]HID[/secret] SEEN\n\n[spoiler]\nHID\n\nHID\n[/spoiler]\n\nSEEN",
	"a spoiler":                "SEEN >!HID!< SEEN",
	"a field":                  "SEEN [gm notes:: HID] SEEN",
	"a heading":                "# SEEN\n\n## GM notes\n\nHID\n\n### HID\n\nHID\n\n## SEEN\n\nSEEN",
	"an element":               "SEEN\n\n<div class=\"secret\">\n\nHID **HID**\n\n</div>\n\nSEEN <span class=\"gm-only\">HID</span> SEEN",
	"an attribute":             "SEEN <span data-visibility=\"gm\">HID</span> SEEN <span hidden>HID</span> SEEN",
	"a style":                  "SEEN <span style=\"display:none\">HID</span> SEEN",
	"an element of its own":    "SEEN\n\n<secret>HID</secret>\n\nSEEN",
	"a template":               "SEEN\n\n<template>HID</template>\n\nSEEN",
	"a text without scripts":   "SEEN\n\n<noscript>HID</noscript>\n\nSEEN",
	"a title":                  "SEEN <title>HID</title> SEEN",
	"in a table":               "| SEEN | SEEN |\n|---|---|\n| SEEN %%HID%% | <span class=\"secret\">HID</span> |\n",
}

// Every marked word is in the converted text and marked there, in both directions and back again, and no open word is
// lost or marked.
func TestMarkedTextSurvives(t *testing.T) {
	for name, text := range marks {
		hid, seen := strings.Count(text, "HID"), strings.Count(text, "SEEN")
		check := func(what, text string, form secrecy.Form) {
			t.Helper()
			left := open(text, form)
			if strings.Contains(left, "HID") || strings.Count(text, "HID") < hid {
				t.Errorf("%s, %s: %d of %d words are left, open is %q\n%s", name, what, strings.Count(text, "HID"), hid,
					left, text)
			}
			if strings.Count(left, "SEEN") != seen {
				t.Errorf("%s, %s: %d of %d open words stay open\n%s", name, what, strings.Count(left, "SEEN"), seen,
					text)
			}
		}
		check("as it is", text, secrecy.Markdown)
		html, err := marked.ToHTML(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		check("as HTML", html, secrecy.HTML)
		markdown, err := marked.ToMarkdown(t.Context(), html)
		if err != nil {
			t.Fatal(err)
		}
		check("as Markdown again", markdown, secrecy.Markdown)
		again, err := marked.ToHTML(t.Context(), markdown)
		if err != nil {
			t.Fatal(err)
		}
		if check("as HTML again", again, secrecy.HTML); len(again) > len(html)+len(html)/4 {
			t.Errorf("%s grows:\n%s\n%s", name, html, again)
		}
	}
}

// Open text is converted as package markup does it, and the time is linear in the number of marks.
func TestHostileMarks(t *testing.T) {
	for _, text := range []string{strings.Repeat("%%a%% b ", 20_000), strings.Repeat("a >!b!< ", 20_000),
		strings.Repeat("<span class=\"secret\">a</span> b ", 10_000), strings.Repeat("> [!secret]\n", 2_000),
		strings.Repeat("[a](%%b%%) <b title='%%c%%'>", 2_000)} {
		html, err := marked.ToHTML(t.Context(), text)
		if err != nil && !markup.Refuses(err) {
			t.Fatalf("%.20q: %v", text, err)
		}
		if _, err := marked.ToMarkdown(t.Context(), html); err != nil && !markup.Refuses(err) {
			t.Fatalf("%.20q: %v", text, err)
		}
	}
}

func FuzzToHTML(f *testing.F) {
	for _, text := range marks {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		html, err := marked.ToHTML(t.Context(), "%%MARK%%\n\n"+text)
		if err == nil && (!strings.Contains(html, "MARK") || strings.Contains(open(html, secrecy.HTML), "MARK") &&
			!strings.Contains(text, "MARK")) {
			t.Errorf("%q becomes %q", text, html)
		}
	})
}
