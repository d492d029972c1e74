package judgetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"loregate/internal/app"
)

// A claimCase is a proposed text, and its truth as players know the world:
//
//	true      the canon that players see says the same
//	false     it contradicts that canon
//	new       it adds an exit, room, thing, person, death, office or kinship: it must not go live by itself
//	unsure    that canon says nothing
//	hidden    it contradicts only hidden canon, and must be answered like unsure
//	nonclaim  it claims nothing: a question, hearsay, a quotation, a simile and others, see Form
type claimCase struct {
	ID, World, Kind, Speaker, Place, Layer, Text, Truth, Predicate, Form, Source string
}

// rightStatuses lists the right statuses of a proposal by the truth of its text.
var rightStatuses = map[string][]string{"true": {"accepted"}, "false": {"rejected"},
	"new": {"rejected", "pending_review"}, "unsure": {"pending_review"}, "hidden": {"pending_review"},
	"nonclaim": {"accepted"}}

// A claimAnswer is the part of the author's answer that is judged.
type claimAnswer struct {
	Status    string
	Rejection struct{ Gate string }
}

// TestClaims judges which claims the gates refuse, which wait for a person and which go live.
func TestClaims(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			cases := sample(loadCases[claimCase](t, half, "claims.jsonl"), 40)
			withModels(t, half, "claims", len(cases), func(m *scriptedModel) {
				for _, c := range cases {
					denied, open := `{"denied":1,"because":1}`, noAnswers["claim"]
					if c.Truth == "false" {
						m.know("claim", c.Text, denied, open)
					} else {
						m.know("claim", c.Text, open, denied)
					}
				}
			}, func(m *scriptedModel, row string) float64 { return measureClaims(t, half, row, cases, m) })
		})
	}
}

// measureClaims reports the figures of a row, and returns the share of cases with the right status.
func measureClaims(t *testing.T, half, row string, cases []claimCase, m *scriptedModel) float64 {
	t.Helper()
	judge := newClaimJudge(t, half, m)
	tally := claimTally{}
	var right ratio
	for i, c := range cases {
		answer, _ := judge.propose(t, fmt.Sprintf("case-%d", i), judge.worlds[c.World], c)
		tally.add(c, answer)
		fits := slices.Contains(rightStatuses[c.Truth], answer.Status)
		if right.add(fits); !fits {
			logMiss(t, half, "%s: %s: %s, got %s: %s", row, c.ID, c.Truth, answer.Status, c.Text)
		}
	}
	tally.report(t, half, row)
	return right.value()
}

// TestHiddenCanonShowsInNoAnswer proposes each text about something that players do not know in two
// worlds, with the hidden canon and without it. The answers to the author must be the same but for ids.
func TestHiddenCanonShowsInNoAnswer(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			judge := newClaimJudge(t, half, nil)
			cases := slices.DeleteFunc(loadCases[claimCase](t, half, "claims.jsonl"), func(c claimCase) bool {
				return c.Truth != "hidden" && c.Truth != "unsure"
			})
			cases = sample(cases, 12)
			differ := 0
			for i, c := range cases {
				world := judge.worlds[c.World]
				_, with := judge.propose(t, fmt.Sprintf("with-%d", i), world, c)
				_, without := judge.propose(t, fmt.Sprintf("without-%d", i), world.withoutHidden(), c)
				if with != without {
					differ++
					t.Errorf("%s: the answer depends on hidden canon", c.ID)
					logMiss(t, half, "with:\n%s\nwithout:\n%s", with, without)
				}
			}
			report(t, half, "claims", "answers that show hidden canon", share(differ, len(cases)), len(cases))
		})
	}
}

// A claimJudge proposes texts, each in a world of its own.
type claimJudge struct {
	app    *app.App
	worlds map[string]fixtureWorld
}

