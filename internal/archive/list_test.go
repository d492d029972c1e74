package archive

import (
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestChildrenAreListedFlatByGeneration(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		s.As("user").Call("list_children", `{"name": "Games+Coast"}`).Want("parent", "Games+Coast").
			WantNames("children", "Games+Coast+Lamp, Games+Coast+Ferry").Want("child_count", 2).Want("total",
			2).Want("depth", 1).
			Want("children.0.depth", 1).Want("children.0.position", 1).Want("children.1.position", 2).Want("children.1.type",
			"Location").
			Want("next_offset", nil).Lacks("burns", "level")
		s.As("gm").Call("list_children", `{"name": "Games+Coast"}`).Want("child_count", 4).Want("children.2.level", "gm")
		s.As("user").Call("list_children", `{"name": "Games", "depth": 2}`).
			WantNames("children", "Games+Coast, Games+Coast+Lamp, Games+Coast+Ferry").
			Want("child_count", 1).Want("total", 3).Want("children.1.depth", 2).Want("children.2.position", 2)
		s.As("user").Call("list_children", `{"name": "Games", "depth": 2, "limit": 1, "offset": 1}`).
			WantNames("children", "Games+Coast+Lamp").Want("next_offset", 2)
		s.As("user").WantFault("validation_error", "list_children", `{"name": "Games", "depth": 6}`)
	})
}

func TestAListingParentOrdersItsChildren(t *testing.T) {
	s := newScene(t)
	s.typed("Pointer", "Contents", "[[Contents+Second]]\n[[+First]]\n[[Elsewhere]]")
	for _, name := range []string{"Contents+Late", "Contents+First", "Contents+Second", "Contents+Later"} {
		s.wrote(name, "x")
	}
	s.As("user").Call("list_children", `{"name": "Contents"}`).
		WantNames("children", "Contents+Second, Contents+First, Contents+Late, Contents+Later").Want("children.1.position", 2)
	s.As("user").Call("list_children", `{"name": "Contents", "limit": 2, "offset": 1}`).
		WantNames("children", "Contents+First, Contents+Late").Want("children.0.position", 2).Want("next_offset",
		3).Want("total", 4)
}

func TestAnOutlineLeadsIntoTheCard(t *testing.T) {
	s := newScene(t)
	s.wrote("Annals", "<p>Été.</p><h2>The <i>First</i> Rent</h2><p>Paid.</p><h3>Late</h3><p>Twice.</p>")
	s.typed("Markdown", "Notes", "Été\n\n# One\ntext\n```\n# not this\n```\n## Two ##\nmore\n")
	got := s.As("user").Call("get_card_outline", `{"name": "Annals"}`)
	got.Want("headings.#", 2).Want("headings.0.text", "The First Rent").Want("headings.0.level",
		2).Want("headings.0.offset", 11).
		Want("headings.1.text", "Late").Want("headings.1.level", 3).Want("total", 2)
	at, _ := got.At("headings.0.offset")
	length, _ := got.At("headings.0.length")
	s.As("user").Call("get_card", `{"name": "Annals", "content_offset": `+asJSON(at)+`, "max_content_length": `+
		asJSON(length)+`}`).
		Want("content", "<h2>The <i>First</i> Rent</h2><p>Paid.</p>")
	notes := s.As("user").Call("get_card_outline", `{"name": "Notes"}`)
	notes.Want("headings.#", 2).Want("headings.0.offset", 5).Want("headings.1.text", "Two").Want("headings.1.level", 2)
	at, _ = notes.At("headings.1.offset")
	s.As("user").Call("get_card", `{"name": "Notes", "content_offset": `+asJSON(at)+`}`).Want("content",
		"## Two ##\nmore\n")
}

