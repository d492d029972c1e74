package scaletest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/cputest"
	"loregate/internal/fault"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
)

// placedConfig returns the configuration of an instance with a home database and a database east, on a
// server of its own, for worlds whose short names begin with east.
func placedConfig(t *testing.T) (app.Config, *pgtest.Server) {
	t.Helper()
	server := pgtest.Start(t)
	east := server.Empty()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: east}) // a database that is still prepared refuses worlds
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := apptest.Config(t, t.TempDir())
	c.Database, c.Databases, c.Worlds = database(t), []string{"east=" + east}, []string{"east*=east"}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return c, server
}

func openPlaced(t *testing.T, c app.Config) served {
	t.Helper()
	a, _ := apptest.Open(t, c, apptest.Quiet())
	return serve(t, a)
}

func (s served) create(slug string) {
	s.t.Helper()
	if _, err := s.app.CreateWorld(s.t.Context(), canon.NewWorld{Slug: slug}); err != nil {
		s.t.Fatal(err)
	}
}

// want makes a REST call and returns the body, or fails the test at another status.
func (s served) want(status int, key, method, path string, body any) string {
	s.t.Helper()
	got, text := s.call(key, method, path, body)
	if got != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, got, text, status)
	}
	return text
}

// TestDatabaseDownTakesOnlyItsWorlds ends the server of one of two databases. Its worlds answer 503, as do
// worlds that do not exist; those of the other database go on; and all comes back by itself.
func TestDatabaseDownTakesOnlyItsWorlds(t *testing.T) {
	c, server := placedConfig(t)
	s := openPlaced(t, c)
	s.create("west")
	s.create("eastmarch")
	key, _ := s.key("keeper", access.RoleGM)
	for _, world := range []string{"west", "eastmarch"} {
		s.want(http.StatusCreated, key, "POST", "/api/mcp/cards?world="+world, map[string]any{"name": "Inn", "content": "x"})
	}
	list := "/api/mcp/cards/Inn?world="
	s.want(http.StatusOK, key, "GET", list+"eastmarch", nil)
	s.want(http.StatusNotFound, key, "GET", list+"nowhere", nil)

	server.Drop()
	down := s.want(http.StatusServiceUnavailable, key, "GET", list+"eastmarch", nil)
	if nowhere := s.want(http.StatusServiceUnavailable, key, "GET", list+"nowhere", nil); messageOf(nowhere) != messageOf(down) {
		t.Errorf("an unknown world answers %s, one of the database that is down %s", nowhere, down)
	}
	s.want(http.StatusOK, key, "GET", list+"west", nil)
	s.want(http.StatusCreated, key, "POST", "/api/mcp/cards?world=west", map[string]any{"name": "Mill", "content": "x"})
	s.create("north") // does not need the database that is down
	for slug, kind := range map[string]fault.Kind{"eastnew": fault.Unavailable, "eastmarch": fault.Conflict, "west": fault.Conflict} {
		if _, err := s.app.CreateWorld(t.Context(), canon.NewWorld{Slug: slug}); fault.KindOf(err) != kind {
			t.Errorf("create %s: %v, want %v", slug, err, kind)
		}
	}
	health, err := s.app.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for _, f := range health.Findings {
		named = named || f.Check == "database east" && !f.Good
	}
	if !named {
		t.Errorf("the health does not name the database that is down: %+v", health.Findings)
	}
	other := openPlaced(t, c) // a process may start while a database is down
	other.want(http.StatusOK, key, "GET", list+"west", nil)

	server.Again()
	for _, p := range []served{s, other} {
		apptest.Eventually(t, "the database is used again", patience, func() bool {
			status, _ := p.call(key, "GET", list+"eastmarch", nil)
			return status == http.StatusOK
		})
		p.want(http.StatusNotFound, key, "GET", list+"nowhere", nil)
	}
}

// messageOf returns an error's body up to its correlation id.
func messageOf(body string) string {
	before, _, _ := strings.Cut(body, "correlation")
	return before
}

