package identity_test

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
)

// forge is a fixture with a key "id-1" and a signing key "id-2", which is rsaKeys()[0].
type forge struct {
	*fixture
	secret string
}

func newForge(t testing.TB, change ...func(*identity.Config)) *forge {
	f := newFixture(t, change...)
	_, secret := f.key(identity.KeySpec{})
	f.token(secret, access.RoleGM, "")
	return &forge{f, secret}
}

const goodHeader = `{"alg":"RS256","kid":"id-2","typ":"JWT"}`

// claims returns valid claims with some replaced ("exp", "123") or left out ("exp", "").
func claims(pairs ...string) string {
	order := []string{"iss", "aud", "sub", "role", "world", "key", "iat", "nbf", "exp", "jti"}
	at := start.Unix()
	c := map[string]string{
		"iss": `"loregate"`, "aud": `"loregate"`, "sub": `"anna"`, "role": `"gm"`, "world": `""`, "key": `"id-1"`,
		"iat": fmt.Sprint(at), "nbf": fmt.Sprint(at), "exp": fmt.Sprint(at + 1800), "jti": `"j"`,
	}
	for i := 0; i < len(pairs); i += 2 {
		if _, known := c[pairs[i]]; !known {
			order = append(order, pairs[i])
		}
		c[pairs[i]] = pairs[i+1]
	}
	var parts []string
	for _, name := range order {
		if c[name] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", name, c[name]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func seconds(t time.Time) string { return fmt.Sprint(t.Unix()) }

// Rows without an error are accepted, the others refused.
func TestTokens(t *testing.T) {
	k := rsaKeys()[0]
	ok := func(c string) string { return signed(k, goodHeader, c) }
	head := func(h string) string { return signed(k, h, claims()) }
	good := ok(claims())
	part := strings.Split(good, ".")
	invalid, expired := identity.ErrInvalid, identity.ErrExpired
	for name, row := range map[string]struct {
		token string
		want  error
	}{
		"good":                   {good, nil},
		"no typ":                 {head(`{"alg":"RS256","kid":"id-2"}`), nil},
		"audiences with ours":    {ok(claims("aud", `["x","loregate"]`)), nil},
		"a world":                {ok(claims("world", `"`+mainWorld.String()+`"`)), nil},
		"nothing":                {"", identity.ErrMissing},
		"alg none, no signature": {b64(`{"alg":"none","kid":"id-2"}`) + "." + part[1] + ".", invalid},
		"alg none, signed":       {head(`{"alg":"none","kid":"id-2"}`), invalid},
		"alg None":               {b64(`{"alg":"None","kid":"id-2"}`) + "." + part[1] + "." + part[2], invalid},
		"alg missing":            {head(`{"kid":"id-2"}`), invalid},
		"HS256 with public PEM":  {hs256(publicPEM(k)), invalid},
		"HS256 with public DER":  {hs256(publicDER(k)), invalid},
		"HS256 named RS256":      {hs256Named(publicPEM(k)), invalid},
		"PS256":                  {ps256(k, `{"alg":"PS256","kid":"id-2"}`), invalid},
		"PS256 named RS256":      {ps256(k, goodHeader), invalid},
		"RS512":                  {head(`{"alg":"RS512","kid":"id-2"}`), invalid},
		"rs256":                  {head(`{"alg":"rs256","kid":"id-2"}`), invalid},
		"exp missing":            {ok(claims("exp", "")), invalid},
		"exp null":               {ok(claims("exp", "null")), invalid},
		"exp a string":           {ok(claims("exp", `"9999999999"`)), invalid},
		"exp a fraction":         {ok(claims("exp", seconds(start.Add(time.Minute))+".5")), invalid},
		"exp huge":               {ok(claims("exp", "9e99")), invalid},
		"exp negative":           {ok(claims("exp", "-1")), invalid},
		"exp past": {ok(claims("exp", seconds(start.Add(-time.Hour)), "iat",
			seconds(start.Add(-2*time.Hour)))), expired},
		"exp 29 s ago":           {ok(claims("exp", seconds(start.Add(-29*time.Second)))), nil},
		"exp 30 s ago":           {ok(claims("exp", seconds(start.Add(-30*time.Second)))), expired},
		"exp 31 s ago":           {ok(claims("exp", seconds(start.Add(-31*time.Second)))), expired},
		"lives over an hour":     {ok(claims("exp", seconds(start.Add(time.Hour+time.Second)))), invalid},
		"nbf missing":            {ok(claims("nbf", "")), invalid},
		"nbf in 29 s":            {ok(claims("nbf", seconds(start.Add(29*time.Second)))), nil},
		"nbf in 30 s":            {ok(claims("nbf", seconds(start.Add(30*time.Second)))), nil},
		"nbf in 31 s":            {ok(claims("nbf", seconds(start.Add(31*time.Second)))), invalid},
		"iat missing":            {ok(claims("iat", "")), invalid},
		"iat in 31 s":            {ok(claims("iat", seconds(start.Add(31*time.Second)))), invalid},
		"iss missing":            {ok(claims("iss", "")), invalid},
		"iss wrong":              {ok(claims("iss", `"evil"`)), invalid},
		"iss in capitals":        {ok(claims("iss", `"Loregate"`)), invalid},
		"aud missing":            {ok(claims("aud", "")), invalid},
		"aud wrong":              {ok(claims("aud", `"other"`)), invalid},
		"aud empty":              {ok(claims("aud", `[]`)), invalid},
		"aud empty string":       {ok(claims("aud", `""`)), invalid},
		"audiences without ours": {ok(claims("aud", `["x","loregate2"]`)), invalid},
		"aud nested":             {ok(claims("aud", `[["loregate"]]`)), invalid},
		"aud an object":          {ok(claims("aud", `{"loregate":1}`)), invalid},
		"sub missing":            {ok(claims("sub", "")), invalid},
		"sub another":            {ok(claims("sub", `"bert"`)), invalid},
		"role missing":           {ok(claims("role", "")), invalid},
		"role none":              {ok(claims("role", `"none"`)), invalid},
		"role unknown":           {ok(claims("role", `"owner"`)), invalid},
		"role a number":          {ok(claims("role", "3")), invalid},
		"role twice":             {ok(claims("Role", `"admin"`)), invalid},
		"role twice, same case":  {ok(strings.Replace(claims(), `"role":"gm"`, `"role":"gm","role":"admin"`, 1)), invalid},
		"role twice, escaped": {ok(strings.Replace(claims(), `"role":"gm"`, `"role":"gm","r\u006fle":"admin"`, 1)),
			invalid},
		"key with a Kelvin sign":  {ok(strings.Replace(claims(), `"key":`, "\"\u212aey\":", 1)), invalid},
		"world no id":             {ok(claims("world", `"main"`)), invalid},
		"key missing":             {ok(claims("key", "")), invalid},
		"key unknown":             {ok(claims("key", `"id-99"`)), invalid},
		"jti missing":             {ok(claims("jti", "")), invalid},
		"unknown claim":           {ok(claims("scope", `"admin"`)), invalid},
		"claims not an object":    {ok(`[]`), invalid},
		"claims null":             {ok(`null`), invalid},
		"claims twice":            {ok(claims() + claims()), invalid},
		"kid missing":             {head(`{"alg":"RS256"}`), invalid},
		"kid empty":               {head(`{"alg":"RS256","kid":""}`), invalid},
		"kid unknown":             {head(`{"alg":"RS256","kid":"id-77"}`), invalid},
		"kid twice":               {head(`{"alg":"RS256","kid":"id-2","kid":"id-2"}`), invalid},
		"alg twice":               {head(`{"alg":"RS256","alg":"none","kid":"id-2"}`), invalid},
		"Alg besides":             {head(`{"alg":"RS256","Alg":"none","kid":"id-2"}`), invalid},
		"kid a path":              {head(`{"alg":"RS256","kid":"../../../../dev/null"}`), invalid},
		"kid a query":             {head(`{"alg":"RS256","kid":"id-2' OR '1'='1"}`), invalid},
		"kid with a NUL":          {head(`{"alg":"RS256","kid":"id-2\u0000"}`), invalid},
		"kid an address":          {head(`{"alg":"RS256","kid":"https://evil.example/k"}`), invalid},
		"kid a number":            {head(`{"alg":"RS256","kid":2}`), invalid},
		"kid very long":           {head(`{"alg":"RS256","kid":"` + strings.Repeat("a", 3000) + `"}`), invalid},
		"jku":                     {head(`{"alg":"RS256","kid":"id-2","jku":"https://evil.example/jwks"}`), invalid},
		"x5u":                     {head(`{"alg":"RS256","kid":"id-2","x5u":"https://evil.example/x"}`), invalid},
		"x5c":                     {head(`{"alg":"RS256","kid":"id-2","x5c":["AAAA"]}`), invalid},
		"crit":                    {head(`{"alg":"RS256","kid":"id-2","crit":["exp"]}`), invalid},
		"b64 false":               {head(`{"alg":"RS256","kid":"id-2","b64":false}`), invalid},
		"embedded jwk":            {embedded(rsaKeys()[3], "id-2"), invalid},
		"embedded jwk, own kid":   {embedded(rsaKeys()[3], "mine"), invalid},
		"typ of something else":   {head(`{"alg":"RS256","kid":"id-2","typ":"at+jwt"}`), invalid},
		"another key's signature": {signed(rsaKeys()[3], goodHeader, claims()), invalid},
		"payload swapped":         {part[0] + "." + b64(claims("role", `"admin"`)) + "." + part[2], invalid},
		"signature cut":           {good[:len(good)-8], invalid},
		"signature missing":       {part[0] + "." + part[1] + ".", invalid},
		"two parts":               {part[0] + "." + part[1], invalid},
		"four parts":              {good + ".AAAA", invalid},
		"padded":                  {part[0] + "=." + part[1] + "." + part[2], invalid},
		"line feeds within":       {good[:20] + "\n" + good[20:], invalid},
		"trailing bits":           {trailingBits(good), invalid},
		"JSON serialisation":      {jsonForm(part), invalid},
		"a megabyte":              {good + strings.Repeat("A", 1<<20), invalid},
		"a megabyte of dots":      {strings.Repeat(".", 1<<20), invalid},
		"over 8 KiB, well signed": {ok(claims("jti", `"`+strings.Repeat("j", 8<<10)+`"`)), invalid},
		"spaces around":           {" " + good, invalid},
		"not a token":             {"hunter2", invalid},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForge(t)
			for range 2 { // the second time from the cache
				c, err := f.caller(row.token)
				switch {
				case row.want == nil && err != nil:
					t.Fatalf("refused: %v", err)
				case row.want == nil && c.Role(mainWorld) != access.RoleGM:
					t.Errorf("role %s, want gm", c.Role(mainWorld))
				case row.want != nil:
					wantRefused(t, err, row.want)
					if c.Key != "" || c.Roles != nil {
						t.Errorf("a refusal came with the caller %+v", c)
					}
				}
			}
		})
	}
}

