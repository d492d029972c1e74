package world

import (
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// maxAtOnce bounds how many things "all" means.
const maxAtOnce = 20

// take moves things from the place, or from a container there, to the player.
func (s *turn) take() error {
	n, name := counted(s.intent.DirectObject)
	from := s.where
	if len(s.intent.Targets) > 0 {
		all, err := s.around()
		if err != nil {
			return err
		}
		if from, err = s.one(s.intent.Targets[0], all, "There is no %q here to take anything from."); err != nil {
			return err
		}
		if alive(from) {
			return cannot("held", "%s would notice.", from.title())
		}
	}
	stock, err := s.stock(from)
	if err != nil {
		return err
	}
	picked, err := s.pick(name, n, stock, "There is no %q here that you could take.")
	if err != nil {
		return err
	}
	for _, c := range picked {
		if !portable(c.thing) {
			if n < 0 {
				continue
			}
			return cannot("fixed", "%s stays where it is.", c.Name)
		}
		if err := s.transfer(c, n, s.who.ID); err != nil {
			return err
		}
	}
	if len(s.action.Objects) == 0 {
		return cannot("absent", "There is nothing here that you could take.")
	}
	return s.settle(PlayerAct)
}

// stock is what can be had from a place or a container: what it holds and, of a place,
// what stands there.
func (s *turn) stock(from cardAt) ([]carried, error) {
	all, err := s.held(s.ctx, from.ID)
	if err != nil || !from.is(typeLocation) {
		return all, err
	}
	links, err := s.links(s.ctx, canon.LinkQuery{To: from.ID, Kinds: []string{linkAt}}, maxHere)
	if err != nil {
		return nil, err
	}
	ids, byID := make([]canon.CardID, len(links)), map[canon.CardID]canon.Link{}
	for i, l := range links {
		ids[i], byID[l.From] = l.From, l
	}
	standing, err := s.things(s.ctx, ids)
	for _, t := range standing {
		if t.ID != s.who.ID {
			all = append(all, carried{t.ID, markup.Clean(t.Name), t.Type, quantityOf(byID[t.ID]), byID[t.ID], t})
		}
	}
	return all, err
}

// pick finds what a name means among a stock; with a negative n and no name, everything.
func (s *turn) pick(name string, n int64, stock []carried, missing string) ([]carried, error) {
	things := make([]cardAt, len(stock))
	for i, c := range stock {
		things[i] = c.thing
	}
	if n < 0 && len(bareWords(name)) == 0 {
		return stock[:min(len(stock), maxAtOnce)], nil
	}
	t, err := s.one(name, things, missing)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(stock, func(c carried) bool { return c.ID == t.ID })
	return stock[i : i+1], nil
}

// transfer moves n of a thing (negative: all) to another holder. The plan rests on both
// links, so that of two who take the last one, one is told that it is gone.
func (s *turn) transfer(c carried, n int64, to canon.CardID) error {
	if n < 0 {
		n = c.Quantity
	}
	if n > c.Quantity {
		return cannot("too_few", "There are only %d of %s.", c.Quantity, c.Name)
	}
	s.involve(c.thing)
	s.plan.Rest(c.link)
	if rest := c.Quantity - n; rest > 0 {
		left := c.link
		left.Attrs = merged(left.Attrs, quantityAttrs(rest))
		if _, err := s.plan.Link(left); err != nil {
			return err
		}
	} else {
		s.plan.Unlink(c.link)
	}
	s.action.Objects = append(s.action.Objects, as(c.thing, n))
	return s.receive(c, n, to)
}

// receive adds n of a thing to what a holder has.
func (s *turn) receive(c carried, n int64, to canon.CardID) error {
	links, err := s.links(s.ctx, canon.LinkQuery{From: to, To: c.ID, Kinds: []string{linkHolds}}, 1)
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
	own.Attrs = merged(own.Attrs, quantityAttrs(has+n))
	_, err = s.plan.Link(own)
	return err
}

// drop lays things down at the place, or into a container there.
func (s *turn) drop() error {
	to := s.where
	if len(s.intent.Targets) > 0 {
		all, err := s.around()
		if err != nil {
			return err
		}
		if found := matching(s.intent.Targets[0], all); len(found) == 1 && !alive(found[0]) {
			to = found[0]
			s.involve(to)
			target := as(to, 0)
			s.action.Target = &target
		}
	}
	if err := s.handOver(to.ID); err != nil {
		return err
	}
	return s.settle(PlayerAct)
}

// give hands things to somebody at the place.
func (s *turn) give() error {
	if len(s.intent.Targets) == 0 {
		return cannot("no_target", "To whom?")
	}
	to, err := s.someoneHere(s.intent.Targets[0])
	if err != nil {
		return err
	}
	target := as(to, 0)
	s.action.Target = &target
	at, ok, err := s.whereabouts(s.ctx, to.ID)
	if err != nil {
		return err
	}
	if ok {
		s.plan.Rest(at)
	}
	if err := s.handOver(to.ID); err != nil {
		return err
	}
	return s.settle(PlayerAct)
}

// handOver moves what is named from the player to a holder.
func (s *turn) handOver(to canon.CardID) error {
	n, name := counted(s.intent.DirectObject)
	own, err := s.held(s.ctx, s.who.ID)
	if err != nil {
		return err
	}
	picked, err := s.pick(name, n, own, "You have no %q.")
	if err != nil {
		return err
	}
	if len(picked) == 0 {
		return cannot("absent", "You have nothing to part with.")
	}
	for _, c := range picked {
		if err := s.transfer(c, n, to); err != nil {
			return err
		}
	}
	return nil
}

// usable are the fields of a thing that say what comes of using it.
type usable struct {
	Use        string `json:"use"`        // what is told
	Consumable bool   `json:"consumable"` // one is used up
}

// use unlocks a way out, or uses a thing as its fields say.
func (s *turn) use() error {
	if done, err := s.unlock(); done || err != nil {
		return err
	}
	own, err := s.held(s.ctx, s.who.ID)
	if err != nil {
		return err
	}
	all, err := s.inSight()
	if err != nil {
		return err
	}
	t, err := s.one(s.intent.DirectObject, all, "There is no %q here to use.")
	if err != nil {
		return err
	}
	if len(s.intent.Targets) > 0 {
		on, err := s.one(s.intent.Targets[0], all, "There is no %q here to use it on.")
		if err != nil {
			return err
		}
		target := as(on, 0)
		s.action.Target = &target
	}
	var f usable
	fieldsOf(t.Fields, &f)
	i := slices.IndexFunc(own, func(c carried) bool { return c.ID == t.ID })
	if f.Consumable && i >= 0 {
		if err := s.consume(own[i]); err != nil {
			return err
		}
	}
	s.action.Objects = []something{as(t, 0)}
	return s.settle(PlayerAct)
}

// consume takes one of a thing away.
func (s *turn) consume(c carried) error {
	s.plan.Rest(c.link)
	s.action.Effect = "consumed"
	if c.Quantity <= 1 {
		s.plan.Unlink(c.link)
		return nil
	}
	left := c.link
	left.Attrs = merged(left.Attrs, quantityAttrs(c.Quantity-1))
	_, err := s.plan.Link(left)
	return err
}

// unlock opens a locked exit with what the player has, where that is what is meant: a key
// is named, or a door is and the key is at hand. done is false where it is about something
// else.
func (s *turn) unlock() (done bool, err error) {
	exits, err := s.exits(s.ctx, s.where)
	if err != nil {
		return false, err
	}
	own, err := s.carrying()
	if err != nil {
		return false, err
	}
	words := append([]string{s.intent.DirectObject}, s.intent.Targets...)
	for _, way := range exits {
		if way.LockState != "locked" || way.To == nil {
			continue
		}
		key, held := keyOf(way, own)
		named := slices.ContainsFunc(words, func(w string) bool { return s.meansDoor(w, way) })
		byKey := held && slices.ContainsFunc(words, func(w string) bool { return fit(w, key) >= fitSlip })
		switch {
		case byKey || named && held:
			return true, s.open(way, key)
		case named:
			return true, cannot("locked", "The way %s is locked, and you have nothing that opens it.", way.Direction.toward())
		}
	}
	return false, nil
}

// keyOf finds the thing that unlocks an exit among those at hand.
func keyOf(way exit, own []cardAt) (cardAt, bool) {
	if way.key == "" {
		return cardAt{}, false
	}
	for _, t := range own {
		if fit(way.key, t) == fitName || fit(strings.ReplaceAll(way.key, "-", " "), t) == fitName || t.ID.String() == way.key {
			return t, true
		}
	}
	return cardAt{}, false
}

// meansDoor reports whether words mean an exit: its direction, a door, or what its
// description speaks of.
func (s *turn) meansDoor(words string, way exit) bool {
	for _, w := range bareWords(words) {
		if directionWords[w] == way.Direction || doorWords[w] {
			return true
		}
	}
	return describes(way.Description, words)
}

var doorWords = set("door", "gate", "lock", "hatch", "trapdoor", "grate", "portal", "padlock")

// open unlocks an exit, and the way back where that is locked too.
func (s *turn) open(way exit, key cardAt) error {
	s.involve(key)
	back, err := s.links(s.ctx, canon.LinkQuery{From: *way.To, To: s.where.ID, Kinds: []string{linkExit}}, maxExits)
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
		l.Attrs = merged(l.Attrs, json.RawMessage(`{"lockState":"unlocked"}`))
		if _, err := s.plan.Link(l); err != nil {
			return err
		}
	}
	s.action.Direction, s.action.Effect, s.action.Objects = way.Direction, "unlocked", []something{as(key, 0)}
	return s.settle(PlayerAct)
}