// TestMovedWorld moves a world through the command while another process serves it. Both processes serve it
// afterwards; a process without the setting is refused.
func TestMovedWorld(t *testing.T) {
	programtest.Long(t)
	c, _ := placedConfig(t)
	s := openPlaced(t, c)
	s.create("campaign")
	key, _ := s.key("keeper", access.RoleGM)
	low, _ := s.key("player", access.RoleUser)
	s.want(http.StatusCreated, key, "POST", "/api/mcp/cards", map[string]any{"name": "Inn", "content": "An old inn."})
	s.want(http.StatusCreated, key, "POST", "/api/mcp/cards", map[string]any{"name": "Inn+GM", "content": "A spy."})
	before := s.want(http.StatusOK, key, "GET", "/api/mcp/cards/Inn", nil)
	mover, _ := apptest.Open(t, c, apptest.Quiet())
	var out bytes.Buffer
	if err := mover.MoveWorld(t.Context(), "campaign", "east", &out); err != nil {
		t.Fatal(err, out.String())
	}
	if !strings.Contains(out.String(), "the world is in east") {
		t.Errorf("the command printed %s", out.String())
	}
	if after := s.want(http.StatusOK, key, "GET", "/api/mcp/cards/Inn", nil); after != before {
		t.Errorf("the card was %s and is %s", before, after)
	}
	s.want(http.StatusForbidden, low, "GET", "/api/mcp/cards/Inn+GM", nil)
	s.want(http.StatusCreated, key, "POST", "/api/mcp/cards", map[string]any{"name": "Mill", "content": "x"})
	if found := s.want(http.StatusOK, key, "GET", "/api/mcp/cards?q=old&search_in=content", nil); !strings.Contains(found, "Inn") {
		t.Errorf("a search after the move finds %s", found)
	}
	plain := c
	plain.Databases, plain.Worlds = nil, nil
	if a, err := app.Open(t.Context(), plain, apptest.Quiet()); err == nil || !strings.Contains(err.Error(), "set databases") {
		t.Errorf("a process without the setting opens: %v", err)
		a.Close(t.Context())
	}
	if err := mover.MoveWorld(t.Context(), "campaign", "nowhere", &out); err == nil {
		t.Error("a move to an unknown database succeeds")
	}
}

// TestWrongDatabasesAreRefused opens settings that name another database than the instance's own.
func TestWrongDatabasesAreRefused(t *testing.T) {
	c, _ := placedConfig(t)
	east := c.Databases[0]
	_, eastAddress, _ := strings.Cut(east, "=")
	a, shut := apptest.Open(t, c, apptest.Quiet())
	if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "eastmarch"}); err != nil {
		t.Fatal(err)
	}
	shut()
	single, foreign := apptest.Config(t, t.TempDir()), database(t)
	single.Database = foreign
	other, shut := apptest.Open(t, single, apptest.Quiet())
	if _, err := other.CreateWorld(t.Context(), canon.NewWorld{Slug: "main"}); err != nil {
		t.Fatal(err)
	}
	shut()
	west := "west=" + database(t)
	for _, tt := range []struct {
		name      string
		databases []string
		want      string
	}{
		{"the home database", []string{east, "west=" + c.Database}, "west is the home database"},
		{"the same twice", []string{east, "west=" + eastAddress}, "the address of west is that of the database east"},
		{"another instance's", []string{east, "west=" + foreign}, "the address of west leads to a database of another instance"},
		{"another name", []string{"ost=" + eastAddress}, "ost leads to a database of another instance, or of another name"},
		{"one is left out", []string{west}, `the world eastmarch is in the database "east"`},
		{"as before", []string{east, west}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := c
			changed.Databases, changed.Worlds = tt.databases, nil
			a, err := app.Open(t.Context(), changed, apptest.Quiet())
			if text := fmt.Sprint(err); !strings.Contains(text, tt.want) || (err == nil) != (tt.want == "") {
				t.Errorf("error %q, want %q", text, tt.want)
			}
			a.Close(t.Context())
		})
	}
	// An empty database in place of east: the settings are right, and the worlds are gone.
	c.Databases = []string{"east=" + database(t)}
	options := apptest.Quiet()
	options.Now = func() time.Time { return time.Now().Add(time.Hour) }
	a, _ = apptest.Open(t, c, options)
	health, err := a.Health(t.Context())
	if found := fmt.Sprint(health.Findings); err != nil || !strings.Contains(found, "lacks 1 of its 1 worlds (eastmarch)") {
		t.Errorf("the health does not name the missing world: %v, %s", err, found)
	}
}

