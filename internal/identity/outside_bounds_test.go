package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// list is a JSON list of strings: n times a filler, then the rest.
func list(n int, rest ...string) string {
	all := make([]string, 0, n+len(rest))
	for i := range n {
		all = append(all, fmt.Sprintf("%q", fmt.Sprint("x", i)))
	}
	for _, s := range rest {
		all = append(all, fmt.Sprintf("%q", s))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// Claims are read only from the configured place, and grants apply only in the configured worlds.
func TestGrantsAndTheirWorlds(t *testing.T) {
	realm := func(roles string) string { return `{"roles":` + roles + `}` }
	for name, row := range map[string]struct {
		issuer      func(*identity.Issuer)
		members     roles
		pairs       []string
		main, other access.Role
	}{
		"the highest, whatever comes last": {nil, nil, []string{"realm_access", realm(`["masters","players"]`)}, gm, none},
		"roles beside the place": {nil, nil, []string{"realm_access", `{"other":1}`, "roles", `["masters"]`},
			none, none},
		"roles above the place": {func(i *identity.Issuer) { i.RolesClaim = "/a/b/c" }, nil,
			[]string{"a", `{"b":{},"c":["masters"]}`, "c", `["masters"]`}, none, none},
		"a pointer with marks": {func(i *identity.Issuer) { i.RolesClaim = "/a~1b/c~0d" }, nil,
			[]string{"a/b", `{"c~d":["players"]}`}, user, none},
		"the name that most use": {func(i *identity.Issuer) { i.RolesClaim = "" }, nil,
			[]string{"roles", `["players"]`}, user, none},
		"the last value that is read": {nil, nil, []string{"realm_access", realm(list(199, "masters"))}, gm, none},
		"one value more":              {nil, nil, []string{"realm_access", realm(list(200, "masters"))}, none, none},
		"one word more": {func(i *identity.Issuer) { i.RolesClaim = "scp" }, nil,
			[]string{"scp", `"` + strings.Repeat("x ", 199) + `masters"`}, none, none},
		"a member elsewhere": {nil, roles{otherWorld: admin}, nil, gm, none},
		"a member, and granted more there": {func(i *identity.Issuer) { i.Worlds = nil },
			roles{otherWorld: gm, mainWorld: gm}, []string{"realm_access", realm(`["other masters","players"]`)}, user, gm},
		"a world by two values, high first": {nil, nil, []string{"realm_access", realm(`["other masters","other players"]`)},
			none, gm},
		"a world that is not": {nil, nil, []string{"realm_access", realm(`["nowhere"]`)}, none, none},
		"for several worlds": {func(i *identity.Issuer) { i.WorldClaim = "w" }, nil,
			[]string{"w", `["main","other"]`, "realm_access", realm(`["masters","other masters"]`)}, gm, gm},
	} {
		t.Run(name, func(t *testing.T) {
			a := newOutsideFixture(t, func(i *identity.Issuer) {
				i.Grants["other players"] = identity.RoleGrant{Role: user, World: "other"}
				if row.issuer != nil {
					row.issuer(i)
				}
			})
			for w, r := range row.members {
				a.join("kc:f:1|anna", w, r)
			}
			c, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims(row.pairs...)))
			if err != nil || c.Role(mainWorld) != row.main || c.Role(otherWorld) != row.other ||
				c.Role(access.WorldID{}) != none {
				t.Errorf("gave %v, %v; want %s and %s", c.Roles, err, row.main, row.other)
			}
		})
	}
}

// A token for one world sets the caller's Home.
func TestAnOutsideTokensHome(t *testing.T) {
	a := newOutsideFixture(t, func(i *identity.Issuer) {
		i.WorldClaim, i.SubjectClaim, i.Actor = "w", "oid", access.Person
	})
	for worlds, home := range map[string]access.WorldID{`"main"`: mainWorld, `["main","other"]`: {}, `"gone"`: {}} {
		c, err := a.caller(signed(rsaKeys()[0], foreignHeader,
			a.claims("w", worlds, "oid", `"0-1"`, "realm_access", `{"roles":["masters","other masters"]}`)))
		if err != nil || c.Home != home || c.Subject != "kc:0-1" || c.Actor != access.Person {
			t.Errorf("%s: %+v, %v", worlds, c, err)
		}
	}
}

