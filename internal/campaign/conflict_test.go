package campaign

import (
	"strings"
	"testing"
)

func TestAnAuthoritativeEntityIsNotOverwritten(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		id := gm.Make("npc", "Ann",
			`"revealed": true, "description": "Tall.", "attributes": {"age": 30, "secrets": "x"}, "source_document": "Book", "source_confidence": "AUTHORITATIVE"`)
		before := ada.Call("entity_get", `{"entity_id": "`+id+`"}`)
		out := gm.Call("entity_update", `{"entity_id": "`+id+
			`", "source_document": "Letter", "attributes": {"age": 31, "secrets": "y", "eyes": "grey"}, "description": "Tall.", "gm_notes": "n"}`)
		out.WantEach("conflicts", "field", "attributes.age, attributes.eyes, attributes.secrets").Want("attributes.age",
			30).Want("gm_notes", "n").Want("source_document", "Book")
		if after := ada.Call("entity_get", `{"entity_id": "`+id+`"}`); after.Raw != before.Raw ||
			after.Reply.ETag != before.Reply.ETag {
			t.Errorf("a conflict shows to players:\n%s\n%s", before.Raw, after.Raw)
		}
		// a missing source counts as another source
		gm.Call("entity_update", `{"entity_id": "`+id+`", "attributes": {"age": 32}}`).Want("conflicts.0.values.#", 3)
		gm.Call("entity_update", `{"entity_id": "`+id+
			`", "source_document": "Book", "attributes": {"hair": "red"}}`).WantNo("conflicts").Want("attributes.hair", "red")
		gm.Call("canon_check", `{"entity_id": "`+id+`"}`).Want("total", 3).Want("conflicts.0.entity_id",
			id).Want("conflicts.0.status", "DETECTED")
		ada.WantFault("FORBIDDEN", "canon_check", `{}`)

		age := gm.Call("canon_check", `{}`).Text("conflicts.0.id")
		gm.Call("canon_acknowledge", `{"conflict_id": "`+age+`"}`).Want("status", "ACKNOWLEDGED")
		gm.Call("canon_check", `{"status": "DETECTED"}`).Want("total", 2)
		if shown := gm.WantFault("INVALID_PARAMS", "canon_resolve", `{"conflict_id": "`+age+
			`", "resolution": "replace"}`); !strings.Contains(shown, "chosen_value") {
			t.Error(shown)
		}
		gm.WantFault("INVALID_PARAMS", "canon_resolve", `{"conflict_id": "`+age+
			`", "resolution": "replace", "chosen_value": 99}`)
		got := gm.Call("canon_resolve", `{"conflict_id": "`+age+
			`", "resolution": "replace", "chosen_value": 31}`).Want("status", "RESOLVED").Want("resolution", "replace")
		got.Has(`{"value":30,"source":"Book","standing":"SUPERSEDED"}`, `{"value":31,"source":"Letter","standing":"CURRENT"}`)
		ada.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("attributes.age", 31)
		gm.WantFault("CONFLICT", "canon_resolve", `{"conflict_id": "`+age+`", "resolution": "keep"}`)

		secret := gm.Call("canon_check", `{}`).Text("conflicts.1.id")
		gm.Call("canon_resolve", `{"conflict_id": "`+secret+`", "resolution": "merge", "chosen_value": "x and y"}`)
		ada.Call("entity_get", `{"entity_id": "`+id+`"}`).WantNo("attributes.secrets")
		gm.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("attributes.secrets", "x and y")
		eyes := gm.Call("canon_check", `{}`).Want("total", 1).Text("conflicts.0.id")
		gm.Call("canon_resolve", `{"conflict_id": "`+eyes+`", "resolution": "keep"}`)
		gm.Call("entity_get", `{"entity_id": "`+id+`"}`).WantNo("attributes.eyes")
		gm.Call("canon_check", `{"status": "RESOLVED"}`).Want("total", 3)
		gm.Call("entity_update", `{"entity_id": "`+id+
			`", "source_document": "Letter", "attributes": {"eyes": "blue"}}`).Want("conflicts.0.status", "DETECTED")
		gm.Call("entity_update", `{"entity_id": "`+id+
			`", "source_document": "Letter", "source_confidence": "DRAFT", "attributes": {"eyes": "blue"}}`).WantNo("conflicts").Want("attributes.eyes", "blue")
	})
}

func TestConflictsAboutNameTypeAndDescription(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	id := gm.Make("npc", "Ann", `"description": "Tall.", "source_document": "Book", "source_confidence": "AUTHORITATIVE"`)
	gm.Call("entity_update", `{"entity_id": "`+id+
		`", "name": "Anna", "entity_type": "creature", "description": "Short.", "allow_similar": true}`).
		WantEach("conflicts", "field", "description, entity_type, name").Want("name", "Ann")
	for range 3 {
		k := gm.Call("canon_check", `{}`).Text("conflicts.0.id")
		gm.Call("canon_resolve", `{"conflict_id": "`+k+`", "resolution": "replace"}`)
	}
	gm.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("name", "Anna").Want("type", "creature").Want("description",
		"Short.")
	gm.Call("canon_check", `{}`).Want("total", 0)
}

// Only an authoritative entity is protected. A draft takes the values of the next source, which
// becomes its own source.
func TestADraftIsOverwritten(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	for _, confidence := range []string{"DRAFT", "SUPERSEDED"} {
		id := gm.Make("npc", "Ann "+confidence,
			`"attributes": {"age": 30}, "source_document": "Book", "source_confidence": "`+confidence+`"`)
		gm.Call("entity_update", `{"entity_id": "`+id+`", "source_document": "Letter", "attributes": {"age": 31}}`).
			WantNo("conflicts").Want("attributes.age", 31).Want("source_document", "Letter")
	}
	gm.Call("canon_check", `{}`).Want("total", 0)
}
