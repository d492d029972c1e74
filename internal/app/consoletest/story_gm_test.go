package consoletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
)

// vaultFiles are the notes of a small vault, by path.
var vaultFiles = map[string]string{
	"Kelp House.md":          "The house of weed. [[The Cellar]] and [[Old Feud]].\n",
	"GM Notes/The Cellar.md": "Under the house.\n",
	"Secrets/Old Feud.md":    "They hate each other.\n",
}

// newVault writes a small vault to a folder.
func newVault(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kelp")
	for name, text := range vaultFiles {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// drop drags files or folders of this machine over an element, and lets go of them.
func (p *tab) drop(selector string, paths ...string) {
	p.t.Helper()
	p.eval(`document.querySelector("` + selector + `").scrollIntoView({block: "center"})`)
	at, err := chromedp.Run(p.ctx, chromedp.Evaluate[struct{ X, Y float64 }](`document.querySelector("`+selector+
		`").getBoundingClientRect().toJSON()`))
	p.must(err)
	data := &input.DragData{Files: paths, Items: []*input.DragDataItem{}, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter,
		input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		_, err := chromedp.Call(p.ctx, input.DispatchDragEvent,
			input.DispatchDragEventParams{Type: kind, X: at.X + 20, Y: at.Y + 20, Data: data})
		p.must(err)
	}
}

// checkBoth checks the page that is open at the widths of a phone and of a desk, light and dark.
func (p *tab) checkBoth(script, name string) {
	p.t.Helper()
	for _, width := range []int64{390, 1280} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.scheme(map[bool]string{true: "dark", false: "light"}[width > 1000])
		p.checkAxeHere(script, name)
		p.look(name + "-" + p.eval("innerWidth"))
	}
}

// TestAGameMastersEvening follows a game master from a folder of notes to a secret that players learn.
func TestAGameMastersEvening(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	script := loadAxe(t)
	pages := identity.PagesURL(s.base)
	gm := newTab(t, pages, 1280)
	gm.signIn(strings.Replace(s.linkTo(access.RoleAdmin, sampleCampaign), s.base, pages, 1))

	gm.importVault(script)
	player := gm.letPlayerIn(script)
	gm.hideFrom(player)
	agent := s.letAgentIn(gm, script)
	gm.decideOn(agent, player, script)
	gm.reveal(player, script)

	gm.open("/account")
	gm.wants("Quill")
	gm.look("story-grants")
	gm.submit(`document.querySelector('[aria-label="End the access of Quill"]').form`, "")
	if _, err := agent.CallTool(t.Context(), readCard("Kelp House")); err == nil ||
		!strings.Contains(err.Error(), "has to ask again") {
		t.Errorf("after its access has ended, the client's call gives: %v", err)
	}
	gm.open("/home/ashlar-pass")
	gm.endMembership(player)
}

// importVault drops a folder on the page of imports, decides what is secret, and imports it.
func (p *tab) importVault(script string) {
	p.t.Helper()
	p.click("Files")
	p.checkBoth(script, "story-import")
	p.drop("form.drop", newVault(p.t))
	p.wants("What would change")
	p.wants("3 files")
	p.checkBoth(script, "story-check")
	p.eval(`for (const f of document.querySelectorAll("fieldset"))
		f.querySelector(f.innerText.includes("GM Notes") ? "[value=confirm]" : "[value=open]").click()`)
	p.click("Check again with these choices")
	p.waits(`document.querySelectorAll("fieldset").length === 0`, "nothing is left to decide")
	p.allow("404 for ")
	p.open("/w/ashlar-pass/Kelp%20House")
	p.wants("There is no card of this name") // a check makes no card
	p.eval("history.back()")
	p.wants("Import exactly this")
	p.click("Import exactly this")
	p.wants("Imported")
	p.checkBoth(script, "story-imported")
	p.click("To the cards")
	p.wants("Kelp House")
}

// letPlayerIn invites a player, who accepts on a phone beside, and reads what is not secret.
func (p *tab) letPlayerIn(script string) *tab {
	p.t.Helper()
	link := p.invite(sampleCampaign, "user", "2")
	p.look("story-invited")
	player := newTab(p.t, p.base, 390)
	player.do(chromedp.Navigate(link))
	player.wants("You are invited as player")
	if hash := player.eval("location.hash"); hash != "" {
		p.t.Errorf("the code stays in the address: %s", hash)
	}
	player.checkAxeHere(script, "join")
	player.look("story-join")
	player.fill("#name", "Ada Finch")
	player.click("Join")
	player.allow("404 for ")
	for name, shown := range map[string]string{"Old Feud": "They hate each other.",
		"The Cellar": "There is no card of this name", "Kelp House": "The house of weed."} {
		player.open("/w/ashlar-pass/" + name)
		player.wants(shown)
	}
	return player
}

// hideFrom hides a card that a player reads.
func (p *tab) hideFrom(player *tab) {
	p.t.Helper()
	p.open("/w/ashlar-pass/Old%20Feud")
	player.open("/w/ashlar-pass/Old%20Feud")
	player.wants("They hate each other.")
	p.click("Edit")
	p.click("Who sees it, its name, and deleting")
	p.eval(`document.querySelector("#level").value = "gm"`)
	p.look("story-hide")
	p.click("Set")
	p.wants("GM only")
	p.wants("What was seen cannot be unseen")
	player.do(chromedp.Reload())
	player.wants("There is no card of this name")
	player.open("/w/ashlar-pass/Kelp%20House")
	player.wants("The house of weed.")
	player.look("story-hidden")
	if links := player.eval(`document.querySelectorAll(".text a:not(.wanted)").length`); links != "0" {
		p.t.Errorf("a player is shown %s links to hidden cards", links)
	}
}

// readCard is a call that reads a card.
func readCard(name string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "get_card", Arguments: map[string]any{"name": name}}
}

