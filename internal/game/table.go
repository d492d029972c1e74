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
	gate   chan struct{} // serializes commands and reads of the ledger
	bell   *bell         // rings when the game has changed

	mu    sync.Mutex
	state rule.State // guarded by mu
	seq   canon.Seq  // of the last record folded. Guarded by mu
	shown rendered   // guarded by mu

	version atomic.Int64 // of the public state; 0 before anything was read
	used    atomic.Int64 // time of the last use, in milliseconds
}

func newTable(id string) *table {
	return &table{id: id, stream: canon.LedgerStream(Ledger, id), gate: make(chan struct{}, 1), bell: newBell()}
}

// currentState returns the game as far as it was read.
func (t *table) currentState() (rule.State, canon.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state, t.seq
}

// lockGate waits for the gate.
func (t *table) lockGate(ctx context.Context) error {
	select {
	case t.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *table) unlockGate() { <-t.gate }

// foldRecords folds records that follow the last one.
func (t *table) foldRecords(records []canon.Record) error {
	if len(records) == 0 {
		return nil
	}
	state, seq := t.currentState()
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
	t.setState(state, seq)
	return nil
}

func (t *table) setState(state rule.State, seq canon.Seq) {
	t.mu.Lock()
	t.state, t.seq = state, seq
	t.mu.Unlock()
	t.version.Store(int64(state.Public.Version))
	t.bell.ring()
}

// errNoGame is the error for a game that does not exist, or that the caller has no place in.
func errNoGame() error {
	return fault.New(fault.NotFound,
		"there is no such game for you; list_games lists yours, and the token of a seat opens its game")
}

// openGame returns a game that is up to date with its ledger.
func (s *Service) openGame(ctx context.Context, g access.Grant, id string) (*table, error) {
	if !isGameID(id) {
		return nil, errNoGame()
	}
	s.mu.Lock()
	t := s.tables[id]
	s.mu.Unlock()
	if t == nil {
		t = newTable(id)
	}
	if err := s.refreshTable(ctx, g, t); err != nil {
		return nil, err
	}
	if t.version.Load() == 0 {
		return nil, errNoGame()
	}
	return s.keepTable(t), nil
}

// keepTable adds a game to those in memory; if it is already there, that table is returned instead.
func (s *Service) keepTable(t *table) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.tables[t.id]; first != nil {
		t = first
	}
	s.tables[t.id] = t
	t.used.Store(int64(s.nowMillis()))
	return t
}

// refreshTable reads the new records of a game's ledger.
func (s *Service) refreshTable(ctx context.Context, g access.Grant, t *table) error {
	if err := t.lockGate(ctx); err != nil {
		return err
	}
	defer t.unlockGate()
	return s.catchUp(ctx, g, t)
}

// catchUp is refreshTable with the gate held by the caller.
func (s *Service) catchUp(ctx context.Context, g access.Grant, t *table) error {
	_, seq := t.currentState()
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
	return t.foldRecords(records)
}

// tries is the number of times that a command is decided, each time because another process was
// first.
const tries = 20

// doCommand decides a command and returns when its events are durable and folded. The receipt is
// zero if the command changed nothing.
func (s *Service) doCommand(ctx context.Context, g access.Grant, t *table, c rule.Command) (canon.Receipt, error) {
	if err := t.lockGate(ctx); err != nil {
		return canon.Receipt{}, err
	}
	defer t.unlockGate()
	for range tries {
		receipt, err := s.tryCommand(ctx, g, t, c)
		if !canon.Moved(err) {
			return receipt, err
		}
		if err := s.catchUp(ctx, g, t); err != nil {
			return canon.Receipt{}, err
		}
	}
	e := fault.New(fault.Unavailable, "too many commands are running in this game; try again")
	e.RetryAfter = time.Second
	return canon.Receipt{}, e
}

func (s *Service) tryCommand(ctx context.Context, g access.Grant, t *table, c rule.Command) (canon.Receipt, error) {
	state, seq := t.currentState()
	after, events, err := rule.Step(state, c, s.nowMillis(), state.Dice())
	if err != nil || len(events) == 0 {
		return s.replayEarlier(ctx, g, t, err)
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
	t.setState(after, receipt.Seq)
	s.news.ring()
	return receipt, nil
}

// replayEarlier handles a command that changes nothing or is refused now: it may repeat an earlier
// command that had an effect.
func (s *Service) replayEarlier(ctx context.Context, g access.Grant, t *table, refused error) (canon.Receipt, error) {
	if g.Request().IdempotencyKey == "" {
		return canon.Receipt{}, refused
	}
	_, seq := t.currentState()
	receipt, err := s.cfg.Ledgers.Append(ctx, g, t.stream, seq, nil)
	if err != nil || receipt.Replayed {
		return receipt, err
	}
	return canon.Receipt{}, refused
}

// followPause is the shortest time between two reads for other processes' changes; forgetAfter is
// the time that a finished game stays in memory after its last use.
const (
	followPause = 100 * time.Millisecond
	forgetAfter = 5 * time.Minute
)

// followLedgers keeps the games in memory up to date with other processes' changes.
func (s *Service) followLedgers() {
	for {
		changed := s.cfg.Ledgers.Changed()
		if err := s.refreshAll(s.life); err != nil && s.life.Err() == nil {
			s.cfg.Logger.Warn("cannot read games", "error", err)
		}
		if !wait.For(s.life, followPause) {
			return
		}
		select {
		case <-changed:
		case <-s.life.Done():
			return
		}
	}
}

// refreshAll reads the new records of each game, and drops finished games that are no longer used.
// It also reads games that were read just before: a record added since then may stay the last one
// for a long time.
func (s *Service) refreshAll(ctx context.Context) error {
	s.mu.Lock()
	all := make([]*table, 0, len(s.tables))
	now := int64(s.nowMillis())
	for id, t := range s.tables {
		if t.isIdle(now) {
			delete(s.tables, id)
			continue
		}
		all = append(all, t)
	}
	s.mu.Unlock()
	for _, t := range all {
		_, before := t.currentState()
		if err := s.polls.poll(ctx, func(g access.Grant) (found bool, err error) {
			err = s.refreshTable(ctx, g, t)
			_, after := t.currentState()
			return after != before, err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) isIdle(now int64) bool {
	state, _ := t.currentState()
	return state.Public.Phase == rule.Over && now-t.used.Load() > forgetAfter.Milliseconds()
}
