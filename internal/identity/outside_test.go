package identity_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

var ecKey = sync.OnceValue(func() *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return k
})

// provider is an outside issuer on loopback.
type provider struct {
	*httptest.Server
	mu    sync.Mutex
	keys  []string                // of the set, as JSON. Guarded by mu
	fails http.HandlerFunc        // answers in place of the key set. Guarded by mu
	says  func(url string) string // the OpenID configuration. Guarded by mu
	asked int                     // number of requests for keys. Guarded by mu
	found int                     // number of requests for the configuration. Guarded by mu
	token http.HandlerFunc        // answers at the token endpoint. Guarded by mu
}

func newProvider(t testing.TB) *provider {
	p := &provider{keys: []string{rsaJWK("r1", rsaKeys()[0]), ecJWK("e1", ecKey())}}
	p.says = func(url string) string {
		return fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q,"token_endpoint":"x"}`, url+"/realms/lore", url+"/keys")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /realms/lore/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found++
		fmt.Fprint(w, p.says(p.URL))
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.asked++; p.fails != nil {
			p.fails(w, r)
			return
		}
		fmt.Fprintf(w, `{"keys":[%s]}`, strings.Join(p.keys, ","))
	})
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[%s,%s]}`, rsaJWK("r1", rsaKeys()[0]), rsaJWK("r9", rsaKeys()[3]))
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		answer := p.token
		p.mu.Unlock()
		answer(w, r)
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func rsaJWK(kid string, k *rsa.PrivateKey) string {
	return fmt.Sprintf(`{"kty":"RSA","use":"sig","kid":%q,"e":"AQAB","n":%q,"x5t":"AAAA"}`, kid, bigText(k.N))
}

func ecJWK(kid string, k *ecdsa.PrivateKey) string {
	b, err := k.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","alg":"ES256","kid":%q,"x":%q,"y":%q}`, kid, text(b[1:33]), text(b[33:]))
}

// es256 returns a compact token signed with the EC key.
func es256(header, claims string) string {
	text := b64(header) + "." + b64(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, ecKey(), sum[:])
	if err != nil {
		panic(err)
	}
	var sig [64]byte
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(sig[:])
}

// outsideFixture is a Service that accepts a provider's tokens.
type outsideFixture struct {
	*fixture
	p *provider
}

func newOutsideFixture(t testing.TB, change ...func(*identity.Issuer)) *outsideFixture {
	p := newProvider(t)
	i := identity.Issuer{
		Name: "kc", Issuer: p.URL + "/realms/lore", Audiences: []string{"https://lore.example"},
		RolesClaim: "/realm_access/roles", MaxRole: access.RoleGM, Worlds: []string{"main"},
		Grants: map[string]identity.RoleGrant{
			"players": {Role: access.RoleUser}, "masters": {Role: access.RoleGM}, "owners": {Role: access.RoleAdmin},
			"other masters": {Role: access.RoleGM, World: "other"}, "nowhere": {Role: access.RoleGM, World: "gone"},
		},
	}
	for _, f := range change {
		f(&i)
	}
	return &outsideFixture{newFixture(t, func(c *identity.Config) { c.Outside = []identity.Issuer{i} }), p}
}

// claims returns valid claims with some replaced or left out.
func (a *outsideFixture) claims(pairs ...string) string {
	at := start.Unix()
	base := []string{"iss", fmt.Sprintf("%q", a.p.URL+"/realms/lore"), "aud", `["account","https://lore.example"]`, "sub",
		`"f:1|anna"`,
		"iat", fmt.Sprint(at), "nbf", fmt.Sprint(at), "exp", fmt.Sprint(at + 3600),
		"role", "", "world", "", "key", "", "jti", `"j"`, "azp", `"cli"`, "realm_access",
		`{"roles":["offline_access","masters"]}`}
	return claims(append(base, pairs...)...)
}

const foreignHeader = `{"typ":"JWT","alg":"RS256","x5t":"abc","kid":"r1"}`

