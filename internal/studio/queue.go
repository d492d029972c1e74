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
	"loregate/internal/blob"
	"loregate/internal/job"
	"loregate/internal/op"
)

// Queue is how runs get to workers, which may be other processes on the same store and the
// same artifact folder. A run that is asked for is a ticket in the world's ledger and a
// delivery that workers lease.
type Queue struct {
	Deliveries job.Deliveries
	// Act admits one act in a world for who asked, with what they may do today, and does it.
	// For the zero Asker it is the system. ReadQueue only reads.
	Act func(ctx context.Context, who Asker, w access.WorldID, operation string, f func(access.Grant) error) error
	// HandOver leaves what is asked for here to workers.
	HandOver bool
}

// ReadQueue is the operation under which an Act only reads.
const ReadQueue = "read_queue"

// Asker is who asked for a run.
type Asker struct {
	Subject access.Subject `json:"subject"`
	Key     string         `json:"key,omitempty"`
	Role    access.Role    `json:"role"`
}

func askerOf(g access.Grant) Asker {
	c := g.Caller()
	return Asker{c.Subject, c.Key, g.Role()}
}

// The types of events that runs on their way to workers leave in the ledger.
const (
	eventTicket = "ticket" // something to do: a ticket
	eventAnswer = "answer" // what came of a ticket that makes no run: an answer
	eventStop   = "stop"   // somebody wants it stopped: a stopAsked
)

// The acts that tickets ask for.
const (
	actRun      = "run"
	actRehearse = "rehearse"
	actVerify   = "verify"
)

// ticket is something that a worker is to do. Its id is that of the run.
type ticket struct {
	ID    uuid.UUID `json:"ticket_id"`
	Act   string    `json:"act"`
	Who   Asker     `json:"who"`
	Asked time.Time `json:"asked_at"`
	Trace string    `json:"trace_id"`
	Span  string    `json:"span_id"`
	Order order     `json:"order,omitzero"`
	Run   string    `json:"run_id,omitempty"` // to verify
	Kinds []string  `json:"kinds"`            // of targets that it needs
}

// order is a request as it is written down.
type order struct {
	Tool    string      `json:"tool_name"`
	Version string      `json:"tool_version"`
	Plan    string      `json:"plan_id,omitempty"`
	Undoes  string      `json:"undoes,omitempty"`
	Calls   []orderCall `json:"calls,omitempty"`
	Targets []string    `json:"targets,omitempty"`
	Hash    blob.Sum    `json:"input_hash"`
	How     common      `json:"how"`
}

type orderCall struct {
	Tool    string `json:"tool"`
	Input   raw    `json:"inputs"`
	Target  string `json:"target"`
	Confirm bool   `json:"confirm,omitempty"`
	Seed    int64  `json:"seed"`
}

// answer is what came of a rehearsal or a verification.
type answer struct {
	ID      uuid.UUID `json:"ticket_id"`
	Run     *Run      `json:"run,omitempty"`
	Diff    *Diff     `json:"diff,omitempty"`
	Verdict *Verdict  `json:"verdict,omitempty"`
	Error   *Failure  `json:"error,omitempty"`
}

// stopAsked says that a ticket is to be done no more.
type stopAsked struct {
	ID uuid.UUID `json:"ticket_id"`
}

func orderOf(r request) order {
	o := order{Tool: r.tool, Version: r.version, Plan: r.plan, Undoes: r.undoes, Targets: r.targets, Hash: r.hash, How: r.common}
	for _, c := range r.calls {
		o.Calls = append(o.Calls, orderCall{c.tool.Name, c.input, c.target, c.confirm, c.seed})
	}
	return o
}

func (o order) request() (request, error) {
	r := request{tool: o.Tool, version: o.Version, plan: o.Plan, undoes: o.Undoes, targets: o.Targets, hash: o.Hash, common: o.How}
	for _, c := range o.Calls {
		t, ok := toolNamed(c.Tool)
		if !ok {
			return r, Fail(ToolNotFound, "this worker has no tool %q; it is of another version", c.Tool)
		}
		r.calls = append(r.calls, call{tool: t, input: c.Input, target: c.Target, confirm: c.Confirm, seed: c.Seed})
	}
	return r, nil
}

