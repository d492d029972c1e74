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

// likeness is an entity that resembles one that is to be made.
type likeness struct {
	ID    canon.CardID `json:"id"`
	Name  string       `json:"name"`
	Type  string       `json:"type"`
	Score float64      `json:"score"`
}

const (
	// alike is how near a name must come to be taken for the same, of 1. Found by hand: it
	// takes one wrong letter in six, or a title before a name of two words.
	alike = 0.55
	// likenesses is how many resembling entities are shown.
	likenesses = 5
)

// similar are the entities in sight whose names or aliases resemble a name, best first.
func similar(ctx context.Context, l *canon.Snapshot, name string, own canon.CardID) ([]likeness, error) {
	list := []likeness{}
	add := func(c canon.Card, score float64) {
		if c.ID != own && kindOf(c) != "" && !slices.ContainsFunc(list, func(x likeness) bool { return x.ID == c.ID }) {
			list = append(list, likeness{c.ID, c.Name, kindOf(c), float64(int(score*100)) / 100})
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
	near, err := l.NearCards(ctx, name, canon.Filter{Types: every}, likenesses+1)
	if err != nil {
		return nil, err
	}
	for _, h := range near {
		if h.Score >= alike {
			add(h.Card, h.Score)
		}
	}
	slices.SortStableFunc(list, func(a, b likeness) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(len(list), likenesses)], nil
}

// resembles refuses a name that others resemble.
func resembles(list []likeness) error {
	if len(list) == 0 {
		return nil
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	e := fault.New(fault.Conflict, "there are similar entities already: %s; use one of them, or repeat the call with allow_similar: true", strings.Join(names, ", "))
	e.Fields = []fault.Field{{Field: "allow_similar", Error: "must be true where similar entities are meant to stay apart"}}
	return e.With("similar", list)
}
