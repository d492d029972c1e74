package consoletest

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
)

// issuer is an OpenID provider in this process. It signs in its one person without asking.
type issuer struct {
	*httptest.Server
	t   *testing.T
	key jwk.Key

	mu     sync.Mutex
	codes  map[string]url.Values // requests by code; guarded by mu
	person string                // guarded by mu
}

func newIssuer(t *testing.T, person string) *issuer {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, codes: map[string]url.Values{}, person: person}
	if i.key, err = jwk.Import(private); err == nil {
		err = i.key.Set(jwk.KeyIDKey, "k1")
	}
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.write(w, map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/auth",
			"token_endpoint": i.URL + "/token", "authorization_response_iss_parameter_supported": true})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		public, err := i.key.PublicKey()
		if err != nil {
			t.Error(err)
		}
		i.write(w, map[string]any{"keys": []any{public}})
	})
	mux.HandleFunc("GET /auth", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, i.answerTo(r.URL.Query()), http.StatusSeeOther)
	})
	mux.HandleFunc("POST /token", i.exchange)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		i.t.Error(err)
	}
}

// answerTo returns the address of the answer to a request, as for a person who agrees.
func (i *issuer) answerTo(q url.Values) string {
	code := rand.Text()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.codes[code] = q
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.URL}}.Encode()
}

