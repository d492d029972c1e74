package consoletest

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
)

// chooseRelationships shows one type of the relationships of an open graph, then all of them again.
func (p *tab) chooseRelationships(t *testing.T) {
	t.Helper()
	lines := func() string { return p.eval(`document.querySelectorAll(".drawing path").length`) }
	nodes := func() string { return p.eval(`document.querySelectorAll(".drawing .node").length`) }
	all, everybody := lines(), nodes()
	p.click("Choose relationships")
	kind := p.eval(`(() => { const box = document.querySelector("[name=type]"); box.click(); return box.value })()`)
	p.click("Show")
	p.look("graph-chosen")
	if got := p.eval(`new URLSearchParams(location.search).getAll("type").join()`); got != kind {
		t.Errorf("the address has the types %s, want %s", got, kind)
	}
	if got := p.eval(`[...document.querySelectorAll(".drawing path title")].every((x) => x.textContent.includes(` +
		strconv.Quote(kind) + `))`); got != "true" || lines() == all || lines() == "0" || nodes() == everybody {
		t.Errorf("%s of %s lines are shown, between %s of %s entities", lines(), all, nodes(), everybody)
	}
	p.checkAxeHere(loadAxe(t), "graph")
	p.click("3")
	if got := p.eval(`document.querySelector("[name=type]:checked").value`); got != kind {
		t.Errorf("after another number of steps %s is chosen, want %s", got, kind)
	}
	p.eval(`document.querySelector("[name=type]:checked").click()`)
	p.click("Show")
	p.click("2")
	if lines() != all {
		t.Errorf("%s lines are shown, want all %s again", lines(), all)
	}
}

// chooseSession shows an open graph as it stood at the end of a session, and goes back.
func (p *tab) chooseSession(t *testing.T) {
	t.Helper()
	p.eval(`document.querySelector("#session").value = "1"`)
	p.click("Show")
	p.waits(`new URLSearchParams(location.search).get("session") === "1"`, "the address has the session")
	if got := p.eval(`document.querySelector("#session").value`); got != "1" {
		t.Errorf("session %s is chosen", got)
	}
	p.look("graph-session")
	p.checkAxeHere(loadAxe(t), "graph as of a session")
	p.click("3")
	p.waits(`location.search.includes("session=1") && location.search.includes("steps=3")`, "other steps keep the session")
	p.eval(`history.go(-2)`)
	p.waits(`!new URLSearchParams(location.search).get("session")`, "Back shows the present")
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
	p.wants("Weather: ")
	p.wants("Mood: ")
	p.look("places-phone")
	p.eval(
		`document.querySelector("svg a[href*='at=']:last-of-type").dispatchEvent(new MouseEvent("click", {bubbles: true}))`,
	)
	p.waits(`location.search.includes("at=")`, "a place of the map opens")
	if wide := p.eval(`document.documentElement.scrollWidth <= innerWidth`); wide != "true" {
		t.Error("the map makes the page wider than the screen")
	}
}

// TestRealmsAreRegionsOfTheMap shows the realms of the places as labelled areas, and none that is hidden from a player.
func TestRealmsAreRegionsOfTheMap(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	script := loadAxe(t)
	const regions = `[...document.querySelectorAll("text.region")].map((e) => e.textContent).join()`
	for _, wide := range []int64{390, 1280} {
		p := newTab(t, s.base, wide)
		p.signIn(s.link(access.RoleUser))
		p.open("/places/lendwater")
		p.wants("Realms on this map")
		if got := p.eval(regions); !strings.Contains(got, "Low Ward") || !strings.Contains(got, "The Lent Coast") {
			t.Errorf("the map shows the regions %s", got)
		}
		if got := p.eval(`document.querySelectorAll(".regions path.political[d^=M][d$=Z]").length > 1`); got != "true" {
			t.Error("the regions of a map are not drawn")
		}
		p.look(fmt.Sprintf("regions-%d", wide))
		p.dark()
		p.checkAxeHere(script, "regions in the dark")
		p.look(fmt.Sprintf("regions-%d-dark", wide))
	}
	keeper := s.visitor()
	keeper.signIn(s.code(access.RoleAdmin))
	if status, body, _ := keeper.send("POST", "/level/lendwater/Low%20Ward", url.Values{"level": {"gm"}}); status != 200 {
		t.Fatalf("%d %.500s", status, body)
	}
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	_, seen, _ := player.send("GET", "/places/lendwater", nil)
	if strings.Contains(seen, "Low Ward") || !strings.Contains(seen, "The Lent Coast") {
		t.Error("the map of a player shows a hidden realm, or no other")
	}
}

// join makes a player by the pages and returns the address to play at.
func (v *visitor) join(name string) string {
	v.t.Helper()
	_, _, answer := v.send("POST", "/play/world/lendwater", url.Values{"name": {name}})
	return answer.Request.URL.Path
}

