package identity_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/waittest"
)

// signInFixture is a Service whose people sign in by a provider.
type signInFixture struct {
	*fixture
	p    *provider
	last url.Values // what the browser brought to the issuer last
	sent url.Values // what the token endpoint got last
}

const pagesRedirect = "https://lore.example/sign-in/issuer/kc"

func newSignInFixture(t testing.TB, change ...func(*identity.Issuer)) *signInFixture {
	p := newProvider(t)
	p.says = func(url string) string {
		return fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q,"authorization_endpoint":%q,"token_endpoint":%q,
			"authorization_response_iss_parameter_supported":true}`, url+"/realms/lore", url+"/keys", url+"/auth?x=1",
			url+"/token")
	}
	i := identity.Issuer{Name: "kc", Issuer: p.URL + "/realms/lore", MaxRole: access.RoleAdmin,
		SignIn: identity.SignIn{ClientID: "pages", ClientSecret: "s/cret", Scopes: []string{"profile"}, Label: "Keycloak"}}
	for _, f := range change {
		f(&i)
	}
	secret := func(c *identity.Config) {
		c.Outside, c.ClientSecret = []identity.Issuer{i}, []byte("a secret of the instance")
	}
	f := &signInFixture{fixture: newFixture(t, secret), p: p}
	f.answer()
	return f
}

// answer has the issuer answer codes with an ID token with some claims replaced.
func (f *signInFixture) answer(pairs ...string) {
	f.answerToken(func() string { return signed(rsaKeys()[0], foreignHeader, f.idClaims(pairs...)) })
}

func (f *signInFixture) answerToken(token func() string) {
	f.answerWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","id_token":%q}`, token())
	})
}

func (f *signInFixture) answerWith(h http.HandlerFunc) {
	f.p.set(func() {
		f.p.token = func(w http.ResponseWriter, r *http.Request) {
			if err := r.ParseForm(); err != nil {
				f.t.Error(err)
			}
			f.sent = r.PostForm
			if id, secret, ok := r.BasicAuth(); ok {
				f.sent.Set("basic", id+" "+secret)
			}
			h(w, r)
		}
	})
}

func (f *signInFixture) idClaims(pairs ...string) string {
	at := f.now().Unix()
	return claims(append([]string{"iss", fmt.Sprintf("%q", f.p.URL+"/realms/lore"), "aud", `"pages"`, "sub", `"anna"`,
		"iat", fmt.Sprint(at), "nbf", "", "exp", fmt.Sprint(at + 300), "role", "", "world", "", "key", "",
		"nonce", fmt.Sprintf("%q", f.last.Get("nonce"))}, pairs...)...)
}

