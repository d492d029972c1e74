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
	picked, err := s.pickAround(name, n)
	if err != nil {
		return s.orFixed(err, name)
	}
	for _, c := range picked {
		if !isPortable(c.Card) {
			if n < 0 {
				continue
			}
			return staysPut(c.Card)
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

// pickAround returns the things that a name means: in the holder that the command names, at the place, or in, on and
// under the things there.
func (s *turn) pickAround(name string, n int64) ([]world.Held, error) {
	from, err := s.findHolder()
	if err != nil {
		return nil, err
	}
	const missing = "You see no %s here that you could take."
	for {
		stock, err := s.listStock(from)
		if err != nil {
			return nil, err
		}
		picked, err := s.pickFromStock(name, n, stock, missing)
		if no, ok := errors.AsType[*impossible](err); !ok || no.reason != "absent" {
			return picked, err
		}
		if from.ID == s.place.ID {
			held, _, ok, bad := s.findStowedIn(name)
			if bad != nil || !ok {
				return nil, cmpErr(bad, err)
			}
			return []world.Held{held}, nil
		}
		from = s.place
	}
}

// findHolder returns the thing that the command takes from: one that is here or carried, else the place, whose text may
// name it.
func (s *turn) findHolder() (world.Card, error) {
	if len(s.intent.Targets) == 0 {
		return s.place, nil
	}
	name := s.intent.Targets[0]
	if slices.ContainsFunc(s.intent.Manner().Parts, func(p command.Part) bool {
		return p.Name == name && slices.Contains([]string{"for", "as", "like", "with", "without"}, p.By)
	}) {
		return s.place, nil // for a souvenir
	}
	r, err := s.resolveHere(name)
	if err != nil {
		return s.place, err
	}
	if err := r.unclear(); err != nil {
		return s.place, err
	}
	switch from, ok := r.card(); {
	case ok && world.IsAlive(from) && from.ID != s.player.ID:
		return s.place, cannot("held", "%s would notice.", from.Title())
	case ok && from.ID != s.player.ID:
		s.narrowLabel(from)
		return from, nil
	case r.isMentioned() && !r.mention.Denied:
		s.label = s.label.Meet(r.text.label)
	case !ok && !r.self && !isEverywhere(name):
		return s.place, s.notHere(name)
	}
	return s.place, nil
}

// staysPut returns the error of taking a thing that cannot be carried off.
func staysPut(t world.Card) error {
	name := definite(t)
	if world.IsAre(name) == "are" {
		return cannot("fixed", "%s stay where they are.", capitalize(name))
	}
	if world.IsAlive(t) {
		return cannot("fixed", "%s will not be carried off.", capitalize(name))
	}
	return cannot("fixed", "%s stays where it is.", capitalize(name))
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
		return staysPut(found[0])
	}
	return s.orMentioned(err, name)
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
	if to != s.player.ID && c.Link.From == s.player.ID { // a thing that changes hands is taken off
		if err := s.keepTrace(c.Card, "wearer", ""); err != nil {
			return err
		}
	}
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
	if s.how != "" {
		own.Attrs = mergeAttrs(own.Attrs, json.RawMessage(`{"how":"`+s.how+`"}`))
	}
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
		own, err := s.HeldItems(s.ctx, s.player.ID)
		if err != nil {
			return err
		}
		n, name := command.SplitCount(s.intent.DirectObject)
		if _, err := s.pickFromStock(name, n, own, "You have no %q."); err != nil {
			return err
		}
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
