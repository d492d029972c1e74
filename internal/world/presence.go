package world

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// presence holds the attributes of the link at of a player: its clock, and the direction of its
// last move.
type presence struct {
	Clock   int64     `json:"clock"`
	Heading Direction `json:"heading,omitempty"`
}

func presenceOf(l canon.Link) presence {
	var p presence
	fieldsOf(l.Attrs, &p)
	p.Clock = max(p.Clock, 0)
	return p
}

func (p presence) toAttrs() json.RawMessage {
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
	maxHere   = 200
)

// cardsHere returns the cards at a place, in the order in which they came.
func (m *asOf) cardsHere(ctx context.Context, place canon.CardID) ([]cardAt, error) {
	links, err := m.readLinks(ctx, canon.LinkQuery{To: place, Kinds: []string{linkAt}}, maxHere)
	if err != nil {
		return nil, err
	}
	ids := make([]canon.CardID, len(links))
	for i, l := range links {
		ids[i] = l.From
	}
	return m.cardsByID(ctx, ids)
}

// playersAmong returns the players among cards, by name, without the player but.
func playersAmong(here []cardAt, but canon.CardID) []playerRef {
	out := []playerRef{}
	for _, t := range here {
		if t.isType(typePlayer) && t.ID != but {
			out = append(out, playerRef{t.ID, markup.Clean(t.Name)})
		}
	}
	slices.SortStableFunc(out,
		func(a, b playerRef) int { return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:])) })
	return out[:min(len(out), maxNearby)]
}

// findAtLink returns the link at of a player.
func (m *asOf) findAtLink(ctx context.Context, player canon.CardID) (canon.Link, bool, error) {
	links, err := m.readLinks(ctx, canon.LinkQuery{From: player, Kinds: []string{linkAt}}, 1)
	if err != nil || len(links) == 0 {
		return canon.Link{}, false, err
	}
	return links[0], true, nil
}

// carried is a thing that a holder has.
type carried struct {
	ID       canon.CardID `json:"id"`
	Name     string       `json:"name"`
	Type     string       `json:"type"`
	Quantity int64        `json:"quantity"`

	link canon.Link
	card cardAt
}

// quantityOf returns the quantity of a link holds, or 1 if it has no such attribute.
func quantityOf(l canon.Link) int64 {
	a := struct {
		Quantity *int64 `json:"quantity"`
	}{}
	fieldsOf(l.Attrs, &a)
	if a.Quantity == nil {
		return 1
	}
	return max(*a.Quantity, 0)
}

func quantityAttrs(n int64) json.RawMessage {
	b, _ := json.Marshal(map[string]int64{"quantity": n}) // a number always encodes
	return b
}

// heldItems returns the things that a holder has, by name.
func (m *asOf) heldItems(ctx context.Context, holder canon.CardID) ([]carried, error) {
	links, err := m.readLinks(ctx, canon.LinkQuery{From: holder, Kinds: []string{linkHolds}}, maxHere)
	if err != nil {
		return nil, err
	}
	ids, byID := make([]canon.CardID, len(links)), map[canon.CardID]canon.Link{}
	for i, l := range links {
		ids[i], byID[l.To] = l.To, l
	}
	things, err := m.cardsByID(ctx, ids)
	out := []carried{}
	for _, t := range things {
		if n := quantityOf(byID[t.ID]); n > 0 {
			out = append(out, carried{t.ID, markup.Clean(t.Name), t.Type, n, byID[t.ID], t})
		}
	}
	slices.SortStableFunc(out,
		func(a, b carried) int { return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:])) })
	return out, err
}
