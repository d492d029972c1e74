package event

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
)

// Type names a kind of domain event.
type Type string

// Handler handles events of some types. Handle may be called again for the same event, after a
// failure or a lost lease. The grant carries an idempotency key made from the event and the
// handler, so that one commit made with it is made only once.
type Handler struct {
	Name  string // unique and never changed: the handler's progress is stored under it
	Types []Type
	// Every, in place of Types, is the span of time in which the handler is due once in each world. Its event has an id
	// and nothing else.
	Every time.Duration
	// Aside is set if the handler does something of its own because of an event. The event's status does not tell of it,
	// since the time at which it runs depends on all that happens in the world.
	Aside  bool
	Handle func(ctx context.Context, g access.Grant, e canon.StoredEvent) error
}

// ReadOperation is the operation name of an Act that only reads.
const ReadOperation = "read_events"

// Act authorises one act of the system in a world, with the role admin, and calls f with its grant.
// key is the idempotency key, or "" for none.
type Act func(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error

// Status is the progress of the handlers of an event.
type Status string

// The statuses. An event without handlers is processed.
const (
	Pending      Status = "pending"
	Processed    Status = "processed"
	Failed       Status = "failed" // will be tried again
	DeadLettered Status = "dead_lettered"
)

// Statuses returns the status of events as of a time. If an event has several handlers, it is the
// status of the one that is furthest from success.
func (d *Dispatcher) Statuses(ctx context.Context, w access.WorldID, events []uuid.UUID,
	at time.Time) (map[uuid.UUID]Status, error) {
	list, err := d.cfg.Deliveries.Of(ctx, w, events)
	out := map[uuid.UUID]Status{}
	for _, one := range list {
		if d.isAside(one.Handler) {
			continue
		}
		s := statusOf(one)
		if one.Changed.After(at) {
			s = Pending
		}
		if before, ok := out[one.Event]; !ok || statusOrder[s] > statusOrder[before] {
			out[one.Event] = s
		}
	}
	return out, err
}

func (d *Dispatcher) isAside(handler string) bool {
	return slices.ContainsFunc(d.cfg.Handlers, func(h Handler) bool { return h.Name == handler && h.Aside })
}

var statusOrder = map[Status]int{Processed: 0, Pending: 1, Failed: 2, DeadLettered: 3}

func statusOf(d job.Delivery) Status {
	switch d.State {
	case job.DeliveryProcessed:
		return Processed
	case job.DeliveryFailed:
		return Failed
	case job.DeliveryDead:
		return DeadLettered
	}
	return Pending
}
