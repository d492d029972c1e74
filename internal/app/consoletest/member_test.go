package consoletest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
)

// invite makes an invitation on the page and returns its link.
func (p *tab) invite(world, role, people string) string {
	p.t.Helper()
	p.open("/members/" + world)
	p.eval(`document.querySelector("#invite-role").value = "` + role + `"`)
	p.fill("#uses", people)
	p.click("Make a link")
	return p.eval(`document.querySelector("#secret-text").value`)
}

// submit submits a form, after a change to it, and waits for the page that answers.
func (p *tab) submit(form, change string) {
	p.t.Helper()
	before := p.eval("String(performance.timeOrigin)")
	p.eval(`(() => { const f = ` + form + `; ` + change + `; f.requestSubmit(); })()`)
	p.waits(`document.readyState === "complete" && String(performance.timeOrigin) !== "`+before+`"`, "a form is answered")
}

// TestAnInvitationEndsAsPromised accepts an invitation for two three times, and others that are not open.
func TestAnInvitationEndsAsPromised(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	admin := s.visitor()
	admin.signIn(s.code(access.RoleAdmin))
	invite := func(form url.Values) (status int, code string) {
		status, body, _ := admin.send("POST", "/members/lendwater/invite", form)
		if _, rest, ok := strings.Cut(body, "/join#"); ok {
			code = rest[:36]
		}
		return status, code
	}
	_, code := invite(url.Values{"role": {"user"}, "uses": {"2"}, "days": {"1"}})
	for i, want := range []int{200, 200, 404} {
		status, body, _ := s.visitor().send("POST", "/join", url.Values{"code": {code}, "name": {"Ben"}})
		if status != want {
			t.Errorf("use %d: %d %s", i+1, status, body)
		}
	}
	admin.wants("/members/lendwater", `href="/home/lendwater?as=user"`) // what a member sees
	admin.wants("/home/lendwater?as=user", "You see what a player sees.")
	if status, _ := invite(url.Values{"role": {"user"}, "uses": {"21"}, "days": {"1"}}); status != 400 {
		t.Errorf("21 uses: %d", status)
	}
	if status, _ := invite(url.Values{"role": {"user"}, "uses": {"1"}, "days": {"91"}}); status != 400 {
		t.Errorf("91 days: %d", status)
	}
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	if status, body, _ := gm.send("POST", "/members/lendwater/invite", url.Values{"role": {"admin"}, "uses": {"1"},
		"days": {"1"}}); status != 400 || strings.Contains(body, "/join#") {
		t.Errorf("a game master invites an admin: %d", status)
	}
	if _, body, _ := gm.send("GET", "/members/lendwater", nil); strings.Contains(body, "ben-") {
		t.Error("a game master sees the members")
	}
	status, body, res := s.visitor().send("POST", "/join", url.Values{"code": {"lgi_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
		"name": {"x"}})
	if status != 404 || len(res.Cookies()) > 0 {
		t.Errorf("a code of nobody: %d %s", status, body)
	}
}

// TestAKeyIsMadeRotatedAndEnded makes a key on its page and uses it until it is ended.
func TestAKeyIsMadeRotatedAndEnded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 390)
	p.signIn(s.link(access.RoleAdmin))
	p.open("/keys/lendwater")
	p.fill("#key-name", "scribe")
	p.eval(`document.querySelector("#key-may").value = "read"`)
	p.click("Make the key")
	secret := p.eval(`document.querySelector("#secret-text").value`)
	p.wants("only reads")
	p.look("key-made")
	try := func(secret, method, body string) int {
		status, _ := apptest.Send(t, method, s.base+"/api/mcp/cards/Rent%20Quay", secret, body)
		return status
	}
	if read, write := try(secret, "GET", ""), try(secret, "PATCH", `{"content": "x"}`); read != 200 || write != 403 {
		t.Errorf("reading %d, writing %d", read, write)
	}
	if status, body := apptest.Send(t, "POST", s.base+"/api/keys", secret,
		`{"name": "another"}`); status != http.StatusForbidden {
		t.Errorf("a program makes a key: %d %s", status, body)
	}
	p.submit(`document.querySelector('[aria-label="New secret for scribe"]').form`, "")
	other := p.eval(`document.querySelector("#secret-text").value`)
	if old, now := try(secret, "GET", ""), try(other, "GET", ""); old != 401 || now != 200 {
		t.Errorf("after rotating the old secret answers %d, the new one %d", old, now)
	}
	p.open("/keys/lendwater")
	p.submit(`document.querySelector('[aria-label="End the key scribe"]').form`, "")
	if status := try(other, "GET", ""); status != 401 {
		t.Errorf("an ended key: %d", status)
	}
}
