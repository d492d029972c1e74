package access

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"loregate/internal/fault"
)

// Limiter limits the rate of calls. Take takes one token from the account's allowance in a class,
// or returns the time to wait. profile selects the rates; "" is the default.
type Limiter interface {
	Take(account, profile string, class Class) (wait time.Duration, ok bool)
}

// Recorder stores access records. Reserve reserves room for one record or fails: a call is refused
// rather than served without a record. Record uses the reserved room.
type Recorder interface {
	Reserve() error
	Record(Record)
}

// Record is the access record of one call. It never holds content, query text or secrets.
type Record struct {
	At          time.Time     `json:"at"`
	Correlation string        `json:"correlation_id"`
	Subject     Subject       `json:"subject"`
	Key         string        `json:"key,omitempty"`
	Role        Role          `json:"role"`
	World       WorldID       `json:"world"`
	Surface     string        `json:"surface"`
	Operation   string        `json:"operation"`
	Target      string        `json:"target,omitempty"`
	Outcome     string        `json:"outcome"` // "ok", the error code, or OutcomeOpen
	Duration    time.Duration `json:"duration_ns"`
	Bytes       int           `json:"bytes"`
	Cards       CardList      `json:"cards,omitempty"` // cards that the answer held
}

// OutcomeOpen is the outcome in a record of a stream that is still open. Such a record names the cards that the stream
// has shown and that no earlier record of it names.
const OutcomeOpen = "open"

// Config configures a Guard. A nil Limiter means no limits, a nil Recorder no records. Now defaults
// to time.Now, and Logger, which gets the internal errors of calls, to slog.Default.
//
// CPU returns the processor time that the process has taken. It is called at most once in 5 ms, and once at the end of
// each call of a millisecond or more. nil means that work is judged by the time of calls alone.
type Config struct {
	Limiter  Limiter
	Recorder Recorder
	Now      func() time.Time
	CPU      func() time.Duration
	Logger   *slog.Logger
}

// Guard admits calls. It is safe for concurrent use.
type Guard struct {
	limiter  Limiter
	work     workLimiter // the limiter, if it can count work
	cpu      cpuClock
	recorder Recorder
	now      func() time.Time
	logger   *slog.Logger
}

// NewGuard returns a Guard.
func NewGuard(c Config) *Guard {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	work, _ := c.Limiter.(workLimiter)
	return &Guard{limiter: c.Limiter, work: work, cpu: cpuClock{read: c.CPU}, recorder: c.Recorder, now: c.Now,
		logger: c.Logger}
}

// Admission is an admitted call, until Done is called.
type Admission struct {
	Grant   Grant
	guard   *Guard
	started time.Time
	work    Class         // of the work that the call counts for; ClassFree for none
	cpu     time.Duration // of cpuClock.begin
	passed  bool          // the cards shown count for another call; see PassShown
}

// Admit decides whether a call may proceed. It reserves room for the access record and checks the
// limits, the key's audience and allow-list, and the role. Its errors are fault.Denied,
// fault.NotFound (no role in the world), fault.RateLimited and fault.Unavailable. It records
// refusals itself. The caller must call Done on every admission.
func (g *Guard) Admit(ctx context.Context, c Caller, r Request) (*Admission, error) {
	if g.recorder != nil {
		if err := g.recorder.Reserve(); err != nil {
			e := fault.New(fault.Unavailable, "the access log cannot store another record; try again shortly")
			e.RetryAfter = time.Second
			return nil, e.Because(err)
		}
	}
	a := &Admission{guard: g, started: g.now()}
	role := c.Role(r.World)
	a.Grant = Grant{&admitted{caller: c, request: r, role: role, view: c.view(role),
		call: &callState{recorded: g.recorder != nil && !r.Unshown}}}
	if err := g.checkAdmission(a, c, r, role); err != nil {
		a.Done(ctx, 0, err)
		return nil, err
	}
	return a, nil
}

// Peeker is a Limiter that tells whether an account has a token, without taking it.
type Peeker interface {
	Peek(account, profile string, class Class) (wait time.Duration, ok bool)
}

// Foresee returns the error with which Admit would refuse a call for the rights or limits of its caller, before the
// call's body is read. role is the caller's in the call's world, or its highest if the body names the world.
// Foresee records nothing and takes no token. It looks at the rights first: pages leave out the forms of what their
// reader may not do, also if the reader makes too many calls. Limits of a Limiter that is no Peeker, and those of
// players, are not foreseen.
func (g *Guard) Foresee(c Caller, r Request, role Role) error {
	if err := c.checkRights(r, role); err != nil {
		return err
	}
	if p, ok := g.limiter.(Peeker); ok && !c.Unlimited && r.Class != ClassFree {
		for _, class := range []Class{r.Class, ClassWrite, workClass(c, role)} {
			if class == ClassWrite && r.Effect != Write && r.Effect != Destroy || class == ClassFree {
				continue
			}
			if wait, ok := p.Peek(c.Account(), c.RateClass, class); !ok {
				return limitFault(class, wait)
			}
		}
	}
	return nil
}

// checkAdmission checks the limits first, so that refused calls count against them too, and then
// the rights of the caller.
func (g *Guard) checkAdmission(a *Admission, c Caller, r Request, role Role) error {
	if class, wait, ok := g.takeLimits(c, r); !ok {
		return limitFault(class, wait)
	}
	if class, wait, ok := g.reserveWork(a, c, r, role); !ok {
		return limitFault(class, wait)
	}
	return c.checkRights(r, role)
}