func TestOutsideTokens(t *testing.T) {
	a := newOutsideFixture(t)
	k := rsaKeys()[0]
	ok := func(pairs ...string) string { return signed(k, foreignHeader, a.claims(pairs...)) }
	head := func(h string) string { return signed(k, h, a.claims()) }
	good := ok()
	part := strings.Split(good, ".")
	invalid, expired := identity.ErrInvalid, identity.ErrExpired
	for name, row := range map[string]struct {
		token string
		want  error
	}{
		"good":                     {good, nil},
		"ES256":                    {es256(`{"alg":"ES256","kid":"e1"}`, a.claims()), nil},
		"no typ":                   {head(`{"alg":"RS256","kid":"r1"}`), nil},
		"an access token":          {head(`{"alg":"RS256","kid":"r1","typ":"at+jwt"}`), nil},
		"nbf and iat left out":     {ok("nbf", "", "iat", ""), nil},
		"one audience":             {ok("aud", `"https://lore.example"`), nil},
		"exp 29 s ago":             {ok("exp", seconds(start.Add(-29*time.Second))), nil},
		"a logout token":           {head(`{"alg":"RS256","kid":"r1","typ":"logout+jwt"}`), invalid},
		"alg none, unsigned":       {b64(`{"alg":"none","kid":"r1"}`) + "." + part[1] + ".", invalid},
		"alg none, signed":         {head(`{"alg":"none","kid":"r1"}`), invalid},
		"alg missing":              {head(`{"kid":"r1"}`), invalid},
		"HS256 with public PEM":    {macOf(publicPEM(k), `{"alg":"HS256","kid":"r1"}`, a.claims()), invalid},
		"HS256 with public DER":    {macOf(publicDER(k), `{"alg":"HS256","kid":"r1"}`, a.claims()), invalid},
		"HS256 named RS256":        {macOf(publicPEM(k), foreignHeader, a.claims()), invalid},
		"PS256 named RS256":        {ps256Of(k, foreignHeader, a.claims()), invalid},
		"RS512":                    {head(`{"alg":"RS512","kid":"r1"}`), invalid},
		"RS256 with the EC kid":    {head(`{"alg":"RS256","kid":"e1"}`), invalid},
		"ES256 with the RSA kid":   {es256(`{"alg":"ES256","kid":"r1"}`, a.claims()), invalid},
		"exp missing":              {ok("exp", ""), invalid},
		"exp null":                 {ok("exp", "null"), invalid},
		"exp a string":             {ok("exp", `"9999999999"`), invalid},
		"exp a fraction":           {ok("exp", seconds(start.Add(time.Minute))+".5"), invalid},
		"exp huge":                 {ok("exp", "9e99"), invalid},
		"exp past":                 {ok("exp", seconds(start.Add(-time.Hour))), expired},
		"exp 30 s ago":             {ok("exp", seconds(start.Add(-30*time.Second))), expired},
		"lives over a day":         {ok("exp", seconds(start.Add(25*time.Hour))), invalid},
		"lives over a day, unborn": {ok("exp", seconds(start.Add(25*time.Hour)), "iat", ""), invalid},
		"nbf in 31 s":              {ok("nbf", seconds(start.Add(31*time.Second))), invalid},
		"iat in 31 s":              {ok("iat", seconds(start.Add(31*time.Second))), invalid},
		"nbf a string":             {ok("nbf", `"1"`), invalid},
		"iss missing":              {ok("iss", ""), invalid},
		"iss another":              {ok("iss", `"https://evil.example"`), invalid},
		"iss with a slash":         {ok("iss", fmt.Sprintf("%q", a.p.URL+"/realms/lore/")), invalid},
		"iss two in one":           {ok("iss", fmt.Sprintf("%q", "x "+a.p.URL+"/realms/lore")), invalid},
		"iss ours":                 {ok("iss", `"loregate"`), invalid},
		"iss twice": {signed(k, foreignHeader, strings.Replace(a.claims(), `{`, `{"iss":"loregate",`, 1)),
			invalid},
		"aud missing":         {ok("aud", ""), invalid},
		"aud another":         {ok("aud", `["account"]`), invalid},
		"aud longer":          {ok("aud", `"https://lore.example/"`), invalid},
		"aud nested":          {ok("aud", `[["https://lore.example"]]`), invalid},
		"sub missing":         {ok("sub", ""), invalid},
		"sub empty":           {ok("sub", `""`), invalid},
		"sub with a space":    {ok("sub", `"an na"`), invalid},
		"sub very long":       {ok("sub", `"`+strings.Repeat("a", 200)+`"`), invalid},
		"sub a list":          {ok("sub", `["anna"]`), invalid},
		"sub twice":           {signed(k, foreignHeader, strings.Replace(a.claims(), `{`, `{"sub":"x",`, 1)), invalid},
		"sub twice, escaped":  {signed(k, foreignHeader, strings.Replace(a.claims(), `{`, `{"su\u0062":"x",`, 1)), invalid},
		"roles twice within":  {ok("realm_access", `{"roles":["players"],"roles":["masters"]}`), invalid},
		"claims null":         {signed(k, foreignHeader, "null"), invalid},
		"claims twice":        {signed(k, foreignHeader, a.claims()+a.claims()), invalid},
		"kid missing":         {head(`{"alg":"RS256"}`), invalid},
		"kid unknown":         {head(`{"alg":"RS256","kid":"r9"}`), invalid},
		"kid a path":          {head(`{"alg":"RS256","kid":"../keys"}`), invalid},
		"kid an address":      {head(`{"alg":"RS256","kid":"` + a.p.URL + `/keys"}`), invalid},
		"kid twice":           {head(`{"alg":"RS256","kid":"r9","kid":"r1"}`), invalid},
		"kid very long":       {head(`{"alg":"RS256","kid":"` + strings.Repeat("r", 3000) + `"}`), invalid},
		"alg twice":           {head(`{"alg":"none","alg":"RS256","kid":"r1"}`), invalid},
		"jku":                 {head(`{"alg":"RS256","kid":"r1","jku":"` + a.p.URL + `/keys"}`), invalid},
		"x5u":                 {head(`{"alg":"RS256","kid":"r1","x5u":"https://evil.example/x"}`), invalid},
		"x5c":                 {head(`{"alg":"RS256","kid":"r1","x5c":["AAAA"]}`), invalid},
		"crit":                {head(`{"alg":"RS256","kid":"r1","crit":["exp"]}`), invalid},
		"b64 false":           {head(`{"alg":"RS256","kid":"r1","b64":false}`), invalid},
		"embedded jwk":        {embeddedOf(rsaKeys()[3], "r1", a.claims()), invalid},
		"another's signature": {signed(rsaKeys()[3], foreignHeader, a.claims()), invalid},
		"payload swapped":     {part[0] + "." + b64(a.claims("sub", `"root"`)) + "." + part[2], invalid},
		"signature missing":   {part[0] + "." + part[1] + ".", invalid},
		"four parts":          {good + ".AAAA", invalid},
		"trailing bits":       {trailingBits(good), invalid},
		"JSON serialisation":  {jsonForm(part), invalid},
		"a megabyte":          {good + strings.Repeat("A", 1<<20), invalid},
		"deep":                {ok("deep", strings.Repeat("[", 2000)+strings.Repeat("]", 2000)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time from the cache
				c, err := a.caller(row.token)
				switch {
				case row.want == nil && err != nil:
					t.Fatalf("refused: %v", err)
				case row.want == nil:
					if c.Subject != "kc:f:1|anna" || c.Role(mainWorld) != access.RoleGM || c.Role(otherWorld) != access.RoleNone ||
						c.Operator || c.Approve || c.Key != "" || c.TokenExpires.IsZero() {
						t.Errorf("gave %+v", c)
					}
				default:
					wantRefused(t, err, row.want)
					if c.Subject != "" || c.Roles != nil {
						t.Errorf("a refusal came with the caller %+v", c)
					}
				}
			}
		})
	}
	if _, err := a.Authenticate(t.Context(), good, identity.AudiencePlay); !isReason(err, invalid) {
		t.Errorf("taken as a play token: %v", err)
	}
}