// begin begins a sign-in and returns the state that the browser keeps.
func (f *signInFixture) begin() string {
	f.t.Helper()
	address, begun, err := f.BeginIssuerSignIn(context.Background(), identity.IssuerSignIn{Issuer: "kc",
		Redirect: pagesRedirect, To: "/w/main"})
	if err != nil {
		f.t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.last = u.Query()
	return begun
}

// finish brings the issuer's answer, with some parameters replaced.
func (f *signInFixture) finish(begun string, change ...func(*identity.IssuerAnswer)) (identity.Key, string, error) {
	a := identity.IssuerAnswer{Issuer: "kc", State: f.last.Get("state"), Code: "c1", Iss: f.p.URL + "/realms/lore"}
	for _, c := range change {
		c(&a)
	}
	_, k, token, err := f.OpenIssuerSession(context.Background(), begun, a)
	return k, token, err
}

// signIn signs in and returns the caller of the session.
func (f *signInFixture) signIn() (token string, c access.Caller) {
	f.t.Helper()
	_, token, err := f.finish(f.begin())
	if err == nil {
		c, err = f.browsing(token)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return token, c
}

func TestAPersonSignsInByAnIssuer(t *testing.T) {
	f := newSignInFixture(t)
	f.join("kc:anna", mainWorld, gm)
	token, c := f.signIn()
	if c.Subject != "kc:anna" || c.Actor != access.Person || !c.Approve || c.Operator || c.Role(mainWorld) != gm ||
		c.Role(otherWorld) != none {
		t.Errorf("%+v", c)
	}
	sum := sha256.Sum256([]byte(f.sent.Get("code_verifier")))
	for name, pair := range map[string][2]string{
		"challenge": {f.last.Get("code_challenge"), base64.RawURLEncoding.EncodeToString(sum[:])},
		"method":    {f.last.Get("code_challenge_method"), "S256"},
		"redirect":  {f.last.Get("redirect_uri"), pagesRedirect},
		"same":      {f.sent.Get("redirect_uri"), pagesRedirect},
		"scope":     {f.last.Get("scope"), "openid profile"},
		"kept":      {f.last.Get("x"), "1"},
		"client":    {f.sent.Get("basic"), "pages s%2Fcret"}, // RFC 6749, section 2.3.1
		"in body":   {f.sent.Get("client_secret"), ""},
		"code":      {f.sent.Get("code"), "c1"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", name, pair[0], pair[1])
		}
	}
	open, err := f.Sessions(context.Background(), "kc:anna")
	if err != nil || len(open) != 1 || open[0].Name != "Keycloak" {
		t.Fatalf("%+v, %v", open, err)
	}
	if err := f.RevokeKey(context.Background(), open[0].ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.browsing(token)
	wantRefused(t, err, identity.ErrInvalid)
}

// Each answer is refused, and opens no session.
func TestAnswersThatAreRefused(t *testing.T) {
	k := rsaKeys()[0]
	for name, row := range map[string]struct {
		claims []string
		token  func(f *signInFixture) string
		answer func(*identity.IssuerAnswer)
		begun  func(f *signInFixture, begun string) string
	}{
		"a wrong state":        {answer: func(a *identity.IssuerAnswer) { a.State = "x" }},
		"no state":             {answer: func(a *identity.IssuerAnswer) { a.State = "" }},
		"another browser":      {begun: func(*signInFixture, string) string { return "" }},
		"another sign-in":      {begun: func(f *signInFixture, _ string) string { old := f.last; b := f.begin(); f.last = old; return b }},
		"a forged sign-in":     {begun: func(_ *signInFixture, b string) string { return "f" + b[1:] }},
		"a late answer":        {begun: func(f *signInFixture, b string) string { f.add(10 * time.Minute); return b }},
		"another's address":    {answer: func(a *identity.IssuerAnswer) { a.Issuer = "other" }},
		"iss of another":       {answer: func(a *identity.IssuerAnswer) { a.Iss = "https://evil.example" }},
		"no iss":               {answer: func(a *identity.IssuerAnswer) { a.Iss = "" }},
		"a wrong nonce":        {claims: []string{"nonce", `"x"`}},
		"no nonce":             {claims: []string{"nonce", ""}},
		"a nonce of no text":   {claims: []string{"nonce", `1`}},
		"for another client":   {claims: []string{"aud", `"other"`}},
		"for an API":           {claims: []string{"aud", `"https://lore.example"`}},
		"for others too":       {claims: []string{"aud", `["pages","other"]`, "azp", `"pages"`}},
		"two without azp":      {claims: []string{"aud", `["pages","pages"]`}},
		"issued to another":    {claims: []string{"azp", `"other"`}},
		"of another issuer":    {claims: []string{"iss", `"https://evil.example"`}},
		"expired":              {claims: []string{"exp", seconds(start.Add(-time.Minute))}},
		"without exp":          {claims: []string{"exp", ""}},
		"without iat":          {claims: []string{"iat", ""}},
		"from long ago":        {claims: []string{"iat", seconds(start.Add(-11 * time.Minute))}},
		"from the future":      {claims: []string{"iat", seconds(start.Add(time.Minute))}},
		"without sub":          {claims: []string{"sub", ""}},
		"a sub of a tab":       {claims: []string{"sub", `"a\tb"`}},
		"no ID token":          {token: func(*signInFixture) string { return "" }},
		"a very long ID token": {token: func(*signInFixture) string { return strings.Repeat("x", 65<<10) }},
		"alg none": {token: func(f *signInFixture) string {
			return b64(`{"alg":"none","kid":"r1"}`) + "." + b64(f.idClaims()) + "."
		}},
		"HS256 with the public key": {token: func(f *signInFixture) string {
			return macOf(publicPEM(k), `{"alg":"HS256","kid":"r1"}`, f.idClaims())
		}},
		"HS256 with the client's secret": {token: func(f *signInFixture) string {
			return macOf([]byte("s/cret"), `{"alg":"HS256","kid":"r1"}`, f.idClaims())
		}},
		"signed by another key": {token: func(f *signInFixture) string {
			return signed(rsaKeys()[1], foreignHeader, f.idClaims())
		}},
		"an access token": {token: func(f *signInFixture) string {
			return signed(k, `{"alg":"RS256","kid":"r1","typ":"at+jwt"}`, f.idClaims())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSignInFixture(t, func(i *identity.Issuer) { i.Audiences = []string{"https://lore.example"} })
			f.answer(row.claims...)
			if row.token != nil {
				f.answerToken(func() string { return row.token(f) })
			}
			begun := f.begin()
			if row.begun != nil {
				begun = row.begun(f, begun)
			}
			var change []func(*identity.IssuerAnswer)
			if row.answer != nil {
				change = append(change, row.answer)
			}
			_, token, err := f.finish(begun, change...)
			wantRefused(t, err, identity.ErrInvalid)
			if open, err := f.Sessions(context.Background(), "kc:anna"); err != nil || len(open) > 0 || token != "" {
				t.Errorf("%d sessions, %v", len(open), err)
			}
		})
	}
}

// An issuer that does not send iss (RFC 9207) need not; what it sends is checked all the same.
func TestIssOfTheAnswer(t *testing.T) {
	for iss, good := range map[string]bool{"": true, "https://evil.example": false} {
		f := newSignInFixture(t)
		says := f.p.says
		f.p.says = func(url string) string { return strings.Replace(says(url), "true", "false", 1) }
		if _, _, err := f.finish(f.begin(), func(a *identity.IssuerAnswer) { a.Iss = iss }); (err == nil) != good {
			t.Errorf("%q: %v", iss, err)
		}
	}
}

// An answer opens one session, also at an issuer that accepts its codes again, and in another process.
func TestAnAnswerWorksOnce(t *testing.T) {
	f := newSignInFixture(t)
	begun := f.begin()
	if _, _, err := f.finish(begun); err != nil {
		t.Fatal(err)
	}
	_, _, err := f.finish(begun)
	wantRefused(t, err, identity.ErrInvalid)
	f.answerWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
	})
	_, _, err = f.finish(f.begin())
	wantRefused(t, err, identity.ErrInvalid)
}

// The error of an issuer is shown in our words, and only if the answer is one to this browser.
func TestAnIssuerRefuses(t *testing.T) {
	f := newSignInFixture(t)
	refuse := func(a *identity.IssuerAnswer) { a.Error, a.Code = "access_denied<script>", "" }
	_, _, err := f.finish(f.begin(), refuse)
	if e := faultOf(err); e == nil || e.Kind != fault.Denied || strings.Contains(e.Message, "script") {
		t.Errorf("%v", err)
	}
	_, _, err = f.finish("", refuse)
	wantRefused(t, err, identity.ErrInvalid)
}

// Rights are never more than the membership, nor more than the issuer's configuration gives.
func TestRightsOfAnIssuersPerson(t *testing.T) {
	groups := map[string]identity.RoleGrant{"masters": {Role: gm}, "players": {Role: user},
		"keepers": {Role: admin, World: "main"}}
	for name, row := range map[string]struct {
		issuer func(*identity.Issuer)
		member access.Role
		claims []string
		want   access.Role
	}{
		"no member":                     {nil, none, nil, none},
		"a member":                      {nil, admin, nil, admin},
		"up to max_role":                {func(i *identity.Issuer) { i.MaxRole = user }, admin, nil, user},
		"a group, and no member":        {func(i *identity.Issuer) { i.Grants = groups }, none, []string{"roles", `["keepers"]`}, none},
		"everyone, and no member":       {func(i *identity.Issuer) { i.Everyone, i.Worlds = user, []string{"main"} }, none, nil, none},
		"a group above the membership":  {func(i *identity.Issuer) { i.Grants = groups }, user, []string{"roles", `["keepers"]`}, user},
		"a group below the membership":  {func(i *identity.Issuer) { i.Grants = groups }, gm, []string{"roles", `["players"]`}, user},
		"a group of the membership":     {func(i *identity.Issuer) { i.Grants = groups }, gm, []string{"roles", `["masters","x"]`}, gm},
		"in no group":                   {func(i *identity.Issuer) { i.Grants = groups }, gm, nil, none},
		"in no group, but one of all":   {func(i *identity.Issuer) { i.Grants, i.Everyone = groups, user }, gm, nil, user},
		"a token for another world":     {func(i *identity.Issuer) { i.WorldClaim = "w" }, gm, []string{"w", `"other"`}, none},
		"a token for this world":        {func(i *identity.Issuer) { i.WorldClaim = "w" }, gm, []string{"w", `"main"`}, gm},
		"a removed member":              {nil, none, nil, none},
		"actor ai is that of tokens":    {func(i *identity.Issuer) { i.Actor = access.AI }, gm, nil, gm},
		"a subject of a JSON pointer":   {func(i *identity.Issuer) { i.SubjectClaim = "/a/b" }, gm, []string{"a", `{"b":"anna"}`}, gm},
		"another subject, no member":    {nil, gm, []string{"sub", `"berta"`}, none},
		"the name of a local subject":   {nil, gm, []string{"sub", `"kc:anna"`}, none},
		"roles beside the given claim":  {func(i *identity.Issuer) { i.Grants, i.RolesClaim = groups, "/g" }, gm, []string{"roles", `["masters"]`}, none},
		"surfaces limit the person too": {func(i *identity.Issuer) { i.Surfaces = []string{"archive"} }, gm, nil, gm},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSignInFixture(t, func(i *identity.Issuer) {
				if row.issuer != nil {
					row.issuer(i)
				}
			})
			if row.member != none {
				f.join("kc:anna", mainWorld, row.member)
			}
			f.answer(row.claims...)
			token, c := f.signIn()
			if c.Role(mainWorld) != row.want || c.Role(otherWorld) != none || c.EveryRole != none || c.Operator {
				t.Errorf("%+v, want %s", c, row.want)
			}
			if strings.HasPrefix(name, "surfaces") && len(c.Surfaces) != 1 {
				t.Errorf("opens %v", c.Surfaces)
			}
			f.join("kc:anna", mainWorld, none)
			f.Invalidate()
			if c, err := f.browsing(token); err != nil || c.Role(mainWorld) != none {
				t.Errorf("removed, and still %s; %v", c.Role(mainWorld), err)
			}
		})
	}
}

