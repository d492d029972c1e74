package canon

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Event is a domain event that a commit carries: one at most. In the stream of a world's
// canon it is projected into the table of events, where those who see its label find it.
type Event struct {
	Type    string          `json:"type"`
	Scope   string          `json:"scope,omitempty"` // what it happened to, in the surface's words: "place:<id>"
	Payload json.RawMessage `json:"payload,omitempty"`
	Label   access.Label    `json:"label,omitzero"` // the zero Label is open to all
	Actor   EventActor      `json:"actor,omitzero"`
	Key     string          `json:"key,omitempty"`     // the sender's own id for it; see Plan.EventOnce
	Version int             `json:"version,omitempty"` // of the payload's schema
}

// EventActor is who did what an event tells.
type EventActor struct {
	Kind string `json:"kind,omitempty"` // player, npc, system or ai
	ID   string `json:"id,omitempty"`
}

// StoredEvent is an event as the table of events keeps it.
type StoredEvent struct {
	World       access.WorldID
	ID          uuid.UUID // of the commit
	Seq         Seq       // of the commit
	At          time.Time
	By          access.Subject
	Op          string
	Type        string
	Scope       string
	Actor       EventActor
	Correlation string
	Causation   string
	Key         string
	Version     int
	Payload     json.RawMessage // nil for none
	Label       access.Label
}

const (
	// MaxPayload bounds an event's payload, in bytes of JSON.
	MaxPayload = 256 << 10
	// eventWord bounds an event's type, scope, key and actor.
	eventWord = 200
	// eventKeyLife is how long the key of an event is told from a new one.
	eventKeyLife = 7 * 24 * time.Hour
)

// checkLimits says what is wrong with an event, by field.
func (e Event) checkLimits() error {
	if e.Type == "" || len(e.Type) > eventWord {
		return fault.BadField("event.type", "1 to %d characters", eventWord)
	}
	for _, f := range []struct{ name, text string }{{"scope", e.Scope}, {"key", e.Key}, {"actor.id", e.Actor.ID}} {
		if len(f.text) > eventWord {
			return fault.BadField("event."+f.name, "at most %d characters", eventWord)
		}
	}
	if !slices.Contains([]string{"", "player", "npc", "system", "ai"}, e.Actor.Kind) {
		return fault.BadField("event.actor.kind", "use player, npc, system or ai")
	}
	if len(e.Payload) > MaxPayload {
		return fault.New(fault.TooLarge, "an event's payload holds at most %d bytes; this one has %d", MaxPayload, len(e.Payload))
	}
	return nil
}

// toCanonical is a checked event in the one form that is kept.
func (e Event) toCanonical() (Event, error) {
	if err := e.checkLimits(); err != nil {
		return Event{}, err
	}
	if e.Label.Level <= access.LevelUser {
		e.Label = access.Label{}
	}
	if len(e.Payload) == 0 {
		e.Payload = nil
		return e, nil
	}
	b, err := json.Marshal(e.Payload)
	if err != nil {
		return Event{}, fault.BadField("event.payload", "must be JSON")
	}
	e.Payload = b
	return e, nil
}

// Event makes the commit carry a domain event. It refuses one that its author could not
// see. A plan with an event commits though it changes nothing else.
func (p *Plan) Event(e Event) error {
	e, err := e.toCanonical()
	if err != nil {
		return err
	}
	if !p.View().Sees(e.Label) {
		return p.aboveRoleFault("event.label", e.Label)
	}
	p.set.Event, p.set.once = &e, false
	return nil
}

// EventOnce is Event for one that may be sent again: where an event in sight bore its
// Key within the last seven days, that one is given instead, and nothing is planned.
func (p *Plan) EventOnce(e Event) (earlier StoredEvent, sent bool, err error) {
	if e.Key == "" {
		return StoredEvent{}, false, fault.BadField("event.key", "an event that may be sent again needs a key")
	}
	earlier, sent, err = findRecentEvent(p.ctx, p.r, p.visibility, e.Key, p.canon.commitTime())
	if err != nil || sent {
		return earlier, sent, err
	}
	if err := p.Event(e); err != nil {
		return StoredEvent{}, false, err
	}
	p.set.once = true
	return StoredEvent{}, false, nil
}

// findRecentEvent finds the event in sight that bore a key of late.
func findRecentEvent(ctx context.Context, r Reader, s Visibility, key string, now time.Time) (StoredEvent, bool, error) {
	list, _, err := r.Events(ctx, s, EventQuery{Key: key, Page: Page{Limit: 1}})
	if err != nil || len(list) == 0 || now.Sub(list[0].At) > eventKeyLife {
		return StoredEvent{}, false, err
	}
	return list[0], true, nil
}

// Cause says which change this one follows from; it is kept in the commit.
func (p *Plan) Cause(id uuid.UUID) { p.set.Cause = id }

// Events lists events in sight, latest first unless asked otherwise.
func (s *Snapshot) Events(ctx context.Context, q EventQuery) ([]StoredEvent, Total, error) {
	return s.r.Events(ctx, s.visibility, q)
}

// projectEvent projects the event that a commit carries.
func (p *projector) projectEvent(ctx context.Context) error {
	e := p.rec.Event
	if e == nil {
		return nil
	}
	label := e.Label
	if label.Level == access.LevelNone {
		label = access.NewLabel(access.LevelUser)
	}
	return p.tx.PutEvent(ctx, StoredEvent{
		World: p.world, ID: p.rec.ID, Seq: p.rec.Seq, At: p.rec.At, By: p.rec.By, Op: p.rec.Op, Type: e.Type, Scope: e.Scope,
		Actor: e.Actor, Correlation: p.rec.Correlation, Causation: p.rec.Causation, Key: e.Key, Version: e.Version,
		Payload: e.Payload, Label: label,
	})
}
