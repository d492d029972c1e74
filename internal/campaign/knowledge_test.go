package campaign

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/op/optest"
)

func (a actor) Played(number string) string {
	a.s.t.Helper()
	id := a.Call("session_create", `{"number": `+number+`}`).Text("id")
	a.Call("session_update", `{"session_id": "`+id+`", "status": "COMPLETED"}`)
	return id
}

func TestSessionsKeepTheirPreparation(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		id := gm.Call("session_create",
			`{"date": "6 March", "prep_notes": "The doctor lies.", "recap": "They **arrived**."}`).Want("number",
			1).Want("status", "PLANNED").Want("stage", "prep").Text("id")
		gm.Call("session_create", `{}`).Want("number", 2)
		gm.WantFault("CONFLICT", "session_create", `{"number": 2}`)
		gm.Call("session_update", `{"session_id": "`+id+
			`", "status": "COMPLETED", "stage": "wrap_up", "play_notes": "p", "actual_notes": "a"}`).Want("recap",
			"They **arrived**.").Want("prep_notes", "The doctor lies.")
		gm.Call("session_update", `{"session_id": "`+id+`", "play_notes": "", "number": 10}`).Want("play_notes",
			"").Want("number", 10)
		ada.Call("session_list", `{}`).Want("total", 2).Want("sessions.0.number", 2).Want("sessions.1.actual_notes",
			"").Lacks("doctor", "prep_notes", "notes_published")
		ada.Call("session_list", `{"status": "COMPLETED"}`).Want("total", 1)
		gm.Call("session_list", `{}`).Has("The doctor lies.")
		ada.WantFault("FORBIDDEN", "session_update", `{"session_id": "`+id+`", "recap": "x"}`)
		gm.WantFault("NOT_FOUND", "session_update", `{"session_id": "01920000-0000-7000-8000-0000000000ff", "recap": "x"}`)
		gm.WantFault("INVALID_PARAMS", "session_update", `{"session_id": "`+id+`", "status": "DONE"}`)
	})
}

// sessionSurfaces returns everything in which an actor can read about sessions: the list, the
// resource, the prompts, and the versions of their cards in the wiki.
func (a actor) sessionSurfaces() string {
	a.s.t.Helper()
	shown := []string{a.Call("session_list", `{}`).Raw, a.read("imagineer://campaigns/" + slug + "/sessions")}
	text, err := a.s.ops.GetPrompt(a.s.t.Context(), a.caller, op.PromptRequest{Name: "recap-session"})
	if err != nil {
		a.s.t.Fatal(err)
	}
	shown = append(shown, jsonOf(text))
	return strings.Join(append(shown, a.versions()), "\n")
}

// versions returns the versions of all visible cards.
func (a actor) versions() string {
	a.s.t.Helper()
	var all []any
	err := a.s.canon.Read(a.s.t.Context(), a.admitted(), func(l *canon.Snapshot) error {
		cards, _, err := l.Cards(a.s.t.Context(), canon.Filter{Sort: canon.SortName}, canon.Page{Limit: 1000})
		for _, c := range cards {
			versions, _, err := l.Versions(a.s.t.Context(), c.ID, canon.Page{Limit: 100})
			if err != nil {
				return err
			}
			all = append(all, c.Name, string(c.Fields))
			for _, v := range versions {
				all = append(all, v.Name, string(v.Fields), v.Label)
			}
		}
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return jsonOf(all)
}

func TestUnpublishedNotesAreVisibleToTheGMAlone(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		id := gm.Call("session_create", `{"recap": "They arrived.", "play_notes": "mark-played"}`).Want("play_notes",
			"mark-played").Want("notes_published", false).Text("id")
		update := func(more string) optest.Answer {
			return gm.Call("session_update", `{"session_id": "`+id+`", `+more+`}`)
		}
		update(`"status": "COMPLETED", "actual_notes": "mark-actual"`).Want("actual_notes", "mark-actual").Want("play_notes",
			"mark-played")
		if seen := ada.sessionSurfaces(); strings.Contains(seen, "mark-") || !strings.Contains(seen, "They arrived.") {
			t.Errorf("a player reads: %s", seen)
		}
		if seen := gm.sessionSurfaces(); !strings.Contains(seen, "mark-played") || !strings.Contains(seen, "mark-actual") {
			t.Errorf("the GM reads: %s", seen)
		}
		// Notes alone change nothing for players, not even the session's version.
		before := ada.sessionSurfaces()
		update(`"actual_notes": "mark-again"`)
		if after := ada.sessionSurfaces(); after != before {
			t.Errorf("notes of the GM change what a player reads:\n%s\n%s", before, after)
		}
		update(`"publish_notes": true`).Want("notes_published", true)
		ada.Call("session_list", `{}`).Want("sessions.0.actual_notes", "mark-again").Want("sessions.0.play_notes",
			"mark-played")
		// Notes written after publishing are again visible to the GM alone.
		update(`"actual_notes": "mark-later"`).Want("actual_notes", "mark-later").Want("notes_published", false)
		ada.Call("session_list", `{}`).Want("sessions.0.actual_notes", "mark-again")
		update(`"publish_notes": false`).Want("actual_notes", "mark-later").Want("play_notes", "mark-played")
		ada.Call("session_list", `{}`).Want("sessions.0.actual_notes", "").Want("sessions.0.play_notes", "")
		if seen := ada.sessionSurfaces(); strings.Contains(seen, "mark-") || !strings.Contains(seen, "They arrived.") {
			t.Errorf("a player reads notes that were withdrawn: %s", seen)
		}
		update(`"play_notes": "", "actual_notes": "", "publish_notes": true`).Want("notes_published", true)
		gm.Call("session_create", `{"number": 9, "play_notes": "told", "publish_notes": true}`).Want("notes_published", true)
		ada.Call("session_list", `{}`).Want("sessions.1.play_notes", "told")
	})
}

