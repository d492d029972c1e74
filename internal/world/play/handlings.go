package play

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// errOther is the error of a handling that leaves an act to the grammar's reading of it.
var errOther = errors.New("world: the act is none on a thing")

// Readings of the grammar that handlings replace.
var (
	asUse   = []command.Verb{command.Use, command.Drop}
	asBlow  = []command.Verb{command.Use, command.Attack}
	asStay  = []command.Verb{command.Rest, command.Defend, command.Use}
	asLook  = []command.Verb{command.Look, command.Examine, command.Use}
	asAny   = []command.Verb{command.Use, command.Drop, command.Take, command.Give, command.Look, command.Examine}
	rigid   = []string{"rock", "stone", "metal", "body of water", "liquid", "fire", "water", "air", "sky", "ground"}
	liquid  = []string{"liquid", "body of water", "beverage", "water"}
	burning = []string{"fire", "flame", "lamp", "lantern", "candle", "torch", "source of illumination", "fireplace",
		"stove", "hearth", "oven"}
	lightBy = append([]string{"pipe", "cigar", "fuse", "wick", "match", "fuel", "bonfire", "brazier", "light"},
		burning...)
	openable = []string{"container", "door", "movable barrier", "book", "publication", "window", "furniture",
		"keyboard instrument",
		"closure", "umbrella", "letter", "shutter", "curtain", "bag", "building", "shellfish", "mollusk", "room", "lid",
		"parcel",
		"package", "bundle", "instrument", "vehicle", "wrapping", "lock", "purse", "eye", "ledger", "folder"}
	wearable = []string{"clothing", "garment", "headdress", "footwear", "jewelry", "adornment", "mask", "covering",
		"ring", "fabric",
		"glove", "belt", "spectacles", "ribbon", "bucket", "net"}
	edible = []string{"food", "foodstuff", "fruit", "vegetable", "nutriment", "fish", "seafood", "herb", "mushroom",
		"eel", "plant",
		"crab", "oyster", "meat", "pie"}
	vessels = []string{"container", "vessel", "tableware", "boat", "shoe", "hat", "basin", "tank"}
	edged   = []string{"edge tool", "cutting implement", "knife", "sword", "scissors", "saw", "cutter", "blade", "axe",
		"glass", "razor"}
	soft = []string{"fabric", "paper", "clothing", "net", "book", "publication", "letter", "leaf", "cord", "bag",
		"sheet", "sail",
		"bunting", "document", "flag", "bill", "note", "ticket", "canvas", "curtain", "writing", "page", "map"}
	ringing = []string{"bell", "gong", "chime", "percussion instrument", "signaling device", "glass", "clock",
		"tankard", "coin"}
	playing = []string{"musical instrument", "game", "device"}
	massive = []string{"building", "structure", "rock", "geological formation", "body of water", "way", "land",
		"region", "wall"}
)

