package app

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
