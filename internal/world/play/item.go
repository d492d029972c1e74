package play

import (
	"encoding/json"
	"errors"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// maxAtOnce bounds how many things the word "all" covers.
const maxAtOnce = 20

// planTake moves things from the place, or from a container there, to the player.
func (s *turn) planTake() error {
	n, name := command.SplitCount(s.intent.DirectObject)
	from := s.place
	if len(s.intent.Targets) > 0 {
		all, err := s.cardsAround()
		if err != nil {
			return err
		}
		if from, err = s.findOne(s.intent.Targets[0], all, "There is no %q here to take anything from."); err != nil {
			return err
		}
		if world.IsAlive(from) {
			return cannot("held", "%s would notice.", from.Title())
		}
	}
	stock, err := s.listStock(from)
	if err != nil {
		return err
	}
	picked, err := s.pickFromStock(name, n, stock, "There is no %q here that you could take.")
	if err != nil {
		return s.orFixed(err, name)
	}
	for _, c := range picked {
		if !isPortable(c.Card) {
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
	return s.finishTurn(world.PlayerAct)
}

// orFixed returns another reason for the error of a thing that cannot be taken, if it is a part of the place.
func (s *turn) orFixed(err error, name string) error {
	no, ok := errors.AsType[*impossible](err)
	if !ok || no.reason != "absent" {
		return err
	}
	parts, bad := s.partsOfPlace()
	if bad != nil {
		return bad
	}
	if found := findMatches(name, parts); len(found) > 0 {
		return cannot("fixed", "%s stays where it is.", found[0].Title())
	}
	return err
}

// listStock lists the things that can be taken from a place or a container: the things that it
// holds and, for a place, also the things that are at it.
func (s *turn) listStock(from world.Card) ([]world.Held, error) {
	all, err := s.HeldItems(s.ctx, from.ID)
	if err != nil || !from.IsType(world.TypeLocation) {
		return all, err
	}
	links, err := s.ReadLinks(s.ctx, canon.LinkQuery{To: from.ID, Kinds: []string{world.LinkAt}}, world.MaxHere)
	if err != nil {
		return nil, err
	}
	ids, byID := make([]canon.CardID, len(links)), map[canon.CardID]canon.Link{}
	for i, l := range links {
		ids[i], byID[l.From] = l.From, l
	}
	standing, err := s.CardsByID(s.ctx, ids)
	for _, t := range standing {
		if t.ID != s.player.ID {
			all = append(all, world.Held{ID: t.ID, Name: markup.Clean(t.Name), Type: t.Type,
				Quantity: world.QuantityOf(byID[t.ID]), Link: byID[t.ID], Card: t})
		}
	}
	return all, err
}

// pickFromStock returns the entry of a stock that a name means. If n is negative and there is no
// name, it returns everything, up to maxAtOnce entries.
func (s *turn) pickFromStock(name string, n int64, stock []world.Held, missing string) ([]world.Held, error) {
	things := slicesx.Map(stock, func(c world.Held) world.Card { return c.Card })
	if n < 0 && len(command.BareWords(name)) == 0 {
		return stock[:min(len(stock), maxAtOnce)], nil
	}
	t, err := s.findOne(name, things, missing)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(stock, func(c world.Held) bool { return c.ID == t.ID })
	return stock[i : i+1], nil
}

// transferItem moves n of a thing (all if n is negative) to another holder. The plan rests on both
// links: if two players take the last one, one of them is told that it is gone.
func (s *turn) transferItem(c world.Held, n int64, to canon.CardID) error {
	if n < 0 {
		n = c.Quantity
	}
	if n > c.Quantity {
		return cannot("too_few", "There are only %d of %s.", c.Quantity, c.Name)
	}
	s.narrowLabel(c.Card)
	s.plan.DependOnLink(c.Link)
	if rest := c.Quantity - n; rest > 0 {
		left := c.Link
		left.Attrs = mergeAttrs(left.Attrs, quantityAttrs(rest))
		if _, err := s.plan.Link(left); err != nil {
			return err
		}
	} else {
		s.plan.Unlink(c.Link)
	}
	s.action.Objects = append(s.action.Objects, world.NewObjectRef(c.Card, n))
	return s.addToHolder(c, n, to)
}

// addToHolder adds n of a thing, which may be negative, to the quantity that a holder has.
func (s *turn) addToHolder(c world.Held, n int64, to canon.CardID) error {
	links, err := s.ReadLinks(s.ctx, canon.LinkQuery{From: to, To: c.ID, Kinds: []string{world.LinkHolds}}, 1)
	if err != nil {
		return err
	}
	own := canon.Link{ID: canon.LinkIDOf(world.LinkHolds, to.String(), c.ID.String()), Kind: world.LinkHolds,
		From: to, To: c.ID}
	has := int64(0)
	if len(links) > 0 {
		own = links[0]
		has = world.QuantityOf(own)
	}
	s.plan.DependOnLink(own)
	if has+n <= 0 {
		s.plan.Unlink(own)
		return nil
	}
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
		if found := findMatches(s.intent.Targets[0], all); len(found) == 1 && !world.IsAlive(found[0]) {
			to = found[0]
			s.narrowLabel(to)
			s.aimAt(to)
		}
	}
	if err := s.handOver(to.ID); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
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
	s.aimAt(to)
	if world.IsDead(to) {
		return cannot("dead", "%s is dead, and takes nothing.", to.Title())
	}
	at, ok, err := s.FindAtLink(s.ctx, to.ID)
	if err != nil {
		return err
	}
	if ok {
		s.plan.DependOnLink(at)
	}
	if err := s.handOver(to.ID); err != nil {
		return err
	}
	x := world.Exchange{Verb: command.Give, Things: s.action.ObjectNames()}
	if err := s.rememberDeed(to, x, world.DeedGave); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

// handOver moves the named things from the player to a holder.
func (s *turn) handOver(to canon.CardID) error {
	n, name := command.SplitCount(s.intent.DirectObject)
	own, err := s.HeldItems(s.ctx, s.player.ID)
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

func quantityAttrs(n int64) json.RawMessage {
	b, _ := json.Marshal(map[string]int64{"quantity": n}) // a number always encodes
	return b
}
