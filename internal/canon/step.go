package canon

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Step is a change of many commits that people see, and undo, as one. Its commits have one operation and one
// correlation id: that of the call, with the number of the commit before the step. The first of them carries an
// event with a stepBegun, and a commit at the end an event with a stepEnded.
type Step struct {
	ID          uuid.UUID // of its first commit
	Kind        StepKind
	Source      string // name of the files that an import read
	Format      string
	Of          uuid.UUID // the step that it undoes; zero for an import
	UndoneBy    uuid.UUID // the step that undoes it; zero for none
	By          access.Subject
	At          time.Time // of the first commit
	Role        access.Role
	Op          string
	Correlation string
	First, Last Seq // of its commits; Last is 0 if it has not ended
	Commits     int // 0 if it has not ended
	Cards       map[access.Level]int
}

// StepKind is the kind of a step.
type StepKind string

// The kinds.
const (
	KindImport StepKind = "import"
	KindUndo   StepKind = "undo"
)

// CountFor returns the number of the step's cards that a level sees.
func (s Step) CountFor(l access.Level) (n int) {
	for level, count := range s.Cards {
		if level <= l {
			n += count
		}
	}
	return n
}

// lastSeq returns the last commit that can belong to the step.
func (s Step) lastSeq() Seq {
	if s.Last == 0 {
		return math.MaxInt64
	}
	return s.Last
}

// Span returns the commits of the step.
func (s Step) Span() Span { return Span{s.First, s.lastSeq(), s.Op} }

// Types of the events of a step.
const (
	stepBegins = "step_begun"
	stepEnds   = "step_ended"
)

// stepBegun is the payload of the event of a step's first commit.
type stepBegun struct {
	Kind   StepKind    `json:"kind"`
	Source string      `json:"source,omitempty"`
	Format string      `json:"format,omitempty"`
	Of     uuid.UUID   `json:"of,omitzero"`
	Role   access.Role `json:"role"`
}

// stepEnded is the payload of the event of a step's last commit.
type stepEnded struct {
	Commits int                  `json:"commits"`
	Cards   map[access.Level]int `json:"cards"` // that it wrote and that live, by their level
}

// openStep is a step that is being made.
type openStep struct {
	event       Event // of the first commit
	correlation string
	of          uuid.UUID // the step that it undoes

	mu    sync.Mutex // guards the rest
	id    uuid.UUID  // of the first commit; zero before it
	wrote bool       // the call made a commit
}

// stepKey identifies the call that makes a step.
type stepKey struct {
	world       access.WorldID
	correlation string
	op          string
	by          access.Subject
}

func keyOfStep(g access.Grant) stepKey {
	r := g.Request()
	return stepKey{r.World, r.Correlation, r.Operation, g.Caller().Subject}
}

// stepOf returns the step that a call is making, or nil.
func (c *Canon) stepOf(g access.Grant) *openStep {
	if g.Request().Correlation == "" {
		return nil
	}
	if v, ok := c.steps.Load(keyOfStep(g)); ok {
		return v.(*openStep)
	}
	return nil
}

// announce makes the commit of a record belong to the step, and if none does yet, begin it.
func (s *openStep) announce(rec *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec.Correlation = s.correlation
	if s.id == uuid.Nil && rec.Event == nil {
		e := s.event
		rec.Event = &e
	}
}

// note notes a commit of the step.
func (s *openStep) note(change uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrote = true; s.id == uuid.Nil {
		s.id = change
	}
}

func (s *openStep) state() (id uuid.UUID, wrote bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.wrote
}

// MakeStep calls work, and makes all commits of the grant's call meanwhile one step with the Kind, Source, Format
// and Of of s. An import ends also if work fails. A step that changes nothing leaves no trace. Views below level,
// and below game masters, never see it. Dry runs, and callers who see nothing of game masters, make no step.
func (c *Canon) MakeStep(ctx context.Context, g access.Grant, s Step, level access.Level, work func() error) error {
	_, err := c.makeStep(ctx, g, s, level, work)
	return err
}

