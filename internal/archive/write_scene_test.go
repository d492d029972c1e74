package archive

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
)

// desk is a scene for writers: its store can be made to fail, and it has jobs and backups.
type desk struct {
	*scene
	store *fragile
	disk  *sqlite.Store
	data  string
	jobs  *job.Runner
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	s := newScene(t)
	d := &desk{scene: s, data: t.TempDir()}
	d.disk = sqlitetest.OpenAt(t, filepath.Join(d.data, "canon.db"))
	d.store = &fragile{Store: d.disk, lookUps: -1}
	clock := func() time.Time { return s.now }
	s.canon = canon.New(canon.Config{Store: d.store, Now: clock,
		NewID: func(canon.StreamID) uuid.UUID { return s.ids.Next() }})
	guard := access.NewGuard(access.Config{Now: clock})
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	admit := func(world access.WorldID) access.Grant {
		a, err := guard.Admit(t.Context(), keeper, access.Request{Operation: "scene", Effect: access.Write, World: world})
		if err != nil {
			t.Fatal(err)
		}
		return a.Grant
	}
	w, err := s.canon.CreateWorld(t.Context(), admit(access.WorldID{}), canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	s.world, s.admin = w.ID, admit(w.ID)
	if d.jobs, err = job.New(t.Context(), job.Config{Store: d.disk, Now: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.jobs.Close)
	surface, err := New(Config{Canon: s.canon, Jobs: d.jobs, Backup: d.disk, Data: d.data})
	if err != nil {
		t.Fatal(err)
	}
	if s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface},
		Worlds: optest.SoleWorld(w.ID), GMManages: s.gmManages}); err != nil {
		t.Fatal(err)
	}
	return d
}

// Do makes a call that must succeed, one second later.
func (d *desk) Do(who, name, input string, more ...func(*op.Request)) answer {
	d.t.Helper()
	d.now = d.now.Add(time.Second)
	return d.As(who).Call(name, input, more...)
}

// operator returns the operator of the instance.
func (d *desk) operator() actor {
	return actor{d.scene, access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}}
}

// withKey adds an idempotency key to a call.
func withKey(key string) func(*op.Request) { return func(r *op.Request) { r.IdempotencyKey = key } }

// asked returns the fault of a call that must fail.
func (a actor) asked(name, input string, more ...func(*op.Request)) *fault.Error {
	a.s.t.Helper()
	got, err := a.invoke(name, input, more...)
	if err == nil {
		a.s.t.Fatalf("%s %s as %s: want an error, got %s", name, input, a.caller.Subject, got.Output)
	}
	f, ok := asFault(err)
	if !ok {
		a.s.t.Fatalf("%s %s: %v", name, input, err)
	}
	return f
}

// wantFields checks the fields that a refusal names.
func (a actor) wantFields(kind fault.Kind, name, input, fields string) *fault.Error {
	a.s.t.Helper()
	f := a.asked(name, input)
	var got []string
	for _, x := range f.Fields {
		got = append(got, x.Field)
	}
	if f.Kind != kind || strings.Join(got, " ") != fields {
		a.s.t.Errorf("%s %s: %v, fields %v; want %s on %s", name, input, f, got, kind, fields)
	}
	return f
}

// reads checks the content of a card as the actor reads it.
func (a actor) reads(name, content string) {
	a.s.t.Helper()
	a.Call("get_card", asJSON(map[string]any{"name": name, "full": true})).Want("content", content)
}

// version returns the number of a card's current version as the actor sees it.
func (a actor) version(name string) int {
	a.s.t.Helper()
	v, _ := a.Call("get_card", asJSON(map[string]any{"name": name})).At("version")
	return int(v.(float64))
}

