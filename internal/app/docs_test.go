package app

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files and generated pages")

// golden compares a generated page with the one in the repository, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	path = filepath.Join("..", "..", filepath.FromSlash(path))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s is not what the code says; run make docs and read the difference", path)
	}
}

func TestReferenceOfSettings(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Settings

Made from the code; do not edit by hand.

Flags override the environment, which overrides the file (` + "`--config FILE` or `LOREGATE_CONFIG`" + `), which
overrides the defaults. The file is YAML; the dots in the name of a setting are its levels. If a name is unknown, the
program does not start, and names the nearest known setting. Variables that begin with ` + "`LOREGATE_KEY`" + ` are
reserved for clients. ` + "`LOREGATE_WORLD`" + ` is the world of a command that names none, if there are several.

| setting | variable | default | meaning |
|---|---|---|---|
`)
	var c Config
	err := eachSetting(&c, func(s setting) error {
		if s.doc == "" {
			t.Errorf("%s is not documented", s.path)
		}
		fallback := ""
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", s.path, s.variable, fallback, s.doc)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(`
## Outside issuers

Users who sign in with Entra ID, Auth0, Keycloak or another service that publishes its keys can use its tokens. Each
entry of ` + "`issuers`" + ` names such an issuer and the roles that its tokens give. Tokens must be signed with RS256 or
ES256, name one of the configured audiences, and live at most a day. Keys are fetched only from the configured issuer,
never from an address in a token, over https and without following redirects. They are cached for an hour, fetched again
at most once a minute if a token names an unknown key, and stay in use while the issuer does not respond. Clients find
the issuers in /.well-known/oauth-protected-resource.

Such a caller has no key here that could be revoked. To revoke its access, remove its subject from the world
(` + "`loregate world member remove WORLD entra:…`" + `), which lowers the rights of every token within a second, or end the
access at the issuer. A proposal of the caller that a person approves later is applied with the rights of the caller's
latest valid token, if this process has seen one, otherwise with the rights of its membership.

| setting | meaning |
|---|---|
`)
	issuer := reflect.TypeFor[Issuer]()
	for i := range issuer.NumField() {
		tag := issuer.Field(i).Tag
		fmt.Fprintf(&b, "| `%s` | %s |\n", tag.Get("yaml"), tag.Get("doc"))
	}
	b.WriteString(issuersExample)
	b.WriteString("\nPeople sign in to the pages by an issuer that has a `client_id` ([pages.md](pages.md)):\n\n```yaml\n" +
		signInYAML + "```\n")
	b.WriteString("\n## Example\n\n```yaml\naddr: 0.0.0.0:8420\npublic_url: https://lore.example\nbehind_proxy: true\ntoken:\n  life: 30m\nlimits:\n  calls: 120\nimport:\n  gm_folders: [GM, Secrets]\n```\n")
	golden(t, "docs/config.md", []byte(b.String()))
}

const issuersExample = "\n```yaml\n" + issuersYAML + "```\n"

// issuersYAML is also read by TestExampleIssuers.
const issuersYAML = `issuers:
  - name: entra                    # app roles of an app registration, tokens of version 2.0
    issuer: https://login.microsoftonline.com/8d1c0c6e-0000-4000-8000-6f1f5c3b2a10/v2.0
    audience: 4b0d6f7a-0000-4000-8000-1c9f0f3a7d22
    subject_claim: oid
    roles_claim: roles
    roles: {Lore.Read: user, Lore.Master: gm}
    max_role: gm
    worlds: [lendwater]
  - name: auth0                    # an action adds the claim; its name is an address, which is usual there
    issuer: https://example.eu.auth0.com/
    audience: https://lore.example
    roles_claim: https://lore.example/roles
    roles: {players: user, masters: gm}
    max_role: gm
    worlds: [lendwater]
  - name: kc                       # realm roles of Keycloak; an audience mapper adds the audience
    issuer: https://login.example/realms/lore
    audience: https://lore.example
    roles_claim: /realm_access/roles
    roles: {lore-player: user, lendwater-master: gm@lendwater}
    max_role: gm
    actor: person
`

// signInYAML is also read by TestExampleIssuers.
const signInYAML = `public_url: https://lore.example
issuers:
  - name: google                   # no roles: a member has the membership's role, up to max_role
    label: Google
    issuer: https://accounts.google.com
    client_id: 1234567890-example.apps.googleusercontent.com
    client_secret_file: /etc/loregate/google
    max_role: admin
  - name: authentik                # choose a signing key in its provider; without one it signs with HS256
    label: Authentik
    issuer: https://login.example/application/o/loregate/
    client_id: loregate
    client_secret_env: AUTHENTIK_SECRET
    scopes: [profile]              # brings the claim groups
    roles_claim: groups
    roles: {lore-players: user, lore-masters: gm}
    max_role: gm
`

// declared opens the product on an empty folder, with all its surfaces.
func declared(t *testing.T) *App {
	t.Helper()
	c, err := LoadConfig("", []string{"LOREGATE_DATA=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), c, Options{Version: "0.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(context.Background()) })
	return a
}

func TestReferencePages(t *testing.T) {
	for name, page := range renderReference(declared(t).Surfaces) {
		golden(t, "docs/reference/"+name, page)
	}
}

// TestGoldenOperations pins the description of every operation for clients, so that a changed name,
// description, schema or annotation does not go unnoticed.
func TestGoldenOperations(t *testing.T) {
	a := declared(t)
	if err := a.Ops.Check(); err != nil {
		t.Error(err)
	}
	for _, o := range a.Ops.All() {
		b, err := json.MarshalIndent(map[string]any{
			"name": o.Name, "title": o.Title, "description": o.Doc, "effect": o.Effect, "least_role": o.MinRole.String(),
			"operator": o.Operator, "route": o.Route, "input": o.InputSchema(), "output": o.OutputSchema(),
		}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "internal/app/testdata/operations/"+o.Name+".json", append(b, '\n'))
	}
}
