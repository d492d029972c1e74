package secrecy

import (
	"strings"
	"testing"
)

// TestMarkedHidesWherever checks that the marked text of parts whose own marks hide nothing at their places hides them.
func TestMarkedHidesWherever(t *testing.T) {
	for name, text := range map[string]Text{
		"no mark, beside a callout in its line": {Open: "The bell. \n", Parts: []Passage{{At: 10, Text: "OUTER"},
			{At: 10, Text: "> [!warning] INNER"}}},
		"in a fence that another one ends": {Open: "Seen.\n\n```dataview\nTABLE\n\n```\nSeen too.\n",
			Parts: []Passage{{At: 25, Text: "::: secret\nOUTER\n:::\n"}}},
		"in code": {Open: "Seen.\n\n    code\n", Parts: []Passage{{At: 11, Text: "INNER %%"}}},
	} {
		marked := text.Marked(Markdown)
		open := Split(marked.Whole(), Markdown, everyMark).Open
		if strings.Contains(open, "INNER") || strings.Contains(open, "OUTER") {
			t.Errorf("%s: players read %q of %q", name, open, marked.Whole())
		}
		if !strings.Contains(marked.Whole(), "OUTER") && !strings.Contains(marked.Whole(), "INNER") {
			t.Errorf("%s: lost of %q", name, marked.Whole())
		}
	}
}

// TestFenceOfSecretsInCode checks that a fence of secrets within a fence that is as long is asked about.
func TestFenceOfSecretsInCode(t *testing.T) {
	for text, asked := range map[string]bool{
		"```sql\nSELECT\n\n```ad-secret\nWORD\n```\n":                true,
		"````markdown\n```ad-secret\nWORD\n```\n````\n":              false,
		"~~~markdown\n```ad-secret\nWORD\n```\n~~~\n":                false,
		"> ```sql\n> SELECT\n> ```ad-gm\n> WORD\n> ```\n":            true,
		"```ad-secret\nWORD\n```\n\n```sql\nSELECT ad-secret\n```\n": false,
	} {
		if got := len(FindUnsure("", text, Markdown)) > 0; got != asked {
			t.Errorf("%q: asked %v", text, got)
		}
	}
}

// TestFrontMatterInATextIsAskedAbout checks that a pasted note whose front matter would hide it is asked about.
func TestFrontMatterInATextIsAskedAbout(t *testing.T) {
	for head, asked := range map[string]bool{"published: false": true, "publish: false": true, "subjects: [alice]": true,
		"tags:\n  - gm-only": true, "draft: true": true, "audience: nobody": true, "type: NPC": false,
		"publish: true": false} {
		text := "---\ntype: NPC\n" + head + "\n---\n# The Fox\n\nShe is a spy.\n"
		if got := len(FindUnsure("", text, Markdown)) > 0; got != asked {
			t.Errorf("%q: asked %v", head, got)
		}
	}
}
