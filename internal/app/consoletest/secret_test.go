package consoletest

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
)

// innText is a text with hidden parts within lines, between lines, in a list and in one another.
const innText = "An inn by the quay. %%The *cook* spies for the duke.%% It is warm, and cheap.\n\n" +
	"> [!secret] The cellar\n> A door leads to the salt pans, %%and the key hangs in the clock%%.\n\n" +
	"Rooms:\n\n- the blue one\n- %%the red one, with a hole in the floor%%\n- the green one\n\n" +
	"The landlord is **Oda Tarn**, who never sleeps.\n"

const inn = "/w/lendwater/The%20Salt%20Inn"

// writeMarkdown makes a card with a Markdown text.
func (s *stage) writeMarkdown(name, level, text string) (id string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"name": name, "text_format": "markdown", "format": "markdown",
		"content": text, "level": level})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.rest(access.RoleGM, "POST", "/api/mcp/cards", string(body))["id"].(string)
}

// twoPeople returns a signed-in player and a signed-in admin.
func (s *stage) twoPeople() (player, admin *visitor) {
	player, admin = s.visitor(), s.visitor()
	player.signIn(s.code(access.RoleUser))
	admin.signIn(s.code(access.RoleAdmin))
	return player, admin
}

// page returns the main part of a page.
func (v *visitor) page(path string) string {
	v.t.Helper()
	_, body, _ := v.send("GET", path, nil)
	return mainPart(body)
}

func mainPart(body string) string {
	_, body, _ = strings.Cut(body, `<main id="main">`)
	return body
}

// post sends a form and returns the main part of the page that answers.
func (v *visitor) post(path string, form url.Values) string {
	v.t.Helper()
	status, body, _ := v.send("POST", path, form)
	if status >= 300 {
		v.t.Fatalf("POST %s: %d\n%s", path, status, mainPart(body))
	}
	return mainPart(body)
}

// sureForm sends the form of a page that asks before it opens something, with more fields.
func (v *visitor) sureForm(path, page string, more url.Values) string {
	v.t.Helper()
	form := url.Values{}
	fields := regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	for _, m := range fields.FindAllStringSubmatch(page, -1) {
		form.Add(m[1], m[2])
	}
	if !form.Has("sure") {
		v.t.Fatalf("%s does not ask:\n%s", path, page)
	}
	for name, values := range more {
		form[name] = values
	}
	return v.post(path, form)
}

func (s *stage) wantText(page string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(page, p) {
			s.t.Errorf("the page lacks %q:\n%s", p, page)
		}
	}
}

func (s *stage) wantNone(page string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if strings.Contains(page, p) {
			s.t.Errorf("the page has %q:\n%s", p, page)
		}
	}
}

// partOf returns the id of the hidden part of the inn that has a text.
func (v *visitor) partOf(text string) string {
	v.t.Helper()
	page := v.page("/part/lendwater/The%20Salt%20Inn")
	before, _, found := strings.Cut(page, text)
	all := regexp.MustCompile(`id="text-([0-9a-f]{10})"`).FindAllStringSubmatch(before, -1)
	if !found || len(all) == 0 {
		v.t.Fatalf("no part has %q:\n%s", text, page)
	}
	return all[len(all)-1][1]
}

// TestGameMastersSeeHiddenPartsInPlace reads a card as a game master, as a player, and as a game master who looks
// as a player does.
func TestGameMastersSeeHiddenPartsInPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writeMarkdown("The Salt Inn", "user", innText)
	s.writeMarkdown("The Quay Street", "user", "{{The Salt Inn}}\n")
	player, admin := s.twoPeople()
	page := admin.page(inn)
	s.wantText(page, "Hidden: game masters only", "The <em>cook</em> spies", "the red one", "in the clock",
		"Hide a passage")
	if n := strings.Count(page, `class="hidden-part"`); n != 4 {
		t.Errorf("%d hidden parts are shown:\n%s", n, page)
	}
	s.wantNone(page, "data-", "%%", "[!secret]")
	s.wantText(admin.page("/w/lendwater/The%20Quay%20Street"), `class="hidden-part"`, "Reveal…")
	street := player.page("/w/lendwater/The%20Quay%20Street")
	for _, page := range []string{player.page(inn), admin.page(inn + "?as=user"), street} {
		s.wantText(page, "It is warm")
		s.wantNone(page, "hidden", "cook", "cellar", "clock", "red one", "%%", "Reveal", "Hide a passage", "GM")
	}
	for _, path := range []string{"/hide", "/part", "/rename"} {
		if status, body, _ := player.send("POST", path+"/lendwater/The%20Salt%20Inn", url.Values{"text": {"It is warm"},
			"part": {"0123456789"}, "new_name": {"X"}}); status < 400 {
			t.Errorf("a player may %s: %d %s", path, status, body)
		}
	}
	_, hover, _ := admin.send("GET", "/hovercard/lendwater/The%20Salt%20Inn", nil)
	s.wantText(hover, "An inn by the quay. It is warm")
}

