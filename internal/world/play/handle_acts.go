package play

import (
	"errors"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planOpen opens a thing, or a way out of the place that the command names as a door.
func planOpen(h *handled) error {
	if done, err := h.tryUnlock(); done || err != nil {
		return err
	}
	c := change{state: "open", kinds: openable, unfit: "There is nothing about {o} that opens."}
	t, err := h.findThing(h.object)
	if err == nil {
		if locked, err := h.hasState(t, "locked"); err != nil || locked {
			return orCannot(err, "locked", "%s %s locked.", capitalize(t.name), world.IsAre(t.name))
		}
		if err := h.checkNotFast(t); err != nil {
			return err
		}
		return c.plan(h)
	}
	if _, made := errors.AsType[needsCard](err); made || !namesDoor(h.object) {
		return err
	}
	exits, bad := h.Exits(h.ctx, h.place)
	if bad != nil {
		return bad
	}
	for _, way := range exits {
		if way.Availability == world.ExitHard && h.meansDoor(h.object, way) {
			h.action.Direction = way.Direction
			return h.done("way", subject{name: "the " + strings.ToLower(h.object)})
		}
	}
	return err
}

// shutFast matches words that tell why a thing does not open.
var shutFast = lazyregexp.New(`(?i)\b(painted|nailed|rusted|bricked|boarded|walled|screwed|jammed|stuck|frozen|welded) (shut|up|fast|over)\b`)

// checkNotFast refuses to open a thing whose text says that it is shut for good.
func (h *handled) checkNotFast(t subject) error {
	if !t.hasCard() {
		return nil
	}
	text, err := h.ReadText(h.ctx, t.card)
	why := shutFast.FindString(markup.OneLine(text))
	if why == "" || err != nil {
		return err
	}
	return cannot("unfit", "%s %s %s.", capitalize(t.name), world.IsAre(t.name), strings.ToLower(why))
}

func orCannot(err error, reason, format string, args ...any) error {
	if err != nil {
		return err
	}
	return cannot(reason, format, args...)
}

// planLock locks or unlocks a thing with a key that the player has. Ways are unlocked by their own keys.
func planLock(state string) func(*handled) error {
	return func(h *handled) error {
		if done, err := h.tryUnlock(); done || err != nil {
			return err
		}
		t, err := h.findThing(h.object)
		if err != nil {
			return err
		}
		c := change{state: state, kinds: openable, unfit: "There is no lock on {o}."}
		locked, err := h.hasState(t, "locked")
		switch refused := c.refuses(h, t); {
		case err != nil:
			return err
		case state == "shut" && !locked:
			return cannot("already", "%s %s not locked.", capitalize(t.name), world.IsAre(t.name))
		case refused != nil && state != "shut":
			return refused
		case h.tool == "":
			own, err := h.carriedCards()
			if err != nil {
				return err
			}
			at := slices.IndexFunc(own, func(c world.Card) bool { return slices.Contains(nounsOf("", c), "key") })
			if at < 0 {
				return cannot("no_means", "You have no key for %s.", t.name)
			}
			h.tool = own[at].Title()
		}
		if err := h.leave(t, state); err != nil {
			return err
		}
		return h.doneWithTool("", t)
	}
}

// planCut cuts a thing with an edge that the player has.
func planCut(h *handled) error {
	t, err := h.findThing(h.object)
	if err != nil {
		return err
	}
	c := change{state: "cut", not: rigid, unfit: "No edge that you have goes through {o}."}
	if err := c.refuses(h, t); err != nil {
		return err
	}
	if h.tool == "" {
		own, err := h.carriedCards()
		if err != nil {
			return err
		}
		for _, card := range own {
			if it := (subject{card: card, nouns: nounsOf("", card)}); len(it.nouns) > 0 && it.isKind(edged...) {
				h.tool = card.Title()
			}
		}
		if h.tool == "" {
			return cannot("no_means", "You have nothing with an edge to cut %s with.", t.name)
		}
	}
	tool, err := h.findTool(h.tool)
	if err != nil {
		return err
	}
	if !tool.isKind(edged...) {
		return cannot("no_means", "%s %s no edge to cut with.", capitalize(tool.name), hasHave(tool.name))
	}
	if err := h.leave(t, c.state); err != nil {
		return err
	}
	return h.done("", t, tool)
}

func hasHave(name string) string {
	if world.IsAre(name) == "are" {
		return "have"
	}
	return "has"
}

// planMend mends a thing that an act has broken.
func planMend(h *handled) error {
	t, err := h.findThing(h.object)
	if err != nil {
		return err
	}
	if t.hasCard() && world.IsAlive(t.card) {
		return errOther
	}
	state, err := h.stateAbout(t, "form")
	if err != nil {
		return err
	}
	if t.hasCard() && (state == "" || strings.HasSuffix(state, "mended.")) {
		return cannot("unfit", "%s %s no mending.", capitalize(t.name), map[bool]string{true: "need",
			false: "needs"}[world.IsAre(t.name) == "are"])
	}
	if ok, err := h.settleHandling("survival", "easy"); err != nil || !ok {
		return h.failed(err, t)
	}
	if err := h.leave(t, "mended"); err != nil {
		return err
	}
	return h.doneWithTool("", t)
}

// planKnock knocks on a thing: "knock on the door", "tap the barrel".
func planKnock(h *handled) error {
	name := h.object
	if name == "" {
		name = h.other
	}
	t, err := h.findThing(name)
	switch {
	case err != nil && namesDoor(name):
		return h.done("", subject{name: "the door"})
	case err != nil:
		return err
	case t.hasCard() && world.IsAlive(t.card):
		return errOther
	}
	return h.done("", t)
}

// planShift turns, pushes or lifts a thing. One that can be carried is only handled; another one may give way, and is
// then no longer where it was.
func planShift(h *handled) error {
	if h.object == "" && (h.by == "on" || h.by == "at") { // pull on the rope
		h.object = h.other
	}
	t, err := h.findThing(h.object)
	switch {
	case err != nil:
		return err
	case t.hasCard() && world.IsAlive(t.card), h.isWayName(h.object):
		return errOther
	case t.hasCard() && t.card.ID == h.player.ID:
		return errOther
	case len(t.nouns) > 0 && t.isKind(massive...):
		return h.done("massive", t)
	}
	isOwn, err := h.isCarried(t)
	if err != nil {
		return err
	}
	isSoft := len(t.nouns) > 0 && t.isKind(soft...)
	switch verb, _, _ := strings.Cut(h.manner.Verb, " "); {
	case isSoft && !isOwn && (verb == "lift" || verb == "raise"):
		return h.done("soft", t)
	case (verb == "pull" || verb == "tug") && (isSoft || t.hasCard() && isPortable(t.card)):
		return h.done("pull", t)
	case isSoft || t.hasCard() && isPortable(t.card):
		return h.done("light", t)
	}
	if ok, err := h.settleHandling("athletics", "easy"); err != nil || !ok {
		return h.failed(err, t)
	}
	if h.name != "turn" {
		if err := h.leave(t, "out-of-place"); err != nil {
			return err
		}
	}
	return h.doneWithTool("", t)
}

// isWayName reports whether a name means a direction or a way out.
func (h *handled) isWayName(name string) bool {
	_, ok := command.DirectionOf(name)
	return ok
}

// reach returns a thing that the player has, or that lies within reach. from is the holder.
func (h *handled) reach(name string) (held world.Held, own bool, err error) {
	_, plain := command.SplitCount(name)
	for _, holder := range []world.Card{h.player, h.place} {
		stock, err := h.listStock(holder)
		if err != nil {
			return held, false, err
		}
		cards := make([]world.Card, len(stock))
		for i, c := range stock {
			cards[i] = c.Card
		}
		found := findMatches(plain, cards)
		if len(found) > 1 {
			return held, false, cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(found), "or"))
		}
		if len(found) == 1 {
			h.narrowLabel(found[0])
			held = stock[slices.IndexFunc(stock, func(c world.Held) bool { return c.ID == found[0].ID })]
			if holder.ID != h.player.ID && !isPortable(held.Card) {
				return held, false, staysPut(held.Card)
			}
			return held, holder.ID == h.player.ID, nil
		}
	}
	if held, ok, err := h.findStowed(plain); ok || err != nil {
		return held, false, err
	}
	t, err := h.findThing(name)
	if _, ok := errors.AsType[*impossible](err); err != nil && !ok {
		return held, false, err
	}
	if err != nil || t.hasCard() && world.IsAlive(t.card) {
		return held, false, cannot("no_means", "You have no %s.", plain)
	}
	if t.hasCard() {
		for _, holder := range []world.Card{h.player, h.place} {
			stock, err := h.listStock(holder)
			if err != nil {
				return held, false, err
			}
			i := slices.IndexFunc(stock, func(c world.Held) bool { return c.ID == t.card.ID })
			if i >= 0 && isPortable(t.card) {
				return stock[i], holder.ID == h.player.ID, nil
			}
		}
		return held, false, staysPut(t.card)
	}
	return held, false, cannot("no_means", "You have no %s in your hands.", plain)
}

