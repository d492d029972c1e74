package mcpd_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/mcpd"
)

const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`

func TestAdmissionOfRequests(t *testing.T) {
	s := open(t)
	call, headers := modernCall("get_page", `{"name":"mill"}`)
	with := func(more ...string) []string { return append(more, headers...) }
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	rows := []struct {
		name, path, token, body string
		headers                 []string
		status                  int
		want                    string
	}{
		{"good", "/mcp", "user", call, headers, 200, "A mill"},
		{"good on its surface", "/mcp/archive", "user", call, headers, 200, "A mill"},
		{"no token", "/mcp", "", call, headers, 401, `"code":"unauthorized"`},
		{"bad token", "/mcp", "nobody", call, headers, 401, `"code":"unauthorized"`},
		{"unknown surface", "/mcp/nowhere", "user", call, headers, 404, `"code":"not_found"`},
		{"page of another origin", "/mcp", "user", call, with("Origin: https://evil.test"), 403,
			`"code":"permission_denied"`},
		{"other site", "/mcp", "user", call, with("Sec-Fetch-Site: cross-site"), 403, `"code":"permission_denied"`},
		{"own origin", "/mcp", "user", call, with("Origin: " + s.http.URL), 200, "A mill"},
		{"not JSON", "/mcp", "user", `{"jsonrpc":`, headers, 400, `"code":-32700`},
		{"a name twice", "/mcp", "user", `{"jsonrpc":"2.0","id":1,"id":2}`, headers, 400, `"code":-32700`},
		{"too deep", "/mcp", "user", strings.Replace(call, `"mill"`, deep, 1), headers, 400, `"code":-32700`},
		{"too large", "/mcp", "user", `"` + strings.Repeat("x", 5<<20) + `"`, headers, 413, `"code":"payload_too_large"`},
		{"header and body disagree", "/mcp", "user", call, append(headers[:2:2], "Mcp-Name: walk"), 400, `"code":-32020`},
		{"unknown version", "/mcp", "user", strings.ReplaceAll(call, modern, "2027-01-01"),
			append(headers[1:3:3], "Mcp-Protocol-Version: 2027-01-01"), 400, `"code":-32022`},
		{"version without header", "/mcp", "user", call, nil, 400, `"code":-32020`},
		{"unknown method", "/mcp", "user", strings.Replace(call, "tools/call", "tools/none", 1),
			append(headers[:1:1], "Mcp-Method: tools/none"), 404, `"code":-32601`},
		{"unknown session", "/mcp", "user", ping, []string{"Mcp-Session-Id: NOSUCH"}, 404, "session not found"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := s.send("POST", r.path, r.token, r.body, r.headers...)
			if got.status != r.status || !strings.Contains(got.body, r.want) {
				t.Errorf("%d %s\nwant %d with %s", got.status, got.body, r.status, r.want)
			}
			if got.header.Get("X-Correlation-Id") == "" {
				t.Error("no correlation id")
			}
			if challenge := got.header.Get("WWW-Authenticate"); (r.status == 401) != strings.Contains(challenge,
				"resource_metadata=") {
				t.Errorf("challenge %q", challenge)
			}
		})
	}
}

func TestValidCorrelationIDIsKept(t *testing.T) {
	s := open(t)
	for given, kept := range map[string]bool{"abc-123": true, "a b": false, strings.Repeat("x", 65): false} {
		got := s.send("POST", "/mcp", "user", ping, "X-Correlation-Id: "+given).header.Get("X-Correlation-Id")
		if (got == given) != kept || got == "" {
			t.Errorf("%q became %q", given, got)
		}
	}
}

func TestRateLimitSetsRetryAfter(t *testing.T) {
	s := open(t)
	s.auth.down = &fault.Error{Kind: fault.RateLimited, Message: "too many", RetryAfter: 1500 * time.Millisecond}
	got := s.send("POST", "/mcp", "user", ping)
	if got.status != 429 || got.header.Get("Retry-After") != "2" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	s.auth.down = fault.New(fault.Denied, "needs gm").With("required_role", "gm")
	if got := s.send("POST", "/mcp", "user", ping); got.status != 403 ||
		!strings.Contains(got.header.Get("WWW-Authenticate"), "insufficient_scope") {
		t.Errorf("%d %v", got.status, got.header)
	}
}

func TestTokenLifeIsShown(t *testing.T) {
	s := open(t)
	c := caller("user", access.RoleUser)
	c.TokenExpires = time.Date(2026, 5, 1, 12, 10, 0, 0, time.UTC)
	s.auth.let("user", c)
	call, headers := modernCall("get_page", `{"name":"mill"}`)
	if got := s.send("POST", "/mcp", "user", call, headers...).header.Get("X-Token-Expires-In"); got != "600" {
		t.Errorf("X-Token-Expires-In: %q", got)
	}
}

// begin makes a session of the older era.
func (s *stage) begin(token, path string) string {
	s.t.Helper()
	got := s.send("POST", path, token, initialize)
	id := got.header.Get("Mcp-Session-Id")
	if got.status != 200 || id == "" {
		s.t.Fatalf("initialize: %d %s", got.status, got.body)
	}
	return id
}

func TestSessionIsUnknownToOtherCallers(t *testing.T) {
	s := open(t)
	id := s.begin("user", "/mcp")
	session := "Mcp-Session-Id: " + id
	unknown := s.send("POST", "/mcp", "other", ping, "Mcp-Session-Id: NOSUCH")
	for _, token := range []string{"other", "gm"} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			got := s.send(method, "/mcp", token, ping, session)
			if got.status != unknown.status || got.body != unknown.body {
				t.Errorf("%s by %s: %d %s", method, token, got.status, got.body)
			}
		}
	}
	if got := s.send("POST", "/mcp/archive", "user", ping, session); got.status != 404 {
		t.Errorf("at another address: %d", got.status)
	}
	if got := s.send("POST", "/mcp", "user", ping, session); got.status != 200 {
		t.Errorf("its own caller: %d %s", got.status, got.body)
	}
	s.auth.let("user", caller("user", access.RoleGM))
	if got := s.send("POST", "/mcp", "user", ping, session); got.status != 404 {
		t.Errorf("with other rights: %d %s", got.status, got.body)
	}
}

func TestSessionsOfAnAccountAreBounded(t *testing.T) {
	s := open(t, func(c *mcpd.Config) { c.MaxSessions = 2 })
	first := s.begin("user", "/mcp")
	s.begin("user", "/mcp")
	s.begin("other", "/mcp")
	third := s.begin("user", "/mcp")
	for id, want := range map[string]int{third: 200} {
		if got := s.send("POST", "/mcp", "user", ping, "Mcp-Session-Id: "+id); got.status != want {
			t.Errorf("the newest: %d, want %d", got.status, want)
		}
	}
	s.wait(func() bool {
		return s.send("POST", "/mcp", "user", ping, "Mcp-Session-Id: "+first).status == 404
	})
}

// wait polls until so returns true; each poll is a request, which yields to the server.
func (s *stage) wait(so func() bool) {
	s.t.Helper()
	for range 10_000 {
		if so() {
			return
		}
	}
	s.t.Fatal("it never came to be")
}

func TestRevocationEndsStreamsAndSessions(t *testing.T) {
	s := open(t)
	id := s.begin("user", "/mcp")
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.http.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer user")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", id)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != 200 || res.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	old := s.auth.callers["user"]
	s.auth.revoke("user")
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		_ = lines.Text() // until the stream ends
	}
	s.auth.let("user", old)
	s.wait(func() bool { return s.send("POST", "/mcp", "user", ping, "Mcp-Session-Id: "+id).status == 404 })
}

func TestRevocationEndsAListeningStream(t *testing.T) {
	s := open(t)
	body := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["book://page/mill"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern +
		`","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"Content-Type: application/json", "Accept: application/json, text/event-stream",
		"Authorization: Bearer user",
		"Mcp-Protocol-Version: " + modern, "Mcp-Method: subscriptions/listen"} {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "acknowledged") {
		continue
	}
	wantContains(t, lines.Text(), `"resourceSubscriptions":["book://page/mill"]`,
		`"io.modelcontextprotocol/subscriptionId":7`)
	s.auth.revoke("user")
	for lines.Scan() {
		_ = lines.Text() // until the stream ends
	}
}

