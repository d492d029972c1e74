package consoletest

import (
	"net/url"
	"strings"
	"testing"

	"loregate/internal/access"
)

// TestAGameMasterRevealsASecret reads a sheet, its graph and timeline, reveals exactly what the list shows, and
// sees it as a player.
func TestAGameMasterRevealsASecret(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.linkTo(access.RoleGM, sampleCampaign))
	p.open("/campaign/ashlar-pass?q=Clara")
	p.click("Clara Weiss")
	p.wants("She died on 3 February 1929.")
	p.look("sheet")
	p.click("Graph")
	p.wants("Hedwig Vogt")
	p.look("graph")
	p.click("Sheet")
	p.click("As a player")
	p.wants("Patient in room 9")
	if text := p.text(); strings.Contains(text, "3 February 1929") || strings.Contains(text, "Hedwig Vogt") ||
		strings.Contains(text, "Be kind") {
		t.Errorf("a player sees what is hidden:\n%s", text)
	}
	p.click("See everything again")
	p.click("Reveal to players, or hide again")
	p.eval(`document.querySelector("[name=secrets]").checked = true`)
	p.eval(`[...document.querySelectorAll("[name=relationship]")].find((x) =>
		x.parentElement.innerText.includes("Hedwig Vogt")).checked = true`)
	p.click("See what they will see")
	p.wants("This becomes visible, and nothing else:")
	p.look("reveal")
	for _, gained := range []string{"She died on 3 February 1929.", "Hedwig Vogt"} {
		p.wants(gained)
	}
	if text := p.text(); strings.Contains(text, "Silas Moor") || strings.Contains(text, "Be kind") {
		t.Errorf("the list names what is not revealed:\n%s", text)
	}
	p.click("Reveal")
	p.click("As a player")
	p.wants("3 February 1929")
	if text := p.text(); strings.Contains(text, "Silas Moor") || strings.Contains(text, "Be kind") {
		t.Errorf("more was revealed than the list showed:\n%s", text)
	}
	p.open("/campaign/ashlar-pass?q=Clara")
	p.click("Clara Weiss")
	p.click("Reveal to players, or hide again")
	p.eval(`document.querySelector("[name=secrets]").checked = true`)
	p.click("Hide again")
	p.click("As a player")
	p.wants("Patient in room 9")
	if text := p.text(); strings.Contains(text, "3 February 1929") {
		t.Errorf("it is not hidden again:\n%s", text)
	}
}

// TestTheCampaignIsKept adds an event, plans a session, publishes its recap and decides a conflict.
func TestTheCampaignIsKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	_, code, _ := strings.Cut(s.linkTo(access.RoleGM, sampleCampaign), "#")
	gm.signIn(code)
	player := s.visitor()
	_, code, _ = strings.Cut(s.linkTo(access.RoleUser, sampleCampaign), "#")
	player.signIn(code)
	send := func(path string, want int, form url.Values) string {
		t.Helper()
		status, body, _ := gm.send("POST", path, form)
		if status != want {
			t.Fatalf("%s: %d, want %d\n%.2000s", path, status, want, body)
		}
		return body
	}
	if body := send("/timeline/ashlar-pass/add", 400, url.Values{"date": {"the day after"}, "precision": {"exact"},
		"description": {"The thaw."}}); !strings.Contains(body, "The thaw.") || !strings.Contains(body, "date") {
		t.Errorf("the form is not shown again with its fault:\n%.2000s", body)
	}
	send("/timeline/ashlar-pass/add", 200, url.Values{"date": {"1931-04-02"}, "precision": {"exact"},
		"description": {"The thaw begins under the bridge."}})
	gm.wants("/timeline/ashlar-pass?from=1931-04", "The thaw begins under the bridge.")
	if _, body, _ := player.send("GET", "/timeline/ashlar-pass?from=1931-04", nil); strings.Contains(body, "The thaw") {
		t.Error("a player sees an event that is not known")
	}
	send("/sessions/ashlar-pass/new", 200, url.Values{"date": {"1 May 2026"}, "prep_notes": {"The lamp goes out twice."}})
	gm.wants("/sessions/ashlar-pass", "The lamp goes out twice.")
	if _, body, _ := player.send("GET", "/sessions/ashlar-pass", nil); strings.Contains(body, "goes out twice") ||
		strings.Contains(body, "Plan the next session") {
		t.Error("a player sees the preparation")
	}
	_, body, _ := gm.send("GET", "/conflicts/ashlar-pass", nil)
	_, rest, _ := strings.Cut(body, `action="/conflicts/ashlar-pass/`)
	id, _, _ := strings.Cut(rest, `"`)
	send("/conflicts/ashlar-pass/"+id, 200, url.Values{"resolution": {"keep"}})
	if _, body, _ := gm.send("GET", "/conflicts/ashlar-pass", nil); strings.Contains(body, id) {
		t.Error("the decided conflict is still listed")
	}
	if status, _, _ := player.send("GET", "/conflicts/ashlar-pass", nil); status != 403 {
		t.Errorf("a player opens the conflicts: %d", status)
	}
}

// TestTheMapIsWalked opens the map, goes on to another place, and shows no hidden place to a player.
func TestTheMapIsWalked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleUser))
	p.open("/places/lendwater")
	p.wants("Rent Quay")
	p.look("places-phone")
	p.eval(`document.querySelector("svg a[href*='at=']:last-of-type").dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	p.waits(`location.search.includes("at=")`, "a place of the map opens")
	if wide := p.eval(`document.documentElement.scrollWidth <= innerWidth`); wide != "true" {
		t.Error("the map makes the page wider than the screen")
	}
}
