package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/markup"
)

// TestManyDefinitions converts paragraphs that begin with more link definitions than are searched for at once.
func TestManyDefinitions(t *testing.T) {
	var definitions, links, want strings.Builder
	for i := range 500 {
		fmt.Fprintf(&definitions, "[r%d]: /x%d\n", i, i)
		if i%7 == 0 {
			fmt.Fprintf(&definitions, "  \"a title\nin two lines\"\n")
		}
		fmt.Fprintf(&links, "[r%d] ", i)
		title := ""
		if i%7 == 0 {
			title = ` title="a title` + "\n" + `in two lines"`
		}
		fmt.Fprintf(&want, `<a href="/x%d"%s>r%d</a> `, i, title, i)
	}
	all := "<p>" + strings.TrimSpace(want.String()) + "</p>"
	for text, want := range map[string]string{
		definitions.String() + "\n" + links.String():                          all,
		definitions.String() + "not a definition\n\n" + links.String():        "<p>not a definition</p>\n" + all,
		definitions.String() + "[no definition\n\n" + links.String():          "<p>[no definition</p>\n" + all,
		"first\n" + definitions.String():                                      "",
		strings.Repeat("[a]: /b\n", 100) + "[a]: /c\n\n[a]\n\n" + "[c]: /d\n": `<p><a href="/b">a</a></p>`,
	} {
		got, err := markup.ToHTML(t.Context(), text)
		switch {
		case err != nil:
			t.Errorf("%.40q: %v", text, err)
		case want == "" && strings.Contains(got, "<a href=\"/x1\""):
			t.Errorf("%.40q: a definition in a paragraph counts: %.200s", text, got)
		case want != "" && got != want:
			t.Errorf("%.40q: %.300s\nwant %.300s", text, got, want)
		}
	}
}
