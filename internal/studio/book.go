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
)

// Ledger is the kind of ledger that runs and plans are recorded in, one for each world.
const Ledger = "studio"

// The types of events in it.
const (
	eventRun  = "run"  // a run that ended: a Run
	eventPlan = "plan" // a plan that was made: a storedPlan
)

// book is what a world's ledger says, folded: it is read on from where it was read to.
type book struct {
	stream canon.StreamID
	mu     sync.Mutex // guards what follows
	read   canon.Seq
	runs   map[uuid.UUID]entry
	order  []uuid.UUID // runs as they ended
	asked  map[string]uuid.UUID
	same   map[string]uuid.UUID // runs whose artifacts may be given again, by cache key
	undone map[string]string    // runs taken back, and by which
	plans  map[string]planEntry

	queue   map[uuid.UUID]ticket // tickets of which nothing has come yet
	stopped map[uuid.UUID]bool   // of those: they are to be done no more
	known   map[uuid.UUID]bool   // of those: they are in the queue of deliveries
	awaited map[uuid.UUID]bool   // tickets whose answers are kept, for somebody waits
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
	return &book{stream: canon.LedgerStream(Ledger, w.String()), runs: map[uuid.UUID]entry{}, asked: map[string]uuid.UUID{},
		same: map[string]uuid.UUID{}, undone: map[string]string{}, plans: map[string]planEntry{},
		queue: map[uuid.UUID]ticket{}, stopped: map[uuid.UUID]bool{}, known: map[uuid.UUID]bool{}, awaited: map[uuid.UUID]bool{}, answers: map[uuid.UUID]answer{}}
}

// readToHead reads on to the ledger's end. b.mu is held.
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

// decodeEvent reads a record's payload and hands it on.
func decodeEvent[T any](rec canon.Record, take func(T)) error {
	var v T
	err := json.Unmarshal(rec.Event.Payload, &v)
	if err == nil {
		take(v)
	}
	return err
}

// removeTicket takes a ticket out of the queue, for something has come of it.
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
	b.asked[run.Actor+"\x00"+run.RequestID] = run.ID
	for i := range run.Steps {
		run.Steps[i].Input, run.Steps[i].Result = nil, nil
	}
	b.runs[run.ID] = entry{seq, level, run}
	b.order = append(b.order, run.ID)
}

// lockBook gives a world's book, read to the end, locked. The caller unlocks it.
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

// errEnded is what record answers for a run that is recorded already.
var errEnded = errors.New("studio: the run has ended already")

// recordEvent appends an event to the world's ledger, whoever else does so too. Of a run there
// is one record: a second one is refused with errEnded.
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

// loadRun reads a run as it was recorded. What the view does not see is not there.
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
		return Run{}, errNoRun(id)
	}
	for rec, err := range s.canon.Records(ctx, g, stream, e.seq) {
		if err != nil {
			return Run{}, err
		}
		var run Run
		err = json.Unmarshal(rec.Event.Payload, &run)
		return run, err
	}
	return Run{}, errNoRun(id)
}

func errNoRun(id string) error {
	return fault.New(fault.NotFound, "there is no run %q; list_runs shows those there are", clipText(id, 60))
}

// findArtifact finds an artifact of a recorded run by its id.
func (s *Studio) findArtifact(ctx context.Context, g access.Grant, id string) (Artifact, error) {
	none := fault.New(fault.NotFound, "there is no artifact %q; get_run lists those of a run", clipText(id, 80))
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
