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

// action is an act of a player: the payload of Player.Move, Player.Look and Player.Act. Its
// narration is made from this and from the data that the reader may see at present.
type action struct {
	PlayerID   canon.CardID  `json:"playerId"`
	Verb       Verb          `json:"verb"`
	Direction  Direction     `json:"direction,omitempty"`
	From       *canon.CardID `json:"fromLocationId,omitempty"`
	To         *canon.CardID `json:"toLocationId,omitempty"`
	Objects    []objectRef   `json:"objects,omitempty"`
	Target     *objectRef    `json:"target,omitempty"`
	Detail     string        `json:"detail,omitempty"` // a word of the place's description, or the words said
	Line       int           `json:"line,omitempty"`   // which of a character's lines answers, from 1
	Effect     string        `json:"effect,omitempty"`
	DurationMs int64         `json:"durationMs"`
	// part of the cost that was cut: no player gets further ahead of the world
	CutMs  int64    `json:"cutMs,omitempty"`
	Clock  int64    `json:"clock"`            // the player's clock afterwards
	Anchor *int64   `json:"anchor,omitempty"` // the time of the place afterwards; absent from older events
	World  *actLine `json:"world,omitempty"`  // set if the clock needed a step that the act could not make
}

// tick returns the world time that the narration of the act is about.
func (d action) tick() int64 {
	if d.Anchor != nil {
		return *d.Anchor
	}
	return d.Clock
}

// objectRef refers to a card in an action.
type objectRef struct {
	ID       canon.CardID `json:"id"`
	Name     string       `json:"name"`
	Quantity int64        `json:"quantity,omitempty"`
}

func toObjectRef(t cardAt, n int64) objectRef { return objectRef{t.ID, t.title(), n} }

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

// turn is the state in which one act is planned: the player, its place, and the plan.
type turn struct {
	*asOf
	ctx      context.Context
	plan     *canon.Plan
	player   cardAt
	atLink   canon.Link // link at from the player to the place
	presence presence
	place    cardAt
	clock    worldClock
	world    int64        // the world's time
	label    access.Label // meet of the labels of all cards that the act involves
	to       cardAt       // place of the player afterwards
	travel   int64        // travel time of the exit; 0 if it has none
	intent   Intent
	action   action
	event    canon.Event // set by finishTurn
	waits    bool        // the player must be set to the time of the place before it acts
	meets    bool        // the player must be set to the time of the place after it acts
}

// newTurn returns the turn of a player's act. w may be nil: then the clock is read from its events.
func newTurn(ctx context.Context, w *World, p *canon.Plan, player canon.CardID, i Intent) (*turn, error) {
	m := &asOf{Snapshot: p.Snapshot, w: w, readAt: p.Clock()}
	who, ok, err := m.cardAt(ctx, player)
	if err != nil || !ok || !who.isType(typePlayer) {
		return nil, orNoPlayer(err)
	}
	at, ok, err := m.findAtLink(ctx, player)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, cannot("nowhere", "You are nowhere that you could act. Ask the game master to put you somewhere.")
	}
	where, ok, err := m.cardAt(ctx, at.To)
	if err != nil || !ok {
		return nil, orNoPlayer(err)
	}
	s := &turn{asOf: m, ctx: ctx, plan: p, player: who, atLink: at, presence: presenceOf(at), place: where,
		label: who.Label.Meet(where.Label), to: where, intent: i}
	if s.clock, err = m.worldClock(ctx); err != nil {
		return nil, err
	}
	s.world, s.tick = s.clock.tickAt(p.Clock()), s.presence.Clock
	s.action = action{PlayerID: player, Verb: i.Verb}
	p.Rest(at)
	return s, nil
}

func orNoPlayer(err error) error {
	if err != nil {
		return err
	}
	return noPlayer()
}

func noPlayer() error {
	return fault.New(fault.NotFound, "there is no such player; make one with POST /api/players")
}

// narrowLabel makes the event at least as hidden as cards that it mentions.
func (s *turn) narrowLabel(things ...cardAt) {
	for _, t := range things {
		s.label = s.label.Meet(t.Label)
	}
}

