package studio

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/job"
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

func askerFromGrant(g access.Grant) Asker {
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
	actRun    = "run"
	actDryRun = "rehearse"
	actVerify = "verify"
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

func orderFromRequest(r request) order {
	o := order{Tool: r.tool, Version: r.version, Plan: r.plan, Undoes: r.undoes, Targets: r.targets, Hash: r.hash, How: r.common}
	for _, c := range r.calls {
		o.Calls = append(o.Calls, orderCall{c.tool.Name, c.input, c.target, c.confirm, c.seed})
	}
	return o
}

func (o order) toRequest() (request, error) {
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

// targetKinds are the kinds of targets, each once, in order.
func targetKinds(targets []string) []string {
	var kinds []string
	for _, t := range targets {
		kind, _, _ := strings.Cut(t, ":")
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// queueName names the queue of tickets that need the same kinds of targets.
func queueName(kinds []string) string { return "studio:" + strings.Join(kinds, "+") }

// queueNames name the queues that a worker with some kinds of targets takes from.
func queueNames(kinds []string) []string {
	kinds = targetKinds(kinds)
	var names []string
	for set := 1; set < 1<<len(kinds); set++ {
		var some []string
		for i, k := range kinds {
			if set&(1<<i) != 0 {
				some = append(some, k)
			}
		}
		names = append(names, queueName(some))
	}
	return names
}

// enqueueTickets makes deliveries of tickets that have none yet. Doing it again does no harm.
func (s *Studio) enqueueTickets(ctx context.Context, w access.WorldID, list []ticket) error {
	for _, t := range list {
		name, now := queueName(t.Kinds), s.now()
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

// submitTicket writes a ticket down and puts it into the queue, both or neither: who gives up
// meanwhile calls it off afterwards.
func (s *Studio) submitTicket(ctx context.Context, g access.Grant, t ticket) error {
	ctx = context.WithoutCancel(ctx)
	level, _ := access.ParseLevel(t.Order.How.Audience)
	level = max(level, access.LevelGM) // the run may fail, and then players must not know of it
	return s.queue.Act(ctx, t.Who, g.World(), t.Order.Tool, func(g access.Grant) error {
		if err := s.recordEvent(ctx, g, t.ID.String(), eventTicket, level, t); err != nil {
			return err
		}
		return s.enqueueTickets(ctx, g.World(), []ticket{t})
	})
}

func (s *Studio) newTicket(g access.Grant, act string, run *Run, o order, kinds []string) ticket {
	return ticket{ID: run.ID, Act: act, Who: askerFromGrant(g), Asked: s.now().UTC().Truncate(time.Millisecond), Trace: run.TraceID, Span: run.SpanID, Order: o, Kinds: kinds}
}

// newRun is the run of a ticket, as it begins.
func (t ticket) newRun(s *Studio) *Run {
	o := t.Order
	r := newRun(t.ID, o.Tool, o.Version, o.Hash, o.How)
	r.Plan, r.Undoes, r.Actor, r.Started, r.Config, r.TraceID, r.SpanID = o.Plan, o.Undoes, string(t.Who.Subject), t.Asked, s.config, t.Trace, t.Span
	return r
}
