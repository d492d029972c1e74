package play

import (
	"slices"
	"strings"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Acts of the player's own body: wearing, eating, sensing, sitting, waiting.

// planWear puts a thing on that is within reach.
func planWear(h *handled) error {
	c, own, err := h.reach(h.object)
	if err != nil {
		return err
	}
	t := asSubject(c, h.object)
	isPulled := h.manner.Verb == "pull on" && !t.isKind("clothing", "garment", "footwear", "headdress", "glove")
	if h.name == "wear" && len(t.nouns) > 0 && (isPulled || !t.isKind(wearable...)) {
		if h.manner.Verb == "pull on" {
			h.as = "pull"
			return errAs
		}
		return cannot("unfit", "%s %s nothing to wear.", capitalize(t.name), world.IsAre(t.name))
	}
	worn := "worn by " + h.player.Title()
	if already, err := h.hasState(t, worn); err != nil || already {
		return orCannot(err, "already", "You are wearing %s already.", t.name)
	}
	if !own {
		if err := h.transferItem(c, 1, h.player.ID); err != nil {
			return err
		}
		h.action.Objects = nil
	}
	if err := h.leave(t, worn); err != nil {
		return err
	}
	h.name = "wear"
	return h.done("", t)
}

// planDoff takes a thing off that the player wears.
func planDoff(h *handled) error {
	own, err := h.carriedCards()
	if err != nil {
		return err
	}
	found := findMatches(h.object, own)
	if len(found) != 1 {
		if h.manner.Verb == "remove" {
			return errOther
		}
		if h.manner.Verb == "pull off" {
			h.as = "pull"
			return errAs
		}
		return cannot("unfit", "You are not wearing %s.", "any "+h.object)
	}
	t := subject{card: found[0], name: definite(found[0])}
	h.narrowLabel(found[0])
	if worn, err := h.hasState(t, "worn by "+h.player.Title()); err != nil || !worn {
		return orCannot(err, "unfit", "You are not wearing %s.", t.name)
	}
	if err := h.keepTrace(t.card, "wearer", ""); err != nil {
		return err
	}
	return h.done("", t)
}

// planEat eats one of a thing that is within reach, or a bite of a noun of the place.
func planEat(h *handled) error {
	name := h.object
	if name == "" {
		name = h.other
	}
	return h.consume(name, change{kinds: edible, unfit: "{O} {is} nothing to eat."})
}

// planDrink drinks a liquid, or from a vessel that has been filled.
func planDrink(h *handled) error {
	name := h.object
	vessel := ""
	if h.other != "" && slices.Contains([]string{"from", "out of", "of", "in"}, h.by) {
		if vessel = h.other; name == "" {
			name = vessel
		}
	}
	if vessel != "" || name == "water" || name == "it" {
		t, err := h.findFull(name, nil)
		if err == nil && !t.hasCard() {
			t, err = h.findThing(cmpName(vessel, name))
		}
		if err != nil {
			return err
		}
		if err := (change{kinds: append(liquid, vessels...), unfit: "There is nothing in {o} to drink."}).refuses(h,
			t); err != nil {
			return err
		}
		state, err := h.stateAbout(t, "filling")
		if err != nil {
			return err
		}
		if strings.HasSuffix(state, " empty.") {
			return cannot("unfit", "%s %s empty.", capitalize(t.name), world.IsAre(t.name))
		}
		return h.done("of", t)
	}
	return h.consume(name, change{kinds: append(slices.Clone(liquid), append([]string{"food", "container"},
		vessels...)...), unfit: "{O} {is} nothing to drink."})
}

func cmpName(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// consume takes one of a thing away if it is eaten up, and leaves a bite in one that stays.
func (h *handled) consume(name string, c change) error {
	t, err := h.findThing(name)
	if err != nil {
		return err
	}
	if err := c.refuses(h, t); err != nil {
		return err
	}
	held, _, err := h.reach(name)
	if err != nil {
		if _, ok := err.(*impossible); !ok {
			return err
		}
		if err := h.leave(t, "eaten"); err != nil || t.hasCard() {
			return cmpErr(err, h.done("some", t))
		}
		return h.done("some", t)
	}
	t = asSubject(held, name)
	if err := h.consumeOne(held); err != nil {
		return err
	}
	return h.done("", t)
}

// planSense smells, tastes, touches or listens to a thing or to the place. The narration quotes its text about that.
func planSense(h *handled) error {
	name := h.object
	if name == "" {
		name = h.other
	}
	if name == "" || command.MeansHere(name) || isEverywhere(name) {
		return h.done("place", subject{name: h.place.Title()})
	}
	t, err := h.findThing(name)
	if err != nil {
		return err
	}
	if t.hasCard() && world.IsAlive(t.card) && (h.name == "taste" ||
		h.name == "touch" && !t.card.IsType("Creature")) {
		return errOther
	}
	if isAlone := !t.hasCard() && len(t.nouns) > 0 && isMainly(t.nouns[0], "animal"); slices.Contains(
		strokes,
		h.manner.Verb,
	) &&
		(isAlone || t.hasCard() && world.IsAlive(t.card)) {
		h.action.Handling = &world.Handling{Words: h.manner.Verb}
		return h.done("alive", t)
	}
	if !t.of.IsZero() {
		of, ok, err := h.CardByID(h.ctx, t.of)
		if err != nil {
			return err
		}
		if ok {
			h.aimAt(of)
		}
	}
	return h.done("", t)
}

// strokes are the verbs of touching an animal.
var strokes = strings.Fields("pet caress cuddle stroke pat")

// planWarm warms the hands or feet at a fire.
func planWarm(h *handled) error {
	switch {
	case h.object != "" && toolOf(h.object) != "" && !isSelf(h.object):
		return errOther
	case h.other == "":
		return h.done("self", subject{})
	}
	t, err := h.findThing(h.other)
	if err != nil {
		return err
	}
	return h.done("", t)
}

// planPerch sits, lies, climbs or hides at a thing.
func planPerch(h *handled) error {
	name, by := h.other, h.by
	if name == "" {
		name, by = h.object, "on"
	}
	act := h.name
	if act == "climb" && slices.Contains([]string{"to", "up to", "toward", "towards"}, by) {
		return planWalk(h)
	}
	if h.manner.Verb == "hide" || h.manner.Verb == "conceal" || h.manner.Verb == "crouch" && by != "" {
		act = "hide"
	}
	if name == "" || isSelf(name) {
		if act == "climb" || act == "hide" || h.manner.Verb == "lie" || h.manner.Verb == "lie down" {
			return errOther
		}
		h.name = "sit"
		h.action.Handling = &world.Handling{Words: h.manner.Verb}
		return h.done("here", subject{})
	}
	t, err := h.findThing(name)
	if err != nil {
		return err
	}
	if t.hasCard() && (t.card.ID == h.place.ID || t.card.ID == h.player.ID) {
		return errOther
	}
	if t.hasCard() && world.IsAlive(t.card) && act != "hide" {
		if by == "beside" || by == "by" || by == "with" || by == "near" {
			h.name = "sit"
			h.action.Handling = &world.Handling{Words: h.manner.Verb + " down beside"}
			return h.done("", t)
		}
		return cannot("alive", "%s would not have it.", capitalize(t.name))
	}
	h.name = act
	verb := h.manner.Verb
	if act == "hide" && verb != "crouch" {
		verb = "hide"
	}
	if h.other == "" && act == "climb" {
		by = ""
	} else if by == "" {
		by = "on"
	}
	h.action.Handling = &world.Handling{Words: strings.TrimSpace(verb + " " + by)}
	switch act {
	case "hide":
		if ok, err := h.settleHandling("stealth", "easy"); err != nil || !ok {
			return h.failed(err, t)
		}
	case "climb":
		if h.manner.Verb == "step" || h.manner.Verb == "get" || h.manner.Verb == "board" ||
			slices.Contains([]string{"into", "in", "onto", "on"}, by) ||
			len(t.nouns) > 0 && t.isKind("seat", "bed", "furniture", "step") {
			break
		}
		if ok, err := h.settleHandling("athletics", "easy"); err != nil || !ok {
			return h.failed(err, t)
		}
	}
	return h.done("", t)
}

// planFollow keeps close to somebody who is there.
func planFollow(h *handled) error {
	name := cmpName(h.object, h.other)
	t, err := h.findThing(cmpName(sourceOf(name), name))
	if err != nil {
		return err
	}
	if t.hasCard() && world.IsAlive(t.card) && t.card.ID != h.player.ID && sourceOf(name) == "" {
		return h.done("", t)
	}
	if sourceOf(name) != "" {
		return h.done("sensed", t)
	}
	return h.done("thing", t)
}

// waited is the time that somebody waits who does not tell for how long.
const waited = 15 * world.Minute

// planWait waits for a while, until a time of the day, or for somebody.
func planWait(h *handled) error {
	span, who := waited, ""
	for _, p := range append([]command.Part{{By: "for", Name: h.object}}, h.manner.Parts...) {
		words := command.BareWords(p.Name)
		if len(words) == 0 {
			continue
		}
		switch until, isHour := untilWords[words[len(words)-1]]; {
		case isHour:
			span = (until*world.Hour - h.presence.Clock%world.Day + world.Day) % world.Day
		case periodOf(words) > 0:
			span = periodOf(words)
		case p.By == "for" || p.By == "until" || p.By == "on":
			who = p.Name
		}
	}
	h.rests = span
	if who == "" || command.MeansHere(who) || isSelf(who) {
		return h.done("", subject{})
	}
	_, name := command.SplitCount(who)
	t, err := h.findThing(name)
	if err != nil {
		if _, ok := err.(*impossible); !ok {
			return err
		}
		return h.done("vain", subject{name: world.DefiniteName(strings.TrimSpace(who))})
	}
	if t.hasCard() && world.IsAlive(t.card) {
		h.rests = world.Minute
		return h.done("here", t)
	}
	return h.done("thing", t)
}

// untilWords are times of the day, in hours.
var untilWords = map[string]int64{"dawn": 5, "sunrise": 5, "daybreak": 5, "morning": 8, "noon": 12, "midday": 12,
	"afternoon": 13,
	"dusk":      17, "sunset": 17, "evening": 18, "nightfall": 20, "night": 20, "dark": 20, "midnight": 0, "light": 6,
	"tomorrow": 8, "day": 8}

// periodOf returns the span of time that words tell: two hours, a while.
func periodOf(words []string) int64 {
	unit := strings.TrimSuffix(words[len(words)-1], "s")
	span, ok := map[string]int64{"minute": world.Minute, "moment": world.Minute, "hour": world.Hour, "while": waited,
		"bit":    waited,
		"second": world.Minute, "day": world.Day}[unit]
	if !ok {
		return 0
	}
	n, _ := command.SplitCount(strings.Join(words, " "))
	if slices.Contains(words, "half") {
		return span / 2
	}
	return span * max(n, 1)
}

// planDig digs at a thing or in the ground.
func planDig(h *handled) error {
	name := cmpName(h.object, h.other)
	if slices.Contains([]string{"hole", "pit", "trench", "for treasure", "treasure", ""}, name) {
		name = cmpName(h.other, "ground")
		if name == "treasure" {
			name = "ground"
		}
	}
	t, err := h.findThing(name)
	if err != nil {
		return err
	}
	if t.hasCard() && (world.IsAlive(t.card) || isPortable(t.card)) {
		return errOther
	}
	if ok, err := h.settleHandling("survival", "medium"); err != nil || !ok {
		return h.failed(err, t)
	}
	return h.doneWithTool("", t)
}

// planSwim swims where there is water.
func planSwim(h *handled) error {
	if name := cmpName(h.other, h.object); name != "" {
		t, err := h.findThing(name)
		if err == nil && len(t.nouns) > 0 && !t.isKind("body of water", "water", "liquid", "well", "geological formation",
			"sea") {
			return cannot("unfit", "There is no swimming in %s.", t.name)
		}
	}
	if ok, err := h.hasLiquid("water"); err != nil || !ok {
		return orCannot(err, reasonUnknown, "There is no water here to swim in.")
	}
	if ok, err := h.settleHandling("athletics", "easy"); err != nil || !ok {
		return h.failed(err, subject{name: "the water"})
	}
	return h.done("", subject{name: "the water"})
}

// planShow shows a thing that is within reach to somebody, who may have something to say about it.
func planShow(h *handled) error {
	to, name := h.other, h.object
	if i := h.intent; h.by == "" && i.Verb == command.Give && len(i.Targets) == 1 {
		h.by, to, name = "to", i.Targets[0], i.DirectObject // show her the hat
	}
	if h.by != "to" {
		return errOther
	}
	c, _, err := h.reach(name)
	if err != nil {
		return err
	}
	who, err := h.findPersonHere(to)
	if err != nil {
		return err
	}
	t := asSubject(c, name)
	if line, ofWords := world.AnswerOf(who, c.Card.Title(), 0); ofWords {
		h.action.Handling = &world.Handling{Words: world.Quote(who.Title(), line)}
		return h.done("answer", t, subject{card: who, name: definite(who)})
	}
	return h.done("", t, subject{card: who, name: definite(who)})
}