// A token's rights follow from its issuer's configuration.
func TestGrantsOfOutsideTokens(t *testing.T) {
	user, gm, admin, none := access.RoleUser, access.RoleGM, access.RoleAdmin, access.RoleNone
	roles := func(list string) string { return `{"roles":` + list + `}` }
	for name, row := range map[string]struct {
		issuer      func(*identity.Issuer)
		member      access.Role // in main, if it is a member
		pairs       []string
		main, other access.Role
	}{
		"one role":                {nil, none, []string{"realm_access", roles(`["players"]`)}, user, none},
		"the highest of several":  {nil, none, []string{"realm_access", roles(`["players","masters"]`)}, gm, none},
		"never above the ceiling": {nil, none, []string{"realm_access", roles(`["owners"]`)}, gm, none},
		"a higher ceiling": {func(i *identity.Issuer) { i.MaxRole = admin }, none,
			[]string{"realm_access", roles(`["owners"]`)}, admin, none},
		"the ceiling left out":   {func(i *identity.Issuer) { i.MaxRole = none }, none, nil, user, none},
		"in a world":             {nil, none, []string{"realm_access", roles(`["other masters"]`)}, none, gm},
		"in a world that is not": {nil, none, []string{"realm_access", roles(`["nowhere"]`)}, none, none},
		"values that nothing is said of": {nil, none, []string{"realm_access", roles(`["Masters","admin","gm"]`)},
			none, none},
		"no roles":              {nil, none, []string{"realm_access", ""}, none, none},
		"roles of another form": {nil, none, []string{"realm_access", `["masters"]`}, none, none},
		"everyone": {func(i *identity.Issuer) { i.Everyone = user }, none,
			[]string{"realm_access", ""}, user, none},
		"no more than the membership": {nil, user, nil, user, none},
		"no more than the token":      {nil, admin, []string{"realm_access", roles(`["players"]`)}, user, none},
		"members only":                {func(i *identity.Issuer) { i.Worlds = nil }, none, nil, none, none},
		"members only, a member":      {func(i *identity.Issuer) { i.Worlds = nil }, user, nil, user, none},
		"a member, but without a role": {func(i *identity.Issuer) { i.Worlds = nil }, user, []string{"realm_access", ""},
			none, none},
		"a member elsewhere than granted": {func(i *identity.Issuer) { i.Worlds = nil }, gm,
			[]string{"realm_access", roles(`["nowhere"]`)}, none, none},
		"parted by spaces": {func(i *identity.Issuer) { i.RolesClaim = "scp" }, none,
			[]string{"scp", `"players masters"`}, gm, none},
		"a text with a space": {func(i *identity.Issuer) { i.RolesClaim = "team" }, none,
			[]string{"team", `"other masters"`}, gm, gm},
		"a name with dots and slashes": {func(i *identity.Issuer) { i.RolesClaim = "https://lore.example/roles" }, none,
			[]string{"https://lore.example/roles", `["players"]`}, user, none},
		"for one world": {func(i *identity.Issuer) { i.WorldClaim = "w" }, none,
			[]string{"w", `"other"`, "realm_access", roles(`["masters","other masters"]`)}, none, gm},
		"for no world": {func(i *identity.Issuer) { i.WorldClaim = "w" }, none, nil, none, none},
		"for a world that is not": {func(i *identity.Issuer) { i.WorldClaim = "w" }, none, []string{"w", `"gone"`},
			none, none},
		"for a world that is not opened": {func(i *identity.Issuer) { i.WorldClaim = "w" }, none, []string{"w", `"other"`},
			none, none},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*identity.Issuer)
			if row.issuer != nil {
				change = append(change, row.issuer)
			}
			a := newOutsideFixture(t, change...)
			if row.member != none {
				a.join("kc:f:1|anna", mainWorld, row.member)
			}
			c, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims(row.pairs...)))
			if err != nil {
				t.Fatal(err)
			}
			if c.Role(mainWorld) != row.main || c.Role(otherWorld) != row.other {
				t.Errorf("gave %s and %s, want %s and %s", c.Role(mainWorld), c.Role(otherWorld), row.main, row.other)
			}
		})
	}
}

