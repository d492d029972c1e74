package play

import (
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// usable holds the fields of a thing that define the effect of using it.
type usable struct {
	Use        string `json:"use"`        // text that the player is told
	Consumable bool   `json:"consumable"` // each use consumes one
}

// planUse unlocks an exit, or uses a thing as its fields define.
func (s *turn) planUse() error {
	if done, err := s.tryUnlock(); done || err != nil {
		return err
	}
	own, err := s.HeldItems(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	t, err := s.findOne(s.intent.DirectObject, all, "You see no %s here.")
	if err != nil {
		return err
	}
	if t.ID == s.place.ID {
		return cannot("unfit", "You cannot do that with %s.", world.DefiniteName(t.Title()))
	}
	if world.IsAlive(t) {
		return cannot("alive", "%s is nobody's tool.", t.Title())
	}
	if len(s.intent.Targets) > 0 {
		on, err := s.findOne(s.intent.Targets[0], all, "You see no %s here.")
		if err != nil {
			return err
		}
		s.aimAt(on)
	}
	var f usable
	world.DecodeFields(t.Fields, &f)
	i := slices.IndexFunc(own, func(c world.Held) bool { return c.ID == t.ID })
	if f.Consumable && i >= 0 {
		if err := s.consumeOne(own[i]); err != nil {
			return err
		}
	}
	s.action.Objects = []world.ObjectRef{world.NewObjectRef(t, 0)}
	return s.finishTurn(world.PlayerAct)
}

// consumeOne removes one of a thing.
func (s *turn) consumeOne(c world.Held) error {
	s.plan.DependOnLink(c.Link)
	s.action.Effect = "consumed"
	if c.Quantity <= 1 {
		s.plan.Unlink(c.Link)
		return nil
	}
	left := c.Link
	left.Attrs = mergeAttrs(left.Attrs, quantityAttrs(c.Quantity-1))
	_, err := s.plan.Link(left)
	return err
}

// tryUnlock opens a locked exit with a key that the player has, if the command means that: it names
// the key, or it names a door and the player has the key. done is false if the command means
// something else.
func (s *turn) tryUnlock() (done bool, err error) {
	exits, err := s.Exits(s.ctx, s.place)
	if err != nil {
		return false, err
	}
	own, err := s.carriedCards()
	if err != nil {
		return false, err
	}
	words := append([]string{s.intent.DirectObject}, s.intent.Targets...)
	for _, way := range exits {
		if way.LockState != "locked" || way.To == nil {
			continue
		}
		key, held := findKey(way, own)
		named := slices.ContainsFunc(words, func(w string) bool { return s.meansDoor(w, way) })
		byKey := held && slices.ContainsFunc(words, func(w string) bool { return rateFit(w, key) >= command.FitSlip })
		switch {
		case byKey || named && held:
			return true, s.openExit(way, key)
		case named:
			return true, cannot("locked", "The way %s is locked, and you have nothing that opens it.", way.Direction.Phrase())
		}
	}
	return false, nil
}

// findKey returns the thing among own that unlocks an exit.
func findKey(way world.Exit, own []world.Card) (world.Card, bool) {
	if way.Key == "" {
		return world.Card{}, false
	}
	for _, t := range own {
		if rateFit(way.Key, t) == command.FitName || rateFit(strings.ReplaceAll(way.Key, "-", " "), t) == command.FitName ||
			t.ID.String() == way.Key {
			return t, true
		}
	}
	return world.Card{}, false
}

// meansDoor reports whether words mean an exit: they name its direction, a door, or something that
// its description mentions.
func (s *turn) meansDoor(words string, way world.Exit) bool {
	namesDirection := slices.ContainsFunc(command.BareWords(words), func(w string) bool {
		d, _ := command.DirectionOf(w)
		return d == way.Direction
	})
	return namesDirection || namesDoor(words) || command.Mentions(way.Description, words)
}

// namesDoor reports whether words name a door.
func namesDoor(words string) bool {
	return slices.ContainsFunc(command.BareWords(words), func(w string) bool { return slices.Contains(doorWords, w) })
}

// doorWords are the words for an exit that can be locked.
var doorWords = []string{"door", "gate", "lock", "hatch", "trapdoor", "grate", "portal", "padlock"}

// openExit unlocks an exit, and the exit back if that is locked too.
func (s *turn) openExit(way world.Exit, key world.Card) error {
	s.narrowLabel(key)
	back, err := s.ReadLinks(s.ctx, canon.LinkQuery{From: *way.To, To: s.place.ID, Kinds: []string{world.LinkExit}},
		world.MaxExits)
	if err != nil {
		return err
	}
	for _, l := range append([]canon.Link{way.Link}, back...) {
		var a struct {
			LockState string `json:"lockState"`
		}
		world.DecodeFields(l.Attrs, &a)
		if a.LockState != "locked" {
			continue
		}
		s.plan.DependOnLink(l)
		l.Attrs = mergeAttrs(l.Attrs, json.RawMessage(`{"lockState":"unlocked"}`))
		if _, err := s.plan.Link(l); err != nil {
			return err
		}
	}
	s.action.Direction, s.action.Effect = way.Direction, "unlocked"
	s.action.Objects = []world.ObjectRef{world.NewObjectRef(key, 0)}
	return s.finishTurn(world.PlayerAct)
}
