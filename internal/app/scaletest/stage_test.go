// Package scaletest proves that the product behaves alike on all stores: a copy to PostgreSQL and
// back is the same, both stores answer the same bytes, and several processes on one database act as
// one instance.
package scaletest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// database returns the address of an empty store on PostgreSQL.
func database(t testing.TB) string {
	t.Helper()
	return pgtest.Database(t, func(ctx context.Context, url string) error {
		s, err := postgres.Open(ctx, postgres.Config{URL: url})
		if err == nil {
			err = s.Close()
		}
		return err
	})
}

// idClock is a clock that advances by a second at each call of advance, and a source of rising
// ids. Every run with the same calls gets the same times and ids.
type idClock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
	n   uint64    // guarded by mu
}

func newIDClock() *idClock { return &idClock{now: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)} }

func (s *idClock) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *idClock) advance() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Second)
}

func (s *idClock) NewID(string) uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	var u uuid.UUID
	for i := range 6 {
		u[i] = byte(s.now.UnixMilli() >> (8 * (5 - i)))
		u[15-i] = byte(s.n >> (8 * i))
	}
	u[6], u[8] = 0x70, 0x80
	return u
}

// openApp opens the product on a store: a data folder, or an address of PostgreSQL.
func openApp(t testing.TB, at string, o app.Options) *app.App {
	t.Helper()
	a, _ := openAppOnce(t, at, o)
	return a
}

// openAppOnce is openApp for callers who close the product before the end of the test.
func openAppOnce(t testing.TB, at string, o app.Options) (a *app.App, shut func()) {
	t.Helper()
	c := apptest.Config(t, t.TempDir())
	c.Database = at
	if at != "" && at[0] == '/' {
		c.Data, c.Database = at, ""
	}
	if o.Profile == "" {
		c.Limits = app.Limits{Calls: -1, CallsBurst: -1, Resources: -1, Lists: -1, ListPages: -1, ToolLists: -1, Writes: -1,
			Auth: -1}
	}
	return apptest.Open(t, c, o)
}

// served is an App that serves on a socket.
type served struct {
	t   testing.TB
	app *app.App
	url string
}

func serve(t testing.TB, a *app.App) served {
	t.Helper()
	addr, _ := apptest.Serve(t, a, "")
	return served{t, a, "http://" + addr}
}

// call makes a REST call with a key, and returns the status and the body.
func (s served) call(key, method, path string, body any, headers ...string) (int, string) {
	s.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// key creates a key that opens every world.
func (s served) key(name string, role access.Role) (secret, id string) {
	s.t.Helper()
	worlds, err := s.app.Canon.Worlds(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	opens := map[access.WorldID]access.Role{}
	for _, w := range worlds {
		opens[w.ID] = role
	}
	k, secret, err := s.app.Identity.CreateKey(s.t.Context(),
		identity.KeySpec{Name: name, Subject: access.Subject(name), Actor: access.AI, MaxRole: role, Worlds: opens,
			CreatedBy: "test"})
	if err != nil {
		s.t.Fatal(err)
	}
	return secret, k.ID
}
