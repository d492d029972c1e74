// Package worldtest plays the sample world as it is served: over HTTP, with a real MCP client and
// with a player's token.
package worldtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
)

// stage is the served sample world.
type stage struct {
	t    testing.TB
	app  *app.App
	url  string
	keys map[access.Role]string
}

func open(t testing.TB) *stage {
	t.Helper()
	c := apptest.Config(t, t.TempDir())
	made := apptest.Sample(t, c.Data)
	a, _ := apptest.Open(t, c, apptest.Quiet())
	addr, _ := apptest.Serve(t, a, "")
	h := &stage{t: t, app: a, url: "http://" + addr, keys: map[access.Role]string{}}
	for _, k := range made.Keys {
		h.keys[k.Role] = k.Secret
	}
	return h
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns a client of the surface world.
func (h *stage) connect(key string) *mcp.ClientSession {
	h.t.Helper()
	return h.connectTo("world", key)
}

// connectTo returns a client of a surface.
func (h *stage) connectTo(surface, key string) *mcp.ClientSession {
	h.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1"}, nil)
	session, err := client.Connect(h.t.Context(), &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp/" + surface,
		MaxRetries: -1, HTTPClient: &http.Client{Transport: bearer(key)}}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = session.Close() })
	return session
}

type place struct {
	Location struct{ ID, Name string }
	Exits    []struct{ ToLocationID, Direction, Availability string }
}

// TestAClientWalksTheWorldByItsExits walks from the starter location to every place that exits
// reach, using only get-location-context, and compares the places with the canon.
func TestAClientWalksTheWorldByItsExits(t *testing.T) {
	h := open(t)
	for _, role := range []access.Role{access.RoleUser, access.RoleGM} {
		session := h.connect(h.keys[role])
		seen := map[string]string{}
		for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
			args := map[string]any{"world": app.SampleWorld}
			if queue[0] != "" {
				args["locationId"] = queue[0]
			}
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get-location-context", Arguments: args})
			if err != nil || result.IsError {
				t.Fatalf("%v: %v %+v", args, err, result)
			}
			var p place
			if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &p); err != nil {
				t.Fatal(err)
			}
			if p.Location.ID == "" {
				t.Fatalf("an exit leads to %s, which is no place", queue[0])
			}
			if ref, _ := result.Meta["contextRef"].(string); ref == "" {
				t.Fatal("no contextRef in _meta")
			}
			seen[p.Location.ID] = p.Location.Name
			for _, e := range p.Exits {
				if _, been := seen[e.ToLocationID]; e.Availability == "hard" && !been {
					seen[e.ToLocationID] = ""
					queue = append(queue, e.ToLocationID)
				}
			}
		}
		want := h.reachable(role)
		if len(seen) != len(want) || len(seen) < 40 {
			t.Errorf("as %s %d places were walked to; exits reach %d", role, len(seen), len(want))
		}
		for id := range want {
			if seen[id] == "" {
				t.Errorf("as %s nobody came to %s", role, want[id])
			}
		}
	}
}

