package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
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
		State: job.Running, Created: clock, Changed: clock}
	if err := s.Touch(t.Context(), "gone", clock, clock.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := s.PutJob(t.Context(), interrupted); err != nil {
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
	if err := s.PutJob(t.Context(), interrupted); err != nil {
		t.Fatal(err)
	}
	j, err := r.Find(t.Context(), g, interrupted.ID.String())
	if err != nil || j.State != job.Failed || j.Problem != job.Interrupted || j.Result != nil {
		t.Errorf("%+v, %v", j, err)
	}
}

// unheard is a store whose Touch fails while deaf is true.
type unheard struct {
	mu   sync.Mutex
	deaf bool                  // guarded by mu
	kept map[uuid.UUID]job.Job // guarded by mu
}

func (u *unheard) PutJob(_ context.Context, j job.Job) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.kept[j.ID] = j
	return nil
}

func (u *unheard) Job(_ context.Context, id uuid.UUID) (job.Job, bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	j, ok := u.kept[id]
	return j, ok, nil
}

func (u *unheard) Touch(context.Context, string, time.Time, time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.deaf {
		return errors.New("nobody hears")
	}
	return nil
}

// A process that could not renew its lease for half a minute has lost it: its running work is
// cancelled; work started later is not.
func TestWorkEndsWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unheard{kept: map[uuid.UUID]job.Job{}}
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
		set := func(deaf bool) { u.mu.Lock(); u.deaf = deaf; u.mu.Unlock() }
		first := start()
		set(true)
		<-time.After(25 * time.Second)
		if s := state(first); s != job.Running {
			t.Errorf("after a short silence: %s", s)
		}
		<-time.After(20 * time.Second)
		if s := state(first); s != job.Failed {
			t.Errorf("after a long silence: %s", s)
		}
		set(false)
		<-time.After(15 * time.Second)
		second := start()
		<-time.After(time.Minute)
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
		u := &unheard{kept: map[uuid.UUID]job.Job{}}
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
