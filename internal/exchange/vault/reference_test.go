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
	one := v.byPath["one"]
	for _, s := range []string{"[[One]] ![[map.png]] [a](GM/two.md) `[[Two]]` {{x}}", "a %%b%% [[GM/Two#h|x]]",
		"[[zwei|x]] ![[zwei]] [x](<GM/Two.md>)", "```\n[[Two]]\n```", "[[Two|a%%b%%]]", "|[[Two\\|t]]|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		h := secrecy.Split(s, secrecy.Markdown, func(secrecy.Mark) bool { return true })
		_, signs := v.findReferences(one, h.Open, one.level)
		open, parts := cutText(h, signs)
		if strings.Contains(open, "[[Two]]") && !strings.Contains(open, "`") && !strings.Contains(open, "~") {
			t.Errorf("%q still links: %q", s, open)
		}
		secret, at := h.Secret(), 0
		var back strings.Builder
		for i, p := range parts {
			back.WriteString(open[at:p.At])
			at = p.At
			if p.Text != "" {
				back.WriteString(p.Text)
				continue
			}
			end := len(secret)
			for _, next := range parts[i+1:] {
				if next.Text == "" {
					end = next.From - len(secrecy.PartSeparator)
					break
				}
			}
			back.WriteString(secret[p.From:end])
		}
		if back.WriteString(open[at:]); back.String() != s {
			t.Errorf("%q comes back as %q", s, back.String())
		}
	})
}
