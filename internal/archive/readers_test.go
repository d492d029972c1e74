package archive

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Texts that the operations of higher callers compose and write show their readers only cards that these see.

func TestAutoLinkNamesOnlyWhatAllReadersSee(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Secret Cult", "x")
	s.hid(access.LevelGM, "Old Lamp", "x", "user")
	s.hid(access.LevelGM, "Letter", "The Secret Cult hid the Old Lamp.", "user")
	s.Do("gm", "auto_link", `{"name": "Letter", "mode": "apply", "dry_run": false}`).Want("applied", 1)
	s.As("user").reads("Letter", "The Secret Cult hid the [[Old Lamp]].")
	// A card for two players does not link to a card that only one of them sees.
	s.hid(access.LevelGM, "Notice", "The Secret Cult hid the Old Lamp.", "user", "anna")
	s.Do("gm", "auto_link", `{"name": "Notice", "mode": "apply", "dry_run": false}`).Want("applied", 0)
}

func TestAListOfHiddenCardsIsAsHiddenAsThey(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "x")
	s.hid(access.LevelGM, "Plot", "x")
	s.hid(access.LevelAdmin, "Treason", "x")
	for _, c := range []struct{ who, name, input, level string }{
		{"admin", "Weekly+Of the older client",
			`"type": "Markdown", "content": "## Wiki Card Updates\n\n- ` + "`Plot` (2026-01-02)\\n- `Quay` (2026-01-02)" + `\n"`, "gm"},
		{"admin", "Weekly+Two", `"type": "Markdown", "content": "* [[Treason|that]]\n* Plot"`, "admin"},
		{"gm", "Weekly+Three", `"content": "<ul><li>[[Quay]]</li><li><b>Plot</b> (again)</li></ul>"`, "gm"},
		{"gm", "Weekly+Four", `"type": "Pointer", "content": "[[Quay]]\n[[Plot]]"`, "gm"},
		{"gm", "Weekly+Five", `"type": "Markdown", "content": "- [[Quay]]\n- nothing else"`, "user"},
		{"gm", "Weekly+Six", `"type": "Markdown", "content": "- [[Plot]]", "level": "user"`, "user"}, // as the author says
		{"gm", "Weekly+Seven", `"content": "<p>They know of [[Plot]].</p>"`, "user"},                 // an author's sentence
	} {
		s.Do(c.who, "create_card", `{"name": "`+c.name+`", "ensure_parents": false, `+c.input+`}`).Want("level", c.level)
	}
	for _, hidden := range []string{"Weekly+Of the older client", "Weekly+Two", "Weekly+Three", "Weekly+Four"} {
		s.As("user").WantNotFound("get_card", `{"name": "`+hidden+`"}`)
	}
	s.Do("gm", "batch_cards", `{"ops": [{"action": "create", "name": "Weekly+Eight", "type": "Markdown", "content": "- Plot"}]}`)
	s.As("user").WantNotFound("get_card", `{"name": "Weekly+Eight"}`)
	s.Do("gm", "create_card", `{"name": "Quay+tags", "type": "Pointer", "content": "[[Plot]]"}`).Want("level", "user")
}

func TestAnOlderVersionComesBackOnlyForItsReaders(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Doctor", "<p>She is the thief.</p>")
	s.edited("Doctor", "<p>A doctor.</p>")
	s.edited("Doctor", "<p>A doctor, with a bag.</p>")
	s.leveled("Doctor", access.LevelUser)
	bag := s.As("admin").version("Doctor")
	s.edited("Doctor", "<p>A doctor, with a heavy bag.</p>")

	s.As("admin").wantFields(fault.Rule, "restore_card", `{"name": "Doctor", "to_version": 1}`, "to_version")
	s.As("user").Call("get_card", `{"name": "Doctor"}`).Lacks("thief")
	s.Do("admin", "undo_change", `{"name": "Doctor"}`)
	s.As("user").reads("Doctor", "<p>A doctor, with a bag.</p>")
	s.edited("Doctor", "<p>Gone.</p>")
	s.Do("admin", "restore_card", asJSON(map[string]any{"name": "Doctor", "to_version": bag}))
	s.As("user").reads("Doctor", "<p>A doctor, with a bag.</p>")

	// Hidden again, the card may have all of its past.
	s.leveled("Doctor", access.LevelGM)
	s.Do("admin", "restore_card", `{"name": "Doctor", "to_version": 1}`)
	s.As("gm").reads("Doctor", "<p>She is the thief.</p>")
	s.wantRebuilt()
}

func TestAChangeIsNotUndoneIntoASecret(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Inn", "<p>An inn.</p>")
	s.wrote("Inn+Cellar", "<p>Bones.</p>")
	s.edited("Inn+Cellar", "<p>Barrels.</p>")
	change := s.As("admin").Call("get_card_history", `{"name": "Inn+Cellar"}`).Text("versions.0.change_id")
	s.leveled("Inn", access.LevelUser) // the cellar itself does not change
	s.As("admin").wantFields(fault.Rule, "undo_change", `{"id": "`+change+`"}`, "id")
	s.As("user").reads("Inn+Cellar", "<p>Barrels.</p>")
}

func TestAChildGetsNoHiddenTextBack(t *testing.T) {
	s := newDesk(t)
	s.wrote("Inn", "<p>An inn.</p>")
	s.hid(access.LevelGM, "Inn+Cellar", "<p>Bones.</p>")
	s.hid(access.LevelGM, "Inn+Attic", "<p>Gold.</p>")
	s.edited("Inn", "<p>An inn by the road.</p>")
	for _, room := range []string{"Inn+Cellar", "Inn+Attic"} {
		s.edited(room, "<p>Barrels.</p>")
		s.leveled(room, access.LevelUser)
	}
	s.trashed("Inn+Attic")
	s.Do("admin", "restore_card", `{"name": "Inn", "to_version": 1}`)
	s.As("user").reads("Inn", "<p>An inn.</p>")
	s.As("user").reads("Inn+Cellar", "<p>Barrels.</p>")
	s.As("user").WantNotFound("get_card", `{"name": "Inn+Attic"}`)
}
