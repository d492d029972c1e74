package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/markup"
	"loregate/internal/wait"
)

// Handler handles events of some types. Handle may be called again for the same event, after a
// failure or a lost lease. The grant carries an idempotency key made from the event and the
// handler, so that one commit made with it is made only once.
type Handler struct {
	Name   string // unique and never changed: the handler's progress is stored under it
	Types  []EventType
	Handle func(ctx context.Context, g access.Grant, e canon.StoredEvent) error
}

// ReadEvents is the operation name of an Act that only reads.
const ReadEvents = "read_events"

// Act authorises one act of the system in a world, with the role admin, and calls f with its grant.
// key is the idempotency key, or "" for none.
type Act func(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error

// DispatchConfig configures a Dispatcher. Canon, Deliveries and Act are required.
type DispatchConfig struct {
	Canon      *canon.Canon
	Deliveries job.Deliveries
	Act        Act
	Handlers   []Handler
	Now        func() time.Time
	Logger     *slog.Logger
}

// Dispatcher delivers events to their handlers, in every world. It delivers each event to each
// handler of its type, retries after 1, 2, 4 and 8 seconds and then makes the delivery a dead
// letter. Several processes may run a Dispatcher on the same store; each delivery is leased to one
// of them at a time. A handler that is new in a world starts with the events from then on.
type Dispatcher struct {
	cfg      DispatchConfig
	names    []string
	recorded map[access.WorldID]map[string]bool // keys of the place changes of the last scanned millisecond
	// heads holds the end of each world's stream at the last complete scan. A world is not
	// scanned again until its stream has another end. Only Round uses heads and recorded.
	heads map[access.WorldID]canon.Head
	began time.Time
}

var _ Handled = (*Dispatcher)(nil)

// Numbers of the contract, the lease of a delivery, and the sizes of batches.
const (
	maxRetries   = 4
	firstRetry   = time.Second
	lease        = time.Minute
	claimBatch   = 16
	enqueueBatch = 200
)

// NewDispatcher returns a Dispatcher. It does nothing until Run is called.
func NewDispatcher(c DispatchConfig) (*Dispatcher, error) {
	if c.Canon == nil || c.Deliveries == nil || c.Act == nil {
		return nil, errors.New("world: a Dispatcher needs Canon, Deliveries and Act")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	d := &Dispatcher{cfg: c, began: c.Now(), recorded: map[access.WorldID]map[string]bool{},
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
	if h.Name == "" || h.Handle == nil || len(h.Types) == 0 || slices.Contains(d.names, h.Name) {
		return fmt.Errorf("world: the handler %q needs a name of its own, types and code", h.Name)
	}
	for _, t := range h.Types {
		if _, ok := KindOf(t); !ok {
			return fmt.Errorf("world: the handler %s waits for %q, which is no type of event", h.Name, t)
		}
	}
	d.names = append(d.names, h.Name)
	return nil
}

// Handles reports whether a handler accepts events of a type.
func (d *Dispatcher) Handles(t EventType) bool {
	return slices.ContainsFunc(d.cfg.Handlers, func(h Handler) bool { return slices.Contains(h.Types, t) })
}

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
// it, it records the changes of places and queues deliveries of new events. Then it makes all
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
	if err := d.deliverDue(ctx); err != nil {
		return next, err
	}
	next, ok, err := d.cfg.Deliveries.NextDue(ctx, d.names)
	if !ok {
		next = d.cfg.Now().Add(idleSleep)
	}
	return next, err
}

// processWorld processes a world whose stream has moved.
func (d *Dispatcher) processWorld(ctx context.Context, w access.WorldID) error {
	if err := d.recordPlaceChanges(ctx, w); err != nil {
		return err
	}
	for _, h := range d.cfg.Handlers {
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

func eventTypeNames(types []EventType) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = string(t)
	}
	return out
}

// readWorld reads a world as the system.
func (d *Dispatcher) readWorld(ctx context.Context, w access.WorldID, f func(*canon.Snapshot) error) error {
	return d.cfg.Act(ctx, w, ReadEvents, "", func(g access.Grant) error { return d.cfg.Canon.Read(ctx, g, f) })
}

// deliverDue makes the deliveries that are due, in batches.
func (d *Dispatcher) deliverDue(ctx context.Context) error {
	for ctx.Err() == nil {
		now := d.cfg.Now()
		list, err := d.cfg.Deliveries.Claim(ctx, d.names, now, now.Add(lease), claimBatch)
		if err != nil || len(list) == 0 {
			return err
		}
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
		one.State, one.Attempts, one.Problem = job.DeliveryDead, one.Attempts+1, Redacted(failure.Error())
		d.cfg.Logger.Error("an event is laid aside as a dead letter", "handler", one.Handler, "event",
			Redacted(one.Event.String()), "error", one.Problem)
	default:
		one.State, one.Problem = job.DeliveryFailed, Redacted(failure.Error())
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

var uuids = regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{8}([0-9a-fA-F]{4})`)

// Redacted returns a text in which only the last four characters of each id are left.
func Redacted(text string) string { return uuids.ReplaceAllString(markup.Clip(text, 500), "…$1") }

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
		out[i] = DeadLetter{Redacted(one.Event.String()), one.Handler, one.Attempts, one.Problem, one.Changed}
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
		if event != "" && event != id && event != id[len(id)-4:] && event != Redacted(id) {
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

// changesCursor is the name of the cursor for changes of places. Its value is the time of the last
// scanned change, in Unix milliseconds.
const changesCursor = "world.location-changes"

// recordPlaceChanges records the changes of places, if there may be unrecorded ones.
func (d *Dispatcher) recordPlaceChanges(ctx context.Context, w access.WorldID) error {
	changed, err := d.hasPlaceChanges(ctx, w)
	if err == nil && changed {
		err = d.recordChangesSince(ctx, w)
	}
	return err
}

// hasPlaceChanges reports whether a place may have changed since the last scan of this process.
// Most commits change no place; without this check each of them would cause a scan of all changes
// since the last changed place. A stream that is no longer than at the last scan belongs to a
// database that has lost commits and now has others.
func (d *Dispatcher) hasPlaceChanges(ctx context.Context, w access.WorldID) (changed bool, err error) {
	err = d.readWorld(ctx, w, func(snap *canon.Snapshot) (err error) {
		last, known := d.heads[w]
		if changed = !known || snap.Now() <= last.Seq; changed {
			return nil
		}
		changed, err = snap.Touched(ctx, last.Seq, typeLocation)
		return err
	})
	return changed, err
}

// recordChangesSince records World.Location.Changed for every version of a place except its first,
// no matter who wrote it or how. The event's key contains the change, so each version is recorded
// once.
func (d *Dispatcher) recordChangesSince(ctx context.Context, w access.WorldID) error {
	from, err := d.cfg.Deliveries.Cursor(ctx, w, changesCursor)
	if err != nil {
		return err
	}
	if from == 0 {
		// This world was never scanned. Changes from before the start of this process are
		// never recorded; all later ones are.
		from = uint64(d.began.UnixMilli())
		moved, err := d.cfg.Deliveries.Enqueue(ctx, w, changesCursor, 0, from, nil)
		if err != nil {
			return err
		}
		if !moved { // another process set it
			return d.recordChangesSince(ctx, w)
		}
	}
	changes, err := d.placeVersions(ctx, w, time.UnixMilli(int64(from)))
	if err != nil || len(changes) == 0 {
		return err
	}
	seen := d.recorded[w]
	for _, v := range changes {
		if key := changeKey(v); !seen[key] && v.Rev > 1 && !v.Trashed {
			if err := d.recordChange(ctx, w, v, key); err != nil {
				return err
			}
		}
	}
	last := changes[len(changes)-1].At
	d.recorded[w] = map[string]bool{}
	for _, v := range changes {
		if v.At.Equal(last) {
			d.recorded[w][changeKey(v)] = true
		}
	}
	if to := uint64(last.UnixMilli()); to != from {
		_, err = d.cfg.Deliveries.Enqueue(ctx, w, changesCursor, from, to, nil)
	}
	return err
}

func changeKey(v canon.Version) string {
	return "location-changed:" + v.Card.String() + ":" + v.Change.String()
}

// placeVersions returns the versions of places since a time, oldest first.
func (d *Dispatcher) placeVersions(ctx context.Context, w access.WorldID,
	since time.Time) (all []canon.Version, err error) {
	err = d.readWorld(ctx, w, func(snap *canon.Snapshot) error {
		for page := (canon.Page{Limit: 500}); ; page.Offset += page.Limit {
			list, _, err := snap.Feed(ctx, canon.FeedQuery{Since: since, Type: typeLocation, Page: page})
			if err != nil {
				return err
			}
			all = append(all, list...)
			if len(list) < page.Limit {
				return nil
			}
		}
	})
	slices.SortStableFunc(all,
		func(a, b canon.Version) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.From, b.From)) })
	return all, err
}

func (d *Dispatcher) recordChange(ctx context.Context, w access.WorldID, v canon.Version, key string) error {
	return d.cfg.Act(ctx, w, "location_changed", "", func(g access.Grant) error {
		_, err := d.cfg.Canon.Update(ctx, g, func(p *canon.Plan) error {
			p.Cause(v.Change)
			_, _, err := p.EventOnce(canon.Event{Type: string(LocationChanged), Scope: string(LocationScope(v.Card)),
				Label: v.Label, Version: 1, Key: key,
				Actor: canon.EventActor{Kind: "system"}, Payload: fmt.Appendf(nil, `{"locationId":%q,"changeId":%q}`, v.Card,
					v.Change)})
			return err
		})
		return err
	})
}