// makeStep is MakeStep. It goes on with a step that has an ID, and returns the id of the step; zero if nothing
// changed.
func (c *Canon) makeStep(ctx context.Context, g access.Grant, s Step, level access.Level,
	work func() error) (uuid.UUID, error) {
	label := access.NewLabel(max(level, access.LevelGM))
	if g.Request().DryRun || g.Request().Correlation == "" || !g.View().Sees(label) {
		return uuid.UUID{}, work()
	}
	payload, err := json.Marshal(stepBegun{Kind: s.Kind, Source: s.Source, Format: s.Format, Of: s.Of, Role: g.Role()})
	if err != nil {
		return uuid.UUID{}, fmt.Errorf("canon: encode step: %w", err)
	}
	open := &openStep{event: Event{Type: stepBegins, Payload: payload, Label: label}, correlation: s.Correlation, of: s.Of,
		id: s.ID}
	if s.ID == uuid.Nil { // a caller may use the correlation id of a call again
		err := c.Read(ctx, g, func(now *Snapshot) error {
			open.correlation = g.Request().Correlation + "#" + strconv.FormatUint(uint64(now.Now()), 10)
			return nil
		})
		if err != nil {
			return uuid.UUID{}, err
		}
	}
	key := keyOfStep(g)
	if _, taken := c.steps.LoadOrStore(key, open); taken {
		return uuid.UUID{}, fault.New(fault.Conflict, "this call is being made already; wait for its answer")
	}
	defer c.steps.Delete(key)
	err = work()
	id, wrote := open.state()
	if !wrote && s.Last == 0 && s.ID != uuid.Nil {
		wrote = true // all was done, but for the end
	}
	if !wrote || err != nil && s.Kind == KindUndo { // a repeated call goes on with an undo
		return id, err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepEndTime)
	defer cancel()
	if bad := c.endStep(late, g, id, label); bad != nil && err == nil {
		err = bad
	}
	return id, err
}

// stepEndTime is the time for the last commit of a step, which is made also if the call was cancelled.
const stepEndTime = time.Minute

