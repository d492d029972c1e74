package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
)

// The types of events. EventKinds describes each of them. A new type is added in this file only.
const (
	PlayerMove      event.Type = "Player.Move"
	PlayerLook      event.Type = "Player.Look"
	PlayerAct       event.Type = "Player.Act"
	PlayerTrade     event.Type = "Player.Trade"
	MarketStocked   event.Type = "Market.Stocked"
	NPCTick         event.Type = "NPC.Tick"
	NPCDialogue     event.Type = "NPC.Dialogue"
	AmbienceMade    event.Type = "World.Ambience.Generated"
	LayerAdded      event.Type = "World.Layer.Added"
	LayerEnded      event.Type = "World.Layer.Ended"
	ExitCreated     event.Type = "World.Exit.Created"
	LocationChanged event.Type = "World.Location.Changed"
	QuestProposed   event.Type = "Quest.Proposed"
	QuestAdvanced   event.Type = "Quest.Advanced"
	GenerationHint  event.Type = "Navigation.Exit.GenerationHint"
	RetconIssued    event.Type = "Canon.RetconIssued"
	ClockAdvanced   event.Type = "World.Clock.Advanced"
	ClockReconciled event.Type = "Player.Clock.Reconciled"
	PlayerNarrated  event.Type = "Player.Narrated"
	PlayerForgotten event.Type = "Player.Forgotten"
	ThingMade       event.Type = "World.Thing.Made"
)

// EventKind describes a type of event.
type EventKind struct {
	Type    event.Type
	Version int    // of the payload
	Doc     string // description
	// MinRole is the lowest role that may request such an event (enqueue-world-event); a
	// person decides on the request. It is RoleUser, except for events whose handler uses more
	// rights than a user has and events that change the meaning of facts. Events with RoleNone
	// cannot be requested: a player's acts must agree with its place and its things, and the
	// time with the play.
	MinRole access.Role
}

// EventKinds lists all types of events in the order of the contract.
var EventKinds = []EventKind{
	{PlayerMove, 1, "A player went from one place to another.", access.RoleNone},
	{PlayerLook, 1, "A player looked around, or at something.", access.RoleUser},
	{PlayerAct, 1, "A player did something else.", access.RoleNone},
	{PlayerTrade, 1, "A player bought or sold a commodity.", access.RoleNone},
	{MarketStocked, 1, "A game master set the stock or the price of a seller.", access.RoleNone},
	{NPCTick, 1, "Time passed for a character of the narrator's.", access.RoleUser},
	{NPCDialogue, 1, "A character said something to a player.", access.RoleUser},
	{AmbienceMade, 1, "A mood was laid over a place.", access.RoleUser},
	{LayerAdded, 1, "A layer was laid over a place or realm.", access.RoleUser},
	{LayerEnded, 1, "A layer over a place ended, because the canon denies it.", access.RoleNone},
	{ExitCreated, 1, "A place got a way out.", access.RoleGM},
	{LocationChanged, 1, "Name, description or fields of a place changed.", access.RoleUser},
	{QuestProposed, 1, "A quest was accepted into the canon.", access.RoleUser},
	{QuestAdvanced, 1, "Acts of a player completed steps of its quests, or ended them.", access.RoleNone},
	{GenerationHint, 1, "A player wanted to go where an exit is still pending.", access.RoleUser},
	{RetconIssued, 1, "An accepted fact was given another meaning.", access.RoleGM},
	{ClockAdvanced, 1, "The world's clock began, went on after a pause, or was advanced by a game master.",
		access.RoleNone},
	{ClockReconciled, 1, "A player and the place where it stands came to one time.", access.RoleNone},
	{ThingMade, 1, "A noun in the text of a place became a card, because a player handled it.", access.RoleNone},
	{PlayerNarrated, 1, "An act was narrated to its player.", access.RoleNone},
	{PlayerForgotten, 1, "Words between a player and characters were erased.", access.RoleNone},
}

// ActTypes are the types of the events of players' acts. Their payload is an Action.
var ActTypes = []event.Type{PlayerMove, PlayerLook, PlayerAct, PlayerTrade}

// IsEventType reports whether there is a type of event.
func IsEventType(t event.Type) bool {
	_, ok := KindOf(t)
	return ok
}

// KindOf returns the description of a type of event.
func KindOf(t event.Type) (EventKind, bool) {
	i := slices.IndexFunc(EventKinds, func(k EventKind) bool { return k.Type == t })
	if i < 0 {
		return EventKind{}, false
	}
	return EventKinds[i], true
}

// Scope is the subject of an event: "loc:<id>", "player:<id>" or "global:world".
type Scope string

// GlobalScope is the scope of the whole world.
const GlobalScope Scope = "global:world"

// LocationScope returns the scope of a place.
func LocationScope(id canon.CardID) Scope { return Scope("loc:" + id.String()) }

// PlayerScope returns the scope of a player.
func PlayerScope(id canon.CardID) Scope { return Scope("player:" + id.String()) }

// ParseScope parses a scope. It also returns the card of the scope, or the zero id for the whole
// world.
func ParseScope(s string) (Scope, canon.CardID, bool) {
	if Scope(s) == GlobalScope {
		return GlobalScope, canon.CardID{}, true
	}
	kind, id, _ := strings.Cut(s, ":")
	u, err := uuid.Parse(id)
	ok := err == nil && len(id) == 36 && (kind == "loc" || kind == "player")
	return Scope(kind + ":" + u.String()), canon.CardID(u), ok
}

// PlaceChange describes the event World.Location.Changed, which is recorded for every version of a
// place except its first.
func PlaceChange() *event.CardChange {
	return &event.CardChange{CardType: TypeLocation, Cursor: "world.location-changes", Operation: "location_changed",
		Event: func(v canon.Version) canon.Event {
			return canon.Event{Type: string(LocationChanged), Scope: string(LocationScope(v.Card)), Label: v.Label, Version: 1,
				Key:     "location-changed:" + v.Card.String() + ":" + v.Change.String(),
				Actor:   canon.EventActor{Kind: "system"},
				Payload: fmt.Appendf(nil, `{"locationId":%q,"changeId":%q}`, v.Card, v.Change)}
		}}
}
