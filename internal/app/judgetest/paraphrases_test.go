package judgetest

import (
	"fmt"
	"testing"

	"loregate/internal/app/apptest"
)

// A pairCase is a pair of texts. Kind is paraphrase (they say the same), same topic (the second tells another
// fact about the thing) or unrelated. Form tells how: a paraphrase in other words or in another order, another fact
// in the same words or only about the same thing.
type pairCase struct{ ID, A, B, Kind, Form, Source string }

// TestParaphrases judges whether the product finds texts that say the same in other words: the first texts are
// facts of a world, the second is proposed, and the likeness of a pair is the closeness of the first in the hint
// that the person who decides on the second gets.
func TestParaphrases(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			cases := sample(loadCases[pairCase](t, half, "paraphrases.jsonl"), 50)
			withModels(t, half, "duplicates", len(cases), func(m *scriptedModel) {
				for _, c := range cases {
					if c.Kind != "paraphrase" {
						m.know("repeat", c.proposed(), "", c.A)
					}
				}
				for _, c := range cases { // a text may be proposed for several facts
					if c.Kind == "paraphrase" {
						m.know("repeat", c.proposed(), c.A, "")
					}
				}
			}, func(m *scriptedModel, row string) float64 { return measureParaphrases(t, half, row, cases, m) })
		})
	}
}

// The texts beside the second one of a pair in its proposal.
const (
	proposedTitle = "And Then"
	proposedTask  = "Do it."
)

// proposed returns all sentences of the proposal of a pair's second text.
func (c pairCase) proposed() string { return proposedTitle + " " + c.B + " " + proposedTask }

// measureParaphrases reports the figures of a row, and returns the first.
func measureParaphrases(t *testing.T, half, row string, cases []pairCase, m *scriptedModel) float64 {
	t.Helper()
	var cards []fixtureCard
	ids := map[string]string{}
	for _, c := range cases {
		if ids[c.A] == "" {
			ids[c.A] = fmt.Sprintf("fact-%d", len(ids))
			cards = append(cards, fixtureCard{Name: "Fact " + ids[c.A][5:], Type: "Lore", Text: c.A,
				Codename: ids[c.A]})
		}
	}
	config := apptest.Config(t, t.TempDir())
	m.configure(&config)
	limits := &config.Proposals
	limits.PlayerMinute, limits.PlayerHour, limits.KeyMinute = len(cases), len(cases), len(cases)
	limits.WorldMinute = len(cases)
	a, _ := apptest.Open(t, config, apptest.Quiet())
	s := setWorld(t, a, "pairs", corpusWorld(cards), "Start")
	scores := map[string][]float64{}
	for _, c := range cases {
		score, waits := likeness(t, s, "Fact "+ids[c.A][5:], c.B)
		if !waits {
			t.Logf("case %s: another gate refuses its text, so that nobody gets a hint", c.ID)
			continue
		}
		scores[c.Kind] = append(scores[c.Kind], score)
		scores[c.Form] = append(scores[c.Form], score)
	}
	compare := func(measure string, above, below []float64) float64 {
		area := auc(above, below)
		report(t, half, row, measure, area, len(above)+len(below))
		return area
	}
	same := scores["paraphrase"]
	all := compare("paraphrase AUC", same, append(scores["same topic"], scores["unrelated"]...))
	if m == nil {
		compare("AUC: against unrelated", same, scores["unrelated"])
		compare("AUC: against same topic", same, scores["same topic"])
		compare("AUC: in other order against same thing", scores["other order"], scores["same thing"])
		compare("AUC: in other words against same thing", scores["other words"], scores["same thing"])
		compare("AUC: in other order against same words", scores["other order"], scores["same words"])
		compare("AUC: in other words against same words", scores["other words"], scores["same words"])
	}
	return all
}

// likeness returns the closeness of a fact in the hint of a waiting proposal, or 0 if the hint does not name it. A
// proposal that another gate refuses does not wait.
func likeness(t *testing.T, s *stage, fact, text string) (closeness float64, waits bool) {
	t.Helper()
	var waiting struct{ ProposalID, Status string }
	s.mustCall(t, "propose-quest", map[string]any{"seedSpec": map[string]any{"title": proposedTitle, "hook": text,
		"objectives": []any{map[string]any{"id": "a", "text": proposedTask, "waitMinutes": 1}}}}, &waiting)
	if waiting.Status != "pending_review" {
		return 0, waiting.Status != "rejected"
	}
	var answer struct {
		MayRepeat []struct {
			Name      string
			Closeness float64
		}
	}
	s.mustCall(t, "get-proposal", map[string]any{"proposalId": waiting.ProposalID}, &answer)
	for _, r := range answer.MayRepeat {
		if r.Name == fact {
			return r.Closeness, true
		}
	}
	return 0, true
}

// auc returns the probability that a score of the first list is above one of the second. A tie counts half.
func auc(above, below []float64) float64 {
	won := 0.0
	for _, a := range above {
		for _, b := range below {
			switch {
			case a > b:
				won++
			case a == b:
				won += 0.5
			}
		}
	}
	return won / float64(max(len(above)*len(below), 1))
}
