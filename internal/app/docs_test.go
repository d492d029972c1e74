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

	"loregate/internal/op"
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

Flags beat the environment, which beats the file (` + "`--config FILE` or `LOREGATE_CONFIG`" + `), which beats
the defaults. The file is YAML; dots in a name are levels of it. A name that is not here stops the
start, with the nearest known name. Variables that begin with ` + "`LOREGATE_KEY`" + ` are left to clients;
` + "`LOREGATE_WORLD`" + ` is the world that commands mean where none is named and there are several.

| setting | variable | default | what it does |
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

Who signs in with Entra ID, Auth0, Keycloak or another that publishes its keys may come with its tokens:
each entry of ` + "`issuers`" + ` says whom to believe and what that opens. Tokens are signed with RS256 or ES256, name
one of the configured audiences, and live a day at most. Keys are fetched from the configured issuer alone, never from
an address that a token names, over https and without following redirects; they are kept for an hour, looked
for anew at most once a minute when a token names one that is not known, and stay in use while the issuer does not answer.
Clients find the issuers in /.well-known/oauth-protected-resource.

Such a caller has no key here, so there is none to revoke: remove its subject from the world
(` + "`loregate world member remove WORLD entra:…`" + `), which lowers every token within a second, or end it at the issuer.
What it proposes and a person approves later is carried out with what its latest good token gave, as far as the
process saw one, else with its membership.

| setting | what it does |
|---|---|
`)
	issuer := reflect.TypeFor[Issuer]()
	for i := range issuer.NumField() {
		tag := issuer.Field(i).Tag
		fmt.Fprintf(&b, "| `%s` | %s |\n", tag.Get("yaml"), tag.Get("doc"))
	}
	b.WriteString(issuersExample)
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
	for name, page := range op.Reference(declared(t).Surfaces) {
		golden(t, "docs/reference/"+name, page)
	}
}

// TestGoldenOperations pins the description of every operation for clients, so that a changed name,
// description, schema or annotation does not go unnoticed.
func TestGoldenOperations(t *testing.T) {
	a := declared(t)
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
