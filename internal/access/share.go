package access

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
)

// Shared is where several processes tell each other what accounts have spent.
type Shared interface {
	// Spend adds what one process let through to what all have, and gives what all have:
	// each of list once, in any order.
	Spend(ctx context.Context, list []Spending) ([]Spent, error)
	// Forget drops what is full again.
	Forget(ctx context.Context, now time.Time) error
}

// Spending is what a process let through of an account's allowance since it last told.
type Spending struct {
	Account        string
	Class          Class
	Minute, Second Took
}

// Took is what was taken from a bucket, in nanoseconds: since when, how much, and the
// latest time at which the bucket may be full, however much was taken.
type Took struct{ From, Took, Most int64 }

// Spent is the time at which an account's buckets are full again, for all processes.
type Spent struct {
	Account        string
	Class          Class
	Minute, Second int64
}

// Exchange is how often processes tell each other. Between two exchanges each lets
// through what it knows of: at most what the account may still take, once in each process.
// What was too much is waited for afterwards, so that a minute's sum holds over all.
const Exchange = 250 * time.Millisecond

// forgetEvery is how many exchanges pass between two clearings.
const forgetEvery = 240

// Share exchanges with other processes what is spent until ctx ends, and once more then.
// Where that fails the limits hold for this process alone. One Share runs at a time.
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
			_ = l.exchangeSpent(last, with) // nobody is there to hear of a failure
			return
		case <-tick.C:
		}
		err := l.exchangeSpent(ctx, with)
		if err == nil && n%forgetEvery == 0 {
			err = with.Forget(ctx, l.now())
		}
		if err != nil && !failing && ctx.Err() == nil {
			log.Warn("limits hold for this process alone while others cannot be told", "error", err)
		}
		failing = err != nil
	}
}

// exchangeSpent tells what was spent since the last one, and learns what others spent.
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

// accountClass is an account's buckets of one class, by its place.
type accountClass struct {
	account string
	place   int
}

// unsharedTokens is how many tokens were taken, at which pace, and when the buckets would have
// been full had none been.
type unsharedTokens struct {
	tokens      int64
	from, brief int64
	pace        pace
}

// noteTaken keeps that a token was just taken from a bucket. The caller holds mu.
func (s *limitShard) noteTaken(at accountClass, b bucket, p pace) {
	u, known := s.unshared[at]
	if !known {
		at.account = strings.Clone(at.account)
		u.from, u.brief = b.minute-p.minuteStep, b.second-p.secondStep
	}
	u.tokens, u.pace = u.tokens+1, p
	s.unshared[at] = u
}

// collectUnshared takes what was spent and not told.
func (l *Limits) collectUnshared() map[accountClass]unsharedTokens {
	list := map[accountClass]unsharedTokens{}
	for i := range limitShards {
		for _, s := range []*limitShard{&l.keys[i], &l.addrs[i]} {
			s.mu.Lock()
			maps.Copy(list, s.unshared)
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
			Took{u.from, u.tokens * u.pace.minuteStep, now + 2*u.pace.minuteDepth}, Took{u.brief, u.tokens * u.pace.secondStep, now + 2*u.pace.secondDepth}})
	}
	return out
}

// restoreUnshared gives back what could not be told.
func (l *Limits) restoreUnshared(list map[accountClass]unsharedTokens) {
	for at, u := range list {
		s := l.shardOf(at.account)
		s.mu.Lock()
		u.tokens += s.unshared[at].tokens
		s.unshared[at] = u
		s.mu.Unlock()
	}
}

// applySpent takes over what all have spent. What was let through since it was told comes on top.
func (l *Limits) applySpent(all Spent) {
	place := slices.Index(l.classes, all.Class)
	s := l.shardOf(all.Account)
	s.mu.Lock()
	defer s.mu.Unlock()
	buckets := s.accounts[all.Account]
	if place < 0 || buckets == nil { // forgotten meanwhile
		return
	}
	b, since := &buckets[place], s.unshared[accountClass{all.Account, place}]
	b.minute = max(b.minute, all.Minute+since.tokens*since.pace.minuteStep)
	b.second = max(b.second, all.Second+since.tokens*since.pace.secondStep)
}
