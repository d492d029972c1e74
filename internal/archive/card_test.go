package archive

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

func TestACardIsReadInFull(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.made(canon.NewCard{Name: "Oda Tarn", Type: "Character", Codename: "char-oda",
			Fields:  []byte(`{"role":"founder","*born":"x"}`),
			Content: "<p>See [[The Lease]], [[The Lease|it]] and [[+diary]].</p>"})
		s.wrote("Oda Tarn+diary", "Wet again.")
		s.hid(access.LevelGM, "Oda Tarn+plan", "She lied.")

		got := s.As("user").Call("get_card", `{"name": "oda  tarns"}`)
		got.Want("name", "Oda Tarn").Want("type", "Character").Want("codename", "char-oda").Want("version", 1).
			Want("content", "<p>See [[The Lease]], [[The Lease|it]] and [[+diary]].</p>").Want("content_length", 58).
			Want("fields.role", "founder").Want("links.#", 2).Want("links.0", "The Lease").Want("links.1", "Oda Tarn+diary").
			Want("updated_at", "2026-01-02T03:04:06.000Z").Want("created_at", "2026-01-02T03:04:06.000Z").
			Want("child_count",
				1).WantNo("level").WantNo("children").WantNo("truncated").WantNo("next").WantNo("homonyms").WantNo("renamed_from")
		if got.Reply.ETag != "1" {
			s.t.Errorf("ETag %q, want the version", got.Reply.ETag)
		}
		s.As("gm").Call("get_card", `{"name": "Oda Tarn"}`).Want("level", "user").Want("child_count", 2)
		s.As("user").Call("get_card", `{"name": ":char-oda"}`).Want("name", "Oda Tarn")
		s.As("user").Call("get_card", `{"name": "~`+s.idOf("Oda Tarn")+`"}`).Want("name", "Oda Tarn")
		s.As("user").Call("get_card", `{"name": "`+s.idOf("Oda Tarn")+`"}`).Want("name", "Oda Tarn")
		s.As("user").Call("get_card", `{"name": "Oda Tarn", "with_children": true}`).WantNames("children",
			"Oda Tarn+diary").Lacks("Wet again", "plan")
		s.As("gm").Call("get_card", `{"name": "Oda Tarn", "with_children": true}`).WantNames("children",
			"Oda Tarn+diary, Oda Tarn+plan")
	})
}

func TestHiddenCardsAreAbsent(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.hid(access.LevelGM, "The Vault", "Behind the mill.")
		s.wrote("The Vane", "On the roof.")
		for _, call := range []struct{ name, with string }{
			{"get_card", ""}, {"get_card", `, "rendered": true, "with_children": true`}, {"list_children", ""},
			{"get_card_outline", ""},
			{"find_in_card", `, "q": "mill"`}, {"get_card_history", ""}, {"get_revision", `, "version": 1`}, {"diff_card", ""},
			{"get_relationships", ""}, {"get_tags", ""}, {"suggest_tags", ""}, {"get_attachment", ""}, {"render_snippet", ""},
			{"get_type", ""},
		} {
			hidden := s.As("user").WantNotFound(call.name, `{"name": "The Vault"`+call.with+`}`)
			absent := s.As("user").WantNotFound(call.name, `{"name": "The Vaurt"`+call.with+`}`)
			if strings.ReplaceAll(hidden, "The Vault", "N") != strings.ReplaceAll(absent, "The Vaurt", "N") {
				s.t.Errorf("%s tells a hidden card from an absent one:\n%s\n%s", call.name, hidden, absent)
			}
		}
		for _, mark := range []string{"~", ""} {
			byID := s.As("user").WantNotFound("get_card", `{"name": "`+mark+s.idOf("The Vault")+`"}`)
			noID := s.As("user").WantNotFound("get_card", `{"name": "`+mark+`01900000-0000-7000-8000-000000000000"}`)
			if strings.ReplaceAll(byID, s.idOf("The Vault"), "I") != strings.ReplaceAll(noID,
				"01900000-0000-7000-8000-000000000000", "I") {
				s.t.Errorf("an id tells:\n%s\n%s", byID, noID)
			}
		}
		s.As("user").WantNotFound("run_query", `{"query_name": "The Vault"}`)
		s.As("user").WantNotFound("fetch", `{"id": "`+s.idOf("The Vault")+`"}`)
		s.As("gm").Call("get_card", `{"name": "The Vault"}`).Want("level", "gm")
	})
}

