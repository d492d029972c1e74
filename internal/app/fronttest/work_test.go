package fronttest

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
)

// A key whose calls took too much processor time is refused over HTTP and MCP, with the time to wait and the remedy.
// Other keys and the operator are served meanwhile, and so is the key itself after that time.
func TestWorkIsLimited(t *testing.T) {
	var clock atomic.Int64 // all time is processor time
	s := openWith(t, nil, app.Options{Now: func() time.Time { return time.Unix(1_800_000_000, clock.Load()) },
		CPU: func() time.Duration { return time.Duration(clock.Load()) }})
	s.fill(1)
	key, id := s.key(access.RoleUser)
	other, _ := s.key(access.RoleGM)
	sessions := map[string]*mcp{}
	for _, path := range []string{"/mcp/archive", "/mcp"} {
		sessions[path] = s.connect(path, key)
	}
	who := access.Caller{Subject: "ada-user", Key: id, Roles: map[access.WorldID]access.Role{s.world: access.RoleUser}}
	a, err := s.app.Guard.Admit(t.Context(), who, access.Request{Operation: "long", Effect: access.Read,
		Class: access.ClassCall, World: s.world, MinRole: access.RoleUser})
	if err != nil {
		t.Fatal(err)
	}
	clock.Add(int64(16 * time.Second)) // of ten that may come at once and twenty in a minute
	a.Done(t.Context(), 0, nil)

	got := s.send("GET", "/api/mcp/cards/Gate", key, "")
	wait, _ := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != 429 || wait < 15 || wait > 20 || !strings.Contains(string(got.body), `"limit":"work"`) ||
		!strings.Contains(string(got.body), "ask for less") {
		t.Errorf("HTTP answers %d, Retry-After %d: %s", got.status, wait, got.body)
	}
	for path, m := range sessions {
		res, failed := m.ask("tools/call", map[string]any{"name": "get_card", "arguments": map[string]any{"name": "Gate"}})
		if said := fmt.Sprint(res, failed); !strings.Contains(said, "rate_limited") || !strings.Contains(said, "limit work") {
			t.Errorf("MCP at %s answers %v", path, said)
		}
	}
	if got := s.send("GET", "/api/mcp/cards/Gate", other, ""); got.status != 200 {
		t.Errorf("another key: %d %s", got.status, got.body)
	}
	clock.Add(int64(time.Duration(wait) * time.Second))
	if got := s.send("GET", "/api/mcp/cards/Gate", key, ""); got.status != 200 {
		t.Errorf("after the time to wait: %d %s", got.status, got.body)
	}
}
