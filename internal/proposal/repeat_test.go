package proposal_test

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// A waiting proposal names texts that say nearly the same. Hidden texts are not named, not even to those who see
// them, and no gate refuses by such a hint.
func TestWaitingProposalNamesTextsItMayRepeat(t *testing.T) {
	s := newScene(t, "")
	gm := access.NewLabel(access.LevelGM)
	s.by("write", s.world, func(p *canon.Plan) error {
		for _, c := range []canon.NewCard{
			{Name: "Fate of the Miller", Type: "Lore", Codename: "miller",
				Content: "<p>The miller was poisoned by his brother.</p>"},
			{Name: "Harvest", Type: "Lore", Codename: "harvest", Content: "<p>Rain fell on the hills for a week.</p>"},
			{Name: "Hidden Fate", Type: "Lore", Codename: "fate",
				Content: "<p>The miller was poisoned by a brother of his.</p>", Label: &gm},
		} {
			if _, err := p.Create(c); err != nil {
				return err
			}
		}
		return nil
	})
	for _, text := range []string{"His own brother gave the miller venom.", "By his brother the miller was poisoned."} {
		r := s.as("ada", access.RoleUser).propose("propose-quest", seed(fields{"title": "Errand", "hook": text}))
		if r.Rejection != nil {
			t.Fatalf("%q is refused: %+v", text, r.Rejection)
		}
		got := s.approver(access.RoleGM).get(r.ProposalID).MayRepeat
		if len(got) != 1 || got[0].Name != "Fate of the Miller" ||
			got[0].Text != "The miller was poisoned by his brother." {
			t.Errorf("%q may repeat %+v", text, got)
		}
		if _, err := call[any](s.as("ada", access.RoleUser), "withdraw-proposal",
			fields{"proposalId": r.ProposalID}); err != nil {
			t.Fatal(err)
		}
	}
}