// A session ends if its issuer is taken out of the configuration, or its name is given to another.
func TestASessionEndsWithItsIssuer(t *testing.T) {
	f := newSignInFixture(t)
	f.join("kc:anna", mainWorld, gm)
	token, _ := f.signIn()
	base := identity.Issuer{Name: "kc", Issuer: f.p.URL + "/realms/lore", Audiences: []string{"x"},
		SignIn: identity.SignIn{ClientID: "pages"}}
	for name, row := range map[string]struct {
		change func(*identity.Issuer)
		good   bool
	}{
		"as before":       {func(*identity.Issuer) {}, true},
		"for tokens only": {func(i *identity.Issuer) { i.SignIn = identity.SignIn{} }, false},
		"another address": {func(i *identity.Issuer) { i.Issuer = "https://other.example" }, false},
		"another name":    {func(i *identity.Issuer) { i.Name = "kd" }, false},
	} {
		i := base
		row.change(&i)
		s := f.another(func(c *identity.Config) { c.Outside = []identity.Issuer{i} })
		if _, err := s.Authenticate(context.Background(), token, identity.AudienceConsole); (err == nil) != row.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An issuer that fails or hangs costs its own people some seconds at most, and no one else any.
func TestAnIssuerThatFails(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) },
		"a wrong secret": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		},
		"a redirect":       func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) },
		"endless text":     func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"x":"`, strings.Repeat("x", 2<<20)) },
		"no JSON":          func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"a cut connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newSignInFixture(t)
			f.answerWith(h)
			_, _, err := f.finish(f.begin())
			if e := faultOf(err); e == nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "Keycloak cannot be") ||
				strings.Contains(e.Message, f.p.URL) {
				t.Errorf("%v", err)
			}
		})
	}
}

