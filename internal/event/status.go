package event

import (
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/job"
)

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
