package gametest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/waittest"
)

// seatView is an answer to a seat.
type seatView struct {
	view.Own
	Seen string `json:"seen"`
	Next string `json:"next_step"`
}

// listedMove is a move as list_moves shows it.
type listedMove struct {
	Type string         `json:"type"`
	Send map[string]any `json:"send"`
}

// use calls a tool and decodes its text. It returns the error's text if the call fails.
func (c *client) use(t testing.TB, tool string, in object, out any) (refused string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, part := range res.Content {
		if part, ok := part.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	if res.IsError {
		return text
	}
	if out != nil {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			t.Fatalf("%s: %v: %s", tool, err, text)
		}
	}
	return ""
}

// TestAClientPlaysAWholeGame lets a client that has only a seat's key and the tools play against
// seven AI players, until the game is over.
func TestAClientPlaysAWholeGame(t *testing.T) {
	t.Parallel()
	h := open(t)
	seconds := rule.Seconds{Sitrep: 0.3, Pulse: 1, Discussion: 1.2, Extension: 0.6, Overtime: 0.3, Nomination: 1,
		Trial: 0.4, Verdict: 1, Night: 1}
	g := h.newGame(object{"days": 2, "seconds": seconds, "clients_act": true}, 0, 1, 7)
	if want := h.url() + "/mcp/alignment-play"; g.seats[0].Link != want {
		t.Errorf("the client is sent to %s, not to %s", g.seats[0].Link, want)
	}
	c := g.clientOf("alignment-play", g.seats[0].Key, modern, nil)
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("tools: %+v, %v", tools, err)
	}
	g.begin()
	var v seatView
	did, offered := map[string]bool{}, map[string]bool{}
	for hung := waittest.Context(t); v.Winner == nil; {
		if hung.Err() != nil {
			t.Fatalf("the game does not end: %s on day %d", v.Phase, v.Day)
		}
		if refused := c.use(t, "wait_for_change", object{"seen": v.Seen, "seconds": 5}, &v); refused != "" {
			t.Fatal(refused)
		}
		for _, m := range c.moves(t) {
			offered[m.Type] = true
			once := m.Type != "chat" || !did[v.Phase]
			if m.Type == "status" || !once {
				continue
			}
			if m.Type == "chat" {
				m.Send["text"] = "I am watching the numbers."
			}
			if m.Type == "pulse" {
				m.Send["text"] = "I trust the report."
			}
			refused := c.use(t, "make_move", m.Send, nil)
			if refused != "" && !strings.Contains(refused, "legal now: ") && !strings.Contains(refused, "rate_limited") {
				t.Errorf("%v: %s", m.Send, refused) // a phase may have ended meanwhile
			}
			if refused == "" {
				did[m.Type], did[v.Phase] = true, true
			}
		}
	}
	for _, want := range []string{"chat", "vote", "pulse", "night_action"} {
		if !did[want] && offered[want] { // a client that is voted out on the first day acts in no night
			t.Errorf("the client made no %s: %v", want, did)
		}
	}
	if c.use(t, "wait_for_change", object{"seen": v.Seen, "seconds": 30}, &v) != "" || !strings.Contains(v.Next, "over") || len(v.Revealed) != 8 {
		t.Errorf("after the end the client is told %q and %v", v.Next, v.Revealed)
	}
	if refused := c.use(t, "make_move", object{"type": "vote", "choice": "p2"}, nil); !strings.Contains(refused,
		"legal now: chat (public)") {
		t.Errorf("a vote after the end: %s", refused)
	}
	g.checkDone(t)
}

func (c *client) moves(t testing.TB) []listedMove {
	t.Helper()
	var out struct{ Moves []listedMove }
	if refused := c.use(t, "list_moves", nil, &out); refused != "" {
		t.Fatal(refused)
	}
	return out.Moves
}

// checkDone checks in the replay that the moves of the client are those of its seat.
func (t *table) checkDone(tt *testing.T) {
	tt.Helper()
	var replay struct {
		Events []struct {
			Type    string
			Payload struct{ From, Seat string }
		}
	}
	t.do(t.key, "GET", "/api/games/"+t.id+"/replay?limit=2000", nil, &replay)
	own := map[string]int{}
	for _, e := range replay.Events {
		if e.Payload.From == "p1" || e.Payload.Seat == "p1" {
			own[e.Type]++
		}
	}
	if own["said"] == 0 || own["ballot_cast"] == 0 || own["pulse_given"] == 0 {
		tt.Errorf("the replay has %v of the client", own)
	}
}

// The surface that only reads stays so for a key that acts, and a key that only reads has no other.
func TestActingIsForTheHostToAllow(t *testing.T) {
	t.Parallel()
	h := open(t)
	acts, reads := h.newGame(object{"clients_act": true}, 0, 1, 6), h.newGame(object{}, 0, 1, 6)
	for _, era := range []string{older, modern} {
		c := acts.client(acts.seats[0].Key, era, nil)
		if caps := c.InitializeResult().Capabilities; caps.Tools != nil || caps.Prompts != nil {
			t.Errorf("%s: the surface that reads declares %+v", era, caps)
		}
		if refused := c.use(t, "make_move", object{"type": "chat", "text": "hi"}, nil); refused == "" {
			t.Errorf("%s: a move was made on the surface that reads", era)
		}
		if v, _ := c.read(t, acts.uri()); v.You != "p1" {
			t.Errorf("%s: the key reads as %s", era, v.You)
		}
		play := acts.clientOf("alignment-play", acts.seats[0].Key, era, nil)
		var v seatView
		if refused := play.use(t, "read_table", nil, &v); refused != "" || v.You != "p1" || v.Self.Legal == nil {
			t.Errorf("%s: %s %+v", era, refused, v)
		}
	}
	for _, tc := range []struct {
		name, key, path string
		want            int
	}{
		{"a key that acts", acts.seats[0].Key, "/api/seat", 200},
		{"a key that only reads", reads.seats[0].Key, "/api/seat", 403},
		{"nor by the routes of people", reads.seats[0].Key, "/api/games/" + reads.id, 403},
		{"the host has no seat", h.key, "/api/seat", 403},
		{"another game", acts.seats[0].Key, "/api/games/" + reads.id, 404},
	} {
		if status, b := h.send(tc.key, "GET", tc.path, nil); status != tc.want {
			t.Errorf("%s: %d %s, want %d", tc.name, status, b, tc.want)
		}
	}
	if status, _ := h.send(reads.seats[0].Key, "POST", "/mcp/alignment-play", object{"jsonrpc": "2.0", "id": 1,
		"method": "ping"}); status != 404 {
		t.Errorf("a key that only reads reaches the surface that acts: %d", status)
	}
	for tool, err := range acts.clientOf("all", h.key, modern, nil).Tools(t.Context(), nil) {
		if err != nil || tool.Name == "make_move" {
			t.Errorf("a key without a seat is shown moves: %v", err)
		}
	}
}
