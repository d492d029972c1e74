package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	proofPart = regexp.MustCompile(`(?m)^([a-z-]+)!([^!\n]*)!([^!\n]*)!([^!\n]*)!([^!\n]*)$`)
	testNames = regexp.MustCompile(`(?m)^func (Test\w*)\(\w+ \*testing\.T\)`)
)

// TestProofScriptNamesExistingTests checks that each part of scripts/proof.sh names existing tests,
// because go test does not fail for a name that matches no test.
func TestProofScriptNamesExistingTests(t *testing.T) {
	root := filepath.Join("..", "..")
	script, err := os.ReadFile(filepath.Join(root, "scripts", "proof.sh"))
	if err != nil {
		t.Fatal(err)
	}
	parts := proofPart.FindAllStringSubmatch(string(script), -1)
	if len(parts) < 15 {
		t.Fatalf("only %d parts were understood", len(parts))
	}
	for _, p := range parts {
		name, packages, pattern := p[1], strings.Fields(p[3]), p[4]
		if packages[0] == "long" || packages[0] == "./..." {
			continue // the script takes what there is
		}
		var all strings.Builder
		for _, dir := range packages {
			files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Errorf("%s: %s has no tests: %v", name, dir, err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				all.Write(b)
			}
		}
		for one := range strings.SplitSeq(pattern, "|") {
			top, _, _ := strings.Cut(one, "/")
			fits := regexp.MustCompile(top)
			found := false
			for _, m := range testNames.FindAllStringSubmatch(all.String(), -1) {
				found = found || fits.MatchString(m[1])
			}
			if !found {
				t.Errorf("%s: no test of %v fits %q", name, packages, one)
			}
		}
	}
}
