package world

import (
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
)

// speaker are the fields of a character that say what it answers.
type speaker struct {
	Says   []string          `json:"says"`   // in turn
	Topics map[string]string `json:"topics"` // when asked about them
}

// talk speaks to somebody, or to nobody.
func (s *turn) talk() error {
	s.action.Detail = clipped(strings.Join(s.intent.Modifiers, " "), 200)
	if s.intent.DirectObject == "" {
		return s.settle(PlayerAct)
	}
	to, err := s.someoneHere(s.intent.DirectObject)
	if err != nil {
		return err
	}
	target := as(to, 0)
	s.action.Target = &target
	var f speaker
	fieldsOf(to.Fields, &f)
	if n := len(f.Says); n > 0 && !to.is(typePlayer) {
		s.action.Line = int(s.now.Clock/minute)%n + 1
	}
	return s.settle(PlayerAct)
}

// fight is the state of a fight between a player and somebody: the attributes of the link
// fights from one to the other.
type fight struct {
	Wounds int  `json:"wounds"`
	Beaten bool `json:"beaten,omitempty"`
}

const linkFights = "fights"

// toughness is how many wounds somebody takes before having enough.
func toughness(t cardAt) int {
	f := struct {
		Toughness int `json:"toughness"`
	}{3}
	fieldsOf(t.Fields, &f)
	return min(max(f.Toughness, 1), 100)
}

// harm is what a blow with a thing does.
func harm(t cardAt) int {
	var f struct {
		Damage int `json:"damage"`
	}
	fieldsOf(t.Fields, &f)
	return min(max(f.Damage, 0), 20)
}

// attack strikes somebody, with a thing where one is named.
func (s *turn) attack() error {
	to, err := s.someoneHere(s.intent.DirectObject)
	if err != nil {
		return err
	}
	blow := 1
	if len(s.intent.Targets) > 0 {
		own, err := s.carrying()
		if err != nil {
			return err
		}
		weapon, err := s.one(s.intent.Targets[0], own, "You have no %q.")
		if err != nil {
			return err
		}
		blow += harm(weapon)
		s.action.Objects = []something{as(weapon, 0)}
	}
	if err := s.strike(to, blow); err != nil {
		return err
	}
	return s.settle(PlayerAct)
}

// strike wounds somebody. Players are not struck: that is for them to agree on.
func (s *turn) strike(to cardAt, blow int) error {
	if to.is(typePlayer) {
		return cannot("player", "You think better of it. %s is one of your own.", to.title())
	}
	links, err := s.links(s.ctx, canon.LinkQuery{From: s.who.ID, To: to.ID, Kinds: []string{linkFights}}, 1)
	if err != nil {
		return err
	}
	l := canon.Link{ID: canon.LinkIDOf(linkFights, s.who.ID.String(), to.ID.String()), Kind: linkFights, From: s.who.ID, To: to.ID}
	var f fight
	if len(links) > 0 {
		l = links[0]
		fieldsOf(l.Attrs, &f)
	}
	if f.Beaten {
		return cannot("beaten", "%s has had enough of you already.", to.title())
	}
	s.plan.Rest(l)
	f.Wounds += blow
	f.Beaten = f.Wounds >= toughness(to)
	target := as(to, 0)
	s.action.Target, s.action.Effect = &target, "wounded"
	if f.Beaten {
		s.action.Effect = "beaten"
	}
	if l.Attrs, err = json.Marshal(f); err != nil {
		return err
	}
	_, err = s.plan.Link(l)
	return err
}

// throw hurls a thing that the player has; it lies at the place afterwards.
func (s *turn) throw() error {
	if err := s.handOver(s.where.ID); err != nil {
		return err
	}
	if len(s.intent.Targets) > 0 {
		all, err := s.around()
		if err != nil {
			return err
		}
		at, err := s.one(s.intent.Targets[0], all, "There is no %q here to throw it at.")
		if err != nil {
			return err
		}
		target := as(at, 0)
		s.action.Target = &target
		if alive(at) {
			if err := s.strike(at, 1); err != nil {
				return err
			}
		}
	}
	return s.settle(PlayerAct)
}

// act does what the stage's intent says. Its error is *impossible where the story does
// not allow it; then nothing may be committed.
func (s *turn) act() error {
	switch s.intent.Verb {
	case VerbMove:
		return s.move()
	case VerbFlee:
		return s.flee()
	case VerbLook, VerbExamine:
		return s.look()
	case VerbInventory:
		return s.inventory()
	case VerbTake:
		return s.take()
	case VerbDrop:
		return s.drop()
	case VerbGive:
		return s.give()
	case VerbUse:
		return s.use()
	case VerbTalk:
		return s.talk()
	case VerbAttack:
		return s.attack()
	case VerbThrow:
		return s.throw()
	case VerbDefend:
		return s.settle(PlayerAct)
	case VerbRest:
		return s.settle(PlayerAct)
	}
	return cannot("unknown", "You are not sure how to do that.")
}

// fallible reports whether later acts of a command make sense after one that failed.
func fallible(v Verb) bool {
	return slices.Contains([]Verb{VerbLook, VerbExamine, VerbInventory, VerbTalk, VerbDefend}, v)
}
