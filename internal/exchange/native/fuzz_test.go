package native

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

func FuzzNative(f *testing.F) {
	f.Add("---\nloregate: 1\nname: A\nlinks: [{kind: x, to: B, attrs: {a: 1}}]\nlayers: [{layer: x, value: y}]\nexits: {up: B}\n---\nx")
	f.Add("---\nfields: '{\"a\":1}'\nformat: json\nlevel: [gm]\nsubjects: x\n---\n\"x\"")
	f.Fuzz(func(t *testing.T, s string) {
		x := &Reader{Collection: exchange.NewCollection()}
		n := markdown.Parse("x.md", []byte(s))
		if err := x.Add(t.Context(), n); err != nil {
			t.Error(err)
		}
		x.Collection.Arrange()
		if text := n.Text("level"); len(x.Collection.Sheets) > 0 && n.Meta["level"] != nil && text != "user" &&
			x.Collection.Sheets[0].Label.Level < access.LevelGM {
			t.Errorf("level %q opens the card", text)
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
			whole: secrecy.Text{Open: text},
			label: access.NewLabel(access.LevelUser)}
		if _, ok := p.renderNote(t.Context()); !ok {
			t.Errorf("%q of type %q does not read back", text, typ)
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if out, _ := p.renderNote(left); out != nil {
			t.Errorf("%q of type %q is written for a caller who has left", text, typ)
		}
	})
}
