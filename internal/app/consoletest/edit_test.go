package consoletest

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
)

// editorText is the text in the editor.
const editorText = `document.querySelector("#content").value`

// openEditor opens a page with an editor and puts the cursor at the end of its text.
func (p *tab) openEditor(path string) {
	p.t.Helper()
	p.open(path)
	p.waits(`!!document.querySelector(".cm-content") && document.querySelector("#content").hidden`,
		"the editor covers the field")
	p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
	p.do(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// pressEnter presses the key alone: with its character, it would also break the line.
func (p *tab) pressEnter() {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "Enter",
			Code: "Enter", WindowsVirtualKeyCode: 13})
		p.must(err)
	}
}

// TestTheEditorCompletesNames writes a link by the names that the editor proposes, previews the text, finds it
// again after a reload, and saves it.
func TestTheEditorCompletesNames(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.openEditor("/edit/lendwater/Rent%20Quay")
	p.do(chromedp.KeyEvent("<p>A word by [[rent st"))
	p.waits(
		`[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some((x) => x.innerText.includes("Rent Stone"))`,
		"a name is proposed",
	)
	p.waits(`performance.now() - (window.proposed ??= performance.now()) > 100`, "the proposals may be chosen")
	p.look("editor-names")
	p.pressEnter()
	p.waits(editorText+`.endsWith("[[Rent Stone]]")`, "the name is put in")
	p.do(chromedp.KeyEvent(" today.</p>"))
	p.touch("Preview")
	p.waits(`[...document.querySelectorAll("#preview a")].at(-1)?.innerText === "Rent Stone"`, "the preview shows a link")
	p.look("editor")
	p.open("/edit/lendwater/Rent%20Quay")
	p.wants("There is unsaved text of yours.")
	p.touch("Restore it")
	p.waits(`document.querySelector(".cm-content").innerText.includes("today.")`, "the editor shows the unsaved text")
	p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
	p.do(chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.waits(`location.pathname === "/w/lendwater/Rent%20Quay"`, "the keys save the text")
	p.wants("A word by Rent Stone today.")
	p.open("/edit/lendwater/Rent%20Quay")
	if strings.Contains(p.text(), "unsaved text") {
		t.Error("saved text is offered as unsaved")
	}
}

// TestNamesAreThoseThatOneSees asks for names as a player, as a game master, and as one who looks as a player.
func TestNamesAreThoseThatOneSees(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Door", "content": "x", "level": "gm"}`)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "The Zinc Bell", "content": "x"}`)
	player, gm := s.visitor(), s.visitor()
	player.signIn(s.code(access.RoleUser))
	gm.signIn(s.code(access.RoleGM))
	for _, row := range []struct {
		who  *visitor
		ask  string
		want string
	}{
		{gm, "q=zinc", `"Zinc Door","The Zinc Bell"`}, {player, "q=zinc", `"The Zinc Bell"`},
		{gm, "q=zinc&as=user", `"The Zinc Bell"`}, {player, "q=zinc%20d", ``},
	} {
		_, body, _ := row.who.send("GET", "/names/lendwater?"+row.ask, nil)
		var names []string
		for _, part := range strings.Split(body, `"name":`)[1:] {
			name, _, _ := strings.Cut(part, ",")
			names = append(names, name)
		}
		if got := strings.Join(names, ","); got != row.want {
			t.Errorf("%s: %s, want %s", row.ask, got, row.want)
		}
	}
	_, body, _ := player.send("GET", "/names/lendwater", nil)
	if n := strings.Count(body, `"name":`); n != 12 || strings.Contains(body, "Zinc Door") {
		t.Errorf("%d names: %s", n, body)
	}
	if _, body, _ := s.visitor().send("GET", "/names/lendwater?q=a", nil); strings.Contains(body, `"names"`) {
		t.Errorf("a stranger gets names: %s", body)
	}
}

// dropPicture hands the editor a picture as a drop or a paste does.
const dropPicture = `(async () => {
	const canvas = new OffscreenCanvas(30, 20);
	canvas.getContext("2d").fillRect(0, 0, 9, 9);
	const data = new DataTransfer();
	data.items.add(new File([await canvas.convertToBlob()], "chart.png", { type: "image/png" }));
	const at = document.querySelector(".cm-content"), box = at.getBoundingClientRect();
	const how = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data, clientX: box.x + 9,
		clientY: box.y + 9 };
	at.dispatchEvent(EVENT);
})(); 0`

// TestPicturesAreDroppedIntoTheEditor pastes a picture twice and drops it once; each becomes a card with the level of
// the card that is written.
func TestPicturesAreDroppedIntoTheEditor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Vault", "content": "<p>Gold.</p>", "level": "gm"}`)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.openEditor("/edit/lendwater/Vault")
	for i, event := range []string{`new ClipboardEvent("paste", how)`, `new ClipboardEvent("paste", how)`,
		`new DragEvent("drop", how)`} {
		p.eval(strings.Replace(dropPicture, "EVENT", event, 1))
		name := "Vault+chart"
		if i > 0 {
			name += " " + strconv.Itoa(i+1)
		}
		p.waits(editorText+`.includes("{{`+name+`}}")`, "the picture "+name+" stands in the text")
	}
	p.look("editor-390")
	p.click("Save")
	p.waits(`[...document.querySelectorAll(".text img")].filter((x) => x.naturalWidth === 30).length === 3`,
		"the pictures are shown")
	player := s.visitor()
	player.signIn(s.code(access.RoleUser))
	if status, _, _ := player.send("GET", "/file/lendwater/Vault+chart", nil); status != 404 {
		t.Errorf("a player gets the picture of a hidden card: %d", status)
	}
	p.openEditor("/edit/lendwater/Vault")
	p.allow("/attach/lendwater")
	p.eval(`fetch = () => Promise.resolve(new Response('{"error": {"message": "no room"}}', { status: 413 })); 0`)
	p.eval(strings.Replace(dropPicture, "EVENT", `new ClipboardEvent("paste", how)`, 1))
	p.wants("no room")
}

