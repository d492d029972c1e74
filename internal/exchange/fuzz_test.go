package exchange

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"---\na: b\n---\nx", "---\na: [[b]]\n---", "---\n{{x}}: 1\n...\n",
		"---\na: &x [1]\nb: *x\n<<: *x\n---\n", "---\nlevel: gm\n", "\ufeff---\r\na: 1\r\n---\r\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := parseNote("x.md", []byte(s))
		if !utf8.ValidString(n.body) || strings.Contains(n.body, "\x00") {
			t.Errorf("the text is not text: %q", n.body)
		}
		fields, err := n.extraFields()
		if err != nil || fields != nil && !json.Valid(fields) {
			t.Errorf("fields %s: %v", fields, err)
		}
		if _, marks := n.noteMarks(); n.broken && len(marks) == 0 {
			t.Error("broken, and not for the GM alone")
		}
		n.metaTags()
		n.metaList("aliases")
	})
}

func FuzzNative(f *testing.F) {
	f.Add("---\nloregate: 1\nname: A\nlinks: [{kind: x, to: B, attrs: {a: 1}}]\nlayers: [{layer: x, value: y}]\nexits: {up: B}\n---\nx")
	f.Add("---\nfields: '{\"a\":1}'\nformat: json\nlevel: [gm]\nsubjects: x\n---\n\"x\"")
	f.Fuzz(func(t *testing.T, s string) {
		x := &nativeReader{v: &vault{o: MarkdownOptions{Native: true}}, c: newCollection()}
		n := parseNote("x.md", []byte(s))
		if err := x.addNote(n); err != nil {
			t.Error(err)
		}
		x.c.arrangeSheets()
		if text := n.metaText("level"); len(x.c.sheets) > 0 && n.meta["level"] != nil && text != "user" &&
			x.c.sheets[0].own.Level < access.LevelGM {
			t.Errorf("level %q opens the card", text)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	v := newTestVault(f, vaultOf(map[string]string{"One.md": "", "GM/Two.md": "---\naliases: [Zwei]\n---\n",
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

func FuzzSegment(f *testing.F) {
	f.Add("CON.x")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		got := pathSegment(s)
		if got == "" || len(got) > maxSegment-20 || strings.ContainsAny(got, `/\:`) || got[0] == '.' ||
			strings.HasSuffix(got, ".") {
			t.Errorf("segment(%q) = %q", s, got)
		}
	})
}

func FuzzPage(f *testing.F) {
	f.Add("<p>x</p>", "RichText")
	f.Add("a\r\n%%b%%", "Markdown")
	f.Fuzz(func(t *testing.T, text, typ string) {
		if typ != strings.TrimSpace(typ) || !utf8.ValidString(text) || strings.Contains(text, "\x00") ||
			markup.CheckName(typ) != nil || canon.TextOf(typ) == canon.TextFile {
			return
		}
		p := &page{path: "A", card: canon.Card{ID: canon.CardID{1}, Name: "A", Type: typ}, text: text,
			label: access.NewLabel(access.LevelUser)}
		if _, ok := p.renderNote(t.Context()); !ok {
			t.Errorf("%q of type %q does not read back", text, typ)
		}
	})
}
