package gametest

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestPeoplePlayOverHTTP(t *testing.T) {
	h := open(t)
	g := h.newGame(object{"mandate": "security_lockdown"}, 6, 0, 0)
	ada := g.seats[0]
	if status, body := g.act(ada, object{"type": "vote", "choice": "p2"}); status != 422 ||
		!strings.Contains(body, "legal now: chat (public)") {
		t.Errorf("an illegal vote: %d %s", status, body)
	}
	g.begin()
	if v := g.viewAs(ada); v.Phase != "DAY_SITREP" || v.Self.Role == "" || v.You != "p1" || !v.Self.Host {
		t.Errorf("after the start: %+v", v.Self)
	}
	if status, _ := g.act(ada, object{"type": "chat", "text": "Hello\u202e there\u0007"}); status != 200 {
		t.Errorf("chat: %d", status)
	}
	v := g.viewAs(g.seats[1])
	if last := v.ChatLog[len(v.ChatLog)-1]; last.Text != "Hello there" || *last.Player != "p1" {
		t.Errorf("the others read %+v", last)
	}
	for _, tc := range []struct {
		name, token, method, path string
		in                        object
		want                      int
	}{
		{"a stranger sees no game", h.newKey("stranger"), "GET", "/api/games/" + g.id, nil, 404},
		{"nor is another game there", ada.Token, "GET", "/api/games/g-0000000000000000", nil, 404},
		{"the host without a seat does not vote", h.key, "POST", "/api/games/" + g.id + "/commands",
			object{"type": "vote", "choice": "YES"}, 403},
		{"a player is no host", g.seats[1].Token, "POST", "/api/games/" + g.id + "/commands", object{"type": "advance"}, 403},
		{"no replay before the end", ada.Token, "GET", "/api/games/" + g.id + "/replay", nil, 422},
		{"nor for a game master", h.newKey("master"), "GET", "/api/games/" + g.id + "/replay", nil, 404},
		{"a seat is no key for the rest", ada.Token, "GET", "/api/mcp/cards", nil, 401},
	} {
		if status, b := h.send(tc.token, tc.method, tc.path, tc.in); status != tc.want {
			t.Errorf("%s: %d %s, want %d", tc.name, status, b, tc.want)
		}
	}
	var again seat
	h.do(g.seats[1].Code, "POST", "/api/games/"+g.id+"/seats/mine/token", object{}, &again)
	if status, _ := h.send(g.seats[1].Token, "GET", "/api/games/"+g.id, nil); status != 401 {
		t.Errorf("a lost token still opens its seat: %d", status)
	}
	if v := g.viewAs(again); v.You != "p2" {
		t.Errorf("the new token opens %s", v.You)
	}
}

func TestPhasesEndByThemselvesAndAfterARestart(t *testing.T) {
	h := open(t)
	g := h.newGame(object{"seconds": object{"sitrep": 0.3, "pulse_check": 60}}, 6, 0, 0)
	g.begin()
	g.waitForPhase(g.seats[0], "DAY_PULSE_CHECK")
	if status, body := g.act(g.seats[2], object{"type": "pulse", "text": "Nobody."}); status != 200 {
		t.Fatal(body)
	}
	before := g.viewAs(g.seats[2])
	h.restart()
	after := g.viewAs(g.seats[2])
	if after.Phase != before.Phase || !after.Ends.Equal(*before.Ends) || after.Self.Pulse != "Nobody." ||
		after.Version != before.Version {
		t.Errorf("before the restart %+v, after it %+v", before, after)
	}
	g.advance()
	if v := g.viewAs(g.seats[1]); v.Phase != "DAY_DISCUSSION" || v.Pulse.Responses["p3"] != "Nobody." {
		t.Errorf("the game did not go on: %s %v", v.Phase, v.Pulse)
	}
}

// waitForPhase follows a seat's stream until the game is in a phase.
func (t *table) waitForPhase(s seat, phase string) {
	t.t.Helper()
	ctx, cancel := context.WithTimeout(t.t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", t.url()+"/api/games/"+t.id+"/stream", nil)
	if err != nil {
		t.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"current_phase":"`+phase+`"`) {
			return
		}
	}
	t.t.Fatalf("the stream ended before %s: %v", phase, lines.Err())
}