// issuers answers requests to the issuer "good" without a connection, and lets all others hang.
type issuers struct {
	hang func(*http.Request) error // returns when the request is given up
}

func (i issuers) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	switch {
	case r.URL.Host != "good.example" || r.Method != http.MethodGet:
		return nil, i.hang(r)
	case strings.HasSuffix(r.URL.Path, "/keys"):
		fmt.Fprintf(w, `{"keys":[%s]}`, rsaJWK("r1", rsaKeys()[0]))
	default:
		fmt.Fprintf(w, `{"issuer":%[1]q,"jwks_uri":"%[1]s/keys","authorization_endpoint":"%[1]s/a","token_endpoint":"%[1]s/t"}`,
			"https://good.example/realms/lore")
	}
	return w.Result(), nil
}

// newHangingFixture returns a fixture with the issuers "good", whose token endpoint hangs, and "hangs", which hangs.
func newHangingFixture(t *testing.T, hang func(*http.Request) error) *fixture {
	return newFixture(t, func(c *identity.Config) {
		c.ClientSecret, c.Fetch = []byte("x"), issuers{hang}
		for _, name := range []string{"good", "hangs"} {
			c.Outside = append(c.Outside, identity.Issuer{Name: name, Issuer: "https://" + name + ".example/realms/lore",
				SignIn: identity.SignIn{ClientID: "pages"}})
		}
	})
}

