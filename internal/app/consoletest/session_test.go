package consoletest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
	"loregate/internal/waittest"
)

// withoutRedirects makes a visitor stay where the server answers.
func (v *visitor) withoutRedirects() *visitor {
	v.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return v
}

// TestAPersonSignsOutEverywhere ends the other sessions, also in another process on the same store.
func TestAPersonSignsOutEverywhere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	twin, shut := apptest.Open(t, s.app.Config, apptest.Quiet())
	t.Cleanup(shut)
	at, stop := apptest.Serve(t, twin, "")
	t.Cleanup(stop)
	here, phone, library := s.visitor().withoutRedirects(), s.visitor().withoutRedirects(), s.visitor().withoutRedirects()
	library.base = "http://" + strings.TrimPrefix(at, "http://")
	for _, v := range []*visitor{here, phone, library} {
		if status, body, _ := v.send("POST", "/sign-in", url.Values{"secret": {s.code(access.RoleGM)}}); status != 303 {
			t.Fatalf("%d %s", status, body)
		}
	}
	_, page, _ := here.send("GET", "/account", nil)
	if n := strings.Count(page, `name="session"`); n != 3 { // the two others, and "others"
		t.Errorf("%d forms end sessions:\n%s", n, page)
	}
	if strings.Contains(page, "lgs_") {
		t.Error("the page shows a secret of a session")
	}
	player := s.visitor().withoutRedirects()
	player.send("POST", "/sign-in", url.Values{"secret": {s.code(access.RoleUser)}})
	here.send("POST", "/account/end", url.Values{"session": {"others"}})
	if status, _, _ := phone.send("GET", "/account", nil); status != 303 {
		t.Errorf("the phone is still signed in: %d", status)
	}
	apptest.Eventually(t, "another process refuses the session", waittest.Patience, func() bool {
		status, _, _ := library.send("GET", "/account", nil)
		return status == 303
	})
	for name, v := range map[string]*visitor{"this browser": here, "another person": player} {
		if status, _, _ := v.send("GET", "/account", nil); status != 200 {
			t.Errorf("%s is signed out: %d", name, status)
		}
	}
}