// asSubject returns a held thing as a subject.
func asSubject(c world.Held, typed string) subject {
	return subject{card: c.Card, name: definite(c.Card), nouns: nounsOf(typed, c.Card)}
}

// planHold holds a thing up, or shakes it, and tells how it looks or sounds.
func planHold(h *handled) error {
	if h.name == "hold up" && h.object == "" {
		return errOther
	}
	c, _, err := h.reach(h.object)
	if err != nil {
		if t, bad := h.findThing(h.object); bad == nil && h.name == "shake" && (!t.hasCard() || !world.IsAlive(t.card)) {
			return h.done("fixed", t)
		}
		return errOther
	}
	if h.other != "" {
		h.action.Handling = &world.Handling{Words: strings.TrimPrefix(h.by, "up ") + " the " + strings.TrimPrefix(h.other,
			"the ")}
	}
	return h.done("", asSubject(c, h.object))
}

// planPut puts a thing that is within reach in, on, under or behind another one.
func planPut(h *handled) error {
	if h.other == "" || h.tool != "" || slices.Contains([]string{"here", "there"}, h.other) {
		return errOther
	}
	if h.isOwnBody(h.object) && !isBodyPart(h.other) {
		return h.reachInto()
	}
	how, ok := putWords[h.by]
	if !ok || h.intent.Verb == command.Look || h.intent.Verb == command.Examine || h.intent.Verb == command.Attack {
		return errOther
	}
	if isSelf(h.object) || h.object == "" {
		if h.manner.Verb == "hide" || h.manner.Verb == "conceal" {
			return planPerch(h)
		}
		return errOther
	}
	if isBodyPart(h.other) {
		return planWear(h)
	}
	return h.putInto(how)
}

