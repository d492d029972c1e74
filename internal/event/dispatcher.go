package event

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
	"loregate/internal/slicesx"
	"loregate/internal/wait"
)

// Config configures a Dispatcher. Canon, Deliveries and Act are required.
type Config struct {
	Canon      *canon.Canon
	Deliveries job.Deliveries
	Act        Act
	Handlers   []Handler
	Known      func(Type) bool  // reports whether a type of event exists; nil accepts every type
	Change     *CardChange      // changes of cards that are recorded as events; nil for none
	Now        func() time.Time // time.Now when nil
	Logger     *slog.Logger     // nil discards records
}

// Dispatcher delivers events to their handlers, in every world. It delivers each event to each
// handler of its type, retries after 1, 2, 4 and 8 seconds and then makes the delivery a dead
// letter. Several processes may run a Dispatcher on the same store; each delivery is leased to one
// of them at a time. A handler that is new in a world starts with the events from then on.
type Dispatcher struct {
	cfg      Config
	names    []string
	recorded map[access.WorldID]map[versionID]bool // changes of the last scanned millisecond
	// heads holds the end of each world's stream at the last complete scan. A world is not
	// scanned again until its stream has another end. Only Round uses heads and recorded.
	heads  map[access.WorldID]canon.Head
	served access.WorldID // whose deliveries were claimed last; only Round uses it
	timers time.Time      // when the next span of a handler ends; only Round uses it
	began  time.Time
}

// Numbers of the contract, the lease of a delivery, and the sizes of batches.
const (
	maxRetries   = 4
	firstRetry   = time.Second
	lease        = time.Minute
	claimBatch   = 16
	enqueueBatch = 200
)

// New returns a Dispatcher. It does nothing until Run is called.
func New(c Config) (*Dispatcher, error) {
	if c.Canon == nil || c.Deliveries == nil || c.Act == nil {
		return nil, errors.New("event: a Dispatcher needs Canon, Deliveries and Act")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{cfg: c, began: c.Now(), recorded: map[access.WorldID]map[versionID]bool{},
		heads: map[access.WorldID]canon.Head{}}
	for _, h := range c.Handlers {
		if err := d.registerName(h); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Handle adds a handler. It must be called before Run.
func (d *Dispatcher) Handle(h Handler) error {
	if err := d.registerName(h); err != nil {
		return err
	}
	d.cfg.Handlers = append(d.cfg.Handlers, h)
	return nil
}

func (d *Dispatcher) registerName(h Handler) error {
	if h.Name == "" || h.Handle == nil || (len(h.Types) == 0) != (h.Every > 0) || slices.Contains(d.names, h.Name) {
		return fmt.Errorf("event: the handler %q needs a name of its own, code, and either types or a span", h.Name)
	}
	for _, t := range h.Types {
		if d.cfg.Known != nil && !d.cfg.Known(t) {
			return fmt.Errorf("event: the handler %s waits for %q, which is no type of event", h.Name, t)
		}
	}
	d.names = append(d.names, h.Name)
	return nil
}

// Handles reports whether the status of events of a type tells of a handler.
func (d *Dispatcher) Handles(t Type) bool {
	return slices.ContainsFunc(d.cfg.Handlers, func(h Handler) bool { return !h.Aside && slices.Contains(h.Types, t) })
}

// roundPause is the minimum time between two rounds. Events that happen meanwhile are handled
// together.
const roundPause = 100 * time.Millisecond

// Run delivers events to their handlers until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := d.cfg.Canon.Changed()
		next, err := d.Round(ctx)
		if err != nil && ctx.Err() == nil {
			d.cfg.Logger.Error("events cannot be handed on; trying again", "error", err)
			next = d.cfg.Now().Add(firstRetry)
		}
		if wait.For(ctx, roundPause) {
			wait.Or(ctx, next.Sub(d.cfg.Now()), changed)
		}
	}
}

// idleSleep is the time that a Dispatcher sleeps if nothing is due and nothing changes.
const idleSleep = time.Minute

// Round does one round of work. In each world whose stream has moved, whichever process wrote to
// it, it records the changes of cards and queues deliveries of new events. Then it makes all
// deliveries that are due. It returns the time at which the next delivery is due.
func (d *Dispatcher) Round(ctx context.Context) (next time.Time, err error) {
	moved, err := d.cfg.Canon.Moved(ctx, d.heads)
	if err != nil {
		return next, err
	}
	for w, head := range moved {
		if err := d.processWorld(ctx, w); err != nil {
			return next, err
		}
		d.heads[w] = head // commits made meanwhile come after it
	}
	timer, err := d.enqueueTimers(ctx)
	if err != nil {
		return next, err
	}
	if err := d.deliverDue(ctx); err != nil {
		return next, err
	}
	next, ok, err := d.cfg.Deliveries.NextDue(ctx, d.names)
	if !ok {
		next = d.cfg.Now().Add(idleSleep)
	}
	if !timer.IsZero() && timer.Before(next) {
		next = timer
	}
	return next, err
}

// processWorld processes a world whose stream has moved.
func (d *Dispatcher) processWorld(ctx context.Context, w access.WorldID) error {
	if d.cfg.Change != nil {
		if err := d.recordChanges(ctx, w); err != nil {
			return err
		}
	}
	for _, h := range d.cfg.Handlers {
		if h.Every > 0 {
			continue
		}
		if err := d.enqueueNew(ctx, w, h); err != nil {
			return err
		}
	}
	return nil
}

// maxCursorLag is the number of commits without an event for a handler after which its cursor is
// moved. Moving it is a write, and each process would make one after every write of the others.
const maxCursorLag = 1000

// enqueueNew queues deliveries for the events after a handler's cursor. If another process queues
// some at the same time, it reads the cursor again: that process may have seen fewer events.
func (d *Dispatcher) enqueueNew(ctx context.Context, w access.WorldID, h Handler) error {
	for {
		from, err := d.cfg.Deliveries.Cursor(ctx, w, h.Name)
		if err != nil {
			return err
		}
		var events []canon.StoredEvent
		var head canon.Seq
		err = d.readWorld(ctx, w, func(snap *canon.Snapshot) (err error) {
			head = snap.Now()
			after := canon.Seq(from)
			if from == 0 { // no cursor yet: it starts with the start of this process
				if after, err = snap.SeqAt(ctx, d.began); err != nil {
					return err
				}
			}
			events, _, err = snap.Events(ctx, canon.EventQuery{Types: eventTypeNames(h.Types), After: after, Oldest: true,
				Page: canon.Page{Limit: enqueueBatch}})
			return err
		})
		if err != nil || len(events) == 0 && from != 0 && uint64(head) < from+maxCursorLag {
			return err
		}
		to, now := head, d.cfg.Now()
		var list []job.Delivery
		for _, e := range events {
			list = append(list, job.Delivery{World: w, Event: e.ID, Handler: h.Name, Due: now, Created: now, Changed: now})
		}
		if len(events) == enqueueBatch {
			to = events[len(events)-1].Seq
		}
		moved, err := d.cfg.Deliveries.Enqueue(ctx, w, h.Name, from, uint64(to), list)
		if err != nil || moved && len(events) < enqueueBatch {
			return err
		}
	}
}

func eventTypeNames(types []Type) []string {
	return slicesx.Map(types, func(t Type) string { return string(t) })
}

// readWorld reads a world as the system.
func (d *Dispatcher) readWorld(ctx context.Context, w access.WorldID, f func(*canon.Snapshot) error) error {
	return d.cfg.Act(ctx, w, ReadOperation, "", func(g access.Grant) error { return d.cfg.Canon.Read(ctx, g, f) })
}
