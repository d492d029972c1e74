// Package programtest finds the optional programs that tests drive: engines, browsers, database servers.
//
// Its invariant: a test whose program is absent is skipped with a line that names the program, and fails
// with REQUIRE_ENGINES=1, as in continuous integration. With NO_ENGINES=1 every program counts as absent:
// the tests then run as on a machine that has none of them. SKIPPED_TESTS names a file to which each test that lacked a
// program is added, so that scripts/test.sh can run these, and no others, when the programs are there. Tests that take
// long run with PROOF=1 only.
package programtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Find returns the path of a program, which is the first of the places that exists: commands on the PATH, and
// patterns of files, of which the last match counts. Without places, it is the command of that name.
func Find(t testing.TB, name string, places ...string) string {
	t.Helper()
	path, ok := Look(name, places...)
	if !ok {
		Absent(t, name+" is not installed")
	}
	return path
}

// Look is Find without a test: ok reports whether there is such a program.
func Look(name string, places ...string) (path string, ok bool) {
	if os.Getenv("NO_ENGINES") == "1" {
		return "", false
	}
	if len(places) == 0 {
		places = []string{name}
	}
	for _, place := range places {
		if !strings.Contains(place, "/") {
			if path, err := exec.LookPath(place); err == nil {
				return path, true
			}
		} else if found, err := filepath.Glob(place); err == nil && len(found) > 0 {
			return slices.Max(found), true
		}
	}
	return "", false
}

// Long skips a test that takes longer than an ordinary run can afford, unless PROOF=1, as in make proof.
func Long(t testing.TB) {
	t.Helper()
	if !Proof() {
		t.Skip("a long test: it runs with PROOF=1, as in make proof")
	}
}

// Proof reports whether tests run whole: with PROOF=1, as in make proof. Otherwise they prove the same on a sample.
func Proof() bool { return os.Getenv("PROOF") == "1" }

// Absent skips a test because a part of the machine is absent, or fails it with REQUIRE_ENGINES=1.
func Absent(t testing.TB, why string) {
	t.Helper()
	if Lacks(t, why) {
		t.FailNow()
	}
	t.SkipNow()
}

// Lacks is Absent for a test that leaves out a part and goes on; failed reports whether the absence is a failure.
func Lacks(t testing.TB, why string) (failed bool) {
	t.Helper()
	if os.Getenv("REQUIRE_ENGINES") == "1" {
		t.Error(why + "; REQUIRE_ENGINES=1 requires it")
		return true
	}
	t.Log(why + "; this test was not run, or not whole")
	if list := os.Getenv("SKIPPED_TESTS"); list != "" {
		if err := addTo(list, t.Name(), why); err != nil {
			t.Fatal(err)
		}
	}
	return false
}

// addTo adds a line to the list: the folder of the package, the pattern that selects the test, and why it was skipped,
// with tabs between them.
func addTo(list, test, why string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	names := strings.Split(test, "/")
	for i, name := range names {
		names[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	file, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	why, _, _ = strings.Cut(strings.ReplaceAll(why, "\t", " "), "\n")
	_, err = file.WriteString(dir + "\t" + strings.Join(names, "/") + "\t" + why + "\n")
	return errors.Join(err, file.Close())
}
