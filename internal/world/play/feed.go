package play

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/op"
	"loregate/internal/world"
)

// playerFeed declares the feed of the events that happen to a player and around it.
func (h *Host) playerFeed() *op.Feed {
	return &op.Feed{
		Name: "follow_player", Title: "Events around a player",
		Doc: "Follow the events of a player and of its place. Each message is an event as in the answer of " +
			"send_command; the player's own events have a narration.",
		Surfaces: onWorld, MinRole: access.RoleUser, Audience: audiencePlay, Route: "GET /api/players/{id}/stream",
		Kinds: []op.FeedKind{{Event: "event", Doc: "an event"}},
		Open:  h.openStream,
	}
}

// streamBatch is the number of events that are read at once.
const streamBatch = 100

// openStream opens a stream that starts after an event that the reader has received. Without one,
// or if that event is not found, it starts with the next event.
func (h *Host) openStream(ctx context.Context, c *op.Call, vars map[string]string,
	after string) (iter.Seq2[op.Message, error], error) {
	player, err := h.findOwnPlayer(ctx, c.Grant, vars["id"])
	if err != nil {
		return nil, err
	}
	var from canon.Seq
	err = h.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		from = snap.Now()
		u, bad := uuid.Parse(after)
		if bad != nil {
			return nil
		}
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: u, Page: canon.Page{Limit: 1}})
		if len(events) > 0 {
			from = events[0].Seq
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(yield func(op.Message, error) bool) { h.streamEvents(ctx, c.Grant, player, from, yield) }, nil
}

func (h *Host) streamEvents(ctx context.Context, g access.Grant, player canon.CardID, from canon.Seq,
	yield func(op.Message, error) bool) {
	for {
		changed := h.canon.Changed()
		for {
			messages, last, full, err := h.readBatch(ctx, g, player, from)
			if err != nil {
				if ctx.Err() == nil {
					yield(op.Message{}, err)
				}
				return
			}
			for _, m := range messages {
				if !yield(m, nil) {
					return
				}
			}
			if from = last; !full {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// readBatch reads the next events and returns messages for those that are relevant to a player.
func (h *Host) readBatch(ctx context.Context, g access.Grant, player canon.CardID,
	from canon.Seq) (out []op.Message, last canon.Seq, full bool, err error) {
	last = from
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{After: from, Oldest: true, Page: canon.Page{Limit: streamBatch}})
		if err != nil || len(events) == 0 {
			return err
		}
		m := h.world.Current(snap)
		at, _, err := m.FindAtLink(ctx, player)
		if err != nil {
			return err
		}
		for _, e := range events {
			last = e.Seq
			if !isRelevant(e, player, at.To) {
				continue
			}
			message, err := narrator{m}.toMessage(ctx, e, player)
			if err != nil {
				return err
			}
			out = append(out, message)
		}
		full = len(events) == streamBatch
		return nil
	})
	return out, last, full, err
}

// isRelevant reports whether an event is about a player, the place where it is, or the world.
func isRelevant(e canon.StoredEvent, player, place canon.CardID) bool {
	if _, known := world.KindOf(event.Type(e.Type)); !known {
		return false
	}
	scope, about, ok := world.ParseScope(e.Scope)
	if !ok {
		return false
	}
	var d world.Action
	var step world.ClockStep
	switch event.Type(e.Type) {
	case world.PlayerMove:
		world.DecodeFields(e.Payload, &d)
	case world.ClockAdvanced:
		if world.DecodeFields(e.Payload, &step); step.Tick == step.FromTick {
			return false // the clock only runs on; no time was skipped
		}
	}
	return scope == world.GlobalScope || about == player || about == place || e.Actor.ID == player.String() ||
		d.From != nil && *d.From == place
}

// streamed is an event in a stream.
type streamed struct {
	envelope
	Narration string `json:"narration,omitempty"`
}

func (m narrator) toMessage(ctx context.Context, e canon.StoredEvent, player canon.CardID) (op.Message, error) {
	t := streamed{envelope: toEnvelope(e)}
	if e.Actor.ID == player.String() ||
		slices.Contains([]event.Type{world.ClockReconciled, world.QuestAdvanced}, event.Type(e.Type)) &&
			e.Scope == string(world.PlayerScope(player)) {
		var d world.Action
		world.DecodeFields(e.Payload, &d)
		own := *m.AsOf
		own.Tick = d.Tick()
		var err error
		if t.Narration, err = (narrator{&own}).narrateEvent(ctx, e); err != nil {
			return op.Message{}, err
		}
	}
	data, err := op.Encode(t)
	return op.Message{ID: e.ID.String(), Event: "event", Data: json.RawMessage(data)}, err
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
		Actor:         eventActor{cmp.Or(e.Actor.Kind, "system"), e.Actor.ID},
		CorrelationID: e.Correlation, CausationID: e.Causation, IdempotencyKey: e.Key, Version: max(e.Version, 1),
		Payload: payload}
}
