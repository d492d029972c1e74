package app

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/op"
)

var update = flag.Bool("update", false, "write golden files and generated pages")

// golden holds a generated page against the one in the repository.
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
start, with the nearest known name. Variables that begin with ` + "`LOREGATE_KEY`" + ` are left to clients.

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
	b.WriteString("\n## Example\n\n```yaml\naddr: 0.0.0.0:8420\npublic_url: https://lore.example\nbehind_proxy: true\ntoken:\n  life: 30m\nlimits:\n  calls: 120\nimport:\n  gm_folders: [GM, Secrets]\n```\n")
	golden(t, "docs/config.md", []byte(b.String()))
}

// declared gives the surfaces of a product on an empty folder.
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

// TestGoldenOperations pins what clients are told of every operation: a change of a name,
// a description, a schema or an annotation must be meant.
func TestGoldenOperations(t *testing.T) {
	a := declared(t)
	for _, o := range a.Ops.All() {
		b, err := json.MarshalIndent(map[string]any{
			"name": o.Name, "title": o.Title, "description": o.Doc, "effect": o.Effect, "least_role": o.Least.String(),
			"operator": o.Operator, "route": o.Route, "input": o.InputSchema(), "output": o.OutputSchema(),
		}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "internal/app/testdata/operations/"+o.Name+".json", append(b, '\n'))
	}
}
