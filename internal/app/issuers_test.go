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
	secret := filepath.Join(t.TempDir(), "google")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AUTHENTIK_SECRET", "other")
	if c, err = settings(t, strings.Replace(signInYAML, "/etc/loregate/google", secret, 1)); err != nil {
		t.Fatal(err)
	}
	if list, err = c.Issuers.toIdentity(); err == nil {
		err = c.Issuers.readSecrets(list)
	}
	if err != nil || list[0].SignIn.ClientSecret != "s3cret" || list[1].SignIn.ClientSecret != "other" {
		t.Errorf("%+v, %v", list, err)
	}
	if a := openWith(t, c); len(a.Identity.SignInIssuers()) != 2 || len(a.Identity.Issuers()) != 0 {
		t.Error("the issuers of the example")
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
	for text, say := range map[string]string{
		"client_secret_env: NOWHERE":                  "client_secret_env: must contain only the secret",
		"client_secret_file: /nowhere":                "client_secret_file",
		"client_secret_env: A, client_secret_file: b": "set only one",
	} {
		c, err := settings(t, "public_url: https://lore.example\nissuers: [{name: kc, issuer: https://login.example, client_id: x, "+
			text+"}]")
		if err == nil {
			c.Data = t.TempDir()
			_, err = Open(t.Context(), c, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", text, err, say)
		}
	}
	if _, err := settings(t, "issuers: [{name: kc, issuer: https://login.example, client_id: x}]"); err == nil ||
		!strings.Contains(err.Error(), "public_url") {
		t.Errorf("no address to come back to: %v", err)
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
