package canon_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

var errTorn = errors.New("torn")

// failingStore is a store that accepts a number of commits and then fails.
type failingStore struct {
	canon.Store
	left   int
	killed bool   // then all writes fail, as if the process were gone
	before func() // called before each write, except for its own writes
}

func (s *failingStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	if before := s.before; before != nil {
		s.before = nil
		before()
		s.before = before
	}
	if s.killed && s.left <= 0 {
		return errTorn
	}
	return s.Store.Write(ctx, func(tx canon.Tx) error { return f(&failingTx{tx, s}) })
}

type failingTx struct {
	canon.Tx
	s *failingStore
}

func (t *failingTx) Append(ctx context.Context, c canon.StoredCommit) error {
	if t.s.left--; t.s.left < 0 {
		return errTorn
	}
	return t.Tx.Append(ctx, c)
}

// newForkScene returns a scene on a failingStore, with a world that takes several steps to fork.
func newForkScene(t *testing.T) (*scene, *failingStore) {
	store := &failingStore{Store: memory.New(), left: 1000}
	s := newSceneOn(t, store)
	s.as("admin").must(func(p *canon.Plan) error {
		return p.SetMember(canon.MemberImage{Subject: "ann", Role: access.RoleGM})
	})
	s.as("gm").must(func(p *canon.Plan) error {
		for i := range 220 {
			if _, err := p.Create(canon.NewCard{Name: fmt.Sprint("Stone ", i), Content: fmt.Sprint("grey ", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	return s, store
}

func (s *scene) fork(slug string) (canon.World, error) {
	return s.canon.Fork(s.t.Context(), s.as("operator").grant, s.world, canon.NewWorld{Slug: slug})
}

// streams returns the streams of a store, after verifying them.
func streams(t *testing.T, store canon.Store) (list []canon.StreamID) {
	t.Helper()
	verified, err := canon.VerifyStreams(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verified {
		list = append(list, v.Stream)
	}
	return list
}

// wantNoFork checks that only the first world is shown.
func (s *scene) wantNoFork(after string) {
	s.t.Helper()
	worlds, err := s.canon.Worlds(s.t.Context())
	if err != nil || len(worlds) != 1 {
		s.t.Errorf("%s there are worlds %v, %v", after, worlds, err)
	}
	if _, ok, err := s.canon.WorldBySlug(s.t.Context(), "play"); ok || err != nil {
		s.t.Errorf("%s there is a world: %t, %v", after, ok, err)
	}
	for _, who := range []access.Subject{"ann", "operator"} {
		if list, err := s.canon.Memberships(s.t.Context(), who); err != nil ||
			slices.ContainsFunc(list, func(m canon.Member) bool { return m.World != s.world }) {
			s.t.Errorf("%s %s is a member of %v, %v", after, who, list, err)
		}
	}
}

// wantHidden checks that a world is hidden even from callers who know its id.
func (s *scene) wantHidden(stream canon.StreamID) {
	s.t.Helper()
	var w access.WorldID
	if err := w.UnmarshalText([]byte(stream[len("world:"):])); err != nil {
		s.t.Fatal(err)
	}
	if found, err := s.canon.World(s.t.Context(), w); !errors.Is(err, fault.NotFound) {
		s.t.Errorf("the unfinished world is %v, %v", found, err)
	}
	if found, ok, err := s.canon.WorldBySlug(s.t.Context(), "~"+w.String()); ok || err != nil {
		s.t.Errorf("the unfinished world is found by its mark: %v, %v", found, err)
	}
	operator := s.admit(access.Caller{Subject: "o", EveryRole: access.RoleAdmin, Operator: true},
		access.Request{Operation: "test", Effect: access.Write, World: w}).grant
	if err := s.canon.Read(s.t.Context(), operator, func(*canon.Snapshot) error { return nil }); !errors.Is(err,
		fault.NotFound) {
		s.t.Errorf("a look into the unfinished world: %v", err)
	}
	if _, err := s.canon.Fork(s.t.Context(), operator, w, canon.NewWorld{Slug: "second"}); err == nil {
		s.t.Error("the unfinished world was forked")
	}
	if _, err := s.canon.Reset(s.t.Context(), operator, w); !errors.Is(err, fault.NotFound) {
		s.t.Errorf("a reset of the unfinished world: %v", err)
	}
}

// A fork takes many commits and appears after the last one. If it fails in between, no world and no
// stream are left, and its name is free.
func TestForkIsAtomic(t *testing.T) {
	s, store := newForkScene(t)
	before := streams(t, store)
	commits := 0
	for ; ; commits++ {
		store.left = commits
		w, err := s.fork("play")
		if err == nil {
			s.world = w.ID
			break
		}
		if !errors.Is(err, errTorn) {
			t.Fatalf("after %d commits: %v", commits, err)
		}
		s.wantNoFork(fmt.Sprintf("torn after %d commits", commits))
		if now := streams(t, store); !slices.Equal(now, before) {
			t.Fatalf("torn after %d commits there are streams %v, before %v", commits, now, before)
		}
	}
	if commits < 5 {
		t.Errorf("the fork made %d commits: steps are too long", commits)
	}
	store.left = 1000
	if _, err := s.canon.Fork(t.Context(), s.as("operator").grant, s.world, canon.NewWorld{Slug: "play"}); !errors.Is(err,
		fault.Conflict) {
		t.Errorf("a second fork of the name: %v", err)
	}
	s.as("gm").wantContent("Stone 219", "grey 219")
	s.wantRebuilt()
	if members, err := s.canon.Memberships(t.Context(), "ann"); err != nil || len(members) != 2 {
		t.Errorf("ann is a member of %v, %v", members, err)
	}
}

// Other writers write between the steps of a fork, even to its origin, and the fork shows none of
// their changes.
func TestAForkIsOneStateWhileOthersWrite(t *testing.T) {
	s, store := newForkScene(t)
	asked := 0
	store.before = func() {
		s.as("gm").edit(fmt.Sprint("Stone ", asked), "red")
		s.as("gm").create(fmt.Sprint("Pebble ", asked), "new")
		s.wantNoFork("meanwhile")
		asked++
	}
	head := s.head()
	w, err := s.fork("play")
	store.before = nil
	if err != nil {
		t.Fatal(err)
	}
	if asked < 5 {
		t.Errorf("others could write %d times", asked)
	}
	if w.OriginSeq != head {
		t.Errorf("the fork is of commit %d, want %d", w.OriginSeq, head)
	}
	s.as("gm").wantContent("Stone 0", "red")
	s.world = w.ID
	for i := range asked {
		s.as("gm").wantContent(fmt.Sprint("Stone ", i), fmt.Sprint("grey ", i))
		s.as("gm").wantAbsent(fmt.Sprint("Pebble ", i))
	}
	s.wantRebuilt()
	streams(t, store)
}

func (s *scene) head() (n canon.Seq) {
	s.t.Helper()
	if err := s.as("gm").read(func(snap *canon.Snapshot) error { n = snap.Now(); return nil }); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// A killed process leaves a hidden fork. SweepForks removes it after forkStalled; before that
// another process may still be writing it.
func TestKilledForkIsSwept(t *testing.T) {
	s, store := newForkScene(t)
	before := streams(t, store)
	for commits := 1; commits < 6; commits++ {
		store.left, store.killed = commits, true
		if _, err := s.fork("play"); !errors.Is(err, errTorn) {
			t.Fatal(err)
		}
		store.left, store.killed = 1000, false
		s.wantNoFork("killed")
		now := streams(t, store)
		left := slices.IndexFunc(now, func(id canon.StreamID) bool { return !slices.Contains(before, id) })
		if len(now) != len(before)+1 {
			t.Fatalf("streams %v, before %v", now, before)
		}
		s.wantHidden(now[left])
		if n, err := s.canon.SweepForks(t.Context()); n != 1 || err != nil {
			t.Errorf("a fresh one: %d left, %v", n, err)
		}
		s.now = s.now.Add(3 * time.Minute)
		store.left, store.killed = 0, true // the process that sweeps is killed
		if _, err := s.canon.SweepForks(t.Context()); !errors.Is(err, errTorn) {
			t.Errorf("a killed sweep: %v", err)
		}
		store.left, store.killed = 1000, false
		if n, err := s.canon.SweepForks(t.Context()); n != 0 || err != nil {
			t.Errorf("%d left, %v", n, err)
		}
		if now := streams(t, store); !slices.Equal(now, before) {
			t.Errorf("streams %v, before %v", now, before)
		}
	}
	if _, err := s.fork("play"); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

// A fork that stalled and was marked as abandoned by another process fails and leaves nothing.
func TestAbandonedForkStops(t *testing.T) {
	for _, torn := range []bool{false, true} {
		s, store := newForkScene(t)
		before := streams(t, store)
		n := 0
		store.before = func() {
			if n++; n != 4 {
				return
			}
			s.now = s.now.Add(time.Hour)
			if torn { // the sweep fails after its first steps
				steps := 0
				store.before = func() {
					if steps++; steps > 1 {
						store.killed, store.left = true, 0
					}
				}
				if _, err := s.canon.SweepForks(t.Context()); !errors.Is(err, errTorn) {
					t.Error(err)
				}
				store.killed, store.left = false, 1000
				return
			}
			if n, err := s.canon.SweepForks(t.Context()); n != 0 || err != nil {
				t.Errorf("%d left, %v", n, err)
			}
		}
		if _, err := s.fork("play"); !errors.Is(err, fault.Conflict) {
			t.Errorf("a fork that was given up: %v", err)
		}
		store.before = nil
		s.wantNoFork("given up")
		if now := streams(t, store); !slices.Equal(now, before) {
			t.Errorf("streams %v, before %v", now, before)
		}
	}
}

// The slug of a fork may be taken, or its context may end, while it is being written.
func TestForkIsDiscardedWhenItCannotFinish(t *testing.T) {
	s, store := newForkScene(t)
	n := 0
	var meanwhile func()
	store.before = func() {
		if n++; n == 4 {
			meanwhile()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, test := range []struct {
		name      string
		meanwhile func()
		want      error
	}{
		{"another world of the name", func() {
			if _, err := s.canon.CreateWorld(t.Context(), s.as("operator").grant, canon.NewWorld{Slug: "play"}); err != nil {
				t.Error(err)
			}
		}, fault.Conflict},
		{"the caller goes", cancel, context.Canceled},
	} {
		n, meanwhile = 0, test.meanwhile
		slug := map[bool]string{true: "play", false: "other"}[test.want == error(fault.Conflict)]
		if _, err := s.canon.Fork(ctx, s.as("operator").grant, s.world, canon.NewWorld{Slug: slug}); !errors.Is(err,
			test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		if worlds, err := s.canon.Worlds(t.Context()); err != nil || len(worlds) != 2 {
			t.Errorf("%s: worlds %v, %v", test.name, worlds, err)
		}
		if now := streams(t, store); len(now) != 2 {
			t.Errorf("%s: streams %v", test.name, now)
		}
	}
}
