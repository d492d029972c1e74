package consoletest

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
)

// TestAScenePlanIsReadBeforeItIsBuilt plans a scene from a sentence and reads the plan and the list of runs.
func TestAScenePlanIsReadBeforeItIsBuilt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.open("/studio/lendwater")
	p.wants("Nothing was built yet.")
	p.fill("#intent", "build The Dry Anchor with a frobnicator")
	p.click("Plan it")
	p.wants("The plan")
	p.look("studio-plan")
	if text := p.text(); !strings.Contains(text, "frobnicator") || !strings.Contains(text, "generate scene") {
		t.Errorf("the plan does not show its words:\n%s", text)
	}
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	if status, body, _ := player.send("POST", "/studio/lendwater",
		url.Values{"intent": {"build The Dry Anchor"}}); status != 403 {
		t.Errorf("a player plans: %d %.300s", status, body)
	}
}

// TestAnAgentIsSwitchedOff lists a program's key and ends it.
func TestAnAgentIsSwitchedOff(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	admin := s.visitor()
	admin.signIn(s.code(access.RoleAdmin))
	_, body, _ := admin.send("POST", "/keys/lendwater/create", url.Values{"name": {"scribe"}, "role": {"user"},
		"may": {"propose"}})
	_, rest, found := strings.Cut(body, "lg_")
	if !found {
		t.Fatalf("no key was made: %.600s", body)
	}
	secret := "lg_" + rest[:32]
	_, body, _ = admin.send("GET", "/agents/lendwater", nil)
	_, row, found := strings.Cut(body, "<b>scribe</b>")
	if !found || !strings.Contains(row[:300], "only proposes") {
		t.Fatalf("the page does not list the program:\n%.2000s", body)
	}
	_, rest, _ = strings.Cut(row, `name="id" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	admin.send("POST", "/keys/lendwater/end", url.Values{"id": {id}})
	if _, err := s.app.Identity.Authenticate(t.Context(), secret, ""); err == nil {
		t.Error("the key works after it was switched off")
	}
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	if _, body, _ := gm.send("GET", "/agents/lendwater", nil); strings.Contains(body, "Switch off") {
		t.Error("a game master sees the keys of programs")
	}
	gm.wants("/agents/lendwater", `href="/prompt/lendwater/ambience"`)
	gm.wants("/prompt/lendwater/ambience", "[context]")
	gm.wants("/usage/lendwater", "0 calls refused by a budget")
	admin.wants("/agents/lendwater", "what it changed")
	for _, page := range []string{"/agents/lendwater", "/usage/lendwater"} {
		player := s.visitor()
		player.signIn(s.code(access.RoleUser))
		if status, _, _ := player.send("GET", page, nil); status != 403 {
			t.Errorf("a player opens %s: %d", page, status)
		}
	}
}

// TestTheWorldsAgentsAreSwitched reads the trace of the planner's run, and switches the planner off and on.
func TestTheWorldsAgentsAreSwitched(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	run := func() (agent.Report, error) {
		return s.app.RunAgent(t.Context(), app.SampleWorld, "planner", agent.Order{Location: "Rent Quay", Quest: agent.QuestWish{Drafts: 2}})
	}
	report, err := run()
	if err != nil || len(report.Proposals) == 0 {
		t.Fatalf("%+v %v", report, err)
	}
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleAdmin))
	p.click("Agents")
	p.touchSummary("planner,")
	for _, text := range []string{"get location context", "propose quest", "0 of 50000 tokens this hour, 0 of 200000 today"} {
		p.wants(text)
	}
	p.checkBoth(loadAxe(t), "own-agents")
	p.submit(`document.querySelector('[aria-label="Switch off the agent planner"]').form`, "")
	if _, err := run(); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("a run of an agent that is switched off: %v", err)
	}
	p.submit(`document.querySelector('[aria-label="Switch on the agent planner"]').form`, "")
	if _, err := run(); err != nil {
		t.Error(err)
	}
	p.do(chromedp.Reload())
	p.waits(`document.querySelectorAll(".run").length === 2`, "both runs are listed")
	p.eval(`document.querySelectorAll(".run")[1].open = true`)
	p.click("The proposal")
	p.wants("quest")
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	if _, body, _ := gm.send("GET", "/agents/lendwater", nil); !strings.Contains(body, "get location context") ||
		strings.Contains(body, "Switch o") {
		t.Errorf("a game master sees\n%s", body)
	}
	if status, _, _ := gm.send("POST", "/agents/lendwater/switch", url.Values{"agent": {"npc"}}); status != 403 {
		t.Errorf("a game master switches an agent: %d", status)
	}
}

// touchSummary opens a part of the page whose summary begins with a text.
func (p *tab) touchSummary(text string) {
	p.t.Helper()
	p.eval(`[...document.querySelectorAll("summary")].find((x) => x.innerText.startsWith("` + text + `")).click()`)
}

// TestTheAuditShowsWhoChangedACard reads the changes of a world, of one card and by one person.
func TestTheAuditShowsWhoChangedACard(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	admin := s.visitor()
	admin.signIn(s.code(access.RoleAdmin))
	admin.send("POST", "/new/lendwater", url.Values{"name": {"Kelp House"}, "content": {"A house."}, "level": {"admin"}})
	for _, text := range []string{"Kelp House", "create card", "Admin only"} {
		admin.wants("/audit/lendwater", text)
	}
	admin.send("POST", "/delete/lendwater/Kelp%20House", url.Values{"confirm": {"Kelp House"}})
	admin.wants("/audit/lendwater?card=Kelp%20House", "delete card")
	admin.wants("/audit/lendwater?card=Kelp%20House", "in the trash")
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	for _, page := range []string{"/audit/lendwater", "/audit/lendwater?as=gm"} {
		if _, body, _ := gm.send("GET", page, nil); strings.Contains(body, "Kelp House") || !strings.Contains(body,
			"<table ") {
			t.Errorf("%s shows a game master: %.2000s", page, body)
		}
	}
	if status, body, _ := gm.send("GET", "/audit/lendwater?card=Kelp%20House", nil); status != 404 ||
		!strings.Contains(body, `value="Kelp House"`) {
		t.Errorf("a hidden card: %d %.2000s", status, body)
	}
	gm.wants("/audit/lendwater?by=nobody", "No change of a card matches")
	for _, do := range []struct {
		path string
		form url.Values
	}{{"/members/lendwater/invite", url.Values{"role": {"user"}, "uses": {"2"}, "days": {"1"}}},
		{"/keys/lendwater/create", url.Values{"name": {"scribe"}, "role": {"user"}, "may": {"propose"}}}} {
		if status, body, _ := admin.send("POST", do.path, do.form); status != 200 {
			t.Fatalf("%s: %d %.500s", do.path, status, body)
		}
	}
	keys := func() string {
		_, body, _ := admin.send("GET", "/audit/lendwater?of=keys", nil)
		return body
	}
	_, row, _ := strings.Cut(keys(), "create key")
	_, row, _ = strings.Cut(row, "about=")
	scribe, _, _ := strings.Cut(row, `"`)
	_, body, _ := admin.send("GET", "/agents/lendwater", nil)
	_, row, _ = strings.Cut(body, "<b>scribe</b>")
	_, row, _ = strings.Cut(row, `name="id" value="`)
	id, _, _ := strings.Cut(row, `"`)
	admin.send("POST", "/keys/lendwater/end", url.Values{"id": {id}})
	for _, text := range []string{"create invitation", "user, propose, for 2", "create key", "user, propose", "end key",
		"person-admin", scribe} {
		if body := keys(); !strings.Contains(body, text) {
			t.Errorf("the audit of access lacks %q:\n%s", text, body)
		}
	}
	if _, body, _ := admin.send("GET", "/audit/lendwater?of=keys&about="+scribe, nil); strings.Contains(body,
		"create invitation") || !strings.Contains(body, "end key") {
		t.Errorf("the filter shows\n%s", body)
	}
	if _, body, _ := admin.send("GET", "/audit/lendwater?of=keys&by=nobody", nil); !strings.Contains(body,
		"There is nothing yet") {
		t.Errorf("the filter by caller shows\n%s", body)
	}
	if status, _, _ := gm.send("GET", "/audit/lendwater?of=keys", nil); status != 403 {
		t.Errorf("a game master reads the keys: %d", status)
	}
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	for _, of := range []string{"", "&of=proposals", "&of=keys"} {
		for who, page := range map[*visitor]string{player: "/audit/lendwater?", gm: "/audit/lendwater?as=user"} {
			if status, _, _ := who.send("GET", page+of, nil); status != 403 {
				t.Errorf("a player opens %s: %d", page+of, status)
			}
		}
	}
}

// TestAGameIsOpenedForFriends opens a game of Alignment and gets the link to join it.
func TestAGameIsOpenedForFriends(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleUser))
	p.open("/games/lendwater")
	p.wants("You host no game in this world yet.")
	p.click("Open")
	p.wants("5 players")
	p.click("Link to join")
	p.look("games-link")
	link := p.eval(`document.getElementById("game-link").value`)
	if !strings.HasPrefix(link, "http") {
		t.Errorf("no link: %s", link)
	}
	script := loadAxe(t)
	p.allow("403 for ") // an invitation is not yet a seat
	for _, width := range []int64{390, 1280} {
		p.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(link))
		p.waits(`!document.getElementById("join").hidden || document.getElementById("phase").innerText === "Lobby"`,
			"the table is there")
		if width > 1000 {
			p.dark()
		}
		p.checkAxeHere(script, "table of Alignment")
		p.look("table-" + p.eval("innerWidth"))
		if width < 1000 {
			p.fill("#join-name", "Ada")
			p.touch("Take a seat")
			p.waits(`document.getElementById("phase").innerText === "Lobby"`, "a seat is taken")
		}
	}
}

