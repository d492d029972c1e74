package campaign

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

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
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	e := fault.New(fault.Conflict,
		"there are already similar entities: %s; use one of them, or repeat the call with allow_similar: true",
		strings.Join(names, ", "))
	e.Fields = []fault.Field{{Field: "allow_similar",
		Error: "must be true to create an entity besides similar ones"}}
	return e.With("similar", list)
}
