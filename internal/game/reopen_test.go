package game

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// code returns the caller of a seat's recovery code.
func (s *stage) code(game, player string) access.Caller {
	c := s.at(game, player)
	seat, _ := rule.ParseSeat(player)
	state := s.state(0, game)
	c.Key, c.Operations = state.Secret.Seats.Of(seat).Recovery, []string{reopenName}
	return c
}

// lastLine returns the last line of the chat.
func (s *stage) lastLine(game string) string {
	last := ""
	state := s.state(0, game)
	for m := range state.Public.Log.After(0) {
		last = m.Text
	}
	return last
}

// TestOnlyItsPlayerOpensASeatAnew lets everybody try to open a seat: only its code does, once, and the person who took
// it signed in.
func TestOnlyItsPlayerOpensASeatAnew(t *testing.T) {
	s := open(t)
	game := s.seated()
	in := fmt.Sprintf(`{"id":%q,"player_id":"p2"}`, game)
	mine := fmt.Sprintf(`{"id":%q,"player_id":"mine"}`, game)
	plays := s.person("host") // the host also plays
	admin := plays
	admin.EveryRole, admin.Operator = access.RoleAdmin, true
	vouched, program := s.person("n2"), s.person("n2")
	vouched.Vouched, program.Actor = true, access.AI
	for name, c := range map[string]access.Caller{"the host": plays, "the host as an operator": admin,
		"a session that the host let in as the player": vouched, "a program of the player's name": program,
		"another player": s.person("n1"), "another player's code": s.code(game, "p1"), "another player's token": s.at(game,
			"p1"),
		"the seat's own token": s.at(game, "p2"), "a stranger": s.person("stranger")} {
		for _, in := range []string{in, strings.Replace(in, "p2", "p3", 1)} {
			if err := s.call(0, c, reopenName, "", in, nil); fault.KindOf(err) != fault.Denied &&
				fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	before, code := s.at(game, "p2"), s.code(game, "p2")
	var out joinOut
	s.must(1, code, reopenName, mine, &out)
	if out.PlayerID != "p2" || out.Token == "" || out.Recovery == "" ||
		s.lastLine(game) != "The seat of N2 was opened anew." {
		t.Errorf("opened as %+v; the table reads %q", out, s.lastLine(game))
	}
	for _, old := range []access.Caller{before, code} {
		for process := range 2 {
			err := s.call(process, old, "get_game", "", fmt.Sprintf(`{"id":%q}`, game), nil)
			if k := fault.KindOf(err); err == nil || k != fault.NotFound && k != fault.Denied {
				t.Errorf("an old credential still opens the game: %v", err)
			}
		}
		if err := s.call(0, old, reopenName, "", mine, nil); fault.KindOf(err) != fault.NotFound {
			t.Errorf("an old credential still opens the seat anew: %v", err)
		}
	}
	var own view.Own
	s.must(1, s.at(game, "p2"), "get_game", fmt.Sprintf(`{"id":%q}`, game), &own)
	if own.You != "p2" || own.Self.Role == "" {
		t.Errorf("the new token reads %+v", own.Self)
	}
	s.must(0, s.person("n2"), reopenName, mine, &out)
	if out.PlayerID != "p2" {
		t.Errorf("the person opened %+v", out)
	}
}

// TestASeatIsOpenedAnewABoundedNumberOfTimes bounds the records that a seat leaves.
func TestASeatIsOpenedAnewABoundedNumberOfTimes(t *testing.T) {
	s := open(t)
	game := s.seated()
	mine := fmt.Sprintf(`{"id":%q,"player_id":"mine"}`, game)
	for n := range 51 {
		err := s.call(0, s.person("n3"), reopenName, "", mine, nil)
		if n < 50 && err != nil || n == 50 && fault.KindOf(err) != fault.Rule {
			t.Fatalf("%d: %v", n, err)
		}
	}
}

// TestAVacatedSeatIsNobodys lets a host vacate a seat between days: the computer plays on, nothing of the seat's
// secrets shows, and nobody opens the seat again.
func TestAVacatedSeatIsNobodys(t *testing.T) {
	s := open(t)
	game := s.seated()
	vacate := fmt.Sprintf(`{"id":%q,"type":"vacate","player_id":"p2"}`, game)
	if err := s.call(0, s.at(game, "p1"), "command_game", "", vacate, nil); fault.KindOf(err) != fault.Denied {
		t.Errorf("a player vacates: %v", err)
	}
	token, code := s.at(game, "p2"), s.code(game, "p2")
	was := s.state(0, game)
	s.must(1, s.host(), "command_game", vacate, nil)
	now := s.state(0, game)
	if s.lastLine(game) != "The host vacated the seat of N2. The computer plays it from now on." {
		t.Errorf("the table reads %q", s.lastLine(game))
	}
	if h := now.Secret.Seats.Of(2); h.Played != rule.ByProgram || h.Role != was.Secret.Seats.Of(2).Role {
		t.Errorf("the seat is %+v", h)
	}
	for _, seat := range []rule.Seat{1, 3} {
		a, b := view.BriefOf(&was, seat), view.BriefOf(&now, seat)
		a.Version, b.Version = 0, 0
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if !bytes.Equal(x, y) {
			t.Errorf("beside the chat, %s sees\n%s\nand before\n%s", seat, y, x)
		}
	}
	mine := fmt.Sprintf(`{"id":%q,"player_id":"p2"}`, game)
	for _, c := range []access.Caller{token, code, s.person("n2"), s.person("host"), s.host()} {
		if err := s.call(0, c, reopenName, "", mine, nil); fault.KindOf(err) != fault.NotFound &&
			fault.KindOf(err) != fault.Denied {
			t.Errorf("%s opens it: %v", c.Key, err)
		}
	}
	if err := s.call(0, token, "get_game", "", fmt.Sprintf(`{"id":%q}`, game), nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the old token: %v", err)
	}
	if err := s.call(0, s.person("late"), "join_game", "", fmt.Sprintf(`{"id":%q,"name":"Late"}`, game),
		nil); fault.KindOf(err) != fault.Rule {
		t.Errorf("somebody joins: %v", err)
	}
	s.must(0, s.host(), "command_game", fmt.Sprintf(`{"id":%q,"type":"advance"}`, game), nil)
	vacate = strings.Replace(vacate, "p2", "p3", 1)
	if err := s.call(0, s.host(), "command_game", "", vacate, nil); fault.KindOf(err) != fault.Rule {
		t.Errorf("a seat is vacated during a day: %v", err)
	}
}

// TestASeatOfTheLobbyIsFreeAgain lets somebody join anew in a seat that the host vacated, before there is any secret.
func TestASeatOfTheLobbyIsFreeAgain(t *testing.T) {
	s := open(t)
	var g gameOut
	s.must(0, s.host(), "create_game", `{"ai_players":5}`, &g)
	id := fmt.Sprintf(`{"id":%q`, g.GameID)
	s.must(0, s.person("ada"), "join_game", id+`,"name":"Ada"}`, nil)
	s.must(1, s.host(), "command_game", id+`,"type":"vacate","player_id":"p6"}`, nil)
	s.must(1, s.host(), "command_game", id+`,"type":"vacate","player_id":"p2"}`, &g)
	if err := s.call(0, s.host(), "start_game", "", id+`}`, nil); fault.KindOf(err) != fault.Rule {
		t.Errorf("a game starts with free seats: %v", err)
	}
	var out joinOut
	s.must(0, s.person("ada"), "join_game", id+`,"name":"Ada"}`, &out)
	if out.PlayerID != "p2" {
		t.Errorf("joined as %+v", out)
	}
	s.must(0, s.host(), "join_game", id+`,"as":"ai"}`, &out)
	var all gamesOut
	if s.must(0, s.host(), "start_game", id+`}`, &g); out.PlayerID != "p6" || g.Players != 6 {
		t.Errorf("started %+v with %+v", g, all)
	}
}

// TestOnePersonPlaysOneSeat lets nobody learn the secrets of two players.
func TestOnePersonPlaysOneSeat(t *testing.T) {
	s := open(t)
	var g gameOut
	s.must(0, s.host(), "create_game", `{}`, &g)
	join := func(c access.Caller, more string) error {
		return s.call(0, c, "join_game", "", fmt.Sprintf(`{"id":%q%s}`, g.GameID, more), nil)
	}
	for _, tc := range []struct {
		who, more string
		want      bool
	}{
		{"ada", `,"name":"Ada"`, true}, {"ada", `,"name":"Ada Two"`, false}, {"ada", `,"name":"Ada Three","as":"mcp"`, false},
		{"ben", `,"name":"Ben","as":"mcp"`, true}, {"ben", `,"name":"Ben Two","as":"mcp"`, false},
		{"host", `,"name":"One","as":"mcp"`, true}, {"host", `,"name":"Two","as":"mcp"`, true}, {"host", `,"name":"Me"`,
			false},
		{"ada", `,"as":"ai"`, false}, {"host", `,"as":"ai"`, true},
	} {
		if err := join(s.person(tc.who), tc.more); (err == nil) != tc.want {
			t.Errorf("%s%s: %v", tc.who, tc.more, err)
		}
	}
}

// TestGamesWithoutCodesGoOn reads a game whose events name no recovery codes. Who joined as a person opens the seat
// anew; the host's seats for others are the host's to vacate.
func TestGamesWithoutCodesGoOn(t *testing.T) {
	s := open(t)
	var g gameOut
	s.must(0, s.host(), "create_game", `{"ai_players":5,"mandate":"aggressive_growth"}`, &g)
	for i, by := range []access.Caller{s.person("host"), s.person("ada")} {
		s.appendOld(by, g.GameID, &rule.Joined{Name: fmt.Sprint("Old", i)}, &rule.Seated{Seat: rule.Seat(6 + i), Owner: "",
			Played: rule.ByPerson}, &rule.Seated{Seat: rule.Seat(6 + i), Owner: fmt.Sprint("old-", i), Played: rule.ByPerson})
	}
	s.must(1, s.host(), "start_game", fmt.Sprintf(`{"id":%q}`, g.GameID), nil)
	var own view.Own
	s.must(0, s.at(g.GameID, "p7"), "get_game", fmt.Sprintf(`{"id":%q}`, g.GameID), &own)
	if own.You != "p7" || own.Self.Role == "" {
		t.Errorf("an old token reads %+v", own.Self)
	}
	for _, player := range []string{"p6", "p7", "mine"} {
		err := s.call(0, s.person("host"), reopenName, "", fmt.Sprintf(`{"id":%q,"player_id":%q}`, g.GameID, player), nil)
		if fault.KindOf(err) != fault.Denied {
			t.Errorf("the host opens %s: %v", player, err)
		}
	}
	var out joinOut
	s.must(0, s.person("ada"), reopenName, fmt.Sprintf(`{"id":%q,"player_id":"mine"}`, g.GameID), &out)
	if out.PlayerID != "p7" || out.Recovery == "" {
		t.Errorf("opened %+v", out)
	}
	s.must(0, s.host(), "command_game", fmt.Sprintf(`{"id":%q,"type":"vacate","player_id":"p6"}`, g.GameID), nil)
}

// appendOld appends events as an earlier version of the program wrote them.
func (s *stage) appendOld(by access.Caller, game string, events ...rule.Event) {
	s.t.Helper()
	svc := s.both[0]
	var stored []canon.Event
	for _, e := range events {
		name, payload, err := rule.Encode(e)
		if err != nil {
			s.t.Fatal(err)
		}
		stored = append(stored, canon.Event{Type: name, Scope: Ledger + ":" + game, Payload: payload})
	}
	if err := svc.admitAs(s.t.Context(), by, access.Request{Operation: "join_game", World: s.world},
		func(g access.Grant) error {
			t, err := svc.openGame(s.t.Context(), g, game)
			if err != nil {
				return err
			}
			_, seq := t.currentState()
			_, err = svc.cfg.Ledgers.Append(s.t.Context(), g, t.stream, seq, stored)
			return err
		}); err != nil {
		s.t.Fatal(err)
	}
}
