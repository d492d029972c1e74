package markdown_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/exchange/markdown"
	"loregate/internal/secrecy"
)

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"---\na: b\n---\nx", "---\na: [[b]]\n---", "---\n{{x}}: 1\n...\n",
		"---\na: &x [1]\nb: *x\n<<: *x\n---\n", "---\nlevel: gm\n", "\ufeff---\r\na: 1\r\n---\r\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := markdown.Parse("x.md", []byte(s))
		if !utf8.ValidString(n.Body) || strings.Contains(n.Body, "\x00") {
			t.Errorf("the text is not text: %q", n.Body)
		}
		fields, err := n.ExtraFields()
		if err != nil || fields != nil && !json.Valid(fields) {
			t.Errorf("fields %s: %v", fields, err)
		}
		if _, marks := secrecy.NoteMarks(n.Marks()); n.Broken && len(marks) == 0 {
			t.Error("broken, and not for the GM alone")
		}
		n.Tags()
		n.List("aliases")
	})
}