// TestCopyOfPlacedWorlds copies an instance with two databases into a data folder, with the worlds of both, and from
// there into two other databases, by the setting worlds. A copy of the home database alone is refused.
func TestCopyOfPlacedWorlds(t *testing.T) {
	c, server := placedConfig(t)
	a, shut := apptest.Open(t, c, apptest.Quiet())
	s := serve(t, a)
	s.create("west")
	s.create("eastmarch")
	key, _ := s.key("keeper", access.RoleGM)
	for _, world := range []string{"west", "eastmarch"} {
		s.want(http.StatusCreated, key, "POST", "/api/mcp/cards?world="+world, map[string]any{"name": "Inn", "content": "of " + world})
	}
	shut()
	var out bytes.Buffer
	plain := c
	plain.Databases, plain.Worlds = nil, nil
	if err := app.Copy(t.Context(), plain, c.Database, t.TempDir(), nil, &out); err == nil || !strings.Contains(err.Error(), "set databases") {
		t.Errorf("a copy of the home database alone: %v", err)
	}
	to := t.TempDir()
	if err := app.Copy(t.Context(), c, c.Database, to, nil, &out); err != nil {
		t.Fatal(err, out.String())
	}
	again := c
	again.Database, again.Databases = database(t), []string{"east=" + database(t)}
	if err := app.Copy(t.Context(), again, to, again.Database, nil, &out); err != nil {
		t.Fatal(err, out.String())
	}
	plain.Database = again.Database
	err := app.Copy(t.Context(), plain, plain.Database, t.TempDir(), nil, &out)
	if err == nil || !strings.Contains(err.Error(), "set databases") {
		t.Errorf("all worlds were copied into the home database: %v", err)
	}
	for _, c := range []app.Config{apptest.Config(t, to), again} {
		copied := openPlaced(t, c)
		for _, world := range []string{"west", "eastmarch"} {
			got := copied.want(http.StatusOK, key, "GET", "/api/mcp/cards/Inn?world="+world, nil)
			if !strings.Contains(got, "of "+world) {
				t.Errorf("the copy of %s has %s", world, got)
			}
		}
	}
	server.Drop()
	if err := app.Copy(t.Context(), c, c.Database, t.TempDir(), nil, &out); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a copy while a database is down: %v", err)
	}
}

// TestNamedDatabaseBehindPgBouncer creates a world in a database that is reached through PgBouncer.
func TestNamedDatabaseBehindPgBouncer(t *testing.T) {
	programtest.Long(t)
	c := apptest.Config(t, t.TempDir())
	east := database(t)
	c.Database, c.Worlds = database(t), []string{"east*=east"}
	c.Databases = []string{"east=" + pgtest.Bouncer(t, east, strings.Join(postgres.Config{}.SessionStatements(), ";"))}
	c.DirectTo = []string{"east=" + east}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	s := openPlaced(t, c)
	s.create("eastmarch")
	key, _ := s.key("keeper", access.RoleGM)
	s.want(http.StatusCreated, key, "POST", "/api/mcp/cards", map[string]any{"name": "Inn", "content": "An old inn."})
	s.want(http.StatusOK, key, "GET", "/api/mcp/cards/Inn", nil)
}

// TestManyPlacedWorlds measures an idle process with worlds on three databases. PLACED_WORLDS sets their number.
func TestManyPlacedWorlds(t *testing.T) {
	programtest.Long(t)
	worlds := 12
	if n, err := strconv.Atoi(os.Getenv("PLACED_WORLDS")); err == nil {
		worlds = n
	}
	c := apptest.Config(t, t.TempDir())
	c.Database = database(t)
	c.Databases = []string{"east=" + database(t), "west=" + database(t)}
	c.Worlds = []string{"east*=east", "west*=west"}
	a, shut := apptest.Open(t, c, apptest.Quiet())
	for n := range worlds {
		slug := []string{"home", "east", "west"}[n%3] + strconv.Itoa(n)
		if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: slug}); err != nil {
			t.Fatal(err)
		}
	}
	shut()
	runtime.GC()
	used := cputest.Of(func() { a, _ = apptest.Open(t, c, apptest.Quiet()) })
	serve(t, a)
	list, err := a.Canon.Worlds(t.Context())
	if err != nil || len(list) != worlds {
		t.Fatalf("%d worlds, %v", len(list), err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d worlds on three databases: started with %s of processor time, %d MiB of memory", worlds, used.Round(time.Millisecond), m.Sys>>20)
	if worlds >= 1000 && (used > 2*time.Second || m.Sys > 300<<20) { // alone in its process; others leave memory behind
		t.Errorf("the start used the processor for %s, with %d MiB, want less than 2s and 300 MiB", used, m.Sys>>20)
	}
}
