package markdown_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/exchange/markdown"
	"loregate/internal/secrecy"
)

// A key that notes about rules use too asks, and an audience that is not everybody hides.
func TestMetaMarksOfReaders(t *testing.T) {
	const open, ask, hide = "open", "ask", "hide"
	for _, tc := range []struct {
		key   string
		value any
		want  string
	}{
		{"access", "gm", ask}, {"Access", "GM only", ask}, {"access", "secret", ask}, {"access", "admin", ask},
		{"share", "private", ask}, {"share", []any{"party", "hidden"}, ask}, {"sharing", "for the GM's eyes", ask},
		{"permission", "not for players", ask}, {"permissions", map[string]any{"read": "gm"}, ask},
		{"access", "class features", open}, {"permission", "read", open}, {"share", "20 %", open}, {"access", "", open},
		{"audience", "gm", hide}, {"audience", "the harbour guild", hide}, {"audience", []any{"guild", "crew"}, hide},
		{"Audience", "none", hide}, {"audience", "12", hide}, {"audience", []any{"players", "gm"}, hide},
		{"audience", "everyone", open}, {"audience", "Players", open}, {"audience", true, open}, {"audience", "", open},
		{"visibility", "gm", hide}, {"visibility", "12 miles", ask}, {"visibility", "public", open},
	} {
		got := open
		for _, m := range secrecy.MetaMarks(map[string]any{tc.key: tc.value}) {
			if got = hide; m.Doubt {
				got = ask
			}
		}
		if got != tc.want {
			t.Errorf("%s: %v: %s, want %s", tc.key, tc.value, got, tc.want)
		}
	}
}

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