func TestAnIssuerThatHangs(t *testing.T) {
	t.Parallel()
	fetches, release := make(chan *http.Request, 20), make(chan struct{})
	f := newHangingFixture(t, func(r *http.Request) error { fetches <- r; <-release; return errors.New("it was released") })
	failed := make(chan error, 20)
	for range cap(failed) {
		go func() {
			_, _, err := f.BeginIssuerSignIn(context.Background(), identity.IssuerSignIn{Issuer: "hangs"})
			failed <- err
		}()
	}
	r := waittest.Receive(t, fetches, "a fetch that hangs")
	if until, ok := r.Context().Deadline(); !ok || time.Until(until) > 8*time.Second {
		t.Errorf("the issuer is waited for until %s", until)
	}
	if _, _, err := f.BeginIssuerSignIn(context.Background(), identity.IssuerSignIn{Issuer: "good"}); err != nil {
		t.Errorf("by the other issuer, while the first hangs: %v", err)
	}
	close(release)
	for range cap(failed) {
		if err := waittest.Receive(t, failed, "the people get an answer"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%v", err)
		}
	}
	if n := len(fetches); n > 0 {
		t.Errorf("20 people waited for %d more fetches in turn", n)
	}
}

func TestSettingsOfASignIn(t *testing.T) {
	for name, row := range map[string]struct {
		client identity.SignIn
		say    string
	}{
		"a client":         {identity.SignIn{ClientID: "pages"}, ""},
		"no client":        {identity.SignIn{}, "audience"},
		"a secret alone":   {identity.SignIn{ClientSecret: "x"}, "audience"},
		"a scope of two":   {identity.SignIn{ClientID: "pages", Scopes: []string{"a b"}}, "scopes"},
		"a client of two":  {identity.SignIn{ClientID: "a b"}, "client_id"},
		"a very long one":  {identity.SignIn{ClientID: strings.Repeat("x", 256)}, "client_id"},
		"a label of lines": {identity.SignIn{ClientID: "pages", Label: "a\nb"}, "label"},
	} {
		err := tryIssuers(t, identity.Issuer{Name: "kc", Issuer: "https://login.example", SignIn: row.client})
		if (err == nil) != (row.say == "") || err != nil && !strings.Contains(err.Error(), row.say) {
			t.Errorf("%s: %v, want %q", name, err, row.say)
		}
	}
	if err := tryIssuers(t, identity.Issuer{Name: "kc", Issuer: "https://login.example", Audiences: []string{"x"},
		SignIn: identity.SignIn{Scopes: []string{"x"}}}); err == nil || !strings.Contains(err.Error(), "client_id") {
		t.Errorf("scopes without a client: %v", err)
	}
	f := newSignInFixture(t)
	if got := f.Issuers(); len(got) > 0 {
		t.Errorf("clients would look for tokens at %v", got)
	}
	if got := f.SignInIssuers(); len(got) != 1 || got[0] != (identity.SignInIssuer{Name: "kc", Label: "Keycloak"}) {
		t.Errorf("%v", got)
	}
}

