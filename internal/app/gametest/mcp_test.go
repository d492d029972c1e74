package gametest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/game/view"
)

const (
	older  = "2025-06-18"
	modern = "2026-07-28"
)

// bearer sends every request with a key, and passes the bytes of the answers to seen.
type bearer struct {
	key  string
	seen func([]byte)
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && b.seen != nil {
		res.Body = tee{res.Body, b.seen}
	}
	return res, err
}

// client is an MCP client at a seat.
type client struct {
	*mcp.ClientSession
	heard chan string
}

func (t *table) client(key, era string, seen func([]byte)) *client {
	t.t.Helper()
	return t.clientOf("alignment", key, era, seen)
}

// clientOf connects to a surface.
func (t *table) clientOf(surface, key, era string, seen func([]byte)) *client {
	t.t.Helper()
	c := &client{heard: make(chan string, 10_000)}
	sdk := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			c.heard <- r.Params.URI
		}})
	var err error
	c.ClientSession, err = sdk.Connect(t.t.Context(), &mcp.StreamableClientTransport{Endpoint: t.url() + "/mcp/" + surface,
		HTTPClient: &http.Client{Transport: bearer{key, seen}}, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.t.Fatal(err)
	}
	t.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (t *table) uri() string { return "game://alignment/" + t.id }

func (c *client) read(t testing.TB, uri string) (view.Table, string) {
	t.Helper()
	res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	var v view.Table
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &v); err != nil {
		t.Fatal(err)
	}
	return v, res.Contents[0].Text
}

func TestTheEndpointHasOneResourceAndNoTools(t *testing.T) {
	h := open(t)
	g := h.newGame(object{}, 5, 2, 0)
	for i, era := range []string{older, modern} {
		c := g.client(g.seats[5+i].Key, era, nil)
		if caps := c.InitializeResult().Capabilities; caps.Tools != nil || caps.Prompts != nil || caps.Resources == nil ||
			!caps.Resources.Subscribe {
			t.Errorf("%s: the handshake declares %+v", era, caps)
		}
		if tools, err := c.ListTools(t.Context(), nil); err == nil && len(tools.Tools) > 0 {
			t.Errorf("%s: there are tools", era)
		}
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "command_game"}); err == nil {
			t.Errorf("%s: a tool was called", era)
		}
		templates, err := c.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 ||
			templates.ResourceTemplates[0].URITemplate != "game://alignment/{game_id}" ||
			templates.ResourceTemplates[0].MIMEType != "application/json" {
			t.Errorf("%s: templates %+v, %v", era, templates, err)
		}
		if v, _ := c.read(t, g.uri()); v.You != g.seats[5+i].ID || v.GameID != g.id || len(v.Players) != 7 {
			t.Errorf("%s: reads %+v", era, v)
		}
		done, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource",
			URI: "game://alignment/{game_id}"},
			Argument: mcp.CompleteParamsArgument{Name: "game_id", Value: "g-"}})
		if err != nil || len(done.Completion.Values) != 1 || done.Completion.Values[0] != g.id {
			t.Errorf("%s: completes to %+v, %v", era, done, err)
		}
	}
}

func TestOtherGamesAreNotFound(t *testing.T) {
	h := open(t)
	g, other := h.newGame(object{}, 5, 1, 0), h.newGame(object{}, 6, 0, 0)
	c := g.client(g.seats[5].Key, older, nil)
	var texts []string
	for _, id := range []string{other.id, "g-0000000000000000", "nonsense"} {
		_, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "game://alignment/" + id})
		if err == nil {
			t.Fatalf("%s is read", id)
		}
		texts = append(texts, strings.ReplaceAll(withoutIDs(err.Error()), id, "ID"))
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Errorf("what exists answers otherwise than what does not: %q", texts)
	}
	for _, token := range []string{g.seats[0].Token, "lgk_nonsense"} {
		r, _ := http.NewRequestWithContext(t.Context(), "POST", h.url()+"/mcp/alignment",
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a play token reaches MCP: %d", res.StatusCode)
		}
	}
}

// withoutIDs cuts the correlation id off an error.
func withoutIDs(text string) string {
	before, _, _ := strings.Cut(text, "correlation")
	return before
}

