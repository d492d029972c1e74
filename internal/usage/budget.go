package usage

import (
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Budget is how many tokens one purpose may cost in a world. Zero is no such bound.
type Budget struct {
	SoftHour, HardHour int
	SoftDay, HardDay   int
}

// account is what a budget is counted by.
type account struct {
	world   access.WorldID
	purpose string
}

// spent is what was spent in the hour and the day that run.
type spent struct {
	hour, day        time.Time
	ofHour, ofDay    int
	warnedH, warnedD bool
}

// Take spends tokens of a purpose's budget. Over a hard bound it spends nothing, and its
// error is fault.RateLimited, which says when there are tokens again; over a soft one it
// goes on, and tells so once. Each process counts for itself.
func (r *Recorder) Take(w access.WorldID, purpose string, tokens int) error {
	b, ok := r.cfg.Budget[purpose]
	if !ok {
		return nil
	}
	now := r.cfg.Now().UTC()
	warn, err := r.take(account{w, purpose}, b, tokens, now)
	if warn {
		r.Record(w, Event{Name: BudgetWarned, At: now, Purpose: purpose})
		r.cfg.Logger.Warn("a soft budget is used up", "world", w, "purpose", purpose)
	}
	if err != nil {
		r.Record(w, Event{Name: BudgetRefused, At: now, Purpose: purpose, Outcome: Rejected})
	}
	return err
}

// Return gives back tokens that were taken and not spent.
func (r *Recorder) Return(w access.WorldID, purpose string, tokens int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.spent[account{w, purpose}]; s != nil && tokens > 0 {
		s.ofHour, s.ofDay = max(s.ofHour-tokens, 0), max(s.ofDay-tokens, 0)
	}
}

func (r *Recorder) take(a account, b Budget, tokens int, now time.Time) (warn bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.spent[a]
	if s == nil {
		s = &spent{}
		r.spent[a] = s
	}
	if hour := now.Truncate(time.Hour); !s.hour.Equal(hour) {
		s.hour, s.ofHour, s.warnedH = hour, 0, false
	}
	if day := now.Truncate(24 * time.Hour); !s.day.Equal(day) {
		s.day, s.ofDay, s.warnedD = day, 0, false
	}
	switch {
	case b.HardHour > 0 && s.ofHour+tokens > b.HardHour:
		return false, over(a.purpose, "hour", b.HardHour, s.hour.Add(time.Hour).Sub(now))
	case b.HardDay > 0 && s.ofDay+tokens > b.HardDay:
		return false, over(a.purpose, "day", b.HardDay, s.day.Add(24*time.Hour).Sub(now))
	}
	s.ofHour, s.ofDay = s.ofHour+tokens, s.ofDay+tokens
	if b.SoftHour > 0 && s.ofHour > b.SoftHour && !s.warnedH {
		s.warnedH, warn = true, true
	}
	if b.SoftDay > 0 && s.ofDay > b.SoftDay && !s.warnedD {
		s.warnedD, warn = true, true
	}
	return warn, nil
}

func over(purpose, span string, most int, wait time.Duration) error {
	e := fault.New(fault.RateLimited, "the budget of %d tokens of %s for this %s is used up; wait %d s", most, purpose, span, fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", "tokens_"+span)
}