// handlings returns the handlings by verb, or by verb and particle.
var handlings = sync.OnceValue(func() map[string]handling {
	all := map[string]handling{}
	add := func(verbs string, h handling) {
		for v := range strings.SplitSeq(verbs, ", ") {
			if h.name == "" {
				h.name = v
			}
			all[v] = h
		}
	}
	add("force, force open, prise open, pry open, wrench open, kick open, break open, push open, pull open",
		handling{name: "open", over: append([]command.Verb{command.Attack}, asAny...), plan: planOpen, makes: true})
	add("open, unlatch, uncork, unwrap, unroll, unfold", handling{over: asAny, plan: planOpen, makes: true})
	add("close, shut", handling{over: asAny, makes: true, plan: change{state: "shut", kinds: openable,
		unfit: "There is nothing about {o} that shuts."}.plan})
	add("lock", handling{over: asUse, plan: planLock("locked"), makes: true})
	add("unlock", handling{over: asUse, plan: planLock("shut"), makes: true})
	add("light, kindle, turn on, switch on, light up", handling{over: asUse, makes: true, plan: lighting.plan})
	add("ignite", handling{over: append([]command.Verb{command.Attack}, asUse...), makes: true, plan: planIgnite})
	add("extinguish, douse, snuff, quench, blow out, put out, snuff out, turn off, switch off, stamp out",
		handling{over: asAny, makes: true,
			plan: change{state: "out", kinds: lightBy, unfit: "There is no flame on {o} to put out."}.plan})
	add("burn, scorch, singe, burn down, burn up", handling{over: asBlow, makes: true, plan: scorching.plan})
	add("break, snap, smash, shatter, crack, crush, destroy, wreck, break down, break up, break off, smash up",
		handling{over: asBlow, makes: true,
			plan: change{state: "broken", not: []string{"liquid", "body of water", "fire", "air", "sky"},
				unfit: "There is nothing in {o} that would break.", skill: "athletics", level: "medium"}.plan})
	add("tear, rip, shred, tear up, rip up, tear apart", handling{over: asBlow, makes: true,
		plan: change{state: "torn", kinds: soft,
			unfit: "{O} {is} not made for tearing.", skill: "athletics", level: "easy"}.plan})
	add("cut, slice, carve, sever, slit, cut up, cut off, cut down, cut through", handling{over: asBlow, makes: true,
		plan: planCut})
	add("clean, wash, wipe, polish, scrub, rub, dust, rinse, sweep, mop, wipe off, clean up", handling{over: asUse,
		makes: true,
		plan: change{state: "clean", not: []string{"body of water", "sky"},
			unfit: "That would take more than a cloth: you leave {o} be."}.plan})
	add("fix, repair, mend, patch, restore, patch up, fix up", handling{over: asUse, makes: true, plan: planMend})
	add("ring, toll, chime, sound", handling{over: asUse, plan: change{kinds: ringing, unfit: "{O} {has} no ring."}.plan})
	add("play", handling{over: asUse, plan: change{kinds: playing, unfit: "{O} {is} nothing to play on."}.plan})
	add("knock, tap, rap, knock on", handling{over: asBlow, plan: planKnock})
	add("turn, rotate, twist, spin, crank, turn over, turn around, wind, flip, tilt", handling{over: asUse,
		makes: true, plan: planShift})
	add(
		"push, pull, shove, drag, move, tug, shift, nudge, heave, roll, tip, lift, raise, lower, slide, lift up, pull up, "+
			"push over, tip over, knock over, knock down, knock off, push down, rock, sway",
		handling{name: "push", over: []command.Verb{command.Use, command.Attack, command.Take, command.Defend},
			makes: true, plan: planShift},
	)
	add("hold up, hold", handling{over: append([]command.Verb{command.Take, command.Defend}, asLook...), plan: planHold})
	add("shake, rattle", handling{over: asUse, plan: planHold})
	add("tie, bind, fasten, attach, lash, moor, hitch, tie up, chain", handling{over: asAny, makes: true, plan: planTie})
	add("untie, unfasten, unbind, detach, loosen, undo, unhitch", handling{over: asAny, makes: true, plan: planUntie})
	add("write, scratch, scribble, draw, paint, inscribe, carve on, write down", handling{name: "write",
		over:  append([]command.Verb{command.Attack, command.Talk}, asAny...),
		makes: true, plan: planWrite})
	add("fill, fill up, refill", handling{over: asUse, makes: true, plan: planFill})
	add("pour, empty, spill, pour out, empty out, tip out, drain", handling{name: "pour", over: asAny, makes: true,
		plan: planPour})
	add("dip, soak, dunk, wet, drench", handling{name: "wet", over: asAny, makes: true, plan: planWet})
	add(
		"put, place, set, lay, hang, stick, insert, stuff, shove in, leave, drop, stow, hide, conceal, hang up, stash, balance, "+
			"press, thrust, plunge, dangle, drape, wrap",
		handling{name: "put",
			over: []command.Verb{command.Drop, command.Use, command.Take, command.Defend, command.Rest, command.Give,
				command.Look, command.Examine, command.Attack},
			makes: true, plan: planPut},
	)
	add("wear, don, put on, try on, pull on, slip on", handling{over: asAny, makes: true, plan: planWear})
	add("doff, take off, remove, pull off", handling{name: "take off", over: append([]command.Verb{command.Flee,
		command.Move}, asAny...), plan: planDoff})
	add("eat, devour, chew, nibble, gobble, munch, swallow, eat up", handling{over: asUse, makes: true, plan: planEat})
	add("drink, sip, swig, quaff, gulp, drink up", handling{over: asUse, makes: true, plan: planDrink})
	for _, sense := range []string{"smell, sniff", "taste, lick", "touch, feel", "listen, hear"} {
		add(sense, handling{over: append([]command.Verb{command.Attack}, asLook...), plan: planSense})
	}
	add("sit, sit down, stand, lie, lie down, kneel, lean, perch, crouch, rest on", handling{over: asStay,
		plan: planPerch})
	add("climb, jump, leap, hop, step, climb up, clamber, get, scramble, vault, board", handling{name: "climb",
		over: []command.Verb{command.Move, command.Use}, plan: planPerch})
	add("dance, sing, hum, whistle, chant", handling{name: "sing", over: []command.Verb{command.Use, command.Talk},
		plan: planGesture})
	add("go, walk, run, come, cross, approach", handling{name: "go", over: []command.Verb{command.Move, command.Use},
		plan: planWalk})
	add("warm", handling{over: asStay, plan: planWarm})
	add("make, have", handling{name: "make", over: append([]command.Verb{command.Attack, command.Talk,
		command.Rest, command.Move}, asAny...), plan: planMakeAct})
	add("pet, caress, cuddle, stroke, pat", handling{name: "touch", over: append([]command.Verb{command.Attack,
		command.Talk}, asAny...), plan: planSense})
	add("wake, wake up, rouse, awaken, poke, prod", handling{name: "wake", over: append([]command.Verb{command.Talk,
		command.Attack}, asAny...), plan: planWake})
	add("throw, toss, hurl, fling, chuck, lob, sling", handling{name: "throw", over: []command.Verb{command.Throw,
		command.Give, command.Drop}, makes: true,
		plan: planThrowAt})
	add(
		"hit, strike, kick, punch, bang, hammer, beat, whack, slap, stomp, stamp, tread, trample",
		handling{name: "hit", over: asBlow, makes: true,
			plan: planHit},
	)
	add("look, peek, peer, search, check", handling{name: "look", over: asLook, plan: planPeek})
	add("take from", handling{name: "take", over: []command.Verb{command.Attack}, makes: true, plan: planTakeDown})
	add("take down, pull down, get down, unhook, unpin", handling{name: "take",
		over: append([]command.Verb{command.Attack}, asAny...), makes: true, plan: planTakeDown})
	add("use", handling{over: []command.Verb{command.Use}, plan: planUseAs})
	add("follow, accompany, shadow, tail", handling{over: []command.Verb{command.Move}, plan: planFollow})
	add("wait, wait for", handling{over: asStay, plan: planWait})
	add("dig, dig up", handling{over: asAny, plan: planDig})
	add("swim, wade, bathe, paddle, dive", handling{name: "swim", over: asUse, plan: planSwim})
	add("show, present, display", handling{over: asAny, makes: true, plan: planShow})
	return all
})

