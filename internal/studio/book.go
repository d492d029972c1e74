package studio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Ledger is the kind of the ledger that records runs and plans; each world has one.
const Ledger = "studio"

// The types of events in the ledger.
const (
	eventRun  = "run"  // a run that ended; the payload is a Run
	eventPlan = "plan" // a plan that was made; the payload is a Plan
)

// book is the state of a world's ledger, built by reading its events; later reads continue at the
// last record read.
type book struct {
	stream canon.StreamID
	mu     sync.Mutex // guards the fields below
	read   canon.Seq
	runs   map[uuid.UUID]entry
	order  []uuid.UUID // runs in the order in which they ended
	asked  map[string]uuid.UUID
	same   map[string]uuid.UUID // runs whose artifacts can be reused, by cache key
	undone map[string]string    // run id of the undo, by the id of the undone run
	plans  map[string]planEntry

	queue   map[uuid.UUID]ticket // tickets without a result
	stopped map[uuid.UUID]bool   // of those: a stop was requested
	known   map[uuid.UUID]bool   // of those: they have a delivery in the queue
	awaited map[uuid.UUID]bool   // tickets whose answers are stored, because somebody waits for them
	answers map[uuid.UUID]answer
}

type entry struct {
	seq      canon.Seq
	audience access.Level
	run      Run // without inputs and results of its steps
}

type planEntry struct {
	audience access.Level
	plan     Plan
}

func newBook(w access.WorldID) *book {
	return &book{stream: canon.LedgerStream(Ledger, w.String()), runs: map[uuid.UUID]entry{},
		asked: map[string]uuid.UUID{},
		same:  map[string]uuid.UUID{}, undone: map[string]string{}, plans: map[string]planEntry{},
		queue: map[uuid.UUID]ticket{}, stopped: map[uuid.UUID]bool{}, known: map[uuid.UUID]bool{},
		awaited: map[uuid.UUID]bool{}, answers: map[uuid.UUID]answer{}}
}

