package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// What acts cost, in milliseconds of world time.
const (
	costMove    = 60_000
	costLook    = 5_000
	costExamine = 30_000
	costRound   = 6_000 // of a fight
	costRest    = 8 * hour
	costUnknown = 60_000
)

// deed is what a player did: the payload of Player.Move, Player.Look and Player.Act. What
// is narrated of it follows from this and from what the reader may see now.
type deed struct {
	PlayerID   canon.CardID  `json:"playerId"`
	Verb       Verb          `json:"verb"`
	Direction  Direction     `json:"direction,omitempty"`
	From       *canon.CardID `json:"fromLocationId,omitempty"`
	To         *canon.CardID `json:"toLocationId,omitempty"`
	Objects    []something   `json:"objects,omitempty"`
	Target     *something    `json:"target,omitempty"`
	Detail     string        `json:"detail,omitempty"` // a word of the place's description, or what is said
	Line       int           `json:"line,omitempty"`   // which of a character's lines answers, from 1
	Effect     string        `json:"effect,omitempty"`
	DurationMs int64         `json:"durationMs"`
	Clock      int64         `json:"clock"` // the player's, afterwards
}

// something is a thing in a deed.
type something struct {
	ID       canon.CardID `json:"id"`
	Name     string       `json:"name"`
	Quantity int64        `json:"quantity,omitempty"`
}

func as(t thing, n int64) something { return something{t.ID, t.title(), n} }

// impossible is why an act cannot be done, in the words of the story. It changes nothing.
type impossible struct {
	reason string // for programs
	text   string
	hint   *hint // set where the player wanted to go where an exit is pending
}

func (i *impossible) Error() string { return i.text }

func cannot(reason, format string, args ...any) error {
	return &impossible{reason: reason, text: fmt.Sprintf(format, args...)}
}

// stage is what one act is planned on: who acts, where, and the plan.
type stage struct {
	*moment
	ctx    context.Context
	plan   *canon.Plan
	who    thing
	at     canon.Link // of who, to the place
	now    presence
	where  thing
	label  access.Label // of everything the act involves
	to     canon.CardID // where the player stands afterwards
	intent Intent
	deed   deed
	event  canon.Event // once the act is settled
}

// stand makes the stage of a player's act.
func stand(ctx context.Context, p *canon.Plan, player canon.CardID, i Intent) (*stage, error) {
	m := &moment{Look: p.Look, read: p.Clock()}
	who, ok, err := m.thing(ctx, player)
	if err != nil || !ok || !who.is(typePlayer) {
		return nil, orAbsent(err)
	}
	at, ok, err := m.whereabouts(ctx, player)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, cannot("nowhere", "You are nowhere that you could act. Ask the game master to put you somewhere.")
	}
	where, ok, err := m.thing(ctx, at.To)
	if err != nil || !ok {
		return nil, orAbsent(err)
	}
	s := &stage{moment: m, ctx: ctx, plan: p, who: who, at: at, now: presenceOf(at), where: where, label: who.Label.Meet(where.Label), to: where.ID, intent: i}
	s.tick = s.now.Clock
	s.deed = deed{PlayerID: player, Verb: i.Verb}
	p.Rest(at)
	return s, nil
}

func orAbsent(err error) error {
	if err != nil {
		return err
	}
	return noPlayer()
}

func noPlayer() error {
	return fault.New(fault.NotFound, "there is no such player; make one with POST /api/players")
}

// involve makes the event as hidden as a thing that it speaks of.
func (s *stage) involve(things ...thing) {
	for _, t := range things {
		s.label = s.label.Meet(t.Label)
	}
}

// settle plans what every act leaves, the player's clock and place, and makes its event.
func (s *stage) settle(t EventType, cost int64) error {
	s.deed.DurationMs, s.deed.Clock = cost, s.now.Clock+cost
	after := presence{Clock: s.deed.Clock, Heading: s.now.Heading}
	if s.deed.Direction != "" && t == PlayerMove {
		after.Heading = s.deed.Direction
	}
	_, err := s.plan.Link(canon.Link{ID: s.at.ID, Kind: linkAt, From: s.who.ID, To: s.to, Attrs: merged(s.at.Attrs, after.attrs()), Label: s.at.Label})
	if err != nil {
		return err
	}
	payload, err := json.Marshal(s.deed)
	if err != nil {
		return err
	}
	s.event = canon.Event{Type: string(t), Scope: string(LocationScope(s.to)), Payload: payload, Label: s.label, Version: 1,
		Actor: canon.EventActor{Kind: "player", ID: s.who.ID.String()}}
	return nil
}

// merged is a JSON object with the members of another put over its own.
func merged(base, over json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	fieldsOf(base, &all)
	fieldsOf(over, &all)
	b, _ := json.Marshal(all) // of JSON
	return b
}

// around are the things at the place: those that stand there, and those that lie there.
func (s *stage) around() ([]thing, error) {
	here, err := s.here(s.ctx, s.where.ID)
	if err != nil {
		return nil, err
	}
	lying, err := s.held(s.ctx, s.where.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range lying {
		if !slices.ContainsFunc(here, func(t thing) bool { return t.ID == c.ID }) {
			here = append(here, c.thing)
		}
	}
	return slices.DeleteFunc(here, func(t thing) bool { return t.ID == s.who.ID }), nil
}

// carrying are the things that the player has.
func (s *stage) carrying() ([]thing, error) {
	list, err := s.held(s.ctx, s.who.ID)
	out := make([]thing, len(list))
	for i, c := range list {
		out[i] = c.thing
	}
	return out, err
}

// one finds the one thing that a typed name fits.
func (s *stage) one(name string, among []thing, missing string) (thing, error) {
	found := matching(name, among)
	switch len(found) {
	case 1:
		s.involve(found[0])
		return found[0], nil
	case 0:
		return thing{}, cannot("absent", missing, name)
	}
	return thing{}, cannot("ambiguous", "Which do you mean: %s?", listed(titles(found), "or"))
}

// someoneHere finds a character, creature or player at the place.
func (s *stage) someoneHere(name string) (thing, error) {
	all, err := s.around()
	if err != nil {
		return thing{}, err
	}
	return s.one(name, slices.DeleteFunc(all, func(t thing) bool { return !alive(t) }), "There is nobody called %q here.")
}

// alive reports whether a thing can be spoken to.
func alive(t thing) bool {
	return t.is(typePlayer) || t.is("Character") || t.is("Creature") || t.is("NPC")
}

// portable reports whether a thing can be carried off.
func portable(t thing) bool {
	var f struct {
		Fixed    bool  `json:"fixed"`
		Portable *bool `json:"portable"`
	}
	fieldsOf(t.Fields, &f)
	switch {
	case alive(t) || t.is(typeLocation) || t.is(typeRealm) || t.is("Faction") || f.Fixed:
		return false
	case f.Portable != nil:
		return *f.Portable
	}
	return true
}
