package world

import (
	"cmp"
	"context"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// maxListed bounds how many characters, and how many things, a context lists for a place.
const maxListed = 50

// inhabitant is a character or creature at a place.
type inhabitant struct {
	ID   canon.CardID `json:"id"`
	Name string       `json:"name"`
	Type string       `json:"type"`
}

// company lists the characters and things at a place that the reader sees.
type company struct {
	NPCs            []inhabitant   `json:"npcs" jsonschema:"Characters and creatures here that are not players."`
	Items           []Held         `json:"items" jsonschema:"Things that stand or lie here."`
	ListTruncations map[string]int `json:"listTruncations,omitempty" jsonschema:"Lists that were cut, with how many there are."`
}

// companyOf returns the company of a place: here are the cards at the place, and the things that
// the place holds are added.
func (m *AsOf) companyOf(ctx context.Context, here []Card, place canon.CardID) (c company, err error) {
	c.NPCs = []inhabitant{}
	if c.Items, err = m.HeldItems(ctx, place); err != nil {
		return c, err
	}
	for _, t := range here {
		switch {
		case t.IsType(TypePlayer):
		case IsAlive(t):
			c.NPCs = append(c.NPCs, inhabitant{t.ID, markup.Clean(t.Name), t.Type})
		case !slices.ContainsFunc(c.Items, func(i Held) bool { return i.ID == t.ID }):
			c.Items = append(c.Items, Held{ID: t.ID, Name: markup.Clean(t.Name), Type: t.Type, Quantity: 1})
		}
	}
	slices.SortStableFunc(c.NPCs, func(a, b inhabitant) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:]))
	})
	slices.SortStableFunc(c.Items,
		func(a, b Held) int { return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:])) })
	cutList(&c.ListTruncations, "npcs", &c.NPCs)
	cutList(&c.ListTruncations, "items", &c.Items)
	return c, nil
}
