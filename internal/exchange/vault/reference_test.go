package vault

import (
	"strings"
	"testing"

	"loregate/internal/exchange/exchangetest"
	"loregate/internal/secrecy"
)

// FuzzHideLinks checks that the signs of links to hidden notes, and all other hidden parts, give the
// text again at their places, and that no such link stays.
func FuzzHideLinks(f *testing.F) {
	v := newTestVault(f, exchangetest.Files(map[string]string{"One.md": "", "GM/Two.md": "---\naliases: [Zwei]\n---\n",
		"map.png": ""}))
	v.o.HideLinks = true
	if err := v.indexNotes(); err != nil {
		f.Fatal(err)
	}
	one := v.byPath["one"][0]
	for _, s := range []string{"[[One]] ![[map.png]] [a](GM/two.md) `[[Two]]` {{x}}", "a %%b%% [[GM/Two#h|x]]",
		"[[zwei|x]] ![[zwei]] [x](<GM/Two.md>)", "```\n[[Two]]\n```", "[[Two|a%%b%%]]", "|[[Two\\|t]]|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		h := secrecy.Split(s, secrecy.Markdown, func(secrecy.Mark) bool { return true })
		_, signs := v.findReferences(one, h.Open, one.level)
		open := withoutSigns(h.Open, signs)
		if strings.Contains(open, "[[Two]]") && !strings.Contains(open, "`") && !strings.Contains(open, "~") {
			t.Errorf("%q still links: %q", s, open)
		}
		w := secrecy.Writer{Hides: true, AsWritten: true, NewID: func() string { return "" }, Ranges: secrecy.Ranges(h.Spans())}
		for _, sign := range signs {
			w.Ranges = append(w.Ranges, secrecy.Range{Span: h.Source(sign.from, sign.to)})
		}
		if text, _ := w.Divide(secrecy.Text{}, s); text.Whole() != s {
			t.Errorf("%q comes back as %q", s, text.Whole())
		}
	})
}