// exchange gives an ID token for a code, once, to the client that has the verifier.
func (i *issuer) exchange(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if q == nil || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprint(w, `{"error":"invalid_grant"}`) // the test sees a refusal in any case
		return
	}
	now := time.Now().Unix()
	claims, err := json.Marshal(map[string]any{"iss": i.URL, "aud": q.Get("client_id"), "sub": i.person, "iat": now,
		"exp": now + 300, "nonce": q.Get("nonce")})
	if err != nil {
		i.t.Error(err)
	}
	token, err := jws.Sign(claims, jws.WithKey(jwa.RS256(), i.key))
	if err != nil {
		i.t.Error(err)
	}
	i.write(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": string(token)})
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// newIssuerStage serves the sample world to people of issuers.
func newIssuerStage(t *testing.T, issuers ...app.Issuer) *stage {
	t.Helper()
	addr := freeAddress(t)
	return newStageAt(t, addr, apptest.Quiet(), func(c *app.Config) { c.PublicURL, c.Issuers = "http://"+addr, issuers })
}

// begin presses the button of an issuer, and returns the address to which the browser goes.
func (v *visitor) begin(name string, form url.Values) *url.URL {
	v.t.Helper()
	status, body, res := v.send("POST", "/sign-in/issuer/"+name, form)
	to, found := strings.CutPrefix(res.Header.Get("Refresh"), "0;url=")
	u, err := url.Parse(to)
	if status != 200 || !found || err != nil {
		v.t.Fatalf("%d %v: %s", status, err, body)
	}
	return u
}

// follow opens an address of anybody's, and returns where redirects lead and the page there.
func (v *visitor) follow(address string) (status int, path, body string) {
	v.t.Helper()
	was := v.base
	v.base = ""
	status, body, res := v.send("GET", address, nil)
	v.base = was
	return status, res.Request.URL.RequestURI(), body
}

// TestAnInvitedPersonSignsInByAnIssuer is unknown at first, joins by an invitation, and comes back to a page of the
// world; without scripts.
func TestAnInvitedPersonSignsInByAnIssuer(t *testing.T) {
	t.Parallel()
	i := newIssuer(t, "anna")
	s := newIssuerStage(t, app.Issuer{Name: "kc", Issuer: i.URL, ClientID: "pages", MaxRole: "gm", Label: "Keycloak"})
	early := s.visitor()
	early.wants("/sign-in", "Sign in with Keycloak")
	if status, path, body := early.follow(early.begin("kc", url.Values{"to": {"/"}}).String()); status != 200 ||
		path != "/" || !strings.Contains(body, "You are in no world yet") || !strings.Contains(body, "you join as <b>kc:anna</b>") {
		t.Fatalf("%d at %s: %s", status, path, body)
	}
	keeper, guest, code := s.visitor(), s.visitor(), s.invitation()
	keeper.signIn(s.code(access.RoleAdmin))
	_, page, _ := guest.send("POST", "/join", url.Values{"code": {code}})
	if !strings.Contains(page, "Join with Keycloak") {
		t.Fatalf("%s", page)
	}
	if status, path, body := guest.follow(guest.begin("kc", url.Values{"code": {code}}).String()); status != 200 ||
		!strings.Contains(body, "Lendwater") {
		t.Fatalf("%d at %s: %s", status, path, body)
	}
	guest.wants("/w/lendwater/Rent%20Quay", "front doorstep")
	guest.wants("/account", "Keycloak, since")
	early.wants("/w/lendwater/Rent%20Quay", "front doorstep") // the same person
	keeper.wants("/members/lendwater", "kc:anna")
	returned := s.visitor()
	returned.follow(returned.begin("kc", nil).String())
	for _, text := range []string{"accept invitation", "sign in", "kc:anna", "Keycloak"} {
		keeper.wants("/audit/lendwater?of=keys", text)
	}
	// The session that was there first ends at once, everywhere.
	guest.send("POST", "/account/end", url.Values{"session": {"others"}})
	if _, _, res := early.send("GET", "/w/lendwater", nil); res.Request.URL.Path != "/sign-in" {
		t.Errorf("an ended session opens %s", res.Request.URL)
	}
	// The person comes back to the page that was asked for; a page elsewhere is none.
	const home = "/home/lendwater"
	for to, want := range map[string]string{"/w/lendwater?q=rent": "/w/lendwater?q=rent", "//evil.example": home,
		"https://evil.example": home, "/\\evil.example": home, "/w/" + strings.Repeat("x", 2000): home} {
		v := s.visitor()
		if status, path, _ := v.follow(v.begin("kc", url.Values{"to": {to}}).String()); status != 200 || path != want {
			t.Errorf("%.30s leads to %s, %d", to, path, status)
		}
	}
	// Ending the membership ends the rights.
	keeper.send("POST", "/members/lendwater/end", url.Values{"subject": {"kc:anna"}})
	if status, body, _ := guest.send("GET", "/w/lendwater/Rent%20Quay", nil); status != 404 {
		t.Errorf("removed, and still %d: %.300s", status, body)
	}
}

// TestForgedSignInsByAnIssuer tries the answers that an attacker can bring about.
func TestForgedSignInsByAnIssuer(t *testing.T) {
	t.Parallel()
	honest, hostile := newIssuer(t, "anna"), newIssuer(t, "mallory")
	s := newIssuerStage(t, app.Issuer{Name: "honest", Issuer: honest.URL, ClientID: "pages"},
		app.Issuer{Name: "hostile", Issuer: hostile.URL, ClientID: "pages"})
	refused := func(what string, v *visitor, address string) {
		t.Helper()
		status, _, body := v.follow(address)
		if status != http.StatusUnauthorized || !strings.Contains(body, "This sign-in did not work") {
			t.Errorf("%s: %d %.600s", what, status, body)
		}
		if _, _, res := v.send("GET", "/account", nil); res.Request.URL.Path != "/sign-in" {
			t.Errorf("%s: a session is open", what)
		}
	}
	// The victim opens the answer to the attacker's own sign-in.
	mallory := s.visitor()
	trap := hostile.answerTo(mallory.begin("hostile", nil).Query())
	refused("another browser", s.visitor(), trap)
	victim := s.visitor()
	victim.begin("hostile", nil)
	refused("another sign-in of the same issuer", victim, trap)

	// Mix-up: the victim chose the honest issuer, and the hostile one gets the request.
	victim = s.visitor()
	mixed := victim.begin("honest", nil).Query()
	refused("an answer of another issuer", victim, hostile.answerTo(mixed))
	victim = s.visitor()
	mixed = victim.begin("honest", nil).Query()
	u, err := url.Parse(honest.answerTo(mixed))
	if err != nil {
		t.Fatal(err)
	}
	refused("a code at the address of another issuer", victim,
		strings.Replace(u.String(), "/sign-in/issuer/honest", "/sign-in/issuer/hostile", 1))

	// A code of somebody else's sign-in is bound to another verifier and nonce.
	victim = s.visitor()
	stolen, err := url.Parse(honest.answerTo(victim.begin("honest", nil).Query()))
	if err != nil {
		t.Fatal(err)
	}
	mallory = s.visitor()
	own := mallory.begin("honest", nil).Query()
	refused("a stolen code", mallory, s.base+"/sign-in/issuer/honest?"+url.Values{"code": {stolen.Query().Get("code")},
		"state": {own.Get("state")}, "iss": {honest.URL}}.Encode())

	// An answer works once.
	v := s.visitor()
	answer := honest.answerTo(v.begin("honest", nil).Query())
	cookies := v.http.Jar.Cookies(mustURL(t, s.base))
	if status, path, _ := v.follow(answer); status != 200 || path != "/" {
		t.Fatalf("%d at %s", status, path)
	}
	thief := s.visitor()
	thief.http.Jar.SetCookies(mustURL(t, s.base), cookies)
	refused("an answer once more", thief, answer)

	// The address to which the issuer answers does not follow the request, and a form elsewhere begins nothing.
	v = s.visitor()
	v.host = "localhost:1"
	if got := v.begin("honest", nil).Query().Get("redirect_uri"); got != s.base+"/sign-in/issuer/honest" {
		t.Errorf("a forged Host is answered at %s", got)
	}
	if status, _, _ := s.visitor().send("POST", "/sign-in/issuer/honest", nil, "Origin: https://evil.example"); status != 403 {
		t.Errorf("a form of another origin: %d", status)
	}
	if status, _, _ := s.visitor().send("POST", "/sign-in/issuer/nobody", nil); status != 404 {
		t.Errorf("an unknown issuer: %d", status)
	}
	if status, _, body := s.visitor().follow(s.base + "/sign-in/issuer/honest?error=%3Cscript%3E&state=x"); status != 401 ||
		strings.Contains(body, "<script>") {
		t.Errorf("%d %s", status, body)
	}
	// An issuer that is down has a page that says so, and the others work.
	hostile.Close()
	status, body, _ := s.visitor().send("POST", "/sign-in/issuer/hostile", nil)
	if status == 200 { // its address is known still
		status, _, body = func() (int, string, string) {
			v := s.visitor()
			return v.follow(hostile.answerTo(v.begin("hostile", nil).Query()))
		}()
	}
	if status != 503 || !strings.Contains(body, "hostile cannot be reached now") || !strings.Contains(body, "Sign in with honest") {
		t.Errorf("%d %s", status, body)
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestIssuerButtonsAreAccessible looks at the pages with an issuer's button on a phone and on a desk, light and dark.
func TestIssuerButtonsAreAccessible(t *testing.T) {
	t.Parallel()
	script := loadAxe(t)
	i := newIssuer(t, "anna")
	s := newIssuerStage(t, app.Issuer{Name: "kc", Issuer: i.URL, ClientID: "pages", Label: "Keycloak"},
		app.Issuer{Name: "school", Issuer: i.URL + "/other", ClientID: "pages", Label: "The account of your school"})
	code := s.invitation()
	for _, width := range []int64{390, 1280} {
		p := newTab(t, s.base, width)
		p.allow("a request to another origin: " + i.URL)
		for _, mode := range []string{"light", "dark"} {
			if mode == "dark" {
				p.dark()
			}
			p.checkAxe(script, "/sign-in")
			p.look(fmt.Sprintf("sign-in-issuer-%d-%s", width, mode))
			p.open("/join")
			p.fill("#code", code)
			p.click("Open it")
			p.wants("Join with Keycloak")
			p.checkAxeHere(script, "/join")
			p.look(fmt.Sprintf("join-issuer-%d-%s", width, mode))
		}
		p.open("/sign-in?to=%2Faccount")
		p.click("Sign in with Keycloak")
		p.waits(`location.pathname === "/account"`, "the person is where they wanted to go")
		p.open("/")
		p.wants("You are in no world yet")
		p.checkAxeHere(script, "/")
		p.look(fmt.Sprintf("no-world-%d-dark", width))
	}
}

// invitation returns the code of an invitation for two game masters.
func (s *stage) invitation() string {
	s.t.Helper()
	keeper := s.visitor()
	keeper.signIn(s.code(access.RoleAdmin))
	_, page, _ := keeper.send("POST", "/members/lendwater/invite", url.Values{"role": {"gm"}, "uses": {"2"}, "days": {"1"}})
	_, rest, found := strings.Cut(page, "/join#")
	if !found {
		s.t.Fatalf("no invitation: %.1000s", page)
	}
	return rest[:36]
}

// TestARealIssuer signs a person in by oidc-provider, a certified OpenID provider, through its own pages. CLIENTS names
// the folder of the programs that npm installed.
func TestARealIssuer(t *testing.T) {
	programs := os.Getenv("CLIENTS")
	if programs == "" {
		t.Skip("CLIENTS is not set: a real issuer is not tried (make proof does)")
	}
	addr, port := freeAddress(t), strings.TrimPrefix(freeAddress(t), "127.0.0.1:")
	base := "http://" + addr
	node := exec.CommandContext(t.Context(), filepath.Join(programs, "node"), "testdata/issuer.mjs",
		filepath.Join(programs, "..", "oidc-provider", "lib", "index.js"), port, base+"/sign-in/issuer/real")
	out, err := node.StdoutPipe()
	if err == nil {
		node.Stderr = os.Stderr
		err = node.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = node.Wait() }() // it is killed
	defer func() { _ = node.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "listening\n" {
		t.Fatalf("oidc-provider: %q, %v", line, err)
	}
	t.Setenv("ISSUER_SECRET", "s/cret+of_the_pages")
	s := newStageAt(t, addr, apptest.Quiet(), func(c *app.Config) {
		c.PublicURL = base
		c.Issuers = app.Issuers{{Name: "real", Issuer: "http://localhost:" + port, ClientID: "pages",
			SecretEnv: "ISSUER_SECRET", Scopes: []string{"groups"}, Roles: map[string]string{"masters": "gm"}, MaxRole: "gm",
			Label: "Real"}}
	})
	began := time.Now()
	p := newTab(t, s.base, 1280)
	p.allow("a request to another origin: http://localhost:" + port)
	p.allow("404 for http://localhost:" + port)                          // it has no picture for its tab
	p.allow("a request to another origin: https://fonts.googleapis.com") // of the issuer's own pages
	p.open("/join")
	p.fill("#code", s.invitation())
	p.click("Open it")
	p.touch("Join with Real")
	p.waits(`!!document.querySelector("input[name=login]")`, "the issuer asks who the person is")
	p.fill("input[name=login]", "ada")
	p.fill("input[name=password]", "x")
	p.eval(`document.querySelector("form").submit()`)
	p.waits(`document.body.innerText.includes("Authorize") && !document.querySelector("input[name=login]")`,
		"the issuer asks for consent")
	p.eval(`document.querySelector("form").submit()`)
	p.waits(fmt.Sprintf(`location.origin === %q && document.readyState === "complete"`, base), "the person is back")
	p.open("/w/lendwater/Rent%20Quay")
	p.wants("front doorstep")
	p.wants("Edit") // as a game master
	p.open("/account")
	p.wants("real:ada")
	p.click("Sign out")
	p.open("/w/lendwater")
	p.touch("Sign in with Real") // the issuer remembers the person
	p.waits(`location.pathname === "/w/lendwater"`, "the person is where they wanted to go")
	t.Logf("oidc-provider signed in a person twice in %s", time.Since(began).Round(time.Second/10))
	if err := chromedp.Do(p.ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Error(err)
	}
}