func TestFindInCardFindsTextAndNotTags(t *testing.T) {
	s := newScene(t)
	s.wrote("Lamp", `<p class="lamp">É: a lamp, <b>LAMP</b>s and lamplight.</p>`)
	got := s.As("user").Call("find_in_card", `{"name": "Lamp", "q": "lamp", "context": 6}`)
	got.Want("total", 3).Want("matches.0.match", "lamp").Want("matches.0.before", "É: a").Want("matches.1.match", "LAMP")
	at, _ := got.At("matches.0.offset")
	s.As("user").Call("get_card", `{"name": "Lamp", "content_offset": `+asJSON(at)+
		`, "max_content_length": 4}`).Want("content", "lamp")
	s.As("user").Call("find_in_card", `{"name": "Lamp", "q": "lamp", "match_mode": "whole_word"}`).Want("total", 2)
	s.As("user").Call("find_in_card", `{"name": "Lamp", "q": "LAMP", "case_sensitive": true}`).Want("total", 1)
	s.As("user").Call("find_in_card", `{"name": "Lamp", "q": "class"}`).Want("total", 0)
	s.As("user").Call("find_in_card", `{"name": "Lamp", "q": "lamp", "limit": 1, "offset": 1}`).Want("matches.0.match",
		"LAMP").Want("next_offset", 2)
}

func TestHistoryAndDiff(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Main Page", "one\ntwo\nthree\n")
		s.edited("Main Page", "one\n2\nthree\n")
		typ := "PlainText"
		s.on("Main Page", func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c,
				canon.Edit{Type: &typ})
			return err
		})
		got := s.As("user").Call("get_card_history", `{"name": "Main Page", "limit": 2}`)
		got.Want("total", 3).Want("next_offset", 2).Want("versions.0.version", 3).Want("versions.0.current",
			true).Want("versions.0.by", "keeper").
			Want("versions.0.type", "PlainText").Want("versions.1.version",
			2).WantNo("versions.1.current").Want("versions.1.content_length", 12).
			Want("versions.0.at", "2026-01-02T03:04:08.000Z").Want("versions.0.operation", "scene")
		s.As("user").Call("get_revision", `{"name": "Main Page", "version": 1}`).Want("content",
			"one\ntwo\nthree\n").Want("type", "RichText").Want("version", 1)
		s.As("user").Call("get_revision", `{"name": "Main Page", "version": 1, "max_content_length": 4}`).Want("content",
			"one\n").
			Want("truncated", true).Want("next.arguments.content_offset", 4).Want("next.arguments.version", 1)
		s.As("user").WantNotFound("get_revision", `{"name": "Main Page", "version": 4}`)
		diff := s.As("user").Call("diff_card", `{"name": "Main Page", "from": 1}`)
		diff.Want("from", 1).Want("to", 3).Want("changed.0", "type").Want("changed.1", "content").Has(`-two\n`, `+2\n`)
		s.As("user").Call("diff_card", `{"name": "Main Page"}`).Want("from", 2).Want("to", 3).Want("diff",
			"").Want("changed.#", 1)
		s.As("user").WantFault("validation_error", "diff_card", `{"name": "Main Page", "from": 3, "to": 1}`)
		s.As("user").Call("diff_card", `{"name": "Main Page", "from": 1, "offset": 4}`).Has(`"diff":"before\n`, `"offset":4`)
	})
}

func TestAuditShowsWhoChangedACard(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Quay", "a")
		s.hid(access.LevelAdmin, "Plot", "b")
		s.edited("Quay", "c")
		s.wrote("Lamp", "d")
		s.As("admin").Call("delete_card", `{"name": "Lamp"}`)
		s.As("gm").Call("audit_changes", `{}`, overREST).WantNames("changes", "Quay, Quay").Lacks("Plot")
		s.As("admin").Call("audit_changes", `{}`, overREST).WantNames("changes", "Lamp, Lamp, Quay, Plot, Quay").
			Want("changes.0.operation", "delete_card").Want("changes.0.trashed", true)
		s.As("admin").Call("audit_changes", `{"card": "Lamp", "author": "keeper"}`, overREST).WantNames("changes", "Lamp")
		s.As("gm").Call("audit_changes", `{"card": "quay", "limit": 1}`, overREST).WantNames("changes",
			"Quay").Want("total", 2)
		for who, input := range map[string]string{"gm": `{"card": "Plot"}`, "user": `{}`} {
			if f := s.As(who).asked("audit_changes", input, overREST); f.Kind != fault.NotFound && who == "gm" ||
				f.Kind != fault.Denied && who == "user" {
				t.Errorf("%s asks for %s: %v", who, input, f)
			}
		}
	})
}

