package world

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// EventType names a kind of domain event.
type EventType string

// The types of events. EventKinds describes each of them. A new type is added in this file only.
const (
	PlayerMove      EventType = "Player.Move"
	PlayerLook      EventType = "Player.Look"
	PlayerAct       EventType = "Player.Act"
	NPCTick         EventType = "NPC.Tick"
	NPCDialogue     EventType = "NPC.Dialogue"
	AmbienceMade    EventType = "World.Ambience.Generated"
	LayerAdded      EventType = "World.Layer.Added"
	ExitCreated     EventType = "World.Exit.Created"
	LocationChanged EventType = "World.Location.Changed"
	QuestProposed   EventType = "Quest.Proposed"
	GenerationHint  EventType = "Navigation.Exit.GenerationHint"
	RetconIssued    EventType = "Canon.RetconIssued"
	ClockAdvanced   EventType = "World.Clock.Advanced"
	ClockReconciled EventType = "Player.Clock.Reconciled"
)

// EventKind describes a type of event.
type EventKind struct {
	Type    EventType
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
	{NPCTick, 1, "Time passed for a character of the narrator's.", access.RoleUser},
	{NPCDialogue, 1, "A character said something to a player.", access.RoleUser},
	{AmbienceMade, 1, "A mood was laid over a place.", access.RoleUser},
	{LayerAdded, 1, "A layer was laid over a place or realm.", access.RoleUser},
	{ExitCreated, 1, "A place got a way out.", access.RoleGM},
	{LocationChanged, 1, "Name, description or fields of a place changed.", access.RoleUser},
	{QuestProposed, 1, "A quest was accepted into the canon.", access.RoleUser},
	{GenerationHint, 1, "A player wanted to go where an exit is still pending.", access.RoleUser},
	{RetconIssued, 1, "An accepted fact was given another meaning.", access.RoleGM},
	{ClockAdvanced, 1, "The world's clock began, went on after a pause, or was advanced by a game master.",
		access.RoleNone},
	{ClockReconciled, 1, "A player and the place where it stands came to one time.", access.RoleNone},
}

// KindOf returns the description of a type of event.
func KindOf(t EventType) (EventKind, bool) {
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

// Status is the progress of the handlers of an event.
type Status string

// The statuses. An event without handlers is processed.
const (
	Pending      Status = "pending"
	Processed    Status = "processed"
	Failed       Status = "failed" // will be tried again
	DeadLettered Status = "dead_lettered"
)

// eventSummary is an event as it appears in lists.
type eventSummary struct {
	ID          uuid.UUID `json:"id"`
	EventType   string    `json:"eventType"`
	OccurredUtc time.Time `json:"occurredUtc"`
	ActorKind   string    `json:"actorKind"`
	Status      Status    `json:"status" enum:"pending,processed,failed,dead_lettered"`

	Text             string          `json:"text,omitempty" jsonschema:"What was said and done, where it was asked for and all that it speaks of is in sight."`
	Payload          json.RawMessage `json:"payload,omitempty" jsonschema:"The event's own data, under the same conditions."`
	PayloadTruncated bool            `json:"payloadTruncated,omitempty" jsonschema:"The payload is too long to be given here."`
}

// envelope is an event with everything that its reader may know of it.
type envelope struct {
	EventID        uuid.UUID       `json:"eventId"`
	Type           string          `json:"type"`
	OccurredUtc    time.Time       `json:"occurredUtc"`
	Scope          string          `json:"scope"`
	Actor          eventActor      `json:"actor"`
	CorrelationID  string          `json:"correlationId"`
	CausationID    string          `json:"causationId,omitempty"`
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
	Version        int             `json:"version"`
	Payload        json.RawMessage `json:"payload"`
}

type eventActor struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
}

func toEnvelope(e canon.StoredEvent) envelope {
	payload := e.Payload
	if payload == nil {
		payload = json.RawMessage("{}")
	}
	return envelope{EventID: e.ID, Type: e.Type, OccurredUtc: e.At, Scope: e.Scope,
		Actor:         eventActor{actorKind(e), e.Actor.ID},
		CorrelationID: e.Correlation, CausationID: e.Causation, IdempotencyKey: e.Key, Version: max(e.Version, 1),
		Payload: payload}
}

func actorKind(e canon.StoredEvent) string {
	if e.Actor.Kind == "" {
		return "system"
	}
	return e.Actor.Kind
}

// recentEvents lists the events of a query, latest first. Events whose type is not in EventKinds
// belong to other surfaces.
func (m *asOf) recentEvents(ctx context.Context, q canon.EventQuery, limit int) ([]eventSummary, error) {
	events, err := m.readEvents(ctx, q, limit)
	if err != nil {
		return nil, err
	}
	return m.summarizeEvents(ctx, events)
}

func (m *asOf) readEvents(ctx context.Context, q canon.EventQuery, limit int) ([]canon.StoredEvent, error) {
	q.AsOf, q.Page = m.seq, canon.Page{Limit: limit, Uncounted: true}
	list, _, err := m.Events(ctx, q)
	return list, err
}

// summarizeEvents returns the summaries of events, with the progress of their handlers.
func (m *asOf) summarizeEvents(ctx context.Context, events []canon.StoredEvent) ([]eventSummary, error) {
	known, err := m.eventStatuses(ctx, events)
	if err != nil {
		return nil, err
	}
	out := make([]eventSummary, len(events))
	for i, e := range events {
		out[i] = eventSummary{ID: e.ID, EventType: e.Type, OccurredUtc: e.At, ActorKind: actorKind(e), Status: known[e.ID]}
	}
	return out, nil
}

// eventStatuses returns the status of each event. Events without a handler are processed.
func (m *asOf) eventStatuses(ctx context.Context, events []canon.StoredEvent) (map[uuid.UUID]Status, error) {
	out := make(map[uuid.UUID]Status, len(events))
	var ask []uuid.UUID
	for _, e := range events {
		out[e.ID] = Processed
		if m.w.cfg.Handled != nil && m.w.cfg.Handled.Handles(EventType(e.Type)) {
			out[e.ID] = Pending
			ask = append(ask, e.ID)
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	known, err := m.w.cfg.Handled.Statuses(ctx, m.World().ID, ask, m.readAt)
	for id, s := range known {
		out[id] = s
	}
	return out, err
}

// recentPlayerEvents lists the events that a player caused or that happened to it, latest first.
func (m *asOf) recentPlayerEvents(ctx context.Context, player canon.CardID, limit int) ([]eventSummary, error) {
	events, err := m.playerEvents(ctx, player, limit)
	if err != nil {
		return nil, err
	}
	return m.summarizeEvents(ctx, events)
}

// playerEvents returns the events of a player's scope and those that the player caused, latest
// first.
func (m *asOf) playerEvents(ctx context.Context, player canon.CardID, limit int) ([]canon.StoredEvent, error) {
	about, err := m.readEvents(ctx, canon.EventQuery{Scopes: []string{string(PlayerScope(player))}}, limit)
	if err != nil {
		return nil, err
	}
	by, err := m.readEvents(ctx, canon.EventQuery{Actor: player.String()}, limit)
	if err != nil {
		return nil, err
	}
	all := append(about, by...)
	slices.SortFunc(all, func(a, b canon.StoredEvent) int { return cmp.Compare(b.Seq, a.Seq) })
	all = slices.CompactFunc(all, func(a, b canon.StoredEvent) bool { return a.Seq == b.Seq })
	return all[:min(len(all), limit)], nil
}
