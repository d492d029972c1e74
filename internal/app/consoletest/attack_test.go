package consoletest

import (
	"cmp"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/waittest"
)

// visitor is a browser without scripts.
type visitor struct {
	t    *testing.T
	base string
	http *http.Client
	host string // named in requests; "" is that of base
}

func (s *stage) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &visitor{t: s.t, base: s.base, http: &http.Client{Jar: jar}}
}

func (v *visitor) send(method, path string, form url.Values, header ...string) (status int, body string,
	res *http.Response) {
	v.t.Helper()
	header = append([]string{"Content-Type: application/x-www-form-urlencoded"}, header...)
	return v.sendBody(method, path, strings.NewReader(form.Encode()), header...)
}

func (v *visitor) sendBody(method, path string, sent io.Reader, header ...string) (status int, body string,
	res *http.Response) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, sent)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Host = cmp.Or(v.host, r.Host)
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err = v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // the body was only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(text), res
}

func (v *visitor) wants(path, text string) {
	v.t.Helper()
	if status, body, _ := v.send("GET", path, nil); status != 200 || !strings.Contains(body, text) {
		v.t.Errorf("%s: %d, without %q:\n%s", path, status, text, body)
	}
}

func (v *visitor) signIn(secret string) {
	v.t.Helper()
	if status, body, _ := v.send("POST", "/sign-in", url.Values{"secret": {secret}}); status != 200 {
		v.t.Fatalf("%d %s", status, body)
	}
}

// TestEverythingWorksWithoutScripts signs in, searches, writes and reads by links and forms alone.
func TestEverythingWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.visitor()
	v.signIn(s.keys[access.RoleGM])
	v.wants("/", "Lendwater")
	v.wants("/w/lendwater?q=tariff", "<mark>tariff</mark>")
	v.wants("/w/lendwater?type=Realm", "Hushmarsh")
	form := url.Values{"name": {"Kelp & Sons"}, "content": {"<p>See [[Rent Quay]].</p>"}, "level": {"gm"}, "once": {"a1"}}
	for range 2 { // a form that is sent twice makes one card
		if status, body, _ := v.send("POST", "/new/lendwater", form); status != 200 || !strings.Contains(body, "GM only") {
			t.Fatalf("%d %s", status, body)
		}
	}
	v.wants("/w/lendwater/Rent%20Quay", "Kelp &amp; Sons")
	v.wants("/history/lendwater/Kelp%20&%20Sons", "Version 1")
	s.rest(access.RoleAdmin, "PATCH", "/api/mcp/cards/Rent%20Stone", `{"text_format": "markdown"}`)
	v.wants("/edit/lendwater/Rent%20Stone", "Markdown.</span> <code>")
	v.wants("/edit/lendwater/Rent%20Quay", "HTML, such as")
	if status, body, _ := v.send("POST", "/new/lendwater", url.Values{"name": {"a/b"},
		"content": {"kept <text>"}}); status != 400 ||
		!strings.Contains(body, "cannot contain") || !strings.Contains(body, "kept &lt;text&gt;") {
		t.Errorf("a wrong name: %d %s", status, body)
	}
}

func TestPlayerFindsNothingHidden(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.rest(access.RoleAdmin, "POST", "/api/mcp/cards",
		`{"name": "Gullspire", "content": "Quillonymous [[Rent Quay]]", "level": "gm"}`)
	player, keeper := s.visitor(), s.visitor()
	player.signIn(s.keys[access.RoleUser])
	keeper.signIn(s.keys[access.RoleGM])
	keeper.wants("/w/lendwater/Gullspire", "Quillonymous")
	for _, path := range []string{"/w/lendwater", "/w/lendwater?q=quillonymous", "/w/lendwater/Gullspire",
		"/w/lendwater/Rent%20Quay",
		"/changes/lendwater", "/history/lendwater/Gullspire", "/edit/lendwater/Gullspire", "/w/lendwater/No%20Such%20Card"} {
		_, hidden, _ := player.send("GET", path, nil)
		lowered := path + "?as=user"
		if strings.Contains(path, "?") {
			lowered = path + "&as=user"
		}
		_, as, _ := keeper.send("GET", lowered, nil)
		for _, body := range []string{hidden, as} {
			body = strings.ReplaceAll(strings.ReplaceAll(body, "q=quillonymous", ""), `value="quillonymous"`, "")
			if strings.Contains(strings.ToLower(body), "quillonymous") || strings.Contains(body, "GM only") {
				t.Errorf("%s shows something hidden:\n%s", path, body)
			}
		}
	}
	if status, _, _ := player.send("GET", "/w/lendwater/Gullspire?as=gm", nil); status != 404 {
		t.Errorf("a player raised the role: %d", status)
	}
}

func TestForgedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.visitor()
	v.signIn(s.keys[access.RoleAdmin])
	for _, header := range []string{"Origin: https://elsewhere.example", "Origin: null", "Sec-Fetch-Site: cross-site"} {
		status, _, _ := v.send("POST", "/delete/lendwater/Rent%20Quay", url.Values{"confirm": {"Rent Quay"}}, header)
		if status != 403 {
			t.Errorf("%s: %d", header, status)
		}
	}
	v.wants("/w/lendwater/Rent%20Quay", "front doorstep")
}

// TestPagesAreNotFramed opens a page of another site that shows a page of the console in a frame, to have it clicked.
func TestPagesAreNotFramed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>x</title><iframe src="`+s.base+`/members/lendwater"></iframe>`)
	}))
	t.Cleanup(site.Close)
	p := newTab(t, s.base, 1280)
	p.allow("a request to another origin: " + site.URL)
	p.allow("frame-ancestors")
	p.allow("404 for " + site.URL)
	p.signIn(s.link(access.RoleAdmin))
	p.do(chromedp.Navigate(site.URL))
	apptest.Eventually(t, "the browser refuses to show the frame", waittest.Patience, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.ContainsFunc(p.bad, func(b string) bool { return strings.Contains(b, "frame-ancestors") })
	})
	v := s.visitor()
	v.signIn(s.code(access.RoleAdmin))
	for _, page := range []string{"/", "/sign-in", "/join", "/account", "/w/lendwater/Rent%20Quay", "/members/lendwater",
		"/proposals/lendwater", "/w/lendwater/No%20Such%20Card", "/authorize"} {
		_, _, res := v.send("GET", page, nil)
		if h := res.Header; !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s may be framed: %v", page, h)
		}
	}
}

// TestFileNamesDoNothing imports and attaches files whose names hold scripts.
func TestFileNamesDoNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	const name = `<img src=x onerror=alert(1)> kelp.md`
	status, body, _ := gm.sendFiles("/import/lendwater", map[string]string{name: "A house of weed.\n"})
	if status != 200 || strings.Contains(body, "<img src=x") || !strings.Contains(body, "kelp") {
		t.Errorf("%d %.3000s", status, body)
	}
}

func TestSessionsCannotBeFixedOrKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.visitor()
	v.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	_, _, res := v.send("POST", "/sign-in", url.Values{"secret": {s.keys[access.RoleGM]}, "to": {"//elsewhere.example"}},
		"Cookie: loregate-x=lgs_chosenbyanother")
	if to := res.Header.Get("Location"); to != "/" {
		t.Errorf("signing in leads to %q", to)
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
		!strings.HasPrefix(c.Value, "lgs_") ||
		strings.Contains(c.Value, "chosen") {
		t.Errorf("the cookie is %+v", c)
	}
	stolen := c.Name + "=" + c.Value
	v.http.Jar = nil
	if status, _, _ := v.send("GET", "/account", nil, "Cookie: "+stolen); status != 200 {
		t.Fatalf("the session does not work: %d", status)
	}
	if status, _, _ := v.send("GET", "/api/mcp/cards/Rent%20Quay", nil, "Authorization: Bearer "+c.Value); status != 401 {
		t.Errorf("the session is accepted as a bearer credential: %d", status)
	}
	v.send("POST", "/sign-out", nil, "Cookie: "+stolen)
	if status, _, _ := v.send("GET", "/account", nil, "Cookie: "+stolen); status != 303 {
		t.Errorf("a copy of the cookie works after signing out: %d", status)
	}
}

func TestSignInLinkWorksOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, code, _ := strings.Cut(s.link(access.RoleGM), "#")
	s.visitor().signIn(code)
	status, body, res := s.visitor().send("POST", "/sign-in", url.Values{"secret": {code}})
	if status != 401 || !strings.Contains(body, "does not work") || len(res.Cookies()) > 0 {
		t.Errorf("a used code: %d %s", status, body)
	}
}
