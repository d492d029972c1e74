package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	jobs "loregate/internal/job"
)

var _ jobs.Deliveries = (*Store)(nil)

// Cursor is how far a handler has been given a world's events.
func (s *Store) Cursor(ctx context.Context, w access.WorldID, handler string) (at uint64, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		at, err = cursor(ctx, c, w, handler)
		return err
	})
	return at, err
}

func cursor(ctx context.Context, c *conn, w access.WorldID, handler string) (at uint64, err error) {
	_, err = c.one(ctx, func(r row) error { at = uint64(r.int(0)); return nil },
		"SELECT seq FROM delivery_cursors WHERE world = $1 AND handler = $2", uuidOf(w), handler)
	return at, err
}

// Enqueue moves a cursor and adds deliveries.
func (s *Store) Enqueue(ctx context.Context, w access.WorldID, handler string, from, to uint64, list []jobs.Delivery) (moved bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		moved = false
		at, err := cursor(ctx, t.c, w, handler)
		if err != nil || at != from {
			return err
		}
		for _, d := range list {
			if _, err := t.c.exec(ctx, `INSERT INTO deliveries (world, event, handler, state, attempts, due, fence, problem, created, changed)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`, uuidOf(w), uuidOf(d.Event), handler, int64(d.State), d.Attempts,
				clock(d.Due), d.Fence, d.Problem, clock(d.Created), clock(d.Changed)); err != nil {
				return err
			}
		}
		_, err = t.c.exec(ctx, `INSERT INTO delivery_cursors (world, handler, seq) VALUES ($1, $2, $3) ON CONFLICT (world, handler) DO UPDATE SET seq = $3`,
			uuidOf(w), handler, to)
		moved = err == nil
		return err
	})
	return moved, err
}

const deliveryColumns = "SELECT world, event, handler, state, attempts, due, fence, problem, created, changed FROM deliveries "

func delivery(r row) jobs.Delivery {
	return jobs.Delivery{World: readID[access.WorldID](r[0]), Event: readID[uuid.UUID](r[1]), Handler: r.text(2), State: jobs.DeliveryState(r.int(3)),
		Attempts: int(r.int(4)), Due: unclock(r.int(5)), Fence: r.int(6), Problem: r.text(7), Created: unclock(r.int(8)), Changed: unclock(r.int(9))}
}

func deliveries(ctx context.Context, c *conn, where string, args ...any) (list []jobs.Delivery, err error) {
	err = c.query(ctx, func(r row) error { list = append(list, delivery(r)); return nil }, deliveryColumns+where, args...)
	return list, err
}

// Claim lends deliveries that are due.
func (s *Store) Claim(ctx context.Context, handlers []string, now, until time.Time, n int) (list []jobs.Delivery, err error) {
	if len(handlers) == 0 {
		return nil, nil
	}
	err = s.write(ctx, func(t *tx) (err error) {
		list, err = deliveries(ctx, t.c, "WHERE state IN (0, 2) AND due <= $1 AND handler = ANY($2) ORDER BY due, created, event LIMIT $3",
			clock(now), slices.Clone(handlers), int64(n))
		for i := range list {
			d := &list[i]
			d.Fence, d.Due = d.Fence+1, until
			if _, err := t.c.exec(ctx, "UPDATE deliveries SET fence = $4, due = $5 WHERE world = $1 AND event = $2 AND handler = $3",
				uuidOf(d.World), uuidOf(d.Event), d.Handler, d.Fence, clock(until)); err != nil {
				return err
			}
		}
		return err
	})
	return list, err
}

// Settle keeps what came of a claimed delivery.
func (s *Store) Settle(ctx context.Context, d jobs.Delivery) (kept bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		n, err := t.c.exec(ctx, `UPDATE deliveries SET state = $5, attempts = $6, due = $7, problem = $8, changed = $9
			WHERE world = $1 AND event = $2 AND handler = $3 AND fence = $4`,
			uuidOf(d.World), uuidOf(d.Event), d.Handler, d.Fence, int64(d.State), d.Attempts, clock(d.Due), d.Problem, clock(d.Changed))
		kept = n > 0
		return err
	})
	return kept, err
}

// NextDue is when the next delivery is due.
func (s *Store) NextDue(ctx context.Context, handlers []string) (at time.Time, found bool, err error) {
	if len(handlers) == 0 {
		return at, false, nil
	}
	err = s.read(ctx, func(c *conn) (err error) {
		found, err = c.one(ctx, func(r row) error { at = unclock(r.int(0)); return nil },
			"SELECT due FROM deliveries WHERE state IN (0, 2) AND handler = ANY($1) ORDER BY due LIMIT 1", slices.Clone(handlers))
		return err
	})
	return at, found, err
}

// Of gives the deliveries of events.
func (s *Store) Of(ctx context.Context, w access.WorldID, events []uuid.UUID) (list []jobs.Delivery, err error) {
	err = s.read(ctx, func(c *conn) error {
		for _, e := range events {
			some, err := deliveries(ctx, c, "WHERE world = $1 AND event = $2 ORDER BY handler", uuidOf(w), uuidOf(e))
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}

// Dead lists dead letters.
func (s *Store) Dead(ctx context.Context, w access.WorldID, limit int) (list []jobs.Delivery, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		list, err = deliveries(ctx, c, "WHERE world = $1 AND state = 3 ORDER BY changed DESC, event LIMIT $2", uuidOf(w), limit)
		return err
	})
	return list, err
}

// Revive makes a dead letter due.
func (s *Store) Revive(ctx context.Context, w access.WorldID, event uuid.UUID, handler string, now time.Time) (found bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		n, err := t.c.exec(ctx, `UPDATE deliveries SET state = 0, attempts = 0, due = $4, problem = '', changed = $4, fence = fence + 1
			WHERE world = $1 AND event = $2 AND handler = $3 AND state = 3`, uuidOf(w), uuidOf(event), handler, clock(now))
		found = n > 0
		return err
	})
	return found, err
}

// Secret gives random bytes that every process on the store shares, by name. Where there
// are none yet, fresh ones become them.
func (s *Store) Secret(ctx context.Context, name string, fresh []byte) (kept []byte, err error) {
	err = s.write(ctx, func(t *tx) error {
		if _, err := t.c.exec(ctx, "INSERT INTO secrets (name, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, fresh); err != nil {
			return err
		}
		_, err := t.c.one(ctx, func(r row) error { kept = r.bytes(0); return nil }, "SELECT bytes FROM secrets WHERE name = $1", name)
		return err
	})
	return kept, err
}