// TestEditingWorksWithoutScripts previews and saves in the plain field.
func TestEditingWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	p.must(err)
	p.open("/edit/lendwater/Rent%20Stone")
	p.do(chromedp.SendKeys(chromedp.CSS("#content"), "\n<p>By hand, <script>no</script>near [[Rent Quay]].</p>"))
	p.press("button[name=preview]")
	p.wants("By hand, near Rent Quay.")
	p.press("button.primary")
	p.waits(`location.pathname === "/w/lendwater/Rent%20Stone"`, "the text is saved")
	p.wants("By hand, near Rent Quay.")
}

// TestSeveralCardsAreMadeInOneGo checks a list of lines, mends it, and makes its cards in one commit.
func TestSeveralCardsAreMadeInOneGo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.open("/new/lendwater")
	p.click("Several in one go")
	p.fill("#content", "Salt Market: Stalls *below* the [[Rent Quay]].\nRent Quay\nGilded Eel\n\ngilded eel: Again.")
	p.click("Check")
	p.wants("2 of 4 cards cannot be made")
	p.wants("an earlier line has this name too")
	p.look("several-390")
	p.checkAxeHere(loadAxe(t), "several, checked")
	p.fill("#content", "Salt Market: Stalls *below* the [[Rent Quay]].\nGilded Eel")
	p.eval(`document.querySelector("#level").value = "gm"`)
	p.click("Check")
	p.wants("2 cards would be made")
	for _, name := range []string{"Salt%20Market", "Gilded%20Eel"} {
		if status := p.eval(`fetch("/w/lendwater/` + name + `").then((r) => { window.got = r.status }); 0`); status != "0" {
			t.Fatal(status)
		}
		p.waits("window.got === 404", "a check makes nothing")
		p.eval("window.got = 0")
	}
	p.allow("404 for ")
	p.click("Create 2 cards")
	p.wants("Gilded Eel")
	p.open("/w/lendwater/Salt%20Market")
	p.wants("Stalls below the Rent Quay.")
	p.wants("GM only")
	changes := s.rest(access.RoleGM, "GET", "/api/mcp/changes?limit=2", "")["changes"].([]any)
	if a, b := changes[0].(map[string]any), changes[1].(map[string]any); a["id"] != b["id"] {
		t.Errorf("two commits: %v, %v", a["id"], b["id"])
	}
	v := s.visitor()
	v.signIn(s.code(access.RoleGM))
	many := strings.Repeat("a line\n", 101)
	if status, body, _ := v.send("POST", "/new/lendwater/several", url.Values{"content": {many}}); status != 400 ||
		!strings.Contains(body, "at most 100") {
		t.Errorf("101 lines: %d %.300s", status, body)
	}
}

