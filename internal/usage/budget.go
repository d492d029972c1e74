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

// Budget is how many tokens one purpose may cost in a world. Zero is no such bound.
type Budget struct {
	SoftHour, HardHour int
	SoftDay, HardDay   int
}

// spentType is the type of the ledger's events that tell of tokens taken or given back.
const spentType = "AI.Budget"

// spending is the payload of such an event.
type spending struct {
	Purpose string    `json:"ai.purpose"`
	Tokens  int       `json:"tokens"` // below zero for what was given back
	At      time.Time `json:"at"`
	Warned  []string  `json:"warned,omitempty"` // hour, day: whose soft bound this one passed
}

// purse is what a process keeps in mind of a world's ledger: what was spent of each
// purpose in the day that the ledger is at. It follows from the records alone.
type purse struct {
	head canon.Head
	day  time.Time
	of   map[string]*spent
}

// spent is what was spent of a purpose in the hour and the day that run.
type spent struct {
	hour             time.Time
	ofHour, ofDay    int
	warnedH, warnedD bool
}

// Take spends tokens of a purpose's budget. Over a hard bound it spends nothing, and its
// error is fault.RateLimited, which says when there are tokens again; over a soft one it
// goes on, and tells so once. It is counted in the world's ledger, so that all processes
// agree, and no start begins anew.
func (r *Recorder) Take(ctx context.Context, w access.WorldID, purpose string, tokens int) error {
	b := r.cfg.Budget[purpose]
	if b == (Budget{}) {
		return nil
	}
	now := r.cfg.Now().UTC()
	var over error
	var warned []string
	err := r.spend(ctx, w, func(p *purse) *spending {
		s := p.at(purpose, now)
		if over = b.allows(purpose, s, tokens, now); over != nil {
			return nil
		}
		warned = b.warns(s, tokens)
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
	return r.spend(ctx, w, func(*purse) *spending { return &spending{Purpose: purpose, Tokens: -tokens, At: r.cfg.Now().UTC()} })
}

// spend adds what decide makes of the purse as the ledger has it; nil adds nothing.
func (r *Recorder) spend(ctx context.Context, w access.WorldID, decide func(*purse) *spending) error {
	a, err := r.admit(ctx, w)
	if err != nil {
		return err
	}
	_, err = r.cfg.Canon.UpdateLedger(ctx, a.Grant, ledgerOf(w), func(t *canon.LedgerTx) ([]canon.Event, error) {
		p, err := r.purse(w, t)
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

// purse reads what the ledger holds since the last time; of a process's first time, since
// the day began. It is called with the store's writer held.
func (r *Recorder) purse(w access.WorldID, t *canon.LedgerTx) (*purse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.purses[w]
	if p != nil {
		err := p.fold(t, t.Since(p.head))
		if !canon.Moved(err) {
			return p, err
		}
	}
	day := r.cfg.Now().UTC().Truncate(24 * time.Hour)
	from, err := Query{Since: day}.seek(t)
	if err != nil {
		return nil, err
	}
	p = &purse{of: map[string]*spent{}}
	r.purses[w] = p
	return p, p.fold(t, t.From(from))
}

func (p *purse) fold(t *canon.LedgerTx, records func(func(canon.Record, error) bool)) error {
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
		p.add(s)
	}
	p.head = t.Head
	return nil
}

// add counts a spending. One of an hour or a day before counts for nothing any more.
func (p *purse) add(s spending) {
	at := p.at(s.Purpose, s.At)
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

// at is what was spent of a purpose, in the hour and the day of a time or a later one.
func (p *purse) at(purpose string, now time.Time) *spent {
	if day := now.Truncate(24 * time.Hour); day.After(p.day) {
		p.day = day
		clear(p.of)
	}
	s := p.of[purpose]
	if s == nil {
		s = &spent{}
		p.of[purpose] = s
	}
	if hour := now.Truncate(time.Hour); hour.After(s.hour) {
		s.hour, s.ofHour, s.warnedH = hour, 0, false
	}
	return s
}

// allows gives the refusal of what passes a hard bound.
func (b Budget) allows(purpose string, s *spent, tokens int, now time.Time) error {
	switch {
	case b.HardHour > 0 && s.ofHour+tokens > b.HardHour:
		return over(purpose, "hour", b.HardHour, s.hour.Add(time.Hour).Sub(now))
	case b.HardDay > 0 && s.ofDay+tokens > b.HardDay:
		return over(purpose, "day", b.HardDay, now.Truncate(24*time.Hour).Add(24*time.Hour).Sub(now))
	}
	return nil
}

// warns names the spans whose soft bound is passed for the first time.
func (b Budget) warns(s *spent, tokens int) (spans []string) {
	if b.SoftHour > 0 && s.ofHour+tokens > b.SoftHour && !s.warnedH {
		spans = append(spans, "hour")
	}
	if b.SoftDay > 0 && s.ofDay+tokens > b.SoftDay && !s.warnedD {
		spans = append(spans, "day")
	}
	return spans
}

func over(purpose, span string, most int, wait time.Duration) error {
	e := fault.New(fault.RateLimited, "the budget of %d tokens of %s for this %s is used up; wait %d s", most, purpose, span, fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", "tokens_"+span)
}