// Sessions of earlier program versions have their notes in their own fields.
func TestNotesOfEarlierVersionsAreVisibleToTheGMAlone(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		s.keep("Session 3", "Session",
			`{"number": 3, "sort": 3, "status": "COMPLETED", "stage": "play", "play_notes": "mark-p", "actual_notes": "mark-a"}`)
		ada.Call("session_list", `{}`).Want("sessions.0.play_notes", "").Lacks("mark-")
		id := gm.Call("session_list", `{}`).Want("sessions.0.actual_notes", "mark-a").Want("sessions.0.notes_published",
			false).Text("sessions.0.id")
		gm.Call("session_update", `{"session_id": "`+id+`", "recap": "So it went."}`).Want("play_notes",
			"mark-p").Want("recap", "So it went.")
		ada.Call("session_list", `{}`).Want("sessions.0.recap", "So it went.").Lacks("mark-")
		gm.Call("session_update", `{"session_id": "`+id+`", "publish_notes": true}`)
		ada.Call("session_list", `{}`).Want("sessions.0.play_notes", "mark-p").Want("sessions.0.actual_notes", "mark-a")
	})
}

func TestPlayerKnowledgeAsOfASession(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm := s.As("gm")
		ann := gm.Make("npc", "Ann", `"description": "First.", "attributes": {"age": 30, "secrets": "x"}`)
		bo := gm.Make("npc", "Bo", `"revealed": true`)
		tie := gm.Relate(ann, "ally of", bo, `"secret": true`)
		met := gm.Happened("1926-03-14", "exact", "They met.", `"entity_ids": ["`+ann+`", "`+bo+`"]`)
		one := gm.Played("1")
		gm.Call("reveal", `{"items": [{"entity_id": "`+ann+`"}], "session_id": "`+one+`"}`)
		gm.Call("entity_get", `{"entity_id": "`+ann+`"}`).Want("discovered_session", 1)
		gm.Call("entity_update", `{"entity_id": "`+ann+`", "description": "Second."}`)
		two := gm.Played("2")
		gm.Call("reveal", `{"items": [{"secret_of": "`+ann+`"}, {"event_id": "`+met+`"}], "to": ["ada"], "session_id": "`+
			two+`"}`)
		three := gm.Played("3")
		gm.Call("reveal", `{"items": [{"relationship_id": "`+tie+`"}], "session_id": "`+two+`"}`) // recorded late
		gm.Call("session_create", `{"number": 4}`)
		gm.Call("unreveal", `{"items": [{"entity_id": "`+ann+`"}]}`)
		_ = three

		of := func(more string) optest.Answer {
			return gm.Call("player_knowledge", strings.TrimSuffix(`{"entity_id": "`+ann+`", `+more, ", ")+`}`)
		}
		of(``).Want("known", false).WantNo("entity")
		of(`"as_of_session": 4`).Want("known", false)
		of(`"as_of_session": 1`).Want("known", true).Want("entity.description",
			"First.").WantNo("entity.attributes.secrets").Want("entity.relationships.#", 0).Has(`"unknown":["secrets"]`)
		of(`"as_of_session": 2`).Want("entity.description", "Second.").Want("entity.relationships.#",
			1).WantNo("entity.attributes.secrets").Want("entity.events.#", 0)
		of(`"as_of_session": 2, "subject": "ada"`).Want("entity.attributes.secrets", "x").Want("entity.events.0.description",
			"They met.").Want("entity.events.0.entities.#", 2)
		of(`"as_of_session": 1, "subject": "ada"`).WantNo("entity.attributes.secrets")
		of(`"as_of_session": 3, "subject": "ben"`).Want("known", true).WantNo("entity.attributes.secrets")
		gm.Call("player_knowledge", `{"as_of_session": 1}`).WantEach("entities", "name", "Ann, Bo").Want("total", 2)
		gm.Call("player_knowledge", `{}`).WantEach("entities", "name", "Bo")
		gm.WantFault("NOT_FOUND", "player_knowledge", `{"as_of_session": 99}`)
		s.As("ada").WantFault("FORBIDDEN", "player_knowledge", `{}`)
	})
}

