package vault

import (
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/markup"
	"strings"
	"testing"
)

func FuzzRewrite(f *testing.F) {
	v := newTestVault(f, exchangetest.Files(map[string]string{"One.md": "", "GM/Two.md": "---\naliases: [Zwei]\n---\n",
		"map.png": ""}))
	v.indexNotes()
	for _, s := range []string{"[[One]] ![[map.png]] [a](GM/two.md) `[[x]]` {{x}}",
		"[[zwei|x]] ![[zwei]] [x](<GM/Two.md>)", "```\n[[One]]\n```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		out, _ := v.rewriteText(v.notes[1], s, v.notes[1].level)
		if strings.Contains(out, "Two") && !strings.Contains(s, "Two") && !strings.Contains(s, "%") {
			t.Errorf("%q says more than %q", out, s)
		}
		for _, r := range markup.Refs(out) {
			if r.Kind == markup.NestRef && !strings.Contains(s, "![") {
				t.Errorf("%q shows %q in place", out, r.Target)
			}
		}
	})
}
