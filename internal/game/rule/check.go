package rule

import (
	"errors"
	"fmt"
	"slices"
)

// nextPhases maps each phase to those that may follow it.
var nextPhases = map[Phase][]Phase{
	Lobby:      {Sitrep},
	Sitrep:     {PulseCheck, Over},
	PulseCheck: {Discussion},
	Discussion: {Extension, Nomination},
	Extension:  {Discussion, Nomination},
	Nomination: {Trial, Nomination, Night},
	Trial:      {Verdict},
	Verdict:    {Nomination, Night, Over},
	Night:      {Sitrep, Over},
	Over:       {},
}

// Check returns an error that lists the rules of the game broken by the events between two states;
// nil if none was broken. It checks outcomes without sharing the code of the rules: for simulations
// and tests.
func Check(before, after *State, events []Event) error {
	var broken []error
	no := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf("rule: "+format, args...))
		}
	}
	s := *before
	for _, e := range events {
		was := s
		s.applyEvent(e)
		step := 0
		if IsOpen(e) {
			step = 1
		}
		no(s.Public.Version == was.Public.Version+step, "%s: version %d after %d", e.eventName(), s.Public.Version,
			was.Public.Version)
		if err := checkEvent(&was, &s, e); err != nil {
			broken = append(broken, err)
		}
	}
	no(s.Events == after.Events && s.Public.Version == after.Public.Version, "the events do not lead to the state")
	no(after.Public.Phase == Lobby || after.countAlignment(OriginalAI) == 1, "there are %d Original AIs",
		after.countAlignment(OriginalAI))
	for seat := Seat(1); int(seat) <= after.Public.Seated; seat++ {
		p := after.Public.Players.Of(seat)
		no(p.Tokens >= 0, "%s has %d tokens", seat, p.Tokens)
		no(p.Milestones <= after.Public.Needed(), "%s has %d milestones", seat, p.Milestones)
	}
	return errors.Join(broken...)
}

// countAlignment returns the number of seats with an alignment.
func (s *State) countAlignment(a Alignment) (n int) {
	for i := range s.Public.Seated {
		if s.Secret.Seats[i].Alignment == a {
			n++
		}
	}
	return n
}

func checkEvent(was, now *State, e Event) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("rule: %s: "+format, append([]any{e.eventName()}, args...)...)
	}
	switch e := e.(type) {
	case *PhaseBegan:
		same := e.Phase == Discussion && was.Public.Phase == Extension // the only phase that a day may have twice
		if !same && !slices.Contains(nextPhases[was.Public.Phase], e.Phase) {
			return fail("%s after %s", e.Phase, was.Public.Phase)
		}
		if day := was.Public.Day; e.Day != day && !(e.Phase == Sitrep && e.Day == day+1) {
			return fail("day %d after day %d", e.Day, day)
		}
	case *Said:
		free := was.Public.Phase == Lobby || was.Public.Phase == Over
		if e.From != 0 && !free && !was.Public.Alive(e.From) {
			return fail("the dead do not speak")
		}
	case *BallotCast:
		if !was.Public.Alive(e.Seat) {
			return fail("the dead do not vote")
		}
	case *ActionGiven:
		if !was.Public.Alive(e.Seat) {
			return fail("the dead do not act")
		}
	case *NightReported:
		return checkTokens(was, e, fail)
	}
	return tokensStay(was, now, e, fail)
}

// checkTokens checks the tokens that a night made against their possible sources: slots, an
// overclock and bargains.
func checkTokens(was *State, e *NightReported, fail func(string, ...any) error) error {
	made, most := 0, was.Public.Pool
	for i := range was.Public.Seated {
		made += e.Tokens[i]
		switch was.Secret.Seats[i].Last.Do {
		case Bargain, "overclock":
			most += 2
		}
	}
	if made < 0 || made > most {
		return fail("%d tokens made; at most %d can be", made, most)
	}
	return nil
}

// tokensStay checks that every other event but Started keeps the total of the tokens, less those
// that TokensMoved discards.
func tokensStay(was, now *State, e Event, fail func(string, ...any) error) error {
	before, after := 0, 0
	for i := range MaxSeats {
		before, after = before+was.Public.Players[i].Tokens, after+now.Public.Players[i].Tokens
	}
	switch e := e.(type) {
	case *Started:
		return nil
	case *TokensMoved:
		if e.To == 0 {
			after += e.Tokens
		}
	}
	if before != after {
		return fail("%d tokens became %d", before, after)
	}
	return nil
}
