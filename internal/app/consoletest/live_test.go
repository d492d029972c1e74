package consoletest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
	"loregate/internal/programtest"
	"loregate/internal/waittest"
)

// TestOthersComeAndGo shows two players on phones who else is near, without a reload, and not the player that only game
// masters see.
func TestOthersComeAndGo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	here := newTab(t, s.base, 390)
	here.signIn(s.link(access.RoleUser))
	here.open("/play/world/lendwater")
	here.fill("#name", "Ada Finch")
	here.click("Begin")
	here.fill("#text", "half a thought")
	other := s.visitor()
	other.signIn(s.code(access.RoleGM))
	at := other.join("Ben Sallow")
	here.waits(`document.querySelector("#here").innerText.includes("Ben Sallow")`, "the one who comes is shown")
	here.look("play-others")
	here.checkAxeHere(loadAxe(t), "play")
	chart := newTab(t, s.base, 390)
	chart.signIn(s.link(access.RoleUser))
	chart.open("/places/lendwater")
	chart.wants("Ben Sallow at Rent Quay")
	other.send("POST", at, url.Values{"text": {"go north"}})
	here.waits(`!document.querySelector("#here").innerText.includes("Ben Sallow")`, "the one who goes is gone")
	here.waits(`[...document.querySelectorAll("#around .who")].some((e) => e.textContent.includes("Ben Sallow"))`,
		"the map around shows where")
	chart.wants("Ben Sallow at Fishgate Market")
	keeper := s.visitor()
	keeper.signIn(s.code(access.RoleAdmin))
	if status, body, _ := keeper.send("POST", "/level/lendwater/Ben%20Sallow", url.Values{"level": {"gm"}}); status != 200 {
		t.Fatalf("%d %.500s", status, body)
	}
	for _, p := range []*tab{here, chart} {
		p.waits(`!document.documentElement.innerHTML.includes("Ben Sallow")`, "a hidden player is seen no more")
	}
	other.send("POST", at, url.Values{"text": {"go south"}})
	keeper.join("Cleo Marsh")
	here.waits(`document.querySelector("#here").innerText.includes("Cleo Marsh")`, "somebody else comes")
	if text := here.eval("document.documentElement.innerHTML"); strings.Contains(text, "Ben Sallow") {
		t.Error("a player is told of a hidden player")
	}
	if typed := here.eval(`document.querySelector("#text").value`); typed != "half a thought" {
		t.Errorf("what was typed is lost: %q", typed)
	}
}

// TestProposalsAreDecidedTogether approves two proposals as the page shows them in full, and asks for a third again.
func TestProposalsAreDecidedTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	advisory, _, err := s.app.CreateKey(t.Context(), identity.KeySpec{Name: "helper", Subject: "helper",
		MaxRole: access.RoleGM, Advisory: true}, []string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Rent%20Stone", "Rent%20Quay", "The%20Dry%20Anchor"} {
		if status, answer := apptest.Send(t, "PATCH", s.base+"/api/mcp/cards/"+name, advisory,
			`{"content": "<p>Painted black.</p>"}`); status != http.StatusAccepted && status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.open("/proposals/lendwater")
	p.click("Decide on several at once")
	p.wants("The Dry Anchor")
	p.checkAxeHere(loadAxe(t), "proposals in full")
	p.look("proposals-all")
	p.eval(`[...document.querySelectorAll("fieldset")].forEach((f) => {
		f.querySelector("[name=proposal]").checked = !f.querySelector("legend").innerText.includes("Anchor") })`)
	p.click("Approve the chosen")
	p.wants("The Dry Anchor")
	if text := p.text(); strings.Contains(text, "Rent Stone") || strings.Contains(text, "Rent Quay") {
		t.Errorf("approved proposals still wait:\n%s", text)
	}
	p.eval(`document.querySelector(".rows a").click()`)
	p.wants("Painted black.")
	p.fill("#note", "Say which black.")
	p.click("Ask again")
	p.wants("Please propose it again. Say which black.")
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	for path, text := range map[string]string{"/w/lendwater/Rent%20Stone": "Painted black.", "/w/lendwater/Rent%20Quay": "Painted black."} {
		player.wants(path, text)
	}
	if status, _, _ := player.send("POST", "/proposals/lendwater", url.Values{"do": {"other"}}); status != 404 {
		t.Errorf("a decision that there is not: %d", status)
	}
}

