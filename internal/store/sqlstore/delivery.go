package sqlstore

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	jobs "loregate/internal/job"
)

var _ jobs.Deliveries = (*Service)(nil)

// Cursor returns the last sequence number of a world's events that a handler was given.
func (s *Service) Cursor(ctx context.Context, w access.WorldID, handler string) (at uint64, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) (err error) {
		at, err = readCursor(ctx, c, w, handler)
		return err
	})
	return at, err
}

func readCursor(ctx context.Context, c Conn, w access.WorldID, handler string) (uint64, error) {
	at, err := QueryInt(ctx, c, "SELECT seq FROM delivery_cursors WHERE world = $1 AND handler = $2", w[:], handler)
	return uint64(at), err
}

// Enqueue moves a cursor and adds deliveries. It does nothing if the cursor is not at from.
func (s *Service) Enqueue(ctx context.Context, w access.WorldID, handler string, from, to uint64,
	list []jobs.Delivery) (moved bool, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		moved = false
		at, err := readCursor(ctx, c, w, handler)
		if err != nil || at != from {
			return err
		}
		for _, d := range list {
			if _, err := c.Exec(ctx, `INSERT INTO deliveries (world, event, handler, state, attempts, due, fence, problem, created, changed)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`, w[:], d.Event[:], handler, int64(d.State), d.Attempts,
				Millis(d.Due), d.Fence, d.Problem, Millis(d.Created), Millis(d.Changed)); err != nil {
				return err
			}
		}
		_, err = c.Exec(ctx,
			`INSERT INTO delivery_cursors (world, handler, seq) VALUES ($1, $2, $3) ON CONFLICT (world, handler) DO UPDATE SET seq = $3`,
			w[:], handler, to)
		moved = err == nil
		return err
	})
	return moved, err
}

const deliveryColumns = "SELECT world, event, handler, state, attempts, due, fence, problem, created, changed FROM deliveries "

func readDelivery(r Row) (jobs.Delivery, error) {
	return jobs.Delivery{World: access.WorldID(r.Bytes(0)), Event: uuid.UUID(r.Bytes(1)), Handler: r.Text(2),
		State:    jobs.DeliveryState(r.Int(3)),
		Attempts: int(r.Int(4)), Due: Time(r.Int(5)), Fence: r.Int(6), Problem: r.Text(7), Created: Time(r.Int(8)),
		Changed: Time(r.Int(9))}, nil
}

// handlerIn returns the condition that the handler is one of several. Their arguments are numbered
// from first.
func handlerIn(handlers []string, first int) string {
	marks := make([]string, len(handlers))
	for i := range handlers {
		marks[i] = "$" + strconv.Itoa(first+i)
	}
	return "handler IN (" + strings.Join(marks, ", ") + ")"
}

func appendTexts(texts []string, before ...any) []any {
	for _, s := range texts {
		before = append(before, s)
	}
	return before
}

// Claim leases deliveries that are due. It first checks without waiting for the writer lock, since
// every process calls it after every write and usually nothing is due.
func (s *Service) Claim(ctx context.Context, handlers []string, after access.WorldID, now, until time.Time,
	n int) (due []jobs.Delivery, err error) {
	next, found, err := s.NextDue(ctx, handlers)
	if err != nil || !found || Millis(next) > Millis(now) {
		return nil, err
	}
	err = s.db.Change(ctx, func(c Conn) (err error) {
		due, err = queryAll(ctx, c, readDelivery, "SELECT * FROM ("+deliveryColumns+
			"WHERE state IN (0, 2) AND due <= $1 AND "+
			handlerIn(handlers, 4)+" ORDER BY due, created, event LIMIT 1000) AS early"+
			" ORDER BY world <= $3, world, due, created, event LIMIT $2", appendTexts(handlers, Millis(now), n, after[:])...)
		for i := range due {
			d := &due[i]
			d.Fence, d.Due = d.Fence+1, until
			if _, err := c.Exec(ctx,
				"UPDATE deliveries SET fence = $4, due = $5 WHERE world = $1 AND event = $2 AND handler = $3",
				d.World[:], d.Event[:], d.Handler, d.Fence, Millis(until)); err != nil {
				return err
			}
		}
		return err
	})
	return due, err
}

// Settle stores the result of a claimed delivery.
func (s *Service) Settle(ctx context.Context, d jobs.Delivery) (kept bool, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		n, err := c.Exec(ctx, `UPDATE deliveries SET state = $5, attempts = $6, due = $7, problem = $8, changed = $9
			WHERE world = $1 AND event = $2 AND handler = $3 AND fence = $4`,
			d.World[:], d.Event[:], d.Handler, d.Fence, int64(d.State), d.Attempts, Millis(d.Due), d.Problem, Millis(d.Changed))
		kept = n > 0
		return err
	})
	return kept, err
}

// NextDue returns when the next delivery is due.
func (s *Service) NextDue(ctx context.Context, handlers []string) (at time.Time, found bool, err error) {
	if len(handlers) == 0 {
		return at, false, nil
	}
	return findOne(ctx, s.db, func(r Row) (time.Time, error) { return Time(r.Int(0)), nil },
		"SELECT due FROM deliveries WHERE state IN (0, 2) AND "+handlerIn(handlers, 1)+" ORDER BY due LIMIT 1",
		appendTexts(handlers)...)
}

// maxPending is the highest count that Pending returns.
const maxPending = 10_000

// Pending counts the unsettled deliveries.
func (s *Service) Pending(ctx context.Context) (n int, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) error {
		count, err := QueryInt(ctx, c,
			"SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE state IN (0, 2) LIMIT $1) AS open", maxPending)
		n = int(count)
		return err
	})
	return n, err
}

// Of returns the deliveries of events.
func (s *Service) Of(ctx context.Context, w access.WorldID, events []uuid.UUID) (all []jobs.Delivery, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) error {
		for _, e := range events {
			some, err := queryAll(ctx, c, readDelivery, deliveryColumns+"WHERE world = $1 AND event = $2 ORDER BY handler",
				w[:], e[:])
			if err != nil {
				return err
			}
			all = append(all, some...)
		}
		return nil
	})
	return all, err
}

// Dead lists dead letters.
func (s *Service) Dead(ctx context.Context, w access.WorldID, limit int) (dead []jobs.Delivery, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) (err error) {
		dead, err = queryAll(ctx, c, readDelivery, deliveryColumns+
			"WHERE world = $1 AND state = 3 ORDER BY changed DESC, event LIMIT $2", w[:], limit)
		return err
	})
	return dead, err
}

// Revive makes a dead letter due.
func (s *Service) Revive(ctx context.Context, w access.WorldID, event uuid.UUID, handler string,
	now time.Time) (found bool, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		n, err := c.Exec(ctx, `UPDATE deliveries SET state = 0, attempts = 0, due = $4, problem = '', changed = $4, fence = fence + 1
			WHERE world = $1 AND event = $2 AND handler = $3 AND state = 3`, w[:], event[:], handler, Millis(now))
		found = n > 0
		return err
	})
	return found, err
}
