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
			_ = l.exchange(last, with) // nobody is there to hear of a failure
			return
		case <-tick.C:
		}
		err := l.exchange(ctx, with)
		if err == nil && n%forgetEvery == 0 {
			err = with.Forget(ctx, l.now())
		}
		if err != nil && !failing && ctx.Err() == nil {
			log.Warn("limits hold for this process alone while others cannot be told", "error", err)
		}
		failing = err != nil
	}
}

// exchange tells what was spent since the last one, and learns what others spent.
func (l *Limits) exchange(ctx context.Context, with Shared) error {
	list := l.collect()
	if len(list) == 0 {
		return nil
	}
	all, err := with.Spend(ctx, l.spendings(list, l.now().UnixNano()))
	if err != nil {
		l.restore(list)
		return err
	}
	for _, one := range all {
		l.learn(one)
	}
	return nil
}

// purse is an account's buckets of one class, by its place.
type purse struct {
	account string
	place   int
}

// untold is how many tokens were taken, at which pace, and when the buckets would have
// been full had none been.
type untold struct {
	tokens      int64
	from, brief int64
	pace        pace
}

// note keeps that a token was just taken from a bucket. The caller holds mu.
func (s *limitShard) note(at purse, b bucket, p pace) {
	u, known := s.untold[at]
	if !known {
		at.account = strings.Clone(at.account)
		u.from, u.brief = b.minute-p.minuteStep, b.second-p.secondStep
	}
	u.tokens, u.pace = u.tokens+1, p
	s.untold[at] = u
}

// collect takes what was spent and not told.
func (l *Limits) collect() map[purse]untold {
	list := map[purse]untold{}
	for i := range limitShards {
		for _, s := range []*limitShard{&l.keys[i], &l.addrs[i]} {
			s.mu.Lock()
			maps.Copy(list, s.untold)
			clear(s.untold)
			s.mu.Unlock()
		}
	}
	return list
}

func (l *Limits) spendings(list map[purse]untold, now int64) []Spending {
	out := make([]Spending, 0, len(list))
	for at, u := range list {
		out = append(out, Spending{at.account, l.classes[at.place],
			Took{u.from, u.tokens * u.pace.minuteStep, now + 2*u.pace.minuteDepth}, Took{u.brief, u.tokens * u.pace.secondStep, now + 2*u.pace.secondDepth}})
	}
	return out
}

// restore gives back what could not be told.
func (l *Limits) restore(list map[purse]untold) {
	for at, u := range list {
		s := l.shard(at.account)
		s.mu.Lock()
		u.tokens += s.untold[at].tokens
		s.untold[at] = u
		s.mu.Unlock()
	}
}

// learn takes over what all have spent. What was let through since it was told comes on top.
func (l *Limits) learn(all Spent) {
	place := slices.Index(l.classes, all.Class)
	s := l.shard(all.Account)
	s.mu.Lock()
	defer s.mu.Unlock()
	buckets := s.accounts[all.Account]
	if place < 0 || buckets == nil { // forgotten meanwhile
		return
	}
	b, since := &buckets[place], s.untold[purse{all.Account, place}]
	b.minute = max(b.minute, all.Minute+since.tokens*since.pace.minuteStep)
	b.second = max(b.second, all.Second+since.tokens*since.pace.secondStep)
}
