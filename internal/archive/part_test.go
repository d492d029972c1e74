package archive

import (
	"strings"
	"testing"
)

// TestPartsAreHiddenAndRevealed writes, reveals and hides parts of a text over the operations.
func TestPartsAreHiddenAndRevealed(t *testing.T) {
	s := newDesk(t)
	made := s.Do("gm", "create_card", `{"name": "Inn", "text_format": "markdown", `+
		`"content": "An inn. %%The cook is a spy.%%\n\nCheap.\n"}`)
	made.Want("hidden.0.from", "players").Want("hidden.0.at", 7)
	if text := made.Text("hidden.0.text"); !strings.Contains(text, "The cook is a spy.") {
		t.Errorf("the answer says that %q is hidden", text)
	}
	id := made.Text("hidden.0.id")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n").
		WantNo("hidden").Want("content_length", 16)
	s.As("gm").Call("get_card", `{"name": "Inn", "format": "markdown"}`).
		Want("content", "An inn. %%The cook is a spy.%%\n\nCheap.\n").
		Want("hidden.0.id", id).Want("content_length", 39)

	s.Do("gm", "update_card", `{"name": "Inn", "patch": {"mode": "append", `+
		`"content": "\n%%It burns down.%%"}, "format": "markdown"}`).
		Want("hidden.1.from", "players")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")

	s.As("user").WantFault("not_found", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"]}`)
	s.As("gm").Call("reveal_part", `{"name": "Inn", "parts": ["`+id+`"], "dry_run": true}`).
		Want("opens.0.part", id).Want("opens.0.to", "user").Want("dry_run", true)
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"], "to": ["user"]}`).Want("opens.0.told.0", "user").
		Want("hidden.0.told.0", "user")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).
		Want("content", "An inn. The cook is a spy.\n\nCheap.\n")
	s.Do("gm", "hide_part", `{"name": "Inn", "parts": ["`+id+`"]}`)
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"]}`)
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).
		Want("content", "An inn. The cook is a spy.\n\nCheap.\n")
	s.Do("gm", "hide_part", `{"name": "Inn", "text": ["The cook is a spy."]}`).Want("hidden.0.from", "players")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")
	s.As("user").Call("get_card_history", `{"name": "Inn"}`).Want("total", 1)
	s.wantRebuilt()
}

// TestAPlayersMarksAreText tells a player that their marks hide nothing.
func TestAPlayersMarksAreText(t *testing.T) {
	s := newDesk(t)
	s.Do("user", "create_card", `{"name": "Diary", "text_format": "markdown", `+
		`"content": "Dear diary. %%Nobody reads this.%%"}`).WantNo("hidden").
		Want("marks_ignored.0", "%%Nobody reads this.%%")
	s.As("gm").Call("get_card", `{"name": "Diary"}`).WantNo("hidden")
}

// TestOpeningListsWhatOpens opens a hidden card with cards below it: the answer lists what players read then, and what
// stays hidden.
func TestOpeningListsWhatOpens(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Plot", "level": "gm", "text_format": "markdown", `+
		`"content": "A plot. %%Of the duke.%%"}`)
	s.Do("gm", "create_card", `{"name": "Plot+Map", "text_format": "markdown", "content": "A map."}`)
	got := s.As("admin").Call("set_card_level", `{"name": "Plot", "level": "user", "dry_run": true}`)
	got.Want("opens.0.name", "Plot").Want("opens.0.text", "A plot.").Want("opens.0.stays_hidden.0.from", "players").
		Want("opens.1.name", "Plot+Map").WantNo("opens.2")
	s.As("user").WantFault("not_found", "get_card", `{"name": "Plot"}`)
	s.Do("admin", "set_card_level", `{"name": "Plot", "level": "user"}`).Want("opens.1.text", "A map.")
	s.As("user").Call("get_card", `{"name": "Plot", "format": "markdown"}`).Want("content", "A plot.")
	s.wantRebuilt()
}
