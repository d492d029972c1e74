package usage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// LedgerKind is the kind of ledger that holds usage events, one ledger for each world.
const LedgerKind = "usage"

// Config configures a Recorder. Canon and Guard are required.
type Config struct {
	Canon  *canon.Canon // canon.Config.Ledgers must name LedgerKind, for any surface
	Guard  *access.Guard
	Every  time.Duration // how long an event waits at most; 0 is one second, WhenTold is until Flush
	Budget map[string]Budget
	Told   func(Event) // called with each valid event; may be nil
	Now    func() time.Time
	Logger *slog.Logger
}

// WhenTold as Config.Every leaves writing to Flush and Close.
const WhenTold time.Duration = -1

// Recorder records events and enforces budgets. It is safe for concurrent use. Close it after use.
type Recorder struct {
	cfg Config

	mu       sync.Mutex // guards the fields below
	waiting  map[access.WorldID][]Event
	count    int // of waiting
	lost     int // dropped since the last write, because too many waited
	spending map[access.WorldID]*totals
	closed   bool

	wake chan struct{}
	done chan struct{}
}

const (
	batchSize  = 200     // events in a record
	maxWaiting = 100_000 // events that wait in total while the store does not answer
)

// New returns a Recorder and starts its writer.
func New(c Config) (*Recorder, error) {
	if c.Canon == nil || c.Guard == nil {
		return nil, errors.New("usage: Canon and Guard must be set")
	}
	c.Every = cmp.Or(c.Every, time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	r := &Recorder{cfg: c, waiting: map[access.WorldID][]Event{}, spending: map[access.WorldID]*totals{},
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	if c.Every < 0 {
		close(r.done)
		return r, nil
	}
	go r.run()
	return r, nil
}

// Record queues an event of a world. It does not wait for the store. An invalid event is logged and
// dropped; tests detect that.
func (r *Recorder) Record(w access.WorldID, e Event) {
	if err := e.validate(); err != nil {
		r.cfg.Logger.Error("a usage event was dropped", "error", err)
		return
	}
	if e.At.IsZero() {
		e.At = r.cfg.Now().UTC()
	}
	if r.cfg.Told != nil {
		r.cfg.Told(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.count >= maxWaiting {
		r.lost++
		return
	}
	r.waiting[w], r.count = append(r.waiting[w], e), r.count+1
	if len(r.waiting[w]) >= batchSize {
		r.wakeWriter()
	}
}

// wakeWriter makes the writer write the waiting events soon.
func (r *Recorder) wakeWriter() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Recorder) run() {
	defer close(r.done)
	tick := time.NewTicker(r.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case _, more := <-r.wake:
			if !more {
				return
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := r.Flush(ctx); err != nil {
			r.cfg.Logger.Error("usage events could not be written; they are tried again", "error", err)
		}
		cancel()
	}
}

// Flush writes the waiting events. Events that could not be written keep waiting.
func (r *Recorder) Flush(ctx context.Context) error {
	r.mu.Lock()
	all, lost := r.waiting, r.lost
	r.waiting, r.count, r.lost = map[access.WorldID][]Event{}, 0, 0
	r.mu.Unlock()
	if lost > 0 {
		r.cfg.Logger.ErrorContext(ctx, "usage events were dropped: too many waited for the store", "events", lost)
	}
	var errs []error
	for w, events := range all {
		if err := r.write(ctx, w, events); err != nil {
			errs = append(errs, err)
			r.mu.Lock()
			r.waiting[w], r.count = append(events, r.waiting[w]...), r.count+len(events)
			r.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

func (r *Recorder) write(ctx context.Context, w access.WorldID, events []Event) error {
	a, err := r.admitWrite(ctx, w)
	if err != nil {
		return err
	}
	_, err = r.cfg.Canon.UpdateLedger(ctx, a.Grant, ledgerOf(w),
		func(*canon.LedgerTx) ([]canon.Event, error) { return toBatches(events) })
	a.Done(ctx, 0, err)
	return err
}

// admitWrite admits a write of usage events.
func (r *Recorder) admitWrite(ctx context.Context, w access.WorldID) (*access.Admission, error) {
	return r.cfg.Guard.Admit(ctx, access.Caller{Subject: "usage", EveryRole: access.RoleAdmin, Unlimited: true},
		access.Request{Operation: "record_usage", Effect: access.Write, World: w})
}

func ledgerOf(w access.WorldID) canon.StreamID { return canon.LedgerStream(LedgerKind, w.String()) }

func toBatches(events []Event) (list []canon.Event, err error) {
	for len(events) > 0 {
		n := min(len(events), batchSize)
		payload, err := json.Marshal(batch{events[:n]})
		if err != nil {
			return nil, err
		}
		list, events = append(list, canon.Event{Type: eventType, Payload: payload, Version: 1}), events[n:]
	}
	return list, nil
}

// Close writes the waiting events and stops the writer.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()
	close(r.wake)
	<-r.done
	return r.Flush(ctx)
}
