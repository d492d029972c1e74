package mcpd_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/mcpd"
)

// Two stages share their seal, like processes on one store.
func TestSessionResumesAtAnotherProcess(t *testing.T) {
	here, there := open(t), open(t)
	id := here.begin("user", "/mcp/archive")
	here.send("POST", "/mcp/archive", "user", `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"Mcp-Session-Id: "+id)
	session := []string{"Mcp-Session-Id: " + id, "Mcp-Protocol-Version: 2025-06-18"}
	call := `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"get_page","arguments":{"name":"mill"}}}`
	want := here.send("POST", "/mcp/archive", "user", call, session...)
	for range 2 {
		got := there.send("POST", "/mcp/archive", "user", call, session...)
		if got.status != 200 || got.body != want.body ||
			got.header.Get("Mcp-Session-Id") != want.header.Get("Mcp-Session-Id") {
			t.Errorf("%d %s %v, want %s", got.status, got.body, got.header, want.body)
		}
	}
	if got := there.send("DELETE", "/mcp/archive", "user", "", session...); got.status != 204 {
		t.Errorf("ended: %d %s", got.status, got.body)
	}
	if got := there.send("POST", "/mcp/archive", "user", call, session...); got.status != 404 {
		t.Errorf("after its end: %d %s", got.status, got.body)
	}
}

// A real client that is moved to another server continues, and still receives notices.
func TestOlderClientIsMovedToAnotherServer(t *testing.T) {
	here, there := open(t), open(t)
	at := here.http.URL
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: at + "/mcp",
		DisableStandaloneSSE: true,
		HTTPClient:           &http.Client{Transport: detour{bearer("user"), &at}}},
		&mcp.ClientSessionOptions{ProtocolVersion: older})
	if err != nil {
		t.Fatal(err)
	}
	at = there.http.URL
	for range 3 {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_page", Arguments: map[string]any{"name": "mill"}})
		if err != nil || res.IsError {
			t.Fatalf("moved: %+v, %v", res, err)
		}
	}
	if err := cs.Close(); err != nil {
		t.Error(err)
	}
}

// detour sends requests to the current value of at.
type detour struct {
	bearer
	at *string
}

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = strings.TrimPrefix(*d.at, "http://")
	return d.bearer.RoundTrip(r)
}

func TestNoticesReachResumedSession(t *testing.T) {
	here, there := open(t), open(t)
	session := "Mcp-Session-Id: " + here.begin("user", "/mcp")
	if got := there.send("POST", "/mcp", "user",
		`{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"book://page/mill"}}`,
		session); got.status != 200 || strings.Contains(got.body, "error") {
		t.Fatalf("%d %s", got.status, got.body)
	}
	lines, _ := there.stream(session)
	there.book.write("mill", access.LevelUser, "burnt")
	for lines.Scan() {
		if strings.Contains(lines.Text(), "notifications/resources/updated") {
			return
		}
	}
	t.Error("the stream ended without the notice")
}

// A proxy on the same machine passes on the name that the client called.
func TestBehindAProxyOnTheSameMachine(t *testing.T) {
	s := open(t)
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.http.URL+"/mcp", strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "lore.example"
	r.Header = http.Header{"Authorization": {"Bearer user"}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("%s", res.Status)
	}
}

// stream opens the stream of a session.
func (s *stage) stream(session string) (*bufio.Scanner, *http.Response) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.http.URL+"/mcp", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer user")
	r.Header.Set("Accept", "text/event-stream")
	name, value, _ := strings.Cut(session, ": ")
	r.Header.Set(name, value)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 {
		s.t.Fatalf("the stream: %s", res.Status)
	}
	return bufio.NewScanner(res.Body), res
}

func TestSessionResumesOnlyForItsCaller(t *testing.T) {
	made := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		path, token string
		change      func(*mcpd.Config)
		rights      access.Role
		want        int
	}{
		"itself": {"/mcp", "user", func(*mcpd.Config) {}, access.RoleUser, 200},
		"after six days": {"/mcp", "user",
			func(c *mcpd.Config) { c.Now = func() time.Time { return made.Add(6 * 24 * time.Hour) } }, access.RoleUser, 200},
		"another":            {"/mcp", "other", func(*mcpd.Config) {}, access.RoleUser, 404},
		"with other rights":  {"/mcp", "user", func(*mcpd.Config) {}, access.RoleGM, 404},
		"at another address": {"/mcp/archive", "user", func(*mcpd.Config) {}, access.RoleUser, 404},
		"after a week": {"/mcp", "user",
			func(c *mcpd.Config) { c.Now = func() time.Time { return made.Add(7 * 24 * time.Hour) } }, access.RoleUser, 404},
		"with another seal": {"/mcp", "user", func(c *mcpd.Config) { c.SealKey[0] = 1 }, access.RoleUser, 404},
	} {
		t.Run(name, func(t *testing.T) {
			id := open(t).begin("user", "/mcp")
			there := open(t, row.change)
			there.auth.let("user", caller("user", row.rights))
			if got := there.send("POST", row.path, row.token, ping, "Mcp-Session-Id: "+id); got.status != row.want {
				t.Errorf("%d %s, want %d", got.status, got.body, row.want)
			}
			for _, bad := range []string{id[:len(id)-4], id[1:], id + "AAAA", "AAAA", strings.Repeat("A", 4000)} {
				if got := there.send("POST", "/mcp", "user", ping, "Mcp-Session-Id: "+bad); got.status != 404 {
					t.Errorf("%q: %d", bad, got.status)
				}
			}
		})
	}
}

// Concurrent requests belong to one session: with a limit of two and one existing session, none has
// to be closed.
func TestSessionIsResumedOnce(t *testing.T) {
	here, there := open(t), open(t, func(c *mcpd.Config) { c.MaxSessions = 2 })
	before := there.begin("user", "/mcp")
	id := here.begin("user", "/mcp")
	answers := make(chan answer, 20)
	for i := range cap(answers) {
		go func() {
			answers <- there.send("POST", "/mcp", "user", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i),
				"Mcp-Session-Id: "+id)
		}()
	}
	for range cap(answers) {
		if got := <-answers; got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := there.send("POST", "/mcp", "user", ping, "Mcp-Session-Id: "+before); got.status != 200 {
		t.Errorf("the one before: %d", got.status)
	}
}

func TestDrainEndsStreamsAndLetsCallsEnd(t *testing.T) { eachWait(t, drainLetsCallsEnd) }

func drainLetsCallsEnd(t *testing.T, tool string) {
	s := open(t)
	id := s.begin("user", "/mcp")
	lines, _ := s.stream("Mcp-Session-Id: " + id)
	l := s.listener(t, modern, "user")
	l.follow(mill)
	transport := &mcp.StreamableClientTransport{Endpoint: s.http.URL + "/mcp",
		HTTPClient: &http.Client{Transport: bearer("user")}, DisableStandaloneSSE: true}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
		&mcp.ClientSessionOptions{ProtocolVersion: older})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	called := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
		called <- err
	}()
	<-s.started
	s.server.Drain()
	for lines.Scan() {
		_ = lines.Text() // until the stream ends
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.http.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer user"}, "Accept": {"text/event-stream"}, "Mcp-Session-Id": {id}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("a new stream: %s %v", res.Status, res.Header)
	}
	if got := s.send("POST", "/mcp", "user", ping, "Mcp-Session-Id: "+id); got.status != 200 {
		t.Errorf("a call: %d %s", got.status, got.body)
	}
	close(s.goOn)
	if err := <-called; err != nil {
		t.Errorf("what was under way: %v", err)
	}
}
