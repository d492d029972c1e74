package apptest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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

// Browse starts a headless Chromium, which ends with the test or after a time, and returns the context of its tab.
// more are further options. See Chromium for a machine without it.
func Browse(t testing.TB, within time.Duration, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(more, chromedp.ExecPath(Chromium(t)), chromedp.NoSandbox,
		chromedp.Headless, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.NoFirstRun)...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, late := context.WithTimeout(ctx, within)
	t.Cleanup(late)
	return ctx
}