// A token's life counts from its iat.
func TestOutsideTokenLife(t *testing.T) {
	a := newOutsideFixture(t)
	for _, row := range []struct {
		iat, exp time.Duration
		want     error
	}{
		{0, 24 * time.Hour, nil}, {0, 24*time.Hour + time.Second, identity.ErrInvalid},
		{-20 * time.Hour, 4 * time.Hour, nil}, {-20 * time.Hour, 4*time.Hour + time.Second, identity.ErrInvalid},
	} {
		_, err := a.caller(signed(rsaKeys()[0], foreignHeader,
			a.claims("iat", seconds(start.Add(row.iat)), "nbf", "", "exp", seconds(start.Add(row.exp)))))
		if row.want == nil && err != nil || row.want != nil && !isReason(err, row.want) {
			t.Errorf("from %v to %v: %v, want %v", row.iat, row.exp, err, row.want)
		}
	}
	_, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims("exp", seconds(start.Add(-time.Minute)))))
	if f := faultOf(err); f == nil || !strings.Contains(f.Message, "expired") {
		t.Errorf("an expired one: %v", err)
	}
	if f := faultOf(mustFail(a.caller(signed(rsaKeys()[0], foreignHeader, a.claims("aud", `"x"`))))); f == nil ||
		strings.Contains(f.Message, "expired") {
		t.Errorf("one for somebody else: %v", f)
	}
}

func mustFail(_ access.Caller, err error) error { return err }