func limitFault(class Class, wait time.Duration) error {
	e := fault.New(fault.RateLimited, "too many %s; wait %d s and repeat the call", class, fault.RetrySeconds(wait))
	switch class {
	case ClassPlayers:
		e = fault.New(fault.RateLimited, "too many calls for players; wait %d s and repeat the call",
			fault.RetrySeconds(wait))
	case ClassWork, ClassGMWork:
		e = fault.New(fault.RateLimited, "your calls took more processor time than the limit %s allows in a minute; wait "+
			"%d s and repeat the call, and ask for less at once: shorter texts, smaller pages, narrower searches", class,
			fault.RetrySeconds(wait))
	}
	e.RetryAfter = wait
	return e.With("limit", string(class))
}

// checkRights checks the rights of a caller with a role in the call's world.
func (c Caller) checkRights(r Request, role Role) error {
	switch {
	case c.Audience != "" && c.Audience != r.Audience:
		return fault.New(fault.Denied, "a play token does not open %s; use a key that opens it", r.Operation)
	case !c.MayUse(r.Surface, r.Operation):
		return fault.New(fault.Denied, "this key does not open %s; use a key that opens it", r.Operation)
	case c.ReadOnly && r.Effect != Read:
		return fault.New(
			fault.Denied,
			"%s writes, and this key or address only reads; use a key that may write, and an address without /readonly",
			r.Operation,
		)
	case c.MayIn(r.World) == MayRead && r.Effect != Read:
		return fault.New(fault.Denied, "%s writes, and you only read this world; ask a game master for more", r.Operation)
	case r.Operator && !c.Operator:
		return fault.New(fault.Denied, "%s is only for the instance's operator; use the operator's key", r.Operation)
	case r.People && (c.Actor != Person || c.Advisory):
		return fault.New(fault.Denied, "%s is only for people; sign in on the pages, or use a person's key that may write",
			r.Operation)
	case r.MinRole == RoleNone:
		return nil
	case role == RoleNone:
		return fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	case role < r.MinRole:
		return fault.New(fault.Denied, "%s needs the role %s; this call has %s", r.Operation, r.MinRole, role).
			With("required_role", r.MinRole.String())
	}
	return nil
}

// takeLimits takes a token of the call's class and, if the call changes the canon, one of
// ClassWrite. Commands of players do not count as writes. If there is no token, it returns the limit
// that was reached and the time to wait.
//
// A call for a player counts for that player, so that one key can play for many. It counts for the key
// in ClassPlayers too, which bounds a key that names more and more players.
func (g *Guard) takeLimits(c Caller, r Request) (Class, time.Duration, bool) {
	if g.limiter == nil || c.Unlimited || r.Class == ClassFree {
		return r.Class, 0, true
	}
	if counted := r.Part && r.Class == ClassCall; !counted {
		account := c.Account()
		if r.Player != uuid.Nil && c.Player == uuid.Nil {
			if wait, ok := g.limiter.Take(account, c.RateClass, ClassPlayers); !ok {
				return ClassPlayers, wait, false
			}
			account += "/player:" + r.Player.String()
		}
		if wait, ok := g.limiter.Take(account, c.RateClass, r.Class); !ok {
			return r.Class, wait, false
		}
	}
	if (r.Effect == Write || r.Effect == Destroy) && r.Class != ClassWrite && r.Class != ClassCommand {
		wait, ok := g.limiter.Take(c.Account(), c.RateClass, ClassWrite)
		return r.Class, wait, ok
	}
	return r.Class, 0, true
}

// Done closes the admission and records the outcome of the call. bytes is the size of the reply.
func (a *Admission) Done(ctx context.Context, bytes int, err error) {
	outcome := "ok"
	if err != nil {
		outcome = fault.KindOf(err).Code()
	}
	rec := a.newRecord(outcome, bytes)
	if k := fault.KindOf(err); !a.passed && (err == nil || bytes > 0 || k == fault.NotFound) { // which names similar cards
		rec.Cards = a.Grant.AllShown()
	}
	a.settleWork(rec.Duration)
	if a.guard.recorder != nil {
		a.guard.recorder.Record(rec)
	}
	if fault.KindOf(err) == fault.Internal && err != nil {
		a.guard.logger.ErrorContext(ctx, "call failed", "operation", rec.Operation, "correlation_id", rec.Correlation,
			"error", err)
	}
}

// RecordShown records the cards that a stream has shown so far, unless its records name them all. bytes is the size of
// the answer that was sent. If there is no room for a record, a later one tells.
func (a *Admission) RecordShown(bytes int) {
	cards := a.Grant.AllShown()
	if cards == "" || a.guard.recorder.Reserve() != nil {
		return
	}
	rec := a.newRecord(OutcomeOpen, bytes)
	rec.Cards = cards
	a.guard.recorder.Record(rec)
	a.Grant.in.call.shown.noteTold(cards, a.guard.now())
}

// PassShown makes the cards that a part of a call has shown count for the whole call, so that they count once. The zero
// whole, and one for another world, change nothing.
func (a *Admission) PassShown(whole Grant) {
	if whole.in == nil || whole.World() != a.Grant.World() {
		return
	}
	whole.NoteShownList(a.Grant.AllShown())
	a.passed = true
}

func (a *Admission) newRecord(outcome string, bytes int) Record {
	in := a.Grant.in
	return Record{
		At: a.started.UTC(), Correlation: in.request.Correlation, Subject: in.caller.Subject, Key: in.caller.Key,
		Role: in.role, World: in.request.World, Surface: in.request.Surface, Operation: in.request.Operation,
		Target: in.request.Target, Outcome: outcome, Duration: a.guard.now().Sub(a.started), Bytes: bytes,
	}
}
