package campaign

import (
	"strings"
	"testing"

	"loregate/internal/op"
)

func TestAnEntityIsHiddenUntilRevealed(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		id := gm.Make("npc", "Ottilie Brandt",
			`"description": "Matron of the **sanatorium**.", "attributes": {"age": 52, "home": "Kelp Terrace", "secrets": "Signs for the dead."}, "tags": ["ward", "night"], "aliases": ["The Matron"], "gm_notes": "Knows the tunnel.", "discovered_session": 2, "source_document": "p. 4"`)
		gm.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("name", "Ottilie Brandt").Want("type",
			"npc").Want("description", "Matron of the **sanatorium**.").
			Want("attributes.age", 52).Want("attributes.secrets", "Signs for the dead.").Want("secret_attributes.0",
			"secrets").Want("gm_notes", "Knows the tunnel.").
			Want("discovered_session", 2).Want("known_to", "gm").Want("tags.1", "night").Want("aliases.0",
			"The Matron").Want("source_document", "p. 4")
		nothing := strings.ReplaceAll(ada.WantFault("NOT_FOUND", "entity_get",
			`{"entity_id": "01920000-0000-7000-8000-0000000000ff"}`), "01920000-0000-7000-8000-0000000000ff", "ID")
		hidden := strings.ReplaceAll(ada.WantFault("NOT_FOUND", "entity_get", `{"entity_id": "`+id+`"}`), id, "ID")
		if nothing != hidden {
			t.Errorf("what is hidden answers\n%s\nwhat is not there\n%s", hidden, nothing)
		}
		ada.Call("entity_search", `{"query": "matron"}`).Want("total", 0)
		ada.Call("campaign_get", `{}`).Want("stats.entities", 0).Want("role", "player").Want("system", "coc-7e")

		gm.Call("reveal", `{"entity_id": "`+id+`"}`).Want("items.0.known_to", "all")
		ada.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("attributes.age", 52).Want("tags.#", 2).Want("source_document",
			"p. 4").
			WantNo("attributes.secrets", "gm_notes", "discovered_session", "known_to", "secret_attributes", "secrets_known_to")
		ada.Call("entity_search", `{"query": "matron"}`).WantEach("entities", "name",
			"Ottilie Brandt").Want("next_offset", nil)
		ada.Call("entity_search", `{"query": "kelp"}`).WantEach("entities", "name", "Ottilie Brandt")
		// a secret attribute is not part of the entity's card
		ada.Call("entity_search", `{"query": "signs"}`).Want("total", 0)
		ada.Call("campaign_get", `{}`).Want("stats.entities", 1)

		gm.Call("reveal", `{"items": [{"secret_of": "`+id+`"}], "to": ["ada"]}`).Want("items.0.known_to.0", "ada")
		ada.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("attributes.secrets",
			"Signs for the dead.").WantNo("secret_attributes")
		s.As("ben").Call("entity_get", `{"entity_id": "`+id+`"}`).WantNo("attributes.secrets")

		gm.Call("unreveal", `{"items": [{"entity_id": "`+id+`"}]}`).Want("items.0.known_to", "gm")
		ada.WantFault("NOT_FOUND", "entity_get", `{"entity_id": "`+id+`"}`)
		gm.Call("entity_delete", `{"entity_id": "`+id+`", "dry_run": true}`).Want("below", 3).Want("deleted", false)
		gm.Call("entity_delete", `{"entity_id": "`+id+`"}`).Want("deleted", true)
		gm.WantFault("NOT_FOUND", "entity_get", `{"entity_id": "`+id+`"}`)
	})
}

