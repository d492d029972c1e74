package canon_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
)

// TestAHolderIsWrittenWithItsText changes a text and the card that holds its parts in one plan, as replacing
// everywhere does, and then that card alone.
func TestAHolderIsWrittenWithItsText(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.writeMarkdown("R", "The quay is long.\n\n%%The First is here and is there%%\n\n"+
		"x\n\n> [!gm]\n> The Second is here.\n\nEnd.\n")
	gm.must(func(p *canon.Plan) error {
		for _, name := range []string{"R", "R+GM"} {
			c, _, err := p.Snapshot.Exists(t.Context(), name)
			if err != nil {
				return err
			}
			text, err := p.Snapshot.Content(t.Context(), c)
			if err != nil {
				return err
			}
			text = strings.ReplaceAll(text, " is ", " is still ")
			if _, err := p.Update(c, canon.Edit{Content: &text}); err != nil {
				return err
			}
		}
		return nil
	})
	want := "The quay is still long.\n\n%%The First is still here and is still there%%\n\n" +
		"x\n\n> [!gm]\n> The Second is still here.\n\nEnd.\n"
	gm.wantContent("R", want)
	gm.must(func(p *canon.Plan) error {
		c, _, err := p.Has("R+GM")
		if err != nil {
			return err
		}
		text, err := p.Body(t.Context(), c.Content)
		if err != nil {
			return err
		}
		text = "Notes of mine.\n\n" + text
		_, err = p.Update(c, canon.Edit{Content: &text})
		return err
	})
	gm.wantContent("R", want)
	s.as("ada").wantContent("R", "The quay is still long.\n\nx\n\nEnd.\n")
}
