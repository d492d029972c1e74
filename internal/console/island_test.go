package console

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIslandsAreBundled compares the hashes of the islands' sources and bundles with those at the last bundling.
func TestIslandsAreBundled(t *testing.T) {
	sums, err := os.ReadFile("assets/islands.sum")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("islands/*.js")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no islands: %v", err)
	}
	for _, source := range append(sources, "islands/package-lock.json") {
		if !strings.Contains(string(sums), "  "+source+"\n") {
			t.Errorf("%s was never bundled; run scripts/vendor.sh", source)
		}
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%x", sha256.Sum256(data)) != sum {
			t.Errorf("%s has changed since the islands were bundled; run scripts/vendor.sh", name)
		}
	}
}
