package game

import (
	"context"
	"encoding/json"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/op"
)

type commandIn struct {
	gameID
	moveIn
}

// moveIn is a command of a seat, or of the host, in words of the wire.
type moveIn struct {
	Type    string `json:"type" jsonschema:"Action to take. The legal actions are in the game's you.legal." enum:"chat,status,pulse,vote,night_action,exit_interview,advance,remove,vacate"`
	Text    string `json:"text,omitzero" jsonschema:"Text of a chat message, status, pulse answer or private feedback; at most 500 characters." maxlen:"4000"`
	Channel string `json:"channel,omitzero" jsonschema:"Readers of a chat message." enum:"public,aligned,direct" default:"public"`
	To      string `json:"to,omitzero" jsonschema:"Recipient of a direct message, or subject of a public one."`
	Choice  string `json:"choice,omitzero" jsonschema:"Vote: YES, NO or a player; if omitted, the vote is withdrawn."`
	Action  string `json:"action,omitzero" jsonschema:"At night: mine, project, bargain, convert or the role's ability. Of an exit interview: handoff, feedback or burn."`
	Target  string `json:"target,omitzero" jsonschema:"Target of the action."`
	Second  string `json:"second,omitzero" jsonschema:"Second target of an action that takes two."`
	Pick    string `json:"pick,omitzero" jsonschema:"Other choice of an ability: a crisis, or a part of the report."`
	Status  string `json:"status,omitzero" jsonschema:"Last status of a player who leaves; at most 20 characters."`
	Player  string `json:"player_id,omitzero" jsonschema:"Player that the host removes, or whose seat the host vacates."`
}

type commandOut struct {
	Version int         `json:"version"`
	Phase   string      `json:"phase"`
	Legal   []rule.Move `json:"legal"` // the legal moves of the caller's seat
}

func (s *Service) commandGame() *op.Operation {
	return defineOperation(op.Spec{
		Name: "command_game", Title: "Act in a game", Route: "POST /api/games/{id}/commands",
		Effect: access.Write, Plays: true,
		Asked: []string{
			"next phase now", "throw a player out of the match", "say, vote or act in the match",
			"move the match on", "move the round to its next part", "end this phase",
			"kick somebody out of the round", "cast my vote", "pause, stop or steer a match", "host decides",
			"move the round on", "end the day early", "call off the match",
		},
		Audience: "play", ByDoor: true, Class: access.ClassCommand,
		Doc: "Act in a game as your seat: chat, set a status, answer the pulse check, vote, act at night, leave; as " +
			"its host: advance, remove, vacate. " +
			"A vacated seat is free again in the lobby; later the computer plays it. " +
			"A command that is not legal now is refused, with the legal ones.",
		Examples: []op.Example{
			{Title: "Say something", Input: `{"id":"g-00112233aabbccdd","type":"chat","text":"Good morning."}`},
			{Title: "Nominate", Input: `{"id":"g-00112233aabbccdd","type":"vote","choice":"p4"}`},
			{Title: "Mine for another",
				Input: `{"id":"g-00112233aabbccdd","type":"night_action","action":"mine","target":"p2"}`},
		},
	}, func(ctx context.Context, c *op.Call, in commandIn) (commandOut, error) {
		t, p, err := s.partOf(ctx, c.Grant, in.ID)
		if err != nil {
			return commandOut{}, err
		}
		return s.act(ctx, c, t, p, in.moveIn)
	})
}

// act carries out a move of a caller in its place.
func (s *Service) act(ctx context.Context, c *op.Call, t *table, p place, in moveIn) (commandOut, error) {
	cmd, err := in.toCommand(p)
	if err != nil {
		return commandOut{}, err
	}
	before, _ := t.currentState()
	receipt, err := s.doCommand(ctx, c.Grant, t, cmd)
	c.Reply.Replayed = receipt.Replayed
	if err != nil {
		return commandOut{}, err
	}
	if v, ok := cmd.(rule.Vacate); ok && !receipt.Replayed {
		if err := s.endCredentials(ctx, before.Secret.Seats.Of(v.Seat)); err != nil {
			return commandOut{}, err
		}
	}
	state, _ := t.currentState()
	return commandOut{state.Public.Version, string(state.Public.Phase), state.Legal(p.seat)}, nil
}

// toCommand converts the input to a command of package rule.
func (in *moveIn) toCommand(p place) (rule.Command, error) {
	host := in.Type == "advance" || in.Type == "remove" || in.Type == "vacate"
	switch {
	case host && !p.host:
		return nil, fault.New(fault.Denied, "only the host of this game may do that; ask the host")
	case !host && p.seat == 0:
		return nil, fault.New(fault.Denied, "the host has no seat; join the game to play, and use the seat's token")
	}
	var bad error
	seat := func(field, id string) rule.Seat {
		s, ok := rule.ParseSeat(id)
		if id != "" && !ok && bad == nil {
			bad = fault.BadField(field, "is a player's id, as p1")
		}
		return s
	}
	target, player := seat("target", in.Target), seat("player_id", in.Player)
	cmds := map[string]rule.Command{
		"chat":   rule.Chat{From: p.seat, Channel: rule.Channel(in.Channel), To: seat("to", in.To), Text: in.Text},
		"status": rule.SetStatus{Seat: p.seat, Text: in.Text},
		"pulse":  rule.AnswerPulse{Seat: p.seat, Text: in.Text},
		"vote":   rule.CastVote{Seat: p.seat, Choice: rule.Choice(in.Choice)},
		"night_action": rule.GiveAction{Seat: p.seat, Action: rule.Action{Do: in.Action, Target: target,
			Second: seat("second", in.Second), Pick: in.Pick}},
		"exit_interview": rule.TakeLeave{Seat: p.seat, Do: in.Action, Target: target, Text: in.Text, Status: in.Status},
		"advance":        rule.Advance{By: p.seat},
		"remove":         rule.Remove{By: p.seat, Seat: player},
		"vacate":         rule.Vacate{By: p.seat, Seat: player},
	}
	if in.Type == "night_action" && in.Action == "convert" {
		return rule.GiveConversion{Seat: p.seat, Target: target}, bad
	}
	return cmds[in.Type], bad
}