func TestRecentChangesShowVisibleChanges(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Quay", "a")
		s.hid(access.LevelGM, "Plot", "b")
		s.typed("Item", "Lamp", "c")
		s.edited("Quay", "d")
		s.As("user").Call("recent_changes", `{}`).WantNames("changes", "Quay, Lamp, Quay").Want("total", 3).
			Want("changes.0.version", 2).Want("changes.2.version", 1).Want("next_offset", nil).Lacks("Plot", "level")
		s.As("gm").Call("recent_changes", `{}`).Want("total", 4).Want("changes.2.level", "gm")
		s.As("user").Call("recent_changes", `{"type": "item"}`).WantNames("changes", "Lamp")
		s.As("user").Call("recent_changes", `{"author": "nobody"}`).Want("total", 0)
		s.As("user").Call("recent_changes", `{"author": "keeper", "limit": 1}`).WantNames("changes",
			"Quay").Want("next_offset", 1)
		s.As("user").Call("recent_changes", `{"since": "`+s.now.Format(time.RFC3339)+`"}`).WantNames("changes",
			"Quay").Want("total", 1)
		s.As("user").Call("recent_changes", `{"before": "2026-01-02T03:04:07Z"}`).WantNames("changes",
			"Quay").Want("total", 1)
	})
}

func TestTheTrashIsForAdmins(t *testing.T) {
	s := aCoast(newScene(t))
	s.trashed("Games+Coast")
	s.As("admin").Call("list_trash", `{}`).WantNames("cards", "Games+Coast").Want("total", 1).Want("cards.0.with", 4).
		Want("cards.0.trashed_at", "2026-01-02T03:04:07.000Z").Want("next_offset", nil)
	if got, err := s.As("gm").invoke("list_trash", `{}`); err == nil {
		t.Errorf("the gm reads the trash: %s", got.Output)
	}
	s.As("admin").WantNotFound("get_card", `{"name": "Games+Coast"}`)
}

// A reference by an alias means its card. The alias of a hidden card looks as if it did not exist.
func TestReferencesByAlias(t *testing.T) {
	onEachStore(t, func(s *scene) {
		alias := func(name, alias string) {
			s.As("admin").Call("update_card", `{"name": "`+name+`", "fields": {"aliases": ["`+alias+`"]}}`)
		}
		s.wrote("One", "[[The Mill]] [[The Spy]] [[Oda]]")
		s.wrote("Old Mill", "x")
		s.wrote("Oda", "x")
		s.hid(access.LevelGM, "Plot", "x")
		alias("Old Mill", "The Mill")
		alias("Plot", "The Spy")
		s.hid(access.LevelGM, "Namesake", "x")
		alias("Namesake", "Oda")
		s.As("user").Call("wanted_cards", `{}`).WantNames("wanted", "The Spy")
		s.As("gm").Call("wanted_cards", `{}`).WantNames("wanted", "")
		s.As("user").Call("get_relationships", `{"name": "One", "kind": "links"}`).WantNames("cards",
			"Old Mill, The Spy, Oda")
		s.As("gm").Call("get_relationships", `{"name": "One", "kind": "links"}`).WantNames("cards", "Old Mill, Plot, Oda")
		s.As("user").Call("get_relationships", `{"name": "Old Mill", "kind": "linked_by"}`).WantNames("cards", "One")
		s.As("gm").Call("get_relationships", `{"name": "Plot"}`).WantNames("cards", "One")
		s.As("gm").Call("get_relationships", `{"name": "Namesake"}`).WantNames("cards", "")
	})
}

func TestWantedCardsIncludeHiddenOnes(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("One", "[[Far Landing]] [[The Vault]]")
		s.wrote("Two", "[[Far Landing]] [[One]]")
		s.wrote("One+tags", "[[Harbour]] [[Far Landing]]") // tags do not count as links
		s.hid(access.LevelGM, "Three", "[[Far Landing]] [[Nowhere]]")
		s.hid(access.LevelGM, "The Vault", "x")
		s.As("user").Call("wanted_cards", `{}`).WantNames("wanted", "Far Landing, The Vault").Want("wanted.0.count",
			2).Want("total", 2)
		s.As("gm").Call("wanted_cards", `{}`).WantNames("wanted", "Far Landing, Nowhere").Want("wanted.0.count", 3)
		s.As("gm").Call("wanted_cards", `{"limit": 1}`).Want("next_offset", 1)
	})
}

