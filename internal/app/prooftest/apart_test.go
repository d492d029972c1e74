package prooftest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
)

// TestACredentialForOneWorldReachesNoOther gives a person credentials in two worlds, and the admin of one of them a
// sign-in link for that person. The session of the link manages what belongs to its world. A token of the operator for
// one world is no operator's.
func TestACredentialForOneWorldReachesNoOther(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		t.Parallel()
		s := newStage(t, on)
		other, err := s.app.CreateWorld(t.Context(), canon.NewWorld{Slug: "otherland", Title: "Otherland"})
		if err != nil {
			t.Fatal(err)
		}
		s.giveKeys("stranger")
		s.giveOperatorKey()
		for _, world := range []string{"lendwater", "otherland"} {
			if err := s.app.SetMember(t.Context(), world, app.MemberSpec{Subject: "ada", Role: access.RoleGM}); err != nil {
				t.Fatal(err)
			}
		}
		code, err := s.app.Identity.CreateSignIn(t.Context(), identity.PersonSpec("ada"))
		if err != nil {
			t.Fatal(err)
		}
		s.cookies["ada"] = s.signIn(code)
		here, there := s.letIn("Lantern client", s.world), s.letIn("Other client", other.ID)

		made := s.send("stranger", request{operation: "create_sign_in_link", method: "POST",
			path: "/api/members/ada/sign-in"})
		var link struct{ Code string }
		if err := json.Unmarshal([]byte(made.body), &link); err != nil || link.Code == "" {
			t.Fatalf("no link: %v %s", err, made.body)
		}
		s.cookies["linked"] = s.signIn(link.Code)
		page := s.send("linked", pageRequest("/account")).body
		if strings.Contains(page, "Lantern") || strings.Contains(page, here) || !strings.Contains(page, there) ||
			strings.Count(page, `name="session"`) > 0 || strings.Contains(page, "Add a passkey") {
			t.Errorf("the session for one world shows %s", page)
		}
		whole := s.send("ada", pageRequest("/account")).body
		if !strings.Contains(whole, here) || !strings.Contains(whole, there) || strings.Count(whole, `name="session"`) != 2 {
			t.Fatalf("the control shows %s", whole)
		}
		own, err := s.app.Identity.Sessions(t.Context(), "ada")
		if err != nil || len(own) != 2 {
			t.Fatalf("%d sessions, %v", len(own), err)
		}
		for _, form := range []struct{ path, body string }{
			{"/account/end", "session=others"}, {"/account/end-grant", "grant=" + here}, {"/account/end-passkey",
				"passkey=" + here},
			{"/account/end", "session=" + here}, {"/account/end", "session=" + own[0].ID},
		} {
			s.send("linked", request{operation: "page", method: "POST", path: form.path, page: true, body: form.body,
				header: []string{"Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin"}})
		}
		if after := s.send("ada", pageRequest("/account")); after.status != 200 || !strings.Contains(after.body, here) {
			t.Errorf("the session for one world ended what belongs to another: %d %s", after.status, after.body)
		}
		for _, path := range []string{"/account/passkey/ask", "/account/passkey"} {
			got := s.send("linked", request{operation: "page", method: "POST", path: path, page: true,
				body: "name=x", header: []string{"Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin"}})
			if got.status < 400 || strings.Contains(got.body, "challenge") {
				t.Errorf("%s answers %d %s", path, got.status, got.body)
			}
		}
		s.tryNarrowed()
	})
}

// tryNarrowed calls every operation of the operator with a token of the operator's key for one world.
func (s *stage) tryNarrowed() {
	s.t.Helper()
	for _, world := range []string{"", "otherland"} {
		b, _ := json.Marshal(map[string]string{"api_key": s.keys["operator"], "role": "admin", "world": world})
		got := s.send("", request{operation: "auth", method: "POST", path: "/api/mcp/auth", body: string(b)})
		var token struct{ Token string }
		if err := json.Unmarshal([]byte(got.body), &token); err != nil || token.Token == "" {
			s.t.Fatalf("no token: %s", got.body)
		}
		s.keys["narrowed"] = token.Token
		refused := 0
		for _, of := range s.app.Ops.All() {
			if of.Operator && of.Route != "" && strings.HasPrefix(of.Route, "GET") && !strings.Contains(of.Route, "{") {
				if got := s.send("narrowed", viaREST(of, nil)); got.status == http.StatusForbidden {
					refused++
				} else if world != "" {
					s.t.Errorf("%s answers a token for one world: %d %s", of.Name, got.status, got.body)
				}
			}
		}
		if world == "" && refused > 0 {
			s.t.Errorf("the control was refused %d times", refused)
		}
	}
}

// signIn exchanges a code for a session and returns its cookie.
func (s *stage) signIn(code string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/sign-in",
		strings.NewReader(url.Values{"secret": {code}}.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // only its cookie is used
	if len(res.Cookies()) == 0 {
		s.t.Fatalf("no session: %s", res.Status)
	}
	return res.Cookies()[0].Name + "=" + res.Cookies()[0].Value
}

// letIn lets a client into a world for the person ada, and returns the id of the grant.
func (s *stage) letIn(name string, w access.WorldID) (grant string) {
	s.t.Helper()
	const redirect, resource = "https://client.example/back", "http://" + host + "/mcp"
	id, _, err := s.app.Identity.RegisterClient(name, []string{redirect})
	if err != nil {
		s.t.Fatal(err)
	}
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	code, err := s.app.Identity.CreateCode(s.t.Context(), identity.Consent{Client: id, Redirect: redirect,
		Resource:  resource,
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), Person: "ada",
		Rights: identity.KeySpec{MaxRole: access.RoleUser, Worlds: map[access.WorldID]access.Role{w: access.RoleUser}}})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.app.Identity.RedeemCode(s.t.Context(), id, code, redirect, verifier, resource); err != nil {
		s.t.Fatal(err)
	}
	all, err := s.app.Identity.KeysOfWorld(s.t.Context(), w)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, k := range all {
		if k.Name == name {
			grant = k.ID
		}
	}
	return grant
}
