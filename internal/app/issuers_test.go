package app

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/identity"
)

func settings(t *testing.T, text string, environ ...string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "loregate.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadConfig(file, environ)
}

func TestExampleIssuers(t *testing.T) {
	c, err := settings(t, issuersYAML)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Issuers.toIdentity()
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	kc := list[2]
	if want := (identity.RoleGrant{Role: access.RoleGM, World: "lendwater"}); kc.Grants["lendwater-master"] != want ||
		kc.MaxRole != access.RoleGM || kc.Actor != access.Person ||
		!reflect.DeepEqual(kc.Audiences, []string{"https://lore.example"}) {
		t.Errorf("%+v", kc)
	}
	if list[0].SubjectClaim != "oid" || list[1].RolesClaim != "https://lore.example/roles" {
		t.Errorf("%+v", list)
	}
	a := openWith(t, c)
	if got := a.Identity.Issuers(); len(got) != 3 {
		t.Errorf("named: %v", got)
	}
}

func openWith(t *testing.T, c Config) *App {
	t.Helper()
	c.Data = t.TempDir()
	a, err := Open(t.Context(), c, Options{Version: "0.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(context.Background()) })
	return a
}

func TestIssuersFromEnvironment(t *testing.T) {
	c, err := LoadConfig("",
		[]string{`LOREGATE_ISSUERS=[{"name":"kc","issuer":"https://x.example","audience":["a","b"],"everyone":"user"}]`})
	if err != nil || len(c.Issuers) != 1 || len(c.Issuers[0].Audience) != 2 || c.Issuers[0].Everyone != "user" {
		t.Errorf("%+v, %v", c.Issuers, err)
	}
}

func TestIssuersThatCannotBeRead(t *testing.T) {
	for text, say := range map[string]string{
		"issuers: kc": "must be a list",
		"issuers: [{name: kc, isuer: https://x.example}]": `did you mean "issuer"`,
		"issuers: [{name: kc, name: kd}]":                 "already defined",
		"issuers: [{name: kc, max_role: owner}]":          "max_role",
		"issuers: [{name: kc, everyone: none}]":           "everyone",
		"issuers: [{name: kc, roles: {x: gm@}}]":          "roles",
		"issuers: [{name: kc, roles: {x: root}}]":         "roles",
		"issuers: [{name: kc, roles: [gm]}]":              "issuers",
		"issuers:\n  - name: kc\n    audience: {a: b}":    "issuers",
	} {
		if _, err := settings(t, text); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", text, err, say)
		}
	}
	c, err := settings(t, "issuers: [{name: kc, issuer: http://login.example, audience: x}]")
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	if a, err := Open(t.Context(), c, Options{}); err == nil || !strings.Contains(err.Error(), "https://") {
		a.Close(t.Context())
		t.Errorf("keys over http: %v", err)
	}
}
