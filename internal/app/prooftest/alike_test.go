package prooftest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/canon"
)

// TestBothStoresAnswerAlike tells one story on the embedded store and on PostgreSQL, and
// compares all answers on every surface, as two of the audiences of the other proofs. They must
// be equal to the byte; for ranked and fuzzy search only the hits must be the same.
func TestBothStoresAnswerAlike(t *testing.T) {
	skipWithRace(t)
	t.Parallel()
	for _, a := range audiences[:2] {
		t.Run(a.who, func(t *testing.T) {
			t.Parallel()
			newTwinsOn(t, a, [2]string{stores[0], stores[1]}, [2]bool{true, true}).compareStores(0)
		})
	}
}

// TestPlacedWorldAnswersAlike is TestBothStoresAnswerAlike for a world in a second database, whose server
// crashes between the calls. In the end the tables follow from the stream.
func TestPlacedWorldAnswersAlike(t *testing.T) {
	skipWithRace(t)
	t.Parallel()
	for _, a := range audiences {
		t.Run(a.who, func(t *testing.T) {
			if a.who != "user" && !isLong() {
				t.Skip("only by make proof, with PROOF_ROUNDS: TestBothStoresAnswerAlike asks PostgreSQL as a GM")
			}
			t.Parallel()
			tw := newTwinsOn(t, a, [2]string{stores[0], placed}, [2]bool{true, true})
			tw.compareStores(0)
			if t.Failed() {
				return
			}
			tw.full.restartDatabase()
			if isLong() {
				tw.compareStores(1)
			} else {
				for _, r := range cardCalls(tw.full.known, 1) {
					tw.askBoth(r)
				}
			}
			tw.full.wantReplay()
		})
	}
}

// compareStores compares the answers of two kinds of store to good calls, and to calls that are no operations.
func (tw *twins) compareStores(turn int) {
	tw.t.Helper()
	tw.alike = sameHits
	differences := 0
	count := func(same bool) bool {
		if !same {
			differences++
		}
		return differences < maxDifferences
	}
	tw.compareGoodCalls(turn, count)
	if differences < maxDifferences {
		tw.compareOtherCalls(turn, count)
	}
	if tw.asked < 500 && !tw.t.Failed() {
		tw.t.Errorf("only %d calls were made", tw.asked)
	}
	tw.t.Logf("%d calls", tw.asked)
}

// wantReplay rebuilds the tables from the streams and compares them.
func (s *stage) wantReplay() {
	s.t.Helper()
	list, err := s.app.Rebuild(s.t.Context(), "", canon.CompareOnly)
	if err != nil || len(list) == 0 {
		s.t.Errorf("%d worlds, %v", len(list), err)
	}
	for _, w := range list {
		if len(w.Different) > 0 {
			s.t.Errorf("tables of %s that do not follow from the stream: %v", w.World.Slug, w.Different)
		}
	}
}

// rankedOperations answer in an order of scores, or guess at names.
var rankedOperations = []string{"search", "search_cards", "search-lore", "semantic-search-lore", "search_entities",
	"list_entities", "completion/complete"}

// maxHits is the number of hits of operations that show only the best ones.
var maxHits = map[string]int{"search": 20}

// hitName matches the text that identifies a hit in an answer.
var hitName = regexp.MustCompile(`\\*"(?:id|name|key|factId|entity_id)\\*":\\*"([^"\\]*)`)

// guessedNames matches the near names in an answer, which depend on the index of each store,
// and the length of the answer, which depends on them.
var guessedNames = regexp.MustCompile(`(?i)\\*"did_you_mean\\*":\[[^\]]*\]|content-length: \d+`)

// sameHits compares answers that rank or guess: status and hits must be the same. Answers that
// only differ in near names are the same, too.
func sameHits(r request, x, y string) bool {
	if strings.Contains(x, "did_you_mean") && guessedNames.ReplaceAllString(x,
		"") == guessedNames.ReplaceAllString(y, "") {
		return true
	}
	if !slices.Contains(rankedOperations, strings.Trim(r.operation, "/")) {
		return false
	}
	all, others := hitNames(x), hitNames(y)
	// If there are more hits than are shown, the best may differ.
	most := maxHits[r.operation]
	cut := most > 0 && len(all) >= most && len(all) == len(others) // an answer may name the caller, too
	return x[:min(3, len(x))] == y[:min(3, len(y))] && (cut || slices.Equal(all, others))
}

func hitNames(answer string) []string {
	var all []string
	for _, m := range hitName.FindAllStringSubmatch(answer, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
