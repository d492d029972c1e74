package play

import (
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// turn is the state in which one act is planned: the player, its place, and the plan.
type turn struct {
	*world.AsOf
	ctx      context.Context
	plan     *canon.Plan
	player   world.Card
	atLink   canon.Link // link at from the player to the place
	presence world.Presence
	place    world.Card
	clock    world.Clock
	world    int64        // the world's time
	label    access.Label // meet of the labels of all cards that the act involves
	to       world.Card   // place of the player afterwards
	travel   int64        // travel time of the exit; 0 if it has none
	intent   command.Intent
	action   world.Action
	event    canon.Event // set by finishTurn
	settle   Settle
	how      string // where a thing is put: in, on, under; see addToHolder
	rests    int64  // time that an act takes; 0 for that of its verb
	waits    bool   // the player must be set to the time of the place before it acts
	meets    bool   // the player must be set to the time of the place after it acts

	// Read at most once; see resolve.go.
	targets    []world.Card
	exits      []world.Exit
	exitsRead  bool
	texts      []passage // of the place and of cards at it
	placeTexts []passage
	acts       []world.Action
	tried      bool // a noun that the act needs was to become a card already
	unsure     bool // the latest line of an answer is that its speaker does not know
}

// newTurn returns the turn of a player's act. w may be nil: then the clock is read from its events.
func newTurn(ctx context.Context, w *world.World, p *canon.Plan, player canon.CardID, i command.Intent) (*turn, error) {
	m := w.Current(p.Snapshot)
	who, ok, err := m.CardByID(ctx, player)
	if err != nil || !ok || !who.IsType(world.TypePlayer) {
		return nil, orNoPlayer(err)
	}
	at, ok, err := m.FindAtLink(ctx, player)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, cannot("nowhere", "You are nowhere that you could act. Ask the game master to put you somewhere.")
	}
	where, ok, err := m.CardByID(ctx, at.To)
	if err != nil || !ok {
		return nil, orNoPlayer(err)
	}
	s := &turn{AsOf: m, ctx: ctx, plan: p, player: who, atLink: at, presence: world.PresenceOf(at), place: where,
		label: who.Label.Meet(where.Label), to: where, intent: i}
	if s.clock, err = m.WorldClock(ctx); err != nil {
		return nil, err
	}
	s.world, s.Tick = s.clock.TickAt(p.Clock()), s.presence.Clock
	s.action = world.Action{PlayerID: player, Verb: i.Verb}
	p.DependOnLink(at)
	p.Composes()
	return s, nil
}

// narrowLabel makes the event at least as hidden as cards that it mentions.
func (s *turn) narrowLabel(things ...world.Card) {
	for _, t := range things {
		s.label = s.label.Meet(t.Label)
	}
}

// aimAt makes a card the target of the act.
func (s *turn) aimAt(to world.Card) {
	target := world.NewObjectRef(to, 0)
	s.action.Target = &target
}

// finishTurn plans the effects that every act has, on the player's clock and place, and makes the
// event. It cuts the duration so that the player gets at most MaxLead ahead of the world.
func (s *turn) finishTurn(t event.Type) error {
	state, err := s.readCondition(s.ctx, s.to)
	if err != nil {
		return err
	}
	cost := costOf(s.intent.Verb, s.travel, state)
	if s.rests > 0 {
		cost = s.rests
	}
	s.action.DurationMs = min(cost, max(s.world+world.MaxLead-s.presence.Clock, 0))
	s.action.CutMs, s.action.Clock = cost-s.action.DurationMs, s.presence.Clock+s.action.DurationMs
	if err := s.reconcileWithPlace(s.to.ID); err != nil {
		return err
	}
	after := world.Presence{Clock: s.action.Clock, Heading: s.presence.Heading}
	if s.action.Direction != "" && t == world.PlayerMove {
		after.Heading = s.action.Direction
	}
	_, err = s.plan.Link(canon.Link{ID: s.atLink.ID, Kind: world.LinkAt, From: s.player.ID, To: s.to.ID,
		Attrs: mergeAttrs(s.atLink.Attrs, after.Attrs()), Label: s.atLink.Label})
	if err != nil {
		return err
	}
	if s.label.Equal(access.NewLabel(access.LevelUser)) {
		s.action.World = s.clock.LineFor(s.plan.Clock(), s.World().Settings)
	}
	payload, err := json.Marshal(s.action)
	if err != nil {
		return err
	}
	s.event = canon.Event{Type: string(t), Scope: string(world.LocationScope(s.to.ID)), Payload: payload, Label: s.label,
		Version: 1,
		Actor:   canon.EventActor{Kind: "player", ID: s.player.ID.String()}}
	return nil
}

