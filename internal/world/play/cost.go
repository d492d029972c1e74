package play

import (
	"context"

	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// actCost is the cost of an act: base in milliseconds of world time, and the surcharges on it.
type actCost struct {
	base int64
	more []modifier
}

// modifier returns the surcharge for a condition, in percent.
type modifier func(condition) int64

// condition holds the properties of a player and its goal that make acts longer.
type condition struct {
	load    int64  // sum of the weight fields of the things it carries
	wounds  int64  // its wounds field
	terrain string // of the destination; "" if the exit has a travel time
}

// costs is the registry of all costs of acts. Without surcharges they are the contract's numbers; a
// verb that is not listed costs a minute.
var costs = map[command.Verb]actCost{
	command.Move:      {world.Minute, []modifier{loadPercent, woundPercent, terrainPercent}},
	command.Flee:      {world.Minute, []modifier{loadPercent, woundPercent, terrainPercent}},
	command.Look:      {base: 5_000},
	command.Inventory: {base: 5_000},
	command.Quests:    {base: 5_000},
	command.Price:     {base: 5_000},
	command.Ask:       {base: 5_000},
	command.Examine:   {base: 30_000},
	command.Attack:    {6_000, []modifier{woundPercent}}, // a round of a fight
	command.Throw:     {6_000, []modifier{woundPercent}},
	command.Defend:    {6_000, []modifier{woundPercent}},
	command.Rest:      {base: 8 * world.Hour},
	command.Attempt:   {attemptMinutes * world.Minute, []modifier{woundPercent}},
}

var otherCost = actCost{base: world.Minute}

// A load up to freeLoad adds nothing. Each unit beyond it adds perLoad percent and each wound
// perWound percent; either surcharge is at most maxPercent, which doubles the cost.
const (
	freeLoad   = 20
	perLoad    = 2
	perWound   = 10
	maxPercent = 100
)

func loadPercent(c condition) int64  { return min(max(c.load-freeLoad, 0)*perLoad, maxPercent) }
func woundPercent(c condition) int64 { return min(max(c.wounds, 0)*perWound, maxPercent) }

// terrainPercent returns the surcharge of the terrain. It applies only to exits without a travel
// time.
func terrainPercent(c condition) int64 {
	switch c.terrain {
	case "dense-forest":
		return 50
	case "hilltop", "narrow-corridor":
		return 25
	}
	return 0
}

// maxTravel bounds the travel time of an exit.
const maxTravel = 365 * world.Day

// costOf returns the cost of an act under a condition. A positive travel is the travel time of the
// exit, which replaces the base cost.
func costOf(v command.Verb, travel int64, c condition) int64 {
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

// readCondition reads the player's condition for an act that leads to a place. Cards and links more
// hidden than the player do not count, since its clock would reveal them.
func (s *turn) readCondition(ctx context.Context, to world.Card) (c condition, err error) {
	if len(costs[s.intent.Verb].more) == 0 {
		return c, nil
	}
	var who struct {
		Wounds float64 `json:"wounds"`
	}
	var place struct {
		Terrain string `json:"terrain"`
	}
	world.DecodeFields(s.player.Fields, &who)
	world.DecodeFields(to.Fields, &place)
	c.wounds, c.terrain = int64(min(max(who.Wounds, 0), maxPercent)), place.Terrain
	if s.intent.Verb != command.Move && s.intent.Verb != command.Flee {
		return c, nil
	}
	links, err := s.ReadLinks(ctx, canon.LinkQuery{From: s.player.ID, Kinds: []string{world.LinkHolds}}, world.MaxHere)
	if err != nil || len(links) == 0 {
		return c, err
	}
	quantity := map[canon.CardID]int64{}
	var ids []canon.CardID
	for _, l := range links {
		if s.isOpenToWitnesses(l.Label) {
			quantity[l.To] = world.QuantityOf(l)
			ids = append(ids, l.To)
		}
	}
	things, err := s.CardsByID(ctx, ids)
	for _, t := range things {
		var f struct {
			Weight float64 `json:"weight"`
		}
		if world.DecodeFields(t.Fields, &f); s.isOpenToWitnesses(t.Label) {
			c.load += int64(min(max(f.Weight, 0), 1e6) * float64(min(quantity[t.ID], 1e6)))
		}
	}
	return c, err
}
