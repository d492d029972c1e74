package apptest

import (
	"os"
	"os/exec"
	"testing"
)

// Chromium returns the path of a Chromium. If none is installed it skips the test, or with
// REQUIRE_ENGINES=1 fails it.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("REQUIRE_ENGINES") == "1" {
		t.Fatal("there is no Chromium; apt-get install chromium")
	}
	t.Skip("there is no Chromium; the page is not tried in a browser")
	return ""
}
