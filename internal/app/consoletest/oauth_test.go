package consoletest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
	"loregate/internal/waittest"
)

// callback is the address of a client on this machine to which the person's browser returns.
type callback struct {
	url  string
	came chan *http.Request
}

func newCallback(t *testing.T) *callback {
	t.Helper()
	c := &callback{came: make(chan *http.Request, 4)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			c.came <- r
		}
		_, _ = io.WriteString(w, "<!doctype html><title>Done</title>You can go back to the client.")
	}))
	t.Cleanup(s.Close)
	c.url = s.URL + "/callback"
	return c
}

// registerQuill lets a client register.
func registerQuill(back *callback) func(*auth.AuthorizationCodeHandlerConfig) {
	return func(c *auth.AuthorizationCodeHandlerConfig) {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Quill", RedirectURIs: []string{back.url}}}
	}
}

// connect connects a client whose person opens the page of consent by visit. introduce chooses how the client
// says who it is. The client fails to connect if there is no answer.
func (s *stage) connect(back *callback, introduce func(*auth.AuthorizationCodeHandlerConfig),
	visit func(address string)) (*mcp.ClientSession, error) {
	s.t.Helper()
	asked := 0
	config := &auth.AuthorizationCodeHandlerConfig{RedirectURL: back.url,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if asked = asked + 1; asked > 1 {
				return nil, errors.New("the client was let in once and has to ask again")
			}
			visit(args.URL)
			select {
			case r := <-back.came:
				if why := r.FormValue("error"); why != "" {
					return nil, fmt.Errorf("refused: %s", why)
				}
				if cookies := r.Cookies(); len(cookies) > 0 {
					s.t.Errorf("the client got cookies: %v", cookies)
				}
				return &auth.AuthorizationResult{Code: r.FormValue("code"), State: r.FormValue("state"),
					Iss: r.FormValue("iss")}, nil
			case <-waittest.Context(s.t).Done():
				return nil, fmt.Errorf("no answer came")
			}
		}}
	introduce(config)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		s.t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "quill", Version: "1"}, nil)
	session, err := client.Connect(s.t.Context(), &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp",
		OAuthHandler: handler}, nil)
	if err == nil {
		s.t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

// signer makes the steps of signing in one by one, as an attacker could.
type signer struct {
	*visitor
	redirect, client, resource string
}

const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636, appendix B
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// newSigner registers a client and signs a person in.
func (s *stage) newSigner(role access.Role) *signer {
	s.t.Helper()
	g := &signer{visitor: s.visitor().withoutRedirects(), redirect: "http://127.0.0.1:9/cb", resource: s.base + "/mcp"}
	g.host = strings.TrimPrefix(identity.PagesURL(s.base), "http://")
	status, body, _ := g.send("POST", "/sign-in", url.Values{"secret": {s.code(role)}})
	if status != 303 {
		s.t.Fatalf("%d %s", status, body)
	}
	g.client = g.register(`{"client_name": "Quill", "redirect_uris": ["` + g.redirect + `"]}`)
	return g
}

func (g *signer) register(body string) string {
	g.t.Helper()
	status, answer := g.post("/oauth/register", "application/json", body)
	var out struct {
		ClientID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(answer), &out); err != nil || status != 201 {
		g.t.Fatalf("%d %s", status, answer)
	}
	return out.ClientID
}

func (g *signer) post(path, kind, body string) (status int, answer string) {
	g.t.Helper()
	res, err := http.Post(g.base+path, kind, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // the body was only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// request returns the parameters of a sound request, with changes by pairs; "" drops one.
func (g *signer) request(changes ...string) url.Values {
	q := url.Values{"response_type": {"code"}, "client_id": {g.client}, "redirect_uri": {g.redirect}, "state": {"s1"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"}, "resource": {g.resource}}
	for i := 0; i < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	return q
}

// allow consents, and returns the answer to the client.
func (g *signer) allow(changes ...string) url.Values {
	g.t.Helper()
	form := g.request(append([]string{"decision", "allow", "world", "lendwater", "role", "user", "may", "propose"},
		changes...)...)
	status, body, res := g.send("POST", "/authorize", form)
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || status != 303 || !strings.HasPrefix(to.String(), g.redirect+"?") {
		g.t.Fatalf("%d to %q: %s", status, to, body)
	}
	return to.Query()
}

// consent lets in the client that asks by an address, with changes by pairs, and returns the address of the
// answer.
func (g *signer) consent(address string, changes ...string) string {
	g.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		g.t.Fatal(err)
	}
	form := u.Query()
	for name, value := range map[string]string{"decision": "allow", "world": "lendwater", "role": "user",
		"may": "propose"} {
		form.Set(name, value)
	}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	status, body, res := g.send("POST", "/authorize", form)
	if status != 303 {
		g.t.Fatalf("%d %s", status, body)
	}
	return res.Header.Get("Location")
}

// tokens asks for tokens, with changes to a sound request.
func (g *signer) tokens(changes ...string) (status int, answer map[string]any) {
	g.t.Helper()
	q := url.Values{"grant_type": {"authorization_code"}, "client_id": {g.client}, "redirect_uri": {g.redirect},
		"code_verifier": {verifier}, "resource": {g.resource}}
	for i := 0; i < len(changes); i += 2 {
		if q.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	status, body := g.post("/oauth/token", "application/x-www-form-urlencoded", q.Encode())
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		g.t.Fatalf("%d %s", status, body)
	}
	return status, answer
}

func (g *signer) refresh(token any, changes ...string) (status int, answer map[string]any) {
	g.t.Helper()
	return g.tokens(append([]string{"grant_type", "refresh_token", "refresh_token", fmt.Sprint(token), "redirect_uri", "",
		"code_verifier", ""}, changes...)...)
}

// call initializes a connection at an address with an access token.
func (g *signer) call(path string, token any) (status int) {
	g.t.Helper()
	client := &visitor{t: g.t, base: g.base, http: http.DefaultClient}
	status, _, _ = client.sendBody("POST", path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize",`+
		`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`),
		"Authorization: Bearer "+fmt.Sprint(token), "Content-Type: application/json",
		"Accept: application/json, text/event-stream")
	return status
}

// TestRequestsThatSendNothingAnywhere are those whose client or redirect address is not sound: an open
// redirect, or a code for somebody else.
func TestRequestsThatSendNothingAnywhere(t *testing.T) {
	t.Parallel()
	g := newStage(t).newSigner(access.RoleGM)
	for name, changes := range map[string][]string{
		"another redirect":      {"redirect_uri", "https://elsewhere.example/cb"},
		"another path":          {"redirect_uri", "http://127.0.0.1:9/cb/x"},
		"another loopback host": {"redirect_uri", "http://localhost:9/cb"},
		"a query more":          {"redirect_uri", "http://127.0.0.1:9/cb?x=1"},
		"a user":                {"redirect_uri", "http://127.0.0.1:9@elsewhere.example/cb"},
		"a fragment":            {"redirect_uri", "http://127.0.0.1:9/cb#x"},
		"a script":              {"redirect_uri", "javascript:alert(1)"},
		"a forged client":       {"client_id", g.client[:len(g.client)-2] + "AA"},
		"no client":             {"client_id", ""},
	} {
		for _, method := range []string{"GET", "POST"} {
			form := g.request(append(changes, "decision", "allow", "world", "lendwater", "role", "user")...)
			path := "/authorize"
			if method == "GET" {
				path += "?" + form.Encode()
			}
			status, body, res := g.send(method, path, form)
			if status < 400 || res.Header.Get("Location") != "" || strings.Contains(body, "lga_") {
				t.Errorf("%s by %s: %d to %q", name, method, status, res.Header.Get("Location"))
			}
		}
	}
	twice := g.request()
	twice.Add("redirect_uri", "https://elsewhere.example/cb")
	if status, _, _ := g.send("GET", "/authorize?"+twice.Encode(), nil); status != 400 {
		t.Errorf("two redirect addresses: %d", status)
	}
}

// TestRequestsThatAreRefusedAtTheClient have a sound redirect address: the client is told, with the state and
// the issuer.
func TestRequestsThatAreRefusedAtTheClient(t *testing.T) {
	t.Parallel()
	g := newStage(t).newSigner(access.RoleGM)
	for name, row := range map[string]struct {
		want    string
		changes []string
	}{
		"no challenge":         {"invalid_request", []string{"code_challenge", ""}},
		"the method plain":     {"invalid_request", []string{"code_challenge_method", "plain"}},
		"no method":            {"invalid_request", []string{"code_challenge_method", ""}},
		"an implicit token":    {"unsupported_response_type", []string{"response_type", "token"}},
		"another server":       {"invalid_target", []string{"resource", "https://elsewhere.example/mcp"}},
		"another path":         {"invalid_target", []string{"resource", g.base + "/api/mcp"}},
		"another port":         {"invalid_target", []string{"resource", "http://127.0.0.1:1/mcp"}},
		"no resource":          {"invalid_target", []string{"resource", ""}},
		"a query in it":        {"invalid_target", []string{"resource", g.resource + "?x=1"}},
		"the person says no":   {"access_denied", []string{"decision", "deny"}},
		"the person says else": {"access_denied", []string{"decision", "x"}},
	} {
		got := g.allow(row.changes...)
		if got.Get("error") != row.want || got.Get("state") != "s1" || got.Get("iss") == "" || got.Get("code") != "" {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, changes := range map[string][]string{"a role above the own": {"role", "admin"}, "no role": {"role", ""},
		"another world": {"world", "elsewhere"}, "another part": {"surfaces", "elsewhere"}} {
		form := g.request(append([]string{"decision", "allow", "world", "lendwater", "role", "user"}, changes...)...)
		if status, _, res := g.send("POST", "/authorize", form); status != 400 || res.Header.Get("Location") != "" {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// TestACodeWorksOnce tries a code twice, with another verifier, for another client, address and resource.
func TestACodeWorksOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g := s.newSigner(access.RoleGM)
	answer := g.allow()
	if answer.Get("iss") != g.base {
		t.Errorf("iss is %q, want %q", answer.Get("iss"), g.base)
	}
	code := answer.Get("code")
	status, first := g.tokens("code", code)
	if status != 200 || first["token_type"] != "Bearer" || first["expires_in"] != 3600.0 {
		t.Fatalf("%d %v", status, first)
	}
	for path, want := range map[string]int{"/mcp": 200, "/mcp/archive": 401, "/mcp/readonly": 401} {
		if got := g.call(path, first["access_token"]); got != want {
			t.Errorf("the token at %s: %d, want %d", path, got, want)
		}
	}
	if status, _, _ := g.send("GET", "/api/mcp/cards/Rent%20Quay", nil,
		fmt.Sprint("Authorization: Bearer ", first["access_token"])); status != 401 {
		t.Errorf("the token at another resource: %d", status)
	}
	if got := g.call("/mcp", first["refresh_token"]); got != 401 {
		t.Errorf("the refresh token as access token: %d", got)
	}
	if status, _ := g.tokens("code", code); status != 400 {
		t.Errorf("the code again: %d", status)
	}
	if got := g.call("/mcp", first["access_token"]); got != 401 {
		t.Errorf("the first token after the code came again: %d", got)
	}
	if status, _ := g.refresh(first["refresh_token"]); status != 400 {
		t.Errorf("the first refresh token after the code came again: %d", status)
	}
	patient := g.allow().Get("code")
	if status, answer := g.tokens("code", patient, "client_id", ""); status != 400 ||
		answer["error"] != "invalid_request" {
		t.Errorf("no client: %d %v", status, answer)
	}
	if status, _ := g.tokens("code", patient); status != 200 {
		t.Errorf("a request without a client spends the code: %d", status)
	}
	other := g.register(`{"client_name": "Other", "redirect_uris": ["` + g.redirect + `"]}`)
	for name, changes := range map[string][]string{"no verifier": {"code_verifier", ""},
		"another verifier": {"code_verifier", strings.Repeat("x", 43)}, "another client": {"client_id", other},
		"another address":  {"redirect_uri", "http://127.0.0.1:10/cb"},
		"another resource": {"resource", g.base + "/mcp/archive"}} {
		code := g.allow().Get("code")
		if status, answer := g.tokens(append(changes, "code", code)...); status != 400 || answer["error"] != "invalid_grant" {
			t.Errorf("%s: %d %v", name, status, answer)
		}
		if status, _ := g.tokens("code", code); status != 400 {
			t.Errorf("%s: the code still works", name)
		}
	}
}

// TestRefreshTokensRotate refreshes, replays, and refreshes as another client.
func TestRefreshTokensRotate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g := s.newSigner(access.RoleGM)
	_, first := g.tokens("code", g.allow().Get("code"))
	status, second := g.refresh(first["refresh_token"], "resource", "")
	if status != 200 || second["refresh_token"] == first["refresh_token"] || g.call("/mcp",
		second["access_token"]) != 200 {
		t.Fatalf("%d %v", status, second)
	}
	if status, answer := g.refresh(first["refresh_token"]); status != 400 || answer["error"] != "invalid_grant" {
		t.Errorf("a replay: %d %v", status, answer)
	}
	if got := g.call("/mcp", second["access_token"]); got != 401 {
		t.Errorf("the family lives after a replay: %d", got)
	}
	_, third := g.tokens("code", g.allow().Get("code"))
	other := g.register(`{"redirect_uris": ["` + g.redirect + `"]}`)
	if status, _ := g.refresh(third["refresh_token"], "client_id", other); status != 400 {
		t.Errorf("another client refreshes: %d", status)
	}
	_, fourth := g.tokens("code", g.allow().Get("code"))
	form := url.Values{"client_id": {g.client}, "token": {fmt.Sprint(fourth["refresh_token"])}}
	if status, _ := g.post("/oauth/revoke", "application/x-www-form-urlencoded", form.Encode()); status != 200 {
		t.Errorf("revoking: %d", status)
	}
	if got := g.call("/mcp", fourth["access_token"]); got != 401 {
		t.Errorf("after the client gave up its access: %d", got)
	}
}

// TestConsentCannotBeForged asks as a page of another origin, without a session, in a frame, and with the key
// of a program.
func TestConsentCannotBeForged(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g := s.newSigner(access.RoleGM)
	form := g.request("decision", "allow", "world", "lendwater", "role", "user")
	for _, header := range []string{"Origin: https://elsewhere.example", "Origin: null", "Sec-Fetch-Site: cross-site"} {
		if status, _, res := g.send("POST", "/authorize", form, header); status != 403 || res.Header.Get("Location") != "" {
			t.Errorf("%s: %d", header, status)
		}
	}
	_, _, res := g.send("GET", "/authorize?"+form.Encode(), nil)
	csp := res.Header.Get("Content-Security-Policy")
	if res.Header.Get("X-Frame-Options") != "DENY" || !strings.Contains(csp, "frame-ancestors 'none'") ||
		!strings.Contains(csp, "form-action 'self' http://127.0.0.1:9;") {
		t.Errorf("frames, or other forms: %s", csp)
	}
	stranger := s.visitor()
	stranger.http.CheckRedirect = g.http.CheckRedirect
	for host, want := range map[string]string{"": identity.PagesURL(s.base) + "/authorize?",
		identity.PagesHost: "/sign-in?to=%2Fauthorize"} {
		stranger.host = host
		if _, _, res := stranger.send("GET", "/authorize?"+form.Encode(),
			nil); !strings.HasPrefix(res.Header.Get("Location"), want) {
			t.Errorf("without a session at %q: %v", host, res.Header)
		}
	}
	program := s.visitor()
	program.http.CheckRedirect = g.http.CheckRedirect
	secret := s.keys[access.RoleUser]
	program.send("POST", "/sign-in", url.Values{"secret": {secret}})
	if status, _, res := program.send("POST", "/authorize", form); status != 403 || res.Header.Get("Location") != "" {
		t.Errorf("the key of a program lets clients in: %d", status)
	}
}

// TestRegistrationsAreChecked registers with addresses that a browser must not be sent to.
func TestRegistrationsAreChecked(t *testing.T) {
	t.Parallel()
	g := newStage(t).newSigner(access.RoleUser)
	for _, body := range []string{`{"redirect_uris": []}`, `{}`, `[]`,
		`{"redirect_uris": ["http://elsewhere.example/cb"]}`,
		`{"redirect_uris": ["javascript:alert(1)"]}`, `{"redirect_uris": ["https://x.example/#a"]}`,
		`{"redirect_uris": ["https://u@x.example/"]}`, `{"redirect_uris": ["http://127.0.0.1.elsewhere.example/"]}`,
		`{"redirect_uris": ["https://x.example/"], "client_name": "a\u0007b"}`,
		`{"redirect_uris": ["https://x.example/` + strings.Repeat("x", 2000) + `"]}`} {
		if status, answer := g.post("/oauth/register", "application/json", body); status != 400 ||
			!strings.Contains(answer, `"error":"invalid_`) {
			t.Errorf("%.60s: %d %s", body, status, answer)
		}
	}
}

// TestRegistrationsAreLimited registers without end from one address, which takes nothing from others.
func TestRegistrationsAreLimited(t *testing.T) {
	t.Parallel()
	g := newStageWith(t, app.Options{}).newSigner(access.RoleUser)
	status, answer := 201, ""
	for n := 0; status == 201 && n < 200; n++ {
		status, answer = g.post("/oauth/register", "application/json", `{"redirect_uris": ["`+g.redirect+`"]}`)
	}
	if status != 429 || !strings.Contains(answer, "rate_limited") {
		t.Fatalf("a flood of registrations ends with %d %s", status, answer)
	}
	code := g.allow()
	if status, answer := g.tokens("code", code.Get("code")); status != 200 {
		t.Errorf("a client that registered before gets no tokens: %d %v", status, answer)
	}
}

// TestDiscovery reads the pages that clients read first.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	port := s.base[strings.LastIndex(s.base, ":"):]
	for _, origin := range []string{s.base, "http://localhost" + port} {
		for _, path := range []string{"/mcp", "/mcp/archive", "/mcp/archive+world", "/mcp/readonly",
			"/mcp/archive/readonly"} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				r, err := http.NewRequestWithContext(t.Context(), method, origin+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				want := `Bearer resource_metadata="` + origin + "/.well-known/oauth-protected-resource" + path + `", scope="user"`
				if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != 401 || got != want {
					t.Errorf("%s %s: %d %s, want %s", method, path, res.StatusCode, got, want)
				}
			}
			meta, err := oauthex.GetProtectedResourceMetadata(t.Context(),
				origin+"/.well-known/oauth-protected-resource"+path, origin+path, http.DefaultClient)
			if err != nil || meta.AuthorizationServers[0] != origin {
				t.Errorf("%s: %+v, %v", path, meta, err)
			}
		}
		as, err := oauthex.GetAuthServerMeta(t.Context(), origin+"/.well-known/oauth-authorization-server", origin,
			http.DefaultClient)
		if err != nil || as.AuthorizationEndpoint != origin+"/authorize" {
			t.Errorf("%+v, %v", as, err)
		}
	}
	for _, path := range []string{"oauth-authorization-server", "oauth-protected-resource/mcp"} {
		if _, body := apptest.Send(t, "GET", s.base+"/.well-known/"+path, "", ""); strings.Contains(string(body), "null") {
			t.Errorf("a list is null: %s", body)
		}
	}
	if status, _ := apptest.Send(t, "GET", s.base+"/.well-known/openid-configuration", "", ""); status != 404 {
		t.Errorf("openid-configuration: %d", status)
	}
}

// TestACallbackOnThePagesHostGetsNoCookie lets a client in whose callback has the host of the pages, as a person
// does who opened them at 127.0.0.1: cookies ignore ports.
func TestACallbackOnThePagesHostGetsNoCookie(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	person := newTab(t, s.base, 1280)
	person.allow("a request to another origin: http://127.0.0.1")
	person.allow("404 for http://127.0.0.1")
	person.signIn(s.link(access.RoleGM))
	back := newCallback(t)
	g := &signer{visitor: s.visitor(), redirect: back.url, resource: s.base + "/mcp"}
	g.client = g.register(`{"client_name": "Quill", "redirect_uris": ["` + back.url + `"]}`)
	for _, decision := range []string{"deny", "allow"} {
		person.do(chromedp.Navigate(s.base + "/authorize?" + g.request().Encode()))
		person.wants("Let Quill in?")
		person.submit(`document.querySelector("form")`, `f.querySelector("[value=`+decision+`]").click(); return`)
		r := <-back.came
		if cookies := r.Cookies(); len(cookies) > 0 {
			t.Errorf("after %s the client gets %v", decision, cookies)
		}
		if decision == "allow" && r.FormValue("code") == "" {
			t.Errorf("the client gets no code: %s", r.URL)
		}
		person.signIn(s.link(access.RoleGM))
	}
}

// TestClientsRefuseAnotherIssuer changes the issuer in the answer to the client of the Go SDK.
func TestClientsRefuseAnotherIssuer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g, back := s.newSigner(access.RoleGM), newCallback(t)
	for _, row := range []struct {
		issuer string
		grants int
	}{{"https://elsewhere.example", 0}, {"", 0}, {s.base, 1}} {
		_, err := s.connect(back, registerQuill(back), func(address string) {
			to, err := url.Parse(g.consent(address))
			if err != nil {
				t.Fatal(err)
			}
			q := to.Query()
			if q.Set("iss", row.issuer); row.issuer == "" {
				q.Del("iss")
			}
			to.RawQuery = q.Encode()
			res, err := http.Get(to.String())
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		})
		grants, broken := s.app.Identity.Grants(t.Context(), "person-gm")
		if broken != nil || len(grants) != row.grants || (err == nil) != (row.grants > 0) {
			t.Errorf("the issuer %q: %d grants, %v, %v", row.issuer, len(grants), err, broken)
		}
	}
}

// TestLocalhostIsAnotherOrigin signs in at localhost. The token works there, and not at 127.0.0.1.
func TestLocalhostIsAnotherOrigin(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g := s.newSigner(access.RoleGM)
	g.resource = strings.Replace(s.base, "127.0.0.1", "localhost", 1) + "/mcp"
	answer := g.allow()
	if answer.Get("iss")+"/mcp" != g.resource {
		t.Errorf("the issuer is %q", answer.Get("iss"))
	}
	status, tokens := g.tokens("code", answer.Get("code"))
	if status != 200 {
		t.Fatalf("%d %v", status, tokens)
	}
	if got := g.call("/mcp", tokens["access_token"]); got != 401 {
		t.Errorf("the token of localhost at 127.0.0.1: %d", got)
	}
	g.base = strings.Replace(s.base, "127.0.0.1", "localhost", 1)
	if got := g.call("/mcp", tokens["access_token"]); got != 200 {
		t.Errorf("the token at localhost: %d", got)
	}
}

// TestConsentWithheldIsAToolsError calls tools with more rights than the person gave.
func TestConsentWithheldIsAToolsError(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g, back := s.newSigner(access.RoleGM), newCallback(t)
	for name, row := range map[string]struct {
		consent []string
		call    mcp.CallToolParams
	}{
		"writing": {[]string{"may", "read"}, mcp.CallToolParams{Name: "update_card",
			Arguments: map[string]any{"name": "Rent Quay", "content": "x"}}},
		"another part": {[]string{"surfaces", "world"}, mcp.CallToolParams{Name: "get_card",
			Arguments: map[string]any{"name": "Rent Quay"}}},
	} {
		session, err := s.connect(back, registerQuill(back), func(address string) {
			res, err := http.Get(g.consent(address, row.consent...))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := session.CallTool(t.Context(), &row.call)
		// A tool of another part looks as if there were none.
		if unknown := err != nil && strings.Contains(err.Error(), "unknown tool"); !unknown && (err != nil ||
			!answer.IsError) {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
}

// TestOnlyTheClientGivesUpItsAccess revokes with another client's id, with an unknown token, and with each token.
func TestOnlyTheClientGivesUpItsAccess(t *testing.T) {
	t.Parallel()
	g := newStage(t).newSigner(access.RoleGM)
	other := g.register(`{"client_name": "Other", "redirect_uris": ["` + g.redirect + `"]}`)
	_, tokens := g.tokens("code", g.allow().Get("code"))
	revoke := func(client string, token any) {
		t.Helper()
		form := url.Values{"client_id": {client}, "token": {fmt.Sprint(token)}}
		if status, body := g.post("/oauth/revoke", "application/x-www-form-urlencoded", form.Encode()); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	revoke(other, tokens["access_token"])
	revoke(other, tokens["refresh_token"])
	revoke(g.client, "lgr_"+strings.Repeat("a", 32))
	revoke(g.client, "")
	if got := g.call("/mcp", tokens["access_token"]); got != 200 {
		t.Errorf("another client ended the access: %d", got)
	}
	revoke(g.client, tokens["access_token"])
	if got := g.call("/mcp", tokens["access_token"]); got != 401 {
		t.Errorf("after revoking the access token: %d", got)
	}
	if status, _ := g.refresh(tokens["refresh_token"]); status != 400 {
		t.Errorf("the refresh token after revoking the access token: %d", status)
	}
}
