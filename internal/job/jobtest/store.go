package jobtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/job"
)

// TestStore checks a store against the contract of job.Store.
func TestStore(t *testing.T, open func(*testing.T) job.Store) {
	t.Run("worlds take turns", func(t *testing.T) { worldsTakeTurns(t, open(t)) })
	t.Run("all processes count in the turns", func(t *testing.T) { allProcessesCount(t, open(t)) })
	t.Run("the instance has a slot", func(t *testing.T) { instanceHasASlot(t, open(t)) })
	t.Run("few jobs wait", func(t *testing.T) { fewJobsWait(t, open(t)) })
	t.Run("no bound is passed at once", func(t *testing.T) { noBoundIsPassedAtOnce(t, open(t)) })
	t.Run("the newest jobs are kept", func(t *testing.T) { newestAreKept(t, open(t)) })
	t.Run("cancelling", func(t *testing.T) { cancelling(t, open(t)) })
	t.Run("lists", func(t *testing.T) { lists(t, open(t)) })
	t.Run("jobs end with their process", func(t *testing.T) { jobsEndWithTheirProcess(t, open(t)) })
}

// table has the jobs of a store under test. Each job is created a second after the one before.
type table struct {
	testing.TB
	job.Store
	made int
}

var (
	slots  = job.Slots{Worlds: 2, World: 1, Instance: 1}
	bounds = job.Bounds{Caller: 100, World: 100}
)

func (s *table) newJob(w access.WorldID, by string) job.Job {
	s.made++
	at := start.Add(time.Duration(s.made) * time.Second)
	return job.Job{ID: uuid.UUID{15: byte(s.made)}, World: w, Kind: "k", By: access.Subject(by), Level: access.LevelGM,
		Owner: "here", State: job.Queued, Created: at, Changed: at}
}

func (s *table) add(w access.WorldID, by string) job.Job {
	s.Helper()
	j := s.newJob(w, by)
	if err := s.AddJob(s.Context(), j, bounds); err != nil {
		s.Fatal(err)
	}
	return j
}

// claim returns the job that an owner claims; the zero one if there is none.
func (s *table) claim(owner string) job.Job {
	s.Helper()
	s.made++
	now := start.Add(time.Duration(s.made) * time.Second)
	j, ok, err := s.ClaimJob(s.Context(), owner, slots, now)
	if err != nil {
		s.Fatal(err)
	}
	if !ok {
		return job.Job{}
	}
	if stored := s.stored(j); stored.State != job.Running || !stored.Started.Equal(now) || j.State != job.Running {
		s.Errorf("claimed %+v, stored %+v", j, stored)
	}
	return j
}

func (s *table) stored(j job.Job) job.Job {
	s.Helper()
	got, ok, err := s.Job(s.Context(), j.ID)
	if err != nil || !ok {
		s.Fatalf("job %s: %v, %v", j.ID, ok, err)
	}
	return got
}

func (s *table) end(j job.Job, state job.State) {
	s.Helper()
	j.State, j.Changed, j.Problem = state, start.Add(time.Hour), "why"
	if state == job.Completed {
		j.Result, j.Problem = []byte(`{"n":1}`), ""
	}
	if err := s.EndJob(s.Context(), j); err != nil {
		s.Fatal(err)
	}
}

func (s *table) wantClaims(owner string, want ...job.Job) {
	s.Helper()
	for i, w := range want {
		if got := s.claim(owner); got.ID != w.ID {
			s.Errorf("claim %d: %v, want %v", i, got.ID, w.ID)
		}
	}
}

