package archive

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestLevelsOfCards(t *testing.T) {
	s := newDesk(t)
	s.wrote("Vault", "gold")
	s.wrote("Vault+door", "iron")
	s.Do("admin", "set_card_level", `{"name": "Vault", "level": "gm", "subjects": ["alice"]}`).
		Want("level", "gm").Want("own_level", "gm").Want("subjects.0", "alice").Want("version", 2)
	s.As("user").WantNotFound("get_card", `{"name": "Vault"}`)
	s.As("user").WantNotFound("get_card", `{"name": "Vault+door"}`)
	s.As("alice").reads("Vault", "gold")
	s.Do("admin", "set_card_level", `{"name": "Vault", "level": "gm", "subjects": ["alice"]}`).Want("version",
		2).WantNo("change_id")
	// A name part keeps the card at level gm, even if its own level is user.
	s.wrote("Vault+GM", "x")
	s.Do("admin", "set_card_level", `{"name": "Vault+GM", "level": "user"}`).Want("own_level", "user").Want("level", "gm")
	// A reveal shows only the current version.
	s.edited("Vault", "silver")
	s.Do("admin", "set_card_level", `{"name": "Vault", "level": "user"}`).Want("level", "user").Want("subjects.#", 0)
	s.As("user").reads("Vault", "silver")
	s.As("user").Call("get_card_history", `{"name": "Vault"}`).Lacks("gold").Want("total", 1)
	s.As("user").WantNotFound("get_revision", `{"name": "Vault", "version": 1}`)
	s.wantRebuilt()
}

func TestDeletedCardsGoToTheTrash(t *testing.T) {
	s := newDesk(t)
	s.wrote("Town+Quay+Crane", "lifts")
	s.wrote("Leaf", "green")
	before := s.commits()
	s.Do("admin", "delete_card", `{"name": "Town", "dry_run": true}`).Want("deleted", false).Want("dry_run", true).
		Want("descendant_count", 2).WantNames("descendants", "Town+Quay, Town+Quay+Crane").WantNo("change_id")
	f := s.As("admin").wantFields(fault.Rule, "delete_card", `{"name": "Town"}`, "confirm")
	if f.Details["descendant_count"] != 2 {
		t.Errorf("details %v", f.Details)
	}
	s.As("admin").wantFields(fault.Rule, "delete_card", `{"name": "Town", "confirm": "Tower"}`, "confirm")
	s.As("user").reads("Town+Quay+Crane", "lifts")
	if s.commits() != before {
		t.Error("something was committed")
	}
	gone := s.Do("admin", "delete_card", `{"name": "~`+s.idOf("Town")+`", "confirm": "town"}`).Want("deleted",
		true).Want("name", "Town").
		Want("descendant_count", 2).WantNo("dry_run")
	s.As("user").WantNotFound("get_card", `{"name": "Town+Quay+Crane"}`)
	s.Do("admin", "delete_card", `{"name": "Leaf"}`, withKey("k")).Want("deleted", true).Want("descendant_count", 0)
	again := s.Do("admin", "delete_card", `{"name": "Leaf"}`, withKey("k")).Want("deleted", true).Want("name", "Leaf")
	if !again.Reply.Replayed {
		t.Error("not replayed")
	}
	s.As("admin").WantNotFound("delete_card", `{"name": "Leaf"}`)
	s.Do("admin", "undo_change", `{"id": "`+gone.Text("change_id")+`"}`).WantNames("cards", "Town")
	s.As("user").reads("Town+Quay+Crane", "lifts")
	s.wantRebuilt()
}

func TestCardsWithCodenamesAreKept(t *testing.T) {
	s := newDesk(t)
	s.wrote("Town", "x")
	s.made(canon.NewCard{Name: "Town+Hall", Codename: "hall"})
	s.change(func(p *canon.Plan) error { return p.Configure("Main", canon.Settings{KeepCodenames: true}) })
	s.As("admin").wantFields(fault.Rule, "delete_card", `{"name": "Town+Hall"}`, "name")
	s.As("admin").wantFields(fault.Rule, "delete_card", `{"name": "Town", "confirm": "Town"}`, "name")
	s.Do("admin", "update_card", `{"name": "Town+Hall", "codename": ""}`).WantNo("codename")
	s.Do("admin", "delete_card", `{"name": "Town", "confirm": "Town"}`).Want("deleted", true)
}