// TestTheMapIsLive shows a game master where players are while they walk, and a player only what players see.
func TestTheMapIsLive(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	at := player.join("Mira Lowtide")
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.open("/places/lendwater")
	p.wants("Mira Lowtide at Rent Quay")
	before := p.eval(`document.querySelector("svg .here .who").textContent`)
	player.send("POST", at, url.Values{"text": {"go north"}})
	p.wants("Mira Lowtide at Fishgate Market")
	if after := p.eval(`document.querySelector("svg .here .who").textContent`); after == before {
		t.Errorf("the map shows %s, as before", after)
	}
	p.look("places-live")
	p.checkAxeHere(loadAxe(t), "/places/lendwater")
	other := s.visitor()
	other.signIn(s.code(access.RoleUser))
	if status, _, _ := s.visitor().send("GET", "/live/lendwater/map", nil); status != 200 {
		t.Errorf("a stranger is not sent to sign in: %d", status)
	}
	p.allow("401")
	if got := p.eval(`fetch("/live/lendwater/map?as=admin").then((r) => { window.got = r.status }); 0`); got != "0" {
		t.Fatal(got)
	}
	p.waits("window.got === 400", "a role cannot be raised")
	p.allow("400 for ")
}

// TestAClickWalks walks by choosing a place on the map around a player, two steps away.
func TestAClickWalks(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleUser))
	p.open("/play/world/lendwater")
	p.fill("#name", "Ada Finch")
	p.click("Begin")
	p.waits(`!!document.querySelector("#around svg .here")`, "the map is shown")
	p.look("play-map-390")
	p.eval(
		`[...document.querySelectorAll("#around a[data-act]")].find((a) => a.dataset.act.startsWith("go north then go "))
		.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`,
	)
	p.waits(`document.querySelectorAll(".turn").length === 2`, "the walk is told")
	p.waits(`!["Rent Quay", "Fishgate Market"].includes(document.querySelector("#here h2").innerText)`,
		"two steps were gone")
	p.waits(`document.querySelector("#around .here text").textContent !== "Rent Quay"`, "the map follows")
	visited := `[...document.querySelectorAll("#around .place:not(.unvisited) title + rect + text")].map((x) => x.textContent)`
	for _, name := range []string{"Rent Quay", "Fishgate"} {
		p.waits(visited+`.some((x) => x.startsWith("`+name+`"))`, name+" is marked as visited")
	}
	if got := p.eval(visited + ".length"); got != "3" {
		t.Errorf("%s places are marked as visited, want 3", got)
	}
	if got := p.eval(`document.querySelectorAll("#around .unvisited").length > 0`); got != "true" {
		t.Error("no place is marked as not visited")
	}
	p.look("play-visited-390")
	p.fill("#text", "go north then go north")
	p.touch("Do it")
	p.waits(`document.querySelectorAll(".turn").length === 3`, "the second walk is told")
	p.waits(visited+`.length === 5 && `+visited+`.includes("Rent Quay")`, "the map keeps the first place, four steps away")
	p.checkAxeHere(loadAxe(t), "play")
}

// TestAPictureHasPins pins cards to a picture by clicks, and shows a player those that players see.
func TestAPictureHasPins(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2400, 1200))); err != nil {
		t.Fatal(err)
	}
	s.upload("Harbour%20map", "user", picture.Bytes())
	s.rest(access.RoleGM, "POST", "/api/mcp/cards",
		`{"name": "Sunken Vault", "type": "Location", "content": "x", "level": "gm"}`)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.open("/places/lendwater")
	p.click("Harbour map")
	p.click("Pin a card, or remove a pin")
	for i, name := range []string{"Rent Quay", "Sunken Vault"} {
		p.eval(`(() => { const box = document.querySelector("svg.chart").getBoundingClientRect();
			document.querySelector("svg.chart image").dispatchEvent(new MouseEvent("click", { bubbles: true,
				clientX: box.x + ` + []string{"300", "600"}[i] + `, clientY: box.y + 150 })) })()`)
		at := p.eval(`pin.elements.x.value + "," + (Math.abs(pin.elements.y.value - 300) <= 2)`) // its box begins between pixels
		if want := []string{"600,true", "1200,true"}[i]; at != want {
			t.Errorf("the click chose %s, want %s", at, want)
		}
		p.fill("#pin-card", name)
		p.click("Pin it")
		p.waits(`[...document.querySelectorAll(".pin title")].some((x) => x.textContent === "`+name+`")`, name+" is pinned")
		p.eval(`document.querySelector("details.pins").open = true`)
	}
	p.waits(`new Promise((done) => { const i = new Image(); i.onload = () => done(i.naturalWidth > 0);
		i.src = document.querySelector("svg.chart image").href.baseVal })`, "the picture loads")
	p.look("map")
	p.checkAxeHere(loadAxe(t), "map")
	p.fill("#pin-card", "Nobody")
	p.fill("#pin [name=x]", "1")
	p.fill("#pin [name=y]", "1")
	p.allow("400 for ")
	p.click("Pin it")
	p.wants("is no card that you see")
	player := newTab(t, s.base, 390)
	player.signIn(s.link(access.RoleUser))
	player.open("/map/lendwater/Harbour%20map")
	player.wants("1 pin")
	if text := player.eval("document.documentElement.outerHTML"); strings.Contains(text, "Sunken Vault") {
		t.Errorf("a player sees the pin of a hidden card:\n%s", text)
	}
	player.look("map-390")
	player.checkAxeHere(loadAxe(t), "map")
	player.eval(`document.querySelector(".pin").dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
	player.waits(`location.pathname === "/places/lendwater"`, "a pin leads to its place")
}