// TestSessionsHaveARateOfTheirOwn reads as fast as the server lets a person: 40 calls at once, 600 a minute.
func TestSessionsHaveARateOfTheirOwn(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	began := time.Now()
	s := newStageWith(t, app.Options{Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
	v := s.visitor().withoutRedirects()
	v.send("POST", "/sign-in", url.Values{"secret": {s.code(access.RoleUser)}})
	// With one world the first page makes one call, and leads to that world.
	read := func() (n int) {
		t.Helper()
		for status, body := 303, ""; ; n++ {
			if status, body, _ = v.send("GET", "/", nil); status != 303 {
				if status != http.StatusTooManyRequests || !strings.Contains(body, "too many calls; wait") {
					t.Fatalf("%d %s", status, body)
				}
				return n
			}
		}
	}
	passed.Add(int64(time.Second))
	if n := read(); n != 40 {
		t.Errorf("%d calls at once", n)
	}
	all, last := 0, 0
	for range 30 {
		passed.Add(int64(time.Second))
		last = read()
		all += last
	}
	if last != 10 || all < 600 || all > 900 {
		t.Errorf("%d calls in half a minute, at the end %d a second", all, last)
	}
}

// TestTheCookieIsBoundToHTTPS signs in behind a proxy that ends TLS.
func TestTheCookieIsBoundToHTTPS(t *testing.T) {
	t.Parallel()
	s := newStageWith(t, apptest.Quiet(), func(c *app.Config) {
		c.PublicURL, c.BehindProxy = "https://lore.example", true
	})
	v := s.visitor().withoutRedirects()
	v.host = "lore.example"
	_, _, res := v.send("POST", "/sign-in", url.Values{"secret": {s.code(access.RoleGM)}}, "X-Forwarded-Proto: https",
		"X-Forwarded-For: 198.51.100.7")
	if len(res.Cookies()) != 1 {
		t.Fatalf("cookies: %v", res.Cookies())
	}
	c := res.Cookies()[0]
	if !strings.HasPrefix(c.Name, "__Host-loregate-") || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" ||
		c.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %+v", c)
	}
	plain := strings.TrimPrefix(c.Name, "__Host-") + "=" + c.Value
	if status, _, _ := v.send("GET", "/account", nil, "X-Forwarded-Proto: https", "Cookie: "+plain); status != 303 {
		t.Errorf("a cookie that another host could have set is accepted: %d", status)
	}
	if status, _, _ := v.send("GET", "/account", nil, "X-Forwarded-Proto: https",
		"Cookie: "+c.Name+"="+c.Value); status != 200 {
		t.Errorf("the cookie does not work: %d", status)
	}
}

// TestPasskeysBelongToTheConfiguredHost asks for passkeys with other Host headers.
func TestPasskeysBelongToTheConfiguredHost(t *testing.T) {
	t.Parallel()
	configured := newStageWith(t, apptest.Quiet(), func(c *app.Config) {
		c.PublicURL, c.BehindProxy, c.Hosts = "https://lore.example", true, []string{"other.example"}
	}).visitor()
	free := newStageWith(t, apptest.Quiet(), func(c *app.Config) { c.Hosts = []string{"other.example"} }).visitor()
	for _, row := range []struct {
		v          *visitor
		host, want string
	}{
		{configured, "lore.example", "lore.example"}, {configured, "other.example", "lore.example"},
		{configured, "loregate.localhost", "lore.example"}, {configured, "evil.example", ""},
		{free, "other.example", ""}, {free, "evil.example", ""}, {free, "loregate.localhost", "loregate.localhost"},
	} {
		row.v.host = row.host
		_, body, _ := row.v.send("POST", "/sign-in/passkey/ask", nil, "X-Forwarded-Proto: https")
		var got struct {
			Options struct {
				Key struct {
					ID string `json:"rpId"`
				} `json:"publicKey"`
			} `json:"options"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil && row.want != "" || got.Options.Key.ID != row.want {
			t.Errorf("asked as %s: %q, want %q: %s", row.host, got.Options.Key.ID, row.want, body)
		}
	}
}

// TestAPastedKeyHasItsOwnRights signs in with the key of a program, which may not approve.
func TestAPastedKeyHasItsOwnRights(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	key := func(spec identity.KeySpec) string {
		t.Helper()
		spec.Name, spec.Subject, spec.MaxRole = "helper", access.Subject("helper-"+spec.May()), access.RoleGM
		secret, _, err := s.app.CreateKey(t.Context(), spec, []string{app.SampleWorld})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	s.keys[access.RoleGM] = key(identity.KeySpec{Advisory: true})
	s.rest(access.RoleGM, "PATCH", "/api/mcp/cards/Rent%20Stone", `{"content": "<p>Cracked.</p>"}`)
	program, reader, person := s.visitor(), s.visitor(), s.visitor()
	program.signIn(key(identity.KeySpec{}))
	reader.signIn(key(identity.KeySpec{ReadOnly: true}))
	person.signIn(s.code(access.RoleGM))
	_, list, _ := person.send("GET", "/proposals/lendwater", nil)
	_, rest, ok := strings.Cut(list, `href="/proposals/lendwater/`)
	id, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no proposal waits:\n%s", list)
	}
	_, page, _ := person.send("GET", "/proposals/lendwater/"+id, nil)
	_, rest, _ = strings.Cut(page, `name="hash" value="`)
	hash, _, _ := strings.Cut(rest, `"`)
	approval := url.Values{"hash": {hash}}
	if status, body, _ := program.send("POST", "/proposals/lendwater/"+id+"/approve", approval); status != 404 {
		t.Errorf("a program approves: %d %s", status, body)
	}
	if status, _, _ := reader.send("POST", "/edit/lendwater/Rent%20Quay", url.Values{"content": {"x"}}); status != 403 {
		t.Errorf("a key that only reads writes: %d", status)
	}
	program.wants("/w/lendwater/Rent%20Quay", "front doorstep")
	if status, body, _ := person.send("POST", "/proposals/lendwater/"+id+"/approve", approval); status != 200 {
		t.Errorf("a person does not approve: %d %s", status, body)
	}
}

// TestReflectedTextDoesNothing puts a script into every part of an address that a page shows.
func TestReflectedTextDoesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.visitor()
	v.signIn(s.code(access.RoleAdmin))
	const script = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
	q := url.QueryEscape(script)
	for _, path := range []string{"/w/lendwater?q=" + q, "/w/lendwater?type=" + q, "/w/lendwater?tag=" + q,
		"/w/lendwater?offset=" + q, "/w/lendwater/" + url.PathEscape(script), "/w/lendwater?as=" + q,
		"/w/" + url.PathEscape(script),
		"/places/lendwater?at=" + q, "/audit/lendwater?card=" + q, "/history/lendwater/" + url.PathEscape(script),
		"/new/lendwater?name=" + q, "/campaign/lendwater?type=" + q, "/usage/lendwater?days=" + q, "/sign-in?to=" + q,
		"/authorize?client_id=" + q, "/run/lendwater/" + url.PathEscape(script), "/join?x=" + q} {
		status, body, res := v.send("GET", path, nil)
		if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") || status >= 500 {
			t.Errorf("%s: %d shows it as it is", path, status)
		}
		if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self'") ||
			strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", path, csp)
		}
	}
}
