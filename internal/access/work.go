package access

import (
	"sync"
	"time"
)

// workLimiter is a Limiter that can count work, whose amount is known only after it is done.
type workLimiter interface {
	TakeSeveral(account, profile string, class Class, n int64) (wait time.Duration, ok bool)
	Settle(account, profile string, class Class, n int64)
}

// The work of calls, in milliseconds of processor time.
//
// A running call has reserved work, so that a caller cannot start any number of long calls before the first has ended:
// a rested player has at most 40 at once. A call that waits for others counts no more than that. A call that took less
// than shortCall counts nothing: all calls of a minute together are then cheap.
const (
	reservedWork = 250
	shortCall    = time.Millisecond
)

// workClass returns the class of the work of a caller with a role in the call's world.
func workClass(c Caller, role Role) Class {
	switch {
	case c.Operator:
		return ClassFree
	case role >= RoleGM:
		return ClassGMWork
	}
	return ClassWork
}

// reserveWork reserves the work of a call. If the caller has done too much, it returns the limit and the time to wait.
func (g *Guard) reserveWork(a *Admission, c Caller, r Request, role Role) (Class, time.Duration, bool) {
	class := workClass(c, role)
	if g.work == nil || c.Unlimited || r.Class == ClassFree || class == ClassFree {
		return class, 0, true
	}
	wait, ok := g.work.TakeSeveral(c.Account(), c.RateClass, class, reservedWork)
	if ok {
		a.work, a.cpu = class, g.cpu.begin(a.started, !r.Waits)
	}
	return class, wait, ok
}

// settleWork replaces the reserved work of a call by the work that it did in a time. This is its share of the processor
// time of the process, and no more than the time itself: the time of a call in an idle process that waited for a disk
// or a database counts little.
func (a *Admission) settleWork(took time.Duration) {
	if a.work == ClassFree {
		return
	}
	in := a.Grant.in
	used := a.guard.cpu.end(a.cpu, a.started.Add(took), took, !in.request.Waits).Milliseconds()
	if in.request.Waits {
		used = min(used, reservedWork)
	}
	a.guard.work.Settle(in.caller.Account(), in.caller.RateClass, a.work, used-reservedWork)
	a.work = ClassFree
}

// cpuClock shares the processor time of the process among the calls that run: in each moment all get the same. All calls
// together are so charged with no more than the process took.
type cpuClock struct {
	read func() time.Duration // takes a system call

	mu      sync.Mutex
	running int           // busy calls
	at      time.Time     // of the last reading
	last    time.Duration // the last reading
	each    time.Duration // the sum of the shares of a busy call that runs from the beginning
}

// maxSampleAge is the age up to which a reading stands for a call that begins: a call is then charged up to this much
// too much.
const maxSampleAge = 5 * time.Millisecond

// begin returns the sum of the shares at the beginning of a call. A call that waits for others is not busy: it leaves the
// shares to those that are.
func (c *cpuClock) begin(now time.Time, busy bool) time.Duration {
	if c.read == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.at) >= maxSampleAge {
		c.share(now)
	}
	if busy {
		c.running++
	}
	return c.each
}

// end returns the processor time of a call that took a time, whose sum of the shares was before at its beginning.
func (c *cpuClock) end(before time.Duration, now time.Time, took time.Duration, busy bool) (used time.Duration) {
	if c.read == nil {
		if took < shortCall {
			return 0
		}
		return took
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if took >= shortCall {
		c.share(now)
		used = max(0, min(took, c.each-before))
	}
	if busy {
		c.running--
	}
	return used
}

// share adds the processor time since the last reading to the shares.
func (c *cpuClock) share(now time.Time) {
	cpu := c.read()
	if c.running > 0 {
		c.each += (cpu - c.last) / time.Duration(c.running)
	}
	c.at, c.last = now, cpu
}
