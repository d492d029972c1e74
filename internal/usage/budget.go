package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Budget is the number of tokens that one purpose may cost in a world. Zero means no limit.
type Budget struct {
	SoftHour, HardHour int
	SoftDay, HardDay   int
}

// spentType is the type of the ledger's events about tokens taken or returned.
const spentType = "AI.Budget"

// spending is the payload of such an event.
type spending struct {
	Purpose string    `json:"ai.purpose"`
	Tokens  int       `json:"tokens"` // below zero if tokens were returned
	At      time.Time `json:"at"`
	Warned  []string  `json:"warned,omitempty"` // hour, day: the spans whose soft limit this spending passed
}

// totals is a process's view of a world's ledger: the tokens spent per purpose on the ledger's
// current day. It is derived from the records alone.
type totals struct {
	head canon.Head
	day  time.Time
	of   map[string]*spentTokens
}

// spentTokens holds the tokens spent for a purpose in the current hour and day.
type spentTokens struct {
	hour             time.Time
	ofHour, ofDay    int
	warnedH, warnedD bool
}

// Take takes tokens from a purpose's budget. Above a hard limit it takes nothing and returns
// fault.RateLimited with the time to wait. Above a soft limit it proceeds and warns once. The
// tokens are counted in the world's ledger, so that all processes share the count and it survives
// restarts.
func (r *Recorder) Take(ctx context.Context, w access.WorldID, purpose string, tokens int) error {
	b := r.cfg.Budget[purpose]
	if b == (Budget{}) {
		return nil
	}
	now := r.cfg.Now().UTC()
	var over error
	var warned []string
	err := r.updateSpending(ctx, w, func(p *totals) *spending {
		s := p.tokensAt(purpose, now)
		if over = b.checkHard(purpose, s, tokens, now); over != nil {
			return nil
		}
		warned = b.softWarnings(s, tokens)
		return &spending{purpose, tokens, now, warned}
	})
	if err != nil {
		return err
	}
	if len(warned) > 0 {
		r.Record(w, Event{Name: BudgetWarned, At: now, Purpose: purpose})
		r.cfg.Logger.WarnContext(ctx, "a soft budget is used up", "world", w, "purpose", purpose, "of", warned)
	}
	if over != nil {
		r.Record(w, Event{Name: BudgetRefused, At: now, Purpose: purpose, Outcome: Rejected})
	}
	return over
}

// Return gives back tokens that were taken and not spent.
func (r *Recorder) Return(ctx context.Context, w access.WorldID, purpose string, tokens int) error {
	if tokens <= 0 || r.cfg.Budget[purpose] == (Budget{}) {
		return nil
	}
	return r.updateSpending(ctx, w,
		func(*totals) *spending { return &spending{Purpose: purpose, Tokens: -tokens, At: r.cfg.Now().UTC()} })
}

// updateSpending adds the event that decide returns for the ledger's current totals; nil adds
// nothing.
func (r *Recorder) updateSpending(ctx context.Context, w access.WorldID, decide func(*totals) *spending) error {
	a, err := r.admitWrite(ctx, w)
	if err != nil {
		return err
	}
	_, err = r.cfg.Canon.UpdateLedger(ctx, a.Grant, ledgerOf(w), func(t *canon.LedgerTx) ([]canon.Event, error) {
		p, err := r.refreshSpending(w, t)
		if err != nil {
			return nil, err
		}
		s := decide(p)
		if s == nil {
			return nil, nil
		}
		payload, err := json.Marshal(s)
		return []canon.Event{{Type: spentType, Payload: payload, Version: 1}}, err
	})
	a.Done(ctx, 0, err)
	return err
}

// refreshSpending reads the ledger's records since the last call, or at a process's first call
// since the start of the day. It is called while the store's writer is held.
func (r *Recorder) refreshSpending(w access.WorldID, t *canon.LedgerTx) (*totals, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.spending[w]
	if p != nil {
		err := p.foldRecords(t, t.Since(p.head))
		if !canon.Moved(err) {
			return p, err
		}
	}
	day := r.cfg.Now().UTC().Truncate(24 * time.Hour)
	from, err := Query{Since: day}.seekStart(t)
	if err != nil {
		return nil, err
	}
	p = &totals{of: map[string]*spentTokens{}}
	r.spending[w] = p
	return p, p.foldRecords(t, t.From(from))
}

func (p *totals) foldRecords(t *canon.LedgerTx, records func(func(canon.Record, error) bool)) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		if rec.Event == nil || rec.Event.Type != spentType {
			continue
		}
		var s spending
		if err := json.Unmarshal(rec.Event.Payload, &s); err != nil {
			return fmt.Errorf("usage: %s/%d: %w", rec.Stream, rec.Seq, err)
		}
		p.addSpending(s)
	}
	p.head = t.Head
	return nil
}

// addSpending counts a spending. One from an earlier day does not count for the day, and one from
// an earlier hour does not count for the hour.
func (p *totals) addSpending(s spending) {
	at := p.tokensAt(s.Purpose, s.At)
	if !s.At.Truncate(24 * time.Hour).Before(p.day) {
		at.ofDay = max(at.ofDay+s.Tokens, 0)
	}
	if !s.At.Truncate(time.Hour).Before(at.hour) {
		at.ofHour = max(at.ofHour+s.Tokens, 0)
	}
	for _, span := range s.Warned {
		at.warnedH, at.warnedD = at.warnedH || span == "hour", at.warnedD || span == "day"
	}
}

// tokensAt returns the tokens spent for a purpose. It first advances to the hour and the day of
// now, if they are later.
func (p *totals) tokensAt(purpose string, now time.Time) *spentTokens {
	if day := now.Truncate(24 * time.Hour); day.After(p.day) {
		p.day = day
		clear(p.of)
	}
	s := p.of[purpose]
	if s == nil {
		s = &spentTokens{}
		p.of[purpose] = s
	}
	if hour := now.Truncate(time.Hour); hour.After(s.hour) {
		s.hour, s.ofHour, s.warnedH = hour, 0, false
	}
	return s
}

// checkHard returns the refusal if tokens would pass a hard limit.
func (b Budget) checkHard(purpose string, s *spentTokens, tokens int, now time.Time) error {
	switch {
	case b.HardHour > 0 && s.ofHour+tokens > b.HardHour:
		return overBudget(purpose, "hour", b.HardHour, s.hour.Add(time.Hour).Sub(now))
	case b.HardDay > 0 && s.ofDay+tokens > b.HardDay:
		return overBudget(purpose, "day", b.HardDay, now.Truncate(24*time.Hour).Add(24*time.Hour).Sub(now))
	}
	return nil
}

// softWarnings returns the spans whose soft limit is passed for the first time.
func (b Budget) softWarnings(s *spentTokens, tokens int) (spans []string) {
	if b.SoftHour > 0 && s.ofHour+tokens > b.SoftHour && !s.warnedH {
		spans = append(spans, "hour")
	}
	if b.SoftDay > 0 && s.ofDay+tokens > b.SoftDay && !s.warnedD {
		spans = append(spans, "day")
	}
	return spans
}

func overBudget(purpose, span string, most int, wait time.Duration) error {
	e := fault.New(fault.RateLimited, "the budget of %d tokens of %s for this %s is used up; wait %d s", most, purpose,
		span, fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", "tokens_"+span)
}
