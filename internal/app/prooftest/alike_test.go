package prooftest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/raceenabled"
)

// TestBothStoresAnswerAlike tells one story on the embedded store and on PostgreSQL, and
// compares all answers on every surface, as two of the audiences of the other proofs. They must
// be equal to the byte; for ranked and fuzzy search only the hits must be the same.
func TestBothStoresAnswerAlike(t *testing.T) {
	if raceenabled.Detected && !isLong() {
		t.Skip("only without the race detector, as make test does too, or with PROOF_ROUNDS")
	}
	t.Parallel()
	for _, a := range audiences[:2] {
		t.Run(a.who, func(t *testing.T) {
			t.Parallel()
			tw := newTwinsOn(t, a, [2]string{stores[0], stores[1]}, [2]bool{true, true})
			tw.alike = sameHits
			differences := 0
			count := func(same bool) bool {
				if !same {
					differences++
				}
				return differences < maxDifferences
			}
			tw.compareGoodCalls(0, count)
			if differences < maxDifferences {
				tw.compareOtherCalls(0, count)
			}
			if tw.asked < 500 && !t.Failed() {
				t.Errorf("only %d calls were made", tw.asked)
			}
			t.Logf("%d calls", tw.asked)
		})
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