// reachInto puts a part of the body in or on a thing, and tells of the things or the perception that it finds there.
func (h *handled) reachInto() error {
	t, err := h.findThing(h.other)
	if err != nil || t.hasCard() && world.IsAlive(t.card) {
		return cmpErr(err, errOther)
	}
	h.name = "reach"
	verb, by := "put", h.by
	if h.manner.Verb == "dip" || h.manner.Verb == "dangle" || h.manner.Verb == "press" {
		verb = h.manner.Verb
	}
	effect := senseOfPart[command.HeadOf(h.object)]
	switch how := putWords[by]; {
	case effect == "" && how == "in" && !(len(t.nouns) > 0 && t.isKind("substance", "food", "liquid", "body of water")):
	case effect == "" && how != "under" && how != "behind":
		effect = "touch"
	}
	h.action.Handling = &world.Handling{Words: verb + " your " + strings.ToLower(h.object) + " " + by}
	return h.done(effect, t)
}

// isOwnBody reports whether a name in the clause is a part of the player's body: my chest, and not the chest.
func (h *handled) isOwnBody(name string) bool {
	clause := h.intent.Clause()
	if h.intent.Verb == command.Attempt {
		clause = h.intent.DirectObject
	}
	return isOwnBody(name, clause)
}

// senseOfPart has the sense of a part of the body that perceives.
var senseOfPart = map[string]string{
	"ear":    "listen",
	"nose":   "smell",
	"tongue": "taste",
	"lip":    "taste",
	"mouth":  "taste",
}

// planBodyAct does an act on the player's own body: wash my hands in the well, scratch my head. ok is false if it is
// none.
func (h *handled) planBodyAct() (ok bool, err error) {
	if h.by == "in" || h.by == "into" {
		if h.name == "wet" { // dip my finger into the well
			return true, h.reachInto()
		}
	}
	phrase := phraseOf(h.manner)
	if free, ok := freeAct(h.intent.Clause()); ok && h.intent.Verb != command.Attempt {
		phrase = free.DirectObject
	} else if h.intent.Verb == command.Attempt {
		phrase = h.intent.DirectObject
	}
	before := h.intent.Verb
	h.intent.Verb, h.action.Verb = command.Attempt, command.Attempt
	if ok, err = h.planOwnAct(phrase); !ok && err == nil {
		h.intent.Verb, h.action.Verb = before, before
	}
	return ok, err
}

// putWords are the prepositions of places, as a holds link keeps them.
var putWords = map[string]string{"in": "in", "into": "in", "inside": "in", "within": "in", "on": "on", "onto": "on",
	"upon": "on", "atop": "on",
	"over": "on", "under": "under", "beneath": "under", "underneath": "under", "below": "under", "behind": "behind",
	"beside": "beside",
	"by":     "beside", "near": "beside", "against": "beside", "before": "before", "around": "on", "between": "in",
	"among": "in", "to": "on"}

func isSelf(name string) bool {
	return slices.Contains([]string{"me", "myself", "yourself", "you", "self"}, strings.ToLower(name))
}