func (s *Service) getGame() *op.Operation {
	return defineOperation(op.Spec{
		Name: "get_game", Title: "See a game", Route: "GET /api/games/{id}",
		Effect: access.Read, ByDoor: true, Audience: "play",
		Asked: []string{
			"how does the match stand", "who is still in the round", "who sits at the table",
			"score of the match", "which day and phase", "going on in the round",
			"which part of the day is it in the round", "state of play", "who is at the table of a round",
			"the phase", "who has been voted out", "look at a round", "day or night in the game",
		},
		Doc:      "Get a game as your seat sees it: its public state, your own secrets, and your legal actions. A host without a seat sees the public state.",
		Examples: []op.Example{{Title: "See", Input: `{"id":"g-00112233aabbccdd"}`}},
	}, func(ctx context.Context, c *op.Call, in gameID) (view.Own, error) {
		t, p, err := s.partOf(ctx, c.Grant, in.ID)
		if err != nil {
			return view.Own{}, err
		}
		state, _ := t.currentState()
		return viewOf(&state, p.seat, view.OwnOf), nil
	})
}

// viewOf returns the view of a game for a reader who may have no seat.
func viewOf(state *rule.State, seat rule.Seat, of func(*rule.State, rule.Seat) view.Own) view.Own {
	if seat != 0 {
		return of(state, seat)
	}
	return view.Own{Table: view.TableOf(state.ID, &state.Public, 0),
		Self:   view.Self{Host: true, Side: []string{}, Notices: []view.Notice{}, Legal: []rule.Move{}},
		Direct: []view.Whisper{}, Aligned: []view.Whisper{}}
}

type replayIn struct {
	gameID
	After int `json:"after,omitzero" jsonschema:"Number of the last event that you received." min:"0"`
	Limit int `json:"limit,omitzero" jsonschema:"Maximum number of events to return." min:"1" max:"2000" default:"500"`
}

type replayed struct {
	Seq     int             `json:"seq"`
	At      time.Time       `json:"at"`
	Type    string          `json:"type"`
	Open    bool            `json:"open"` // it changed the public state
	Payload json.RawMessage `json:"payload"`
}

type replayOut struct {
	GameID string     `json:"game_id"`
	Winner string     `json:"winner"`
	Events []replayed `json:"events"`
	Total  int        `json:"total"`
}

func (s *Service) replayGame() *op.Operation {
	return defineOperation(op.Spec{
		Name: "replay_game", Title: "Replay a game", Route: "GET /api/games/{id}/replay",
		Effect: access.Read, ByDoor: true,
		Asked: []string{
			"happened in a finished match", "who was the hidden AI", "moves of an ended round",
			"tell me how the round went, secrets too", "who was it in the end", "course of a finished match",
			"how did it end", "secrets after the game",
		},
		Audience: "play",
		Doc:      "Get all events of a finished game in order, including the secrets: for its players, its host, and game masters of its world.",
		Examples: []op.Example{{Title: "From the beginning", Input: `{"id":"g-00112233aabbccdd"}`}},
	}, func(ctx context.Context, c *op.Call, in replayIn) (replayOut, error) {
		t, p, err := s.findGame(ctx, c.Grant, in.ID)
		if err != nil {
			return replayOut{}, err
		}
		state, seq := t.currentState()
		over := state.Public.Phase == rule.Over
		if p == (place{}) && (!over || c.Grant.Role() < access.RoleGM) {
			return replayOut{}, errNoGame()
		}
		if !over {
			return replayOut{}, fault.New(fault.Rule, "the game is still running; it can be replayed when it is over")
		}
		out := replayOut{GameID: t.id, Winner: string(state.Public.Winner), Events: []replayed{}, Total: int(seq)}
		for rec, err := range s.cfg.Ledgers.Records(ctx, c.Grant, t.stream, canon.Seq(in.After+1)) {
			if err != nil || len(out.Events) == in.Limit {
				return out, err
			}
			e, err := rule.Decode(rec.Event.Type, rec.Event.Payload)
			if err != nil {
				return out, err
			}
			payload, err := shownPayload(e, rec.Event.Payload)
			if err != nil {
				return out, err
			}
			out.Events = append(out.Events, replayed{int(rec.Seq), rec.At, rec.Event.Type, rule.IsOpen(e), payload})
		}
		return out, nil
	})
}

// shownPayload returns an event as a replay shows it: without the ids of credentials and the names of accounts, which
// belong to people and not to the game.
func shownPayload(e rule.Event, payload []byte) ([]byte, error) {
	switch e := e.(type) {
	case *rule.Seated:
		e.Owner, e.Recovery, e.Subject = "", "", ""
	case *rule.Created:
		e.Host = ""
	default:
		return payload, nil
	}
	_, shown, err := rule.Encode(e)
	return shown, err
}