func TestAMembershipThatEndsEndsTheToken(t *testing.T) {
	a := newOutsideFixture(t)
	token := signed(rsaKeys()[0], foreignHeader, a.claims())
	a.join("kc:f:1|anna", mainWorld, access.RoleGM)
	if c, err := a.caller(token); err != nil || c.Role(mainWorld) != access.RoleGM {
		t.Fatalf("%+v, %v", c, err)
	}
	a.join("kc:f:1|anna", mainWorld, access.RoleNone)
	a.Invalidate()
	if c, err := a.caller(token); err != nil || c.Role(mainWorld) != access.RoleNone {
		t.Errorf("removed, and still %s; %v", c.Role(mainWorld), err)
	}
}

func TestOnlyConfiguredAlgorithms(t *testing.T) {
	a := newOutsideFixture(t, func(i *identity.Issuer) { i.Algorithms = []string{"ES256"} })
	_, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims()))
	wantRefused(t, err, identity.ErrInvalid)
	if _, err := a.caller(es256(`{"alg":"ES256","kid":"e1"}`, a.claims())); err != nil {
		t.Error(err)
	}
}

// A local subject of the same name is another subject.
func TestOutsideSubjectIsNotALocalSubject(t *testing.T) {
	a := newOutsideFixture(t, func(i *identity.Issuer) { i.Worlds = nil })
	a.join("anna", mainWorld, access.RoleGM)
	c, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims("sub", `"anna"`)))
	if err != nil || c.Subject != "kc:anna" || c.Role(mainWorld) != access.RoleNone {
		t.Errorf("%+v, %v", c, err)
	}
}