// TestAnAdvisorySessionProposes edits a card with a key that may only propose, and is told so.
func TestAnAdvisorySessionProposes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	secret, _, err := s.app.CreateKey(t.Context(), identity.KeySpec{Name: "scribe", Subject: "scribe",
		MaxRole: access.RoleGM, Advisory: true}, []string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	v := s.visitor()
	v.signIn(secret)
	if _, body, _ := v.send("GET", "/edit/lendwater/Rent%20Stone", nil); !strings.Contains(body,
		"You suggest changes here") || !strings.Contains(body, ">Propose</button>") {
		t.Error("the form does not tell that the change is proposed")
	}
	_, body, _ := v.send("POST", "/edit/lendwater/Rent%20Stone", url.Values{"content": {"<p>One bell.</p>"}})
	if !strings.Contains(body, "Your change waits for a game master.") || !strings.Contains(body,
		`href="/proposals/lendwater/`) {
		t.Errorf("no proposal: %.3000s", body)
	}
	_, body, _ = v.send("POST", "/new/lendwater/several", url.Values{"content": {"A\nB"}, "do": {"check"}})
	if !strings.Contains(body, "2 cards would be made") {
		t.Errorf("a check is proposed: %.3000s", body)
	}
}

// TestANewCardBeginsWithTheTemplateOfItsType chooses types with and without a template, with scripts and without.
func TestANewCardBeginsWithTheTemplateOfItsType(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Quest+*type+*default", "content": "<p>Who asks?</p>"}`)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards",
		`{"name": "Item+*type+*default", "content": "<p>Who made it?</p>", "level": "gm"}`)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.openEditor("/new/lendwater")
	choose := func(typ string) {
		p.eval(`(() => { const f = document.querySelector("#type"); f.value = "` + typ +
			`"; f.dispatchEvent(new Event("change", { bubbles: true })) })()`)
	}
	choose("Quest")
	p.waits(editorText+` === "<p>Who asks?</p>" && document.querySelector(".cm-content").innerText.includes("Who asks?")`,
		"the template stands in the editor")
	choose("Item")
	p.waits(editorText+` === "<p>Who made it?</p>"`, "an unchanged template gives way")
	p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
	p.do(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.do(chromedp.KeyEvent(" Me."))
	choose("Quest")
	p.waits(`document.querySelector("#of-type").dataset.template === "<p>Who asks?</p>"`, "the type is chosen")
	if text := p.eval(editorText); text != "<p>Who made it?</p> Me." {
		t.Errorf("the text of the person became %s", text)
	}

	gm, player := s.visitor(), s.visitor()
	gm.signIn(s.code(access.RoleGM))
	player.signIn(s.code(access.RoleUser))
	const text = "&lt;p&gt;Who made it?&lt;/p&gt;</textarea>"
	if _, body, _ := gm.send("POST", "/new/lendwater", url.Values{"type": {"Item"}, "show": {"fields"}}); !strings.Contains(body,
		text) {
		t.Error("no template without scripts")
	}
	if _, body, _ := gm.send("POST", "/new/lendwater", url.Values{"type": {"Item"}, "show": {"fields"},
		"content": {"Mine."}}); !strings.Contains(body, "Mine.</textarea>") {
		t.Error("the template replaces a text")
	}
	if _, body, _ := player.send("GET", "/new/lendwater?type=Item", nil); strings.Contains(body, "Who made it") {
		t.Error("a player sees the template of game masters")
	}
}