// TestRevealingAsksFirst reveals a part to one player, hides it again, and reveals it and another to all.
func TestRevealingAsksFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writeMarkdown("The Salt Inn", "user", innText)
	player, admin := s.twoPeople()
	cook, cellar := admin.partOf("cook"), admin.partOf("A door leads")
	const at = "/part/lendwater/The%20Salt%20Inn"
	form := admin.page(at + "?part=" + cook)
	s.wantText(form, `value="`+cook+`" checked`, `value="`+cellar+`" aria`, "See what they will read", "Some people only")
	for _, wrong := range []url.Values{{}, {"part": {cook}, "to": {"some"}}} {
		if status, body, _ := admin.send("POST", at, wrong); status != 422 || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%v: %d", wrong, status)
		}
	}
	some := url.Values{"part": {cook}, "to": {"some"}, "names": {"person-user, ben"}}
	asked := admin.post(at, some)
	s.wantText(asked, "<b>ben, person-user</b>", "The <em>cook</em> spies", "Everything else stays as it is.")
	s.wantNone(asked, "cellar", "stay hidden")
	s.wantNone(player.page(inn), "cook")
	s.wantText(admin.sureForm(at, asked, nil), "Revealed.", "Told to ben, person-user", "Hide again…")
	s.wantText(player.page(inn), "cook")
	s.wantNone(player.page(inn), "hidden", "Told to")

	again := "/hide/lendwater/The%20Salt%20Inn"
	s.wantText(admin.page(again+"?part="+cook), "told to ben, person-user", "Hide it again")
	s.wantText(admin.post(again, url.Values{"part": {cook}}), "<li>person-user, ", "last today", "cannot be unseen")
	s.wantNone(player.page(inn), "cook")

	asked = admin.post(at, url.Values{"part": {cook, cellar}, "to": {"all"}})
	s.wantText(asked, "everybody who sees the card", "cellar", "GM only", "stay hidden")
	s.rest(access.RoleGM, "PATCH", "/api/mcp/cards/The%20Salt%20Inn", `{"format": "markdown", "patch": `+
		`{"mode": "find_replace", `+
		`"find": "spies for the duke", "replace": "spies for the king"}}`)
	asked = admin.sureForm(at, asked, nil)
	s.wantText(asked, "has changed meanwhile", "spies for the king")
	s.wantText(admin.sureForm(at, asked, nil), "Revealed, except for these parts", "in the clock")
	page := player.page(inn)
	s.wantText(page, "cook", "A door leads to the salt pans")
	s.wantNone(page, "clock", "red one")
	s.wantText(admin.page(inn), "in the clock", `class="hidden-part"`)
}

// TestAPassageIsHiddenByItsWords hides passages that are copied from the page, and tells who had read them.
func TestAPassageIsHiddenByItsWords(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writeMarkdown("The Salt Inn", "user", innText)
	player, admin := s.twoPeople()
	player.page(inn)
	const at = "/hide/lendwater/The%20Salt%20Inn"
	s.wantText(admin.page(at+"?text=It+is"), "It is</textarea>", "The text of the card", "keep_history")
	page := admin.post(at, url.Values{"text": {"The landlord is Oda Tarn, who never sleeps."}})
	s.wantText(page, "The landlord is **Oda Tarn**", "earlier versions of the card are hidden", "person-user, ",
		"cannot be unseen")
	s.wantNone(player.page(inn), "Oda Tarn", "<strong>")
	s.wantText(admin.page(inn), "<strong>Oda Tarn</strong>")
	status, body, _ := admin.send("POST", at, url.Values{"text": {"words that are not there"}})
	if status != 400 {
		t.Errorf("a passage that is not there: %d", status)
	}
	s.wantText(body, "has no passage", `<details open`, "words that are not there</textarea>")
	s.writeMarkdown("The Quay", "user", "Stone. It is warm.\n")
	s.wantText(admin.post("/hide/lendwater/The%20Quay", url.Values{"text": {"It is warm."}, "keep_history": {"on"}}),
		"earlier versions of the card still show it")
	s.wantNone(player.page("/w/lendwater/The%20Quay"), "warm")
	s.wantText(player.page("/history/lendwater/The%20Quay?from=1&to=2"), "warm")
}

