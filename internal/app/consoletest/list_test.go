package consoletest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"loregate/internal/access"
)

// TestListsOfCards finds a card by its tag, writes a wanted one, deletes it, and takes it out of the trash.
func TestListsOfCards(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards",
		`{"name": "Eel Weir", "content": "<p>By [[Rent Quay]] and [[The Sunken Lane]].</p>", "fields": {"+tags": {"type": "Pointer",
		"content": "[[fishery]]"}}}`)
	script := loadAxe(t)
	p := newTab(t, s.base, 390)
	p.dark()
	p.allow("404 for " + s.base + "/w/lendwater/The%20Sunken%20Lane")
	p.signIn(s.link(access.RoleAdmin))
	p.open("/w/lendwater")
	p.fill("[name=tag]", "fishery")
	p.eval(`document.querySelector("main .filters").requestSubmit()`)
	p.waits(`document.querySelectorAll("#cards a[href]").length > 0 && location.search.includes("tag=fishery")`, "the tag is found")
	if names := p.eval(`[...document.querySelectorAll("#cards li > a")].map((a) => a.innerText).join()`); names != "Eel Weir" {
		t.Errorf("with the tag: %s", names)
	}
	p.look("cards-tag")
	p.checkAxeHere(script, "cards by tag")
	p.click("Eel Weir")
	if names := p.eval(`[...document.querySelectorAll("aside section")].find((x) => x.innerText.startsWith("Names\n")).innerText`); !strings.Contains(names, "Rent Quay") || strings.Contains(names, "Sunken Lane") {
		t.Errorf("names: %s", names)
	}
	p.open("/wanted/lendwater")
	p.wants("The Sunken Lane")
	p.look("wanted")
	p.checkAxeHere(script, "wanted")
	p.eval(`document.querySelector("[aria-label='Write it: The Sunken Lane']").click()`)
	p.waits(`location.pathname === "/new/lendwater" && document.querySelector("#name")?.value === "The Sunken Lane"`,
		"the form has the name")
	p.fill("#content", "<p>Under water at spring tide.</p>")
	p.click("Create")
	p.wants("Under water at spring tide.")
	p.open("/edit/lendwater/The%20Sunken%20Lane")
	p.click("Who sees it, its name, and deleting")
	p.fill("#confirm", "The Sunken Lane")
	p.click("Delete")
	p.open("/w/lendwater")
	p.click("Trash")
	p.wants("deleted by person-admin")
	p.look("trash")
	p.checkAxeHere(script, "trash")
	p.click("Restore")
	p.wants("More people read this from now on")
	p.click("Restore")
	p.wants("Under water at spring tide.")
	p.open("/trash/lendwater")
	p.wants("The trash is empty")

	gm, player := s.visitor(), s.visitor()
	gm.signIn(s.code(access.RoleGM))
	player.signIn(s.code(access.RoleUser))
	s.rest(access.RoleGM, "POST", "/api/mcp/cards",
		`{"name": "Den", "content": "<p>See [[The Zinc Stair]].</p>", "level": "gm"}`)
	for _, row := range []struct {
		who  *visitor
		path string
		want int
	}{{gm, "/trash/lendwater", 403}, {player, "/trash/lendwater", 403}, {player, "/wanted/lendwater", 200}} {
		status, body, _ := row.who.send("GET", row.path, nil)
		if status != row.want || strings.Contains(body, "Zinc Stair") {
			t.Errorf("%s: %d", row.path, status)
		}
	}
	if status, _, _ := gm.send("POST", "/trash/lendwater", url.Values{"id": {"x"}}); status != 403 {
		t.Errorf("a game master restores: %d", status)
	}
	if _, body, _ := gm.send("GET", "/wanted/lendwater", nil); !strings.Contains(body, "Zinc Stair") {
		t.Error("a game master does not see a wanted card")
	}
}

// TestCardsAreFilteredByTypeAndLevel chooses a type and a level on a phone, and asks for levels as a player.
func TestCardsAreFilteredByTypeAndLevel(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Door", "type": "Markdown", "content": "x", "level": "gm"}`)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Bell", "type": "Markdown", "content": "x"}`)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Stair", "content": "x", "level": "gm"}`)
	const names = `[...document.querySelectorAll("#cards li > a")].map((a) => a.innerText).sort().join()`
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.open("/w/lendwater")
	p.fill("[name=type]", "Markdown")
	p.click("Search")
	p.waits(names+` === "Zinc Bell,Zinc Door" && location.search.includes("type=Markdown")`, "the type filters")
	p.fill("[name=level]", "gm")
	p.click("Search")
	p.waits(names+` === "Zinc Door"`, "the level filters too")
	p.look("cards-level")
	p.checkAxeHere(loadAxe(t), "cards by level")
	p.fill(".filters [name=q]", "zinc stair")
	p.waits(`document.querySelector("#cards .empty") !== null`, "the filters hold while a person types")

	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	if _, body, _ := player.send("GET", "/w/lendwater", nil); strings.Contains(body, `name="level"`) {
		t.Error("a player may filter by levels")
	}
	if status, body, _ := player.send("GET", "/w/lendwater?level=gm", nil); status != 400 || strings.Contains(body, "Zinc") {
		t.Errorf("a player filters by levels: %d", status)
	}
}

// TestTheTreeOpensWithoutScripts opens the cards below a card, as a game master and as a player.
func TestTheTreeOpensWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, card := range []string{`"name": "Aal"`, `"name": "Aal+Den", "level": "gm"`, `"name": "Aal+Den+Lamp"`, `"name": "Aalto"`} {
		s.rest(access.RoleGM, "POST", "/api/mcp/cards", "{"+card+`, "content": "x"}`)
	}
	script := loadAxe(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.open("/w/lendwater")
	p.click("Tree")
	p.checkAxeHere(script, "tree")
	p.touch("1 below")
	p.look("tree")
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	p.must(err)
	p.open("/tree/lendwater")
	p.do(chromedp.Click(chromedp.CSS("li:has(> a[href$=\"/Aal\"]) > details > summary")))
	p.press("details[open] a[href$=\"/Aal+Den\"]")
	p.waits(`location.pathname === "/w/lendwater/Aal+Den"`, "a click on a name reads the card")

	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	_, body, _ := player.send("GET", "/tree/lendwater", nil)
	if !strings.Contains(body, ">Aalto</a>") || strings.Contains(body, ">Den<") || strings.Contains(body, "Lamp<") {
		t.Errorf("a player sees %s", body)
	}
}
