package consoletest

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
)

// stage is the served sample world.
type stage struct {
	t    *testing.T
	app  *app.App
	data string // its folder
	base string
	keys map[access.Role]string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageWith(t, apptest.Quiet())
}

func newStageWith(t *testing.T, o app.Options, change ...func(*app.Config)) *stage {
	t.Helper()
	return newStageAt(t, "", o, change...)
}

// newStageAt is newStageWith at an address of this machine; "" picks a free one.
func newStageAt(t *testing.T, addr string, o app.Options, change ...func(*app.Config)) *stage {
	t.Helper()
	data := t.TempDir()
	sample := apptest.Sample(t, data)
	s := serveStage(t, data, addr, o, change...)
	for _, k := range sample.Keys {
		s.keys[k.Role] = k.Secret
	}
	return s
}

// serveStage serves the worlds of a data folder.
func serveStage(t *testing.T, data, addr string, o app.Options, change ...func(*app.Config)) *stage {
	t.Helper()
	c := apptest.Config(t, data)
	for _, f := range change {
		f(&c)
	}
	a, shut := apptest.Open(t, c, o)
	t.Cleanup(shut)
	at, stop := apptest.Serve(t, a, addr)
	t.Cleanup(stop)
	return &stage{t: t, app: a, data: data, base: "http://" + strings.TrimPrefix(at, "http://"),
		keys: map[access.Role]string{}}
}

// sampleCampaign is the campaign that the sample brings.
const sampleCampaign = "ashlar-pass"

// link returns a sign-in link for a person of the sample world.
func (s *stage) link(role access.Role) string {
	s.t.Helper()
	return s.linkTo(role, app.SampleWorld)
}

// linkTo returns a sign-in link for a person of some worlds.
func (s *stage) linkTo(role access.Role, worlds ...string) string {
	s.t.Helper()
	link, err := s.app.SignInLink(s.t.Context(), s.base, identity.KeySpec{Name: "test",
		Subject: access.Subject("person-" + role.String()),
		Actor:   access.Person, MaxRole: role, Approve: role >= access.RoleGM}, worlds)
	if err != nil {
		s.t.Fatal(err)
	}
	return link
}

// code returns the code of a sign-in link.
func (s *stage) code(role access.Role) string {
	s.t.Helper()
	_, code, _ := strings.Cut(s.link(role), "#")
	return code
}

// rest makes a call over REST.
func (s *stage) rest(role access.Role, method, path, body string) map[string]any {
	s.t.Helper()
	status, answer := apptest.Send(s.t, method, s.base+path, s.keys[role], body)
	if status >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func TestAGameMasterReadsEditsAndHides(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleAdmin))
	p.wants("Lendwater")
	if fragment := p.eval("location.hash + history.length"); strings.Contains(fragment, "lgc_") {
		t.Error("the code stays in the address")
	}
	p.fill(".filters input[name=q]", "tariff board")
	p.waits(`[...document.querySelectorAll("#cards mark")].some((m) => /tariff/i.test(m.innerText))`,
		"hits are marked while typing")
	p.shoot("search")
	p.click("Rent Quay")
	p.wants("front doorstep")
	p.shoot("card")
	p.click("The Dry Anchor")
	p.wants("The Dry Anchor")
	p.open("/w/lendwater/Rent%20Quay")
	p.click("Edit")
	p.look("edit")
	p.fill("#content", "<p>Closed for the spring tide. See [[Ossel Minor]] & [[Rent Stone|the stone]].</p>")
	p.click("Save")
	p.wants("Closed for the spring tide")
	if class := p.eval(`[...document.querySelectorAll(".text a")].find((a) => a.innerText === "Ossel Minor").className`); class != "wanted" {
		t.Errorf("a link to no card has the class %q", class)
	}
	p.click("History")
	p.click("Difference")
	p.wants("+")
	p.look("history")
	p.click("Restore")
	p.wants("front doorstep")

	p.click("Edit")
	p.click("Who sees it, its name, and deleting")
	p.eval(`document.querySelector("#level").value = "gm"`)
	p.click("Set")
	p.wants("GM only")
	p.allow("404 for " + s.base + "/w/lendwater/Rent%20Quay?as=user")
	p.click("As a player")
	p.wants("There is no card of this name")
	p.look("player")
	p.open("/w/lendwater?q=Rent+Quay&as=user")
	if strings.Contains(p.eval(`[...document.querySelectorAll("#cards a")].map((a) => a.innerText).join("|")`)+"|",
		"Rent Quay|") {
		t.Error("a player still finds the hidden card")
	}
	p.open("/changes/lendwater")
	p.click("Undo")
	p.wants("More people read this from now on")
	p.click("Undo")
	p.open("/w/lendwater/Rent%20Quay?as=user")
	p.wants("front doorstep")
}

// TestStoredTextDoesNothing opens a card whose text tries to run scripts, to make requests by htmx, and
// to load from elsewhere.
func TestStoredTextDoesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	hostile := `<p hx-get="/changes/lendwater" hx-trigger="load" data-hx-post="/sign-out" data-hx-trigger="load">x</p>` +
		`<script>document.title = "pwned"</script><img src="https://elsewhere.example/a.png" onerror="document.title = 'pwned'">` +
		`<a href="javascript:document.title='pwned'">click</a><style>body{display:none}</style>[["><script>x</script>]] [[javascript:alert(1)]]`
	body, _ := json.Marshal(map[string]any{"name": `Trap "><script>document.title='pwned'<script>`, "content": hostile,
		"fields": map[string]string{"<b>bold</b>": "<script>document.title='pwned'</script>"}})
	made := s.rest(access.RoleAdmin, "POST", "/api/mcp/cards", string(body))
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	for _, path := range []string{"/w/lendwater/~" + made["id"].(string), "/w/lendwater?q=Trap", "/changes/lendwater",
		"/edit/lendwater/~" + made["id"].(string)} {
		p.open(path)
		p.waits(`document.readyState === "complete"`, "it loads")
		if title := p.eval("document.title"); strings.Contains(title, "pwned") && !strings.Contains(title, "script") {
			t.Errorf("%s: a script ran", path)
		}
	}
	if got := p.eval(`(async () => (await fetch("/account")).status)()`); got == "" {
		t.Error("signed out by a stored text")
	}
	p.open("/account")
	p.wants("Sessions")
}

// TestTheFirstVisitIsSmall adds up the scripts and styles of a page over the wire, and of the pages with islands.
func TestTheFirstVisitIsSmall(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.visitor()
	v.signIn(s.code(access.RoleGM))
	for page, most := range map[string]int64{"/w/lendwater": 120 << 10, "/w/lendwater/Rent%20Quay": 120 << 10,
		"/places/lendwater": 120 << 10, "/edit/lendwater/Rent%20Quay": 200 << 10} {
		_, body, _ := v.send("GET", page, nil)
		var total int64
		for _, part := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`).FindAllStringSubmatch(body, -1) {
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.base+part[1], nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", "gzip")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, answer.Body)
			if err != nil || answer.Header.Get("Content-Encoding") != "gzip" ||
				!strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %v, %v", part[1], err, answer.Header)
			}
			_ = answer.Body.Close() // it was read
			total += n
		}
		t.Logf("%s: %d bytes of scripts and styles", page, total)
		if total == 0 || total > most {
			t.Errorf("%s loads %d bytes of scripts and styles, at most %d are allowed", page, total, most)
		}
	}
}
