package exchange

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

// scene is a world to import into.
type scene struct {
	t     testing.TB
	canon *canon.Canon
	guard *access.Guard
	world access.WorldID
	now   time.Time
	ids   optest.IDs
}

func newScene(t testing.TB) *scene { return newSceneOn(t, memory.New()) }

// newStoredScene returns a scene on the store that a single binary uses by default.
func newStoredScene(t testing.TB) *scene {
	t.Helper()
	return newSceneOn(t, sqlitetest.Open(t))
}

func newSceneOn(t testing.TB, store canon.Store) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	tick := func() time.Time { s.now = s.now.Add(time.Millisecond); return s.now }
	s.canon = canon.New(canon.Config{Store: store, Now: tick,
		NewID: func(canon.StreamID) uuid.UUID { return s.ids.Next() }})
	s.guard = access.NewGuard(access.Config{Now: tick})
	s.world = s.newWorld("main")
	return s
}

func (s *scene) newWorld(slug string) access.WorldID {
	s.t.Helper()
	w, err := s.canon.CreateWorld(s.t.Context(), s.as("operator"), canon.NewWorld{Slug: slug, Title: slug})
	if err != nil {
		s.t.Fatal(err)
	}
	return w.ID
}

// as returns a grant for a role ("user", "gm", "admin", "operator") or, for any other name, for a
// user of that name.
func (s *scene) as(who string) access.Grant {
	s.t.Helper()
	c := access.Caller{Subject: access.Subject(who)}
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	c.EveryRole = role
	if who == "operator" {
		c.EveryRole, c.Operator = access.RoleAdmin, true
	}
	a, err := s.guard.Admit(context.Background(), c, access.Request{Operation: "test", Effect: access.Write,
		World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Grant
}

// errorFS is a folder that cannot be read.
type errorFS struct{}

func (errorFS) Open(string) (fs.File, error) { return nil, fs.ErrPermission }
