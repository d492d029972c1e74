package world

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/event"
)

// eventSummary is an event as it appears in lists.
type eventSummary struct {
	ID          uuid.UUID    `json:"id"`
	EventType   string       `json:"eventType"`
	OccurredUtc time.Time    `json:"occurredUtc"`
	ActorKind   string       `json:"actorKind"`
	Status      event.Status `json:"status" enum:"pending,processed,failed,dead_lettered"`

	Text             string          `json:"text,omitempty" jsonschema:"A sentence that describes the event; only in get-recent-events, and only if the reader sees all cards that the event mentions."`
	Payload          json.RawMessage `json:"payload,omitempty" jsonschema:"The event's data, under the same conditions."`
	PayloadTruncated bool            `json:"payloadTruncated,omitempty" jsonschema:"The payload is too long for this answer."`
}

// recentEvents lists the events of a query, latest first. Events whose type is not in EventKinds
// belong to other surfaces.
func (m *AsOf) recentEvents(ctx context.Context, q canon.EventQuery, limit int) ([]eventSummary, error) {
	events, err := m.readEvents(ctx, q, limit)
	if err != nil {
		return nil, err
	}
	return m.summarizeEvents(ctx, events)
}

func (m *AsOf) readEvents(ctx context.Context, q canon.EventQuery, limit int) ([]canon.StoredEvent, error) {
	q.AsOf, q.Page = m.Seq, canon.Page{Limit: limit, Uncounted: true}
	list, _, err := m.Events(ctx, q)
	return list, err
}

// summarizeEvents returns the summaries of events, with the progress of their handlers.
func (m *AsOf) summarizeEvents(ctx context.Context, events []canon.StoredEvent) ([]eventSummary, error) {
	known, err := m.eventStatuses(ctx, events)
	if err != nil {
		return nil, err
	}
	out := make([]eventSummary, len(events))
	for i, e := range events {
		out[i] = eventSummary{ID: e.ID, EventType: e.Type, OccurredUtc: e.At, Status: known[e.ID],
			ActorKind: cmp.Or(e.Actor.Kind, "system")}
	}
	return out, nil
}

// eventStatuses returns the status of each event. Events without a handler are processed.
func (m *AsOf) eventStatuses(ctx context.Context, events []canon.StoredEvent) (map[uuid.UUID]event.Status, error) {
	out := make(map[uuid.UUID]event.Status, len(events))
	var ask []uuid.UUID
	for _, e := range events {
		out[e.ID] = event.Processed
		if m.w.cfg.Handled != nil && m.w.cfg.Handled.Handles(event.Type(e.Type)) {
			out[e.ID] = event.Pending
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
func (m *AsOf) recentPlayerEvents(ctx context.Context, player canon.CardID, limit int) ([]eventSummary, error) {
	events, err := m.playerEvents(ctx, player, limit)
	if err != nil {
		return nil, err
	}
	return m.summarizeEvents(ctx, events)
}

// playerEvents returns the events of a player's scope and those that the player caused, latest
// first.
func (m *AsOf) playerEvents(ctx context.Context, player canon.CardID, limit int) ([]canon.StoredEvent, error) {
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

type eventsIn struct {
	Scope   string `json:"scope" enum:"location,player" jsonschema:"Whether scopeId is a place or a player."`
	ScopeID string `json:"scopeId" minlen:"1" maxlen:"100" jsonschema:"Id or codename of the place or player."`
	Limit   int    `json:"limit,omitzero" numeric:"string" default:"20" jsonschema:"Most events, 1 to 100."`
	AsOf    string `json:"as_of,omitzero" maxlen:"64" jsonschema:"The state at a time such as 2026-01-31T18:00:00Z; for a GM also the number of a commit."`
}

func (e eventsIn) requestedTime() timeInput { return timeInput{AsOf: e.AsOf, Tick: new(int64)} }

func (e *eventsIn) fixTick(int64) { e.AsOf = "" }

type eventsOut struct {
	Items []eventSummary `json:"items"`
	Citation
}

func recentEventsOf(ctx context.Context, m *AsOf, in eventsIn) (eventsOut, error) {
	limit := min(max(in.Limit, 1), 100)
	none := eventsOut{Items: []eventSummary{}}
	t, ok, err := m.FindCard(ctx, in.ScopeID)
	if err != nil || !ok {
		return none, err
	}
	var events []canon.StoredEvent
	switch {
	case in.Scope == "player" && t.IsType(TypePlayer):
		events, err = m.playerEvents(ctx, t.ID, limit)
	case in.Scope == "location" && t.IsType(TypeLocation):
		events, err = m.readEvents(ctx, canon.EventQuery{Scopes: []string{string(LocationScope(t.ID))}}, limit)
	default:
		return none, nil
	}
	if err != nil {
		return none, err
	}
	items, err := m.recountEvents(ctx, events)
	return eventsOut{Items: items}, err
}