// TestAPreviewTellsWhoReadsWhat previews texts with marks, and saves them.
func TestAPreviewTellsWhoReadsWhat(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writeMarkdown("The Salt Inn", "user", "An inn.\n")
	player, admin := s.twoPeople()
	const at = "/edit/lendwater/The%20Salt%20Inn"
	form := func(text, submit string) url.Values {
		return url.Values{"content": {text}, submit: {"on"}, "once": {strings.TrimSpace(submit + text)}}
	}
	page := admin.post(at, form("A good inn. %%The cook spies.%%\n", "preview"))
	_, shown, _ := strings.Cut(page, "Players will read this")
	open, kept, _ := strings.Cut(shown, "Players will not read this")
	s.wantText(open, "A good inn.")
	s.wantNone(open, "cook")
	s.wantText(kept, "The cook spies.", "Hidden: game masters only")
	s.wantNone(player.page(inn), "good")
	page = admin.post(at, form("A good inn. %%The cook spies.%%\n", "save"))
	s.wantText(page, "Saved. Players do not read these parts:", "The cook spies.")
	page = admin.post("/new/lendwater", url.Values{"name": {"Cellar"}, "level": {"gm"}, "content": {"<p>Salt.</p>"},
		"preview": {"on"}})
	s.wantText(page, "They do not see the card at all", "GM only")
	page = admin.post("/new/lendwater", url.Values{"content": {"<p>Salt.</p>"}, "preview": {"on"}})
	s.wantText(page, "Who reads which part is not checked yet", "Salt.")

	page = player.post(at, form("A good inn. %%My secret.%%\n", "preview"))
	s.wantText(page, "These marks hide nothing", "<code>%%My secret.%%</code>")
	s.wantNone(page, "Players will", "cook")
	page = player.post(at, form("A good inn. %%My secret.%%\n", "save"))
	s.wantText(page, "Saved, but not hidden", "<code>%%My secret.%%</code>", "Go on to the card")
	s.wantText(admin.page(inn), "cook")
}

// TestOpeningACardAsksFirst lowers the level of a card, takes one out of the trash and undoes a change: each first
// lists the texts that open. A card that is renamed out of a hidden name stays hidden.
func TestOpeningACardAsksFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.writeMarkdown("The Salt Inn", "user", innText)
	s.writeMarkdown("The Salt Inn+Map", "user", "A map of the inn.\n")
	s.writeMarkdown("The Salt Inn+GM+Plan", "user", "A plan of the inn.\n")
	player, admin := s.twoPeople()
	player.page(inn)
	cook := admin.partOf("cook")
	const level = "/level/lendwater/The%20Salt%20Inn"
	s.wantText(admin.post(level, url.Values{"level": {"gm"}}), "Who had read it", "person-user, ")
	asked := admin.post(level, url.Values{"level": {"user"}})
	s.wantText(asked, "The Salt Inn</a></b>, its text and fields, by everybody", "The Salt Inn+Map", "A map of the inn.",
		"Stays hidden in it", "the red one", "The *cook* spies")
	s.wantNone(asked, "A plan of the inn", "checked")
	id := regexp.MustCompile(`value="([0-9a-f-]{36}/` + cook + `)"`).FindStringSubmatch(asked)
	if id == nil {
		t.Fatalf("the part in the list cannot be chosen:\n%s", asked)
	}
	if status, _, _ := player.send("GET", inn, nil); status != 404 {
		t.Errorf("the card is open before the answer: %d", status)
	}
	admin.sureForm(level, asked, url.Values{"also": {id[1]}})
	page := player.page(inn)
	s.wantText(page, "An inn by the quay", "cook")
	s.wantNone(page, "the red one", "cellar")

	admin.post("/delete/lendwater/The%20Salt%20Inn+Map", url.Values{"confirm": {"The Salt Inn+Map"}})
	trashed := regexp.MustCompile(`name="id" value="([0-9a-f-]{36})"`).FindStringSubmatch(admin.page("/trash/lendwater"))
	if trashed == nil {
		t.Fatal("the trash is empty")
	}
	asked = admin.post("/trash/lendwater", url.Values{"id": {trashed[1]}})
	s.wantText(asked, "A map of the inn.", "by everybody")
	s.wantText(admin.sureForm("/trash/lendwater", asked, nil), "A map of the inn.")

	admin.post("/level/lendwater/The%20Salt%20Inn+Map", url.Values{"level": {"gm"}})
	change := regexp.MustCompile(`/changes/lendwater/[0-9a-f-]{36}/undo`).FindString(admin.page("/changes/lendwater"))
	asked = admin.post(change, nil)
	s.wantText(asked, "The Salt Inn+Map", "by everybody")
	admin.sureForm(change, asked, nil)
	s.wantText(player.page("/w/lendwater/The%20Salt%20Inn+Map"), "A map of the inn.")

	const rename = "/rename/lendwater/The%20Salt%20Inn+GM+Plan"
	s.wantText(admin.post(rename, url.Values{"new_name": {"Plan of the Inn"}}), "Plan of the Inn", "GM only")
}

