package consoletest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/identity"
)

// addAuthenticator gives the tab an authenticator whose person always agrees.
func (p *tab) addAuthenticator() {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, webauthn.Enable, webauthn.EnableParams{})
	p.must(err)
	_, err = chromedp.Call(p.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{Protocol: "ctap2", Transport: "internal", HasResidentKey: true,
			HasUserVerification: true, AutomaticPresenceSimulation: true, IsUserVerified: true}})
	p.must(err)
}

// passkeyTab opens the pages at the host that has passkeys.
func (s *stage) passkeyTab() *tab {
	s.t.Helper()
	p := newTab(s.t, identity.PagesURL(s.base), 390)
	p.addAuthenticator()
	return p
}

// TestAPersonComesBackByPasskey adds a passkey, signs out and in again, and removes it.
func TestAPersonComesBackByPasskey(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := s.passkeyTab()
	p.allow("401") // of the passkey that was removed
	p.signIn(strings.Replace(s.link(access.RoleGM), s.base, p.base, 1))
	p.open("/account")
	p.wants("Add one to need no key or link")
	p.fill("#passkey-name", "my phone")
	p.click("Add a passkey")
	p.wants("my phone, since")
	p.look("account-passkey")
	p.click("Sign out")
	p.look("sign-in-passkey")
	p.open("/w/lendwater")
	p.wants("Sign in with a passkey")
	p.click("Sign in with a passkey")
	p.waits(`location.pathname === "/w/lendwater"`, "the person is where they wanted to go")
	p.open("/account")
	p.wants("person-gm")
	p.click("Remove")
	p.wants("Add one to need no key or link")
	p.click("Sign out")
	p.click("Sign in with a passkey")
	p.wants("This passkey was not accepted")
}

// passkeyAnswer lets the authenticator answer a question of the server in the page, and keeps state and answer
// in the page's variables.
const passkeyAnswer = `(async () => {
	const q = await (await fetch("/sign-in/passkey/ask", {method: "POST"})).json();
	const a = await navigator.credentials.get({publicKey:
		PublicKeyCredential.parseRequestOptionsFromJSON(q.options.publicKey)});
	window.q = {state: q.state, answer: JSON.stringify(a.toJSON())};
	return "answered";
})()`

