package campaign

import (
	"strings"
	"testing"

	"loregate/internal/canon"
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
