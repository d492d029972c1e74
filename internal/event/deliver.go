package event

import (
	"context"
	"fmt"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// deliverDue makes the deliveries that are due, in batches.
func (d *Dispatcher) deliverDue(ctx context.Context) error {
	for ctx.Err() == nil {
		now := d.cfg.Now()
		list, err := d.cfg.Deliveries.Claim(ctx, d.names, d.served, now, now.Add(lease), claimBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		d.served = list[len(list)-1].World
		for i, one := range list {
			if err := d.deliverEvent(ctx, one); err != nil {
				d.releaseClaimed(ctx, list[i:])
				return err
			}
		}
	}
	return ctx.Err()
}

// releaseClaimed makes claimed deliveries due at once, so that another process can take them when
// this one stops. A delivery that cannot be released becomes due when its lease ends.
func (d *Dispatcher) releaseClaimed(ctx context.Context, list []job.Delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	for _, one := range list {
		one.Due = d.cfg.Now()
		if _, err := d.cfg.Deliveries.Settle(ctx, one); err != nil {
			return
		}
	}
}

// deliverEvent delivers one event to one handler and stores the result. It returns errors of the
// store only; an error of the handler makes the delivery a failed one.
func (d *Dispatcher) deliverEvent(ctx context.Context, one job.Delivery) error {
	i := slices.IndexFunc(d.cfg.Handlers, func(h Handler) bool { return h.Name == one.Handler })
	within, cancel := context.WithTimeout(ctx, lease/2)
	failure := d.runHandler(within, d.cfg.Handlers[i], one)
	cancel()
	if ctx.Err() != nil {
		return ctx.Err() // the caller releases it for another process
	}
	one.Changed = d.cfg.Now()
	switch {
	case failure == nil:
		one.State, one.Problem = job.DeliveryProcessed, ""
	case one.Attempts >= maxRetries:
		one.State, one.Attempts, one.Problem = job.DeliveryDead, one.Attempts+1, redact(failure.Error())
		d.cfg.Logger.Error("an event is laid aside as a dead letter", "handler", one.Handler, "event",
			redact(one.Event.String()), "error", one.Problem)
	default:
		one.State, one.Problem = job.DeliveryFailed, redact(failure.Error())
		one.Due = one.Changed.Add(firstRetry << one.Attempts)
		one.Attempts++
	}
	_, err := d.cfg.Deliveries.Settle(ctx, one)
	return err
}

// runHandler runs a handler. It turns a panic into an error.
func (d *Dispatcher) runHandler(ctx context.Context, h Handler, one job.Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler panicked: %T", p)
		}
	}()
	return d.cfg.Act(ctx, one.World, "handle_event", "event:"+one.Event.String()+":"+h.Name, func(g access.Grant) error {
		if h.Every > 0 {
			return h.Handle(ctx, g, canon.StoredEvent{ID: one.Event})
		}
		var event canon.StoredEvent
		err := d.cfg.Canon.Read(ctx, g, func(snap *canon.Snapshot) error {
			events, _, err := snap.Events(ctx, canon.EventQuery{ID: one.Event, Page: canon.Page{Limit: 1}})
			if err == nil && len(events) == 0 {
				err = fault.New(fault.NotFound, "the event is not in the canon")
			}
			if err == nil {
				event = events[0]
			}
			return err
		})
		if err != nil {
			return err
		}
		return h.Handle(ctx, g, event)
	})
}

var uuids = lazyregexp.New(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{8}([0-9a-fA-F]{4})`)

// redact returns a text in which only the last four characters of each id are left.
func redact(text string) string { return uuids.ReplaceAllString(markup.Clip(text, 500), "…$1") }

// DeadLetter is a delivery that has failed for good, as it is shown: with redacted ids.
type DeadLetter struct {
	Event    string // "…" and the last four characters of the event's id
	Handler  string
	Attempts int
	Problem  string
	At       time.Time
}

// maxDead bounds a listing of dead letters.
const maxDead = 1000

// DeadLetters lists the dead letters of a world, latest first.
func (d *Dispatcher) DeadLetters(ctx context.Context, w access.WorldID) ([]DeadLetter, error) {
	list, err := d.cfg.Deliveries.Dead(ctx, w, maxDead)
	out := make([]DeadLetter, len(list))
	for i, one := range list {
		out[i] = DeadLetter{redact(one.Event.String()), one.Handler, one.Attempts, one.Problem, one.Changed}
	}
	return out, err
}

// Replay makes dead letters due again: all of a world, or those of an event by its full id or its
// last four characters. It returns their number.
func (d *Dispatcher) Replay(ctx context.Context, w access.WorldID, event string) (n int, err error) {
	list, err := d.cfg.Deliveries.Dead(ctx, w, maxDead)
	if err != nil {
		return 0, err
	}
	for _, one := range list {
		id := one.Event.String()
		if event != "" && event != id && event != id[len(id)-4:] && event != redact(id) {
			continue
		}
		ok, err := d.cfg.Deliveries.Revive(ctx, w, one.Event, one.Handler, d.cfg.Now())
		if err != nil {
			return n, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}
