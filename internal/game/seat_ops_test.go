package game

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Every move that a seat is shown, in every state of simulated games, is accepted as it is shown.
func TestListedMovesAreLegal(t *testing.T) {
	var mu sync.Mutex
	tried := map[string]int{}
	o, err := player.Simulate(t.Context(), player.Simulation{Players: 8, AI: 8, Seed: 5, Games: 12, Workers: 2,
		Watch: func(_, after *rule.State, events []rule.Event) {
			if len(events) == 0 {
				return
			}
			for seat := rule.Seat(1); int(seat) <= after.Public.Seated; seat++ {
				for _, m := range after.Legal(seat) {
					shown := describeMove(after, seat, m)
					c, err := shown.Send.toCommand(place{seat: seat, host: true})
					if err == nil {
						_, err = rule.Decide(*after, c, after.Public.Ends-1, after.Dice())
					}
					if err != nil {
						t.Errorf("%s %s: %+v is refused: %v", after.Public.Phase, seat, shown.Send, err)
					}
					if shown.Does == "" {
						t.Errorf("%s is not described", m.Type)
					}
					mu.Lock()
					tried[m.Type+" "+shown.Send.Action]++
					mu.Unlock()
				}
			}
		}})
	if err != nil || len(o.Broken) > 0 {
		t.Fatal(err, o.Broken)
	}
	for _, want := range []string{"chat ", "vote ", "pulse ", "status ", "night_action mine", "exit_interview handoff"} {
		if tried[want] == 0 {
			t.Errorf("no %s was tried: %v", want, tried)
		}
	}
}

// seatKey returns the caller of a client's key.
func (s *stage) seatKey(game, player string, surfaces ...string) access.Caller {
	c := s.at(game, player)
	c.Audience, c.Surfaces = "", surfaces
	return c
}

// clients creates a game whose host does not play and seats six clients.
func (s *stage) clients(settings string) (made gameOut) {
	s.t.Helper()
	s.must(0, s.host(), "create_game", settings, &made)
	for i := range 6 {
		s.must(0, s.host(), "join_game", fmt.Sprintf(`{"id":%q,"name":"C%d","as":"mcp"}`, made.GameID, i+1), nil)
	}
	return made
}

func TestKeysActOnlyIfTheHostLetsThem(t *testing.T) {
	s := open(t)
	made := s.clients(`{}`)
	reads, acts := s.seatKey(made.GameID, "p1", Surface), s.seatKey(made.GameID, "p1", Surface, PlaySurface)
	for operation, in := range map[string]string{"make_move": `{"type":"chat","text":"hi"}`, "read_table": `{}`,
		"list_moves": `{}`, "wait_for_change": `{}`, "get_game": `{"id":"` + made.GameID + `"}`,
		"command_game": `{"id":"` + made.GameID + `","type":"chat","text":"hi"}`} {
		if err := s.call(0, reads, operation, "", in, nil); fault.KindOf(err) != fault.Denied {
			t.Errorf("a key that only reads: %s: %v", operation, err)
		}
		if err := s.call(0, acts, operation, "", in, nil); err != nil {
			t.Errorf("a key that acts: %s: %v", operation, err)
		}
	}
	if err := s.call(0, s.host(), "read_table", "", `{}`, nil); fault.KindOf(err) != fault.Denied {
		t.Errorf("a key without a seat: %v", err)
	}
}