// TestTheOverviewTellsWhatGoesOn opens the first page of a person with one world.
func TestTheOverviewTellsWhatGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	for path, form := range map[string]url.Values{"/sessions/lendwater/new": {"date": {"1 May 2027"}},
		"/games/lendwater/create": {"ai_players": {"5"}},
		"/new/lendwater":          {"name": {"Kelp House"}, "content": {"A house."}, "level": {"gm"}}} {
		if status, body, _ := gm.send("POST", path, form); status != 200 {
			t.Fatalf("%s: %d %.500s", path, status, body)
		}
	}
	advisory, _, err := s.app.CreateKey(t.Context(), identity.KeySpec{Name: "helper", Subject: "helper",
		MaxRole: access.RoleGM, Advisory: true}, []string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Send(t, "PATCH", s.base+"/api/mcp/cards/Rent%20Stone", advisory, `{"content": "<p>One bell.</p>"}`)
	script := loadAxe(t)
	for _, width := range []int64{390, 1920} {
		p := newTab(t, s.base, width)
		if width > 1000 {
			p.dark()
		}
		p.signIn(s.link(access.RoleGM))
		for _, text := range []string{"Lendwater", "Rent Stone", "1 May 2027", "5 players", "Kelp House"} {
			p.wants(text)
		}
		p.checkAxeHere(script, "overview")
		p.look("overview-" + p.eval("innerWidth"))
		p.fill(".filters input[name=q]", "tariff board")
		p.waits(`[...document.querySelectorAll("#cards mark")].some((m) => /tariff/i.test(m.innerText))`,
			"hits are marked while typing")
	}
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	_, body, _ := player.send("GET", "/home/lendwater", nil)
	_, as, _ := gm.send("GET", "/home/lendwater?as=user", nil)
	for _, page := range []string{body, as} {
		if strings.Contains(page, "Kelp House") || strings.Contains(page, "GM only") {
			t.Errorf("the overview shows something hidden:\n%s", page)
		}
	}
}

// TestARunIsFollowed opens the page of a run while Blender works on it, and sees it end.
func TestARunIsFollowed(t *testing.T) {
	t.Parallel()
	programtest.Find(t, "blender")
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	built := make(chan string, 1)
	go func() {
		status, answer := apptest.Send(t, "POST", s.base+"/api/studio/tools/generate_scene", s.keys[access.RoleGM],
			`{"target": "blender", "card": "The Dry Anchor", "audience": "gm", "seed": 7}`)
		built <- fmt.Sprint(status, " ", string(answer))
	}()
	id := ""
	apptest.Eventually(t, "a run has begun", waittest.Patience, func() bool {
		_, body, _ := gm.send("GET", "/home/lendwater", nil)
		_, rest, found := strings.Cut(body, `href="/run/lendwater/`)
		id, _, _ = strings.Cut(rest, `"`)
		return found
	})
	list := newTab(t, s.base, 390)
	list.signIn(s.link(access.RoleGM))
	list.open("/studio/lendwater")
	list.waits(`!!document.querySelector("li progress")`, "the list of runs tells that one goes on")
	list.checkAxeHere(loadAxe(t), "a list with a run that goes on")
	list.look("runs-390")
	p.open("/run/lendwater/" + id)
	p.waits(`!!document.querySelector("#progress")`, "the page tells that the run goes on")
	p.checkAxeHere(loadAxe(t), "a run that goes on")
	p.waits(`!document.querySelector("#progress") && document.body.innerText.includes("The Dry Anchor")`, "the run ends")
	list.waits(`!document.querySelector("li progress") && !!document.querySelector("li .badge.ok")`,
		"the list of runs tells of the end")
	if answer := <-built; !strings.HasPrefix(answer, "2") {
		t.Errorf("%.500s", answer)
	}
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	if status, _, _ := player.send("GET", "/live/lendwater/run?run="+id, nil); status != 404 {
		t.Errorf("a player follows a run of game masters: %d", status)
	}
}

// TestStreamsOfPagesAreGuarded opens streams that are not the person's to follow.
func TestStreamsOfPagesAreGuarded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	for path, want := range map[string]int{"/live/lendwater/map?as=admin": 400, "/live/lendwater/other": 404,
		"/live/elsewhere/map": 404, "/live/lendwater/run?run=0190d0a0-0000-7000-8000-000000000000": 404} {
		if status, body, _ := player.send("GET", path, nil); status != want {
			t.Errorf("%s: %d, want %d: %.300s", path, status, want, body)
		}
	}
}