// endStep writes the last commit of a step.
func (c *Canon) endStep(ctx context.Context, g access.Grant, id uuid.UUID, label access.Label) error {
	end := stepEnded{Cards: map[access.Level]int{}}
	err := c.Read(ctx, g, func(s *Snapshot) error {
		step, err := s.Step(ctx, id)
		if err != nil {
			return err
		}
		step.Last = 0
		var ids []CardID
		seen := map[CardID]bool{}
		err = s.stepRecords(ctx, step, func(rec Record) error {
			if len(rec.Changes) > 0 {
				end.Commits++
			}
			for _, ch := range rec.Changes {
				if ch.Card != nil && ch.Card.Places == nil && !seen[ch.Card.ID] {
					seen[ch.Card.ID], ids = true, append(ids, ch.Card.ID)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for part := range slices.Chunk(ids, stepLookups) {
			cards, err := s.findCards(ctx, part)
			if err != nil {
				return err
			}
			for _, c := range cards {
				end.Cards[c.Label.Level]++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	payload, err := json.Marshal(end)
	if err != nil {
		return fmt.Errorf("canon: encode step: %w", err)
	}
	_, err = c.Update(ctx, g.Unkeyed(), func(p *Plan) error {
		p.Cause(id)
		return p.Event(Event{Type: stepEnds, Payload: payload, Label: label})
	})
	return err
}

// stepLookups is the number of cards that are looked up at once.
const stepLookups = 500

// findCards returns the visible cards with some ids, in their order, and those in the trash if the view sees it.
func (s *Snapshot) findCards(ctx context.Context, ids []CardID) ([]Card, error) {
	living, err := s.ByIDs(ctx, ids)
	if err != nil || len(living) == len(ids) {
		return living, err
	}
	there := map[CardID]Card{}
	for _, c := range living {
		there[c.ID] = c
	}
	var all []Card
	for _, id := range ids {
		c, ok := there[id]
		if !ok && s.View().SeesTrash() {
			if c, ok, err = First(s.r.FindCards(ctx, s.visibility, CardQuery{ID: id})); err != nil {
				return nil, err
			}
		}
		if ok {
			all = append(all, c)
		}
	}
	return all, nil
}

// stepRecords calls f with the records of a step's commits, in their order.
func (s *Snapshot) stepRecords(ctx context.Context, step Step, f func(Record) error) error {
	for commit, err := range s.r.Commits(ctx, WorldStream(s.world.ID), step.First) {
		if err != nil {
			return err
		}
		if commit.Seq > step.lastSeq() {
			return nil
		}
		if commit.Op != step.Op {
			continue
		}
		rec, err := commit.Record()
		if err != nil {
			return err
		}
		if rec.Correlation != step.Correlation {
			continue
		}
		if err := f(rec); err != nil {
			return err
		}
	}
	return nil
}

// maxSteps is the number of steps that a world shows: the latest.
const maxSteps = 1000

// Steps returns the latest steps that the view may know of, latest first.
func (s *Snapshot) Steps(ctx context.Context) ([]Step, error) {
	if s.View().Level < access.LevelGM {
		return nil, nil
	}
	begun, _, err := s.Events(ctx, EventQuery{Types: []string{stepBegins}, Page: Page{Limit: maxSteps, Uncounted: true}})
	if err != nil || len(begun) == 0 {
		return nil, err
	}
	ended, _, err := s.Events(ctx, EventQuery{Types: []string{stepEnds}, After: begun[len(begun)-1].Seq - 1,
		Page: Page{Limit: 2 * maxSteps, Uncounted: true}})
	if err != nil {
		return nil, err
	}
	ends, undone := map[string]StoredEvent{}, map[uuid.UUID]uuid.UUID{}
	for _, e := range slices.Backward(ended) {
		ends[e.Causation] = e // the latest, if the step was gone on with
	}
	all := make([]Step, 0, len(begun))
	for _, e := range begun {
		var b stepBegun
		if err := json.Unmarshal(e.Payload, &b); err != nil {
			return nil, fmt.Errorf("canon: step %s: %w", e.ID, err)
		}
		step := Step{ID: e.ID, Kind: b.Kind, Source: b.Source, Format: b.Format, Of: b.Of, By: e.By, At: e.At, Role: b.Role,
			Op: e.Op, Correlation: e.Correlation, First: e.Seq}
		if end, ok := ends[e.ID.String()]; ok {
			var p stepEnded
			if err := json.Unmarshal(end.Payload, &p); err != nil {
				return nil, fmt.Errorf("canon: step %s: %w", e.ID, err)
			}
			step.Last, step.Commits, step.Cards = end.Seq, p.Commits, p.Cards
		}
		if _, ok := undone[step.Of]; !ok && step.Of != uuid.Nil {
			undone[step.Of] = step.ID
		}
		all = append(all, step)
	}
	for i, step := range all {
		all[i].UndoneBy = undone[step.ID]
	}
	return all, nil
}

// Step returns a step by its id.
func (s *Snapshot) Step(ctx context.Context, id uuid.UUID) (Step, error) {
	all, err := s.Steps(ctx)
	if err != nil {
		return Step{}, err
	}
	for _, step := range all {
		if step.ID == id {
			return step, nil
		}
	}
	return Step{}, fault.New(fault.NotFound, "there is no import %s; list imports with recent_changes", id)
}

// StepCard is a card that a step wrote, as it is now.
type StepCard struct {
	Card
	Act Act // the first of the step
}

// StepCards lists the visible cards that a step wrote, in the order in which it did.
func (s *Snapshot) StepCards(ctx context.Context, step Step) ([]StepCard, error) {
	acts := map[CardID]Act{}
	var ids []CardID
	err := s.stepRecords(ctx, step, func(rec Record) error {
		for _, ch := range rec.Changes {
			if ch.Card == nil || ch.Card.Places != nil {
				continue
			}
			if _, seen := acts[ch.Card.ID]; !seen {
				acts[ch.Card.ID], ids = ch.Card.Act, append(ids, ch.Card.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]StepCard, 0, len(ids))
	for part := range slices.Chunk(ids, stepLookups) {
		cards, err := s.findCards(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, c := range cards {
			all = append(all, StepCard{c, acts[c.ID]})
		}
	}
	return all, nil
}
