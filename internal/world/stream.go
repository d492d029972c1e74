package world

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// playerFeed declares the feed of the events that happen to a player and around it.
func (w *World) playerFeed() *op.Feed {
	return &op.Feed{
		Name: "follow_player", Title: "What happens around a player",
		Doc:      "Follow what a player does, what happens to it, and what happens where it stands. Each message is an event as send_command gives it, with its narration where it is the player's own.",
		Surfaces: onWorld, MinRole: access.RoleUser, Audience: audiencePlay, Route: "GET /api/players/{id}/stream",
		Kinds: []op.FeedKind{{Event: "event", Doc: "something happened"}},
		Open:  w.openStream,
	}
}

// streamBatch is the number of events that are read at once.
const streamBatch = 100

// openStream opens a stream that starts after an event that the reader has received. Without one,
// or if that event is not found, it starts at present.
func (w *World) openStream(ctx context.Context, c *op.Call, vars map[string]string,
	after string) (iter.Seq2[op.Message, error], error) {
	player, err := w.findOwnPlayer(ctx, c.Grant, vars["id"])
	if err != nil {
		return nil, err
	}
	var from canon.Seq
	err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
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
	return func(yield func(op.Message, error) bool) { w.streamEvents(ctx, c.Grant, player, from, yield) }, nil
}

func (w *World) streamEvents(ctx context.Context, g access.Grant, player canon.CardID, from canon.Seq,
	yield func(op.Message, error) bool) {
	for {
		changed := w.canon.Changed()
		for {
			messages, last, full, err := w.readBatch(ctx, g, player, from)
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
func (w *World) readBatch(ctx context.Context, g access.Grant, player canon.CardID,
	from canon.Seq) (out []op.Message, last canon.Seq, full bool, err error) {
	last = from
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		events, _, err := snap.Events(ctx, canon.EventQuery{After: from, Oldest: true, Page: canon.Page{Limit: streamBatch}})
		if err != nil || len(events) == 0 {
			return err
		}
		m := &asOf{Snapshot: snap, w: w, readAt: w.cfg.Now()}
		at, _, err := m.findAtLink(ctx, player)
		if err != nil {
			return err
		}
		for _, e := range events {
			last = e.Seq
			if !isRelevant(e, player, at.To) {
				continue
			}
			message, err := m.toMessage(ctx, e, player)
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
	if _, known := KindOf(EventType(e.Type)); !known {
		return false
	}
	scope, about, ok := ParseScope(e.Scope)
	if !ok {
		return false
	}
	var d action
	var step clockStep
	switch EventType(e.Type) {
	case PlayerMove:
		fieldsOf(e.Payload, &d)
	case ClockAdvanced:
		if fieldsOf(e.Payload, &step); step.Tick == step.FromTick {
			return false // the clock only runs on; no time was skipped
		}
	}
	return scope == GlobalScope || about == player || about == place || e.Actor.ID == player.String() || d.From != nil &&
		*d.From == place
}

// streamed is an event in a stream.
type streamed struct {
	envelope
	Narration string `json:"narration,omitempty"`
}

func (m *asOf) toMessage(ctx context.Context, e canon.StoredEvent, player canon.CardID) (op.Message, error) {
	t := streamed{envelope: toEnvelope(e)}
	if e.Actor.ID == player.String() || EventType(e.Type) == ClockReconciled && e.Scope == string(PlayerScope(player)) {
		var d action
		fieldsOf(e.Payload, &d)
		own := *m
		own.tick = d.tick()
		var err error
		if t.Narration, err = own.narrateEvent(ctx, e); err != nil {
			return op.Message{}, err
		}
	}
	data, err := op.Encode(t)
	return op.Message{ID: e.ID.String(), Event: "event", Data: json.RawMessage(data)}, err
}
