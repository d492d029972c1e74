package play

import (
	"errors"
	"fmt"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planAction plans the act of the turn's intent. The error is *impossible if the story does not
// allow the act; then nothing may be committed.
func (s *turn) planAction() error {
	if err := s.explainPronouns(); err != nil {
		return err
	}
	before := *s
	err := s.planHandling()
	absent, ok := errors.AsType[*impossible](err)
	if absent = ifAbsent(absent); !errors.Is(err, errOther) && (!ok || absent == nil) {
		return err
	}
	before.targets, before.texts, before.exits, before.exitsRead, before.acts = s.targets, s.texts, s.exits, s.exitsRead, s.acts
	*s = before // with the cards and texts that were read
	if absent != nil && s.intent.Verb == command.Attempt {
		if ok, err := s.planOwnAct(s.intent.DirectObject); ok || err != nil {
			return err
		}
		return cannot("absent", "%s", absent.text)
	}
	err = s.planVerb()
	if no, ok := errors.AsType[*impossible](err); ok && absent != nil && s.intent.Verb == command.Use &&
		ifAbsent(no) != nil {
		return absent
	}
	return err
}

// ifAbsent returns the refusal of an act on a thing that is not there, or nil for another one.
func ifAbsent(no *impossible) *impossible {
	if no == nil || no.reason != reasonUnknown && no.reason != "absent" {
		return nil
	}
	return no
}

// planVerb plans the act of the turn's intent by its verb.
func (s *turn) planVerb() error {
	switch s.intent.Verb {
	case command.Move:
		return s.planMove()
	case command.Flee:
		return s.planFlee()
	case command.Look, command.Examine:
		return s.planLook()
	case command.Inventory:
		return s.planInventory()
	case command.Take:
		return s.planTake()
	case command.Drop:
		return s.planDrop()
	case command.Give:
		return s.planGive()
	case command.Use:
		return s.planUse()
	case command.Talk:
		return s.planTalk()
	case command.Attack:
		return s.planAttack()
	case command.Throw:
		return s.planThrow()
	case command.Attempt:
		return s.planAttempt()
	case command.Quests:
		return s.finishTurn(world.PlayerLook)
	case command.Accept:
		return s.planAccept()
	case command.Abandon:
		return s.planAbandon()
	case command.Buy:
		return s.planBuy()
	case command.Sell:
		return s.planSell()
	case command.Haggle:
		return s.planHaggle()
	case command.Price:
		return s.planPrice()
	case command.Ask:
		return s.planAsk()
	case command.Defend:
		return s.finishTurn(world.PlayerAct)
	case command.Rest:
		return s.finishTurn(world.PlayerAct)
	}
	return cannot("unknown", "You are not sure how to do that.")
}

// canContinueAfter reports whether later acts of a command still make sense after a failed act with
// this verb.
func canContinueAfter(v command.Verb) bool {
	switch v {
	case command.Look, command.Examine, command.Inventory, command.Talk, command.Defend:
		return true
	}
	return false
}

// reasonAlready is the reason of an act whose end is reached already: later acts of the command still make sense.
const reasonAlready = "already"

// impossible is the error of an act that cannot be done, in the words of the story. Such an act
// changes nothing.
type impossible struct {
	reason string // code for programs
	text   string
	hint   *hint // set where the player wanted to go where an exit is pending
}

func (i *impossible) Error() string { return i.text }

func cannot(reason, format string, args ...any) error {
	return &impossible{reason: reason, text: fmt.Sprintf(format, args...)}
}
