package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Run is a run of an agent that has ended, without its texts.
type Run struct {
	ID        string        `json:"run" jsonschema:"Correlation id of its calls."`
	Agent     string        `json:"agent"`
	At        time.Time     `json:"at" jsonschema:"When it began."`
	TookMS    float64       `json:"durationMs"`
	Status    string        `json:"status" jsonschema:"skipped, done, that of its last proposal, or the code of the error that ended it."`
	Tokens    int           `json:"tokens" jsonschema:"Tokens of models that it spent."`
	Calls     []RunCall     `json:"calls" jsonschema:"Its calls in their order: reads, questions, judgements and proposals."`
	Proposals []RunProposal `json:"proposals"`
}

// RunCall is a call of an operation, or a question to a model.
type RunCall struct {
	Operation string  `json:"operation" jsonschema:"Operation that was called; model for a question to a model."`
	Outcome   string  `json:"outcome" jsonschema:"ok, or the code of the error."`
	TookMS    float64 `json:"durationMs"`
	Bytes     int     `json:"bytes,omitempty" jsonschema:"Size of the answer."`
	Tokens    int     `json:"tokens,omitempty"`
}

// RunProposal is a proposal of a run and its verdict at that time.
type RunProposal struct {
	ID     string `json:"proposalId"`
	Status string `json:"status"`
	Gate   string `json:"gate,omitempty" jsonschema:"Gate that refused it."`
}

// runType is the type of the ledger's events about runs; their payload is a Run.
const runType = "AI.Agent.Ran"

// runsSince is how long runs are listed.
const runsSince = 7 * 24 * time.Hour

// RecordRun writes a run to the world's ledger.
func (r *Recorder) RecordRun(ctx context.Context, w access.WorldID, run Run) error {
	payload, err := json.Marshal(run)
	if err != nil {
		return err
	}
	a, err := r.admitWrite(ctx, w)
	if err != nil {
		return err
	}
	_, err = r.cfg.Canon.UpdateLedger(ctx, a.Grant, ledgerOf(w), func(*canon.LedgerTx) ([]canon.Event, error) {
		return []canon.Event{{Type: runType, Payload: payload, Version: 1}}, nil
	})
	a.Done(ctx, 0, err)
	return err
}

// Runs returns the latest runs of the last week in the grant's world, newest first: of one agent, or of all for "".
func (r *Recorder) Runs(ctx context.Context, g access.Grant, agent string, limit int) (list []Run, err error) {
	err = r.cfg.Canon.Follow(ctx, g, ledgerOf(g.World()), func(t *canon.LedgerTx) error {
		from, err := Query{Since: r.cfg.Now().UTC().Add(-runsSince)}.seekStart(t)
		if err != nil {
			return err
		}
		for rec, err := range t.From(from) {
			if err != nil {
				return err
			}
			if rec.Event == nil || rec.Event.Type != runType {
				continue
			}
			var run Run
			if err := json.Unmarshal(rec.Event.Payload, &run); err != nil {
				return fmt.Errorf("usage: %s/%d: %w", rec.Stream, rec.Seq, err)
			}
			if agent != "" && run.Agent != agent {
				continue
			}
			if list = append(list, run); len(list) > limit {
				list = list[1:]
			}
		}
		return nil
	})
	slices.Reverse(list)
	return list, err
}

// Spent is a budget that has a limit, and its use in the current hour and day.
type Spent struct {
	Budget    string `json:"budget" jsonschema:"agent and its name, tier and its name, or a purpose."`
	Hour      int    `json:"tokensHour"`
	HourLimit int    `json:"limitHour" jsonschema:"0 for no limit."`
	Day       int    `json:"tokensDay"`
	DayLimit  int    `json:"limitDay" jsonschema:"0 for no limit."`
}

// Spending returns the use of all budgets with a limit in the grant's world, in the order of their names.
func (r *Recorder) Spending(ctx context.Context, g access.Grant) ([]Spent, error) {
	now := r.cfg.Now().UTC()
	p := &totals{of: map[string]*spentTokens{}}
	err := r.cfg.Canon.Follow(ctx, g, ledgerOf(g.World()), func(t *canon.LedgerTx) error {
		from, err := Query{Since: now.Truncate(24 * time.Hour)}.seekStart(t)
		if err != nil {
			return err
		}
		return p.foldRecords(t, t.From(from))
	})
	list := []Spent{}
	for name, b := range r.cfg.Budget {
		if b.HardHour > 0 || b.HardDay > 0 {
			s := p.tokensAt(name, now)
			list = append(list, Spent{name, s.ofHour, b.HardHour, s.ofDay, b.HardDay})
		}
	}
	slices.SortFunc(list, func(a, b Spent) int { return strings.Compare(a.Budget, b.Budget) })
	return list, err
}
