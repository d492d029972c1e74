package game

import (
	"context"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/game/rule"
)

// clockCaller is the caller of actions that the clock causes.
var clockCaller = access.Caller{Subject: "alignment-clock", Actor: access.AI, Unlimited: true,
	Surfaces: []string{Surface}}

// admitAs admits and records an action of the program's own, which the request names.
func (s *Service) admitAs(ctx context.Context, c access.Caller, r access.Request, act func(access.Grant) error) error {
	r.Surface, r.Effect = Surface, access.Write
	a, err := s.cfg.Guard.Admit(ctx, c, r)
	if err != nil {
		return err
	}
	err = act(a.Grant)
	a.Done(ctx, 0, err)
	return err
}

// nameOf returns the operation name under which a command of the program's own is recorded;
// commands of people have the same names.
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

// pollRecorder admits and records the reads by which the service notices other processes' changes. Each
// read that finds something, or fails, is a separate access. Reads that find nothing share an
// admission for up to a minute: recording each would wake the other processes, and their records
// this one.
type pollRecorder struct {
	guard *access.Guard
	now   func() time.Time

	mu     sync.Mutex
	kept   []keptAdmission // guarded by mu
	closed bool            // guarded by mu
}

// keptAdmission is an admission whose reads have found nothing yet.
type keptAdmission struct {
	*access.Admission
	since time.Time
}

// maxAdmissionAge is the time for which one admission may serve reads that find nothing.
const maxAdmissionAge = time.Minute

// poll admits and runs a read; found reports whether it found anything.
func (o *pollRecorder) poll(ctx context.Context, read func(access.Grant) (found bool, err error)) error {
	a, err := o.nextAdmission(ctx)
	if err != nil {
		return err
	}
	found, err := read(a.Grant)
	if found || err != nil || !o.keepAdmission(a) {
		a.Done(ctx, 0, err)
	}
	return err
}

// keepAdmission keeps an admission for the next read. It returns false if the admission is too old
// or the pollRecorder is closed.
func (o *pollRecorder) keepAdmission(a keptAdmission) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.now().Sub(a.since) >= maxAdmissionAge {
		return false
	}
	o.kept = append(o.kept, a)
	return true
}

func (o *pollRecorder) nextAdmission(ctx context.Context) (keptAdmission, error) {
	o.mu.Lock()
	if n := len(o.kept); n > 0 {
		a := o.kept[n-1]
		o.kept = o.kept[:n-1]
		o.mu.Unlock()
		return a, nil
	}
	o.mu.Unlock()
	a, err := o.guard.Admit(ctx, clockCaller, access.Request{Operation: "follow_games", Surface: Surface,
		Effect: access.Read})
	return keptAdmission{a, o.now()}, err
}

// close ends the kept admissions. A read that is still running ends its own.
func (o *pollRecorder) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, a := range o.kept {
		a.Done(context.Background(), 0, nil)
	}
	o.kept = nil
}
