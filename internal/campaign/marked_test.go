package campaign

import (
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/op"
)

// Marked text of a description stays in the card, and marked.
func TestMarkedTextOfADescriptionStays(t *testing.T) {
	s := newScene(t)
	s.As("gm").Make("npc", "Ann", `"description": "Tall %%a spy%%.\n\n> [!secret]\n> She *lies*."`)
	s.change(func(p *canon.Plan) error {
		c, _, err := p.Has("Ann")
		if err != nil {
			return err
		}
		text, err := p.Content(t.Context(), c)
		if !strings.Contains(text, "<!-- a spy -->") || !strings.Contains(text, `<div class="secret">`) {
			t.Errorf("the card says %q", text)
		}
		return err
	})
}

// TestNotesStandBesideTheHiddenParts writes notes of the game master before, with and after a description with a mark.
func TestNotesStandBesideTheHiddenParts(t *testing.T) {
	const marked = `"description": "Open %%XX%% dora."`
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		for i, step := range []struct{ create, update, notes string }{
			{marked + `, "gm_notes": "Note"`, `"gm_notes": "Other"`, "Other"},
			{marked, `"gm_notes": "Note"`, "Note"},
			{`"gm_notes": "Note"`, marked, "Note"},
			{`"gm_notes": "The XX is a spy."`, marked, "The XX is a spy."},
			{marked, `"gm_notes": "Of XX.\n\n%%aside%%"`, "Of XX.\n\n%%aside%%"},
			{marked, `"gm_notes": "%%XX%%"`, "%%XX%%"},
			{marked + `, "gm_notes": "Note"`, `"gm_notes": ""`, ""},
			{marked + `, "gm_notes": "Note"`, `"discovered_session": 4`, "Note"},
			{marked + `, "gm_notes": "Note"`, `"attributes": {"motive": "%%greed%%"}`, "Note"},
			{marked + `, "gm_notes": "A [[link]].\n\n- one\n- two"`, `"name": "Bob"`, "A [[link]].\n\n- one\n- two"},
		} {
			id := gm.Make("npc", "Ann"+jsonOf(i), `"revealed": true, `+step.create)
			got := gm.Call("entity_update", `{"entity_id": "`+id+`", `+step.update+`}`)
			for range 2 {
				is := withPercents.Replace
				if text, notes := is(got.Text("description")), is(got.Text("gm_notes")); text != "Open%%XX%% dora." ||
					notes != step.notes {
					t.Errorf("%+v: the GM reads %q and %q", step, text, notes)
				}
				got = gm.Call("entity_get", `{"entity_id": "`+id+`"}`)
			}
			ada.Call("entity_get", `{"entity_id": "`+id+`"}`).Want("description", "Open dora.").Lacks("XX")
		}
	})
}

// TestThePreparationStandsBesideTheHiddenParts writes the GM's preparation of a session whose recap has a mark.
func TestThePreparationStandsBesideTheHiddenParts(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	id := gm.Call("session_create", `{"recap": "Open %%XX%% dora.", "prep_notes": "Note"}`).
		Want("prep_notes", "Note").Text("id")
	got := gm.Call("session_update", `{"session_id": "`+id+`", "prep_notes": "Other", "play_notes": "Draft"}`)
	if got.Want("prep_notes", "Other").Want("play_notes", "Draft"); !strings.Contains(got.Text("recap"), "XX") {
		t.Errorf("the GM reads the recap %q", got.Text("recap"))
	}
	ada.Call("session_list", `{}`).Want("sessions.0.recap", "Open dora.").Lacks("XX")
}

// withPercents writes comments of HTML as those of Markdown. Beside a text in HTML they are of that form.
var withPercents = strings.NewReplacer(" <!-- ", "%%", "<!-- ", "%%", " -->", "%%")

