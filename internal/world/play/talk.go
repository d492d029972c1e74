package play

import (
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// maxSaid bounds the words that a player says at once, in bytes.
const maxSaid = 200

// planTalk speaks to somebody, or to nobody. Words to a character are between the two; words to nobody and to other players
// are heard by all who are there.
func (s *turn) planTalk() error {
	said := markup.Clip(strings.Join(s.intent.Modifiers, " "), maxSaid)
	if s.intent.DirectObject == "" {
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	}
	to, err := s.findPersonHere(s.intent.DirectObject)
	if err != nil {
		return err
	}
	target := world.NewObjectRef(to, 0)
	s.action.Target = &target
	switch {
	case to.IsType(world.TypePlayer):
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	case world.IsDead(to):
		return cannot("dead", "%s is dead, and gives no answer.", to.Title())
	}
	b, err := s.bondWith(to)
	if err != nil {
		return err
	}
	x := world.Exchange{Verb: command.Talk, Said: said, Promise: world.IsPromise(said)}
	if x.Answer, err = s.answerTo(b, said); err != nil {
		return err
	}
	var done []world.Deed
	if b.Met == 0 || s.presence.Clock-b.Last >= world.Hour {
		done = append(done, world.DeedTalked)
	}
	if x.Promise {
		done = append(done, world.DeedPromised)
	}
	s.action.Private = true
	if err := s.remember(b, x, done...); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

// answerTo returns the line with which somebody answers: the one that the card has for the words, else one of its lines in
// turn, and after a while a greeting. Somebody without lines comes back to earlier words.
func (s *turn) answerTo(b bond, said string) (string, error) {
	var f world.Speaker
	world.DecodeFields(b.other.Fields, &f)
	number := 0
	if n := len(f.Says); n > 0 {
		number = int(s.presence.Clock/world.Minute)%n + 1
	}
	line, ofWords := world.AnswerOf(b.other, said, number)
	if ofWords || b.other.IsType("Creature") {
		return line, nil
	}
	greeting := ""
	if b.Met > 0 && s.presence.Clock-b.Last >= world.Hour {
		greeting = greet(b.Regard)
	}
	if line == "" {
		var err error
		if line, err = s.recallWords(b); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(greeting + " " + line), nil
}

// The words with which somebody meets a player again, by its attitude.
var (
	fearfulGreetings  = []string{"Please, no trouble today.", "Stay where you are. I can hear you from there.", "I have done nothing."}
	trustingGreetings = []string{"It is good to see you again.", "There you are. I was hoping for you.", "Sit down, friend."}
	coldGreetings     = []string{"You again.", "I had hoped to be rid of you.", "Be quick."}
	humbleGreetings   = []string{"You honour me.", "I am listening, as always.", "Your word counts here."}
	plainGreetings    = []string{"Back again.", "We have met.", "I know your face."}
)

func greet(r world.Regard) string {
	list := plainGreetings
	switch {
	case r.Fear >= warm:
		list = fearfulGreetings
	case r.Trust >= warm:
		list = trustingGreetings
	case r.Trust <= -warm:
		list = coldGreetings
	case r.Respect >= warm:
		list = humbleGreetings
	}
	return list[r.Met%len(list)]
}

// The lines about a promise of the player, and about other words of it.
var (
	promiseLines = []string{"You gave me your word: “%s”", "Have you done it? “%s”, you said.", "I count on it: “%s”"}
	wordLines    = []string{"You told me: “%s” I have thought about it.", "“%s” Those were your words.",
		"I have not forgotten your words: “%s”"}
)

// recallWords returns a line about the latest promise of the player, or else its latest words; "" if there are none.
func (s *turn) recallWords(b bond) (string, error) {
	lines := promiseLines
	for _, list := range [][]canon.Hash{b.Promises, b.Recent} {
		for _, h := range slices.Backward(list) {
			x, _, err := s.ReadExchange(s.ctx, h)
			if err != nil {
				return "", err
			}
			if x.Said != "" && x.Verb == command.Talk {
				return sentenceWith(lines[b.Met%len(lines)], markup.Clean(x.Said)), nil
			}
		}
		lines = wordLines
	}
	return "", nil
}
