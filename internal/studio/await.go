package studio

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/op"
)

// programKinds returns the kinds of the request's targets that need a program.
func (x *executor) programKinds() []string {
	targets := slices.Clone(x.req.targets)
	for _, c := range x.req.calls {
		targets = append(targets, c.target)
	}
	return targetKinds(targets)
}

// handOver leaves a run to a worker and waits for its result. If the caller disconnects or cancels,
// the run is stopped.
func (x *executor) handOver(ctx context.Context) (*Run, error) {
	act := actRun
	if x.req.DryRun {
		act = actDryRun
	}
	t := x.newTicket(x.grant, act, x.run, orderFromRequest(x.req), x.programKinds())
	run := *x.run
	live, ctx, leave := x.registerLive(ctx, x.run, x.grant.World())
	defer func() { leave(&run) }()
	if err := x.Studio.submitTicket(ctx, x.grant, t); err != nil {
		return nil, err
	}
	a, err := x.awaitTicket(ctx, x.grant, t, x.progressTo(live))
	switch {
	case a.Run != nil:
		run = *a.Run
		run.dry, run.diff = x.req.DryRun, a.Diff
	case err == nil:
		return nil, a.Error
	default:
		run.Status, run.Error, run.Ended = "error", failureOf(err), x.now().UTC().Truncate(time.Millisecond)
	}
	return &run, nil
}

// pollInterval is the interval at which progress of a run in another process is read. The end of a
// run is noticed at once if the store signals changes.
const pollInterval = 200 * time.Millisecond

// awaitTicket waits for a ticket's result and reports the progress meanwhile.
func (s *Studio) awaitTicket(ctx context.Context, g access.Grant, t ticket,
	progress func(done, total float64, message string)) (answer, error) {
	untaken, cancel := context.WithTimeout(ctx, time.Duration(max(t.Order.How.Timeout, 1))*time.Second)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	defer s.forgetAnswer(g, t.ID)
	for seen := 0; ; {
		changed := s.canon.Changed()
		a, ok, err := s.findAnswer(ctx, g, t.ID)
		if ok || err != nil && ctx.Err() == nil {
			return a, err
		}
		if p, ok := s.readProgress(t.ID); ok && p.Step > seen {
			seen, untaken = p.Step, ctx
			progress(p.Done, p.Total, p.Message)
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-untaken.Done():
			return s.abandonTicket(ctx, g, t, stopCause(ctx, t))
		}
	}
}

// stopCause returns why waiting ended: the context's cause, or that no worker took the run in time.
func stopCause(ctx context.Context, t ticket) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return Fail(TimedOut, "no worker has started the run; start a worker with: loregate studio worker --target %s",
		strings.Join(t.Kinds, ","))
}

// abandonTicket stops a ticket and waits up to stopWait for its result.
func (s *Studio) abandonTicket(ctx context.Context, g access.Grant, t ticket, err error) (answer, error) {
	if errors.Is(err, errClosing) {
		return answer{}, err // only this process closes; the worker goes on and records the run
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	defer s.forgetAnswer(g, t.ID)
	if off := s.stopTicket(within, g, t, err); off != nil {
		return answer{}, errors.Join(err, off)
	}
	tick := time.NewTicker(pollInterval / 4)
	defer tick.Stop()
	for {
		if a, ok, bad := s.findAnswer(within, g, t.ID); ok || bad != nil {
			return a, bad
		}
		select {
		case <-tick.C:
		case <-within.Done():
			return answer{}, err
		}
	}
}

// stopWait bounds the wait for a run in another process to stop.
const stopWait = 2 * time.Second

// stopTicket ends a ticket that no worker has taken; otherwise it records a stop request, which the
// worker that has it will read.
func (s *Studio) stopTicket(ctx context.Context, g access.Grant, t ticket, why error) error {
	list, err := s.queue.Deliveries.Of(ctx, g.World(), []uuid.UUID{t.ID})
	if err != nil {
		return err
	}
	asker, operation := askerFromGrant(g), "cancel_run"
	if asker == t.Who {
		operation = t.Order.Tool // a caller who may start the run may also stop it
	}
	if len(list) == 0 || list[0].Fence == 0 || list[0].Due.Before(s.now()) { // no worker holds a valid lease
		return s.recordRefusal(ctx, g.World(), t, why)
	}
	return s.queue.Act(ctx, asker, g.World(), operation, func(g access.Grant) error {
		return s.recordEvent(ctx, g, t.ID.String()+"/stop", eventStop, access.LevelGM, stopAsked{t.ID})
	})
}

// recordRefusal records that a ticket ended with an error and without a result.
func (s *Studio) recordRefusal(ctx context.Context, w access.WorldID, t ticket, why error) error {
	f := failureOf(why)
	return s.queue.Act(ctx, Asker{}, w, "refuse_run", func(g access.Grant) error {
		if t.Act == actRun {
			run := t.newRun(s)
			run.Status, run.Error, run.Ended = "error", f, s.now().UTC().Truncate(time.Millisecond)
			err := s.recordEvent(ctx, g, t.ID.String(), eventRun, access.LevelGM, run)
			if errors.Is(err, errEnded) {
				return nil
			}
			return err
		}
		return s.recordEvent(ctx, g, t.ID.String(), eventAnswer, access.LevelGM, answer{ID: t.ID, Error: f})
	})
}

// findAnswer returns a ticket's result; ok is false while there is none.
func (s *Studio) findAnswer(ctx context.Context, g access.Grant, id uuid.UUID) (answer, bool, error) {
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return answer{}, false, err
	}
	b.awaited[id] = true
	a, ok := b.answers[id]
	_, ended := b.runs[id]
	b.mu.Unlock()
	if ok || !ended {
		return a, ok, nil
	}
	run, err := s.loadRun(ctx, g, id.String())
	return answer{ID: id, Run: &run}, true, err
}

// forgetAnswer drops the result stored for a ticket that nobody waits for any more.
func (s *Studio) forgetAnswer(g access.Grant, id uuid.UUID) {
	s.mu.Lock()
	b := s.books[g.World()]
	s.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.awaited, id)
	delete(b.answers, id)
}

// findQueued finds a run's ticket that has not ended, if the grant may see it.
func (s *Studio) findQueued(ctx context.Context, g access.Grant, id string) (ticket, bool, error) {
	key, err := uuid.Parse(id)
	if err != nil || g.View().Level < access.LevelGM {
		return ticket{}, false, nil
	}
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return ticket{}, false, err
	}
	defer b.mu.Unlock()
	t, ok := b.queue[key]
	return t, ok && t.Act == actRun, nil
}

// followElsewhere yields the progress of a run at a worker, and its end.
func (s *Studio) followElsewhere(ctx context.Context, g access.Grant, t ticket) iter.Seq2[op.Message, error] {
	return func(yield func(op.Message, error) bool) {
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for step := 0; ; {
			run, err := s.loadRun(ctx, g, t.ID.String())
			if err == nil {
				yield(endMessage(&run), nil)
				return
			}
			if p, ok := s.readProgress(t.ID); ok && p.Step > step {
				step = p.Step
				// the numbers are finite, because they were read from JSON
				b, _ := json.Marshal(p.progress)
				if !yield(op.Message{ID: strconv.Itoa(step), Event: "progress", Data: b}, nil) {
					return
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}
