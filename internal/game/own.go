package game

import (
	"context"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/game/rule"
)

// clock is who does what happens by itself.
var clock = access.Caller{Subject: "alignment-clock", Actor: access.AI, Unlimited: true, Surfaces: []string{Surface}}

// as admits and records an act of the program's own, which is named in the request.
func (s *Service) as(ctx context.Context, c access.Caller, r access.Request, act func(access.Grant) error) error {
	r.Surface, r.Effect = Surface, access.Write
	a, err := s.cfg.Guard.Admit(ctx, c, r)
	if err != nil {
		return err
	}
	err = act(a.Grant)
	a.Done(ctx, 0, err)
	return err
}

// nameOf is what a command of the program's own is recorded as: as people's, by its type.
func nameOf(c rule.Command) string {
	switch c.(type) {
	case rule.Tick:
		return "tick"
	case rule.Chat:
		return "chat"
	case rule.AnswerPulse:
		return "pulse"
	case rule.CastVote:
		return "vote"
	case rule.TakeLeave:
		return "exit_interview"
	}
	return "night_action"
}

// lookout looks for what other processes have done. Each look that finds something, or
// fails, is an access of its own, admitted and recorded. Those that find nothing are
// recorded once a minute at most: a record wakes the other processes, and theirs this one.
type lookout struct {
	guard *access.Guard
	now   func() time.Time

	mu     sync.Mutex
	kept   []kept // guarded by mu
	closed bool   // guarded by mu
}

// kept is an admission under which nothing was found yet.
type kept struct {
	*access.Admission
	since time.Time
}

// emptyFor is how long an admission serves looks that find nothing.
const emptyFor = time.Minute

// look admits a look, which reports whether it found anything.
func (o *lookout) look(ctx context.Context, at func(access.Grant) (found bool, err error)) error {
	a, err := o.admission(ctx)
	if err != nil {
		return err
	}
	found, err := at(a.Grant)
	if found || err != nil || !o.keep(a) {
		a.Done(ctx, 0, err)
	}
	return err
}

// keep keeps an admission for the next look, unless it is too old or nobody looks any more.
func (o *lookout) keep(a kept) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.now().Sub(a.since) >= emptyFor {
		return false
	}
	o.kept = append(o.kept, a)
	return true
}

func (o *lookout) admission(ctx context.Context) (kept, error) {
	o.mu.Lock()
	if n := len(o.kept); n > 0 {
		a := o.kept[n-1]
		o.kept = o.kept[:n-1]
		o.mu.Unlock()
		return a, nil
	}
	o.mu.Unlock()
	a, err := o.guard.Admit(ctx, clock, access.Request{Operation: "follow_games", Surface: Surface, Effect: access.Read})
	return kept{a, o.now()}, err
}

// close closes what is left. Who still looks then closes its own.
func (o *lookout) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, a := range o.kept {
		a.Done(context.Background(), 0, nil)
	}
	o.kept = nil
}