func TestRelationships(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Oda", "[[Lamp]] and [[Lamp|it]], {{Lamp}}, [[Nobody]], [[Vault]]")
		s.wrote("Lamp", "Of [[Oda]].")
		s.wrote("Almanac", "{{Oda}} {{+intro}}")
		s.wrote("Almanac+tags", "[[Oda]]")
		s.hid(access.LevelGM, "Plot", "[[Oda]] {{Oda}}")
		s.hid(access.LevelGM, "Vault", "x")
		s.As("user").Call("get_relationships", `{"name": "Oda", "kind": "links"}`).WantNames("cards", "Lamp, Nobody, Vault").
			Want("cards.0.exists", true).Want("cards.1.exists", false).Want("cards.2.exists",
			false).WantNo("cards.2.id").Want("total", 3)
		s.As("gm").Call("get_relationships", `{"name": "Oda", "kind": "links"}`).Want("cards.2.exists",
			true).Want("cards.2.level", "gm")
		s.As("user").Call("get_relationships", `{"name": "Oda", "kind": "nests"}`).WantNames("cards", "Lamp").Want("kind",
			"nests")
		s.As("user").Call("get_relationships", `{"name": "Oda", "kind": "nested_in"}`).WantNames("cards",
			"Almanac").Want("total", 1)
		s.As("gm").Call("get_relationships", `{"name": "Oda", "kind": "nested_in"}`).WantNames("cards", "Almanac, Plot")
		s.As("user").Call("get_relationships", `{"name": "Oda"}`).WantNames("cards",
			"Almanac, Almanac+tags, Lamp").Want("kind", "referers")
		s.As("gm").Call("get_relationships", `{"name": "Oda", "limit": 3}`).Want("total", 4).Want("next_offset", 3)
		s.As("user").WantFault("validation_error", "get_relationships", `{"name": "Oda", "kind": "enemies"}`)
	})
}

func TestTagsAreItemsOfTheTagsCard(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Oda", "She kept a lamp and a ledger. See [[Lamp]].")
		s.wrote("Oda+tags", "[[Founder]]\n[[History]]")
		s.wrote("Lamp", "x")
		s.wrote("Lamp+tags", "[[History]]\n[[Light]]")
		s.wrote("Ledger Book", "x")
		s.wrote("Ledger Book+tags", "[[ledgers]]")
		s.wrote("Tagged in words only", "[[History]] Founder")
		s.hid(access.LevelGM, "Plot", "x")
		s.wrote("Plot+tags", "[[History]]\n[[Secret]]")
		s.As("user").Call("get_tags", `{}`).WantNames("tags", "History, Founder, ledgers, Light").Want("tags.0.count",
			2).Want("total", 4)
		s.As("gm").Call("get_tags", `{}`).Want("tags.0.count", 3).Has("Secret")
		s.As("user").Call("get_tags", `{"prefix": "l"}`).WantNames("tags", "ledgers, Light")
		s.As("user").Call("get_tags", `{"name": "Oda"}`).WantNames("tags", "Founder, History").Want("tags.1.count", 2)
		s.As("user").Call("search_by_tags", `{"tags": ["history"]}`).WantNames("cards", "Lamp, Oda").Want("total",
			2).Want("next_offset", nil)
		s.As("gm").Call("search_by_tags", `{"tags": ["history"]}`).WantNames("cards", "Lamp, Oda, Plot")
		s.As("user").Call("search_by_tags", `{"tags": ["history", "founder"]}`).WantNames("cards", "Oda")
		s.As("user").Call("search_by_tags", `{"tags": ["history", "histories"]}`).WantNames("cards", "Lamp, Oda")
		s.As("user").Call("search_by_tags", `{"tags": ["ledger", "founder"], "match": "any", "limit": 1}`).WantNames("cards",
			"Ledger Book").Want("total", 2).Want("next_offset", 1)
		s.As("user").WantFault("validation_error", "search_by_tags", `{"tags": []}`)
		got := s.As("user").Call("suggest_tags", `{"name": "Oda"}`)
		got.WantNames("tags", "ledgers, Light").Want("tags.0.reason", "the text mentions it").Lacks("Secret")
		s.As("user").Call("suggest_tags", `{"name": "Oda", "limit": 1}`).WantNames("tags", "ledgers")
	})
}

