package consoletest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"loregate/internal/access"
)

// TestTwoPeopleWriteTheSameCard has two browsers change one card: apart, which is merged, and in one place, where the
// later person chooses. Fields and the level are merged by name.
func TestTwoPeopleWriteTheSameCard(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.makeShip()
	s.rest(access.RoleGM, "PATCH", "/api/mcp/cards/Heron", `{"content": "<p>One.</p>\n<p>Two.</p>\n<p>Three.</p>"}`)
	script := loadAxe(t)
	p, other := newTab(t, s.base, 390), newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	other.signIn(s.link(access.RoleAdmin))
	other.dark()
	for _, tab := range []*tab{p, other} {
		tab.allow("/edit/lendwater/Heron")
		tab.open("/edit/lendwater/Heron")
	}

	other.fill("#content", "<p>One.</p>\n<p>Two, theirs.</p>\n<p>Three.</p>")
	other.put("captain", "Brack")
	other.put("draught", "3.5")
	other.click("Save")
	other.waits(`location.pathname === "/w/lendwater/Heron"`, "the first text is saved")
	other.open("/edit/lendwater/Heron")
	other.click("Who sees it, its name, and deleting")
	other.eval(`document.querySelector("details #level").value = "gm"`)
	other.click("Set")
	other.wants("GM only")

	p.fill("#content", "<p>One, mine.</p>\n<p>Two.</p>\n<p>Three.</p>")
	p.put("captain", "Oda")
	p.put("Crew", "14")
	p.click("Save")
	p.wants("person-admin has changed this card since you read it")
	p.wants("You both changed 2 places")
	p.wants("Who sees it is now: GM only")
	p.look("merge-390")
	p.checkAxeHere(script, "merge")
	p.click("Save")
	p.wants("Choose a side in each conflict")
	p.click("Take yours")
	p.wants("You both changed one place")
	p.click("Take theirs")
	p.wants("Both changes are merged below")
	if got := p.eval(editorText); got != "<p>One, mine.</p>\n<p>Two.</p>\n<p>Three.</p>" {
		t.Errorf("merged: %s", got)
	}
	p.click("Save")
	p.waits(`location.pathname === "/w/lendwater/Heron"`, "the merged text is saved")
	for field, want := range map[string]any{"captain": "Brack", "crew": 14.0, "draught": 3.5, "omen": "A gull"} {
		if got := s.field("Heron", field); got != want {
			t.Errorf("%s: %v, want %v", field, got, want)
		}
	}

	other.open("/edit/lendwater/Heron")
	p.open("/edit/lendwater/Heron")
	other.fill("#content", "<p>Zero.</p>\n<p>One, mine.</p>\n<p>Two.</p>\n<p>Three.</p>")
	other.click("Save")
	other.waits(`location.pathname === "/w/lendwater/Heron"`, "the first text is saved")
	p.fill("#content", "<p>One, mine.</p>\n<p>Two.</p>\n<p>Three, mine.</p>")
	p.click("Save")
	p.wants("Both changes are merged below")
	other.open("/edit/lendwater/Heron") // a third change, while the first two are merged
	other.fill("#content", "<p>Naught.</p>\n<p>One, mine.</p>\n<p>Two.</p>\n<p>Three, theirs.</p>")
	other.click("Save")
	other.waits(`location.pathname === "/w/lendwater/Heron"`, "the third text is saved")
	other.open("/w/lendwater/Heron")
	p.click("Save")
	p.wants("You both changed one place")
	p.click("Keep both, yours first")
	p.wants("Both changes are merged below")
	p.click("Save")
	p.waits(`location.pathname === "/w/lendwater/Heron"`, "the merged text is saved")
	if got := strings.Join(strings.Fields(p.eval(`document.querySelector(".text").innerText`)), " "); got !=
		"Naught. One, mine. Two. Three, mine. Three, theirs." {
		t.Errorf("merged: %s", got)
	}
}

// TestMergingWorksWithoutScripts chooses a side with scripts off, after a preview that kept the choice open.
func TestMergingWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	p.must(err)
	p.allow("/edit/lendwater/Rent%20Stone")
	p.open("/edit/lendwater/Rent%20Stone")
	s.rest(access.RoleAdmin, "PATCH", "/api/mcp/cards/Rent%20Stone", `{"content": "<p>Theirs.</p>"}`)
	p.do(chromedp.SetValue(chromedp.CSS("#content"), "<p>Mine.</p>"))
	p.press(".actions .primary")
	p.wants("has changed this card since you read it")
	p.dark()
	p.do(chromedp.Click(chromedp.CSS(".stale summary")))
	p.look("merge-1280")
	p.press(".actions button[name=preview]")
	p.wants("Preview")
	p.wants("Conflict 1 of 1")
	p.press(`button[value="0 theirs"]`)
	p.wants("Both changes are merged below")
	p.press(".actions .primary")
	p.waits(`location.pathname === "/w/lendwater/Rent%20Stone"`, "the text is saved")
	p.wants("Theirs.")
}
