package proposal_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/proposal"
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

// A repeatJudge is a second reader of hints that answers with given numbers.
type repeatJudge struct {
	same   []int
	err    error
	doubts []proposal.RepeatDoubt
	left   time.Duration // until its time was up
}

func (r *repeatJudge) ReadRepeats(ctx context.Context, _ access.WorldID, d proposal.RepeatDoubt) ([]int, error) {
	if end, ok := ctx.Deadline(); ok {
		r.left = time.Until(end)
	}
	r.doubts = append(r.doubts, d)
	return r.same, r.err
}

// A second reader is asked only about hints that leave it open whether a proposal says the same, and only in texts that
// the readers of its result see. It moves a hint up or down. It neither adds nor removes one, and without its answer
// all stay as they are.
func TestASecondReaderOrdersDoubtfulHints(t *testing.T) {
	r := &repeatJudge{}
	s := newScene(t, "", func(c *proposal.Config) { c.Repeats = r })
	gm := access.NewLabel(access.LevelGM)
	s.by("write", s.world, func(p *canon.Plan) error {
		for _, c := range []canon.NewCard{
			{Name: "Bees", Type: "Lore", Codename: "bees", Content: "<p>The abbey keeps bees and sells candles.</p>"},
			{Name: "Wax", Type: "Lore", Codename: "wax", Content: "<p>The abbey makes candles of the wax of bees.</p>"},
			{Name: "Hound", Type: "Lore", Codename: "hound", Content: "<p>The hunter gave his best hound to the priest.</p>"},
			{Name: "Hidden Bees", Type: "Lore", Codename: "hive", Label: &gm,
				Content: "<p>The abbey keeps its bees and sells the candles.</p>"},
		} {
			if _, err := p.Create(c); err != nil {
				return err
			}
		}
		return nil
	})
	ada := s.as("ada", access.RoleUser)
	doubtful := "At the abbey they keep bees and sell candles of wax. " + strings.Repeat("And so on, ", 60) + "to the end."
	waiting := ada.propose("propose-quest", seed(fields{"title": "Errand", "hook": doubtful})).ProposalID
	r.err = errors.New("hung up")
	without := ada.get(waiting).MayRepeat
	if len(without) != 2 || without[0].Name != "Bees" || without[0].Closeness == 0 || without[0].Model != "" {
		t.Fatalf("without an answer %+v", without)
	}
	asked := r.doubts[0]
	for _, c := range []struct {
		same  []int
		first string
		want  float64
		model string
	}{{[]int{1}, "Bees", 1, "same"}, {nil, "Wax", without[1].Closeness, without[1].Model}} {
		for _, reader := range []actor{ada, s.approver(access.RoleGM)} {
			r.same, r.err, r.doubts = c.same, nil, nil
			got := reader.get(waiting).MayRepeat
			if len(got) != 2 || got[0].Name != c.first || got[0].Closeness != c.want || got[0].Model != c.model {
				t.Errorf("after %v %+v", c.same, got)
			}
			if !reflect.DeepEqual(r.doubts, []proposal.RepeatDoubt{asked}) || r.left <= 0 || r.left > 3*time.Second {
				t.Errorf("asked %+v for %s, first %+v", r.doubts, r.left, asked)
			}
		}
	}
	if !slices.Equal(asked.Known, []string{"The abbey keeps bees and sells candles."}) ||
		slices.IndexFunc(asked.Proposed, func(s string) bool { return len(s) > 310 }) >= 0 {
		t.Errorf("asked %+v", asked)
	}
	r.doubts = nil
	for _, text := range []string{"Rain fell on the hills for a week.", "The abbey makes candles of the wax of bees.",
		"To pay what he owed for the house, the miller parted with the only horse he had left."} {
		other := ada.propose("propose-quest", seed(fields{"title": "Another", "hook": text}))
		if hints := ada.get(other.ProposalID).MayRepeat; len(r.doubts) > 0 {
			t.Errorf("%q: asked %+v, hints %+v", text, r.doubts, hints)
		}
		r.doubts = nil
	}
}
