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

// Queue hands runs to workers, which may be other processes with the same store and the same
// artifact folder. A requested run is a ticket in the world's ledger and a delivery that workers
// lease.
type Queue struct {
	Deliveries job.Deliveries
	// Act admits one operation in a world for the caller who asked for it, with that caller's
	// current rights, and calls f. The zero Asker is the system. The operation ReadQueue only
	// reads.
	Act func(ctx context.Context, who Asker, w access.WorldID, operation string, f func(access.Grant) error) error
	// HandOver leaves runs that are requested in this process to workers.
	HandOver bool
}

// ReadQueue is the operation of an Act that only reads.
const ReadQueue = "read_queue"

// Asker identifies the caller who asked for a run.
type Asker struct {
	Subject access.Subject `json:"subject"`
	Key     string         `json:"key,omitempty"`
	Role    access.Role    `json:"role"`
}

func askerFromGrant(g access.Grant) Asker {
	c := g.Caller()
	return Asker{c.Subject, c.Key, g.Role()}
}

// The types of ledger events for runs that workers do.
const (
	eventTicket = "ticket" // a task for a worker; the payload is a ticket
	eventAnswer = "answer" // the result of a ticket that records no run; the payload is an answer
	eventStop   = "stop"   // a request to stop a ticket; the payload is a stopAsked
)

// The acts of tickets.
const (
	actRun    = "run"
	actDryRun = "rehearse"
	actVerify = "verify"
)

// ticket is a task for a worker. Its id is the id of the run.
type ticket struct {
	ID    uuid.UUID `json:"ticket_id"`
	Act   string    `json:"act"`
	Who   Asker     `json:"who"`
	Asked time.Time `json:"asked_at"`
	Trace string    `json:"trace_id"`
	Span  string    `json:"span_id"`
	Order order     `json:"order,omitzero"`
	Run   string    `json:"run_id,omitempty"` // the run to verify
	Kinds []string  `json:"kinds"`            // of the targets that the ticket needs
}

// order is the stored form of a request.
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

// answer is the result of a dry run or a verification at a worker.
type answer struct {
	ID      uuid.UUID `json:"ticket_id"`
	Run     *Run      `json:"run,omitempty"`
	Diff    *Diff     `json:"diff,omitempty"`
	Verdict *Verdict  `json:"verdict,omitempty"`
	Error   *Failure  `json:"error,omitempty"`
}

// stopAsked records a request to stop a ticket.
type stopAsked struct {
	ID uuid.UUID `json:"ticket_id"`
}

func orderFromRequest(r request) order {
	o := order{Tool: r.tool, Version: r.version, Plan: r.plan, Undoes: r.undoes, Targets: r.targets, Hash: r.hash,
		How: r.common}
	for _, c := range r.calls {
		o.Calls = append(o.Calls, orderCall{c.tool.Name, c.input, c.target, c.confirm, c.seed})
	}
	return o
}

func (o order) toRequest() (request, error) {
	r := request{tool: o.Tool, version: o.Version, plan: o.Plan, undoes: o.Undoes, targets: o.Targets, hash: o.Hash,
		common: o.How}
	for _, c := range o.Calls {
		t, ok := toolNamed(c.Tool)
		if !ok {
			return r, Fail(ToolNotFound, "this worker has no tool %q; it has another version", c.Tool)
		}
		r.calls = append(r.calls, call{tool: t, input: c.Input, target: c.Target, confirm: c.Confirm, seed: c.Seed})
	}
	return r, nil
}

// targetKinds returns the kinds of targets that need a program, sorted and without duplicates.
func targetKinds(targets []string) []string {
	var kinds []string
	for _, t := range targets {
		kind, _, _ := strings.Cut(t, ":")
		if kind != NativeKind {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// queueName names the queue of tickets that need these kinds of targets.
func queueName(kinds []string) string { return "studio:" + strings.Join(kinds, "+") }

// queueNames names the queues that a worker with these kinds of targets takes from: one for each
// non-empty subset.
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

// enqueueTickets makes deliveries of tickets that have none yet. Repeating it is harmless.
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

// submitTicket records a ticket and enqueues it. It ignores ctx's cancellation, so that both
// happen; a caller who cancels meanwhile stops the ticket afterwards.
func (s *Studio) submitTicket(ctx context.Context, g access.Grant, t ticket) error {
	ctx = context.WithoutCancel(ctx)
	level, _ := access.ParseLevel(t.Order.How.Audience)
	level = max(level, access.LevelGM) // if the run fails, players must not learn of it
	return s.queue.Act(ctx, t.Who, g.World(), t.Order.Tool, func(g access.Grant) error {
		if err := s.recordEvent(ctx, g, t.ID.String(), eventTicket, level, t); err != nil {
			return err
		}
		return s.enqueueTickets(ctx, g.World(), []ticket{t})
	})
}

func (s *Studio) newTicket(g access.Grant, act string, run *Run, o order, kinds []string) ticket {
	return ticket{ID: run.ID, Act: act, Who: askerFromGrant(g), Asked: s.now().UTC().Truncate(time.Millisecond),
		Trace: run.TraceID, Span: run.SpanID, Order: o, Kinds: kinds}
}

// newRun makes the run of a ticket in its initial state.
func (t ticket) newRun(s *Studio) *Run {
	o := t.Order
	r := newRun(t.ID, o.Tool, o.Version, o.Hash, o.How)
	r.Plan, r.Undoes, r.Actor, r.Started, r.Config, r.TraceID, r.SpanID = o.Plan, o.Undoes, string(t.Who.Subject), t.Asked,
		s.config, t.Trace, t.Span
	return r
}