func TestPlayerKnowledgeBeforeTheFirstSession(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	ann := gm.Make("npc", "Ann", `"revealed": true`)
	gm.Call("session_create", `{"number": 1}`)
	gm.Call("player_knowledge", `{"entity_id": "`+ann+`", "as_of_session": 1}`).Want("known", true)
	gm.Played("2")
	gm.Call("player_knowledge", `{"entity_id": "`+ann+`", "as_of_session": 1}`).Want("known", false)
}

func TestAPreviewEqualsThePlayersAnswer(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.loaded()
		gm := s.As("gm")
		brandt := gm.Call("entity_search", `{"query": "ottilie"}`).Text("entities.0.id")
		conductor := gm.Call("entity_search", `{"query": "conductor", "entity_type": "npc"}`).Text("entities.0.id")
		for _, who := range []string{"sample-ada", "sample-ben"} {
			for tool, args := range map[string]string{
				"campaign_get": `{}`, "entity_search": `{"query": "the", "limit": 50}`, "entity_get": `{"entity_id": "` + brandt +
					`"}`, "relationship_map": `{"entity_id": "` + brandt + `", "depth": 3}`,
				"timeline_query": `{"limit": 100}`, "session_list": `{}`, "relationship_types": `{}`,
				"entity_compare": `{"entity_id": "` + brandt + `", "other_id": "` + brandt + `"}`,
			} {
				got := gm.Call("preview_as", `{"subject": "`+who+`", "tool": "`+tool+`", "arguments": `+args+`}`).Want("as", who)
				result, _ := got.At("result")
				want := s.As(who).Call(tool, args)
				if jsonOf(result) != jsonOf(parsed(want.Raw)) {
					t.Errorf("%s as %s:\npreview %s\nis      %s", tool, who, jsonOf(result), want.Raw)
				}
			}
		}
		gm.Call("preview_as", `{"subject": "sample-ada", "tool": "entity_get", "arguments": {"entity_id": "`+conductor+
			`"}}`).Want("error.code", "NOT_FOUND").WantNo("result")
		gm.Call("preview_as", `{"tool": "entity_get", "arguments": {"entity_id": "`+brandt+`"}}`).Want("as",
			"players").WantNo("result.attributes.secrets")
		shown := gm.WantFault("INVALID_PARAMS", "preview_as", `{"tool": "entity_get", "arguments": {"entity": 1}}`)
		if !strings.Contains(shown, "arguments.entity") {
			t.Error(shown)
		}
		gm.WantFault("INVALID_PARAMS", "preview_as", `{"tool": "entity_delete"}`)
		gm.WantFault("INVALID_PARAMS", "preview_as", `{"tool": "campaign_get", "arguments": {"campaign_id": "elsewhere"}}`)
		s.As("sample-ada").WantFault("FORBIDDEN", "preview_as", `{"tool": "campaign_get"}`)
	})
}

// A GM who previews as a player sees nothing above the GM's own level, even if an admin opened it
// to that player.
func TestAPreviewShowsNothingAboveTheCallersLevel(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.keep("Sealed Letter", "Document", `{}`, adminAlso("ada"))
		s.As("ada").Call("entity_search", `{}`).WantEach("entities", "name", "Sealed Letter")
		gm := s.As("gm")
		gm.Call("entity_search", `{}`).Want("total", 0)
		gm.Call("preview_as", `{"subject": "ada", "tool": "entity_search"}`).Want("result.total", 0)
		gm.Call("preview_as",
			`{"subject": "ada", "tool": "entity_search", "arguments": {"query": "sealed"}}`).Want("result.total", 0)
		gm.Call("preview_as",
			`{"subject": "ada", "tool": "entity_search", "arguments": {"query": "seeled"}}`).Want("result.total", 0)
		gm.Call("player_knowledge", `{"subject": "ada"}`).Want("total", 0)
		s.As("admin").Call("preview_as", `{"subject": "ada", "tool": "entity_search"}`).Want("result.total", 1)
	})
}

