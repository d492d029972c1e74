package event

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
)

// A handler with a span is due once in each span of time in each world, whichever process delivers it. Spans are
// counted from the Unix epoch; the handler's cursor in a world is the latest span that was queued. A span that passed
// while no process ran is not made up for, but the latest one is.

// enqueueTimers queues the deliveries of the handlers whose span has ended, and returns when the next one ends; the zero
// time if there are no such handlers.
func (d *Dispatcher) enqueueTimers(ctx context.Context) (next time.Time, err error) {
	now := d.cfg.Now()
	if now.Before(d.timers) {
		return d.timers, nil
	}
	for _, h := range d.cfg.Handlers {
		if h.Every == 0 {
			continue
		}
		if end := startOfSpan(now, h.Every).Add(h.Every); next.IsZero() || end.Before(next) {
			next = end
		}
	}
	if next.IsZero() {
		return next, nil
	}
	worlds, err := d.cfg.Canon.Worlds(ctx)
	if err != nil {
		return next, err
	}
	for _, w := range worlds {
		for _, h := range d.cfg.Handlers {
			if h.Every == 0 {
				continue
			}
			if err := d.enqueueSpan(ctx, w.ID, h, now); err != nil && !canon.IsLost(err) {
				return next, err
			}
		}
	}
	d.timers = next
	return next, nil
}

// startOfSpan returns the start of the span that contains a time.
func startOfSpan(t time.Time, every time.Duration) time.Time {
	return time.Unix(0, t.UnixNano()-t.UnixNano()%int64(every))
}

// enqueueSpan queues the delivery of the current span to a handler, unless another process did so. A handler that is new
// in a world starts with the next span.
func (d *Dispatcher) enqueueSpan(ctx context.Context, w access.WorldID, h Handler, now time.Time) error {
	from, err := d.cfg.Deliveries.Cursor(ctx, w, h.Name)
	if err != nil {
		return err
	}
	start := startOfSpan(now, h.Every)
	span := uint64(start.UnixNano() / int64(h.Every))
	if from >= span {
		return nil
	}
	var list []job.Delivery
	if from > 0 || start.After(d.began) {
		list = append(list, job.Delivery{World: w, Event: spanID(w, h.Name, span), Handler: h.Name, Due: now, Created: now,
			Changed: now})
	}
	_, err = d.cfg.Deliveries.Enqueue(ctx, w, h.Name, from, span, list)
	return err
}

// spanID returns the id of a handler's span in a world, in place of the id of an event.
func spanID(w access.WorldID, handler string, span uint64) uuid.UUID {
	return uuid.NewSHA1(uuid.UUID(w), binary.BigEndian.AppendUint64([]byte(handler), span))
}