func TestChangingSecretsChangesNothingForPlayers(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		id := gm.Make("npc", "Ottilie Brandt", `"revealed": true, "attributes": {"age": 52}`)
		get := `{"entity_id": "` + id + `"}`
		seen := func() string {
			a := ada.Call("entity_get", get)
			return a.Raw + a.Reply.ETag + ada.Call("entity_search", `{}`).Raw
		}
		before := seen()
		gm.Call("entity_update", `{"entity_id": "`+id+
			`", "attributes": {"secrets": "Signs."}, "gm_notes": "n", "discovered_session": 4}`)
		gm.Call("entity_update", `{"entity_id": "`+id+
			`", "attributes": {"secrets": "Signs twice."}}`).Want("attributes.secrets", "Signs twice.")
		if after := seen(); after != before {
			t.Errorf("a player saw\n%s\nand sees\n%s", before, after)
		}
		gm.Call("reveal", `{"items": [{"secret_of": "`+id+`"}]}`)
		ada.Call("entity_get", get).Want("attributes.secrets", "Signs twice.")
		revealed := seen()
		gm.Call("entity_update", `{"entity_id": "`+id+
			`", "attributes": {"secrets": "Signs no more."}}`).Want("attributes.secrets", "Signs no more.")
		if after := seen(); after != revealed {
			t.Errorf("what the GM wrote after the revelation shows before it is revealed:\n%s\n%s", revealed, after)
		}
		gm.Call("entity_update", `{"entity_id": "`+id+`", "attributes": {"secrets": null}}`).WantNo("attributes.secrets")
		ada.Call("entity_get", get).WantNo("attributes.secrets")
	})
}

func TestATypeCardNamesSecretFields(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	s.keep(`Character`, "Cardtype", `{"secret_fields": ["true_name", "allegiance"]}`)
	id := gm.Make("npc", "The Guide",
		`"revealed": true, "attributes": {"true_name": "Urs", "secrets": "is open here", "age": 40}`)
	ada.Call("entity_get", `{"entity_id": "`+id+`"}`).WantNo("attributes.true_name").Want("attributes.secrets",
		"is open here")
	gm.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("attributes.true_name", "Urs").Want("secret_attributes.#", 1)
	gm.Call("entity_update", `{"entity_id": "`+id+`", "attributes": {"allegiance": "the Line"}}`)
	ada.Call("entity_get", `{"entity_id": "`+id+`"}`).WantNo("attributes.allegiance")
}

func TestSimilarEntitiesMustBeAcknowledged(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm := s.As("gm")
		id := gm.Make("npc", "Doctor Emil Quill", `"aliases": ["The Physician"]`)
		for _, name := range []string{"Doctor Emil Quil", "doctor emil quill", "The Physician"} {
			shown := gm.WantFault("CONFLICT", "entity_create", `{"entity_type": "npc", "name": "`+name+`"}`)
			if !strings.Contains(shown, id) || !strings.Contains(shown, "allow_similar") {
				t.Errorf("%s: %s", name, shown)
			}
		}
		gm.Call("entity_create", `{"entity_type": "npc", "name": "Doctor Emil Quil", "allow_similar": true}`)
		gm.Call("entity_create", `{"entity_type": "location", "name": "Third Gallery"}`)
		gm.WantFault("CONFLICT", "entity_update", `{"entity_id": "`+id+`", "name": "Third Galery"}`)
		gm.Call("entity_update", `{"entity_id": "`+id+`", "name": "Doctor E. Quill"}`).Want("name", "Doctor E. Quill")
	})
}