// TestASelectionBecomesACard selects a text in the editor, and makes a card of it.
func TestASelectionBecomesACard(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Zinc Stair", "content": "Zinc Bell & <b>rope</b>\nhang here."}`)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleGM))
	p.openEditor("/edit/lendwater/Zinc%20Stair")
	p.eval(`window.open = (address) => { window.opened = address }; 0`)
	p.touch("New card from the selection")
	p.wants("Select a name or a text first.")
	p.do(chromedp.Focus(chromedp.CSS(".cm-content")))
	p.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.look("selection")
	p.checkAxeHere(loadAxe(t), "the editor")
	p.touch("New card from the selection")
	p.waits(editorText+` === "[[Zinc Bell & rope]]"`, "a link takes the place of the text")
	p.open(strings.TrimPrefix(p.eval("window.opened"), s.base))
	p.waits(editorText+` === "Zinc Bell & <b>rope</b>\nhang here."`, "the form has the text")
	p.click("Create")
	p.waits(`document.querySelector("h1").innerText === "Zinc Bell & rope" && document.querySelector(".text b") !== null`,
		"the card is made")
}

// TestAnOutdatedProposalIsMadeAgainOnItsPage proposes two changes of a card: the second is outdated once the first is
// approved, stands in its tab, and its author makes it again from its page.
func TestAnOutdatedProposalIsMadeAgainOnItsPage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	secret, _, err := s.app.CreateKey(t.Context(), identity.KeySpec{Name: "scribe", Subject: "scribe",
		MaxRole: access.RoleGM, Advisory: true}, []string{app.SampleWorld})
	if err != nil {
		t.Fatal(err)
	}
	scribe, gm := s.visitor(), s.visitor()
	scribe.signIn(secret)
	gm.signIn(s.code(access.RoleGM))
	propose := func(text string) (at string) {
		t.Helper()
		_, body, _ := scribe.send("POST", "/edit/lendwater/Rent%20Stone", url.Values{"content": {text}})
		_, rest, _ := strings.Cut(body, `href="/proposals/lendwater/`)
		id, _, _ := strings.Cut(rest, `"`)
		return "/proposals/lendwater/" + id
	}
	approve := func(at string) int {
		t.Helper()
		_, page, _ := gm.send("GET", at, nil)
		_, rest, _ := strings.Cut(page, `name="hash" value="`)
		hash, _, _ := strings.Cut(rest, `"`)
		status, _, _ := gm.send("POST", at+"/approve", url.Values{"hash": {hash}})
		return status
	}
	first, second := propose("<p>One bell.</p>"), propose("<p>Two bells.</p>")
	if a, b := approve(first), approve(second); a != 200 || b != 412 {
		t.Fatalf("the approvals answer %d and %d", a, b)
	}
	if _, list, _ := gm.send("GET", "/proposals/lendwater?status=outdated", nil); !strings.Contains(list,
		`aria-current="page">Outdated</a>`) || !strings.Contains(list, `href="`+second+`"`) {
		t.Errorf("the list of outdated proposals: %.3000s", list)
	}
	for name, v := range map[string]*visitor{"its author": scribe, "a game master": gm} {
		if _, page, _ := v.send("GET", second, nil); !strings.Contains(page, "Make it again") {
			t.Errorf("%s is not offered to make it again", name)
		}
		if _, page, _ := v.send("GET", first, nil); strings.Contains(page, "Make it again") {
			t.Errorf("%s is offered to make an accepted one again", name)
		}
	}
	status, page, res := scribe.send("POST", second+"/renew", nil)
	at := res.Request.URL.Path
	if status != 200 || at == second || !strings.Contains(page, "waiting") {
		t.Fatalf("%d %s: %.3000s", status, at, page)
	}
	if status := approve(at); status != 200 {
		t.Errorf("it is not approved: %d", status)
	}
	gm.wants("/w/lendwater/Rent%20Stone", "Two bells.")
}