func TestASeatSeesWhatIsNewForIt(t *testing.T) {
	s := open(t)
	made := s.clients(`{"clients_act":true,"mandate":"aggressive_growth"}`)
	if err := s.call(0, s.host(), "start_game", "", `{"id":"`+made.GameID+`"}`, nil); err != nil {
		t.Fatal(err)
	}
	one, two := s.seatKey(made.GameID, "p1", PlaySurface), s.seatKey(made.GameID, "p2", PlaySurface)
	move := func(c access.Caller, key, in string) error { return s.call(0, c, "make_move", key, in, nil) }
	look := func(c access.Caller, seen string) (out seatOut) {
		t.Helper()
		if err := s.call(0, c, "read_table", "", `{"seen":"`+seen+`"}`, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := look(one, "")
	for range 2 { // the second repeats the first
		if err := move(two, "once", `{"type":"chat","text":"Good morning."}`); err != nil {
			t.Fatal(err)
		}
	}
	if after := look(one, before.Seen); len(after.ChatLog) != 1 || after.ChatLog[0].Text != "Good morning." {
		t.Errorf("after %s the seat is told %+v", before.Seen, after.ChatLog)
	}
	// A message between two others changes nothing for a third.
	before = look(one, before.Seen)
	if err := move(two, "", `{"type":"chat","channel":"direct","to":"p3","text":"psst"}`); err != nil {
		t.Fatal(err)
	}
	if after := look(one, before.Seen); after.Seen != before.Seen {
		t.Errorf("a hidden message changes the mark %s to %s", before.Seen, after.Seen)
	}
	if err := move(two, "", `{"type":"chat","channel":"direct","to":"p1","text":"psst"}`); err != nil {
		t.Fatal(err)
	}
	after := look(one, before.Seen)
	if after.Seen == before.Seen || len(after.Direct) != 1 || after.Direct[0].ID != 1 {
		t.Errorf("a message to the seat: mark %s, %+v", after.Seen, after.Direct)
	}
	for in, want := range map[string]string{
		`{"type":"vote","choice":"p2"}`:                         "legal now: chat (public, direct",
		`{"type":"chat","channel":"direct","text":"to no one"}`: "legal now: chat (public, direct",
		`{"type":"night_action","action":"mine","target":"x"}`:  "legal now: chat (public, direct",
	} {
		if err := move(one, "", in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, seen := range []string{"m", "nonsense", "m-1-00", "m3"} {
		if err := s.call(0, one, "read_table", "", `{"seen":"`+seen+`"}`, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the mark %q: %v", seen, err)
		}
	}
}

// A key may wait with four calls at once, and each wait ends.
func TestWaitsAreBounded(t *testing.T) {
	s := open(t)
	made := s.clients(`{"clients_act":true}`)
	one := s.seatKey(made.GameID, "p1", PlaySurface)
	var now seatOut
	if err := s.call(0, one, "read_table", "", `{}`, &now); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, maxWaits+1)
	for range maxWaits + 1 {
		go func() { refused <- s.call(0, one, "wait_for_change", "", `{"seen":"`+now.Seen+`","seconds":1}`, nil) }()
	}
	limited := 0
	for range maxWaits + 1 {
		switch err := <-refused; {
		case fault.KindOf(err) == fault.RateLimited && err != nil:
			limited++
		case err != nil:
			t.Error(err)
		}
	}
	if limited != 1 {
		t.Errorf("%d of %d waits were refused", limited, maxWaits+1)
	}
	var out seatOut
	if err := s.call(0, one, "wait_for_change", "", `{"seen":"`+now.Seen+`","seconds":1}`, &out); err != nil ||
		out.Seen != now.Seen {
		t.Errorf("without a change the wait ends with %s, %v", out.Seen, err)
	}
}

// A seat's own answer holds nothing of others: it is the same whatever their secrets are.
func TestASeatsAnswersHoldNoSecretsOfOthers(t *testing.T) {
	looks := 0
	o, err := player.Simulate(t.Context(), player.Simulation{Players: 8, AI: 8, Seed: 9, Games: 3,
		Watch: func(_, after *rule.State, events []rule.Event) {
			if after.Public.Phase == rule.Over || len(events) == 0 || after.Public.Phase == rule.Lobby {
				return
			}
			for seat := rule.Seat(1); int(seat) <= after.Public.Seated; seat++ {
				if after.Machine(seat) {
					continue // it may know its side
				}
				changed := *after
				changeOthers(&changed, seat)
				looks++
				a, b := view.BriefOf(after, seat), view.BriefOf(&changed, seat)
				if hashView(&a) != hashView(&b) {
					t.Errorf("%s %s: secrets of others show: %+v and %+v", after.Public.Phase, seat, a, b)
				}
			}
		}})
	if err != nil || len(o.Broken) > 0 || looks < 1000 {
		t.Fatal(err, o.Broken, looks)
	}
}

// changeOthers gives all other seats other secrets, and lets them write to each other.
func changeOthers(s *rule.State, seat rule.Seat) {
	for other := rule.Seat(1); int(other) <= s.Public.Seated; other++ {
		if other == seat {
			continue
		}
		h := s.Secret.Seats.Of(other)
		h.Role, h.KPI, h.Equity, h.Pulse, h.Ballot = "OTHER", "other", 770077, "other", "NO"
		h.Shock, h.Action, h.Last = rule.Locked, rule.Action{Do: "other"}, rule.Action{Do: "other"}
		h.Notices = append(h.Notices[:len(h.Notices):len(h.Notices)], rule.Notice{Day: 1, Text: "other"})
	}
	s.Secret.Tainted, s.Secret.Liaison = !s.Secret.Tainted, !s.Secret.Liaison
}
