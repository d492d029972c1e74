package archive

import (
	"regexp"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestCardsAreRestoredFromTheTrash(t *testing.T) {
	s := newDesk(t)
	s.made(canon.NewCard{Name: "Town", Type: "Location", Content: "old", Fields: []byte(`{"a":1}`)})
	s.wrote("Town+Quay+Crane", "lifts")
	s.hid(access.LevelGM, "Town+Cellar", "dark")
	s.wrote("Map", "[[Town]]")
	s.trashed("Town")
	s.wrote("Town", "other")
	s.trashed("Town")
	s.now = s.now.Add(1)
	latest := s.Do("admin", "restore_card", `{"name": "towns"}`).Want("content_length", 5).Want("restored",
		1).Want("also_in_trash.#", 1)
	s.As("user").reads("Town", "other")
	older := latest.Text("also_in_trash.0")
	if f := s.As("admin").asked("restore_card", `{"name": "`+older+`"}`); f.Kind != fault.Conflict {
		t.Errorf("the name is taken: %v", f)
	}
	s.Do("admin", "delete_card", `{"name": "Town"}`)
	s.Do("admin", "restore_card", `{"name": "`+older+`"}`).Want("type", "Location").Want("restored",
		4).WantNo("also_in_trash")
	s.As("user").Call("get_card", `{"name": "Town"}`).Want("content", "old").Want("fields.a", 1)
	s.As("user").reads("Town+Quay+Crane", "lifts")
	s.As("user").WantNotFound("get_card", `{"name": "Town+Cellar"}`)
	s.As("gm").reads("Town+Cellar", "dark")
	s.As("user").Call("get_relationships", `{"name": "Town", "kind": "referers"}`).Has("Map")

	s.As("admin").wantFields(fault.Rule, "restore_card", `{"name": "Map"}`, "name")
	s.As("admin").WantNotFound("restore_card", `{"name": "Never"}`)
	s.As("admin").WantNotFound("restore_card", `{"name": "Town", "to_version": 99}`)
	s.Do("admin", "delete_card", `{"name": "Town", "confirm": "Town"}`)
	s.As("admin").WantNotFound("restore_card", `{"name": "Town+Quay"}`)
	s.wantRebuilt()
}

func TestGoingBackToAVersion(t *testing.T) {
	s := newDesk(t)
	s.made(canon.NewCard{Name: "Town", Content: "one", Fields: []byte(`{"a":1}`)})
	s.wrote("Town+Quay", "wet")
	s.wrote("Town+Mill", "turns")
	s.trashed("Town+Mill")
	s.on("Town", func(p *canon.Plan, c canon.Card) error {
		typ, content := "Location", "two"
		_, err := p.Update(c, canon.Edit{Type: &typ, Content: &content, Fields: []byte(`{"a":2,"b":3}`)})
		return err
	})
	s.edited("Town+Quay", "dry")
	s.trashed("Town+Quay")
	s.renamed("Town", "City")
	s.wrote("City+New", "stays")

	s.Do("admin", "restore_card", `{"name": "City", "to_version": 1}`).Want("name", "Town").Want("type", "RichText")
	s.As("user").Call("get_card", `{"name": "Town"}`).Want("content", "one").Want("fields.a", 1).WantNo("fields.b")
	s.As("user").reads("Town+Quay", "wet")
	s.As("user").reads("Town+New", "stays")
	s.wantRebuilt()

	// A child that existed at the restored version comes back, and one that had been deleted by
	// then stays deleted.
	s.edited("Town", "three")
	s.wrote("Town+Tower", "high")
	s.edited("Town", "four")
	v := s.As("admin").version("Town")
	s.edited("Town", "five")
	s.edited("Town+Tower", "low")
	s.trashed("Town+Tower")
	s.Do("admin", "restore_card", asJSON(map[string]any{"name": "Town", "to_version": v}))
	s.As("user").reads("Town+Tower", "high")
	s.As("user").WantNotFound("get_card", `{"name": "Town+Mill"}`)
	s.wantRebuilt()
}

func TestRevertingKeepsTheNewNameOfAMovedCard(t *testing.T) {
	s := newDesk(t)
	s.wrote("Town+Quay", "one")
	s.edited("Town+Quay", "two")
	s.renamed("Town", "City")
	s.Do("admin", "restore_card", `{"name": "City+Quay", "to_version": 1}`).Want("name", "City+Quay")
	s.As("user").reads("City+Quay", "one")
	// the former name still finds the card, and no other card has it
	s.As("user").Call("get_card", `{"name": "Town"}`).Want("name", "City")
	s.renamed("City+Quay", "City+Pier")
	s.renamed("City", "Port")
	undo := s.As("admin").Call("get_card_history", `{"name": "Port+Pier"}`).Text("versions.0.change_id")
	s.Do("admin", "undo_change", `{"id": "`+undo+`"}`).WantNames("cards", "Port+Quay")
	s.wantRebuilt()
}

func TestChangesAreUndone(t *testing.T) {
	s := newDesk(t)
	change := func(a interface{ Text(string) string }) string { return `{"id": "` + a.Text("change_id") + `"}` }
	s.Do("user", "create_card", `{"name": "Well", "content": "one", "fields": {"a": 1}}`)
	edit := s.Do("user", "update_card", `{"name": "Well", "content": "two", "fields": {"a": 2}, "type": "Markdown"}`)
	undone := s.Do("user", "undo_change", change(edit)).WantNames("cards", "Well").Want("undone", edit.Text("change_id"))
	s.As("user").Call("get_card", `{"name": "Well"}`).Want("content", "one").Want("fields.a", 1).Want("type",
		"RichText").Want("version", 3)
	if f := s.As("user").asked("undo_change", change(edit)); f.Kind != fault.Conflict {
		t.Errorf("later changes stand on it: %v", f)
	}
	s.Do("user", "undo_change", change(undone))
	s.As("user").reads("Well", "two")

	// A change that only an admin may make can be undone only by an admin.
	made := s.Do("user", "create_card", `{"name": "Pit", "fields": {"+tags": "[[a]]"}}`)
	renamed := s.Do("admin", "rename_card", `{"name": "Well", "new_name": "Spring"}`)
	for _, c := range []answer{made, renamed} {
		for _, who := range []string{"user", "gm"} {
			if f := s.As(who).asked("undo_change", change(c)); f.Kind != fault.Denied || f.Details["required_role"] != "admin" {
				t.Errorf("%s undoes: %v", who, f)
			}
		}
		s.Do("admin", "undo_change", change(c))
	}
	s.As("user").reads("Well", "two")
	s.As("user").WantNotFound("get_card", `{"name": "Pit+tags"}`)
	raised := s.Do("admin", "set_card_level", `{"name": "Well", "level": "admin"}`)
	hidden := s.As("user").WantNotFound("undo_change", change(raised))
	absent := s.As("user").WantNotFound("undo_change", `{"id": "`+s.world.String()+`"}`)
	if len(hidden) != len(absent) {
		t.Errorf("a hidden change tells: %s, %s", hidden, absent)
	}
	s.Do("admin", "undo_change", change(raised))
	s.As("user").reads("Well", "two")

	batch := s.Do("admin", "batch_cards",
		`{"mode": "transactional", "ops": [{"action": "create", "name": "A"}, {"action": "update", "name": "Well", "content": "three"}]}`)
	id := s.As("admin").Call("get_card_history", `{"name": "Well"}`).Text("versions.0.change_id")
	s.Do("admin", "undo_change", `{"id": "`+id+`"}`)
	s.As("user").reads("Well", "two")
	s.As("user").WantNotFound("get_card", `{"name": "A"}`)
	batch.Want("applied", 2)
	s.wantRebuilt()
}

// TestARepeatedCallAnswersTheSame checks that repeating an admin's write returns the first answer
// again, without the data that the first call opened.
func TestARepeatedCallAnswersTheSame(t *testing.T) {
	s := newDesk(t)
	s.wrote("Town+Quay", "one")
	s.wrote("Map", "[[Town]]")
	s.edited("Town+Quay", "two")
	s.wrote("Old", "x")
	s.trashed("Old")
	s.wrote("Old", "y")
	s.trashed("Old")
	for i, c := range []struct{ name, input string }{
		{"update_card", `{"name": "Map", "patch": {"mode": "append", "content": "x"}}`},
		{"rename_card", `{"name": "towns", "new_name": "City"}`},
		{"restore_card", `{"name": "City", "to_version": 1}`},
		{"restore_card", `{"name": "Old"}`},
		{"set_card_level", `{"name": "Map", "level": "gm"}`},
		{"delete_card", `{"name": "Map"}`},
		{"upload_attachment", `{"name": "File", "data": "YQ=="}`},
		{"batch_cards", `{"ops": [{"action": "create", "name": "A"}]}`},
	} {
		first := s.Do("admin", c.name, c.input, withKey(itoa(i)))
		again := s.Do("admin", c.name, c.input, withKey(itoa(i)))
		opened := regexp.MustCompile(`"opens":\[[^\]]*\],`)
		if opened.ReplaceAllString(first.Raw, "") != again.Raw || !again.Reply.Replayed || first.Reply.Replayed {
			t.Errorf("%s answers\n%s\nthen\n%s", c.name, first.Raw, again.Raw)
		}
	}
}
