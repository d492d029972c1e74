package archive

import "testing"

// TestUndoHidesThePast reveals a part and undoes that: players read it in no version.
func TestUndoHidesThePast(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Pier", "text_format": "markdown", "format": "markdown",
		"content": "Boats.\n\n%%zqua below%%\n\nGulls."}`)
	id := s.As("gm").Call("get_card", `{"name": "Pier"}`).Text("hidden.0.id")
	change := s.Do("gm", "reveal_part", `{"name": "Pier", "parts": ["`+id+`"]}`).Text("change_id")
	s.As("user").Call("get_card", `{"name": "Pier"}`).Has("zqua")
	s.Do("gm", "undo_change", `{"id": "`+change+`"}`)
	s.As("user").Call("get_card", `{"name": "Pier"}`).Lacks("zqua")
	s.As("user").Call("get_card_history", `{"name": "Pier"}`).Want("total", 1)
	s.As("gm").Call("get_card", `{"name": "Pier"}`).Has("zqua")
}

// TestUndoOfARewriteKeepsTheOpenText undoes a player's rewrite: players read again what they read before.
func TestUndoOfARewriteKeepsTheOpenText(t *testing.T) {
	const text = "# S\n\nBooks.\n\n## Desk\n\nStove.\n\n%%\n## If\n\nzqgoes.\n\n- zqknock\n%%\n\nForks.\n\n" +
		"> [!note] Seen\n> She folds.\n> ## GM notes\n> zqbird.\n\nThe cook is Pask."
	for _, anew := range []string{"New.", "New.\n\n## Desk\n\nThe cook goes.", "# S\n\nForks and books."} {
		s := newDesk(t)
		s.Do("gm", "create_card", asJSON(map[string]any{"name": "S", "text_format": "markdown", "format": "markdown", "content": text}))
		before := s.As("user").Call("get_card", `{"name": "S", "format": "markdown"}`).Text("content")
		change := s.Do("user", "update_card", asJSON(map[string]any{"name": "S", "format": "markdown", "content": anew})).Text("change_id")
		s.Do("gm", "undo_change", `{"id": "`+change+`"}`)
		s.As("user").Call("get_card", `{"name": "S", "format": "markdown"}`).Want("content", before)
		s.As("gm").Call("get_card", `{"name": "S", "format": "markdown"}`).Want("content", text)
	}
}