// reachable returns the names, by id, of the places that can be reached by exits visible to a role,
// read from the canon.
func (h *stage) reachable(role access.Role) map[string]string {
	h.t.Helper()
	w, _, err := h.app.Canon.WorldBySlug(h.t.Context(), app.SampleWorld)
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]string{}
	r := access.Request{Operation: "walk", Effect: access.Read, World: w.ID}
	err = h.app.WithGrant(h.t.Context(), app.Local(role), r, func(g access.Grant) error {
		return h.app.Canon.Read(h.t.Context(), g, func(s *canon.Snapshot) error {
			start, err := s.Find(h.t.Context(), w.Settings.Starter)
			if err != nil {
				return err
			}
			reached, err := s.Reach(h.t.Context(), canon.ReachQuery{From: start.ID, Kinds: []string{"exit"}, Depth: 1000,
				Limit: 10_000})
			for _, c := range reached.Cards {
				out[c.ID.String()] = c.Name
			}
			return err
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// send makes a REST call and decodes its answer.
func (h *stage) send(method, path, token, body string, into any) int {
	h.t.Helper()
	status, b := apptest.Send(h.t, method, h.url+path, token, body)
	if into != nil && status < 300 {
		if err := json.Unmarshal(b, into); err != nil {
			h.t.Fatalf("%s: %v", b, err)
		}
	}
	return status
}

type madePlayer struct {
	Player struct{ ID string }
	Token  string
}

type commandResult struct {
	Narration string
	Events    []struct{ EventID, Type string }
	Clock     int64
}

func (h *stage) makePlayer(name string) madePlayer {
	h.t.Helper()
	var m madePlayer
	if code := h.send("POST", "/api/players?world="+app.SampleWorld, h.keys[access.RoleUser], `{"name":"`+name+`"}`,
		&m); code != http.StatusCreated {
		h.t.Fatalf("making a player: %d", code)
	}
	return m
}

// follow opens a player's stream, after the event after if it is not "". The returned function
// reads the ids of the next n events, without those of the parts of their narrations.
func (h *stage) follow(ctx context.Context, player, token, after string) func(n int) []string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", h.url+"/api/players/"+player+"/stream?world="+app.SampleWorld, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	stream, err := http.DefaultClient.Do(r)
	if err != nil || stream.StatusCode != http.StatusOK {
		h.t.Fatal(err, stream)
	}
	h.t.Cleanup(func() { _ = stream.Body.Close() })
	lines := bufio.NewScanner(stream.Body)
	return func(n int) (ids []string) {
		for len(ids) < n && lines.Scan() {
			if id, ok := bytes.CutPrefix(lines.Bytes(), []byte("id: ")); ok && !bytes.Contains(id, []byte(".")) {
				ids = append(ids, string(id))
			}
		}
		return ids
	}
}

// TestPlayingOverHTTP creates a player, sends a command, and checks that a second client sees its
// events.
func TestPlayingOverHTTP(t *testing.T) {
	h := open(t)
	p, other := h.makePlayer("Mira Lowtide"), h.makePlayer("Tam Undertow")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	mine, game := h.follow(ctx, p.Player.ID, p.Token, ""), h.follow(ctx, p.Player.ID, h.keys[access.RoleGM], "")

	var out commandResult
	if code := h.send("POST", "/api/players/"+p.Player.ID+"/commands", p.Token,
		`{"text":"go north then look at the well"}`, &out); code != http.StatusOK {
		t.Fatalf("a command: %d", code)
	}
	if len(out.Events) != 3 || out.Clock <= 0 || !strings.Contains(out.Narration, "You go north.") ||
		!strings.Contains(out.Narration, "iron lid") {
		t.Errorf("%+v", out)
	}
	if len(out.Events) == 3 { // the move, its catching up with the place's time, the look
		var ids []string
		for _, e := range out.Events {
			ids = append(ids, e.EventID)
		}
		for who, got := range map[string][]string{"the player's stream": mine(3), "the game master's": game(3)} {
			if !slices.Equal(got, ids) {
				t.Errorf("%s showed %v, want %+v", who, got, out.Events)
			}
		}
		if got := h.follow(ctx, p.Player.ID, p.Token, ids[1])(1); !slices.Equal(got, ids[2:]) {
			t.Errorf("a stream that goes on after %s showed %v", ids[1], got)
		}
	}

	for path, want := range map[string]int{
		"/api/players/" + other.Player.ID: 404, "/api/players/" + p.Player.ID: 200, "/api/world/location": 401,
		"/api/mcp/cards": 401, "/api/players/nobody": 404,
	} {
		if code := h.send("GET", path, p.Token, "", nil); code != want {
			t.Errorf("GET %s with a token to play: %d, want %d", path, code, want)
		}
	}
	if code := h.send("POST", "/mcp", p.Token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil); code != 401 {
		t.Errorf("/mcp takes a token to play: %d", code)
	}
	if code := h.send("POST", "/api/players/"+other.Player.ID+"/commands", p.Token, `{"text":"look"}`, nil); code != 404 {
		t.Errorf("another's player: %d", code)
	}
}
