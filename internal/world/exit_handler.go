package world

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/fault"
)

// exitPayload is the payload of World.Exit.Created.
type exitPayload struct {
	FromID string `json:"fromId"`
	ToID   string `json:"toId"`
	exitAttrs
}

// ExitHandler returns the handler that makes the exit of an accepted World.Exit.Created event, if
// the event names both places and a direction that has no exit yet. An event that does not name the
// destination has no effect.
func ExitHandler(c *canon.Canon) event.Handler {
	return event.Handler{Name: "exits", Types: []event.Type{ExitCreated},
		Handle: func(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
			var x exitPayload
			DecodeFields(e.Payload, &x)
			from, badFrom := uuid.Parse(x.FromID)
			to, badTo := uuid.Parse(x.ToID)
			if badFrom != nil || badTo != nil || !x.Direction.Valid() {
				return nil
			}
			_, err := c.Update(ctx, g,
				func(p *canon.Plan) error { return planExit(ctx, p, canon.CardID(from), canon.CardID(to), x, e) })
			return err
		}}
}

func planExit(ctx context.Context, p *canon.Plan, from, to canon.CardID, x exitPayload, e canon.StoredEvent) error {
	m := (*World)(nil).Current(p.Snapshot)
	label := e.Label
	for _, id := range []canon.CardID{from, to} {
		t, ok, err := m.CardByID(ctx, id)
		if err != nil {
			return err
		}
		if !ok || !t.IsType(TypeLocation) {
			return fault.New(fault.Rule, "the exit leads from or to a place that is not there: %s", id)
		}
		label = label.Meet(t.Label)
	}
	place, _, err := m.CardByID(ctx, from)
	if err != nil {
		return err
	}
	exits, err := m.Exits(ctx, place)
	if err != nil {
		return err
	}
	if way, ok := ExitToward(exits, x.Direction); ok && way.Availability == ExitHard {
		return nil
	}
	attrs, err := json.Marshal(x.exitAttrs)
	if err != nil {
		return err
	}
	own := canon.Link{ID: canon.LinkIDOf(LinkExit, from.String(), string(x.Direction)), Kind: LinkExit, From: from, To: to,
		Attrs: attrs, Label: label}
	p.Rest(own)
	p.Cause(e.ID)
	_, err = p.Link(own)
	return err
}
