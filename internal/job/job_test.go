package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/job/jobtest"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
)

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	return sqlitetest.Open(t)
}

func newRunner(t *testing.T, s job.Store, now func() time.Time) *job.Runner {
	t.Helper()
	r, err := job.New(t.Context(), job.Config{Store: s, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

var world = access.WorldID{1}

func grant(t *testing.T, who string, role access.Role, w access.WorldID) access.Grant {
	t.Helper()
	a, err := access.NewGuard(access.Config{}).Admit(t.Context(),
		access.Caller{Subject: access.Subject(who), EveryRole: role}, access.Request{World: w})
	if err != nil {
		t.Fatal(err)
	}
	return a.Grant
}

func TestWorkThatEndsInTimeIsAnsweredAtOnce(t *testing.T) {
	r := newRunner(t, openStore(t), nil)
	g := grant(t, "ann", access.RoleGM, world)
	j, err := r.Start(t.Context(), g, "count", time.Minute,
		func(context.Context) (any, error) { return map[string]int{"n": 3}, nil })
	if err != nil || j.State != job.Completed || string(j.Result) != `{"n":3}` {
		t.Fatalf("%+v, %v", j, err)
	}
	if again, err := r.Find(t.Context(), g, j.ID.String()); err != nil || string(again.Result) != `{"n":3}` {
		t.Errorf("found %+v, %v", again, err)
	}
}

func TestLongWorkGoesOnAfterTheCall(t *testing.T) {
	r := newRunner(t, openStore(t), nil)
	g := grant(t, "ann", access.RoleGM, world)
	free, ended := make(chan struct{}), make(chan struct{})
	j, err := r.Start(t.Context(), g, "long", 0, func(context.Context) (any, error) {
		defer close(ended)
		<-free
		return "done", nil
	})
	if err != nil || j.Done() {
		t.Fatalf("%+v, %v", j, err)
	}
	close(free)
	<-ended
	r.Close()
	if j, err = r.Find(t.Context(), g, j.ID.String()); err != nil || j.State != job.Completed {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestProblemOfAFailedJob(t *testing.T) {
	for _, tc := range []struct {
		name string
		work job.Work
		want string
	}{
		{"a fault", func(context.Context) (any, error) { return nil, fault.New(fault.Rule, "no terms") }, "no terms"},
		{"an error of ours", func(context.Context) (any, error) { return nil, errors.New("SECRET") },
			"the server failed; report the correlation id to its operator"},
		{"a panic", func(context.Context) (any, error) { panic("SECRET") },
			"the server failed; report the correlation id to its operator"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRunner(t, openStore(t), nil)
			j, err := r.Start(t.Context(), grant(t, "ann", access.RoleGM, world), "x", time.Minute, tc.work)
			if err != nil || j.State != job.Failed || j.Problem != tc.want {
				t.Errorf("%+v, %v", j, err)
			}
		})
	}
}

// A panic may contain stored text; the log must not.
func TestTheLogOfAPanicHasNoContent(t *testing.T) {
	var log bytes.Buffer
	r, err := job.New(t.Context(), job.Config{Store: openStore(t), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Start(t.Context(), grant(t, "ann", access.RoleGM, world), "x", time.Minute,
		func(context.Context) (any, error) { panic("SECRET") }); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if text := log.String(); strings.Contains(text, "SECRET") || !strings.Contains(text, "a job panicked") {
		t.Errorf("the log says %s", text)
	}
}

func TestAJobThatAStopInterruptedIsFailed(t *testing.T) {
	s, clock := openStore(t), time.Unix(1000, 0)
	now := func() time.Time { return clock }
	interrupted := job.Job{ID: uuid.New(), World: world, Kind: "scan", By: "ann", Level: access.LevelUser, Owner: "gone",
		State: job.Queued, Created: clock, Changed: clock}
	if err := s.Touch(t.Context(), "gone", clock, clock.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := s.AddJob(t.Context(), interrupted, job.Bounds{Caller: 1, World: 1}); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(time.Hour)
	r := newRunner(t, s, now)
	g := grant(t, "ann", access.RoleUser, world)
	if _, err := r.Start(t.Context(), g, "next", time.Minute,
		func(context.Context) (any, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	// Its process was only paused, and finishes the job now: too late.
	interrupted.State, interrupted.Result = job.Completed, []byte(`{}`)
	if err := s.EndJob(t.Context(), interrupted); err != nil {
		t.Fatal(err)
	}
	j, err := r.Find(t.Context(), g, interrupted.ID.String())
	if err != nil || j.State != job.Failed || j.Problem != job.Interrupted || j.Result != nil {
		t.Errorf("%+v, %v", j, err)
	}
}

// unheard is a store whose Touch fails while deaf is true.
type unheard struct {
	jobtest.Memory
	deaf atomic.Bool
}

func (u *unheard) Touch(ctx context.Context, owner string, now, before time.Time) error {
	if u.deaf.Load() {
		return errors.New("nobody hears")
	}
	return u.Memory.Touch(ctx, owner, now, before)
}

// A process that could not renew its lease for half a minute has lost it: its running work is
// cancelled; work started later is not.
func TestWorkEndsWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unheard{}
		r := newRunner(t, u, nil)
		g := grant(t, "ann", access.RoleGM, world)
		start := func() job.Job {
			j, err := r.Start(t.Context(), g, "long", time.Millisecond,
				func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		state := func(j job.Job) job.State {
			synctest.Wait()
			j, _, _ = u.Job(t.Context(), j.ID)
			return j.State
		}
		first := start()
		u.deaf.Store(true)
		time.Sleep(25 * time.Second)
		if s := state(first); s != job.Running {
			t.Errorf("after a short silence: %s", s)
		}
		time.Sleep(20 * time.Second)
		if s := state(first); s != job.Failed {
			t.Errorf("after a long silence: %s", s)
		}
		u.deaf.Store(false)
		time.Sleep(15 * time.Second)
		second := start()
		time.Sleep(time.Minute)
		if s := state(second); s != job.Running {
			t.Errorf("once it is heard again: %s", s)
		}
		r.Close()
	})
}

func TestVisibilityOfAJob(t *testing.T) {
	r := newRunner(t, openStore(t), nil)
	j, err := r.Start(t.Context(), grant(t, "ann", access.RoleGM, world), "x", time.Minute,
		func(context.Context) (any, error) { return 1, nil })
	if err != nil {
		t.Fatal(err)
	}
	absent := ""
	for _, tc := range []struct {
		name string
		g    access.Grant
		id   string
		sees bool
	}{
		{"its starter", grant(t, "ann", access.RoleGM, world), j.ID.String(), true},
		{"an admin", grant(t, "zoe", access.RoleAdmin, world), j.ID.String(), true},
		{"another gm", grant(t, "bob", access.RoleGM, world), j.ID.String(), false},
		{"its starter, lowered", grant(t, "ann", access.RoleUser, world), j.ID.String(), false},
		{"its starter, elsewhere", grant(t, "ann", access.RoleGM, access.WorldID{2}), j.ID.String(), false},
		{"nobody, for there is none", grant(t, "ann", access.RoleGM, world), uuid.NewString(), false},
		{"nobody, for it is no id", grant(t, "ann", access.RoleGM, world), "x", false},
	} {
		_, err := r.Find(t.Context(), tc.g, tc.id)
		if (err == nil) != tc.sees {
			t.Errorf("%s: %v", tc.name, err)
		}
		if err == nil {
			continue
		}
		if absent == "" {
			absent = fmt.Sprint(err)
		}
		if fmt.Sprint(err) != absent {
			t.Errorf("%s: %v, unlike %s", tc.name, err, absent)
		}
	}
}

// As many jobs run at once as there are workers; each passes its slot to the next, and Close ends
// running and waiting jobs alike.
func TestJobsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unheard{}
		r, err := job.New(t.Context(), job.Config{Store: u, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		g := grant(t, "ann", access.RoleGM, world)
		start := func(work job.Work) job.Job {
			j, err := r.Start(t.Context(), g, "turn", time.Millisecond, work)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		expect := func(waiting int, want map[uuid.UUID]job.State) {
			t.Helper()
			synctest.Wait()
			for id, state := range want {
				if j, _, _ := u.Job(t.Context(), id); j.State != state ||
					j.Done() != (state == job.Completed || state == job.Failed) ||
					(j.State == job.Failed) != (j.Problem == job.Interrupted) {
					t.Errorf("%+v, want %s", j, state)
				}
			}
			if n := r.Waiting(); n != waiting {
				t.Errorf("%d wait, want %d", n, waiting)
			}
		}
		free := make(chan struct{})
		held := func(context.Context) (any, error) { <-free; return "x", nil }
		first, second := start(held).ID, start(held).ID
		expect(1, map[uuid.UUID]job.State{first: job.Running, second: job.Queued})
		free <- struct{}{}
		expect(0, map[uuid.UUID]job.State{first: job.Completed, second: job.Running})
		close(free)
		expect(0, map[uuid.UUID]job.State{second: job.Completed})
		if j := start(func(context.Context) (any, error) { return "x", nil }); j.State != job.Completed {
			t.Errorf("after two: %+v", j)
		}
		endless := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, fmt.Errorf("stopped: %w", ctx.Err()) }
		third, fourth := start(endless).ID, start(endless).ID
		expect(1, map[uuid.UUID]job.State{third: job.Running, fourth: job.Queued})
		r.Close()
		expect(0, map[uuid.UUID]job.State{third: job.Failed, fourth: job.Failed})
	})
}

// A world that fills the queue keeps neither another world's job nor one of the instance waiting.
func TestAWorldDoesNotFillAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, &jobtest.Memory{}, nil)
		start := func(g access.Grant, work job.Work) (job.Job, error) {
			return r.Start(t.Context(), g, "import", time.Second, work)
		}
		endless := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
		done := func(context.Context) (any, error) { return "x", nil }
		greedy := grant(t, "ann", access.RoleGM, world)
		for range 9 {
			if _, err := start(greedy, endless); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := start(greedy, done); !errors.Is(err, fault.RateLimited) || !strings.Contains(err.Error(), "8 import") {
			t.Errorf("a ninth job that waits: %v", err)
		}
		for name, g := range map[string]access.Grant{
			"another world": grant(t, "bob", access.RoleGM, access.WorldID{2}),
			"the instance":  grant(t, "operator", access.RoleGM, access.WorldID{}),
		} {
			if j, err := start(g, done); err != nil || j.State != job.Completed {
				t.Errorf("%s: %+v, %v", name, j, err)
			}
		}
		r.Close()
	})
}

// unanswered is a store that makes a claim whose answer is lost.
type unanswered struct {
	jobtest.Memory
	lost atomic.Bool
}

func (u *unanswered) ClaimJob(ctx context.Context, owner string, s job.Slots, now time.Time) (job.Job, bool, error) {
	j, ok, err := u.Memory.ClaimJob(ctx, owner, s, now)
	if u.lost.Swap(false) {
		return job.Job{}, false, errors.New("no answer")
	}
	return j, ok, err
}

func TestAClaimWithoutAnAnswerIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unanswered{}
		u.lost.Store(true)
		r := newRunner(t, u, nil)
		j, err := r.Start(t.Context(), grant(t, "ann", access.RoleGM, world), "x", time.Minute,
			func(context.Context) (any, error) { return 1, nil })
		if err != nil || j.State != job.Completed {
			t.Errorf("%+v, %v", j, err)
		}
		r.Close()
	})
}

// cancelScene has two processes on one store, one of which runs a job and has another one waiting.
type cancelScene struct {
	t              *testing.T
	here, there    *job.Runner
	running, waits job.Job
	stopped        chan error // receives why the work of the running job was stopped
}

func newCancelScene(t *testing.T, work job.Work) *cancelScene {
	store := &jobtest.Memory{}
	s := &cancelScene{t: t, here: newRunner(t, store, nil), there: newRunner(t, store, nil), stopped: make(chan error, 1)}
	if work == nil {
		work = func(ctx context.Context) (any, error) {
			<-ctx.Done()
			s.stopped <- context.Cause(ctx)
			return nil, ctx.Err()
		}
	}
	for _, j := range []*job.Job{&s.running, &s.waits} {
		var err error
		if *j, err = s.here.Start(t.Context(), grant(t, "ann", access.RoleGM, world), "import", time.Millisecond,
			work); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
	return s
}

func (s *cancelScene) cancel(r *job.Runner, g access.Grant, j job.Job) job.Job {
	s.t.Helper()
	j, err := r.Cancel(s.t.Context(), g, j.ID.String())
	if err != nil {
		s.t.Error(err)
	}
	return j
}

func TestCancel(t *testing.T) {
	ann := grant(t, "ann", access.RoleGM, world)
	for name, in := range map[string]func(*cancelScene) *job.Runner{
		"in the same process": func(s *cancelScene) *job.Runner { return s.here },
		"in another process":  func(s *cancelScene) *job.Runner { return s.there },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newCancelScene(t, nil)
				r := in(s)
				if j := s.cancel(r, ann, s.waits); j.State != job.Cancelled || j.Problem != job.CancelledText {
					t.Errorf("a job that waits: %+v", j)
				}
				before := time.Now()
				if j := s.cancel(r, ann, s.running); j.State != job.Cancelled || j.Problem != job.CancelledText {
					t.Errorf("a job that runs: %+v", j)
				}
				if took := time.Since(before); r == s.here && took > 100*time.Millisecond { // of the test's own clock
					t.Errorf("it is stopped after %s, not at once", took)
				}
				select {
				case <-s.stopped:
				default:
					t.Error("the work goes on")
				}
				if j := s.cancel(r, ann, s.running); j.State != job.Cancelled {
					t.Errorf("cancelled again: %+v", j)
				}
				time.Sleep(2 * time.Second)
				if n := s.here.Waiting(); n != 0 {
					t.Errorf("%d jobs wait", n)
				}
				s.here.Close()
				s.there.Close()
			})
		})
	}
}

