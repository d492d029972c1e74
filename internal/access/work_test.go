package access_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// office is a guard with a clock and a processor clock that tests advance.
type office struct {
	*clock
	guard *access.Guard
	mu    sync.Mutex
	cpu   time.Duration // guarded by mu
	reads int           // guarded by mu; of the processor clock
}

func newOffice() *office {
	o := &office{clock: newClock()}
	o.guard = access.NewGuard(access.Config{Limiter: access.NewLimits(access.LimitConfig{}, o.now), Now: o.now,
		CPU: func() time.Duration {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.reads++
			return o.cpu
		}})
	return o
}

// pass lets time pass, of which a share is processor time.
func (o *office) pass(took, cpu time.Duration) {
	o.add(took)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cpu += cpu
}

// readCard is a call of a class that is not limited itself, so that work alone decides.
var readCard = access.Request{Operation: "get_card", Effect: access.Read, Class: "unlimited", World: here,
	MinRole: access.RoleUser}

// player is a caller who reads.
func player(key string) access.Caller {
	return access.Caller{Subject: "player", Key: key, Roles: map[access.WorldID]access.Role{here: access.RoleUser}}
}

// call makes a call that takes a time, of which a share is processor time.
func (o *office) call(t *testing.T, c access.Caller, r access.Request, took, cpu time.Duration) error {
	t.Helper()
	a, err := o.guard.Admit(t.Context(), c, r)
	if err != nil {
		return err
	}
	o.pass(took, cpu)
	a.Done(t.Context(), 0, nil)
	return nil
}

// Each row makes calls of one kind one after the other for ten minutes. The shares of a core that the calls take are
// those of the limits: a third for a player, two thirds for a GM.
func TestWorkIsLimited(t *testing.T) {
	operator := player("k3")
	operator.Operator = true
	for name, row := range map[string]struct {
		caller    access.Caller
		took, cpu time.Duration
		admitted  int // in the first minute
		later     int // in each of the following minutes
	}{
		"a player":             {player("k1"), time.Second, time.Second, 29, 20},
		"a player, long calls": {player("k1"), 5 * time.Second, 5 * time.Second, 6, 4},
		"a GM":                 {anna(), time.Second, time.Second, 59, 40},
		"the operator":         {operator, time.Second, time.Second, 60, 60},
		"who waits for a disk": {player("k1"), time.Second, 30 * time.Millisecond, 60, 60},
		"short calls":          {player("k1"), 900 * time.Microsecond, 900 * time.Microsecond, 1200, 1200},
	} {
		t.Run(name, func(t *testing.T) {
			o, began := newOffice(), newClock().now()
			var got [10]int
			const step = 50 * time.Millisecond // between tries
			for o.now().Sub(began) < 10*time.Minute {
				minute := int(o.now().Sub(began) / time.Minute)
				err := o.call(t, row.caller, readCard, row.took, row.cpu)
				if err != nil {
					o.pass(step, 0)
					continue
				}
				got[minute]++
				o.pass(max(0, step-row.took), 0)
			}
			near := func(got, want int) bool { return got >= want-1-want/50 && got <= want+1+want/50 }
			if !near(got[0], row.admitted) {
				t.Errorf("the first minute has %d calls, want %d", got[0], row.admitted)
			}
			for _, n := range got[2:] {
				if !near(n, row.later) {
					t.Errorf("the minutes have %v calls, want %d in each after the first two", got, row.later)
					break
				}
			}
		})
	}
}

// A refusal names the limit, the time to wait and the remedy; it comes before a body is read too. Other keys, and calls
// without limits, are served meanwhile.
func TestRefusedWork(t *testing.T) {
	o := newOffice()
	if err := o.call(t, player("k1"), readCard, 12*time.Second, 12*time.Second); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"admission": o.call(t, player("k1"), readCard, 0, 0),
		"foresight": o.guard.Foresee(player("k1"), readCard, access.RoleUser)} {
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.RateLimited || e.Details["limit"] != "work" ||
			e.RetryAfter < 5*time.Second || e.RetryAfter > 8*time.Second ||
			!strings.Contains(e.Message, "limit work") || !strings.Contains(e.Message, "ask for less") {
			t.Errorf("%s: %v, after %v", name, err, e)
		}
	}
	free := readCard
	free.Class = access.ClassFree
	unlimited := player("k1")
	unlimited.Unlimited = true
	for name, err := range map[string]error{"another key": o.call(t, player("k2"), readCard, 0, 0),
		"a free call": o.call(t, player("k1"), free, 0, 0), "without limits": o.call(t, unlimited, readCard, 0, 0)} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.pass(8*time.Second, 0)
	if err := o.call(t, player("k1"), readCard, 0, 0); err != nil {
		t.Errorf("after the time to wait: %v", err)
	}
}