var (
	lighting  = change{state: "alight", kinds: lightBy, unfit: "{O} would not take a light."}
	scorching = change{state: "scorched", not: rigid, unfit: "{O} would not burn.", skill: "survival", level: "easy"}
)

// planIgnite lights what gives light, and burns everything else.
func planIgnite(h *handled) error {
	err := lighting.plan(h)
	if no, ok := errors.AsType[*impossible](err); ok && no.reason == "unfit" {
		return scorching.plan(h)
	}
	return err
}

// planHandling decides an act on a thing. It is errOther if the act is none.
func (s *turn) planHandling() error {
	h, ok := newHandled(s)
	if !ok {
		return errOther
	}
	for _, name := range []*string{&h.object, &h.other, &h.tool} {
		var err error
		if *name, err = s.explain(*name, false); err != nil {
			return err
		}
	}
	if h.isMotion() {
		if ok, err := h.planGoal(); ok || err != nil {
			return err
		}
	}
	if h.tool != "" && !canLackTool(h.name) {
		if _, err := h.findTool(h.tool); err != nil {
			return err
		}
	}
	if h.isOwnBody(h.object) && !slices.Contains([]string{"put", "warm", "wear", "take off"}, h.name) {
		if ok, err := h.planBodyAct(); ok || err != nil {
			return err
		}
	}
	err := h.handling.plan(h)
	if errors.Is(err, errAs) {
		h.handling, h.manner.Verb = handlings()[h.as], h.as
		err = h.handling.plan(h)
	}
	return err
}

// canLackTool reports whether the thing after "with" is no tool: filled with water, singing with the women.
func canLackTool(act string) bool {
	return act == "fill" || act == "pour" || act == "wet" || act == "sing"
}

// A change is a handling that brings a thing into a state.
type change struct {
	kinds, not   []string // the kinds of things that can be changed, and those that cannot
	unfit        string   // text of the refusal of the others
	state        string   // kept as a trace; "" keeps none
	skill, level string   // of a check; without a skill it succeeds
}

func (c change) plan(h *handled) error {
	t, err := h.findThing(h.object)
	if err != nil {
		return err
	}
	if err := c.refuses(h, t); err != nil {
		return err
	}
	if c.skill != "" {
		if ok, err := h.settleHandling(c.skill, c.level); err != nil || !ok {
			return h.failed(err, t)
		}
	}
	if c.state != "" {
		if err := h.leave(t, c.state); err != nil {
			return err
		}
	}
	return h.doneWithTool("", t)
}

// refuses returns the error of an act that cannot change a thing.
func (c change) refuses(h *handled, t subject) error {
	if t.hasCard() && world.IsAlive(t.card) {
		return errOther
	}
	if len(c.kinds) > 0 && !t.isKind(c.kinds...) || len(c.not) > 0 && len(t.nouns) > 0 && t.isKind(c.not...) {
		return cannot("unfit", "%s", fillIn(c.unfit, world.Handling{Thing: t.name}))
	}
	if c.state == "alight" && len(t.nouns) > 0 && t.isKind("fire", "flame", "bonfire") {
		if about, err := h.stateAbout(t, "fire"); err != nil || about == "" {
			return orCannot(err, "already", "%s %s burning already.", capitalize(t.name), world.IsAre(t.name))
		}
	}
	if already, err := h.hasState(t, c.state); c.state == "" || err != nil || !already {
		return err
	}
	return cannot("already", "%s %s %s already.", capitalize(t.name), world.IsAre(t.name), c.state)
}

// failed finishes an act that did not succeed.
func (h *handled) failed(err error, things ...subject) error {
	if err != nil {
		return err
	}
	return h.done("failed", things...)
}

// doneWithTool finishes an act on a thing with the tool that the command names, if any.
func (h *handled) doneWithTool(effect string, t subject) error {
	if h.tool == "" {
		return h.done(effect, t)
	}
	tool, err := h.findTool(h.tool)
	if err != nil {
		return err
	}
	return h.done(strings.TrimSpace(effect+" with"), t, tool)
}