func TestTagsAreTheCardsOwn(t *testing.T) {
	s := newScene(t)
	s.hid(access.LevelGM, "Twin", "The other one.")
	s.hid(access.LevelGM, "Twin+tags", "[[Secret]]")
	s.wrote("Twin", "The one that is known.")
	s.As("gm").Call("get_tags", `{"name": "Twin"}`).Want("total", 0)
	s.As("gm").Call("get_tags", `{"name": "~`+s.As("gm").Call("get_card", `{"name": "Twin"}`).Text("homonyms.0.id")+
		`"}`).WantNames("tags", "Secret")
}

func TestTypes(t *testing.T) {
	s := newScene(t)
	s.made(canon.NewCard{Name: "Rumour", Type: "Cardtype", Content: "<p>What is <b>said</b>.</p>",
		Fields: []byte(`{"schema": {"type": "object"}}`)})
	s.made(canon.NewCard{Name: "Conspiracy", Type: "Cardtype", Label: &access.Label{Level: access.LevelGM}})
	s.As("user").Call("list_types", `{}`).Has(`"name":"RichText","id":"basic","codename":"basic"`,
		"Rumour").Lacks("Conspiracy")
	s.As("gm").Call("list_types", `{}`).Has("Conspiracy")
	s.As("user").Call("get_type", `{"name": "rich text"}`).Want("name", "RichText").Want("common", true)
	s.As("user").Call("get_type", `{"name": "Rumour"}`).Want("description", "What is said.").Want("id",
		s.idOf("Rumour")).Want("schema.type", "object")
	hidden := s.As("user").WantNotFound("get_type", `{"name": "Conspiracy"}`)
	absent := s.As("user").WantNotFound("get_type", `{"name": "Conspirator"}`)
	if strings.ReplaceAll(hidden, "Conspiracy", "N") != strings.ReplaceAll(absent, "Conspirator", "N") {
		t.Errorf("a hidden type tells:\n%s\n%s", hidden, absent)
	}
}

func TestAttachments(t *testing.T) {
	s := newScene(t)
	png := "\x89PNG\x0d\x0a\x1a\x0a" + strings.Repeat("p", 100)
	s.made(canon.NewCard{Name: "Map", Type: "Image", File: []byte(png), Fields: []byte(`{"file_name": "../m\"ap.png"}`)})
	s.made(canon.NewCard{Name: "Page", Type: "File", File: []byte("<html><script>alert(1)</script>")})
	s.hid(access.LevelGM, "Page of text", "no file")
	got := s.As("gm").Call("get_attachment", `{"name": "Map"}`) // players get it as its format allows
	got.Want("media_type", "image/png").Want("size", 108).Want("file_name",
		"_m_ap.png").Has("content_base64").WantNo("note")
	if len(got.Text("sha256")) != 64 {
		t.Error("no SHA-256")
	}
	s.As("gm").Call("get_attachment", `{"name": "Map", "max_bytes": 50}`).WantNo("content_base64").Has("max_bytes")
	rest := s.As("gm").Call("get_attachment", `{"name": "Map"}`, overREST)
	if f := rest.Reply.File; f == nil || f.Name != "_m_ap.png" || f.Type != "image/png" || string(f.Data) != png {
		t.Errorf("REST sends %+v", f)
	}
	s.As("user").Call("get_attachment", `{"name": "Page"}`).Want("media_type", "text/html; charset=utf-8")
	s.As("gm").WantNotFound("get_attachment", `{"name": "Page of text"}`)
	s.As("user").Call("get_card", `{"name": "Map"}`).Want("content", "").Want("content_length", 0)
}
