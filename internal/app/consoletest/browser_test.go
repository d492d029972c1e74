package consoletest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"loregate/internal/app/apptest"
	"loregate/internal/wait"
)

// tab is a tab of a headless Chromium. It collects the faults of pages: console errors, failed requests,
// and requests to another origin.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu  sync.Mutex
	bad []string // guarded by mu
	may []string // parts of complaints that the test provokes; guarded by mu
}

// newTab starts Chromium; see apptest.Chromium for a machine without it.
func newTab(t *testing.T, base string, width int64, more ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	p := &tab{t: t, ctx: apptest.Browse(t, 4*time.Minute, more...), base: base}
	ctx := p.ctx
	p.do(chromedp.EmulateViewport(width, 900))
	go p.watchRequests()
	go p.watchFailures()
	go p.watchConsole()
	go p.watchPolicy()
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.must(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	p.must(err)
	t.Cleanup(p.checkQuiet)
	return p
}

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.must(chromedp.Do(p.ctx, steps...))
}

func (p *tab) complain(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad = append(p.bad, text)
}

func (p *tab) watchRequests() {
	for e, err := range chromedp.Events(p.ctx, network.RequestWillBeSent) {
		if err != nil {
			return
		}
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme == "data" || u.Scheme == "about" || u.Scheme == "chrome" ||
			strings.HasPrefix(strings.TrimPrefix(e.Request.URL, "blob:"), p.base) {
			continue
		}
		p.complain("a request to another origin: %s", e.Request.URL)
	}
}

func (p *tab) watchFailures() {
	for e, err := range chromedp.Events(p.ctx, network.ResponseReceived) {
		if err != nil {
			return
		}
		if e.Response.Status >= 400 {
			p.complain("%d for %s", e.Response.Status, e.Response.URL)
		}
	}
}

func (p *tab) watchConsole() {
	for e, err := range chromedp.Events(p.ctx, runtime.ExceptionThrown) {
		if err != nil {
			return
		}
		p.complain("a script failed: %s", e.ExceptionDetails.Text)
	}
}

// watchPolicy complains of parts of pages that the content policy stopped.
func (p *tab) watchPolicy() {
	for e, err := range chromedp.Events(p.ctx, log.EntryAdded) {
		if err != nil {
			return
		}
		if e.Entry.Source == log.EntrySourceSecurity {
			p.complain("%s", e.Entry.Text)
		}
	}
}

// allow names a complaint that the test provokes.
func (p *tab) allow(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.may = append(p.may, part)
}

func (p *tab) checkQuiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, b := range p.bad {
		for _, m := range p.may {
			if strings.Contains(b, m) {
				continue next
			}
		}
		p.t.Error(b)
	}
}

// open opens an address of the server.
func (p *tab) open(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.base + path))
}

// text returns the text of the page's main part.
func (p *tab) text() string {
	p.t.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	p.must(err)
	return text
}

// eval returns the value of an expression in the page.
func (p *tab) eval(expression string) string {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[any](expression))
	p.must(err)
	return fmt.Sprint(value)
}

// wants waits until the page shows a text.
func (p *tab) wants(text string) {
	p.t.Helper()
	p.waits(fmt.Sprintf("document.body.innerText.includes(%q)", text), "the page shows "+text)
}

// waits waits until an expression holds.
func (p *tab) waits(expression, what string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	// Each look is a call of its own: a wait in a page would stay behind when the page is left.
	holds, err := false, error(nil)
	for !holds && ctx.Err() == nil {
		if holds, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")")); !holds {
			wait.For(ctx, 50*time.Millisecond)
		}
	}
	if !holds {
		p.t.Fatalf("waiting until %s: %v; at %s:\n%s", what, err, p.eval("location.href"), p.text())
	}
}

// click clicks the link or button that reads as text, and waits for the page that it loads.
func (p *tab) click(text string) {
	p.t.Helper()
	p.loads("a click on "+text, func() bool { return p.touch(text) != "SUMMARY" })
}

// press clicks an element as a person does, also without scripts, and waits for the page that it loads.
func (p *tab) press(css string) {
	p.t.Helper()
	p.loads("a click on "+css, func() bool { p.do(chromedp.Click(chromedp.CSS(css))); return true })
}

// loads waits for the page that an act loads, if the act returns true.
func (p *tab) loads(what string, act func() bool) {
	p.t.Helper()
	before := p.eval("location.href + performance.timeOrigin")
	if act() {
		p.waits(fmt.Sprintf(`document.readyState === "complete" && location.href + performance.timeOrigin !== %q`, before),
			what+" loads a page")
	}
}

// touch clicks the link or button that reads as text, and returns the name of its element.
func (p *tab) touch(text string) string {
	p.t.Helper()
	got := p.eval(fmt.Sprintf(`(() => {
		const all = [...document.querySelectorAll("a, button, summary")].filter((e) => (e.innerText ?? "").trim() === %q &&
			e.offsetParent);
		if (all.length === 0) return "missing";
		all[0].click();
		return all[0].tagName;
	})()`, text))
	if got == "missing" {
		p.t.Fatalf("nothing reads %q at %s:\n%s", text, p.eval("location.href"), p.text())
	}
	return got
}

// fill sets a field of a form.
func (p *tab) fill(selector, value string) {
	p.t.Helper()
	p.eval(
		fmt.Sprintf(
			`(() => { const f = document.querySelector(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})) })()`,
			selector,
			value,
		),
	)
}

// signIn signs in by a link.
func (p *tab) signIn(link string) {
	p.t.Helper()
	p.do(chromedp.Navigate(link))
	p.waits(`location.pathname !== "/sign-in" && document.readyState === "complete"`, "the link signs in")
}

// dark shows pages as with a dark system.
func (p *tab) dark() { p.scheme("dark") }

// scheme shows pages as with a system that is light or dark.
func (p *tab) scheme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	p.must(err)
}

// shoot saves a picture of the page for the docs if PICTURES names a folder.
func (p *tab) shoot(name string) { p.save(os.Getenv("PICTURES"), name) }

// look saves a picture of the page to be looked at, if LOOK names a folder.
func (p *tab) look(name string) { p.save(os.Getenv("LOOK"), name) }

func (p *tab) save(dir, name string) {
	p.t.Helper()
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	p.must(err)
	p.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
