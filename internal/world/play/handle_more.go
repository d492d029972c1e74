package play

import (
	"errors"
	"slices"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planThrowAt throws a thing that is within reach at a thing, or into it. Blows at somebody are the rules' affair.
func planThrowAt(h *handled) error {
	if h.object == "" {
		return errOther
	}
	if h.other == "" || slices.Contains([]string{"down", "away"}, h.by) {
		return errOther
	}
	if isBodyPart(h.other) {
		return planPut(h) // sling it over my shoulder
	}
	to, err := h.findThing(h.other)
	if err != nil {
		return err
	}
	if to.hasCard() && world.IsAlive(to.card) {
		return errOther
	}
	if h.by == "into" || h.by == "in" || h.by == "onto" || h.by == "on" || h.by == "under" || h.by == "behind" {
		if len(to.nouns) == 0 || !to.isKind(liquid...) {
			h.name = "put"
			return h.putInto(putWords[h.by])
		}
	}
	c, own, err := h.reach(h.object)
	if err != nil {
		return err
	}
	if own {
		n, _ := command.SplitCount(h.object)
		if err := h.transferItem(c, n, h.place.ID); err != nil {
			return err
		}
		h.action.Objects = nil
	}
	effect := ""
	if len(to.nouns) > 0 && to.isKind(liquid...) {
		effect = "water"
	}
	return h.done(effect, asSubject(c, h.object), to)
}

// planWake tries to wake somebody, who may not be asleep at all.
func planWake(h *handled) error {
	t, err := h.findThing(cmpName(h.object, h.other))
	switch {
	case err != nil:
		return err
	case !t.hasCard() || !world.IsAlive(t.card):
		return h.done("thing", t)
	case t.card.IsType(world.TypePlayer) || world.IsDead(t.card):
		return errOther
	case t.card.IsType("Creature"):
		return h.done("", t)
	}
	return h.done("person", t)
}

// planHit strikes a thing. It breaks nothing: that is another verb.
func planHit(h *handled) error {
	name := cmpName(h.object, h.other)
	t, err := h.findThing(name)
	if err != nil {
		return err
	}
	if t.hasCard() && (world.IsAlive(t.card) || t.card.ID == h.player.ID) {
		return errOther
	}
	if len(t.nouns) > 0 && t.isKind(append([]string{"puddle"}, liquid...)...) {
		return h.done("water", t)
	}
	return h.doneWithTool("", t)
}

// planTakeDown takes a thing off a wall or a peg.
func planTakeDown(h *handled) error {
	h.intent.Verb, h.intent.DirectObject, h.intent.Targets = command.Take, h.object, nil
	if h.other != "" {
		h.intent.Targets = []string{h.other}
	}
	h.action.Verb = command.Take
	return h.planTake()
}

// peeks are the prepositions of looks that ask for the things that lie at another one.
var peeks = map[string]string{"under": "under", "beneath": "under", "underneath": "under", "behind": "behind",
	"in":   "in",
	"into": "in", "inside": "in", "on": "on", "beside": "beside"}

// planPeek looks under, behind or into a thing. Looks at things are the grammar's.
func planPeek(h *handled) error {
	how, ok := peeks[h.by]
	if !ok || h.object != "" || h.other == "" || how == "on" || command.MeansHere(h.other) {
		return errOther
	}
	t, err := h.findThing(h.other)
	if err != nil {
		return err
	}
	if t.hasCard() && (world.IsAlive(t.card) || t.card.ID == h.place.ID || t.card.ID == h.player.ID) {
		return errOther
	}
	if how == "in" && t.hasCard() { // its text may tell of things in it
		if at, _, err := h.FindAtLink(h.ctx, t.card.ID); err != nil || !at.To.IsZero() {
			return cmpErr(err, errOther)
		}
	}
	h.action.Handling = &world.Handling{Words: how}
	return h.done("", t)
}

// uses are the verbs that "use" stands for, by the kind of the thing.
var uses = []struct {
	kinds []string
	as    string
}{{lightBy, "light"}, {edible, "eat"}, {[]string{"beverage", "liquid"}, "drink"}, {[]string{"musical instrument"},
	"play"},
	{[]string{"bell", "gong"}, "ring"}, {[]string{"clothing", "garment", "headdress", "footwear", "glove", "jewelry"},
		"wear"},
	{[]string{"seat", "bed", "furniture"}, "sit"}, {[]string{"ladder", "stairs"}, "climb"}}

// errAs is the error of a handling that is another one, h.as.
var errAs = errors.New("world: the act is another one")

// planUseAs uses a thing as things of its kind are used, unless its card or the command tells more.
func planUseAs(h *handled) error {
	if h.object == "" || h.other != "" || h.tool != "" {
		return errOther
	}
	t, err := h.findThing(h.object)
	if err != nil || len(t.nouns) == 0 || t.hasCard() && (world.IsAlive(t.card) || t.card.ID == h.place.ID) {
		return cmpErr(err, errOther)
	}
	if t.hasCard() {
		var f usable
		if world.DecodeFields(t.card.Fields, &f); f.Use != "" || f.Consumable {
			return errOther
		}
	}
	for _, u := range uses {
		if t.isKind(u.kinds...) {
			h.as = u.as
			return errAs
		}
	}
	if t.hasCard() && isPortable(t.card) {
		h.name = "turn"
		return h.done("light", t)
	}
	return errOther
}