// ownerLink returns a link that signs the operator in.
func (s *stage) ownerLink() string {
	s.t.Helper()
	code, err := s.app.SignInLink(s.t.Context(), s.base, identity.KeySpec{Name: "owner", Subject: "owner",
		Actor: access.Person, MaxRole: access.RoleAdmin, Operator: true}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return code
}

// restoreBackup serves the only backup of the stage from a folder of its own.
func (s *stage) restoreBackup() *stage {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.data, "backups", "*.db"))
	if err != nil || len(list) != 1 {
		s.t.Fatalf("backups: %v, %v", list, err)
	}
	to := s.t.TempDir()
	b, err := os.ReadFile(list[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(to, app.StoreFile), b, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return serveStage(s.t, to, "", apptest.Quiet())
}

// TestTheOperatorBacksUp looks at the page of health, which nobody else opens, makes a backup there, finds who changed a
// card, and restores the backup elsewhere, where the card is as it was.
func TestTheOperatorBacksUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1920)
	p.signIn(s.ownerLink())
	p.open("/health")
	p.wants("There is no backup yet.")
	p.wants("disk of the data")
	p.click("Verify the chains")
	p.waits(`(() => { if (document.body.innerText.includes("chains: sound")) return true; location.reload() })()`,
		"the chains are verified")
	script := loadAxe(t)
	p.checkAxe(script, "/audit/lendwater")
	p.wants("Verify the chains")
	p.checkAxe(script, "/health")
	p.click("Back up now")
	p.waits(`(() => { if (document.body.innerText.includes(".db")) return true; location.reload() })()`,
		"the backup is complete")
	p.look("health")
	s.rest(access.RoleGM, "PATCH", "/api/mcp/cards/Rent%20Quay", `{"content": "<p>Closed after the flood.</p>"}`)
	p.open("/audit/lendwater")
	p.fill("main [name=card]", "Rent Quay")
	p.eval(`document.querySelector("main .filters").requestSubmit()`)
	p.waits(`location.search.includes("card=Rent") && document.querySelectorAll("main tbody tr").length > 0`, "the card is found")
	if row := p.eval(`document.querySelector("main tbody tr").innerText`); !strings.Contains(row, "gm") {
		t.Errorf("the last change of the card is by %q", row)
	}
	p.look("audit-card")
	elsewhere := s.restoreBackup()
	q := newTab(t, elsewhere.base, 1280)
	q.signIn(elsewhere.ownerLink())
	q.open("/w/lendwater/Rent%20Quay")
	q.wants("front doorstep")
	if strings.Contains(q.text(), "after the flood") {
		t.Error("the backup has a change that was made after it")
	}
	phone := newTab(t, s.base, 390)
	phone.signIn(s.ownerLink())
	phone.checkAxe(script, "/health")
	phone.look("health-390")
	gm := s.visitor()
	gm.signIn(s.code(access.RoleAdmin))
	for path, method := range map[string]string{"/health": "GET", "/health/verify": "POST", "/health/backup": "POST"} {
		if status, _, _ := gm.send(method, path, nil); status != 403 {
			t.Errorf("an admin of a world opens %s: %d", path, status)
		}
	}
	if _, body, _ := gm.send("GET", "/audit/lendwater", nil); strings.Contains(body, "Verify the chains") {
		t.Error("an admin of a world is offered to verify the chains")
	}
}