// A rested caller has a bounded number of calls at once; when they end, the unused part of each is given back.
func TestRunningCallsReserveWork(t *testing.T) {
	o := newOffice()
	var running []*access.Admission
	for {
		a, err := o.guard.Admit(t.Context(), player("k1"), readCard)
		if err != nil {
			break
		}
		if running = append(running, a); len(running) > 100 {
			break
		}
	}
	if len(running) != 40 {
		t.Errorf("%d calls run at once, want 40", len(running))
	}
	for _, a := range running {
		a.Done(t.Context(), 0, nil)
	}
	for range 1000 {
		if err := o.call(t, player("k1"), readCard, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// A call that waits for others counts little, however long it takes and whatever others do meanwhile.
func TestWaitingIsNoWork(t *testing.T) {
	o := newOffice()
	wait := readCard
	wait.Waits = true
	for range 100 {
		if err := o.call(t, player("k1"), wait, 20*time.Second, 40*time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// The processor clock, which takes a system call, is not read for each call that is short.
func TestShortCallsReadNoClock(t *testing.T) {
	o := newOffice()
	for range 1000 {
		if err := o.call(t, player("k1"), readCard, 100*time.Microsecond, 100*time.Microsecond); err != nil {
			t.Fatal(err)
		}
	}
	if o.reads > 25 {
		t.Errorf("1000 calls in 100 ms read the clock %d times", o.reads)
	}
}

func TestProcessTimeGrows(t *testing.T) {
	before := access.ProcessTime()
	for i, x := 0, 1; access.ProcessTime() == before; i++ {
		if x = x*7 + i; i > 1<<34 {
			t.Fatal("the clock stands")
		}
	}
}

func BenchmarkAdmitAndDone(b *testing.B) {
	for name, work := range map[string]int{"work": 20, "no limit of work": -1} {
		b.Run(name, func(b *testing.B) {
			g := access.NewGuard(access.Config{Limiter: access.NewLimits(access.LimitConfig{Profiles: map[string]access.Profile{
				"default": {access.ClassCall: {PerMinute: 1e9}, access.ClassWork: access.WorkRate(work)}}}, nil),
				CPU: access.ProcessTime})
			r, c := readCard, player("k1")
			r.Class = access.ClassCall
			b.ReportAllocs()
			for b.Loop() {
				a, err := g.Admit(b.Context(), c, r)
				if err != nil {
					b.Fatal(err)
				}
				a.Done(b.Context(), 0, nil)
			}
		})
	}
}

// TestCallsShareTheProcessorTime runs ten calls of a player at once on two cores. They are charged with what the process
// took, and with no more. Calls that wait take no share.
func TestCallsShareTheProcessorTime(t *testing.T) {
	o, waits := newOffice(), readCard
	waits.Waits = true
	began, calls := o.now(), 0
	for o.now().Sub(began) < time.Minute {
		var running []*access.Admission
		for range 10 {
			if a, err := o.guard.Admit(t.Context(), player("k1"), readCard); err == nil {
				running = append(running, a)
				calls++
			}
			if a, err := o.guard.Admit(t.Context(), player("k2"), waits); err == nil {
				defer a.Done(t.Context(), 0, nil)
			}
		}
		o.pass(500*time.Millisecond, time.Duration(len(running))*100*time.Millisecond)
		for _, a := range running {
			a.Done(t.Context(), 0, nil)
		}
	}
	// 10 s after a rest and 20 s in the minute are 30 s of the process, or 300 calls.
	if calls < 250 || calls > 330 {
		t.Errorf("%d calls of 0.1 s of processor time each are admitted in a minute", calls)
	}
}
