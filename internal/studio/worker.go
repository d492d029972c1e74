package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
	"loregate/internal/wait"
)

// Worker configures the runs that a process takes from the queue.
type Worker struct {
	Kinds []string      // of targets; nil: all kinds that are set up here
	Lease time.Duration // time after which another worker takes over from one that died; 0 is 15 s
}

// maxAttempts is the number of workers that may die during a run before the run fails.
const maxAttempts = 3

// The reasons why a worker drops a run without recording it.
var (
	errLeaseLost   = errors.New("studio: the lease of the run was lost")
	errWorkerStops = errors.New("studio: the worker stops")
)

// Work takes runs from the queue and does them, one at a time, until ctx ends. A run that is under
// way then goes back into the queue.
func (s *Studio) Work(ctx context.Context, w Worker) error {
	if s.queue == nil {
		return errors.New("studio: there is no queue")
	}
	if w.Kinds == nil {
		w.Kinds = s.Kinds()
	}
	w.Lease = cmp.Or(w.Lease, 15*time.Second)
	var served access.WorldID // whose run was taken last: worlds take turns
	for ctx.Err() == nil {
		changed := s.canon.Changed()
		next, err := s.handleNext(ctx, w, &served)
		if err != nil && ctx.Err() == nil {
			s.logger.Error("the queue of runs cannot be read; trying again", "error", err)
			changed, next = nil, s.now().Add(time.Second)
		}
		wait.Or(ctx, next.Sub(s.now()), changed)
	}
	return nil
}

// idleWait is the wait of a worker when nothing changes and nothing is due.
const idleWait = time.Minute

// handleNext handles the next delivery that is due, if any, of the worlds after the served one, and
// returns the time of the next check.
func (s *Studio) handleNext(ctx context.Context, w Worker, served *access.WorldID) (next time.Time, err error) {
	worlds, err := s.canon.Worlds(ctx)
	if err != nil {
		return next, err
	}
	for _, world := range worlds {
		if err := s.enqueueOpen(ctx, world.ID); err != nil && !canon.IsLost(err) {
			return next, err
		}
	}
	names := queueNames(w.Kinds)
	list, err := s.queue.Deliveries.Claim(ctx, names, *served, s.now(), s.now().Add(w.Lease), 1)
	if err != nil {
		return next, err
	}
	if len(list) > 0 {
		*served = list[0].World
		return s.now(), s.handleDelivery(ctx, list[0], w.Lease)
	}
	next, ok, err := s.queue.Deliveries.NextDue(ctx, names)
	if !ok {
		next = s.now().Add(idleWait)
	}
	return next, err
}

// enqueueOpen enqueues tickets whose writer died before it enqueued them.
func (s *Studio) enqueueOpen(ctx context.Context, w access.WorldID) error {
	return s.queue.Act(ctx, Asker{}, w, ReadQueue, func(g access.Grant) error {
		b, err := s.lockBook(ctx, g)
		if err != nil {
			return err
		}
		var open []ticket
		for id, t := range b.queue {
			if !b.known[id] {
				open = append(open, t)
			}
		}
		b.mu.Unlock()
		if err := s.enqueueTickets(ctx, w, open); err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, t := range open {
			b.known[t.ID] = true
		}
		return nil
	})
}

// handleDelivery does the ticket of a leased delivery and settles the delivery. Its error comes
// from the store.
func (s *Studio) handleDelivery(ctx context.Context, d job.Delivery, lease time.Duration) error {
	var t ticket
	open, off := false, false
	err := s.queue.Act(ctx, Asker{}, d.World, ReadQueue, func(g access.Grant) error {
		b, err := s.lockBook(ctx, g)
		if err == nil {
			t, open = b.queue[d.Event]
			off = b.stopped[d.Event]
			b.mu.Unlock()
		}
		return err
	})
	if err == nil && off {
		err = s.recordRefusal(ctx, d.World, t, errStopAsked)
	}
	if err != nil {
		return err
	}
	if open && !off {
		switch err := s.doUnderLease(ctx, d, t, lease); {
		case errors.Is(err, errLeaseLost):
			s.logger.Warn("a run was abandoned because its lease had ended", "run", t.ID)
			return nil
		case errors.Is(err, errWorkerStops):
			d.Due = s.now()
			return s.settleDelivery(ctx, d)
		case err != nil:
			return err
		}
	}
	d.State = job.DeliveryProcessed
	return s.settleDelivery(ctx, d)
}

func (s *Studio) settleDelivery(ctx context.Context, d job.Delivery) error {
	d.Changed = s.now()
	_, err := s.queue.Deliveries.Settle(context.WithoutCancel(ctx), d)
	return err
}

// doUnderLease does a ticket while another goroutine renews its lease.
func (s *Studio) doUnderLease(ctx context.Context, d job.Delivery, t ticket, lease time.Duration) error {
	if d.Fence > maxAttempts {
		return s.recordRefusal(ctx, d.World, t, Fail(TargetGone,
			"%d workers ended during the run; read their logs, then repeat the call", maxAttempts))
	}
	doing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(errWorkerStops) })()
	var renewing sync.WaitGroup
	stop := make(chan struct{})
	renewing.Go(func() { s.renewLease(doing, stop, d, lease, cancel) })
	err := s.queue.Act(doing, t.Who, d.World, t.Order.Tool, func(g access.Grant) error { return s.doTicket(doing, g, t) })
	close(stop)
	renewing.Wait()
	if cause := context.Cause(doing); errors.Is(cause, errLeaseLost) || errors.Is(cause, errWorkerStops) {
		if s.isOpen(ctx, d) {
			return cause
		}
		return nil
	}
	if err != nil && s.isOpen(ctx, d) { // the caller was not admitted
		return s.recordRefusal(ctx, d.World, t, err)
	}
	return nil
}