// TestATakenNameIsExplained makes and renames cards by names that others have.
func TestATakenNameIsExplained(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := s.writeMarkdown("The Salt Inn", "user", "An inn.\n")
	s.writeMarkdown("The Pepper Inn", "user", "Another inn.\n")
	_, admin := s.twoPeople()
	for path, form := range map[string]url.Values{
		"/new/lendwater":                       {"name": {"The Salt Inn"}, "content": {"<p>x</p>"}},
		"/rename/lendwater/The%20Pepper%20Inn": {"new_name": {"the salt inn"}},
	} {
		status, body, _ := admin.send("POST", path, form)
		if status != 409 {
			t.Errorf("%s: %d", path, status)
		}
		s.wantText(mainPart(body), "is taken", "Cards of this name", `href="/w/lendwater/~`+id+`"`, "made by sample-gm",
			`href="/rename/lendwater/~`+id+`"`, "to keep both")
	}
	s.wantText(admin.post("/new/lendwater", url.Values{"name": {"The Salt Inn"}, "level": {"gm"},
		"content": {"<p>x</p>"}}), "The Salt Inn")
	s.wantText(admin.post("/rename/lendwater/~"+id, url.Values{"new_name": {"The Sugar Inn"}}), "The Sugar Inn")
	s.wantText(admin.page("/w/lendwater/The%20Sugar%20Inn"), "An inn.")
}

// TestSecretsInABrowser goes through the pages of secrets on a phone and at a desk.
func TestSecretsInABrowser(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	script := loadAxe(t)
	s.writeMarkdown("The Salt Inn", "user", innText)
	s.writeMarkdown("The Pepper Inn", "user", innText)
	player, admin := s.twoPeople()
	player.page(inn)
	admin.page("/")
	for path, width := range map[string]int64{"The%20Salt%20Inn": 390, "The%20Pepper%20Inn": 1280} {
		p := newTab(t, s.base, width)
		if width > 1000 {
			p.dark()
		}
		p.allow("409 for ")
		p.signIn(s.link(access.RoleAdmin))
		look := func(name string) {
			t.Helper()
			p.checkAxeHere(script, name)
			p.look("secret-" + name + "-" + p.eval("innerWidth"))
		}
		p.open("/w/lendwater/" + path)
		p.wants("Hidden: game masters only")
		look("card")
		p.click("Reveal…")
		p.eval(`document.querySelector("[name=to][value=some]").click()`)
		p.fill("#names", "person-user")
		look("reveal")
		p.click("See what they will read")
		look("confirm")
		p.click("Reveal")
		p.wants("Told to person-user")
		look("told")
		p.click("Hide again…")
		look("again")
		p.click("Hide it again")
		look("hidden")
		p.click("Back to the card")
		p.eval(`getSelection().selectAllChildren([...document.querySelectorAll(".text p")].at(-1))`)
		p.touch("Hide a passage…")
		p.waits(`document.querySelector("#passage").value === "The landlord is Oda Tarn, who never sleeps."`,
			"the selection is the passage")
		look("passage")
		p.click("Hide it")
		p.wants("Who had read it")
		look("hid")
		p.open("/edit/lendwater/" + path)
		p.fill("#content", "A good inn. %%The cook spies.%%\n\n%%\nThe whole\n\nstory.\n%%\n")
		p.touch("Preview")
		p.wants("Players will not read this")
		look("preview")
		p.click("Save")
		p.wants("Saved. Players do not read these parts:")
		look("saved")
		p.open("/edit/lendwater/" + path)
		p.touch("Who sees it, its name, and deleting")
		look("edit")
		p.eval(`document.querySelector("#level").value = "gm"`)
		p.click("Set")
		p.open("/edit/lendwater/" + path)
		p.touch("Who sees it, its name, and deleting")
		p.eval(`document.querySelector("#level").value = "user"`)
		p.click("Set")
		p.wants("Stays hidden in it")
		look("opening")
		p.click("Open it")
		p.open("/rename/lendwater/" + path)
		p.fill("#new_name", "Rent Quay")
		p.click("Rename")
		p.wants("Cards of this name")
		look("taken")
	}
}
