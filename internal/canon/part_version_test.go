package canon_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// TestRestoreHidesPartsWithoutAMark restores a version with a hidden part that has no mark, as imports keep them.
func TestRestoreHidesPartsWithoutAMark(t *testing.T) {
	s := newScene(t)
	gm, user := s.as("gm"), s.as("user")
	const whole = "An inn.\n\nThe cook is a spy.\n"
	gm.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Inn", Format: canon.FormatMarkdown, Content: whole, AsWritten: true,
			Hide: []secrecy.Range{{Span: markup.Span{From: strings.Index(whole, "The"), To: len(whole)}}}})
		return err
	})
	user.wantContent("Inn", "An inn.\n")
	before := gm.version("Inn")
	gm.edit("Inn", "An inn.\n")
	gm.wantContent("Inn", "An inn.\n")
	if err := gm.on("Inn", func(p *canon.Plan, c canon.Card) error {
		v, err := p.VersionOf(t.Context(), c, before)
		if err == nil {
			_, err = p.RevertTo(c, v)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	gm.wantContent("Inn", whole)
	user.wantContent("Inn", "An inn.\n")
	s.wantRebuilt()
}
