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
	candidates = 200
	// shortest is the length of the shortest word that is taken for a slip.
	shortest = 4
)

// misspelt finds entities in sight whose names resemble a query that matches nothing:
// first as a whole, then those of which each word of the query is a slip of one word.
func misspelt(ctx context.Context, l *canon.Look, q string, f canon.Filter) ([]canon.Card, error) {
	near, err := l.NearCards(ctx, q, f, nearby)
	if err != nil {
		return nil, err
	}
	found := cardsOf(near)
	words := strings.Fields(markup.Fold(q))
	longest := slices.MaxFunc(append(words, ""), func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	})
	if utf8.RuneCountInString(longest) < shortest {
		return found, nil
	}
	slips, err := slipsOf(ctx, l, words, longest, f)
	for _, c := range slips {
		if len(found) < nearby && !slices.ContainsFunc(found, func(o canon.Card) bool { return o.ID == c.ID }) {
			found = append(found, c)
		}
	}
	return found, err
}

// slipsOf looks at names that hold either half of a word: one slip leaves a half as it is.
func slipsOf(ctx context.Context, l *canon.Look, words []string, word string, f canon.Filter) ([]canon.Card, error) {
	letters := []rune(word)
	type slip struct {
		canon.Card
		distance int
	}
	var slips []slip
	for _, half := range []string{string(letters[:len(letters)/2]), string(letters[len(letters)/2:])} {
		result, err := l.Search(ctx, canon.SearchQuery{Q: half, InName: true, Mode: canon.MatchSubstring, Filter: f}, canon.Page{Limit: candidates})
		if err != nil {
			return nil, err
		}
		for _, c := range cardsOf(result.Hits) {
			if d, ok := farness(words, c); ok {
				slips = append(slips, slip{c, d})
			}
		}
	}
	slices.SortFunc(slips, func(a, b slip) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
	})
	cards := make([]canon.Card, len(slips))
	for i, s := range slips {
		cards[i] = s.Card
	}
	return cards, nil
}

// farness is how many letters the words are off those of a card's name or aliases; ok is
// false where one of them resembles none.
func farness(words []string, c canon.Card) (sum int, ok bool) {
	names := strings.Fields(markup.Fold(strings.Join(append(c.Aliases(), c.Name), " ")))
	for _, w := range words {
		asked := []rune(w)
		best := len(asked)
		for _, n := range names {
			best = min(best, markup.Distance(asked, []rune(n)))
		}
		if best > len(asked)/shortest {
			return 0, false
		}
		sum += best
	}
	return sum, true
}