// mergeAttrs returns a JSON object with the members of base, overwritten by those of over.
func mergeAttrs(base, over json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	world.DecodeFields(base, &all)
	world.DecodeFields(over, &all)
	b, _ := json.Marshal(all) // JSON always encodes
	return b
}

// cardsAround returns the other cards at the place: those with a link at to it, and those that it
// holds.
func (s *turn) cardsAround() ([]world.Card, error) {
	here, err := s.CardsHere(s.ctx, s.place.ID)
	if err != nil {
		return nil, err
	}
	lying, err := s.HeldItems(s.ctx, s.place.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range lying {
		if !slices.ContainsFunc(here, func(t world.Card) bool { return t.ID == c.ID }) {
			here = append(here, c.Card)
		}
	}
	return slices.DeleteFunc(here, func(t world.Card) bool { return t.ID == s.player.ID }), nil
}

// carriedCards returns the things that the player has.
func (s *turn) carriedCards() ([]world.Card, error) {
	list, err := s.HeldItems(s.ctx, s.player.ID)
	return slicesx.Map(list, func(c world.Held) world.Card { return c.Card }), err
}

// findOne returns the only card that a typed name matches best. It is an *impossible error if there
// is none or several.
func (s *turn) findOne(name string, among []world.Card, missing string) (world.Card, error) {
	if !isName(name) {
		return world.Card{}, cannot("no_target", "Which thing do you mean?")
	}
	found, err := s.findCards(name, among)
	switch {
	case err != nil:
		return world.Card{}, err
	case len(found) == 1:
		s.narrowLabel(found[0])
		return found[0], nil
	case len(found) == 0 && command.PronounOf(name) != command.NoPronoun:
		return world.Card{}, cannot("no_target", "What do you mean by %q?", markup.Clean(name))
	case len(found) == 0:
		return world.Card{}, cannot("absent", missing, markup.Clean(name))
	}
	return world.Card{}, whichOf(found)
}

// isPortable reports whether a card can be carried off.
func isPortable(t world.Card) bool {
	var f struct {
		Fixed    bool  `json:"fixed"`
		Portable *bool `json:"portable"`
	}
	world.DecodeFields(t.Fields, &f)
	switch {
	case world.IsAlive(t) || t.IsType(world.TypeLocation) || t.IsType(world.TypeRealm) || t.IsType("Faction") || f.Fixed:
		return false
	case f.Portable != nil:
		return *f.Portable
	}
	return true
}

// namesOf returns the names that a card can be called by: the last part of its name, and its
// aliases.
func namesOf(t world.Card) []string {
	var f struct {
		Aliases []string `json:"aliases"`
	}
	world.DecodeFields(t.Fields, &f)
	return append([]string{t.Title()}, f.Aliases...)
}

// rateFit returns the grade of the match between a typed name and a card.
func rateFit(typed string, t world.Card) command.Fit {
	return command.Rate(typed, namesOf(t))
}

// findMatches returns the cards that a typed name matches best, in their order.
func findMatches(typed string, among []world.Card) []world.Card {
	if found, _ := matchNames(typed, among, command.FitForms); len(found) > 0 {
		return found
	}
	found, _ := matchNames(typed, among, command.FitSlip)
	return found
}

// titlesOf returns the titles of cards.
func titlesOf(things []world.Card) []string {
	return slicesx.Map(things, world.Card.Title)
}