// A world that fills the queue holds one slot, and waits for each turn of another world.
func worldsTakeTurns(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	a := []job.Job{s.add(world, "a"), s.add(world, "a"), s.add(world, "a"), s.add(world, "a")}
	s.wantClaims("here", a[0], job.Job{})
	b := []job.Job{s.add(other, "b"), s.add(other, "b")}
	s.wantClaims("here", b[0], job.Job{})
	c := s.add(access.WorldID{3}, "c")
	s.end(a[0], job.Completed)
	s.wantClaims("here", c, job.Job{}) // its world has run nothing yet
	s.end(c, job.Failed)
	s.wantClaims("here", a[1], job.Job{})
	s.end(a[1], job.Completed)
	s.wantClaims("here", a[2], job.Job{}) // the other world runs its job
	s.end(a[2], job.Completed)
	s.end(b[0], job.Completed)
	s.wantClaims("here", b[1], a[3], job.Job{}) // it was this one's turn longer ago
	if got := s.stored(a[0]); got.State != job.Completed || string(got.Result) != `{"n":1}` || got.Kind != "k" ||
		got.By != "a" || got.World != world || got.Level != access.LevelGM || !got.Created.Equal(a[0].Created) {
		t.Errorf("%+v", got)
	}
	s.end(a[0], job.Failed)
	if got := s.stored(a[0]); got.State != job.Completed {
		t.Errorf("a job ends twice: %+v", got)
	}
}

// A job runs in the process that was asked for it. The world that runs nothing elsewhere comes first.
func allProcessesCount(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	there := s.newJob(world, "a")
	there.Owner = "there"
	if err := s.AddJob(t.Context(), there, bounds); err != nil {
		t.Fatal(err)
	}
	s.wantClaims("there", there)
	before := s.add(other, "b")
	s.wantClaims("here", before)
	s.end(before, job.Completed)
	a, b := s.add(world, "a"), s.add(other, "b")
	s.wantClaims("here", b, a, job.Job{}) // although it was this one's turn later
	s.wantClaims("there", job.Job{})
}

func instanceHasASlot(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	for i := range 3 {
		s.add(access.WorldID{byte(i + 1)}, "a")
	}
	s.claim("here")
	s.claim("here")
	s.wantClaims("here", job.Job{})
	first, second := s.add(access.WorldID{}, "operator"), s.add(access.WorldID{}, "operator")
	s.wantClaims("here", first, job.Job{})
	s.end(first, job.Completed)
	s.wantClaims("here", second, job.Job{})
}