func TestSubscribersAreNotifiedOfVisibleChanges(t *testing.T) {
	h := open(t)
	for _, era := range []string{older, modern} {
		g := h.newGame(object{"mandate": "aggressive_growth"}, 6, 1, 0)
		c := g.client(g.seats[6].Key, era, nil)
		if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: g.uri()}); err != nil {
			t.Fatal(err)
		}
		g.begin()
		c.waitFor(t, g, func(v view.Table) bool { return v.Phase == "DAY_SITREP" })
		g.advance()
		c.waitFor(t, g, func(v view.Table) bool { return v.Phase == "DAY_PULSE_CHECK" })
		version := 0
		c.waitFor(t, g, func(v view.Table) bool { version = v.Version; return v.Pulse != nil })
		// Whispers and hidden answers are not in the view: only the public message after them
		// is notified.
		g.must(g.seats[0], object{"type": "chat", "channel": "direct", "to": "p2", "text": "psst"})
		g.must(g.seats[1], object{"type": "pulse", "text": "hush"})
		if v, _ := c.read(t, g.uri()); v.Version != version {
			t.Errorf("%s: what is hidden changed the version from %d to %d", era, version, v.Version)
		}
		g.must(g.seats[0], object{"type": "chat", "text": "Aloud."})
		c.waitFor(t, g, func(v view.Table) bool { return v.ChatLog[len(v.ChatLog)-1].Text == "Aloud." })
		if v, _ := c.read(t, g.uri()); v.Version != version+1 {
			t.Errorf("%s: one message made version %d of %d", era, v.Version, version)
		}
	}
}

// TestSubscribersAreNotifiedOfVotesAndDeath follows a day to a deactivation, in both eras: the client
// is notified of each vote and its end, and there is never a tool.
func TestSubscribersAreNotifiedOfVotesAndDeath(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, era := range []string{older, modern} {
		g := h.newGame(object{"mandate": "aggressive_growth"}, 6, 1, 0)
		c := g.client(g.seats[6].Key, era, nil)
		if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: g.uri()}); err != nil {
			t.Fatal(err)
		}
		g.begin()
		for phase := ""; phase != "DAY_NOMINATION"; {
			g.advance()
			c.waitFor(t, g, func(v view.Table) bool { was := phase; phase = v.Phase; return phase != was })
		}
		for i, s := range g.seats[:6] {
			if i == 1 {
				continue // no player nominates itself
			}
			g.must(s, object{"type": "vote", "choice": "p2"})
			c.waitFor(t, g, func(v view.Table) bool { return v.Vote != nil && v.Vote.Totals["p2"] > 0 })
		}
		g.advance()
		c.waitFor(t, g, func(v view.Table) bool { return v.Nominee != nil && *v.Nominee == "p2" })
		g.advance()
		for i, s := range g.seats[:6] {
			if i != 1 {
				g.must(s, object{"type": "vote", "choice": "YES"})
			}
		}
		c.waitFor(t, g, func(v view.Table) bool { return v.Vote != nil && v.Vote.Totals["YES"] >= 5 })
		g.advance()
		c.waitFor(t, g, func(v view.Table) bool { return !v.Players["p2"].Alive && v.Revealed["p2"].Role != nil })
		if caps := c.InitializeResult().Capabilities; caps.Tools != nil || caps.Prompts != nil {
			t.Errorf("%s: the handshake declares %+v", era, caps)
		}
		if tools, err := c.ListTools(t.Context(), nil); err == nil && len(tools.Tools) > 0 {
			t.Errorf("%s: there are tools", era)
		}
	}
}

func (t *table) must(s seat, in object) {
	t.t.Helper()
	if status, body := t.act(s, in); status != 200 {
		t.t.Fatalf("%v: %d %s", in, status, body)
	}
}

// waitFor waits until the table is as wanted. It reads the table only after a notice of a
// change.
func (c *client) waitFor(t *testing.T, g *table, want func(view.Table) bool) {
	t.Helper()
	for {
		if v, _ := c.read(t, g.uri()); want(v) {
			return
		}
		select {
		case uri := <-c.heard:
			if uri != g.uri() {
				t.Fatalf("heard of %s", uri)
			}
		case <-t.Context().Done():
			t.Fatal("nothing is heard")
		}
	}
}
