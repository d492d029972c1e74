package vault

import (
	"testing"

	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// TestACardThatWasThereIsRemembered imports a note whose card was there before the first import, and edits the card:
// later imports of the same note leave the edit alone.
func TestACardThatWasThereIsRemembered(t *testing.T) {
	s := newScene(t)
	s.Create(canon.NewCard{Name: "Mill", Content: "Old."})
	o := Options{Options: exchange.Options{Label: "v"}}
	notes := map[string]string{"Mill.md": "It turns.\n", "Inn.md": "An inn.\n"}
	s.importAs("gm", notes, o)
	text := "It turns slowly."
	s.Edit("Mill", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Update(c, canon.Edit{Content: &text})
		return err
	})
	for range 2 {
		if sum := s.importAs("gm", notes, o); sum.Updated > 0 {
			t.Error(sum)
		}
		s.WantSees(map[string]string{"user Mill": "RichText user It turns slowly."})
	}
	notes["Mill.md"] = "It stands.\n"
	s.importAs("gm", notes, o)
	s.WantSees(map[string]string{"user Mill": "RichText user It turns slowly.",
		"gm Mill+GM+Conflict": "RichText gm It stands.\n"})
}
