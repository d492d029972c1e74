package play

import (
	"encoding/json"

	"loregate/internal/canon"
	"loregate/internal/world"
)

// fight is the state of a fight between a player and somebody. It is stored as the attributes of
// the link fights from the player to the other.
type fight struct {
	Wounds int  `json:"wounds"`
	Beaten bool `json:"beaten,omitempty"`
}

const linkFights = "fights"

// toughnessOf returns how many wounds a card takes until it is beaten.
func toughnessOf(t world.Card) int {
	f := struct {
		Toughness int `json:"toughness"`
	}{3}
	world.DecodeFields(t.Fields, &f)
	return min(max(f.Toughness, 1), 100)
}

// damageOf returns the wounds that a blow with a thing adds.
func damageOf(t world.Card) int {
	var f struct {
		Damage int `json:"damage"`
	}
	world.DecodeFields(t.Fields, &f)
	return min(max(f.Damage, 0), 20)
}

// planAttack strikes somebody, with a weapon if the command names one.
func (s *turn) planAttack() error {
	to, err := s.findPersonHere(s.intent.DirectObject)
	if err != nil {
		return err
	}
	blow := 1
	if len(s.intent.Targets) > 0 {
		own, err := s.carriedCards()
		if err != nil {
			return err
		}
		weapon, err := s.findOne(s.intent.Targets[0], own, "You have no %q.")
		if err != nil {
			return err
		}
		blow += damageOf(weapon)
		s.action.Objects = []world.ObjectRef{world.NewObjectRef(weapon, 0)}
	}
	if err := s.strikeTarget(to, blow); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

// strikeTarget wounds somebody. It refuses to strike players: fights between players are for them
// to agree on.
func (s *turn) strikeTarget(to world.Card, blow int) error {
	if to.IsType(world.TypePlayer) {
		return cannot("player", "You think better of it. %s is one of your own.", to.Title())
	}
	if world.IsDead(to) {
		return cannot("dead", "%s is dead, and past all blows.", to.Title())
	}
	links, err := s.ReadLinks(s.ctx, canon.LinkQuery{From: s.player.ID, To: to.ID, Kinds: []string{linkFights}}, 1)
	if err != nil {
		return err
	}
	l := canon.Link{ID: canon.LinkIDOf(linkFights, s.player.ID.String(), to.ID.String()), Kind: linkFights,
		From: s.player.ID, To: to.ID}
	var f fight
	if len(links) > 0 {
		l = links[0]
		world.DecodeFields(l.Attrs, &f)
	}
	if f.Beaten {
		return cannot("beaten", "%s has had enough of you already.", to.Title())
	}
	s.plan.DependOnLink(l)
	f.Wounds += blow
	f.Beaten = f.Wounds >= toughnessOf(to)
	s.aimAt(to)
	s.action.Effect = "wounded"
	if f.Beaten {
		s.action.Effect = "beaten"
	}
	if l.Attrs, err = json.Marshal(f); err != nil {
		return err
	}
	if _, err = s.plan.Link(l); err != nil {
		return err
	}
	deed := world.DeedStruck
	if f.Beaten {
		deed = world.DeedBeat
	}
	return s.rememberDeed(to, world.Exchange{Verb: s.intent.Verb, Things: s.action.ObjectNames(),
		Effect: s.action.Effect}, deed)
}

// planThrow throws a thing that the player has; afterwards the thing is at the place.
func (s *turn) planThrow() error {
	if err := s.handOver(s.place.ID); err != nil {
		return err
	}
	if len(s.intent.Targets) > 0 {
		all, err := s.cardsAround()
		if err != nil {
			return err
		}
		at, err := s.findOne(s.intent.Targets[0], all, "There is no %q here to throw it at.")
		if err != nil {
			return err
		}
		s.aimAt(at)
		if world.IsAlive(at) {
			if err := s.strikeTarget(at, 1); err != nil {
				return err
			}
		}
	}
	return s.finishTurn(world.PlayerAct)
}
