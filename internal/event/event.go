package event

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Type names a kind of domain event.
type Type string

// Handler handles events of some types. Handle may be called again for the same event, after a
// failure or a lost lease. The grant carries an idempotency key made from the event and the
// handler, so that one commit made with it is made only once.
type Handler struct {
	Name   string // unique and never changed: the handler's progress is stored under it
	Types  []Type
	Handle func(ctx context.Context, g access.Grant, e canon.StoredEvent) error
}

// ReadOperation is the operation name of an Act that only reads.
const ReadOperation = "read_events"

// Act authorises one act of the system in a world, with the role admin, and calls f with its grant.
// key is the idempotency key, or "" for none.
type Act func(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error
