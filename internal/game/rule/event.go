package rule

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// Event is a fact of a game. It is stored as JSON. Every Event is open or sealed, never both.
type Event interface{ eventName() string }

// open events change the public half of a state, and may change the secret half.
type open interface {
	Event
	applyOpen(p *Public, s *Secret)
}

// sealed events change only the secret half: they get no pointer to the public one.
type sealed interface {
	Event
	applySealed(s *Secret)
}

// IsOpen reports whether an event changes the public half of a state.
func IsOpen(e Event) bool { _, ok := e.(open); return ok }

// Apply folds an event into a state.
func Apply(s State, e Event) State {
	s.applyEvent(e)
	return s
}

func (s *State) applyEvent(e Event) {
	s.Events++
	switch e := e.(type) {
	case *Created:
		s.ID, s.Settings, s.Seed = e.ID, e.Settings, e.Seed
		s.Public.Phase, s.Public.Version = Lobby, 1
		s.Secret.Host, s.Secret.World = e.Host, e.World
	case open:
		e.applyOpen(&s.Public, &s.Secret)
		s.Public.Version++
	case sealed:
		e.applySealed(&s.Secret)
	}
}

// Fold returns the state after the events, starting from the zero State.
func Fold(events []Event) State {
	var s State
	for _, e := range events {
		s.applyEvent(e)
	}
	return s
}

// eventTypes maps event names to the events' types.
var eventTypes = typesOf(
	&Created{}, &Joined{}, &Seated{}, &Vacated{}, &Started{}, &Dealt{}, &PhaseBegan{}, &Counted{}, &Liaised{},
	&CrisisStruck{},
	&RoleShown{}, &Said{}, &Whispered{}, &StatusSet{}, &PulseAsked{}, &PulseGiven{}, &PulseShown{},
	&BallotCast{}, &Tallied{}, &Nominated{}, &Deactivated{}, &ActionGiven{}, &ConversionGiven{},
	&NightResolved{}, &NightReported{}, &TokensMoved{}, &Noted{}, &KindWord{}, &Pivoted{},
	&LeaveTaken{}, &GoalMet{}, &Ended{},
)

func typesOf(events ...Event) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(events))
	for _, e := range events {
		types[e.eventName()] = reflect.TypeOf(e).Elem()
	}
	return types
}

// Encode returns an event's name and JSON.
func Encode(e Event) (kind string, payload []byte, err error) {
	payload, err = json.Marshal(e, json.Deterministic(true))
	return e.eventName(), payload, err
}

// Decode parses the output of Encode.
func Decode(kind string, payload []byte) (Event, error) {
	t, ok := eventTypes[kind]
	if !ok {
		return nil, fmt.Errorf("rule: there is no event %q", kind)
	}
	e := reflect.New(t).Interface().(Event)
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, fmt.Errorf("rule: event %s: %w", kind, err)
	}
	return e, nil
}