func fewJobsWait(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	few := job.Bounds{Caller: 2, World: 3}
	try := func(w access.WorldID, by string) error {
		err := s.AddJob(t.Context(), s.newJob(w, by), few)
		if err != nil && (!errors.Is(err, fault.RateLimited) || !strings.Contains(err.Error(), "cancel_job")) {
			t.Errorf("%v does not tell what to do", err)
		}
		return err
	}
	first := s.newJob(world, "a")
	for _, err := range []error{s.AddJob(t.Context(), first, few), try(other, "a")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := try(access.WorldID{3}, "a"); err == nil || !strings.Contains(err.Error(), "2 k") {
		t.Errorf("a third job of a caller: %v", err)
	}
	s.claim("here")
	if err := try(world, "a"); err != nil {
		t.Errorf("one of the two runs: %v", err)
	}
	for _, by := range []string{"b", "c"} {
		if err := try(world, by); err != nil {
			t.Errorf("in a world with room: %v", err)
		}
	}
	if err := try(world, "d"); err == nil {
		t.Error("a fourth job waits in a world")
	}
	if err := try(other, "d"); err != nil {
		t.Errorf("in another world: %v", err)
	}
}

// Calls at the same time cannot pass a bound together.
func noBoundIsPassedAtOnce(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	var all sync.WaitGroup
	for range 12 {
		j := s.newJob(world, "a")
		all.Go(func() {
			if err := s.AddJob(t.Context(), j, job.Bounds{Caller: 3, World: 9}); err != nil &&
				!errors.Is(err, fault.RateLimited) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := s.Jobs(t.Context(), job.Query{}); err != nil || len(list) != 3 {
		t.Errorf("%d jobs wait, want 3; %v", len(list), err)
	}
}

func newestAreKept(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	open, elsewhere := s.add(world, "a"), s.add(other, "a")
	s.end(elsewhere, job.Completed)
	var ended []job.Job
	for range 4 {
		j := s.add(world, "a")
		s.end(j, job.Completed)
		ended = append(ended, j)
	}
	last := s.newJob(world, "a")
	if err := s.AddJob(t.Context(), last, job.Bounds{Caller: 9, World: 9, Kept: 3}); err != nil {
		t.Fatal(err)
	}
	want := []job.Job{last, ended[3], ended[2], elsewhere, open}
	got, err := s.Jobs(t.Context(), job.Query{})
	if err != nil || !slices.EqualFunc(got, want, func(a, b job.Job) bool { return a.ID == b.ID }) {
		t.Errorf("%+v, %v; want the newest three, the open one and the other world's", got, err)
	}
}

func cancelling(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	running, waits := s.add(world, "a"), s.add(world, "a")
	s.wantClaims("here", running)
	now := start.Add(time.Hour)
	cancel := func(j job.Job) job.Job {
		t.Helper()
		got, ok, err := s.CancelJob(t.Context(), j.ID, now)
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		if stored := s.stored(j); fmt.Sprint(stored) != fmt.Sprint(got) {
			t.Errorf("cancelling answers %+v, stored is %+v", got, stored)
		}
		return got
	}
	if got := cancel(waits); got.State != job.Cancelled || got.Problem != job.CancelledText || !got.Changed.Equal(now) {
		t.Errorf("a job that waited: %+v", got)
	}
	if got := cancel(running); got.State != job.Running || !got.Stop {
		t.Errorf("a job that runs: %+v", got)
	}
	s.end(running, job.Cancelled)
	if got := cancel(running); got.State != job.Cancelled || got.Problem != "why" {
		t.Errorf("a job that has ended: %+v", got)
	}
	s.wantClaims("here", job.Job{})
	if _, ok, err := s.CancelJob(t.Context(), uuid.UUID{1}, now); ok || err != nil {
		t.Errorf("a job that is not there: %v, %v", ok, err)
	}
}

func lists(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	a, b := s.add(world, "a"), s.add(world, "b")
	c := s.newJob(other, "a")
	c.Kind, c.Owner, c.Level = "other", "there", access.LevelAdmin
	if err := s.AddJob(t.Context(), c, bounds); err != nil {
		t.Fatal(err)
	}
	s.end(a, job.Completed)
	for name, tc := range map[string]struct {
		query job.Query
		want  []job.Job
	}{
		"all":            {job.Query{}, []job.Job{c, b, a}},
		"of a world":     {job.Query{World: &world}, []job.Job{b, a}},
		"of a caller":    {job.Query{By: "a"}, []job.Job{c, a}},
		"below a level":  {job.Query{Level: access.LevelGM}, []job.Job{b, a}},
		"of a process":   {job.Query{Owner: "there"}, []job.Job{c}},
		"of two kinds":   {job.Query{Kinds: []string{"other", "none"}}, []job.Job{c}},
		"open":           {job.Query{Open: true, World: &world}, []job.Job{b}},
		"the newest two": {job.Query{Limit: 2}, []job.Job{c, b}},
	} {
		got, err := s.Jobs(t.Context(), tc.query)
		same := err == nil && len(got) == len(tc.want)
		for i := range tc.want {
			same = same && got[i].ID == tc.want[i].ID
		}
		if !same {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func jobsEndWithTheirProcess(t *testing.T, st job.Store) {
	s := &table{TB: t, Store: st}
	running, waits := s.add(world, "a"), s.add(world, "a")
	s.wantClaims("here", running)
	touch := func(owner string, now time.Time) {
		if err := s.Touch(t.Context(), owner, now, now.Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	touch("here", start)
	touch("there", start.Add(time.Minute))
	if got := s.stored(running); got.State != job.Running {
		t.Errorf("a process that was late once: %+v", got)
	}
	touch("there", start.Add(2*time.Minute))
	for _, j := range []job.Job{running, waits} {
		if got := s.stored(j); got.State != job.Failed || got.Problem != job.Interrupted {
			t.Errorf("%+v", got)
		}
	}
}