// A key set is accepted if it is complete, not too large and sent with status 200.
func TestKeySetsThatAreAccepted(t *testing.T) {
	one := rsaJWK("r1", rsaKeys()[0])
	body := func(size int) string {
		s := `{"keys":[` + one + `]}`
		return s + strings.Repeat(" ", size-len(s))
	}
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, err := curve.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	p384 := fmt.Sprintf(`{"kty":"EC","crv":"P-384","kid":"r1","x":%q,"y":%q}`, text(b[1:49]), text(b[49:]))
	for name, row := range map[string]struct {
		status int
		body   string
		taken  bool
	}{
		"as large as may be": {200, body(256 << 10), true},
		"a byte more":        {200, body(256<<10 + 1), false},
		"as many as may be": {200, `{"keys":[` + strings.Repeat(`{"kty":"oct","k":"AAAA","kid":"r1"},`, 199) + one +
			`]}`, true},
		"one more": {200, `{"keys":[` + strings.Repeat(`{"kty":"oct","k":"AAAA","kid":"r1"},`, 200) + one +
			`]}`, false},
		"with an error":          {500, body(2000), false},
		"with a redirect":        {302, body(2000), false},
		"as something else made": {201, body(2000), false},
		"a very large key": {200, `{"keys":[{"kty":"RSA","kid":"r1","e":"AQAB","n":"` + strings.Repeat("z", 1400) +
			`"}]}`, false},
		"another curve":       {200, `{"keys":[` + p384 + `]}`, false},
		"keys without a name": {200, `{"keys":[` + strings.Replace(one, `"kid":"r1",`, "", 1) + `]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newOutsideFixture(t)
			a.p.set(func() {
				a.p.fails = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(row.status); fmt.Fprint(w, row.body) }
			})
			_, err := a.caller(signed(rsaKeys()[0], foreignHeader, a.claims()))
			if row.taken && err != nil || !row.taken && fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTheLongestKid(t *testing.T) {
	a := newOutsideFixture(t)
	for n, good := range map[int]bool{200: true, 201: false} {
		kid := strings.Repeat("k", n)
		a.p.set(func() { a.p.keys = append(a.p.keys, rsaJWK(kid, rsaKeys()[0])) })
		a.add(time.Minute)
		if _, err := a.caller(signed(rsaKeys()[0], `{"alg":"RS256","kid":"`+kid+`"}`, a.claims())); (err == nil) != good {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// If keys move, discovery is repeated; with a configured KeysURL, that address alone is asked.
func TestKeysThatMove(t *testing.T) {
	a := newOutsideFixture(t)
	down := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }
	a.p.set(func() { a.p.fails = down })
	token := signed(rsaKeys()[3], `{"alg":"RS256","kid":"r9"}`, a.claims())
	if _, err := a.caller(token); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
	a.p.set(func() {
		a.p.says = func(url string) string {
			return fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, url+"/realms/lore", url+"/moved")
		}
	})
	a.add(5 * time.Second)
	if _, err := a.caller(token); err != nil {
		t.Errorf("at the new place: %v", err)
	}
	var p *provider
	b := newOutsideFixture(t,
		func(i *identity.Issuer) { i.KeysURL = strings.TrimSuffix(i.Issuer, "/realms/lore") + "/keys" })
	p = b.p
	p.set(func() { p.fails = down })
	token = signed(rsaKeys()[0], foreignHeader, b.claims())
	for range 3 {
		if _, err := b.caller(token); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
		b.add(5 * time.Second)
	}
	p.set(func() { p.fails = nil })
	if _, err := b.caller(token); err != nil || p.found != 0 || p.count() != 4 {
		t.Errorf("%v; discovery was asked %d times, the keys %d", err, p.found, p.count())
	}
}

func TestTheBoundsOfAnIssuer(t *testing.T) {
	grants := func(n int) map[string]identity.RoleGrant {
		all := map[string]identity.RoleGrant{}
		for i := range n {
			all[fmt.Sprint(i)] = identity.RoleGrant{Role: user}
		}
		return all
	}
	for name, row := range map[string]struct {
		change func(*identity.Issuer)
		say    string
	}{
		"a name of 20":      {func(i *identity.Issuer) { i.Name = strings.Repeat("a", 20) }, ""},
		"a name of 21":      {func(i *identity.Issuer) { i.Name = strings.Repeat("a", 21) }, "name"},
		"everyone an admin": {func(i *identity.Issuer) { i.Everyone = admin }, ""},
		"everyone more":     {func(i *identity.Issuer) { i.Everyone = admin + 1 }, "role"},
		"up to admin":       {func(i *identity.Issuer) { i.MaxRole = admin }, ""},
		"up to more":        {func(i *identity.Issuer) { i.MaxRole = admin + 1 }, "role"},
		"256 grants":        {func(i *identity.Issuer) { i.Grants = grants(256) }, ""},
		"257 grants":        {func(i *identity.Issuer) { i.Grants = grants(257) }, "roles"},
		"an admin's grant":  {func(i *identity.Issuer) { i.Grants = map[string]identity.RoleGrant{"x": {Role: admin}} }, ""},
		"a grant of more": {func(i *identity.Issuer) { i.Grants = map[string]identity.RoleGrant{"x": {Role: admin + 1}} },
			"roles"},
		"a grant for nothing": {func(i *identity.Issuer) { i.Grants = map[string]identity.RoleGrant{"": {Role: user}} },
			"roles"},
		"people":                {func(i *identity.Issuer) { i.Actor = access.Person }, ""},
		"cats":                  {func(i *identity.Issuer) { i.Actor = "cat" }, "actor"},
		"a rate class":          {func(i *identity.Issuer) { i.RateClass = "sample" }, ""},
		"a strange rate class":  {func(i *identity.Issuer) { i.RateClass = "a b" }, "rate_class"},
		"localhost":             {func(i *identity.Issuer) { i.Issuer = "http://localhost:8080/realms/lore" }, ""},
		"another loopback":      {func(i *identity.Issuer) { i.KeysURL = "http://127.9.9.9/keys" }, ""},
		"no host":               {func(i *identity.Issuer) { i.Issuer = "https:///realms/lore" }, "issuer"},
		"a fragment":            {func(i *identity.Issuer) { i.KeysURL = "https://login.example/keys#x" }, "jwks_url"},
		"a name and no word":    {func(i *identity.Issuer) { i.KeysURL = "https://me@login.example/keys" }, "jwks_url"},
		"another way, loopback": {func(i *identity.Issuer) { i.KeysURL = "ftp://127.0.0.1/keys" }, "https"},
		"the cloud's own":       {func(i *identity.Issuer) { i.KeysURL = "http://169.254.169.254/keys" }, "https"},
		"nearly loopback":       {func(i *identity.Issuer) { i.KeysURL = "http://127.0.0.1.example/keys" }, "https"},
	} {
		i := identity.Issuer{Name: "kc", Issuer: "https://login.example/realms/lore", Audiences: []string{"x"}}
		row.change(&i)
		if err := tryIssuers(t, i); (err == nil) != (row.say == "") || err != nil && !strings.Contains(err.Error(), row.say) {
			t.Errorf("%s: %v, want %q", name, err, row.say)
		}
	}
	many := make([]identity.Issuer, 17)
	for n := range many {
		many[n] = identity.Issuer{Name: fmt.Sprint("kc", n), Issuer: fmt.Sprintf("https://login.example/%d", n),
			Audiences: []string{"x"}}
	}
	for n, good := range map[int]bool{16: true, 17: false} {
		if err := tryIssuers(t, many[:n]...); (err == nil) != good {
			t.Errorf("%d issuers: %v", n, err)
		}
	}
	name, address := many[1], many[1]
	name.Name, address.Issuer = many[0].Name, many[0].Issuer
	for _, second := range []identity.Issuer{name, address} {
		if err := tryIssuers(t, many[0], second); err == nil || !strings.Contains(err.Error(), "the same name or address") {
			t.Errorf("%+v: %v", second, err)
		}
	}
}

func tryIssuers(t *testing.T, all ...identity.Issuer) error {
	f := newFixture(t)
	s, err := identity.New(identity.Config{Store: f.store, Worlds: f.worlds, Outside: all})
	if err == nil {
		s.Close()
	}
	return err
}
