package canon_test

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// TestCopiedSentenceInADryRun copies a hidden sentence: into a link and a layer it is refused, and a dry run of a text
// that is for everybody names it.
func TestCopiedSentenceInADryRun(t *testing.T) {
	const secret = "The cook of this inn is a spy."
	s := newScene(t)
	gm := s.as("gm")
	gm.create("Inn", "wet")
	gm.create("Notes+GM", secret)
	inn, _, _ := gm.card("Inn")
	for way, plan := range map[string]func(*canon.Plan) error{
		"link": func(p *canon.Plan) error {
			_, err := p.Link(canon.Link{Kind: "exit", From: inn.ID, To: inn.ID, Attrs: []byte(`{"told": ["` + secret + `"]}`)})
			return err
		},
		"layer": func(p *canon.Plan) error {
			_, err := p.Layer(canon.Layer{Card: inn.ID, Kind: "ambient", Text: secret})
			return err
		},
	} {
		if _, err := gm.do(plan); err == nil || !strings.Contains(err.Error(), "this is hidden in") {
			t.Errorf("%s: %v", way, err)
		}
	}
	text := "Listen. " + secret
	runs, err := s.canon.DryRuns(gm.grant.Answering(access.UnsureText), func(g access.Grant) error {
		_, err := s.canon.Update(t.Context(), g, func(p *canon.Plan) error {
			_, err := p.Update(inn, canon.Edit{Content: &text})
			return err
		})
		return err
	})
	if err != nil || len(runs) != 1 || len(runs[0].Set.Copied()) != 1 {
		t.Errorf("the dry run gives %+v, %v", runs, err)
	}
}
