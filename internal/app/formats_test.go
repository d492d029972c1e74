package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/unpack"
)

// TestSourcesAreRecognized checks that each real source is taken for its format, and for no other.
func TestSourcesAreRecognized(t *testing.T) {
	for source, want := range map[string]string{
		"srd-2014": "srd", "srd-2014/5e-SRD-Spells.json": "srd", "light-worlds": "light",
		"light-worlds/simple_world.json": "light", "ranvier-areas": "ranvier", "obsi-forge-apedia": "markdown",
		"thellade-slice": "markdown", "cairn-srd": "markdown", "crd3-campaign1/turns.jsonl.gz": "turns",
		"azgaar-json/example": "azgaar", "azgaar-maps": "azgaar", "watabou": "watabou", "watabou/mfcg.json": "watabou",
		"mcp-memory": "memory", "mediawiki-tiny": "mediawiki", "evennia-tutorial": "evennia", "twee-chapbook": "twee",
		"twee-chapbook/links.twee": "twee",
		"cairn-foundry":            "foundry", "azure-compendia/packs/journals": "foundry",
	} {
		t.Run(source, func(t *testing.T) {
			at := filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(source))
			if _, err := os.Stat(at); err != nil {
				t.Skipf("no real data: %s", source)
			}
			src, err := unpack.Open(t.Context(), at, unpack.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			got, why := recognizeFormat(exchange.NewPeek(src.Files, src.File))
			if got.Name != want {
				t.Errorf("taken for %q, because %s", got.Name, why)
			}
		})
	}
}

// TestWrongFormatIsRefused checks that a source of another format is refused with the name of its
// format, and that a source of no format is refused with its files.
func TestWrongFormatIsRefused(t *testing.T) {
	a, dir := declared(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.json"), []byte(`{"nodes": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ format, path, says string }{
		{"srd", "w.json", "use loregate import light"},
		{"", "none", "does not exist"},
		{"word", "w.json", `there is no format "word"; the formats are`},
	} {
		_, err := a.Import(t.Context(), tc.format, "main", filepath.Join(dir, tc.path), ImportOptions{})
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s %s: %v", tc.format, tc.path, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "w.json"), []byte(`{"x": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Import(t.Context(), "", "main", dir, ImportOptions{}); err == nil ||
		!strings.Contains(err.Error(), "no format is recognized") || !strings.Contains(err.Error(), ".json") {
		t.Errorf("a file of no format: %v", err)
	}
}