// A map as of a session has the entities and relationships that its reader saw at the session's end, as they were.
func TestRelationshipMapAsOfASession(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		ann := gm.Make("npc", "Ann", `"revealed": true`)
		bo := gm.Make("npc", "Bo", `"revealed": true`)
		cy := gm.Make("npc", "Cy", ``)
		dee := gm.Make("npc", "Dee", `"revealed": true`)
		tie := gm.Relate(ann, "ally of", bo, ``)
		gm.Relate(bo, "owns", cy, ``)
		gm.Relate(cy, "owns", dee, ``)
		gm.Call("reveal", `{"items": [{"relationship_id": "`+tie+`"}]}`)
		gm.Call("session_create", `{"number": 9}`)
		one := gm.Played("1")
		gm.Call("reveal", `{"items": [{"entity_id": "`+cy+`"}], "session_id": "`+one+`"}`)
		gm.Call("entity_update", `{"entity_id": "`+bo+`", "name": "Old Bo"}`)
		gm.Call("relationship_delete", `{"relationship_id": "`+tie+`"}`)
		gm.Relate(ann, "enemy of", dee, ``)
		gm.Played("2")
		late := gm.Make("npc", "Late", `"revealed": true`)
		gm.Relate(ann, "ally of", late, ``)

		of := func(a actor, id, session string) optest.Answer {
			return a.Call("relationship_map", `{"entity_id": "`+id+`", "depth": 4`+session+`}`)
		}
		of(gm, ann, ``).WantEach("nodes", "name", "Ann, Dee, Late, Cy, Old Bo")
		of(gm, ann, `, "as_of_session": 9`).WantEach("nodes", "name", "Ann, Dee, Late, Cy, Old Bo")
		of(gm, ann, `, "as_of_session": 2`).WantEach("nodes", "name", "Ann, Dee, Cy, Old Bo").Want("as_of_session", 2)
		then := of(gm, ann, `, "as_of_session": 1`).WantEach("nodes", "name", "Ann, Bo, Cy, Dee")
		then.Want("relationships.#", 3).Has("ally of").Lacks("enemy of").Want("nodes.3.depth", 3).Want("reached", 4)
		of(ada, ann, `, "as_of_session": 1`).WantEach("nodes", "name", "Ann, Bo").Lacks("Cy", "Dee", cy, dee, "Old Bo")
		of(ada, cy, `, "as_of_session": 1`).Want("nodes.#", 0).Want("reached", 0).Want("center.name", "Cy")
		of(gm, late, `, "as_of_session": 1`).Want("nodes.#", 0)
		gm.Call("session_create", `{"number": 0}`)
		gm.WantFault("INVALID_PARAMS", "relationship_map", `{"entity_id": "`+ann+`", "as_of_session": 0}`)
		ada.WantFault("NOT_FOUND", "relationship_map", `{"entity_id": "`+ann+`", "as_of_session": 99}`)
	})
}

// TestKnowledgeHasToldParts asks for the knowledge of a player to whom a hidden part of a text was told. A game
// master reads the description of the entity as it can be written again, with its marks.
func TestKnowledgeHasToldParts(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	const whole = "A cook. %%She is a spy.%%"
	ann := gm.Make("npc", "Ann", `"revealed": true, "description": "`+whole+`"`)
	gm.Call("entity_get", `{"entity_id": "`+ann+`"}`).Want("description", "A cook. <!-- She is a spy. -->")
	of := func(more string) optest.Answer {
		return gm.Call("player_knowledge", `{"entity_id": "`+ann+`"`+more+`}`)
	}
	of(`, "subject": "ada"`).Want("entity.description", "A cook.")
	s.change(func(p *canon.Plan) error {
		c, err := p.Card("Ann")
		if err != nil {
			return err
		}
		parts, err := p.HiddenParts(c)
		if err != nil {
			return err
		}
		_, err = p.LabelParts(c, []string{parts[0].ID}, access.NewLabel(access.LevelGM, "ada"))
		return err
	})
	of(`, "subject": "ada"`).Has("She is a spy.")
	of(`, "subject": "ben"`).Want("entity.description", "A cook.")
	of(``).Want("entity.description", "A cook.")
}