func TestSearchRanksFiltersAndToleratesMisspellings(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		gm.Make("npc", "Ottilie Brandt", `"revealed": true, "tags": ["ward", "night"], "description": "Matron."`)
		gm.Make("npc", "Konrad Vogt",
			`"revealed": true, "tags": ["ward"], "aliases": ["The Signalman", "Warden of the Lower Gallery by Night"]`)
		gm.Make("location", "Brandt Tower", `"tags": ["ward", "night"]`)
		gm.Call("session_create", `{"recap": "They met Brandt."}`)
		ada.Call("entity_search", `{"query": "brandt"}`).WantEach("entities", "name", "Ottilie Brandt").Want("total", 1)
		gm.Call("entity_search", `{"query": "brandt"}`).Want("total", 2)
		gm.Call("entity_search", `{"query": "brandt", "entity_type": "location"}`).WantEach("entities", "name",
			"Brandt Tower")
		gm.Call("entity_search", `{"tags": ["ward", "night"]}`).WantEach("entities", "name", "Brandt Tower, Ottilie Brandt")
		ada.Call("entity_search", `{"tags": ["ward"], "limit": 1}`).Want("total", 2).Want("next_offset", 1)
		for _, slip := range []string{"Brant", "Otilie Brandt", "konrad vgt", "Brannt", "ottilei", "Knorad"} {
			if n, _ := ada.Call("entity_search", `{"query": "`+slip+`"}`).At("total"); n == 0.0 {
				t.Errorf("%q finds nothing", slip)
			}
		}
		ada.Call("entity_search", `{"query": "signalman"}`).WantEach("entities", "name", "Konrad Vogt")
		ada.Call("entity_search", `{"query": "gallary"}`).WantEach("entities", "name", "Konrad Vogt") // a misspelt long alias
		ada.Call("entity_search", `{"query": "Brandt Tovver"}`).Lacks("Tower")
	})
}

func TestCompare(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	a := gm.Make("npc", "Ann", `"revealed": true, "attributes": {"age": 30, "eyes": "grey", "secrets": "x"}`)
	b := gm.Make("npc", "Bo", `"revealed": true, "attributes": {"age": 31, "eyes": "grey"}`)
	c := gm.Make("npc", "Cy", `"revealed": true`)
	for _, id := range []string{a, b} {
		gm.Call("relationship_create", `{"source_id": "`+id+`", "target_id": "`+c+`", "type": "friend of"}`)
	}
	gm.Call("relationship_create", `{"source_id": "`+a+`", "target_id": "`+b+`", "type": "parent of", "secret": true}`)
	got := ada.Call("entity_compare", `{"entity_id": "`+a+`", "other_id": "`+b+`"}`)
	got.Has(`{"field":"attributes.age","a":30,"b":31}`, `"attributes.eyes"`).WantEach("shared", "name",
		"Cy").Want("related.#", 0).Lacks("secrets", "gm_notes")
	gm.Call("entity_compare", `{"entity_id": "`+a+`", "other_id": "`+b+
		`"}`).Has(`{"field":"attributes.secrets","a":"x","b":null}`).Want("related.0", "parent of")
}

func TestWritesOfEntitiesAreChecked(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	id := gm.Make("npc", "Ann", `"attributes": {"age": 30}`)
	for _, row := range []struct{ code, name, input, field string }{
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "npc", "name": ""}`, `"name"`},
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "person", "name": "Bo"}`, `"entity_type"`},
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "npc", "name": "~Bo"}`, `"name"`},
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "npc", "name": "Bo", "attributes": {"aliases": 1}}`,
			`"attributes.aliases"`},
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "npc", "name": "` + strings.Repeat("é", 201) + `"}`, `"name"`},
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "npc", "name": "Bo", "description": "` +
			strings.Repeat("é", 10_001) + `"}`, `"description"`},
		{"INVALID_PARAMS", "entity_create", `{"entity_type": "npc", "name": "Bo", "gm_notes": "` +
			strings.Repeat("é", 50_001) + `"}`, `"gm_notes"`},
		{"INVALID_PARAMS", "entity_get", `{"entity_id": "Ann"}`, `"entity_id"`},
		{"CONFLICT", "entity_update", `{"entity_id": "` + id + `", "if_version": 7, "attributes": {"age": 31}}`, ""},
		{"NOT_FOUND", "entity_update",
			`{"entity_id": "01920000-0000-7000-8000-0000000000ff", "attributes": {"age": 31}}`, ""},
	} {
		if shown := gm.WantFault(row.code, row.name, row.input); !strings.Contains(shown, row.field) {
			t.Errorf("%s %s: %s names no %s", row.name, row.input, shown, row.field)
		}
	}
	gm.Call("entity_update", `{"entity_id": "`+id+
		`", "if_version": 1, "attributes": {"age": null}, "description": "Tall.\n\n- a\n- b"}`).
		WantNo("attributes.age").Want("description", "Tall.\n\n- a\n- b").Want("version", 2)
	gm.Call("entity_update", `{"entity_id": "`+id+`", "entity_type": "clue", "name": "Ann's letter"}`).Want("type",
		"clue").Want("name", "Ann's letter").Want("description", "Tall.\n\n- a\n- b")
	once := func(r *op.Request) { r.IdempotencyKey = "k" }
	first := gm.Call("entity_create", `{"entity_type": "npc", "name": "Once"}`, once)
	again := gm.Call("entity_create", `{"entity_type": "npc", "name": "Once"}`, once)
	if first.Raw != again.Raw || !again.Reply.Replayed {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
}