// letAgentIn connects a program by its client library. The person at the tab lets it in as a game master who only
// proposes.
func (s *stage) letAgentIn(p *tab, script string) *mcp.ClientSession {
	s.t.Helper()
	p.allow("a request to another origin: " + s.base + "/authorize")
	p.allow("a request to another origin: http://127.0.0.1")
	p.allow("404 for http://127.0.0.1")
	back := newCallback(s.t)
	session, err := s.connect(back, registerQuill(back), func(address string) {
		p.do(chromedp.Navigate(address))
		p.wants("Let Quill in?")
		p.wants("this computer")
		p.checkBoth(script, "story-consent")
		if may := p.eval(`document.querySelector("#consent-may").selectedOptions[0].innerText`); may !=
			"Only propose: a person decides" {
			s.t.Errorf("a program may at first: %s", may)
		}
		p.eval(`document.querySelector("#consent-role").value = "gm"`)
		p.submit(`document.querySelector("form")`, `f.querySelector("[value=allow]").click(); return`)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

// propose has a program add to a card.
func propose(t *testing.T, agent *mcp.ClientSession, card, text string) {
	t.Helper()
	wrote, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "update_card", Arguments: map[string]any{
		"name": card, "patch": map[string]any{"mode": "append", "content": text}}})
	if err != nil || wrote.IsError {
		t.Fatalf("%+v %v", wrote, err)
	}
}

// decideOn approves one proposal from its difference, rejects one with a note, and undoes the change of the first.
func (p *tab) decideOn(agent *mcp.ClientSession, player *tab, script string) {
	p.t.Helper()
	read, err := agent.CallTool(p.t.Context(), readCard("The Cellar"))
	if err != nil || read.IsError {
		p.t.Fatalf("%v %v", read, err)
	}
	p.open("/home/ashlar-pass")
	p.click("Proposals")
	p.wants("Nothing waits for a decision.")
	p.waits(`performance.getEntriesByType("navigation")[0].loadEventEnd > 0`, "the page has loaded")
	propose(p.t, agent, "Kelp House", "Eels hang from the rafters.")
	p.wants("Kelp House")
	propose(p.t, agent, "Kelp House", "The house is haunted.")
	p.waits(`document.querySelectorAll(".rows a").length === 2`, "both wait")
	p.wants("quill-")
	p.look("story-queue")
	p.eval(`[...document.querySelectorAll(".rows a")].at(-1).click()`)
	p.wants("+Eels hang from the rafters.")
	p.wants("invariant")
	p.shoot("proposal")
	p.click("What players will see")
	p.wants("Eels hang from the rafters.")
	p.click("All of it")
	p.click("Judge it again as it was then")
	p.wants("the verdict is identical")
	p.checkBoth(script, "story-proposal")
	p.click("Approve exactly this")
	p.wants("accepted")
	if strings.Contains(p.text(), "0001") {
		p.t.Errorf("the time of the decision is missing:\n%s", p.text())
	}
	player.open("/w/ashlar-pass/Kelp%20House")
	player.wants("Eels hang from the rafters.")

	p.click("Proposals")
	p.eval(`document.querySelector(".rows a").click()`)
	p.wants("The house is haunted.")
	p.fill("#note", "No ghosts in this campaign.")
	p.click("Reject")
	p.wants("No ghosts in this campaign.")
	p.look("story-rejected")

	p.click("Changes")
	p.look("story-changes")
	p.click("Undo")
	player.do(chromedp.Reload())
	player.waits(`!document.body.innerText.includes("Eels") && document.body.innerText.includes("The house of weed.")`,
		"the change is undone for the player")
}

// reveal plays a session in which players learn a secret: exactly the list that the page shows before.
func (p *tab) reveal(player *tab, script string) {
	p.t.Helper()
	p.open("/sessions/ashlar-pass")
	p.touch("Plan the next session")
	p.fill("#date-new", "1 May 2026")
	p.fill("#prep_notes-new", "The lamp goes out twice.")
	p.look("story-session")
	p.click("Plan it")
	p.wants("1 May 2026")
	p.open("/campaign/ashlar-pass?q=Clara")
	p.click("Clara Weiss")
	p.wants("She died on 3 February 1929.")
	p.look("story-sheet")
	p.click("Graph")
	p.wants("Hedwig Vogt")
	p.look("graph")
	p.chooseRelationships(p.t)
	p.chooseSession(p.t)
	p.click("Sheet")
	player.open(strings.TrimPrefix(p.eval("location.pathname"), p.base))
	player.wants("Patient in room 9")
	check := func(when string, seen bool) {
		p.t.Helper()
		text := player.text()
		if strings.Contains(text, "3 February 1929") != seen || strings.Contains(text, "Hedwig Vogt") != seen {
			p.t.Errorf("%s a player reads:\n%s", when, text)
		}
		if strings.Contains(text, "Silas Moor") || strings.Contains(text, "Be kind") {
			p.t.Errorf("%s a player reads more than the list:\n%s", when, text)
		}
	}
	check("before", false)
	p.touch("Reveal to players, or hide again")
	p.eval(`document.querySelector("[name=secrets]").checked = true`)
	p.eval(`[...document.querySelectorAll("[name=relationship]")].find((x) =>
		x.parentElement.innerText.includes("Hedwig Vogt")).checked = true`)
	p.eval(`document.querySelector("#session").value =
		[...document.querySelectorAll("#session option")].find((o) => o.innerText.includes("1 May 2026")).value`)
	p.look("story-reveal")
	p.click("See what they will see")
	p.wants("This becomes visible, and nothing else:")
	p.wants("She died on 3 February 1929.")
	p.wants("Hedwig Vogt")
	if text := p.text(); strings.Contains(text, "Silas Moor") || strings.Contains(text, "Be kind") {
		p.t.Errorf("the list names what is not revealed:\n%s", text)
	}
	p.checkBoth(script, "story-list")
	p.click("Reveal")
	player.do(chromedp.Reload())
	player.wants("3 February 1929")
	player.look("story-learnt")
	check("after", true)
	p.touch("Reveal to players, or hide again")
	p.eval(`document.querySelector("[name=secrets]").checked = true`)
	p.click("Hide again")
	player.do(chromedp.Reload())
	player.wants("Patient in room 9")
	if text := player.text(); strings.Contains(text, "3 February 1929") {
		p.t.Errorf("it is not hidden again:\n%s", text)
	}
}

// endMembership makes a player a game master, signs the same person in elsewhere by a link, and takes the person
// out of the world.
func (p *tab) endMembership(player *tab) {
	p.t.Helper()
	p.click("Members")
	p.wants("ada-finch-")
	p.wants("1 of 2 used")
	p.look("members")
	if strings.Contains(player.text(), "Members") {
		p.t.Error("a player is shown the page of members")
	}
	const row = `[...document.querySelectorAll(".people li")].find((li) => li.innerText.startsWith("ada-"))`
	p.submit(row+`.querySelector(".choice")`, `f.elements.role.value = "gm"`)
	apptest.Eventually(p.t, "a new game master is shown the page of members", time.Minute, func() bool {
		player.do(chromedp.Reload())
		return strings.Contains(player.text(), "Members")
	})
	p.submit(row+`.querySelectorAll("form")[1]`, "")
	late := newTab(p.t, p.base, 390)
	late.signIn(p.eval(`document.querySelector("#secret-text").value`))
	late.wants("The Ninth Train")
	p.open("/members/ashlar-pass")
	p.submit(row+`.querySelectorAll("form")[2]`, "")
	for _, tab := range []*tab{player, late} {
		tab.allow("404 for ")
		apptest.Eventually(p.t, "the world is closed to a former member", time.Minute, func() bool {
			tab.do(chromedp.Navigate(p.base + "/w/ashlar-pass/Kelp%20House"))
			return strings.Contains(tab.text(), "There is no card of this name")
		})
	}
}