// TestPublishedNotesHideTheirMarkedParts publishes notes with marks, changes, withdraws and publishes them again.
func TestPublishedNotesHideTheirMarkedParts(t *testing.T) {
	const text = "We met %%XX%% the miller."
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		want := func(whole, open string, published bool) {
			t.Helper()
			gm.Call("session_list", `{}`).Want("sessions.0.play_notes", whole).
				Want("sessions.0.notes_published", published)
			ada.Call("session_list", `{}`).Want("sessions.0.play_notes", open)
			if seen := ada.sessionSurfaces(); strings.Contains(seen, "XX") {
				t.Errorf("a player reads %s", seen)
			}
			prompt, err := s.ops.GetPrompt(t.Context(), gm.caller, op.PromptRequest{Name: "recap-session"})
			if err != nil || published && strings.Contains(prompt.Text, "XX") {
				t.Errorf("a recap for players is made of %s: %v", prompt.Text, err)
			}
		}
		id := gm.Call("session_create", `{"play_notes": `+jsonOf(text)+`, "publish_notes": true, "status": "COMPLETED",
			"recap": "So %%XX%% it was."}`).Text("id")
		update := func(more string) { t.Helper(); gm.Call("session_update", `{"session_id": "`+id+`", `+more+`}`) }
		want(text, "We met the miller.", true)
		update(`"stage": "play", "prep_notes": "Note"`)
		want(text, "We met the miller.", true)
		update(`"play_notes": "Later."`)
		want("Later.", "We met the miller.", false)
		update(`"play_notes": ` + jsonOf(text) + `, "publish_notes": true`)
		want(text, "We met the miller.", true)
		update(`"publish_notes": false`)
		want(text, "", false)
		update(`"publish_notes": true`)
		want(text, "We met the miller.", true)
		gm.WantFault("INVALID_PARAMS", "session_update",
			`{"session_id": "`+id+`", "play_notes": "Met.\n\nGM: XX", "publish_notes": true}`)
		update(`"play_notes": "Met.\n\nGM: XX", "publish_notes": true, "hide_unsure": true`)
		want("Met.\n\nGM: XX", "Met.\n", true)
		update(`"play_notes": "Met.\n\nGM: YY %%XX%%", "publish_notes": true, "as_written": true`)
		want("Met.\n\nGM: YY %%XX%%", "Met.\n\nGM: YY", true)
		update(`"play_notes": "We met ZZ.", "publish_notes": true`)
		want("We met ZZ.", "We met ZZ.", true)
		update(`"play_notes": "We met %%ZZ%%.", "publish_notes": true`)
		want("We met %%ZZ%%.", "We met.", true)
		if seen := ada.versions(); strings.Contains(seen, "ZZ") {
			t.Errorf("a player reads text that is hidden now: %s", seen)
		}
	})
}

// TestMarkedNotesOfEarlierVersionsAreDrafts has notes that a mark hid whole when they were published.
func TestMarkedNotesOfEarlierVersionsAreDrafts(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	s.keep("Session 3", typeSession,
		`{"number": 3, "sort": 3, "published": {"play_notes": "Met %%XX%% Bo.", "actual_notes": "mark"}}`)
	id := gm.Call("session_list", `{}`).Want("sessions.0.play_notes", "Met %%XX%% Bo.").
		Want("sessions.0.notes_published", false).Text("sessions.0.id")
	gm.Call("session_update", `{"session_id": "`+id+`", "status": "COMPLETED"}`).
		Want("play_notes", "Met %%XX%% Bo.").Want("actual_notes", "mark")
	ada.Call("session_list", `{}`).Want("sessions.0.play_notes", "")
	gm.Call("session_update", `{"session_id": "`+id+`", "publish_notes": true}`).
		Want("play_notes", "Met %%XX%% Bo.").Want("notes_published", true)
	ada.Call("session_list", `{}`).Want("sessions.0.play_notes", "Met Bo.").Want("sessions.0.actual_notes", "mark")
}
