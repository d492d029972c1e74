package campaign

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

const (
	// maxMisspelt is the highest number of entities found for a misspelling.
	maxMisspelt = 20
	// maxCandidates is the number of names with a common part of a word that are compared.
	maxCandidates = 100
	// minSlipLength is the length of the shortest word that can be a misspelling.
	minSlipLength = 4
)

// findMisspelt finds visible entities whose names resemble a query without results. A query of
// several words is first compared to names as a whole, and then word by word. For a single word,
// which may be a part of a longer name, it is the other way round.
func findMisspelt(ctx context.Context, l *canon.Snapshot, q string, f canon.Filter) ([]canon.Card, error) {
	words := strings.Fields(markup.Fold(q))
	ways := []func() ([]canon.Card, error){
		func() ([]canon.Card, error) {
			near, err := l.NearCards(ctx, q, f, maxMisspelt)
			return cardsOf(near), err
		},
		func() ([]canon.Card, error) { return findSlips(ctx, l, words, f) },
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

// findSlips finds names that contain a word similar to each of the given words. It compares the
// names that contain either half of the longest word, because a single misspelling leaves one half
// intact.
func findSlips(ctx context.Context, l *canon.Snapshot, words []string, f canon.Filter) ([]canon.Card, error) {
	letters := []rune(slices.MaxFunc(append(words, ""), func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	}))
	if len(letters) < minSlipLength {
		return nil, nil
	}
	type slip struct {
		canon.Card
		distance int
	}
	var slips []slip
	for _, half := range []string{string(letters[:len(letters)/2]), string(letters[len(letters)/2:])} {
		q := canon.SearchQuery{Q: half, InName: true, Mode: canon.MatchSubstring, Filter: f, Listed: true}
		result, err := l.Search(ctx, q, canon.Page{Limit: maxCandidates})
		if err != nil {
			return nil, err
		}
		for _, h := range result.Hits {
			seen := slices.ContainsFunc(slips, func(s slip) bool { return s.ID == h.Card.ID })
			if d, ok := nameDistance(words, h.Names); ok && !seen {
				slips = append(slips, slip{h.Card, d})
			}
		}
	}
	slices.SortFunc(slips, func(a, b slip) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
	})
	cards := make([]canon.Card, min(maxMisspelt, len(slips)))
	for i := range cards {
		cards[i] = slips[i].Card
	}
	return cards, nil
}

// countSlips returns the number of letters in which a word differs from another. Two exchanged
// letters count once.
func countSlips(asked, is []rune) int {
	if len(asked) == len(is) {
		for i := range len(is) - 1 {
			if asked[i] == is[i+1] && asked[i+1] == is[i] && slices.Equal(asked[:i], is[:i]) &&
				slices.Equal(asked[i+2:], is[i+2:]) {
				return 1
			}
		}
	}
	return markup.Distance(asked, is)
}

// nameDistance returns the sum of the words' distances from the nearest words of a card's names; ok
// is false if a word resembles none of them.
func nameDistance(words, cardNames []string) (sum int, ok bool) {
	names := strings.Fields(markup.Fold(strings.Join(cardNames, " ")))
	for _, w := range words {
		asked := []rune(w)
		best := len(asked)
		for _, n := range names {
			best = min(best, countSlips(asked, []rune(n)))
		}
		if best > len(asked)/minSlipLength {
			return 0, false
		}
		sum += best
	}
	return sum, true
}

// similarEntity is an existing entity that resembles a new one.
type similarEntity struct {
	ID    canon.CardID `json:"id"`
	Name  string       `json:"name"`
	Type  string       `json:"type"`
	Score float64      `json:"score"`
}

const (
	// minSimilarity is the similarity, at most 1, from which two names are taken for the same. It
	// was found by hand: it tolerates one wrong letter in six, or a title before a name of two
	// words.
	minSimilarity = 0.55
	// maxSimilar is the number of similar entities that are shown.
	maxSimilar = 5
)

// findSimilar returns the visible entities whose names or aliases resemble a name, best first.
func findSimilar(ctx context.Context, l *canon.Snapshot, name string, own canon.CardID) ([]similarEntity, error) {
	list := []similarEntity{}
	add := func(c canon.Card, score float64) {
		if c.ID != own && kindOf(c) != "" && !slices.ContainsFunc(list, func(x similarEntity) bool { return x.ID == c.ID }) {
			list = append(list, similarEntity{c.ID, c.Name, kindOf(c), float64(int(score*100)) / 100})
		}
	}
	same, err := l.Homonyms(ctx, markup.KeyOf(name))
	if err != nil {
		return nil, err
	}
	aliased, err := l.ByAlias(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, c := range append(same, aliased...) {
		add(c, 1)
	}
	near, err := l.NearCards(ctx, name, canon.Filter{Types: entityTypes}, maxSimilar+1)
	if err != nil {
		return nil, err
	}
	for _, h := range near {
		if h.Score >= minSimilarity {
			add(h.Card, h.Score)
		}
	}
	slices.SortStableFunc(list, func(a, b similarEntity) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(len(list), maxSimilar)], nil
}

// checkSimilar refuses a name if there are similar ones.
func checkSimilar(list []similarEntity) error {
	if len(list) == 0 {
		return nil
	}
	names := slicesx.Map(list, func(s similarEntity) string { return s.Name })
	e := fault.New(fault.Conflict,
		"there are already similar entities: %s; use one of them, or repeat the call with allow_similar: true",
		strings.Join(names, ", "))
	e.Fields = []fault.Field{{Field: "allow_similar",
		Error: "must be true to create an entity besides similar ones"}}
	return e.With("similar", list)
}
