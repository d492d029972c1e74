package prooftest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/raceenabled"
)

// TestBothStoresAnswerAlike tells one story on the embedded store and on PostgreSQL and
// asks both for all that is served on every surface: to the byte, ranked and fuzzy search
// apart, of which the hits are the same. Two of the audiences of the other proofs ask.
func TestBothStoresAnswerAlike(t *testing.T) {
	if raceenabled.Detected && !long() {
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
			tw.everything(0, count)
			if differences < maxDifferences {
				tw.allBesides(0, count)
			}
			if tw.asked < 500 && !t.Failed() {
				t.Errorf("only %d calls were made", tw.asked)
			}
			t.Logf("%d calls", tw.asked)
		})
	}
}

// ranked are the operations whose answers are in an order of scores, or guess at names.
var ranked = []string{"search", "search_cards", "search-lore", "semantic-search-lore", "search_entities", "list_entities", "completion/complete"}

// cutAt are how many hits the operations show at most that show but the best.
var cutAt = map[string]int{"search": 20}

// named is what tells one hit of an answer from another.
var named = regexp.MustCompile(`\\*"(?:id|name|key|factId|entity_id)\\*":\\*"([^"\\]*)`)

// guessed is what an answer says of names that are near: which are looked at is a matter of
// each store's index. How long the answer is follows from them.
var guessed = regexp.MustCompile(`(?i)\\*"did_you_mean\\*":\[[^\]]*\]|content-length: \d+`)

// sameHits holds an answer that ranks or guesses against another: the same status, the same
// hits, and the same but for names that are near.
func sameHits(r request, x, y string) bool {
	if strings.Contains(x, "did_you_mean") && guessed.ReplaceAllString(x, "") == guessed.ReplaceAllString(y, "") {
		return true
	}
	if !slices.Contains(ranked, strings.Trim(r.operation, "/")) {
		return false
	}
	all, others := hits(x), hits(y)
	// Of more than are shown the best may be others.
	most := cutAt[r.operation]
	cut := most > 0 && len(all) >= most && len(all) == len(others) // an answer may name who answers, too
	return x[:min(3, len(x))] == y[:min(3, len(y))] && (cut || slices.Equal(all, others))
}

func hits(answer string) []string {
	var all []string
	for _, m := range named.FindAllStringSubmatch(answer, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
