package play

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

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
