package rule

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// Event is something that has happened. Its JSON is how it is kept. Every Event is open
// or sealed, never both.
type Event interface{ name() string }

// open events change what is public. They may change what is secret besides.
type open interface {
	Event
	open(p *Public, s *Secret)
}

// sealed events change nothing public: they have no hold of it.
type sealed interface {
	Event
	sealed(s *Secret)
}

// NameOf is the word under which an event is kept.
func NameOf(e Event) string { return e.name() }

// IsOpen reports whether an event changes what is public.
func IsOpen(e Event) bool { _, ok := e.(open); return ok }

// Apply folds an event into a state.
func Apply(s State, e Event) State {
	s.apply(e)
	return s
}

func (s *State) apply(e Event) {
	s.Events++
	switch e := e.(type) {
	case *Created:
		s.ID, s.Settings, s.Seed = e.ID, e.Settings, e.Seed
		s.Public.Phase, s.Public.Version = Lobby, 1
		s.Secret.Host, s.Secret.World = e.Host, e.World
	case open:
		e.open(&s.Public, &s.Secret)
		s.Public.Version++
	case sealed:
		e.sealed(&s.Secret)
	}
}

// Fold is the state that events lead to, from the beginning.
func Fold(events []Event) State {
	var s State
	for _, e := range events {
		s.apply(e)
	}
	return s
}

// known are the types of all events by name.
var known = typesOf(
	&Created{}, &Joined{}, &Seated{}, &Started{}, &Dealt{}, &PhaseBegan{}, &Counted{}, &Liaised{}, &CrisisStruck{},
	&RoleShown{}, &Said{}, &Whispered{}, &StatusSet{}, &PulseAsked{}, &PulseGiven{}, &PulseShown{},
	&BallotCast{}, &Tallied{}, &Nominated{}, &Deactivated{}, &ActionGiven{}, &ConversionGiven{},
	&NightResolved{}, &NightReported{}, &TokensMoved{}, &Noted{}, &KindWord{}, &Pivoted{},
	&LeaveTaken{}, &GoalMet{}, &Ended{},
)

func typesOf(events ...Event) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(events))
	for _, e := range events {
		types[e.name()] = reflect.TypeOf(e).Elem()
	}
	return types
}

// Encode gives an event's kind and JSON.
func Encode(e Event) (kind string, payload []byte, err error) {
	payload, err = json.Marshal(e, json.Deterministic(true))
	return e.name(), payload, err
}

// Decode reads what Encode gave.
func Decode(kind string, payload []byte) (Event, error) {
	t, ok := known[kind]
	if !ok {
		return nil, fmt.Errorf("rule: there is no event %q", kind)
	}
	e := reflect.New(t).Interface().(Event)
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, fmt.Errorf("rule: event %s: %w", kind, err)
	}
	return e, nil
}
