package job

import (
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
)

// DeliveryState is how far the delivery of an event to a handler is.
type DeliveryState uint8

// The states. A failed delivery is tried again when it is due; a dead one when somebody
// revives it.
const (
	DeliveryPending   DeliveryState = 0
	DeliveryProcessed DeliveryState = 1
	DeliveryFailed    DeliveryState = 2
	DeliveryDead      DeliveryState = 3
)

// Delivery is one event on its way to one handler.
type Delivery struct {
	World    access.WorldID
	Event    uuid.UUID
	Handler  string
	State    DeliveryState
	Attempts int       // that have failed
	Due      time.Time // when it may be claimed
	Fence    int64     // raised by each claim: only the last one settles
	Problem  string    // why the last attempt failed, for the operator
	Created  time.Time
	Changed  time.Time // of the state
}

// Deliveries keeps what events go to which handlers. Any number of processes may use it at
// once. Every write is durable when it returns; times are kept to the millisecond.
type Deliveries interface {
	// Cursor is how far a handler has been given a world's events; 0 is not at all.
	Cursor(ctx context.Context, w access.WorldID, handler string) (uint64, error)
	// Enqueue moves a cursor from one position to another and adds deliveries, all or
	// nothing. It reports whether it did: where the cursor is not at from, another process
	// was first. A delivery that is there already stays as it is.
	Enqueue(ctx context.Context, w access.WorldID, handler string, from, to uint64, list []Delivery) (bool, error)
	// Claim takes up to n deliveries to some handlers that are due, those due first before
	// others, and lends them until a time: nobody else gets them before.
	Claim(ctx context.Context, handlers []string, now, until time.Time, n int) ([]Delivery, error)
	// Settle keeps State, Attempts, Due, Problem and Changed of a claimed delivery. It
	// reports whether it did: after a later claim it does not.
	Settle(ctx context.Context, d Delivery) (bool, error)
	// NextDue is when the next delivery to some handlers is due, or false for none.
	NextDue(ctx context.Context, handlers []string) (time.Time, bool, error)
	// Pending is how many deliveries are not settled yet, due or lent or due later, of
	// all worlds; more than 10,000 are told as 10,000.
	Pending(ctx context.Context) (int, error)
	// Of gives the deliveries of events of a world, by event, then handler.
	Of(ctx context.Context, w access.WorldID, events []uuid.UUID) ([]Delivery, error)
	// Dead lists the dead letters of a world, latest first.
	Dead(ctx context.Context, w access.WorldID, limit int) ([]Delivery, error)
	// Revive makes a dead letter due as if it had never been tried. It reports whether
	// there is such a dead letter.
	Revive(ctx context.Context, w access.WorldID, event uuid.UUID, handler string, now time.Time) (bool, error)
}
