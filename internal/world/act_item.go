package world

import (
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// maxAtOnce bounds how many things the word "all" covers.
const maxAtOnce = 20

// planTake moves things from the place, or from a container there, to the player.
func (s *turn) planTake() error {
	n, name := splitCount(s.intent.DirectObject)
	from := s.place
	if len(s.intent.Targets) > 0 {
		all, err := s.cardsAround()
		if err != nil {
			return err
		}
		if from, err = s.findOne(s.intent.Targets[0], all, "There is no %q here to take anything from."); err != nil {
			return err
		}
		if isAlive(from) {
			return cannot("held", "%s would notice.", from.title())
		}
	}
	stock, err := s.listStock(from)
	if err != nil {
		return err
	}
	picked, err := s.pickFromStock(name, n, stock, "There is no %q here that you could take.")
	if err != nil {
		return err
	}
	for _, c := range picked {
		if !isPortable(c.card) {
			if n < 0 {
				continue
			}
			return cannot("fixed", "%s stays where it is.", c.Name)
		}
		if err := s.transferItem(c, n, s.player.ID); err != nil {
			return err
		}
	}
	if len(s.action.Objects) == 0 {
		return cannot("absent", "There is nothing here that you could take.")
	}
	return s.finishTurn(PlayerAct)
}

// listStock lists the things that can be taken from a place or a container: the things that it
// holds and, for a place, also the things that are at it.
func (s *turn) listStock(from cardAt) ([]carried, error) {
	all, err := s.heldItems(s.ctx, from.ID)
	if err != nil || !from.isType(typeLocation) {
		return all, err
	}
	links, err := s.readLinks(s.ctx, canon.LinkQuery{To: from.ID, Kinds: []string{linkAt}}, maxHere)
	if err != nil {
		return nil, err
	}
	ids, byID := make([]canon.CardID, len(links)), map[canon.CardID]canon.Link{}
	for i, l := range links {
		ids[i], byID[l.From] = l.From, l
	}
	standing, err := s.cardsByID(s.ctx, ids)
	for _, t := range standing {
		if t.ID != s.player.ID {
			all = append(all, carried{t.ID, markup.Clean(t.Name), t.Type, quantityOf(byID[t.ID]), byID[t.ID], t})
		}
	}
	return all, err
}

// pickFromStock returns the entry of a stock that a name means. If n is negative and there is no
// name, it returns everything, up to maxAtOnce entries.
func (s *turn) pickFromStock(name string, n int64, stock []carried, missing string) ([]carried, error) {
	things := make([]cardAt, len(stock))
	for i, c := range stock {
		things[i] = c.card
	}
	if n < 0 && len(bareWords(name)) == 0 {
		return stock[:min(len(stock), maxAtOnce)], nil
	}
	t, err := s.findOne(name, things, missing)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(stock, func(c carried) bool { return c.ID == t.ID })
	return stock[i : i+1], nil
}

// transferItem moves n of a thing (all if n is negative) to another holder. The plan rests on both
// links: if two players take the last one, one of them is told that it is gone.
func (s *turn) transferItem(c carried, n int64, to canon.CardID) error {
	if n < 0 {
		n = c.Quantity
	}
	if n > c.Quantity {
		return cannot("too_few", "There are only %d of %s.", c.Quantity, c.Name)
	}
	s.narrowLabel(c.card)
	s.plan.Rest(c.link)
	if rest := c.Quantity - n; rest > 0 {
		left := c.link
		left.Attrs = mergeAttrs(left.Attrs, quantityAttrs(rest))
		if _, err := s.plan.Link(left); err != nil {
			return err
		}
	} else {
		s.plan.Unlink(c.link)
	}
	s.action.Objects = append(s.action.Objects, toObjectRef(c.card, n))
	return s.addToHolder(c, n, to)
}

// addToHolder adds n of a thing to the quantity that a holder has.
func (s *turn) addToHolder(c carried, n int64, to canon.CardID) error {
	links, err := s.readLinks(s.ctx, canon.LinkQuery{From: to, To: c.ID, Kinds: []string{linkHolds}}, 1)
	if err != nil {
		return err
	}
	own := canon.Link{ID: canon.LinkIDOf(linkHolds, to.String(), c.ID.String()), Kind: linkHolds, From: to, To: c.ID}
	has := int64(0)
	if len(links) > 0 {
		own = links[0]
		has = quantityOf(own)
	}
	s.plan.Rest(own)
	own.Attrs = mergeAttrs(own.Attrs, quantityAttrs(has+n))
	_, err = s.plan.Link(own)
	return err
}

// planDrop puts things down at the place, or into a container there.
func (s *turn) planDrop() error {
	to := s.place
	if len(s.intent.Targets) > 0 {
		all, err := s.cardsAround()
		if err != nil {
			return err
		}
		if found := findMatches(s.intent.Targets[0], all); len(found) == 1 && !isAlive(found[0]) {
			to = found[0]
			s.narrowLabel(to)
			target := toObjectRef(to, 0)
			s.action.Target = &target
		}
	}
	if err := s.handOver(to.ID); err != nil {
		return err
	}
	return s.finishTurn(PlayerAct)
}

// planGive hands things to somebody at the place.
func (s *turn) planGive() error {
	if len(s.intent.Targets) == 0 {
		return cannot("no_target", "To whom?")
	}
	to, err := s.findPersonHere(s.intent.Targets[0])
	if err != nil {
		return err
	}
	target := toObjectRef(to, 0)
	s.action.Target = &target
	at, ok, err := s.findAtLink(s.ctx, to.ID)
	if err != nil {
		return err
	}
	if ok {
		s.plan.Rest(at)
	}
	if err := s.handOver(to.ID); err != nil {
		return err
	}
	return s.finishTurn(PlayerAct)
}

// handOver moves the named things from the player to a holder.
func (s *turn) handOver(to canon.CardID) error {
	n, name := splitCount(s.intent.DirectObject)
	own, err := s.heldItems(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	picked, err := s.pickFromStock(name, n, own, "You have no %q.")
	if err != nil {
		return err
	}
	if len(picked) == 0 {
		return cannot("absent", "You have nothing to part with.")
	}
	for _, c := range picked {
		if err := s.transferItem(c, n, to); err != nil {
			return err
		}
	}
	return nil
}

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
	own, err := s.heldItems(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	t, err := s.findOne(s.intent.DirectObject, all, "There is no %q here to use.")
	if err != nil {
		return err
	}
	if len(s.intent.Targets) > 0 {
		on, err := s.findOne(s.intent.Targets[0], all, "There is no %q here to use it on.")
		if err != nil {
			return err
		}
		target := toObjectRef(on, 0)
		s.action.Target = &target
	}
	var f usable
	fieldsOf(t.Fields, &f)
	i := slices.IndexFunc(own, func(c carried) bool { return c.ID == t.ID })
	if f.Consumable && i >= 0 {
		if err := s.consumeOne(own[i]); err != nil {
			return err
		}
	}
	s.action.Objects = []objectRef{toObjectRef(t, 0)}
	return s.finishTurn(PlayerAct)
}

// consumeOne removes one of a thing.
func (s *turn) consumeOne(c carried) error {
	s.plan.Rest(c.link)
	s.action.Effect = "consumed"
	if c.Quantity <= 1 {
		s.plan.Unlink(c.link)
		return nil
	}
	left := c.link
	left.Attrs = mergeAttrs(left.Attrs, quantityAttrs(c.Quantity-1))
	_, err := s.plan.Link(left)
	return err
}

// tryUnlock opens a locked exit with a key that the player has, if the command means that: it names
// the key, or it names a door and the player has the key. done is false if the command means
// something else.
func (s *turn) tryUnlock() (done bool, err error) {
	exits, err := s.readExits(s.ctx, s.place)
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
		byKey := held && slices.ContainsFunc(words, func(w string) bool { return rateFit(w, key) >= fitSlip })
		switch {
		case byKey || named && held:
			return true, s.openExit(way, key)
		case named:
			return true, cannot("locked", "The way %s is locked, and you have nothing that opens it.", way.Direction.phrase())
		}
	}
	return false, nil
}

// findKey returns the thing among own that unlocks an exit.
func findKey(way exit, own []cardAt) (cardAt, bool) {
	if way.key == "" {
		return cardAt{}, false
	}
	for _, t := range own {
		if rateFit(way.key, t) == fitName || rateFit(strings.ReplaceAll(way.key, "-", " "), t) == fitName ||
			t.ID.String() == way.key {
			return t, true
		}
	}
	return cardAt{}, false
}

// meansDoor reports whether words mean an exit: they name its direction, a door, or something that
// its description mentions.
func (s *turn) meansDoor(words string, way exit) bool {
	for _, w := range bareWords(words) {
		if directionWords[w] == way.Direction || doorWords[w] {
			return true
		}
	}
	return hasMention(way.Description, words)
}

var doorWords = newWordSet("door", "gate", "lock", "hatch", "trapdoor", "grate", "portal", "padlock")

// openExit unlocks an exit, and the exit back if that is locked too.
func (s *turn) openExit(way exit, key cardAt) error {
	s.narrowLabel(key)
	back, err := s.readLinks(s.ctx, canon.LinkQuery{From: *way.To, To: s.place.ID, Kinds: []string{linkExit}}, maxExits)
	if err != nil {
		return err
	}
	for _, l := range append([]canon.Link{way.link}, back...) {
		var a exitAttrs
		fieldsOf(l.Attrs, &a)
		if a.LockState != "locked" {
			continue
		}
		s.plan.Rest(l)
		l.Attrs = mergeAttrs(l.Attrs, json.RawMessage(`{"lockState":"unlocked"}`))
		if _, err := s.plan.Link(l); err != nil {
			return err
		}
	}
	s.action.Direction, s.action.Effect, s.action.Objects = way.Direction, "unlocked", []objectRef{toObjectRef(key, 0)}
	return s.finishTurn(PlayerAct)
}
