package archive

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestAutoLinkSuggests(t *testing.T) {
	s := newDesk(t)
	for _, name := range []string{"Butterfly Galaxii", "Butterfly Galaxii Empire", "Lamp", "Oda Tarn", "Été", "Ox",
		"Rent Quay", "Wolf", "Ember", "A|B Card", "1234"} {
		s.wrote(name, "x")
	}
	s.wrote("Games+Eclipser", "x")
	s.wrote("Games+tags", "[[a]]")
	s.wrote("Rent Quay+Twice", "x")
	s.wrote("Wolf+Twice", "x")
	s.hid(access.LevelGM, "Secret Cult", "x")
	s.wrote("Page", `<h2>Lamp</h2><p title="Wolf">The <b>lamp</b> of the butterfly  galaxii empire, not Butterfly Galaxii; [[Rent Quay|here]] rent quay. `+
		`<code>Oda Tarn</code> <a href="/Wolf">Wolf</a> https://x.example/Ember ember@x.example we<i>wolf</i> [[x]]wolf {{Wolf|view:link}} &eacute;lamp Secret Cult. `+
		`Eclipser eclipser Twice tags Ox Lamp wolves oda tarn, Oda Tarn &quot;été&quot; 1234 A|B Card <!-- Wolf --> Page</p>`)
	got := s.As("user").Call("auto_link", `{"name": "Page", "min_term_length": 3}`).Want("mode", "suggest").Want("dry_run",
		true).Want("total", 6).Want("applied", 0)
	targets := strings.Join(got.Each("suggestions", "target"), ", ")
	if want := "Lamp, Butterfly Galaxii Empire, Butterfly Galaxii, Games+Eclipser, Oda Tarn, Été"; targets != want {
		t.Errorf("targets %s, want %s", targets, want)
	}
	got.Want("suggestions.0.term", "lamp").Want("suggestions.0.count", 2).Want("suggestions.1.term",
		"butterfly  galaxii empire").Want("suggestions.2.count", 1).Want("suggestions.4.count", 2)
	content := s.As("user").Call("get_card", `{"name": "Page", "full": true}`).Text("content")
	at, _ := got.At("suggestions.0.offset")
	if r := []rune(content); string(r[int(at.(float64)):][:4]) != "lamp" {
		t.Errorf("offset %v is not the lamp's", at)
	}
	// On a card that users read, a GM is not offered links to cards that users cannot see; on a GM
	// card, a GM is.
	s.As("gm").Call("auto_link", `{"name": "Page"}`).Lacks("secret cult\"")
	s.hid(access.LevelGM, "Plot", "The Secret Cult and the Lamp.")
	s.As("gm").Call("auto_link", `{"name": "Plot", "min_term_length": 5}`).Want("total", 1).Want("suggestions.0.target",
		"Secret Cult")
	s.typed("Pointer", "List", "Lamp")
	s.As("user").wantFields(fault.Rule, "auto_link", `{"name": "List"}`, "name")
}

func TestAutoLinkInMarkdown(t *testing.T) {
	s := newDesk(t)
	s.wrote("Lamp", "x")
	s.typed("Markdown", "Note",
		"# Lamp\n\nLamp\n----\n\n    Lamp\n\n```\nLamp\n```\n`Lamp` [Lamp](x) ![Lamp](y) <Lamp> [a][Lamp] [[Lamp Post]]\n\n[Lamp]: x\n\nthe *Lamp* lamp")
	s.Do("gm", "auto_link", `{"name": "Note", "mode": "apply", "dry_run": false}`).Want("applied", 1)
	s.As("user").reads("Note",
		"# Lamp\n\nLamp\n----\n\n    Lamp\n\n```\nLamp\n```\n`Lamp` [Lamp](x) ![Lamp](y) <Lamp> [a][Lamp] [[Lamp Post]]\n\n[Lamp]: x\n\nthe *[[Lamp]]* lamp")
}

func TestAutoLinkApplies(t *testing.T) {
	s := newDesk(t)
	s.wrote("Lamp", "x")
	s.wrote("Oda Tarn", "x")
	const before = "<p>Oda Tarn's lamp &amp; [[x|lamp]] lamp</p>"
	s.wrote("Page", before)
	if f := s.As("user").asked("auto_link", `{"name": "Page", "mode": "apply"}`); f.Kind != fault.Denied ||
		f.Details["required_role"] != "gm" {
		t.Errorf("a player applies: %v", f)
	}
	s.As("user").WantFault("permission_denied", "auto_link", `{"name": "Nothing", "mode": "apply"}`)
	n := s.commits()
	s.Do("gm", "auto_link", `{"name": "Page", "mode": "apply"}`).Want("dry_run", true).Want("applied", 0).Want("total",
		2).Has("+<p>[[Oda Tarn]]'s").WantNo("change_id")
	s.As("user").reads("Page", before)
	if s.commits() != n {
		t.Error("a dry run was committed")
	}
	done := s.Do("gm", "auto_link", `{"name": "Page", "mode": "apply", "dry_run": false}`).Want("applied",
		2).Want("version", 2)
	s.As("user").reads("Page", "<p>[[Oda Tarn]]'s [[Lamp|lamp]] &amp; [[x|lamp]] lamp</p>")
	s.Do("gm", "auto_link", `{"name": "Page", "mode": "apply", "dry_run": false}`).Want("applied", 0).Want("version", 2)
	s.Do("gm", "undo_change", `{"id": "`+done.Text("change_id")+`"}`)
	s.As("user").reads("Page", before)
	s.wantRebuilt()
}

// FuzzShadow checks that a shadow has the length of its text and that inserting links changes
// nothing else.
func FuzzShadow(f *testing.F) {
	for _, s := range []string{"<p>Lamp</p>", "[[Lamp]] lamp", "<a>Lamp", "&eacute;Lamp {{# Lamp}} Lamp",
		"`Lamp` # Lamp\n```\nLamp", "\x01Lamp\x02", "<h1>Lamp", "Lamp\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		set := termSet{}
		set.add("Lamp", true, 2)
		for _, kind := range []canon.TextKind{canon.TextHTML, canon.TextMarkdown, canon.TextPlain} {
			shadow := shadowOf(kind, content)
			if len(shadow) != len(content) {
				t.Fatalf("shadow of %q has %d bytes", content, len(shadow))
			}
			found, err := set.findLinks(t.Context(), shadow, content)
			if err != nil {
				t.Fatal(err)
			}
			after := insertLinks(content, found)
			plain := strings.ReplaceAll(strings.ReplaceAll(after, "[[Lamp]]", "Lamp"), "[[Lamp|", "")
			if len(after) < len(content) || !strings.Contains(content, "[[Lamp") && !strings.Contains(content, "]]") &&
				strings.ReplaceAll(plain, "]]", "") != content {
				t.Errorf("%q became %q", content, after)
			}
		}
	})
}
