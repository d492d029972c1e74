package apptest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"loregate/internal/programtest"
)

// Chromium returns the path of a Chromium.
func Chromium(t testing.TB) string {
	t.Helper()
	return programtest.Find(t, "Chromium", "chromium", "chromium-browser", "google-chrome")
}

// Browse opens a tab of a headless Chromium, with cookies and storage of its own, and returns its context. The tab ends
// with the test or after a time. Tabs without further options share one Chromium, which ends with the last of them. See
// Chromium for a machine without it.
func Browse(t testing.TB, within time.Duration, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path := Chromium(t)
	var ctx context.Context
	if len(more) > 0 {
		var stop context.CancelFunc
		ctx, stop = startChromium(t.Context(), path, more...)
		t.Cleanup(stop)
	} else {
		browser, leave, err := sharedChromium.enter(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(leave)
		var end context.CancelFunc
		ctx, end = chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		t.Cleanup(end)
	}
	ctx, late := context.WithTimeout(ctx, within)
	t.Cleanup(late)
	return ctx
}

// startChromium returns the context of a Chromium that starts with its first use.
func startChromium(ctx context.Context, path string, more ...chromedp.ExecAllocatorOption) (context.Context,
	context.CancelFunc) {
	ctx, stop := chromedp.NewExecAllocator(ctx, append(more, chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Headless, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.NoFirstRun)...)
	ctx, end := chromedp.NewContext(ctx)
	return ctx, func() { end(); stop() }
}

// shared is a Chromium that runs while tests use it.
type shared struct {
	mu    sync.Mutex
	users int                // guarded by mu, as all below
	ctx   context.Context    // of the browser
	stop  context.CancelFunc // ends the browser
}

var sharedChromium shared

// enter returns the context of the browser, and a function that leaves it.
func (s *shared) enter(path string) (context.Context, context.CancelFunc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		s.ctx, s.stop = startChromium(context.Background(), path)
		if err := chromedp.Do(s.ctx); err != nil {
			s.stop()
			return nil, nil, err
		}
	}
	s.users++
	return s.ctx, s.leave, nil
}

func (s *shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 {
		s.stop()
	}
}