// kindsOf are the kinds of targets, each once, in order.
func kindsOf(targets []string) []string {
	var kinds []string
	for _, t := range targets {
		kind, _, _ := strings.Cut(t, ":")
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// handler names the queue of tickets that need the same kinds of targets.
func handler(kinds []string) string { return "studio:" + strings.Join(kinds, "+") }

// handlers name the queues that a worker with some kinds of targets takes from.
func handlers(kinds []string) []string {
	kinds = kindsOf(kinds)
	var names []string
	for set := 1; set < 1<<len(kinds); set++ {
		var some []string
		for i, k := range kinds {
			if set&(1<<i) != 0 {
				some = append(some, k)
			}
		}
		names = append(names, handler(some))
	}
	return names
}

// enqueue makes deliveries of tickets that have none yet. Doing it again does no harm.
func (s *Studio) enqueue(ctx context.Context, w access.WorldID, list []ticket) error {
	for _, t := range list {
		name, now := handler(t.Kinds), s.now()
		d := job.Delivery{World: w, Event: t.ID, Handler: name, Due: now, Created: now, Changed: now}
		for {
			from, err := s.queue.Deliveries.Cursor(ctx, w, name)
			if err != nil {
				return err
			}
			done, err := s.queue.Deliveries.Enqueue(ctx, w, name, from, from+1, []job.Delivery{d})
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
	}
	return nil
}

// ask writes a ticket down and puts it into the queue.
func (s *Studio) ask(ctx context.Context, g access.Grant, t ticket) error {
	level, _ := access.ParseLevel(t.Order.How.Audience)
	level = max(level, access.LevelGM) // the run may fail, and then players must not know of it
	return s.queue.Act(ctx, t.Who, g.World(), t.Order.Tool, func(g access.Grant) error {
		if err := s.record(ctx, g, t.ID.String(), eventTicket, level, t); err != nil {
			return err
		}
		return s.enqueue(ctx, g.World(), []ticket{t})
	})
}

func (s *Studio) newTicket(g access.Grant, act string, run *Run, o order, kinds []string) ticket {
	return ticket{ID: run.ID, Act: act, Who: askerOf(g), Asked: s.now().UTC().Truncate(time.Millisecond), Trace: run.TraceID, Span: run.SpanID, Order: o, Kinds: kinds}
}

// handOver leaves a run to a worker and waits for it. Where the caller goes away, or gives
// it up, it is called off.
func (x *executor) handOver(ctx context.Context) (*Run, error) {
	act := actRun
	if x.req.DryRun {
		act = actRehearse
	}
	targets := slices.Clone(x.req.targets)
	for _, c := range x.req.calls {
		targets = append(targets, c.target)
	}
	t := x.newTicket(x.grant, act, x.run, orderOf(x.req), kindsOf(targets))
	run := *x.run
	live, ctx, leave := x.goLive(ctx, x.run, x.grant.World())
	defer func() { leave(&run) }()
	if err := x.Studio.ask(ctx, x.grant, t); err != nil {
		return nil, err
	}
	a, err := x.await(ctx, x.grant, t, x.reporting(live))
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

// lookAgain is how often a run elsewhere is looked at for progress; that it has ended shows
// at once where the store tells of changes.
const lookAgain = 200 * time.Millisecond

// await waits for what comes of a ticket, and reports how far it is meanwhile.
func (s *Studio) await(ctx context.Context, g access.Grant, t ticket, progress func(done, total float64, message string)) (answer, error) {
	untaken, cancel := context.WithTimeout(ctx, time.Duration(max(t.Order.How.Timeout, 1))*time.Second)
	defer cancel()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	defer s.forget(g, t.ID)
	for seen := 0; ; {
		changed := s.canon.Changed()
		a, ok, err := s.answered(ctx, g, t.ID)
		if ok || err != nil && ctx.Err() == nil {
			return a, err
		}
		if p, ok := s.sight(t.ID); ok && p.Step > seen {
			seen, untaken = p.Step, ctx
			progress(p.Done, p.Total, p.Message)
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-untaken.Done():
			return s.giveUp(ctx, g, t, whyStopped(ctx, t))
		}
	}
}

// whyStopped is why nobody waits any more.
func whyStopped(ctx context.Context, t ticket) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return Fail(TimedOut, "no worker has taken the run; start one with: loregate studio worker --target %s", strings.Join(t.Kinds, ","))
}

// giveUp calls a ticket off, and waits a little for what comes of it.
func (s *Studio) giveUp(ctx context.Context, g access.Grant, t ticket, err error) (answer, error) {
	if errors.Is(err, errClosing) {
		return answer{}, err // the run goes on, and is recorded
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	defer s.forget(g, t.ID)
	if off := s.callOff(within, g, t, err); off != nil {
		return answer{}, errors.Join(err, off)
	}
	tick := time.NewTicker(lookAgain / 4)
	defer tick.Stop()
	for {
		if a, ok, bad := s.answered(within, g, t.ID); ok || bad != nil {
			return a, bad
		}
		select {
		case <-tick.C:
		case <-within.Done():
			return answer{}, err
		}
	}
}

// stopWait bounds how long is waited for a run elsewhere to stop.
const stopWait = 2 * time.Second

// callOff ends a ticket that nobody has taken, and tells whoever has.
func (s *Studio) callOff(ctx context.Context, g access.Grant, t ticket, why error) error {
	list, err := s.queue.Deliveries.Of(ctx, g.World(), []uuid.UUID{t.ID})
	if err != nil {
		return err
	}
	asker, operation := askerOf(g), "cancel_run"
	if asker == t.Who {
		operation = t.Order.Tool // whoever may ask may think better of it
	}
	if len(list) > 0 && list[0].Fence == 0 {
		return s.refuse(ctx, g.World(), t, why)
	}
	return s.queue.Act(ctx, asker, g.World(), operation, func(g access.Grant) error {
		return s.record(ctx, g, t.ID.String()+"/stop", eventStop, access.LevelGM, stopAsked{t.ID})
	})
}

// refuse records that a ticket came to nothing.
func (s *Studio) refuse(ctx context.Context, w access.WorldID, t ticket, why error) error {
	f := failureOf(why)
	return s.queue.Act(ctx, Asker{}, w, "refuse_run", func(g access.Grant) error {
		if t.Act == actRun {
			run := t.run(s)
			run.Status, run.Error, run.Ended = "error", f, s.now().UTC().Truncate(time.Millisecond)
			err := s.record(ctx, g, t.ID.String(), eventRun, access.LevelGM, run)
			if errors.Is(err, errEnded) {
				return nil
			}
			return err
		}
		return s.record(ctx, g, t.ID.String(), eventAnswer, access.LevelGM, answer{ID: t.ID, Error: f})
	})
}

// run is the run of a ticket, as it begins.
func (t ticket) run(s *Studio) *Run {
	o := t.Order
	r := newRun(t.ID, o.Tool, o.Version, o.Hash, o.How)
	r.Plan, r.Undoes, r.Actor, r.Started, r.Config, r.TraceID, r.SpanID = o.Plan, o.Undoes, string(t.Who.Subject), t.Asked, s.config, t.Trace, t.Span
	return r
}

// answered gives what has come of a ticket, where something has.
func (s *Studio) answered(ctx context.Context, g access.Grant, id uuid.UUID) (answer, bool, error) {
	b, err := s.book(ctx, g)
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
	run, err := s.whole(ctx, g, id.String())
	return answer{ID: id, Run: &run}, true, err
}

// forget drops what was kept for a ticket that is awaited no more.
func (s *Studio) forget(g access.Grant, id uuid.UUID) {
	s.mu.Lock()
	b := s.books[g.World()]
	s.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.awaited, id)
	delete(b.answers, id)
}

// waitingFor finds a ticket that has not ended, where the grant sees it.
func (s *Studio) waitingFor(ctx context.Context, g access.Grant, id string) (ticket, bool, error) {
	key, err := uuid.Parse(id)
	if err != nil || g.View().Level < access.LevelGM {
		return ticket{}, false, nil
	}
	b, err := s.book(ctx, g)
	if err != nil {
		return ticket{}, false, err
	}
	defer b.mu.Unlock()
	t, ok := b.queue[key]
	return t, ok && t.Act == actRun, nil
}

// followElsewhere yields how far a run is that a worker does, and its end.
func (s *Studio) followElsewhere(ctx context.Context, g access.Grant, t ticket) iter.Seq2[op.Message, error] {
	return func(yield func(op.Message, error) bool) {
		tick := time.NewTicker(lookAgain)
		defer tick.Stop()
		for step := 0; ; {
			run, err := s.whole(ctx, g, t.ID.String())
			if err == nil {
				yield(endMessage(&run), nil)
				return
			}
			if p, ok := s.sight(t.ID); ok && p.Step > step {
				step = p.Step
				b, _ := json.Marshal(map[string]any{"done": p.Done, "total": p.Total, "message": p.Message}) // finite, for it was read as JSON
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
