package world

import (
	"context"

	"loregate/internal/canon"
)

// actCost is what an act costs, in milliseconds of world time.
type actCost struct {
	base int64
	more []modifier
}

// modifier is what a condition adds to a cost, in percent.
type modifier func(condition) int64

// condition is the state of a player that makes acts longer.
type condition struct {
	load    int64  // sum of the field weight of what it carries
	wounds  int64  // its field wounds
	terrain string // of where it goes; "" where the way says how long it takes
}

// costs is the one registry of what acts cost. Without conditions they are the contract's
// numbers; an act that is not here costs a minute.
var costs = map[Verb]actCost{
	VerbMove:      {minute, []modifier{loadPercent, woundPercent, terrainPercent}},
	VerbFlee:      {minute, []modifier{loadPercent, woundPercent, terrainPercent}},
	VerbLook:      {base: 5_000},
	VerbInventory: {base: 5_000},
	VerbExamine:   {base: 30_000},
	VerbAttack:    {6_000, []modifier{woundPercent}}, // a round of a fight
	VerbThrow:     {6_000, []modifier{woundPercent}},
	VerbDefend:    {6_000, []modifier{woundPercent}},
	VerbRest:      {base: 8 * hour},
}

var otherCost = actCost{base: minute}

// A load up to freeLoad is carried with ease; each unit beyond it, and each wound, adds a
// share, up to twice the cost.
const (
	freeLoad   = 20
	perLoad    = 2
	perWound   = 10
	maxPercent = 100
)

func loadPercent(c condition) int64  { return min(max(c.load-freeLoad, 0)*perLoad, maxPercent) }
func woundPercent(c condition) int64 { return min(max(c.wounds, 0)*perWound, maxPercent) }

// terrainPercent is for ways that do not say how long they take.
func terrainPercent(c condition) int64 {
	switch c.terrain {
	case "dense-forest":
		return 50
	case "hilltop", "narrow-corridor":
		return 25
	}
	return 0
}

// maxTravel bounds how long a way may take.
const maxTravel = 365 * day

// costOf is what an act costs under a condition. A positive travel is how long its way
// takes, in place of the base.
func costOf(v Verb, travel int64, c condition) int64 {
	k, ok := costs[v]
	if !ok {
		k = otherCost
	}
	base := k.base
	if travel > 0 {
		base, c.terrain = min(travel, maxTravel), ""
	}
	percent := int64(100)
	for _, more := range k.more {
		percent += more(c)
	}
	return base / 100 * percent
}

// readCondition reads the player's state for an act that goes to a place. Nothing that is more
// hidden than the player counts: its clock would tell of it.
func (s *turn) readCondition(ctx context.Context, to cardAt) (c condition, err error) {
	if len(costs[s.intent.Verb].more) == 0 {
		return c, nil
	}
	var who struct {
		Wounds float64 `json:"wounds"`
	}
	var place struct {
		Terrain string `json:"terrain"`
	}
	fieldsOf(s.player.Fields, &who)
	fieldsOf(to.Fields, &place)
	c.wounds, c.terrain = int64(min(max(who.Wounds, 0), maxPercent)), place.Terrain
	if s.intent.Verb != VerbMove && s.intent.Verb != VerbFlee {
		return c, nil
	}
	links, err := s.readLinks(ctx, canon.LinkQuery{From: s.player.ID, Kinds: []string{linkHolds}}, maxHere)
	if err != nil || len(links) == 0 {
		return c, err
	}
	quantity := map[canon.CardID]int64{}
	var ids []canon.CardID
	for _, l := range links {
		if s.isOpenToWitnesses(l.Label) {
			quantity[l.To] = quantityOf(l)
			ids = append(ids, l.To)
		}
	}
	things, err := s.cardsByID(ctx, ids)
	for _, t := range things {
		var f struct {
			Weight float64 `json:"weight"`
		}
		if fieldsOf(t.Fields, &f); s.isOpenToWitnesses(t.Label) {
			c.load += int64(min(max(f.Weight, 0), 1e6) * float64(min(quantity[t.ID], 1e6)))
		}
	}
	return c, err
}