// finishTurn plans the effects that every act has, on the player's clock and place, and makes the
// event. It cuts the duration so that the player gets at most maxLead ahead of the world.
func (s *turn) finishTurn(t EventType) error {
	state, err := s.readCondition(s.ctx, s.to)
	if err != nil {
		return err
	}
	cost := costOf(s.intent.Verb, s.travel, state)
	s.action.DurationMs = min(cost, max(s.world+maxLead-s.presence.Clock, 0))
	s.action.CutMs, s.action.Clock = cost-s.action.DurationMs, s.presence.Clock+s.action.DurationMs
	if err := s.reconcileWithPlace(s.to.ID); err != nil {
		return err
	}
	after := presence{Clock: s.action.Clock, Heading: s.presence.Heading}
	if s.action.Direction != "" && t == PlayerMove {
		after.Heading = s.action.Direction
	}
	_, err = s.plan.Link(canon.Link{ID: s.atLink.ID, Kind: linkAt, From: s.player.ID, To: s.to.ID,
		Attrs: mergeAttrs(s.atLink.Attrs, after.toAttrs()), Label: s.atLink.Label})
	if err != nil {
		return err
	}
	if s.label.Equal(access.NewLabel(access.LevelUser)) {
		s.action.World = s.clock.actLineFor(s.plan.Clock(), rateOf(s.World().Settings))
	}
	payload, err := json.Marshal(s.action)
	if err != nil {
		return err
	}
	s.event = canon.Event{Type: string(t), Scope: string(LocationScope(s.to.ID)), Payload: payload, Label: s.label,
		Version: 1,
		Actor:   canon.EventActor{Kind: "player", ID: s.player.ID.String()}}
	return nil
}

// reconcileWithPlace records the time of the place where the player is afterwards. If the player
// arrives there, it also determines whether the two must be set to one time.
func (s *turn) reconcileWithPlace(place canon.CardID) error {
	links, err := s.anchorLinks(s.ctx, place)
	if err != nil {
		return err
	}
	anchor := anchorOf(links, s.world, s.isOpenToWitnesses)
	if place != s.place.ID {
		r := reconcileClocks(s.action.Clock, anchor, s.world)
		anchor, s.meets = r.Anchor, r.Policy != ""
	} else {
		s.waits = s.isBehind(links)
	}
	s.action.Anchor = &anchor
	return nil
}

// mergeAttrs returns a JSON object with the members of base, overwritten by those of over.
func mergeAttrs(base, over json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	fieldsOf(base, &all)
	fieldsOf(over, &all)
	b, _ := json.Marshal(all) // JSON always encodes
	return b
}

// cardsAround returns the other cards at the place: those with a link at to it, and those that it
// holds.
func (s *turn) cardsAround() ([]cardAt, error) {
	here, err := s.cardsHere(s.ctx, s.place.ID)
	if err != nil {
		return nil, err
	}
	lying, err := s.heldItems(s.ctx, s.place.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range lying {
		if !slices.ContainsFunc(here, func(t cardAt) bool { return t.ID == c.ID }) {
			here = append(here, c.card)
		}
	}
	return slices.DeleteFunc(here, func(t cardAt) bool { return t.ID == s.player.ID }), nil
}

// carriedCards returns the things that the player has.
func (s *turn) carriedCards() ([]cardAt, error) {
	list, err := s.heldItems(s.ctx, s.player.ID)
	out := make([]cardAt, len(list))
	for i, c := range list {
		out[i] = c.card
	}
	return out, err
}

// findOne returns the only card that a typed name matches best. It is an *impossible error if there
// is none or several.
func (s *turn) findOne(name string, among []cardAt, missing string) (cardAt, error) {
	found := findMatches(name, among)
	switch len(found) {
	case 1:
		s.narrowLabel(found[0])
		return found[0], nil
	case 0:
		return cardAt{}, cannot("absent", missing, name)
	}
	return cardAt{}, cannot("ambiguous", "Which do you mean: %s?", joinNames(titlesOf(found), "or"))
}

// findPersonHere returns the character, creature or player at the place that a name means.
func (s *turn) findPersonHere(name string) (cardAt, error) {
	all, err := s.cardsAround()
	if err != nil {
		return cardAt{}, err
	}
	return s.findOne(name, slices.DeleteFunc(all, func(t cardAt) bool { return !isAlive(t) }),
		"There is nobody called %q here.")
}

// isAlive reports whether a card can be spoken to.
func isAlive(t cardAt) bool {
	return t.isType(typePlayer) || t.isType("Character") || t.isType("Creature") || t.isType("NPC")
}

// isPortable reports whether a card can be carried off.
func isPortable(t cardAt) bool {
	var f struct {
		Fixed    bool  `json:"fixed"`
		Portable *bool `json:"portable"`
	}
	fieldsOf(t.Fields, &f)
	switch {
	case isAlive(t) || t.isType(typeLocation) || t.isType(typeRealm) || t.isType("Faction") || f.Fixed:
		return false
	case f.Portable != nil:
		return *f.Portable
	}
	return true
}