func TestLongNotesComeInParts(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	notes := strings.Repeat("Snow falls on the line. ", 2000)
	id := gm.Make("npc", "Ann", `"gm_notes": "`+notes+`"`)
	var all strings.Builder
	input := `{"entity_id": "` + id + `"}`
	for range 10 {
		a := gm.Call("entity_get", input, func(r *op.Request) { r.MaxText = 16_000 })
		if len(a.Raw) > 16_000 {
			t.Fatalf("%d bytes", len(a.Raw))
		}
		all.WriteString(a.Text("gm_notes"))
		next, ok := a.At("next.arguments.notes_offset")
		if !ok {
			break
		}
		input = `{"entity_id": "` + id + `", "notes_offset": ` +
			strings.TrimSuffix(strings.TrimSpace(jsonOf(next)), ".0") + `}`
	}
	if strings.TrimSpace(all.String()) != strings.TrimSpace(notes) {
		t.Errorf("%d characters of %d", all.Len(), len(notes))
	}
}

// TestASearchByTypeFollowsTheType changes an entity's type. Each search by words and type must use
// the present type and count the entity once.
func TestASearchByTypeFollowsTheType(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		id := gm.Make("npc", "The Grey Guest", `"revealed": true, "description": "Pays in old silver."`)
		gm.Make("npc", "The Landlord", `"revealed": true, "description": "Takes old silver."`)
		find := func(kind string, total int) {
			t.Helper()
			ada.Call("entity_search", `{"query": "old silver", "entity_type": "`+kind+`"}`).Want("total", total)
			ada.Call("entity_search", `{"query": "old silver"}`).Want("total", 2)
		}
		find("npc", 2)
		gm.Call("entity_update", `{"entity_id": "`+id+`", "entity_type": "creature"}`).Want("type", "creature")
		find("npc", 1)
		find("creature", 1)
		ada.Call("entity_search", `{"query": "gray guest", "entity_type": "creature"}`).Want("entities.0.name",
			"The Grey Guest")
		ada.Call("entity_search", `{"query": "gray guest", "entity_type": "npc"}`).Want("total", 0)
	})
}

// TestAnAttributeThatBecomesSecretIsHiddenInThePast declares an open attribute secret and writes it again.
func TestAnAttributeThatBecomesSecretIsHiddenInThePast(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	id := gm.Make("npc", "Ann", `"revealed": true, "attributes": {"motive": "mark-old", "age": 40}`)
	s.keep(typesOf("npc")[0], "Cardtype", `{"secret_fields": ["motive"]}`)
	gm.Call("entity_update", `{"entity_id": "`+id+`", "attributes": {"age": 41}}`)
	if seen := ada.versions(); !strings.Contains(seen, "mark-old") {
		t.Errorf("a player no longer reads %s", seen)
	}
	gm.Call("entity_update", `{"entity_id": "`+id+`", "attributes": {"motive": "mark-new"}}`)
	if seen := ada.versions(); strings.Contains(seen, "mark-") {
		t.Errorf("a player reads %s", seen)
	}
}
