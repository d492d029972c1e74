package world

import (
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// speaker holds the fields of a character that define its answers.
type speaker struct {
	Says   []string          `json:"says"`   // lines, used in turn
	Topics map[string]string `json:"topics"` // lines by the topic that they answer
}

// planTalk speaks to somebody, or to nobody.
func (s *turn) planTalk() error {
	s.action.Detail = markup.Clip(strings.Join(s.intent.Modifiers, " "), 200)
	if s.intent.DirectObject == "" {
		return s.finishTurn(PlayerAct)
	}
	to, err := s.findPersonHere(s.intent.DirectObject)
	if err != nil {
		return err
	}
	target := toObjectRef(to, 0)
	s.action.Target = &target
	var f speaker
	fieldsOf(to.Fields, &f)
	if n := len(f.Says); n > 0 && !to.isType(typePlayer) {
		s.action.Line = int(s.presence.Clock/minute)%n + 1
	}
	return s.finishTurn(PlayerAct)
}

// fight is the state of a fight between a player and somebody. It is stored as the attributes of
// the link fights from the player to the other.
type fight struct {
	Wounds int  `json:"wounds"`
	Beaten bool `json:"beaten,omitempty"`
}

const linkFights = "fights"

// toughnessOf returns how many wounds a card takes until it is beaten.
func toughnessOf(t cardAt) int {
	f := struct {
		Toughness int `json:"toughness"`
	}{3}
	fieldsOf(t.Fields, &f)
	return min(max(f.Toughness, 1), 100)
}

// damageOf returns the wounds that a blow with a thing adds.
func damageOf(t cardAt) int {
	var f struct {
		Damage int `json:"damage"`
	}
	fieldsOf(t.Fields, &f)
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
		s.action.Objects = []objectRef{toObjectRef(weapon, 0)}
	}
	if err := s.strikeTarget(to, blow); err != nil {
		return err
	}
	return s.finishTurn(PlayerAct)
}

// strikeTarget wounds somebody. It refuses to strike players: fights between players are for them
// to agree on.
func (s *turn) strikeTarget(to cardAt, blow int) error {
	if to.isType(typePlayer) {
		return cannot("player", "You think better of it. %s is one of your own.", to.title())
	}
	links, err := s.readLinks(s.ctx, canon.LinkQuery{From: s.player.ID, To: to.ID, Kinds: []string{linkFights}}, 1)
	if err != nil {
		return err
	}
	l := canon.Link{ID: canon.LinkIDOf(linkFights, s.player.ID.String(), to.ID.String()), Kind: linkFights,
		From: s.player.ID, To: to.ID}
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
	f.Beaten = f.Wounds >= toughnessOf(to)
	target := toObjectRef(to, 0)
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
		target := toObjectRef(at, 0)
		s.action.Target = &target
		if isAlive(at) {
			if err := s.strikeTarget(at, 1); err != nil {
				return err
			}
		}
	}
	return s.finishTurn(PlayerAct)
}

// planAction plans the act of the turn's intent. The error is *impossible if the story does not
// allow the act; then nothing may be committed.
func (s *turn) planAction() error {
	switch s.intent.Verb {
	case VerbMove:
		return s.planMove()
	case VerbFlee:
		return s.planFlee()
	case VerbLook, VerbExamine:
		return s.planLook()
	case VerbInventory:
		return s.planInventory()
	case VerbTake:
		return s.planTake()
	case VerbDrop:
		return s.planDrop()
	case VerbGive:
		return s.planGive()
	case VerbUse:
		return s.planUse()
	case VerbTalk:
		return s.planTalk()
	case VerbAttack:
		return s.planAttack()
	case VerbThrow:
		return s.planThrow()
	case VerbDefend:
		return s.finishTurn(PlayerAct)
	case VerbRest:
		return s.finishTurn(PlayerAct)
	}
	return cannot("unknown", "You are not sure how to do that.")
}

// canContinueAfter reports whether later acts of a command still make sense after a failed act with
// this verb.
func canContinueAfter(v Verb) bool {
	return slices.Contains([]Verb{VerbLook, VerbExamine, VerbInventory, VerbTalk, VerbDefend}, v)
}
