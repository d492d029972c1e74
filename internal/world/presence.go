package world

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world/command"
)

// Presence holds the attributes of the link at of a player: its clock, and the direction of its
// last move.
type Presence struct {
	Clock   int64             `json:"clock"`
	Heading command.Direction `json:"heading,omitempty"`
}

// PresenceOf returns the attributes of a link at, and a clock of at least 0.
func PresenceOf(l canon.Link) Presence {
	var p Presence
	DecodeFields(l.Attrs, &p)
	p.Clock = max(p.Clock, 0)
	return p
}

// Attrs returns p as the attributes of a link at.
func (p Presence) Attrs() json.RawMessage {
	b, _ := json.Marshal(p) // a number and a word always encode
	return b
}

// playerRef names a player nearby.
type playerRef struct {
	ID   canon.CardID `json:"id"`
	Name string       `json:"name"`
}

// Bounds of the players that are listed for a place, and of the links that are read of one.
const (
	maxNearby = 20
	MaxHere   = 200
)

// CardsHere returns the cards at a place, in the order in which they came.
func (m *AsOf) CardsHere(ctx context.Context, place canon.CardID) ([]Card, error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{To: place, Kinds: []string{LinkAt}}, MaxHere)
	if err != nil {
		return nil, err
	}
	ids := slicesx.Map(links, func(l canon.Link) canon.CardID { return l.From })
	return m.CardsByID(ctx, ids)
}

// playersAmong returns the players among cards, by name, without the player but.
func playersAmong(here []Card, but canon.CardID) []playerRef {
	out := []playerRef{}
	for _, t := range here {
		if t.IsType(TypePlayer) && t.ID != but {
			out = append(out, playerRef{t.ID, markup.Clean(t.Name)})
		}
	}
	slices.SortStableFunc(out,
		func(a, b playerRef) int { return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:])) })
	return out[:min(len(out), maxNearby)]
}

// FindAtLink returns the link at of a player.
func (m *AsOf) FindAtLink(ctx context.Context, player canon.CardID) (canon.Link, bool, error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{From: player, Kinds: []string{LinkAt}}, 1)
	if err != nil || len(links) == 0 {
		return canon.Link{}, false, err
	}
	return links[0], true, nil
}

// Held is a thing that a holder has.
type Held struct {
	ID       canon.CardID `json:"id"`
	Name     string       `json:"name"`
	Type     string       `json:"type"`
	Quantity int64        `json:"quantity"`

	Link canon.Link `json:"-"`
	Card Card       `json:"-"`
}

// QuantityOf returns the quantity of a link holds, or 1 if it has no such attribute.
func QuantityOf(l canon.Link) int64 {
	a := struct {
		Quantity *int64 `json:"quantity"`
	}{}
	DecodeFields(l.Attrs, &a)
	if a.Quantity == nil {
		return 1
	}
	return max(*a.Quantity, 0)
}

// HeldItems returns the things that a holder has, by name.
func (m *AsOf) HeldItems(ctx context.Context, holder canon.CardID) ([]Held, error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{From: holder, Kinds: []string{LinkHolds}}, MaxHere)
	if err != nil {
		return nil, err
	}
	ids, byID := make([]canon.CardID, len(links)), map[canon.CardID]canon.Link{}
	for i, l := range links {
		ids[i], byID[l.To] = l.To, l
	}
	things, err := m.CardsByID(ctx, ids)
	out := []Held{}
	for _, t := range things {
		if n := QuantityOf(byID[t.ID]); n > 0 {
			out = append(out, Held{t.ID, markup.Clean(t.Name), t.Type, n, byID[t.ID], t})
		}
	}
	slices.SortStableFunc(out,
		func(a, b Held) int { return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:])) })
	return out, err
}

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
	ListTruncations map[string]int `json:"listTruncations,omitempty" jsonschema:"Lists that were cut, with their full length."`
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