// TestTheAuditShowsWhoWasLetIn accepts invitations, lets a client in and ends its access. The audit has who did each,
// about whom, and when, the latest first.
func TestTheAuditShowsWhoWasLetIn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	admin, guest := s.visitor(), s.visitor()
	admin.signIn(s.code(access.RoleAdmin))
	code := s.invitation()
	if status, body, _ := guest.send("POST", "/join", url.Values{"code": {code}, "name": {"Ada Finch"}}); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	_, account, _ := guest.send("GET", "/account", nil)
	_, subject, _ := strings.Cut(account, "<h1>")
	subject, _, _ = strings.Cut(subject, "</h1>")
	if !strings.HasPrefix(subject, "ada-finch-") {
		t.Fatalf("the guest is %q", subject)
	}
	for range 2 { // the second time nothing is accepted, and nothing recorded
		s.visitor().send("POST", "/join", url.Values{"code": {"lgi_" + strings.Repeat("a", 32)}, "name": {"Nobody"}})
	}
	g := s.newSigner(access.RoleGM)
	if _, tokens := g.tokens("code", g.allow().Get("code")); tokens["access_token"] == nil {
		t.Fatalf("%v", tokens)
	}
	_, account, _ = g.send("GET", "/account", nil)
	_, grant, _ := strings.Cut(account, `name="grant" value="`)
	grant, _, _ = strings.Cut(grant, `"`)
	g.send("POST", "/account/end-grant", url.Values{"grant": {grant}})
	_, body, _ := admin.send("GET", "/audit/lendwater?of=keys", nil)
	var got [][]string
	for _, row := range strings.Split(body, "<tr")[1:] {
		var cells []string
		for _, cell := range strings.Split(row, "<td")[1:] {
			_, text, _ := strings.Cut(cell, ">")
			text, _, _ = strings.Cut(text, "</td>")
			cells = append(cells, strings.TrimSpace(tag.ReplaceAllString(text, "")))
		}
		_, at, _ := strings.Cut(row, `datetime="`)
		if at, err := time.Parse(time.RFC3339, at[:min(len(at), 20)]); err == nil && time.Since(at) < time.Minute {
			got = append(got, cells)
		}
	}
	want := [][]string{{"person-gm", "end grant", "quill-", "Quill"}, {"person-gm", "let client in", "Quill", "user, propose"},
		{subject, "accept invitation", subject, "gm"}, {"person-admin", "create invitation", "", "gm, for 2"}}
	if len(got) != len(want) {
		t.Fatalf("the audit has %q:\n%s", got, body)
	}
	for i, row := range want {
		for n, text := range row {
			if !strings.Contains(got[i][n+1], text) {
				t.Errorf("row %d has %q, without %q", i, got[i], text)
			}
		}
	}
}

// tag is a tag of HTML.
var tag = regexp.MustCompile(`<[^>]*>`)
