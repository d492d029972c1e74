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

// planTalk speaks to somebody, or to nobody. Words to a character are between the two; words to nobody and to
// other players are heard by all who are there.
func (s *turn) planTalk() (err error) {
	if s.action.Line, err = s.freshNumber(); err != nil {
		return err
	}
	said := markup.Clip(strings.Join(s.intent.Modifiers, " "), maxSaid)
	if s.intent.DirectObject == "" {
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	}
	r, err := s.resolvePerson(s.intent.DirectObject)
	if err != nil {
		return err
	}
	if r.all || r.self {
		s.action.Detail = said
		return s.finishTurn(world.PlayerAct)
	}
	to, err := s.personOf(r, s.intent.DirectObject)
	if err != nil {
		return err
	}
	s.aimAt(to)
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

// answerTo returns the line with which somebody answers: the one that the card has for the words, else one of its
// lines in turn, and after a while a greeting. Somebody without lines comes back to earlier words. No line comes
// twice within freshWindow exchanges; "" is no line.
func (s *turn) answerTo(b bond, said string) (string, error) {
	heard, back, err := s.readTalk(b)
	if err != nil {
		return "", err
	}
	isFresh := func(line string) bool {
		return line != "" && !slices.ContainsFunc(heard, func(h string) bool { return strings.HasSuffix(h, line) })
	}
	firstFresh := func(lines []string) string {
		if i := slices.IndexFunc(lines, isFresh); i >= 0 {
			return lines[i]
		}
		return ""
	}
	if line, ofWords := world.AnswerOf(b.other, said, 0); ofWords {
		return sayAgain(line, heard), nil
	}
	if !b.other.IsType("Creature") {
		if line, err := s.replyTo(b, said); err != nil || isFresh(line) {
			return spokenBy(b.other, line), err
		}
		if line, err := s.answerFromView(b, said); err != nil || line != "" {
			return sayAgain(spokenBy(b.other, line), heard), err
		}
	}
	var f struct {
		world.Speaker
		Minor bool `json:"minor"`
	}
	world.DecodeFields(b.other.Fields, &f)
	if greeting := firstFresh(courtesies[len(courtesies)-1].lines); f.Minor && said == "" && greeting != "" {
		return greeting, nil
	}
	if n := len(f.Says); n > 0 {
		at := int(s.presence.Clock/world.Minute) % n
		f.Says = append(slices.Clone(f.Says[at:]), f.Says[:at]...)
	}
	line := firstFresh(f.Says)
	if b.other.IsType("Creature") {
		return line, nil
	}
	if line == "" {
		line = back
	}
	if b.Met > 0 && s.presence.Clock-b.Last >= world.Hour {
		line = strings.TrimSpace(firstFresh(greetings(b.Regard)) + " " + line)
	}
	return line, nil
}

// sayAgain returns a line, or with other words before it if it was heard; "" if they all were.
func sayAgain(line string, heard []string) string {
	if !slices.ContainsFunc(heard, func(h string) bool { return strings.HasSuffix(h, line) }) {
		return line
	}
	for _, again := range againWords {
		if whole := again + line; !slices.Contains(heard, whole) {
			return whole
		}
	}
	return ""
}

// againWords begin a line that was said before.
var againWords = []string{
	"As I said: ",
	"I told you: ",
	"Once more, then: ",
	"Again, and slowly: ",
	"You do ask often. ",
	"Write it down: ",
	"For the last time: ",
	"It is as I told you. ",
}

// readTalk returns the lines that somebody said to the player in the latest exchanges, and a line that comes back
// to the player's latest promise, or else to its latest words; "" if there are none.
func (s *turn) readTalk(b bond) (heard []string, back string, err error) {
	words := recallingPromise
	for _, list := range [][]canon.Hash{b.Promises, b.Recent[max(0, len(b.Recent)-freshWindow):]} {
		for _, h := range slices.Backward(list) {
			x, _, err := s.ReadExchange(s.ctx, h)
			if err != nil {
				return nil, "", err
			}
			heard = append(heard, x.Answer)
			if back == "" && x.Said != "" && x.Verb == command.Talk {
				back = words.tell(s.action.Line, strings.TrimRight(markup.Clean(x.Said), ". "))
			}
		}
		words = recallingWords
	}
	return heard, back, nil
}

// The words with which somebody meets a player again, by its attitude.
var (
	fearfulGreetings = []string{
		"Please, no trouble today.",
		"Stay where you are. I can hear you from there.",
		"I have done nothing.",
	}
	trustingGreetings = []string{
		"It is good to see you again.",
		"There you are. I was hoping for you.",
		"Sit down, friend.",
	}
	coldGreetings   = []string{"You again.", "I had hoped to be rid of you.", "Be quick."}
	humbleGreetings = []string{"You honour me.", "I am listening, as always.", "Your word counts here."}
	plainGreetings  = []string{"Back again.", "We have met.", "I know your face."}
)

// greetings returns greetings by an attitude, beginning with another one after each exchange.
func greetings(r world.Regard) []string {
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
	at := r.Met % len(list)
	return append(slices.Clone(list[at:]), list[:at]...)
}