func TestRenamingRewritesLinks(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "<p>[[+crane]] [[Quay|here]] [[_self]]</p>")
	s.wrote("Quay+crane", "lifts, see [[_left]]")
	s.hid(access.LevelAdmin, "Quay+plan", "x")
	const links = "<a title=\"Quay\">Quay</a> [[ quays |Quay]] [[Quay+Crane]] {{quay+crane|view:link}} [[Quayside]] [[https://x/Quay]] [[/Quay|x]] [[Quay+Ghost|g]] \\[[Quay]]"
	s.wrote("Map", links)
	s.hid(access.LevelAdmin, "Secret", "[[Quay]]")
	s.typed("Pointer", "Places", "Quay\n[[Quay+crane]]\n- Quayside")
	s.wrote("Map+tags", "Quay\n[[other]]")
	before := s.commits()

	dry := s.Do("admin", "rename_card", `{"name": "Quay", "new_name": "Town+Pier", "dry_run": true}`).Want("name",
		"Town+Pier").Want("old_name", "Quay").
		WantNames("moved", "Town+Pier+crane, Town+Pier+plan").Want("dry_run", true).Want("moved_count", 2)
	if s.commits() != before {
		t.Error("a dry run was committed")
	}
	s.As("user").reads("Map", links)
	got := s.Do("admin", "rename_card", `{"name": "Quay", "new_name": "Town+Pier"}`).Want("name",
		"Town+Pier").Want("version", 3).
		WantNames("moved", "Town+Pier+crane, Town+Pier+plan").WantNo("dry_run")
	if a, b := dry.Each("referers", "name"), got.Each("referers", "name"); len(a) != 5 || len(b) != 5 {
		t.Errorf("referers %q, then %q", a, b)
	}
	s.As("user").reads("Map",
		"<a title=\"Quay\">Quay</a> [[ Town+Pier |Quay]] [[Town+Pier+Crane]] {{Town+Pier+crane|view:link}} [[Quayside]] [[https://x/Quay]] [[/Quay|x]] [[Town+Pier+Ghost|g]] \\[[Quay]]")
	s.As("user").reads("Town+Pier", "<p>[[+crane]] [[Town+Pier|here]] [[_self]]</p>")
	s.As("user").reads("Town+Pier+crane", "lifts, see [[_left]]")
	s.As("admin").reads("Secret", "[[Town+Pier]]")
	s.As("user").reads("Places", "Town+Pier\n[[Town+Pier+crane]]\n- Quayside")
	s.As("user").reads("Map+tags", "Town+Pier\n[[other]]")
	s.As("user").Call("get_card", `{"name": "Quay"}`).Want("renamed_from", "Quay").Want("name", "Town+Pier")
	if n := s.commits(); n != before+1 {
		t.Errorf("%d commits, want one", n-before)
	}
	s.Do("admin", "undo_change", `{"id": "`+got.Text("change_id")+`"}`)
	s.As("user").reads("Quay", "<p>[[+crane]] [[Quay|here]] [[_self]]</p>")
	s.As("user").reads("Quay+crane", "lifts, see [[_left]]")
	s.As("user").reads("Map", links)
	s.wantRebuilt()
}

func TestRenamingWithoutReferers(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "x")
	s.wrote("Pier", "y")
	s.wrote("Map", "[[Quay]]")
	s.As("admin").WantFault("conflict", "rename_card", `{"name": "Quay", "new_name": "piers"}`)
	s.Do("admin", "rename_card",
		`{"name": "Quay", "new_name": "Jetty", "update_referers": false}`).Want("referers_count", 0)
	s.As("user").reads("Map", "[[Quay]]")
	s.Do("admin", "rename_card", `{"name": "Jetty", "new_name": "JETTY"}`).Want("name", "JETTY")
	first := s.Do("admin", "rename_card", `{"name": "Pier", "new_name": "Dock"}`, withKey("k"))
	again := s.Do("admin", "rename_card", `{"name": "Pier", "new_name": "Dock"}`, withKey("k")).Want("name",
		"Dock").Want("old_name", "Pier")
	if first.Reply.Replayed || !again.Reply.Replayed {
		t.Error("the second is the one replayed")
	}
}

func TestRenamingATypeUpdatesItsCards(t *testing.T) {
	s := newDesk(t)
	s.typed("Cardtype", "Starship", "")
	s.typed("Starship", "Heron", "sails")
	s.Do("admin", "rename_card", `{"name": "Starship", "new_name": "Vessel"}`)
	s.As("user").Call("get_card", `{"name": "Heron"}`).Want("type", "Vessel")
	s.Do("user", "update_card", `{"name": "Heron", "content": "flies"}`).Want("type", "Vessel")
}

func TestTheLatestChangeOfACardIsUndoneByItsName(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "x")
	s.wrote("Pier", "p")
	s.Do("user", "update_card", `{"name": "Quay", "patch": {"mode": "append", "content": "y"}}`)
	s.Do("user", "update_card", `{"name": "Pier", "patch": {"mode": "append", "content": "q"}}`)
	s.Do("user", "undo_change", `{"name": "Quay"}`).WantNames("cards", "Quay")
	s.As("user").reads("Quay", "x")
	s.As("user").wantFields(fault.Invalid, "undo_change", `{}`, "id")
	s.As("user").WantNotFound("undo_change", `{"name": "Nowhere"}`)
}

func TestAnAliasNamesACardThatAloneHasIt(t *testing.T) {
	s := newDesk(t)
	s.made(canon.NewCard{Name: "Rent Quay", Content: "x", Fields: []byte(`{"aliases": ["The Step", "Stones"]}`)},
		canon.NewCard{Name: "Mill", Content: "m", Fields: []byte(`{"aliases": ["Stones"]}`)})
	s.As("user").reads("the step", "x")
	s.As("user").WantNotFound("get_card", `{"name": "Stones"}`)
}
