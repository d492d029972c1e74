package game

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/game/rule"
	"loregate/internal/wait"
)

// table is one game in memory: the fold of its ledger as far as it was read.
type table struct {
	id     string
	stream canon.StreamID
	gate   chan struct{} // commands and readings of the ledger go one after the other
	bell   *bell         // rings when the game has changed

	mu    sync.Mutex
	state rule.State // guarded by mu
	seq   canon.Seq  // of the last record folded. Guarded by mu
	shown rendered   // guarded by mu

	version atomic.Int64 // of the public half; 0 before anything was read
	used    atomic.Int64 // when it was last asked for, in milliseconds
}

func newTable(id string) *table {
	return &table{id: id, stream: canon.LedgerStream(Ledger, id), gate: make(chan struct{}, 1), bell: newBell()}
}

// now is the game as far as it was read.
func (t *table) now() (rule.State, canon.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state, t.seq
}

// enter waits for the gate.
func (t *table) enter(ctx context.Context) error {
	select {
	case t.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *table) leave() { <-t.gate }

// fold takes in records that follow on those before.
func (t *table) fold(records []canon.Record) error {
	if len(records) == 0 {
		return nil
	}
	state, seq := t.now()
	for _, rec := range records {
		if rec.Seq != seq+1 || rec.Event == nil {
			return fmt.Errorf("game %s: record %d follows %d", t.id, rec.Seq, seq)
		}
		e, err := rule.Decode(rec.Event.Type, rec.Event.Payload)
		if err != nil {
			return fmt.Errorf("game %s: record %d: %w", t.id, rec.Seq, err)
		}
		state, seq = rule.Apply(state, e), rec.Seq
	}
	t.set(state, seq)
	return nil
}

func (t *table) set(state rule.State, seq canon.Seq) {
	t.mu.Lock()
	t.state, t.seq = state, seq
	t.mu.Unlock()
	t.version.Store(int64(state.Public.Version))
	t.bell.ring()
}

// errNoGame is the answer to a game that is not there, or that the caller has no part in.
func errNoGame() error {
	return fault.New(fault.NotFound, "there is no such game for you; use the token of a seat at it")
}

// open gives a game level with its ledger.
func (s *Service) open(ctx context.Context, g access.Grant, id string) (*table, error) {
	if !isGameID(id) {
		return nil, errNoGame()
	}
	s.mu.Lock()
	t := s.tables[id]
	s.mu.Unlock()
	if t == nil {
		t = newTable(id)
	}
	if err := s.refresh(ctx, g, t); err != nil {
		return nil, err
	}
	if t.version.Load() == 0 {
		return nil, errNoGame()
	}
	return s.keep(t), nil
}

// keep remembers a game; where two came at once, the first stays.
func (s *Service) keep(t *table) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.tables[t.id]; first != nil {
		t = first
	}
	s.tables[t.id] = t
	t.used.Store(int64(s.now()))
	return t
}

// refresh reads what the ledger has beyond what is known.
func (s *Service) refresh(ctx context.Context, g access.Grant, t *table) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer t.leave()
	return s.catchUp(ctx, g, t)
}

// catchUp is refresh, with the gate held.
func (s *Service) catchUp(ctx context.Context, g access.Grant, t *table) error {
	_, seq := t.now()
	var records []canon.Record
	for rec, err := range s.cfg.Ledgers.Records(ctx, g, t.stream, seq+1) {
		if err != nil {
			return err
		}
		records = append(records, rec)
	}
	if len(records) == 0 {
		return nil
	}
	defer s.news.ring()
	return t.fold(records)
}

// tries is how often a command is decided anew because another process was first.
const tries = 20

// do decides a command and returns when its events are durable and folded. The receipt is
// zero where the command changed nothing.
func (s *Service) do(ctx context.Context, g access.Grant, t *table, c rule.Command) (canon.Receipt, error) {
	if err := t.enter(ctx); err != nil {
		return canon.Receipt{}, err
	}
	defer t.leave()
	for range tries {
		receipt, err := s.try(ctx, g, t, c)
		if !canon.Moved(err) {
			return receipt, err
		}
		if err := s.catchUp(ctx, g, t); err != nil {
			return canon.Receipt{}, err
		}
	}
	e := fault.New(fault.Unavailable, "too many things happen in this game at once; try again")
	e.RetryAfter = time.Second
	return canon.Receipt{}, e
}

func (s *Service) try(ctx context.Context, g access.Grant, t *table, c rule.Command) (canon.Receipt, error) {
	state, seq := t.now()
	after, events, err := rule.Step(state, c, s.now(), state.Dice())
	if err != nil || len(events) == 0 {
		return s.earlier(ctx, g, t, err)
	}
	stored := make([]canon.Event, len(events))
	for i, e := range events {
		name, payload, err := rule.Encode(e)
		if err != nil {
			return canon.Receipt{}, err
		}
		stored[i] = canon.Event{Type: name, Scope: string(t.stream), Payload: payload}
	}
	receipt, err := s.cfg.Ledgers.Append(ctx, g, t.stream, seq, stored)
	if err != nil {
		return receipt, err
	}
	if receipt.Replayed || receipt.DryRun || receipt.Seq != seq+canon.Seq(len(events)) {
		return receipt, s.catchUp(ctx, g, t) // answered from an earlier use of its key
	}
	t.set(after, receipt.Seq)
	s.news.ring()
	return receipt, nil
}

// earlier answers a command that changes nothing or is refused now: it may be the
// repetition of one that did something.
func (s *Service) earlier(ctx context.Context, g access.Grant, t *table, refused error) (canon.Receipt, error) {
	if g.Request().IdempotencyKey == "" {
		return canon.Receipt{}, refused
	}
	_, seq := t.now()
	receipt, err := s.cfg.Ledgers.Append(ctx, g, t.stream, seq, nil)
	if err != nil || receipt.Replayed {
		return receipt, err
	}
	return canon.Receipt{}, refused
}

// restful is how often games in memory are read again for what other processes did, and
// forgotten how long a game stays that nobody asks for and that is over.
const (
	restful   = 100 * time.Millisecond
	forgotten = 5 * time.Minute
)

// follow keeps the games in memory level with what other processes do.
func (s *Service) follow() {
	for {
		changed := s.cfg.Ledgers.Changed()
		if err := s.level(s.life); err != nil && s.life.Err() == nil {
			s.cfg.Logger.Warn("cannot read games", "error", err)
		}
		if !wait.For(s.life, restful) {
			return
		}
		select {
		case <-changed:
		case <-s.life.Done():
			return
		}
	}
}

// level reads on in each game, and drops those of no more use. Also in one that was just
// read: what came since may be the last that comes for long.
func (s *Service) level(ctx context.Context) error {
	s.mu.Lock()
	all := make([]*table, 0, len(s.tables))
	now := int64(s.now())
	for id, t := range s.tables {
		if t.idle(now) {
			delete(s.tables, id)
			continue
		}
		all = append(all, t)
	}
	s.mu.Unlock()
	for _, t := range all {
		_, before := t.now()
		if err := s.looking.look(ctx, func(g access.Grant) (found bool, err error) {
			err = s.refresh(ctx, g, t)
			_, after := t.now()
			return after != before, err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) idle(now int64) bool {
	state, _ := t.now()
	return state.Public.Phase == rule.Over && now-t.used.Load() > forgotten.Milliseconds()
}
