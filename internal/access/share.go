package access

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Shared is the store through which several processes share the spending of accounts.
type Shared interface {
	// Spend adds the spending of one process to the common total and returns the new total: one
	// entry for each in list, in any order.
	Spend(ctx context.Context, list []Spending) ([]Spent, error)
	// Forget removes buckets that are full again.
	Forget(ctx context.Context, now time.Time) error
}

// Spending is the part of an account's allowance that a process has spent since its last exchange.
type Spending struct {
	Account        string
	Class          Class
	Minute, Second Took
}

// Took describes the tokens taken from a bucket, in nanoseconds. From is the time at which the
// bucket would be full without them, Took the time in which they return, and Most the latest time
// at which the bucket may be full.
type Took struct{ From, Took, Most int64 }

// Spent is the time at which an account's buckets are full again, across all processes.
type Spent struct {
	Account        string
	Class          Class
	Minute, Second int64
}

// Exchange is the interval at which processes exchange their spending. Between two exchanges a
// process learns only of its own calls, so each process may let through all that the account has
// left. The account has to wait for the excess afterwards, so the total over a minute holds for all
// processes together.
const Exchange = 250 * time.Millisecond

// forgetEvery is the number of exchanges between two calls of Forget.
const forgetEvery = 240

// Share exchanges the spending with other processes until ctx ends, and one last time then. If an
// exchange fails, the limits hold for this process alone. Only one Share may run at a time.
func (l *Limits) Share(ctx context.Context, with Shared, log *slog.Logger) {
	l.sharing.Store(true)
	defer l.sharing.Store(false)
	tick := time.NewTicker(Exchange)
	defer tick.Stop()
	failing := false
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = l.exchangeSpent(last, with) // the caller is gone, so a failure is ignored
			return
		case <-tick.C:
		}
		err := l.exchangeSpent(ctx, with)
		if err == nil && n%forgetEvery == 0 {
			err = with.Forget(ctx, l.now())
		}
		if err != nil && !failing && ctx.Err() == nil {
			log.Warn("limits are counted for this process alone while other processes cannot be reached", "error", err)
		}
		failing = err != nil
	}
}

// exchangeSpent sends the spending since the last exchange and applies the common total.
func (l *Limits) exchangeSpent(ctx context.Context, with Shared) error {
	list := l.collectUnshared()
	if len(list) == 0 {
		return nil
	}
	all, err := with.Spend(ctx, l.toSpendings(list, l.now().UnixNano()))
	if err != nil {
		l.restoreUnshared(list)
		return err
	}
	for _, one := range all {
		l.applySpent(one)
	}
	return nil
}

// accountClass identifies an account's buckets of one class, by the index of the class.
type accountClass struct {
	account string
	place   int
}

// unsharedTokens is a number of tokens taken at a pace. from and brief are the times at which the
// minute and second buckets would have been full without them.
type unsharedTokens struct {
	tokens      int64
	from, brief int64
	pace        pace
}

// noteTaken records that n tokens were just taken from a bucket, or -n given back. The caller holds mu.
func (s *limitShard) noteTaken(at accountClass, b bucket, p pace, n int64) {
	u, known := s.unshared[at]
	if !known {
		at.account = strings.Clone(at.account)
		u.from, u.brief = b.minute-n*p.minuteStep, b.second-n*p.secondStep
	}
	u.tokens, u.pace = u.tokens+n, p
	s.unshared[at] = u
}

// collectUnshared returns and clears the spending that was not exchanged yet.
func (l *Limits) collectUnshared() map[accountClass]unsharedTokens {
	list := map[accountClass]unsharedTokens{}
	for i := range limitShards {
		for _, s := range []*limitShard{&l.keys[i], &l.addrs[i]} {
			s.mu.Lock()
			for at, u := range s.unshared {
				if u.tokens != 0 { // work that was only reserved is given back within the interval
					list[at] = u
				}
			}
			clear(s.unshared)
			s.mu.Unlock()
		}
	}
	return list
}

func (l *Limits) toSpendings(list map[accountClass]unsharedTokens, now int64) []Spending {
	out := make([]Spending, 0, len(list))
	for at, u := range list {
		out = append(out, Spending{at.account, l.classes[at.place],
			Took{u.from, u.tokens * u.pace.minuteStep, now + 2*u.pace.minuteDepth},
			Took{u.brief, u.tokens * u.pace.secondStep, now + 2*u.pace.secondDepth}})
	}
	return out
}

// restoreUnshared puts back the spending of a failed exchange.
func (l *Limits) restoreUnshared(list map[accountClass]unsharedTokens) {
	for at, u := range list {
		s := l.shardOf(at.account)
		s.mu.Lock()
		u.tokens += s.unshared[at].tokens
		s.unshared[at] = u
		s.mu.Unlock()
	}
}

// applySpent applies the common total of an account, and adds the tokens taken since the exchange
// began.
func (l *Limits) applySpent(all Spent) {
	place := slices.Index(l.classes, all.Class)
	s := l.shardOf(all.Account)
	s.mu.Lock()
	defer s.mu.Unlock()
	buckets := s.accounts[all.Account]
	if place < 0 || buckets == nil { // dropped in the meantime
		return
	}
	b, since := &buckets[place], s.unshared[accountClass{all.Account, place}]
	b.minute = max(b.minute, all.Minute+since.tokens*since.pace.minuteStep)
	b.second = max(b.second, all.Second+since.tokens*since.pace.secondStep)
}
