package campaign

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

const (
	// nearby is how many entities a misspelling finds at most.
	nearby = 20
	// candidates is how many names that share a piece of a word are looked at.
	candidates = 100
	// shortest is the length of the shortest word that is taken for a slip.
	shortest = 4
)

// misspelt finds entities in sight whose names resemble a query that matches nothing. A
// name of several words resembles it as a whole; of one word there are slips in longer
// names too. Either is looked for where the other finds nothing.
func misspelt(ctx context.Context, l *canon.Snapshot, q string, f canon.Filter) ([]canon.Card, error) {
	words := strings.Fields(markup.Fold(q))
	ways := []func() ([]canon.Card, error){
		func() ([]canon.Card, error) {
			near, err := l.NearCards(ctx, q, f, nearby)
			return cardsOf(near), err
		},
		func() ([]canon.Card, error) { return slipsOf(ctx, l, words, f) },
	}
	if len(words) == 1 {
		slices.Reverse(ways)
	}
	for _, look := range ways {
		if found, err := look(); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

// slipsOf finds names in which each of some words is a slip of one. It looks at those that
// hold either half of the longest: one slip leaves a half as it is.
func slipsOf(ctx context.Context, l *canon.Snapshot, words []string, f canon.Filter) ([]canon.Card, error) {
	letters := []rune(slices.MaxFunc(append(words, ""), func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	}))
	if len(letters) < shortest {
		return nil, nil
	}
	type slip struct {
		canon.Card
		distance int
	}
	var slips []slip
	for _, half := range []string{string(letters[:len(letters)/2]), string(letters[len(letters)/2:])} {
		q := canon.SearchQuery{Q: half, InName: true, Mode: canon.MatchSubstring, Filter: f, Listed: true}
		result, err := l.Search(ctx, q, canon.Page{Limit: candidates})
		if err != nil {
			return nil, err
		}
		for _, h := range result.Hits {
			seen := slices.ContainsFunc(slips, func(s slip) bool { return s.ID == h.Card.ID })
			if d, ok := farness(words, h.Names); ok && !seen {
				slips = append(slips, slip{h.Card, d})
			}
		}
	}
	slices.SortFunc(slips, func(a, b slip) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
	})
	cards := make([]canon.Card, min(nearby, len(slips)))
	for i := range cards {
		cards[i] = slips[i].Card
	}
	return cards, nil
}

// slips is how many letters a word is off another; two that changed places are one slip.
func slips(asked, is []rune) int {
	if len(asked) == len(is) {
		for i := range len(is) - 1 {
			if asked[i] == is[i+1] && asked[i+1] == is[i] && slices.Equal(asked[:i], is[:i]) && slices.Equal(asked[i+2:], is[i+2:]) {
				return 1
			}
		}
	}
	return markup.Distance(asked, is)
}

// farness is how many letters some words are off those of a card's names; ok is false
// where one of them resembles none.
func farness(words, cardNames []string) (sum int, ok bool) {
	names := strings.Fields(markup.Fold(strings.Join(cardNames, " ")))
	for _, w := range words {
		asked := []rune(w)
		best := len(asked)
		for _, n := range names {
			best = min(best, slips(asked, []rune(n)))
		}
		if best > len(asked)/shortest {
			return 0, false
		}
		sum += best
	}
	return sum, true
}