// TestPasskeyAnswersCannotBeReused sends answers of a real authenticator twice, changed, and to another question.
func TestPasskeyAnswersCannotBeReused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := s.passkeyTab()
	p.allow("401")
	p.allow("413")
	p.signIn(strings.Replace(s.link(access.RoleGM), s.base, p.base, 1))
	p.open("/account")
	p.fill("#passkey-name", "laptop")
	p.click("Add a passkey")
	p.wants("laptop, since")
	answer := func(into string) {
		t.Helper()
		p.eval(`void ` + strings.Replace(passkeyAnswer, "window.q", "window."+into, 1))
		p.waits(`!!window.`+into, "the authenticator answers")
	}
	answer("first")
	answer("second")
	send := func(state, answer string) string {
		t.Helper()
		p.eval(fmt.Sprintf(`void fetch("/sign-in/passkey", {method: "POST", redirect: "manual", credentials: "omit",
			body: new URLSearchParams({state: %s, answer: %s, to: "/account"})}).then((r) => window.got =
			r.type === "opaqueredirect" ? "in" : String(r.status)); window.got = ""`, state, answer))
		p.waits(`window.got !== ""`, "the server answers")
		return p.eval(`window.got`)
	}
	for _, c := range []struct{ what, state, answer, want string }{
		{"an answer to another question", "second.state", "first.answer", "401"},
		{"a changed state", `first.state.replace(/^./, (c) => c === "e" ? "f" : "e")`, "first.answer", "401"},
		{"a changed signature", "first.state", `first.answer.replace(/"signature":"..../, '"signature":"AAAA')`, "401"},
		{"another user handle", "first.state", `first.answer.replace(/"userHandle":"..../, '"userHandle":"AAAA')`, "401"},
		{"no answer", "first.state", `"{}"`, "401"},
		{"a long answer", "first.state", `"x".repeat(70000)`, "413"},
		{"the answer", "first.state", "first.answer", "in"},
		{"the answer once more", "first.state", "first.answer", "401"},
	} {
		if got := send(c.state, c.answer); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestPasskeysNeedAHostName asks for passkeys where browsers have none.
func TestPasskeysNeedAHostName(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.visitor()
	v.signIn(s.code(access.RoleGM))
	v.wants("/account", identity.PagesHost)
	status, body, _ := v.send("POST", "/account/passkey/ask", nil)
	if status != 400 && status != 409 && status != 422 || !strings.Contains(body, "host name") {
		t.Errorf("asked on an address: %d %s", status, body)
	}
	if _, body, _ := s.visitor().send("GET", "/sign-in", nil); strings.Contains(body, "Sign in with a passkey") {
		t.Error("a passkey is offered on an address")
	}
}

// TestAPlayersEvenings follows a player on a phone from an invitation to the second evening: joins, searches, reads, adds
// a passkey, walks the map, plays twenty commands, signs out, and comes back by the passkey to where the player stood.
func TestAPlayersEvenings(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	_, body, _ := gm.send("POST", "/members/lendwater/invite", url.Values{"role": {"user"}, "uses": {"1"}, "days": {"1"}})
	_, rest, found := strings.Cut(body, "/join#")
	if !found {
		t.Fatalf("no invitation: %.1000s", body)
	}
	p := s.passkeyTab()
	p.do(chromedp.Navigate(p.base + "/join#" + rest[:36]))
	p.wants("You are invited as player")
	p.fill("#name", "Ada Finch")
	p.click("Join")
	p.wants("Lendwater")
	p.fill(".filters input[name=q]", "tariff board")
	p.waits(`[...document.querySelectorAll("#cards mark")].some((m) => /tariff/i.test(m.innerText))`, "hits are marked")
	p.click("Rent Quay")
	p.wants("front doorstep")
	p.look("card-phone")
	p.open("/account")
	p.fill("#passkey-name", "my phone")
	p.click("Add a passkey")
	p.wants("my phone, since")
	p.click("Sign out")
	p.open("/play/world/lendwater")
	p.click("Sign in with a passkey")
	p.waits(`!!document.querySelector("#name")`, "the player is asked for a name")
	p.fill("#name", "Ada Finch")
	p.click("Begin")
	p.wants("Rent Quay.")
	p.playEvening()
	p.open("/account")
	p.click("Sign out")
	p.open("/play/world/lendwater")
	p.wants("Sign in with a passkey")
	p.click("Sign in with a passkey")
	p.waits(`document.querySelector("#here h2")?.innerText === "Fishgate Market"`, "the player stands where it stood")
	p.checkAxeHere(loadAxe(t), "play")
	for _, path := range []string{"/members/lendwater", "/keys/lendwater", "/audit/lendwater", "/health"} {
		p.allow("403 for ")
		p.open(path)
		p.wants("403")
	}
	if _, body, _ := gm.send("GET", "/members/lendwater", nil); strings.Contains(body, "Open invitations") {
		t.Error("the invitation for one is still open")
	}
}

// playEvening plays twenty commands at Rent Quay and around it: by typing, by a button and by the map. They end at
// Fishgate Market.
func (p *tab) playEvening() {
	p.t.Helper()
	turns := 1 // the arrival
	told := func(command string) {
		p.t.Helper()
		turns++
		p.waits(fmt.Sprintf(`document.querySelectorAll(".turn").length === %d`, turns), command+" is told")
	}
	for _, command := range []string{"look at the tariff board", "examine the bollards", "talk to Old Cod Wilkin",
		"ask Wilkin about the turn", "bow to Captain Bramble", "take the boathook", "inventory", "poke the crab with the boathook",
		"smell the air", "climb the tariff board", "sing", "go south", "go north", "drop the boathook", "what do I carry?",
		"say good evening", "flatter Captain Bramble"} {
		p.fill("#text", command)
		p.touch("Do it")
		told(command)
		if left := p.eval(`document.querySelector("#text").value`); left != "" {
			p.t.Errorf("after %s the field has %q", command, left)
		}
	}
	p.look("play-phone")
	p.eval(`document.querySelector('#here [data-act][value="go north"]').click()`)
	told("the button")
	for n, way := range []string{"go south", "go north"} {
		p.waits(fmt.Sprintf(`document.querySelector("#here h2").innerText === %q`, []string{"Fishgate Market", "Rent Quay"}[n]),
			"the side shows the new place")
		p.waits(fmt.Sprintf(`[...document.querySelectorAll("#around a[data-act]")].some((a) => a.dataset.act === %q)`, way),
			"the map follows")
		p.eval(fmt.Sprintf(`[...document.querySelectorAll("#around a[data-act]")].find((a) => a.dataset.act === %q)
			.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`, way))
		told(way + " on the map")
	}
	p.waits(`document.querySelector("#here h2").innerText === "Fishgate Market"`, "the player walks")
	for _, wrong := range []string{"did not understand", "not sure how"} {
		if strings.Contains(p.text(), wrong) {
			p.t.Errorf("the story tells %q:\n%s", wrong, p.text())
		}
	}
}