func newClaimJudge(t *testing.T, half string, m *scriptedModel) *claimJudge {
	t.Helper()
	j := &claimJudge{worlds: map[string]fixtureWorld{}}
	// locked claims are about worlds of both halves
	for _, h := range []string{development, half} {
		for _, w := range loadCases[fixtureWorld](t, h, "worlds.jsonl") {
			j.worlds[w.World] = w
		}
	}
	j.app = m.openWith(t)
	return j
}

// propose proposes the text in a new world. It returns the answer, and the bytes that the author gets:
// this answer and the proposal as the author reads it, without ids, times and hashes.
func (j *claimJudge) propose(t *testing.T, slug string, w fixtureWorld, c claimCase) (answer claimAnswer, seen string) {
	t.Helper()
	s := setWorld(t, j.app, slug, w, c.Place)
	var here struct{ Item struct{ ContextRef string } }
	if err := s.call(t.Context(), "get-location-context", map[string]any{"locationId": s.cards[c.Place].String()},
		&here); err != nil {
		t.Fatal(err)
	}
	operation, in := "propose-npc-dialogue", map[string]any{"npcId": s.cards[c.Speaker].String(),
		"playerId": s.player.String(), "draftText": c.Text}
	if c.Kind == "ambience" {
		layer := "ambient"
		if c.Layer != "" {
			layer = c.Layer
		}
		operation, in = "propose-ambience", map[string]any{"locationId": s.cards[c.Place].String(), "layerType": layer,
			"text": c.Text}
	}
	in["contextRef"] = here.Item.ContextRef
	var raw, proposal json.RawMessage
	if err := s.call(t.Context(), operation, in, &raw); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	var id struct{ ProposalID string }
	if err := json.Unmarshal(raw, &id); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	if err := s.call(t.Context(), "get-proposal", map[string]any{"proposalId": id.ProposalID}, &proposal); err != nil {
		t.Fatal(err)
	}
	return answer, withoutIDs(string(raw) + "\n" + string(proposal))
}

var idPattern = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|` +
	`\d{4}-\d\d-\d\dT[0-9:.]+Z|"contextRefs?":("[^"]*"|\[[^]]*\])|(with|without)-\d+`)

func withoutIDs(s string) string { return idPattern.ReplaceAllString(s, "#") }

// A claimTally counts answers by truth and status, and by truth, predicate or form, and status.
type claimTally map[string]map[string]int

func (y claimTally) add(c claimCase, a claimAnswer) {
	detail := c.Predicate
	if c.Truth == "nonclaim" {
		detail = c.Form
	}
	for _, key := range []string{c.Truth, c.Truth + " " + detail} {
		y.count(key, a.Status)
		y.count(key, "all")
	}
}

func (y claimTally) count(key, value string) {
	if y[key] == nil {
		y[key] = map[string]int{}
	}
	y[key][value]++
}

// share returns the share of the cases under key that have one of the statuses, and their number.
func (y claimTally) share(key string, statuses ...string) (share float64, n int) {
	n = y[key]["all"]
	for _, s := range statuses {
		share += float64(y[key][s])
	}
	return share / float64(max(n, 1)), n
}

// report prints the shares of the contract, and without a model for each kind of claim the share with the right answer.
func (y claimTally) report(t *testing.T, half, row string) {
	t.Helper()
	names := map[string]string{"true": "true ones go live", "false": "false ones refused",
		"new":    "new ones do not go live",
		"unsure": "unsure ones wait", "hidden": "hidden ones wait", "nonclaim": "non-claims go live"}
	show := func(measure, key string, statuses ...string) {
		share, n := y.share(key, statuses...)
		report(t, half, row, measure, share, n)
	}
	show("true ones refused", "true", "rejected")
	for _, truth := range sortedKeys(rightStatuses) {
		show(names[truth], truth, rightStatuses[truth]...)
	}
	if !whole() || row != "claims" {
		return
	}
	for _, key := range sortedKeys(y) {
		for truth, statuses := range rightStatuses {
			if len(key) > len(truth) && key[:len(truth)+1] == truth+" " {
				show("right: "+key, key, statuses...)
			}
		}
	}
}
