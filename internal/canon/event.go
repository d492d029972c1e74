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

// Event is a domain event of a commit, which has at most one. In the stream of a world's canon it
// is also stored in the events table, where callers who may see its label find it.
type Event struct {
	Type    string          `json:"type"`
	Scope   string          `json:"scope,omitempty"` // subject in the surface's terms, such as "place:<id>"
	Payload json.RawMessage `json:"payload,omitempty"`
	Label   access.Label    `json:"label,omitzero"` // the zero Label is visible to everyone
	Actor   EventActor      `json:"actor,omitzero"`
	Key     string          `json:"key,omitempty"`     // the sender's own id of the event; see Plan.EventOnce
	Version int             `json:"version,omitempty"` // of the payload's schema
}

// EventActor identifies the actor of an event.
type EventActor struct {
	Kind string `json:"kind,omitempty"` // player, npc, system or ai
	ID   string `json:"id,omitempty"`
}

// StoredEvent is a row of the events table.
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
	Payload     json.RawMessage // nil if there is none
	Label       access.Label
}

const (
	// MaxPayload bounds an event's payload, in bytes of JSON.
	MaxPayload = 256 << 10
	// eventWord bounds an event's type, scope, key and actor id, in bytes.
	eventWord = 200
	// eventKeyLife is the time for which EventOnce recognises the key of an event.
	eventKeyLife = 7 * 24 * time.Hour
)

// checkLimits returns an error that names the first invalid field of the event, or nil.
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
		return fault.New(fault.TooLarge, "an event's payload can have at most %d bytes; this one has %d", MaxPayload,
			len(e.Payload))
	}
	return nil
}

// toCanonical checks the event and returns it in its canonical form, which is stored.
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

// Event attaches a domain event to the commit. It refuses an event that the author could not see. A
// plan with an event commits even if it changes nothing else.
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

// EventOnce is Event for an event that may be sent again. If the caller can see an event with the
// same Key from the last seven days, EventOnce returns that event with sent set and plans nothing.
func (p *Plan) EventOnce(e Event) (earlier StoredEvent, sent bool, err error) {
	if e.Key == "" {
		return StoredEvent{}, false, fault.BadField("event.key", "an event that can be sent again needs a key")
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

// findRecentEvent finds the visible event that used a key within eventKeyLife.
func findRecentEvent(ctx context.Context, r Reader, s Visibility, key string,
	now time.Time) (StoredEvent, bool, error) {
	list, _, err := r.Events(ctx, s, EventQuery{Key: key, Page: Page{Limit: 1}})
	if err != nil || len(list) == 0 || now.Sub(list[0].At) > eventKeyLife {
		return StoredEvent{}, false, err
	}
	return list[0], true, nil
}

// Cause records the change that led to this one in the commit.
func (p *Plan) Cause(id uuid.UUID) { p.set.Cause = id }

// Events lists visible events, latest first by default.
func (s *Snapshot) Events(ctx context.Context, q EventQuery) ([]StoredEvent, Total, error) {
	return s.r.Events(ctx, s.visibility, q)
}

// projectEvent writes the commit's event to the events table.
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
