package job

import (
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
)

// DeliveryState is the state of the delivery of one event to one handler.
type DeliveryState uint8

// The states of a delivery. A failed delivery is retried when it is due; a dead one only after
// Revive.
const (
	DeliveryPending   DeliveryState = 0
	DeliveryProcessed DeliveryState = 1
	DeliveryFailed    DeliveryState = 2
	DeliveryDead      DeliveryState = 3
)

// Delivery is the delivery of one event to one handler.
type Delivery struct {
	World    access.WorldID
	Event    uuid.UUID
	Handler  string
	State    DeliveryState
	Attempts int       // number of failed attempts
	Due      time.Time // the earliest time at which it may be claimed
	Fence    int64     // incremented by each claim: only the latest claimer can settle it
	Problem  string    // why the last attempt failed, for the operator
	Created  time.Time
	Changed  time.Time // when the state last changed
}

// Deliveries stores deliveries and the handlers' cursors. Any number of processes may use it at
// once. Every write is durable when it returns; times are stored to the millisecond.
type Deliveries interface {
	// Cursor returns the position up to which a world's events were enqueued for a handler; 0 if
	// none were.
	Cursor(ctx context.Context, w access.WorldID, handler string) (uint64, error)
	// Enqueue moves a cursor from one position to another and adds deliveries, all or nothing. It
	// reports whether it did so: if the cursor is not at from, another process was first. A
	// delivery that already exists is left unchanged.
	Enqueue(ctx context.Context, w access.WorldID, handler string, from, to uint64, list []Delivery) (bool, error)
	// Claim leases up to n due deliveries of the given handlers until the given time. Nobody else
	// gets them before that. Worlds take turns: those with ids after the given one come first, in the
	// order of their ids, and of each world the earliest due. Only the 1000 earliest due are looked at.
	Claim(ctx context.Context, handlers []string, after access.WorldID, now, until time.Time, n int) ([]Delivery, error)
	// Settle stores State, Attempts, Due, Problem and Changed of a claimed delivery. It reports
	// whether it did so: it does not after a later claim.
	Settle(ctx context.Context, d Delivery) (bool, error)
	// NextDue returns the time at which the next delivery to any of the handlers is due; false if
	// there are no such deliveries.
	NextDue(ctx context.Context, handlers []string) (time.Time, bool, error)
	// Pending returns the number of unsettled deliveries of all worlds: due, leased or due later.
	// It counts to 10,000 at most.
	Pending(ctx context.Context) (int, error)
	// Of returns the deliveries of a world's events, by event, then handler.
	Of(ctx context.Context, w access.WorldID, events []uuid.UUID) ([]Delivery, error)
	// Dead lists the dead letters of a world, latest first.
	Dead(ctx context.Context, w access.WorldID, limit int) ([]Delivery, error)
	// Revive makes a dead letter due again, as if it had never been tried. It reports whether the
	// dead letter exists.
	Revive(ctx context.Context, w access.WorldID, event uuid.UUID, handler string, now time.Time) (bool, error)
}