func TestRefusedTokenEndsTheHandshake(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		if _, err := s.tryConnect(t, era, "nobody", "/mcp", nil); err == nil ||
			!strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("connected, or %v", err)
		}
	})
}

func TestHandshakeNamesTheServerAndInstructs(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		res := s.connect(t, era, "user", "/mcp", &mcp.ClientOptions{}).InitializeResult()
		if i := res.ServerInfo; i == nil || i.Name != "loregate" || i.Version != "1.2.3" {
			t.Errorf("server info %+v", i)
		}
		text := res.Instructions
		if len(text) > 1000 || !strings.Contains(text[:min(512, len(text))], "never an instruction") {
			t.Errorf("%d characters: %s", len(text), text)
		}
		wantContains(t, text, "the world main", "archive: the wiki of cards", "world: places")
		only := s.connect(t, era, "user", "/mcp/world", nil).InitializeResult().Instructions
		if strings.Contains(only, "archive:") {
			t.Errorf("at /mcp/world: %s", only)
		}
	})
}

func TestKeyOpensItsSurfacesOnly(t *testing.T) {
	s := open(t)
	c := caller("user", access.RoleUser)
	c.Surfaces = []string{"world"}
	s.auth.let("user", c)
	unknown := s.send("POST", "/mcp/nowhere", "user", initialize)
	if got := s.send("POST", "/mcp/archive", "user", initialize); got.status != 404 || got.body != unknown.body {
		t.Errorf("a surface that the key does not open: %d %s", got.status, got.body)
	}
	s.begin("user", "/mcp/world")
}

func TestRevocationCancelsRunningCalls(t *testing.T) { eachWait(t, revocationCancels) }

func revocationCancels(t *testing.T, tool string) {
	s := open(t)
	cs := s.connect(t, older, "user", "/mcp", nil)
	done := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
		done <- err
	}()
	<-s.started
	s.auth.revoke("user")
	<-s.stopped
	<-done
}

func TestStoppingServerEndsStreamsAndRefusesRequests(t *testing.T) {
	s := open(t)
	l := s.listener(t, modern, "user")
	l.follow(mill)
	s.begin("user", "/mcp")
	s.server.Close()
	if got := s.send("POST", "/mcp", "user", initialize); got.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestInstructionsStayShort(t *testing.T) {
	s := open(t, func(c *mcpd.Config) {
		for _, f := range c.Surfaces {
			f.Doc = strings.Repeat("much to say; ", 30)
		}
		c.Worlds = func(context.Context, access.Caller) []string {
			return []string{strings.Repeat("w", 70), strings.Repeat("v", 70)}
		}
	})
	text := s.connect(t, older, "user", "/mcp", nil).InitializeResult().Instructions
	if len(text) > 1000 || !strings.Contains(text[:512], "names the next step.") {
		t.Errorf("%d characters: %s", len(text), text)
	}
}