func publicDER(k *rsa.PrivateKey) []byte {
	b, err := x509.MarshalPKIXPublicKey(&k.PublicKey)
	if err != nil {
		panic(err)
	}
	return b
}

func publicPEM(k *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: publicDER(k)})
}

func hs256(key []byte) string { return mac(key, `{"alg":"HS256","kid":"id-2","typ":"JWT"}`) }

func hs256Named(key []byte) string { return mac(key, goodHeader) }

func mac(key []byte, header string) string { return macOf(key, header, claims()) }

func macOf(key []byte, header, claims string) string {
	text := b64(header) + "." + b64(claims)
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func ps256(k *rsa.PrivateKey, header string) string { return ps256Of(k, header, claims()) }

func ps256Of(k *rsa.PrivateKey, header, claims string) string {
	text := b64(header) + "." + b64(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPSS(rand.Reader, k, crypto.SHA256, sum[:], nil)
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// embedded returns a token signed by a key that its own header contains.
func embedded(k *rsa.PrivateKey, kid string) string { return embeddedOf(k, kid, claims()) }

func embeddedOf(k *rsa.PrivateKey, kid, claims string) string {
	return signed(k, fmt.Sprintf(`{"alg":"RS256","kid":%q,"jwk":{"kty":"RSA","kid":%q,"e":"AQAB","n":%q}}`,
		kid, kid, bigText(k.N)), claims)
}

// trailingBits spells the last byte of the signature in a second way: 256 bytes leave four bits of
// the last character unused.
func trailingBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func jsonForm(part []string) string {
	b, err := json.Marshal(map[string]string{"protected": part[0], "payload": part[1], "signature": part[2]})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestAnExpiredTokenTurnsExpired(t *testing.T) {
	f := newForge(t)
	token := f.token(f.secret, access.RoleGM, "")
	for _, step := range []struct {
		add  time.Duration
		want error
	}{
		{0, nil}, {30*time.Minute + 29*time.Second, nil}, {time.Second, identity.ErrExpired},
		{time.Hour, identity.ErrExpired},
	} {
		f.add(step.add)
		_, err := f.caller(token)
		if step.want == nil && err != nil {
			t.Errorf("at %s: %v", f.now().Sub(start), err)
		} else if step.want != nil {
			wantRefused(t, err, step.want)
		}
	}
}

func TestAudienceIsCheckedPerCall(t *testing.T) {
	f := newFixture(t, func(c *identity.Config) { c.Audiences = []string{"loregate", "https://x.example/mcp"} })
	_, secret := f.key(identity.KeySpec{})
	token := f.token(secret, access.RoleGM, "")
	for audience, want := range map[string]bool{"": true, "loregate": true, "https://x.example/mcp": true,
		"https://y.example/mcp": false} {
		if _, err := f.Authenticate(context.Background(), token, audience); (err == nil) != want {
			t.Errorf("audience %q: %v", audience, err)
		}
	}
}

// A flood of tokens with unknown kids reads the store at most once a second.
func TestUnknownKidsDoNotFloodTheStore(t *testing.T) {
	f := newForge(t, func(c *identity.Config) { c.Poll = time.Hour })
	f.add(2 * time.Second)
	before := f.store.SigningReads()
	for i := range 500 {
		_, err := f.caller(signed(rsaKeys()[3], fmt.Sprintf(`{"alg":"RS256","kid":"x%d"}`, i), claims()))
		wantRefused(t, err, identity.ErrInvalid)
	}
	if n := f.store.SigningReads() - before; n > 1 {
		t.Errorf("the store was read %d times", n)
	}
}

func FuzzToken(f *testing.F) {
	fx := newForge(f)
	good := signed(rsaKeys()[0], goodHeader, claims())
	for _, s := range []string{good, good + ".", good[1:], hs256(publicPEM(rsaKeys()[0])), "..", "lg_", "eyJ.eyJ.AA"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		c, err := fx.caller(token)
		if err == nil && token != good {
			t.Errorf("%q was taken for %+v", token, c)
		}
	})
}

// FuzzClaims signs its input: every accepted caller must still have only the key's rights.
func FuzzClaims(f *testing.F) {
	fx := newForge(f)
	for _, s := range []string{claims(), claims("role", `"admin"`), claims("aud", `["loregate"]`), `{}`, `[]`,
		claims("exp", "1e300")} {
		f.Add(goodHeader, s)
	}
	f.Fuzz(func(t *testing.T, header, payload string) {
		c, err := fx.caller(signed(rsaKeys()[0], header, payload))
		if err != nil {
			return
		}
		if c.Key != "id-1" || c.Subject != "anna" || c.Role(mainWorld) > access.RoleGM || c.Role(otherWorld) > 0 ||
			c.Operator {
			t.Errorf("%s gave %+v", payload, c)
		}
	})
}