// Cancelling says so if the work came to its end, or does not stop.
func TestCancelTellsHowTheJobEnded(t *testing.T) {
	ann := grant(t, "ann", access.RoleGM, world)
	synctest.Test(t, func(t *testing.T) {
		s := newCancelScene(t, func(ctx context.Context) (any, error) { <-ctx.Done(); return "committed", nil })
		if j := s.cancel(s.here, ann, s.running); j.State != job.Completed || string(j.Result) != `"committed"` {
			t.Errorf("work that ended meanwhile: %+v", j)
		}
		s.here.Close()
		s.there.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		s := newCancelScene(t, func(context.Context) (any, error) { <-free; return nil, errors.New("x") })
		if j := s.cancel(s.there, ann, s.running); j.State != job.Running || !j.Stop {
			t.Errorf("work that does not stop: %+v", j)
		}
		close(free)
		time.Sleep(time.Second)
		if j := s.cancel(s.there, ann, s.running); j.State != job.Cancelled {
			t.Errorf("when it has stopped: %+v", j)
		}
		s.here.Close()
		s.there.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		g := grant(t, "ann", access.RoleGM, world)
		r := newRunner(t, &jobtest.Memory{}, nil)
		j, err := r.Start(t.Context(), g, "import", time.Millisecond, func(ctx context.Context) (any, error) {
			g.NoteCommit()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		if j, err = r.Cancel(t.Context(), g, j.ID.String()); err != nil || j.State != job.Cancelled ||
			!strings.Contains(j.Problem, "what it had written before is kept") {
			t.Errorf("work that had written: %+v, %v", j, err)
		}
		r.Close()
	})
}

func TestWhoMayCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCancelScene(t, nil)
		operator, err := access.NewGuard(access.Config{}).Admit(t.Context(),
			access.Caller{Subject: "op", EveryRole: access.RoleAdmin, Operator: true}, access.Request{World: access.WorldID{2}})
		if err != nil {
			t.Fatal(err)
		}
		for name, g := range map[string]access.Grant{
			"a player":              grant(t, "eve", access.RoleUser, world),
			"its starter, lowered":  grant(t, "ann", access.RoleUser, world),
			"an admin of elsewhere": grant(t, "eve", access.RoleAdmin, access.WorldID{2}),
		} {
			if _, err := s.here.Cancel(t.Context(), g, s.waits.ID.String()); !errors.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
			if list, err := s.here.List(t.Context(), g, job.List{}); err != nil || len(list) != 0 {
				t.Errorf("%s sees %d jobs, %v", name, len(list), err)
			}
			if _, err := s.here.List(t.Context(), g, job.List{Everywhere: true}); !errors.Is(err, fault.Denied) {
				t.Errorf("%s lists all worlds: %v", name, err)
			}
		}
		if list, err := s.here.List(t.Context(), operator.Grant, job.List{Everywhere: true}); err != nil || len(list) != 2 {
			t.Errorf("the operator sees %d jobs, %v", len(list), err)
		}
		bob := grant(t, "bob", access.RoleGM, world)
		if list, err := s.here.List(t.Context(), bob, job.List{Open: true}); err != nil || len(list) != 2 {
			t.Errorf("another game master sees %d jobs, %v", len(list), err)
		}
		if list, err := s.here.List(t.Context(), bob, job.List{Mine: true}); err != nil || len(list) != 0 {
			t.Errorf("of them %d are their own, %v", len(list), err)
		}
		if j := s.cancel(s.here, bob, s.waits); j.State != job.Cancelled {
			t.Errorf("another game master: %+v", j)
		}
		if j := s.cancel(s.here, operator.Grant, s.running); j.State != job.Cancelled {
			t.Errorf("the operator: %+v", j)
		}
		s.here.Close()
		s.there.Close()
	})
}

func TestAJobOfAWorldEndsInAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, &jobtest.Memory{}, nil)
		endless := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
		for w, want := range map[access.WorldID]job.State{world: job.Failed, {}: job.Running} {
			g := grant(t, "ann", access.RoleGM, w)
			j, err := r.Start(t.Context(), g, "x", 61*time.Minute, endless)
			if err == nil {
				j, err = r.Find(t.Context(), g, j.ID.String())
			}
			if err != nil || j.State != want || want == job.Failed && !strings.Contains(j.Problem, "for an hour") {
				t.Errorf("%+v, %v", j, err)
			}
		}
		r.Close()
	})
}