// Work runs with the rights that its requester has when it runs.
func TestOutsideCallers(t *testing.T) {
	a := newOutsideFixture(t)
	who := access.Subject("kc:f:1|anna")
	role := func() access.Role {
		c, ok, err := a.OutsideCaller(context.Background(), who)
		if !ok || err != nil || c.Subject != who {
			t.Fatalf("%+v, %t, %v", c, ok, err)
		}
		return c.Role(mainWorld)
	}
	if r := role(); r != access.RoleNone {
		t.Errorf("never seen, and %s", r)
	}
	if _, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims())); err != nil {
		t.Fatal(err)
	}
	if r := role(); r != access.RoleGM {
		t.Errorf("with a good token %s", r)
	}
	a.add(2 * time.Hour)
	if r := role(); r != access.RoleNone {
		t.Errorf("with an expired token %s", r)
	}
	a.join(who, mainWorld, access.RoleAdmin)
	if r := role(); r != access.RoleGM {
		t.Errorf("a member, up to the ceiling: %s", r)
	}
	if _, ok, _ := a.OutsideCaller(context.Background(), "anna"); ok {
		t.Error("a local subject is an outsider")
	}
}

func TestUnknownKidsDoNotFloodTheIssuer(t *testing.T) {
	a := newOutsideFixture(t)
	flood := func() {
		for i := range 300 {
			_, err := a.caller(signed(rsaKeys()[3], fmt.Sprintf(`{"alg":"RS256","kid":"x%d"}`, i), a.claims()))
			wantRefused(t, err, identity.ErrInvalid)
		}
	}
	for minute := range 3 {
		flood()
		a.add(59 * time.Second)
		flood()
		a.add(time.Second)
		if n := a.p.count(); n != minute+1 {
			t.Errorf("in minute %d the keys were fetched %d times in all", minute, n)
		}
	}
}

func TestKeysAreRotated(t *testing.T) {
	a := newOutsideFixture(t)
	old, young := signed(rsaKeys()[0], foreignHeader, a.claims()),
		signed(rsaKeys()[1], `{"alg":"RS256","kid":"r2"}`, a.claims())
	if _, err := a.caller(old); err != nil {
		t.Fatal(err)
	}
	a.p.set(func() { a.p.keys = []string{rsaJWK("r2", rsaKeys()[1])} })
	_, err := a.caller(young)
	wantRefused(t, err, identity.ErrInvalid) // the issuer was asked for keys just before
	a.add(time.Minute)
	if _, err := a.caller(young); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	_, err = a.caller(old)
	wantRefused(t, err, identity.ErrInvalid) // its key is no longer published
}

func TestAWithdrawnKeyIsFoundOutWithinTheHour(t *testing.T) {
	a := newOutsideFixture(t)
	token := signed(rsaKeys()[0], foreignHeader, a.claims("exp", seconds(start.Add(5*time.Hour))))
	if _, err := a.caller(token); err != nil {
		t.Fatal(err)
	}
	a.p.set(func() { a.p.keys = []string{rsaJWK("r2", rsaKeys()[1])} })
	a.add(59 * time.Minute)
	if _, err := a.caller(token); err != nil {
		t.Errorf("within the hour: %v", err)
	}
	a.add(time.Minute)
	_, err := a.caller(token)
	wantRefused(t, err, identity.ErrInvalid)
}

