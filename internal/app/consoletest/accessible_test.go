package consoletest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/programtest"
)

// axeVersion is the version of axe-core, which checks pages against WCAG 2.2 AA.
const axeVersion = "4.14.1"

// loadAxe returns the script of axe-core. It is fetched with npm, once on a machine.
func loadAxe(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "loregate-axe-"+axeVersion)
	path := filepath.Join(dir, "package", "axe.min.js")
	if script, err := os.ReadFile(path); err == nil {
		return string(script)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "npm pack --silent axe-core@"+axeVersion+" && tar xzf axe-core-*.tgz")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		programtest.Absent(t, fmt.Sprintf("axe-core cannot be fetched with npm: %v\n%s", err, out))
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// checkAxe opens a page and reports each rule that it breaks.
func (p *tab) checkAxe(script, page string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.base + page))
	p.waits(`document.readyState === "complete"`, "the page is loaded")
	p.checkAxeHere(script, page)
}

// checkAxeHere is checkAxe of the page that is open.
func (p *tab) checkAxeHere(script, page string) {
	p.t.Helper()
	p.eval(script + "; 0")
	result := p.eval(
		`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => { window.axeResult = JSON.stringify(r.violations.map((v) => ({id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html).slice(0, 3)}))) }); 0`,
	)
	_ = result
	p.waits("!!window.axeResult", "axe is done")
	var found []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(p.eval("window.axeResult")), &found); err != nil {
		p.t.Fatal(err)
	}
	for _, v := range found {
		p.t.Errorf("%s: %s: %s\n%s", page, v.ID, v.Help, strings.Join(v.Nodes, "\n"))
	}
	if wide := p.eval(`document.documentElement.scrollWidth <= innerWidth`); wide != "true" {
		p.t.Errorf("%s is wider than the screen", page)
	}
}

// TestPagesAreAccessible checks each page at the width of a phone in light or of a desk in dark; with PROOF=1 at both.
func TestPagesAreAccessible(t *testing.T) {
	script := loadAxe(t)
	s := newStage(t)
	for i, width := range []int64{390, 1920} {
		p := newTab(t, s.base, width)
		p.allow("404 for ")
		p.checkAxe(script, "/sign-in")
		p.signIn(s.linkTo(access.RoleAdmin, app.SampleWorld, sampleCampaign))
		if width > 1000 {
			p.dark()
		}
		for j, page := range []string{"/w/lendwater", "/tree/lendwater", "/w/lendwater?q=rent", "/w/lendwater/Rent%20Quay",
			"/w/lendwater/Rent%20Quay?as=user", "/hide/lendwater/Rent%20Quay", "/rename/lendwater/Rent%20Quay",
			"/edit/lendwater/Rent%20Quay", "/new/lendwater", "/new/lendwater/several", "/history/lendwater/Rent%20Quay",
			"/changes/lendwater", "/proposals/lendwater", "/account", "/members/lendwater", "/keys/lendwater", "/join",
			"/campaign/ashlar-pass", "/campaign/lendwater", "/timeline/ashlar-pass", "/sessions/ashlar-pass",
			"/conflicts/ashlar-pass", "/places/lendwater", "/studio/lendwater", "/agents/lendwater", "/usage/lendwater",
			"/home/lendwater", "/prompt/lendwater/ambience", "/games/lendwater", "/audit/lendwater",
			"/audit/lendwater?of=proposals", "/audit/lendwater?of=keys", "/play/world/lendwater", "/w/lendwater/Nobody",
		} {
			if programtest.Proof() || i == j%2 {
				p.checkAxe(script, page)
				p.look(strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-", "%20", "-").Replace(page), "-") + "-" +
					p.eval("innerWidth"))
			}
		}
	}
}
