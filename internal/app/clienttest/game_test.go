package clienttest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/game/rule"
)

// gameMove is a legal move as list_moves shows it to a model.
type gameMove struct {
	Type string
	Send object
}

// player is the script of a model that plays a game of Alignment: it waits for a change, lists its
// legal moves once in each phase, and makes them.
type player struct {
	seen          string
	phase, listed string // the phase of the last view, and that of the last list of moves
	moves         []gameMove
	did           map[string]int
	over          bool
}

// play decides by the last result. A model keeps nothing else of the game.
func (p *player) play(t talk) step {
	if p.over {
		return step{say: "The game is over."}
	}
	if n := len(t.results); n > 0 {
		p.read(t.results[n-1])
	}
	switch {
	case len(t.results) == 0:
		return step{tool: "read_rules", args: object{}}
	case p.over:
		return step{say: "The game is over."}
	case len(p.moves) > 0:
		m := p.moves[0]
		p.moves = p.moves[1:]
		p.did[m.Type]++
		if m.Send["text"] == "…" {
			m.Send["text"] = "I am watching the numbers."
		}
		return step{tool: "make_move", args: m.Send}
	case p.phase != p.listed:
		p.listed = p.phase
		return step{tool: "list_moves", args: object{}}
	}
	return step{tool: "wait_for_change", args: object{"seen": p.seen, "seconds": 5}}
}

// read takes a view or a list of moves from a result; a refused move ends the phase's moves.
func (p *player) read(result string) {
	var answer struct {
		Seen   string
		Phase  string `json:"current_phase"`
		Winner *string
		Moves  []gameMove
	}
	if json.Unmarshal([]byte(result), &answer) != nil {
		return // the rules are a text
	}
	switch {
	case strings.Contains(result, `"error"`):
		p.moves = nil
	case answer.Seen != "":
		p.seen, p.phase, p.over = answer.Seen, answer.Phase, answer.Winner != nil
	case answer.Moves != nil:
		p.moves = slices.DeleteFunc(answer.Moves, func(m gameMove) bool { return m.Type == "status" })
	}
}

// TestClaudePlaysAWholeGame lets Claude Code, which has only a seat's key, play against seven AI players
// until the game is over.
func TestClaudePlaysAWholeGame(t *testing.T) {
	programs(t)
	at := serve(t, access.RoleUser, 0)
	base := strings.TrimSuffix(at.url, "/mcp")
	host := func(method, path string, in, out any) {
		t.Helper()
		status, answer := apptest.Send(t, method, base+path, at.key, mustJSON(in))
		if status >= http.StatusMultipleChoices {
			t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		if err := json.Unmarshal(answer, out); err != nil {
			t.Fatal(err)
		}
	}
	var made struct {
		ID string `json:"game_id"`
	}
	seconds := rule.Seconds{Sitrep: 1, Pulse: 8, Discussion: 8, Extension: 2, Overtime: 1, Nomination: 8, Trial: 2,
		Verdict: 8, Night: 8}
	host("POST", "/api/games", object{"days": 2, "seconds": seconds, "clients_act": true}, &made)
	game := "/api/games/" + made.ID
	var seat struct {
		Key string `json:"mcp_key"`
	}
	host("POST", game+"/join", object{"name": "Claude", "as": "mcp"}, &seat)
	for range 7 {
		host("POST", game+"/join", object{"as": "ai"}, &struct{}{})
	}
	host("POST", game+"/start", object{}, &struct{}{})
	p := &player{did: map[string]int{}}
	m := newModel(t, p.play)
	said := converse(t, clients[0], server{base + "/mcp/alignment-play", seat.Key}, m, "Play the game to its end.")
	seen, asked := m.last()
	t.Logf("%d turns, %d results, moves %v; tools %v", asked, len(seen.results), p.did, seen.tools)
	if !p.over {
		t.Fatalf("the game is not over; the client said %.600s; not understood: %v; last results: %.2000s", said, m.odd,
			strings.Join(seen.results[max(0, len(seen.results)-3):], "\n"))
	}
	var replay struct {
		Events []struct {
			Type    string
			Payload struct{ From, Seat string }
		}
	}
	host("GET", game+"/replay?limit=2000", nil, &replay)
	own := map[string]int{}
	for _, e := range replay.Events {
		if e.Payload.From == "p1" || e.Payload.Seat == "p1" {
			own[e.Type]++
		}
	}
	if own["said"] == 0 || own["ballot_cast"] == 0 || own["pulse_given"] == 0 {
		t.Errorf("the replay has %v of the client", own)
	}
}
