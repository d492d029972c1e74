package app

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
)

// A subject of another issuer calls REST and MCP with a token of that issuer.
func TestTokenOfOutsideIssuerIsAccepted(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			fmt.Fprintf(w, `{"keys":[{"kty":"RSA","kid":"k","e":"AQAB","n":%q}]}`, text(private.N.Bytes()))
			return
		}
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, issuer.URL, issuer.URL+"/keys")
	}))
	defer issuer.Close()
	c, err := settings(t,
		fmt.Sprintf("issuers: [{name: kc, issuer: %q, audience: lore, roles: {masters: gm}, max_role: gm, worlds: [main]}]",
			issuer.URL))
	if err != nil {
		t.Fatal(err)
	}
	a := openWith(t, c)
	if err := a.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	h, stop, err := a.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	token := func(roles string, life time.Duration) string {
		body := text([]byte(`{"alg":"RS256","kid":"k"}`)) + "." +
			text(fmt.Appendf(nil, `{"iss":%q,"aud":"lore","sub":"anna","roles":%s,"exp":%d}`, issuer.URL, roles,
				time.Now().Add(life).Unix()))
		sum := sha256.Sum256([]byte(body))
		sig, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return body + "." + text(sig)
	}
	ask := func(method, path, bearer, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header = http.Header{"Authorization": {"Bearer " + bearer}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	master, nobody, late := token(`["masters"]`, time.Hour), token(`[]`, time.Hour), token(`["masters"]`, -time.Hour)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, row := range []struct {
		method, path, bearer, body string
		status                     int
		holds                      string
	}{
		{"POST", "/api/mcp/cards", master, `{"name":"Mill","content":"x"}`, 201, "Mill"},
		{"GET", "/api/mcp/cards/Mill", master, "", 200, "Mill"},
		{"POST", "/mcp", master, hello, 200, "main"},
		{"GET", "/api/mcp/cards/Mill", nobody, "", 404, "world"}, // it opens no world
		{"GET", "/api/mcp/cards/Mill", late, "", 401, "from its issuer"},
		{"POST", "/mcp", late, hello, 401, "from its issuer"},
		{"POST", "/mcp", master + "x", hello, 401, "not valid"},
		{"GET", "/metrics", master, "", 403, "operator"},
		{"GET", "/.well-known/oauth-protected-resource", "", "", 200, `"authorization_servers":["` + issuer.URL + `"]`},
	} {
		w := ask(row.method, row.path, row.bearer, row.body)
		if w.Code != row.status || !strings.Contains(w.Body.String(), row.holds) {
			t.Errorf("%s %s: %d %s", row.method, row.path, w.Code, w.Body)
		}
	}
	if left := ask("GET", "/api/mcp/cards/Mill", master, "").Header().Get("X-Token-Expires-In"); left == "" {
		t.Error("the time that is left is not told")
	}
	// Removing the membership shuts out a subject who never was a member, too.
	if err := a.SetMember(t.Context(), "main", MemberSpec{Subject: "kc:anna", Role: access.RoleNone}); err != nil {
		t.Fatal(err)
	}
	a.Identity.Invalidate()
	if w := ask("GET", "/api/mcp/cards/Mill", master, ""); w.Code != 404 {
		t.Errorf("removed, and still answered: %d %s", w.Code, w.Body)
	}
}
