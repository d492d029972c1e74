package play

import (
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Acts with liquids: filling, pouring, dipping.

// planFill fills a vessel with a liquid that is at the place.
func planFill(h *handled) error {
	t, err := h.findThing(h.object)
	if err != nil {
		return err
	}
	c := change{kinds: vessels, unfit: "There is no filling {o}."}
	if err := c.refuses(h, t); err != nil {
		return err
	}
	what := h.tool
	if what == "" {
		what = h.other
	}
	if what == "" {
		what = "water"
	}
	if ok, err := h.hasLiquid(what); err != nil || !ok {
		return orCannot(err, "no_means", "There is no %s here to fill %s with.", what, t.name)
	}
	if err := h.leave(t, "full of "+strings.ToLower(markup.Clip(markup.Clean(what), 30))); err != nil {
		return err
	}
	h.action.Handling = &world.Handling{Words: strings.ToLower(what)}
	return h.done("", t)
}

// hasLiquid reports whether a liquid is at the place: a thing, a noun of its texts, or water where there is a shore.
func (h *handled) hasLiquid(name string) (bool, error) {
	if _, err := h.findThing(name); err == nil {
		return true, nil
	} else if _, ok := err.(*impossible); !ok {
		return false, err
	}
	if !slices.Contains(seaWater, strings.ToLower(name)) {
		return false, nil
	}
	texts, err := h.textsShown()
	if err != nil {
		return false, err
	}
	for _, p := range texts {
		for _, w := range command.BareWords(p.text) {
			if slices.Contains(waters, w) {
				return true, nil
			}
		}
	}
	return false, nil
}

// seaWater are the names of the water that a place at the shore has.
var seaWater = []string{"water", "sea water", "seawater", "salt water", "sea", "river", "waves", "tide"}

// isAtShore reports whether a name is that of the water at a shore, and the place lies at one.
func (s *turn) isAtShore(name string) (bool, error) {
	if !slices.Contains(seaWater, strings.ToLower(name)) {
		return false, nil
	}
	place := s.place
	if place.Type == "" {
		var err error
		if place, _, err = s.CardByID(s.ctx, place.ID); err != nil {
			return false, err
		}
	}
	var f struct {
		Terrain string   `json:"terrain"`
		Tags    []string `json:"tags"`
	}
	world.DecodeFields(place.Fields, &f)
	if f.Terrain == "riverbank" || slices.ContainsFunc(f.Tags, func(tag string) bool {
		return slices.Contains([]string{"sea", "river", "shore", "quay", "marsh", "harbour"}, tag)
	}) {
		return true, nil
	}
	texts, err := s.textsOfPlace()
	return slices.ContainsFunc(texts, func(p passage) bool {
		return slices.ContainsFunc(command.BareWords(p.text), func(w string) bool { return slices.Contains(shoreWords, w) })
	}), err
}

// shoreWords are words of the texts of places at the water.
var shoreWords = strings.Fields(
	"sea seaward quay jetty causeway harbour wharf pier beach shore foreshore riverbank mooring",
)

var waters = strings.Fields(
	"water sea river tide well pool pond canal harbour stream lake fountain pump rain channel marsh creek",
)

// planPour empties a vessel, perhaps over another thing.
func planPour(h *handled) error {
	name := h.object
	var over string
	if h.other != "" {
		if h.by == "out of" || h.by == "from" {
			name = h.other
		} else {
			over = h.other
		}
	}
	t, err := h.findFull(name, nil) // pour the water on the fire: out of a vessel that is full of it
	if err == nil && !t.hasCard() {
		t, err = h.findThing(name)
	}
	if err != nil {
		return err
	}
	if err := (change{kinds: append(liquid, vessels...), unfit: "There is nothing in {o} to pour."}).refuses(h,
		t); err != nil {
		return err
	}
	isOwn, err := h.isCarried(t)
	if err != nil {
		return err
	}
	if len(t.nouns) > 0 && !isOwn && t.isKind(liquid...) {
		if t, err = h.findFull(name, cannot("no_means", "You have no %s in your hands.", name)); err != nil {
			return err
		}
	}
	if err := h.leave(t, "empty"); err != nil {
		return err
	}
	if over == "" || over == "ground" || over == "floor" {
		return h.done("", t)
	}
	on, err := h.findThing(over)
	if err != nil {
		return err
	}
	state := "wet"
	if len(on.nouns) > 0 && on.isKind(burning...) {
		state = "out"
	}
	if on.hasCard() && world.IsAlive(on.card) {
		return h.done("on", t, on)
	}
	if err := h.leave(on, state); err != nil {
		return err
	}
	return h.done("on", t, on)
}

// findFull returns the thing within reach that is full of a liquid; else missing is the error.
func (h *handled) findFull(name string, missing error) (t subject, err error) {
	around, err := h.listLookTargets()
	if err != nil {
		return t, err
	}
	byID := map[canon.CardID]world.Card{}
	var ids []canon.CardID
	for _, c := range around {
		if !world.IsAlive(c) && c.ID != h.place.ID {
			byID[c.ID], ids = c, append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return t, missing
	}
	layers, err := h.Layers(h.ctx, canon.LayerQuery{Cards: ids, Active: true, Tick: h.Tick, AsOf: h.Seq})
	for _, l := range layers {
		if l.Kind == world.LayerDynamic && slices.ContainsFunc(linesOf(l), func(line string) bool {
			return strings.HasSuffix(line, " full of "+strings.ToLower(name)+".")
		}) {
			c := byID[l.Card]
			h.narrowLabel(c)
			return subject{card: c, name: definite(c), nouns: nounsOf("", c)}, err
		}
	}
	if err != nil {
		return t, err
	}
	return t, missing
}

// planWet dips a thing into a liquid.
func planWet(h *handled) error {
	t, err := h.findThing(h.object)
	if err != nil {
		return err
	}
	if t.hasCard() && world.IsAlive(t.card) {
		return errOther
	}
	if h.other != "" {
		if ok, err := h.hasLiquid(h.other); err != nil || !ok {
			return orCannot(err, reasonUnknown, "You see no %s here.", h.other)
		}
		h.action.Handling = &world.Handling{Words: h.other}
	}
	if err := h.leave(t, "wet"); err != nil {
		return err
	}
	return h.done("", t)
}
