package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
)

// TestOpenPrintsALinkThatSignsIn signs in with the links that loregate open prints: once each, with the rights that were
// asked for.
func TestOpenPrintsALinkThatSignsIn(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if got := runCommand(t, t.TempDir(), "", "world", "create", "mine", "--data", data); got.code != 0 {
		t.Fatal(got.err)
	}
	open := func(args ...string) (code string) {
		t.Helper()
		got := runCommand(t, t.TempDir(), "", append([]string{"open", "--data", data, "--url", "http://127.0.0.1:8420"},
			args...)...)
		link, code, found := strings.Cut(strings.TrimSpace(got.stdout), "#")
		if got.code != 0 || !found || !strings.HasSuffix(link, "localhost:8420/sign-in") {
			t.Fatalf("%+v", got)
		}
		return code
	}
	gm, owner := open("--role", "gm", "--subject", "ada"), open()
	if got := runCommand(t, t.TempDir(), "", "open", "--data", data, "--role", "guest"); got.code == 0 {
		t.Errorf("an unknown role: %+v", got)
	}
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = data
	a, err := app.Open(t.Context(), c, app.Options{Version: "1.0.0", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	world, _, err := a.Canon.WorldBySlug(t.Context(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]access.Caller{gm: {Subject: "ada", EveryRole: access.RoleNone, Approve: true},
		owner: {Subject: "owner", EveryRole: access.RoleAdmin, Approve: true, Operator: true}} {
		_, token, err := a.Identity.OpenSession(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Identity.Authenticate(t.Context(), token, identity.AudienceConsole)
		if err != nil || got.Subject != want.Subject || got.Operator != want.Operator || got.Approve != want.Approve ||
			got.EveryRole != want.EveryRole || got.Role(world.ID) < access.RoleGM || got.Actor != access.Person {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if _, _, err := a.Identity.OpenSession(t.Context(), code); err == nil {
			t.Error("a link works twice")
		}
	}
}