// isOpen reports whether a delivery's ticket has no result yet. It is true if that cannot be read.
func (s *Studio) isOpen(ctx context.Context, d job.Delivery) (open bool) {
	err := s.queue.Act(context.WithoutCancel(ctx), Asker{}, d.World, ReadQueue, func(g access.Grant) error {
		b, err := s.lockBook(context.WithoutCancel(ctx), g)
		if err == nil {
			_, open = b.queue[d.Event]
			b.mu.Unlock()
		}
		return err
	})
	return open || err != nil
}

// stopPoll is the interval at which a worker checks for a request to stop its run.
const stopPoll = 250 * time.Millisecond

// renewLease renews a lease until stop is closed. It cancels the run if the lease is lost or a stop
// was requested.
func (s *Studio) renewLease(ctx context.Context, stop <-chan struct{}, d job.Delivery, lease time.Duration,
	cancel context.CancelCauseFunc) {
	look := time.NewTicker(min(stopPoll, lease/6))
	defer look.Stop()
	until := d.Due
	for {
		select {
		case <-stop:
			return
		case <-look.C:
		}
		if s.isStopAsked(ctx, d) {
			cancel(errStopAsked)
		}
		now := s.now()
		if now.Before(until.Add(-lease * 2 / 3)) {
			continue
		}
		d.Due, d.Changed = now.Add(lease), now
		kept, err := s.queue.Deliveries.Settle(context.WithoutCancel(ctx), d)
		switch {
		case err == nil && kept:
			until = d.Due
		case err == nil, now.After(until):
			cancel(errLeaseLost)
			return
		}
	}
}

// isStopAsked reports whether a stop of the delivery's run was requested.
func (s *Studio) isStopAsked(ctx context.Context, d job.Delivery) (asked bool) {
	_ = s.queue.Act(context.WithoutCancel(ctx), Asker{}, d.World, ReadQueue, func(g access.Grant) error {
		// The next check may succeed.
		b, err := s.lockBook(context.WithoutCancel(ctx), g)
		if err == nil {
			asked = b.stopped[d.Event]
			b.mu.Unlock()
		}
		return err
	})
	return asked
}

// doTicket does a ticket and records its result.
func (s *Studio) doTicket(ctx context.Context, g access.Grant, t ticket) error {
	tell, done := s.newProgressWriter(t.ID)
	defer done()
	tell(0, 0, "taken")
	a := answer{ID: t.ID}
	if t.Act == actVerify {
		v, err := s.verifyByID(ctx, g, t.Run, tell)
		a.Verdict = &v
		return s.recordAnswer(ctx, g, t, a, err)
	}
	req, err := t.Order.toRequest()
	if err != nil {
		return err
	}
	x := s.newExecutor(g, req, tell)
	if err := x.checkRequest(); err != nil {
		return err
	}
	x.run, x.fromQueue = t.newRun(s), true
	x.run.Started = s.now().UTC().Truncate(time.Millisecond)
	run, err := x.performRun(ctx)
	if t.Act == actRun {
		return err
	}
	a.Run, a.Diff = run, run.diff
	return s.recordAnswer(ctx, g, t, a, err)
}

// recordAnswer records the result of a ticket that records no run, unless the worker dropped the
// ticket.
func (s *Studio) recordAnswer(ctx context.Context, g access.Grant, t ticket, a answer, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errLeaseLost) || errors.Is(cause, errWorkerStops) {
		return cause
	}
	if err != nil {
		a.Run, a.Verdict, a.Error = nil, nil, failureOf(err)
	}
	return s.recordEvent(context.WithoutCancel(ctx), g, t.ID.String(), eventAnswer, access.LevelGM, a)
}

// liveProgress is the progress of a run in another process. It is stored in the shared folder until
// the run has ended.
type liveProgress struct {
	Step int `json:"step"`
	progress
}

func (s *Studio) progressFile(id uuid.UUID) string {
	return filepath.Join(s.dir, "live", id.String()+".json")
}

// readProgress reads the progress of a run in another process.
func (s *Studio) readProgress(id uuid.UUID) (p liveProgress, ok bool) {
	b, err := os.ReadFile(s.progressFile(id))
	return p, err == nil && json.Unmarshal(b, &p) == nil
}

// newProgressWriter returns tell, which writes a run's progress file, and done, which removes it.
// tell writes each new message at once, and an unchanged message at most once per pollInterval.
func (s *Studio) newProgressWriter(id uuid.UUID) (tell func(done, total float64, message string), done func()) {
	file := s.progressFile(id)
	_ = os.MkdirAll(filepath.Dir(file), 0o700)           // without the folder only the progress is missing
	last := liveProgress{Step: int(s.now().UnixMilli())} // the step number must exceed those of an earlier worker
	var at time.Time
	tell = func(done, total float64, message string) {
		now := s.now()
		if message == last.Message && now.Sub(at) < pollInterval {
			return
		}
		last, at = liveProgress{last.Step + 1, progress{done, total, message}}, now
		if b, err := json.Marshal(last); err == nil && os.WriteFile(file+".part", b, 0o600) == nil {
			_ = os.Rename(file+".part", file)
		}
	}
	return tell, func() { _ = os.Remove(file) }
}