// While the token endpoint hangs, 16 exchanges wait for it, for some seconds; further ones are refused at once.
func TestExchangesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newHangingFixture(t, func(r *http.Request) error { <-r.Context().Done(); return r.Context().Err() })
		type attempt struct {
			begun string
			a     identity.IssuerAnswer
		}
		var attempts []attempt
		for range 20 {
			address, begun, err := f.BeginIssuerSignIn(t.Context(), identity.IssuerSignIn{Issuer: "good", Redirect: pagesRedirect})
			if err != nil {
				t.Fatal(err)
			}
			_, state, _ := strings.Cut(address, "state=")
			state, _, _ = strings.Cut(state, "&")
			attempts = append(attempts, attempt{begun, identity.IssuerAnswer{Issuer: "good", State: state, Code: "c"}})
		}
		began, took := time.Now(), make(chan time.Duration, len(attempts))
		for _, x := range attempts {
			go func() {
				_, _, _, err := f.OpenIssuerSession(context.Background(), x.begun, x.a)
				if fault.KindOf(err) != fault.Unavailable {
					t.Errorf("%v", err)
				}
				took <- time.Since(began)
			}()
		}
		atOnce := 0
		for range attempts {
			d := <-took
			if d == 0 {
				atOnce++
			}
			if d > 8*time.Second {
				t.Errorf("a person waited for %s", d)
			}
		}
		if atOnce != 4 {
			t.Errorf("%d of 20 were refused at once", atOnce)
		}
	})
}

// A renewed session has the limits of the first.
func TestRenewedSessionsKeepTheirIssuer(t *testing.T) {
	f := newSignInFixture(t, func(i *identity.Issuer) { i.MaxRole = user })
	f.join("kc:anna", mainWorld, admin)
	token, _ := f.signIn()
	f.add(16 * 24 * time.Hour)
	renewed, err := f.RenewSession(context.Background(), token)
	if err != nil || renewed == "" {
		t.Fatalf("%q, %v", renewed, err)
	}
	if c, err := f.browsing(renewed); err != nil || c.Role(mainWorld) != user {
		t.Errorf("%+v, %v", c, err)
	}
}