// readToHead reads new records up to the ledger's head. The caller holds b.mu.
func (b *book) readToHead(ctx context.Context, c *canon.Canon, g access.Grant) error {
	head, err := c.Head(ctx, g, b.stream)
	if err != nil || head.Seq == b.read {
		return err
	}
	for rec, err := range c.Records(ctx, g, b.stream, b.read+1) {
		if err != nil {
			return err
		}
		if err := b.foldRecord(rec); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) foldRecord(rec canon.Record) error {
	defer func() { b.read = rec.Seq }()
	if rec.Event == nil {
		return nil
	}
	level := max(rec.Event.Label.Level, access.LevelUser)
	var err error
	switch rec.Event.Type {
	case eventRun:
		err = decodeEvent(rec, func(run Run) { b.addRun(run, level, rec.Seq) })
	case eventPlan:
		err = decodeEvent(rec, func(p Plan) { b.plans[p.ID] = planEntry{level, p} })
	case eventTicket:
		err = decodeEvent(rec, func(t ticket) { b.queue[t.ID] = t })
	case eventStop:
		err = decodeEvent(rec, func(s stopAsked) { b.stopped[s.ID] = true })
	case eventAnswer:
		err = decodeEvent(rec, func(a answer) {
			b.removeTicket(a.ID)
			if b.awaited[a.ID] {
				b.answers[a.ID] = a
			}
		})
	}
	if err != nil {
		return fmt.Errorf("studio: record %d of %s: %w", rec.Seq, b.stream, err)
	}
	return nil
}

// decodeEvent decodes a record's payload and passes it to take.
func decodeEvent[T any](rec canon.Record, take func(T)) error {
	var v T
	err := json.Unmarshal(rec.Event.Payload, &v)
	if err == nil {
		take(v)
	}
	return err
}

// removeTicket removes a ticket that has a result from the queue.
func (b *book) removeTicket(id uuid.UUID) {
	delete(b.queue, id)
	delete(b.stopped, id)
	delete(b.known, id)
}

func (b *book) addRun(run Run, level access.Level, seq canon.Seq) {
	b.removeTicket(run.ID)
	if run.Status == "ok" {
		if key := run.cacheKey(); key != "" {
			b.same[key] = run.ID
		}
		if run.Undoes != "" {
			b.undone[run.Undoes] = run.ID.String()
		}
	}
	if run.Error == nil || run.Error.Code != Confirmation { // the request is repeated with confirm
		b.asked[run.Actor+"\x00"+run.RequestID] = run.ID
	}
	for i := range run.Steps {
		run.Steps[i].Input, run.Steps[i].Result = nil, nil
	}
	b.runs[run.ID] = entry{seq, level, run}
	b.order = append(b.order, run.ID)
}

// lockBook returns a world's book, read up to the head and locked. The caller unlocks it.
func (s *Studio) lockBook(ctx context.Context, g access.Grant) (*book, error) {
	s.mu.Lock()
	b := s.books[g.World()]
	if b == nil {
		b = newBook(g.World())
		s.books[g.World()] = b
	}
	s.mu.Unlock()
	b.mu.Lock()
	if err := b.readToHead(ctx, s.canon, g); err != nil {
		b.mu.Unlock()
		return nil, err
	}
	return b, nil
}

// errEnded is recordEvent's error for a run that is recorded already.
var errEnded = errors.New("studio: the run has ended already")

// recordEvent appends an event to the world's ledger and retries if another writer came first. Each
// run has one record: a second one is refused with errEnded.
func (s *Studio) recordEvent(ctx context.Context, g access.Grant, part, kind string, level access.Level, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("studio: encode %s: %w", kind, err)
	}
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return err
	}
	defer b.mu.Unlock()
	g = g.Part(part, g.Request().InputHash)
	event := canon.Event{Type: kind, Scope: Ledger, Payload: payload, Label: access.NewLabel(level)}
	for {
		if run, ok := v.(*Run); ok && b.hasRun(run.ID) {
			return errEnded
		}
		_, err := s.canon.Append(ctx, g, b.stream, b.read, []canon.Event{event})
		if !canon.Moved(err) {
			return err
		}
		if err := b.readToHead(ctx, s.canon, g); err != nil {
			return err
		}
	}
}

func (b *book) hasRun(run uuid.UUID) bool {
	_, ok := b.runs[run]
	return ok
}

// loadRun reads a run from its record. A run that the caller's view does not include is not found.
func (s *Studio) loadRun(ctx context.Context, g access.Grant, id string) (Run, error) {
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return Run{}, err
	}
	key, bad := uuid.Parse(id)
	e, ok := b.runs[key]
	stream := b.stream
	b.mu.Unlock()
	if bad != nil || !ok || e.audience > g.View().Level {
		return Run{}, runNotFound(id)
	}
	for rec, err := range s.canon.Records(ctx, g, stream, e.seq) {
		if err != nil {
			return Run{}, err
		}
		var run Run
		err = json.Unmarshal(rec.Event.Payload, &run)
		return run, err
	}
	return Run{}, runNotFound(id)
}

func runNotFound(id string) error {
	return fault.New(fault.NotFound, "there is no run %q; list_runs lists the runs", markup.Shorten(id, 60))
}

// findArtifact finds an artifact of a recorded run by its id.
func (s *Studio) findArtifact(ctx context.Context, g access.Grant, id string) (Artifact, error) {
	none := fault.New(fault.NotFound, "there is no artifact %q; get_run lists the artifacts of a run", markup.Shorten(id, 80))
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return Artifact{}, err
	}
	defer b.mu.Unlock()
	if len(id) < 37 {
		return Artifact{}, none
	}
	key, err := uuid.Parse(id[:36])
	if err != nil {
		return Artifact{}, none
	}
	e, ok := b.runs[key]
	if !ok || e.audience > g.View().Level {
		return Artifact{}, none
	}
	for _, a := range e.run.Artifacts {
		if a.ID == id {
			return a, nil
		}
	}
	return Artifact{}, none
}