func TestGMNamesAreDeniedByNameAlone(t *testing.T) {
	s := newScene(t)
	s.wrote("Rent Quay", "Wet.")
	s.wrote("Rent Quay+GM", "The third line.")
	asked := []struct{ op, there, not string }{
		{"get_card", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"list_children", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"get_card_history", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"get_revision", `{"name": "Rent Quay+GM", "version": 1}`, `{"name": "Rent Moor+gm", "version": 1}`},
		{"get_relationships", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"get_tags", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"render_snippet", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"get_attachment", `{"name": "Rent Quay+GM"}`, `{"name": "Rent Moor+gm"}`},
		{"run_query", `{"query_name": "Rent Quay+GM"}`, `{"query_name": "Rent Moor+gm"}`},
	}
	for _, a := range asked {
		there := s.As("user").WantFault("permission_denied", a.op, a.there)
		not := s.As("user").WantFault("permission_denied", a.op, a.not)
		if strings.ReplaceAll(there, "Rent Quay+GM", "N") != strings.ReplaceAll(not, "Rent Moor+gm", "N") {
			t.Errorf("%s tells:\n%s\n%s", a.op, there, not)
		}
		if !strings.Contains(there, `"required_role":"gm"`) {
			t.Errorf("%s does not say which role: %s", a.op, there)
		}
	}
	s.As("user").WantNotFound("get_card", `{"name": "~`+s.idOf("Rent Quay+GM")+`"}`)
	s.As("user").WantNotFound("get_card", `{"name": "Rent Quay+GM Docs"}`)
	s.As("user").Call("search_cards", `{"prefix": "Rent Quay+GM"}`).Want("total", 0)
	s.As("gm").Call("get_card", `{"name": "Rent Quay+GM"}`).Want("content", "The third line.")
	s.As("gm").WantNotFound("get_card", `{"name": "Rent Moor+gm"}`)
}

func TestLongContentComesInParts(t *testing.T) {
	s := newScene(t)
	text := strings.Repeat("Ebb & flow — écluse. ", 1500)
	s.typed("PlainText", "Annals", text)
	whole, next, calls := "", `{"name": "Annals"}`, 0
	for next != "" && calls < 50 {
		got := s.As("user").Call("get_card", next)
		whole += got.Text("content")
		calls++
		if next = ""; strings.Contains(got.Raw, `"truncated":true`) {
			got.Want("next.tool", "get_card")
			v, _ := got.At("next.arguments")
			next = asJSON(v)
		}
	}
	if whole != text || calls < 3 {
		t.Errorf("%d calls gave %d of %d bytes", calls, len(whole), len(text))
	}
	s.As("user").Call("get_card", `{"name": "Annals", "full": true}`).Want("content", text).WantNo("truncated")
	s.As("user").Call("get_card", `{"name": "Annals", "max_content_length": 7}`).Want("content", "Ebb & f").
		Want("truncated", true).Want("next.arguments.content_offset", 7).Want("next.arguments.max_content_length", 7)
	cut := s.As("user").Call("get_card", `{"name": "Annals", "full": true}`, atMost(4096))
	if len(cut.Raw) > 4096 {
		t.Errorf("cut to %d bytes", len(cut.Raw))
	}
	part := cut.Text("content")
	cut.Want("truncated", true).Want("next.arguments.full", true).Want("next.arguments.content_offset", len([]rune(part)))
	if !strings.HasPrefix(text, part) || len(part) < 2000 {
		t.Errorf("cut to %d bytes of content", len(part))
	}
}