func TestAnOutageKeepsTheKeys(t *testing.T) {
	a := newOutsideFixture(t)
	long := func(kid string, k *rsa.PrivateKey) string {
		return signed(k, `{"alg":"RS256","kid":"`+kid+`"}`,
			a.claims("iat", seconds(a.now()), "exp", seconds(a.now().Add(20*time.Hour))))
	}
	if _, err := a.caller(long("r1", rsaKeys()[0])); err != nil {
		t.Fatal(err)
	}
	for name, fails := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) },
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no keys":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[]}`) },
		"a secret": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"keys":[{"kty":"oct","kid":"r1","k":"AAAA"}]}`)
		},
		"keys twice": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"keys":[],"keys":[%s]}`, rsaJWK("r9", rsaKeys()[3]))
		},
		"one kid twice": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"keys":[%s,%s]}`, rsaJWK("r9", rsaKeys()[3]), rsaJWK("r9", rsaKeys()[2]))
		},
		"encryption": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"keys":[%s]}`, strings.Replace(rsaJWK("r9", rsaKeys()[3]), `"sig"`, `"enc"`, 1))
		},
		"another alg": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"keys":[%s]}`, strings.Replace(rsaJWK("r9", rsaKeys()[3]), `"x5t"`, `"alg":"RS512","x5t"`, 1))
		},
		"a small key": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"keys":[{"kty":"RSA","kid":"r9","e":"AQAB","n":"`+strings.Repeat("z", 171)+`"}]}`)
		},
		"much": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"keys":[%s],"x":%q}`, rsaJWK("r9", rsaKeys()[3]), strings.Repeat("x", 300<<10))
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			a.p.set(func() { a.p.fails = fails })
			a.add(time.Hour)
			before := a.p.count()
			for range 3 {
				if _, err := a.caller(long("r1", rsaKeys()[0])); err != nil {
					t.Fatalf("what was known before: %v", err)
				}
				if _, err := a.caller(long("r9", rsaKeys()[3])); fault.KindOf(err) != fault.Unavailable {
					t.Errorf("what nobody can tell: %v", err)
				}
			}
			if n := a.p.count() - before; n != 1 {
				t.Errorf("asked %d times within a minute", n)
			}
		})
	}
}

func TestAnIssuerThatWasNeverReached(t *testing.T) {
	a := newOutsideFixture(t)
	a.p.set(func() { a.p.fails = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) } })
	token := signed(rsaKeys()[0], foreignHeader, a.claims())
	_, err := a.caller(token)
	if f := faultOf(err); f == nil || f.Kind != fault.Unavailable || f.RetryAfter <= 0 ||
		strings.Contains(f.Message, a.p.URL) {
		t.Errorf("%v", err)
	}
	a.p.set(func() { a.p.fails = nil })
	a.add(5 * time.Second)
	if _, err := a.caller(token); err != nil {
		t.Errorf("when it answers again: %v", err)
	}
}

func TestDiscovery(t *testing.T) {
	for name, says := range map[string]func(url string) string{
		"another issuer": func(url string) string {
			return fmt.Sprintf(`{"issuer":"https://evil.example","jwks_uri":%q}`, url+"/keys")
		},
		"a template": func(url string) string {
			return fmt.Sprintf(`{"issuer":"https://login.example/{tenantid}/v2.0","jwks_uri":%q}`, url+"/keys")
		},
		"keys over http": func(url string) string {
			return fmt.Sprintf(`{"issuer":%q,"jwks_uri":"http://keys.example/"}`, url+"/realms/lore")
		},
		"keys in a file": func(url string) string {
			return fmt.Sprintf(`{"issuer":%q,"jwks_uri":"file:///etc/passwd"}`, url+"/realms/lore")
		},
		"no keys": func(url string) string { return fmt.Sprintf(`{"issuer":%q}`, url+"/realms/lore") },
		"said twice": func(url string) string {
			return fmt.Sprintf(`{"issuer":"x","issuer":%q,"jwks_uri":%q}`, url+"/realms/lore", url+"/keys")
		},
		"not its own words": func(string) string { return "<html>" },
	} {
		t.Run(name, func(t *testing.T) {
			a := newOutsideFixture(t)
			a.p.set(func() { a.p.says = says })
			_, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims()))
			if fault.KindOf(err) != fault.Unavailable || a.p.count() != 0 {
				t.Errorf("%v, and keys were asked for %d times", err, a.p.count())
			}
		})
	}
}

func TestKeysByTheirAddress(t *testing.T) {
	a := newOutsideFixture(t)
	b := newOutsideFixture(t, func(i *identity.Issuer) { i.Issuer, i.KeysURL = "urn:lore", a.p.URL+"/keys" })
	if _, err := b.caller(signed(rsaKeys()[0], foreignHeader, b.claims("iss", `"urn:lore"`))); err != nil {
		t.Error(err)
	}
	if b.p.count() != 0 || a.p.count() != 1 || a.p.found != 0 {
		t.Errorf("asked %d, %d and %d times", b.p.count(), a.p.count(), a.p.found)
	}
}

// Many requests at once with an unknown key cause one fetch, and all succeed.
func TestConcurrentRequestsShareOneFetch(t *testing.T) {
	a := newOutsideFixture(t)
	errs := make(chan error, 20)
	for i := range cap(errs) {
		go func() {
			_, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims("jti", fmt.Sprintf(`"%d"`, i))))
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := a.p.count(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestIssuersThatAreRefused(t *testing.T) {
	good := identity.Issuer{Name: "kc", Issuer: "https://login.example/realms/lore", Audiences: []string{"x"}}
	for name, row := range map[string]struct {
		change func(*identity.Issuer)
		say    string
	}{
		"good":              {func(*identity.Issuer) {}, ""},
		"loopback":          {func(i *identity.Issuer) { i.Issuer = "http://[::1]:8080/realms/lore" }, ""},
		"no name":           {func(i *identity.Issuer) { i.Name = "" }, "name"},
		"a name with a :":   {func(i *identity.Issuer) { i.Name = "a:b" }, "name"},
		"no audience":       {func(i *identity.Issuer) { i.Audiences = nil }, "audience"},
		"an empty audience": {func(i *identity.Issuer) { i.Audiences = []string{""} }, "audience"},
		"over http":         {func(i *identity.Issuer) { i.Issuer = "http://login.example" }, "https"},
		"not quite local":   {func(i *identity.Issuer) { i.Issuer = "http://localhost.example" }, "https"},
		"keys over http":    {func(i *identity.Issuer) { i.KeysURL = "http://10.0.0.1/keys" }, "https"},
		"keys in a file":    {func(i *identity.Issuer) { i.KeysURL = "file:///etc/passwd" }, "jwks_url"},
		"with a password":   {func(i *identity.Issuer) { i.Issuer = "https://a:b@login.example" }, "issuer"},
		"HS256":             {func(i *identity.Issuer) { i.Algorithms = []string{"HS256"} }, "set RS256 or ES256"},
		"none":              {func(i *identity.Issuer) { i.Algorithms = []string{"none"} }, "set RS256 or ES256"},
		"a role of nothing": {func(i *identity.Issuer) { i.Grants = map[string]identity.RoleGrant{"x": {}} }, "roles"},
		"ourselves":         {func(i *identity.Issuer) { i.Issuer, i.KeysURL = "loregate", "https://x.example" }, "the same name or address"},
	} {
		t.Run(name, func(t *testing.T) {
			i := good
			row.change(&i)
			f := newFixture(t)
			s, err := identity.New(identity.Config{Store: f.store, Worlds: f.worlds, Outside: []identity.Issuer{i}})
			if err == nil {
				s.Close()
			}
			if (err == nil) != (row.say == "") || err != nil && !strings.Contains(err.Error(), row.say) {
				t.Errorf("%v, want %q", err, row.say)
			}
		})
	}
	f := newFixture(t)
	if _, err := identity.New(identity.Config{Store: f.store, Worlds: f.worlds,
		Outside: []identity.Issuer{good, good}}); err == nil {
		t.Error("two of one name are taken")
	}
}

func TestIssuersAreNamed(t *testing.T) {
	a := newOutsideFixture(t)
	if got := a.Issuers(); !slices.Equal(got, []string{a.p.URL + "/realms/lore"}) {
		t.Errorf("%v", got)
	}
}

// FuzzOutsideClaims signs its input: every accepted caller must be a subject of the issuer.
func FuzzOutsideClaims(f *testing.F) {
	a := newOutsideFixture(f)
	for _, s := range []string{a.claims(), a.claims("aud", `"x"`), `{}`, `[]`, a.claims("exp", "1e300"),
		a.claims("realm_access", `{"roles":"owners"}`)} {
		f.Add(foreignHeader, s)
	}
	f.Fuzz(func(t *testing.T, header, payload string) {
		c, err := a.caller(signed(rsaKeys()[0], header, payload))
		if err == nil && (!strings.HasPrefix(string(c.Subject), "kc:") || c.Role(mainWorld) > access.RoleGM ||
			c.Role(otherWorld) > access.RoleGM || c.Operator || c.Approve || c.EveryRole > 0) {
			t.Errorf("%s gave %+v", payload, c)
		}
	})
}