// putInto moves the object to the other thing.
func (h *handled) putInto(how string) error {
	to, err := h.findThing(h.other)
	if err != nil {
		return err
	}
	switch {
	case to.hasCard() && to.card.ID == h.player.ID:
		if how == "in" || how == "on" && h.name == "put" {
			return errOther
		}
	case to.hasCard() && (world.IsAlive(to.card) || to.card.ID == h.place.ID):
		return errOther
	case len(to.nouns) > 0 && to.isKind("fire", "fireplace", "hearth", "stove", "furnace") && how == "in":
		return h.putInFire(to)
	}
	c, _, err := h.reach(h.object)
	if err != nil {
		return err
	}
	n, _ := command.SplitCount(h.object)
	if inside, err := h.isInside(to.card, c.ID); err != nil || inside || to.card.ID == c.ID {
		return orCannot(err, "unfit", "%s cannot hold itself.", capitalize(definite(c.Card)))
	}
	h.action.Handling = &world.Handling{Words: how}
	if !to.hasCard() { // no more cards are made here: it lies beside the noun
		if err := h.transferItem(c, n, h.place.ID); err != nil {
			return err
		}
		return h.done("", asSubject(c, h.object), to)
	}
	h.how = how
	if err := h.transferItem(c, n, to.card.ID); err != nil {
		return err
	}
	h.action.Objects = nil
	return h.done("", asSubject(c, h.object), to)
}

// putInFire singes a thing at a fire. Nothing is lost by it.
func (h *handled) putInFire(fire subject) error {
	c, own, err := h.reach(h.object)
	if err != nil {
		return err
	}
	t := asSubject(c, h.object)
	if own {
		if err := h.transferItem(c, 1, h.place.ID); err != nil {
			return err
		}
	}
	if len(t.nouns) == 0 || !t.isKind(rigid...) {
		if err := h.leave(t, "scorched"); err != nil {
			return err
		}
	}
	h.action.Handling = &world.Handling{Words: "in"}
	return h.done("fire", t, fire)
}

// isInside reports whether a card is held, at any of a few steps, by another one.
func (s *turn) isInside(t world.Card, holder canon.CardID) (bool, error) {
	for range 5 {
		if (t.ID == canon.CardID{}) {
			return false, nil
		}
		links, err := s.ReadLinks(s.ctx, canon.LinkQuery{To: t.ID, Kinds: []string{world.LinkHolds}}, 1)
		if err != nil || len(links) == 0 {
			return false, err
		}
		if links[0].From == holder {
			return true, nil
		}
		t = world.Card{ID: links[0].From}
	}
	return false, nil
}

// planTie ties a thing that is within reach to another one. Without one it is only tied up.
func planTie(h *handled) error {
	if h.other != "" && (h.by == "to" || h.by == "around" || h.by == "round" || h.by == "onto" || h.by == "on") {
		if words := strings.Fields(h.other); isSelf(h.other) || slices.Contains([]string{"waist", "neck", "head", "wrist",
			"arm"}, words[len(words)-1]) {
			return planWear(h)
		}
		h.name = "put"
		return h.putInto("tied")
	}
	t, err := h.findThing(h.object)
	if err != nil || t.hasCard() && world.IsAlive(t.card) {
		return cmpErr(err, errOther)
	}
	return h.doneWithTool("", t)
}

func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// planUntie loosens a thing. A thing that was tied to another one lies at the place then.
func planUntie(h *handled) error {
	if c, holder, ok, err := h.findStowedIn(h.object); err != nil {
		return err
	} else if ok {
		if err := h.transferItem(c, 1, h.place.ID); err != nil {
			return err
		}
		h.action.Objects = nil
		return h.done("from", asSubject(c, h.object), subject{card: holder, name: definite(holder)})
	}
	t, err := h.findThing(h.object)
	if err != nil || t.hasCard() && world.IsAlive(t.card) {
		return cmpErr(err, errOther)
	}
	return h.doneWithTool("", t)
}

// planWrite writes words on a thing: "write my name on the board", "scratch a cross into the bench".
func planWrite(h *handled) error {
	if h.other == "" || !slices.Contains([]string{"on", "in", "into", "onto", "upon", "across"}, h.by) {
		return errOther
	}
	t, err := h.findThing(h.other)
	if err != nil {
		return err
	}
	if t.hasCard() && world.IsAlive(t.card) {
		return cannot("alive", "%s would not have it.", t.card.Title())
	}
	words := strings.Trim(markup.OneLine(markup.Clean(h.object)), " “”\"'.!?")
	switch strings.ToLower(words) {
	case "name", "your name", "my name":
		words = h.player.Title()
	case "":
		words = "X"
	}
	words = markup.Clip(strings.ReplaceAll(words, ".", ","), maxWritten)
	if err := h.leave(t, "written "+words); err != nil {
		return err
	}
	h.action.Handling = &world.Handling{Words: words}
	return h.done("", t)
}