func TestAFormerNameFindsTheCard(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Old Mill", "Grinds.")
		s.wrote("Old Mill+cellar", "Damp.")
		s.renamed("Old Mill", "New Mill")
		s.As("user").Call("get_card", `{"name": "Old Mill"}`).Want("name", "New Mill").Want("renamed_from", "Old Mill")
		s.As("user").Call("fetch", `{"id": "Old Mill"}`).Want("title", "New Mill")
		s.As("user").Call("get_card", `{"name": "Old Mill+cellar"}`).Want("name", "New Mill+cellar").Want("renamed_from",
			"Old Mill+cellar")
		s.leveled("New Mill", access.LevelGM)
		s.As("user").WantNotFound("get_card", `{"name": "Old Mill"}`)
	})
}

func TestHomonymsAreListedForHigherRoles(t *testing.T) {
	s := newScene(t)
	s.wrote("The Lodger", "A quiet man.")
	s.hid(access.LevelGM, "The Lodger", "Is the sea.")
	s.As("user").Call("get_card", `{"name": "The Lodger"}`).Want("content", "A quiet man.").WantNo("homonyms")
	got := s.As("gm").Call("get_card", `{"name": "The Lodger"}`).Want("content", "A quiet man.").Want("level", "user").
		Want("homonyms.#", 1).Want("homonyms.0.level", "gm")
	s.As("gm").Call("get_card", `{"name": "~`+got.Text("homonyms.0.id")+`"}`).Want("content", "Is the sea.")
}

func TestVersionNumbersCountVisibleVersions(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.hid(access.LevelGM, "Sunk Chapel", "Secret one.")
		s.edited("Sunk Chapel", "Secret two.")
		s.edited("Sunk Chapel", "Known now.")
		s.leveled("Sunk Chapel", access.LevelUser)
		user := s.As("user").Call("get_card", `{"name": "Sunk Chapel"}`)
		user.Want("version", 1)
		if user.Reply.ETag != "1" {
			s.t.Errorf("ETag %s counts what was hidden", user.Reply.ETag)
		}
		s.As("user").Call("get_card_history", `{"name": "Sunk Chapel"}`).Want("total", 1).Want("versions.0.version",
			1).Lacks("secret")
		s.As("user").WantNotFound("get_revision", `{"name": "Sunk Chapel", "version": 2}`)
		s.As("user").Call("get_revision", `{"name": "Sunk Chapel", "version": 1}`).Want("content", "Known now.")
		s.As("gm").Call("get_card_history", `{"name": "Sunk Chapel"}`).Want("total", 4).Want("versions.0.version", 4)
		s.As("gm").Call("get_revision", `{"name": "Sunk Chapel", "version": 1}`).Want("content",
			"Secret one.").Want("level", "gm")
	})
}

func TestTagOfARenderedCardDependsOnItsNests(t *testing.T) {
	s := newScene(t)
	s.wrote("Square", "<p>{{Well}}</p>")
	s.wrote("Well", "Deep.")
	s.hid(access.LevelGM, "Square+plan", "x")
	rendered := `{"name": "Square", "rendered": true}`
	children := `{"name": "Square", "with_children": true}`
	before, kids := s.As("user").Call("get_card", rendered).Reply.ETag, s.As("user").Call("get_card", children).Reply.ETag
	s.hid(access.LevelGM, "Square+plot", "y")
	if s.As("user").Call("get_card", children).Reply.ETag != kids {
		t.Error("a hidden child changes the tag")
	}
	if s.As("gm").Call("get_card", children).Reply.ETag == kids {
		t.Error("the gm's tag is the user's")
	}
	s.edited("Well", "Deeper.")
	if after := s.As("user").Call("get_card", rendered).Reply.ETag; after == before || after == "1" {
		t.Errorf("tag %s before and %s after a nested card changed", before, after)
	}
}

func TestInvisibleCharactersAreRemoved(t *testing.T) {
	s := newScene(t)
	s.made(canon.NewCard{Name: "Sign", Content: "Turn \u202eback\u202c\U000e0041 now",
		Fields: []byte(`{"note": "a\u200bb"}`)})
	s.As("user").Call("get_card", `{"name": "Sign"}`).Want("content", "Turn back now").Want("fields.note", "ab")
	s.As("user").Call("render_snippet", `{"name": "Sign"}`).Want("markdown", "Turn back now")
	if markup.Clean("\u202e") != "" {
		t.Fatal("the test's own premise fails")
	}
}