// commits returns the number of commits in the world's stream.
func (d *desk) commits() int {
	d.t.Helper()
	list, err := d.canon.Verify(d.t.Context(), d.operatorGrant(), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	n := 0
	for _, v := range list {
		n += v.Commits
	}
	return n
}

func (d *desk) operatorGrant() access.Grant { return d.admin }

// wantRebuilt checks that rebuilding the tables from the stream gives the same tables.
func (d *desk) wantRebuilt() {
	d.t.Helper()
	got, err := d.canon.Rebuild(d.t.Context(), d.admin, d.world, canon.CompareOnly)
	if err != nil {
		d.t.Fatal(err)
	}
	if len(got.Different) > 0 {
		d.t.Errorf("tables differ from the stream: %v", got.Different)
	}
}

// fragile is a store whose n-th write from now on fails or panics; with n = 0 no write fails.
type fragile struct {
	canon.Store
	failAt int
	panics bool
	writes atomic.Int64

	lookUps int // look-ups of cards that succeed; -1: all
}

// Read implements canon.Store.
func (f *fragile) Read(ctx context.Context, do func(canon.Reader) error) error {
	return f.Store.Read(ctx, func(r canon.Reader) error { return do(fragileReader{r, f}) })
}

type fragileReader struct {
	canon.Reader
	f *fragile
}

// FindCards fails one time, after the look-ups that succeed.
func (r fragileReader) FindCards(ctx context.Context, v canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	if r.f.lookUps >= 0 {
		if r.f.lookUps--; r.f.lookUps < 0 {
			return nil, errBroken
		}
	}
	return r.Reader.FindCards(ctx, v, q)
}

var errBroken = errors.New("the disk is gone")

func (f *fragile) Write(ctx context.Context, do func(canon.Tx) error) error {
	if n := f.writes.Add(1); f.failAt == 0 || n != int64(f.failAt) {
		return f.Store.Write(ctx, do)
	}
	return f.Store.Write(ctx, func(tx canon.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		if f.panics {
			panic(errBroken)
		}
		return errBroken
	})
}

// breakAt makes the n-th write from now on fail.
func (f *fragile) breakAt(n int, panics bool) {
	f.writes.Store(0)
	f.failAt, f.panics = n, panics
}

// TestEveryWriteIsDeclared checks the names, routes and roles of all writes against the contract's
// list.
func TestEveryWriteIsDeclared(t *testing.T) {
	s := newDesk(t)
	for name, want := range map[string]struct {
		route  string
		least  access.Role
		effect access.Effect
	}{
		"create_card":       {"POST /api/mcp/cards", access.RoleUser, access.Write},
		"update_card":       {"PATCH /api/mcp/cards/{name}", access.RoleUser, access.Write},
		"set_card_level":    {"PUT /api/mcp/cards/{name}/level", access.RoleAdmin, access.Write},
		"delete_card":       {"DELETE /api/mcp/cards/{name}", access.RoleAdmin, access.Destroy},
		"rename_card":       {"PUT /api/mcp/cards/{name}/rename", access.RoleAdmin, access.Write},
		"restore_card":      {"POST /api/mcp/cards/{name}/restore", access.RoleAdmin, access.Write},
		"undo_change":       {"POST /api/mcp/changes/{id}/undo", access.RoleUser, access.Write},
		"auto_link":         {"POST /api/mcp/auto_link", access.RoleUser, access.Write},
		"batch_cards":       {"POST /api/mcp/cards/batch", access.RoleUser, access.Write},
		"upload_attachment": {"POST /api/mcp/cards/{name}/file", access.RoleUser, access.Write},
		"spoiler_scan":      {"POST /api/mcp/jobs/spoiler-scan", access.RoleGM, access.Write},
		"get_job":           {"GET /api/mcp/jobs/{id}", access.RoleUser, access.Read},
		"list_jobs":         {"GET /api/mcp/jobs", access.RoleUser, access.Read},
		"cancel_job":        {"POST /api/mcp/jobs/{id}/cancel", access.RoleUser, access.Write},
		"create_backup":     {"POST /api/mcp/admin/backup", access.RoleNone, access.Write},
		"get_backup":        {"GET /api/mcp/admin/backup/{id}", access.RoleNone, access.Read},
	} {
		o, ok := s.ops.Find(name)
		if !ok {
			t.Errorf("%s is not declared", name)
			continue
		}
		if o.Route != want.route || o.MinRole != want.least || o.Effect != want.effect || len(o.Examples) == 0 {
			t.Errorf("%s: route %q, least %s, effect %s", name, o.Route, o.MinRole, o.Effect)
		}
		if operator := strings.HasSuffix(name, "_backup"); o.Operator != operator || o.NoWorld != operator {
			t.Errorf("%s: operator %t, no world %t", name, o.Operator, o.NoWorld)
		}
	}
}

// TestRolesOfWrites checks which roles may call each write.
func TestRolesOfWrites(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "deep")
	for _, call := range []struct{ name, input, least string }{
		{"set_card_level", `{"name": "Well", "level": "gm"}`, "admin"},
		{"delete_card", `{"name": "Well"}`, "admin"},
		{"rename_card", `{"name": "Well", "new_name": "Spring"}`, "admin"},
		{"restore_card", `{"name": "Well", "to_version": 1}`, "admin"},
		{"list_trash", `{}`, "admin"},
		{"auto_link", `{"name": "Well", "mode": "apply"}`, "gm"},
		{"spoiler_scan", `{"terms_card": "Well", "results_card": "R", "scope": "player"}`, "gm"},
	} {
		for _, who := range []string{"user", "gm"} {
			if who == call.least {
				continue
			}
			f := s.As(who).asked(call.name, call.input, overREST)
			if f.Kind != fault.Denied || f.Details["required_role"] != call.least {
				t.Errorf("%s as %s: %v %v", call.name, who, f, f.Details)
			}
		}
	}
	s.As("user").reads("Well", "deep")
	if f := s.As("admin").asked("create_backup", `{}`, overREST); f.Kind != fault.Denied {
		t.Errorf("a world's admin backs the instance up: %v", f)
	}
}

// quiet drops the log lines of failures that the test causes.
func quiet(t *testing.T) {
	was := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(was) })
}

func itoa(n int) string { return strconv.Itoa(n) }
