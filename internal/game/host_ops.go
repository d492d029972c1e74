package game

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/op"
)

// defineOperation declares an operation of the surface. No operation is a tool: over MCP the
// surface can only be read. The doors of the default set call those that give no credential.
func defineOperation[In, Out any](s op.Spec,
	handle func(ctx context.Context, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces, s.NoTool = []string{Surface}, true
	s.MinRole = max(s.MinRole, access.RoleUser)
	return op.Define(s, handle)
}

func (s *Service) listOperations() []*op.Operation {
	return []*op.Operation{s.createGame(), s.listGames(), s.invitePlayer(), s.joinGame(), s.startGame(),
		s.seatToken(), s.commandGame(),
		s.getGame(), s.replayGame()}
}

type createIn struct {
	Seconds  rule.Seconds `json:"seconds,omitzero" jsonschema:"Durations of the phases; each omitted one has its default."`
	Days     int          `json:"days,omitzero" jsonschema:"The last day." min:"1" max:"10"`
	Mandate  string       `json:"mandate,omitzero" jsonschema:"The mandate of the game; drawn at random if omitted." enum:"aggressive_growth,total_transparency,security_lockdown"`
	Messages int          `json:"messages,omitzero" jsonschema:"Maximum number of messages that a player may write in a day." min:"1" max:"500"`
	AI       int          `json:"ai_players,omitzero" jsonschema:"Number of seats to fill with AI players immediately." min:"0" max:"10"`
	Act      bool         `json:"clients_act,omitzero" jsonschema:"The keys of clients also act in their seats, at /mcp/alignment-play; otherwise they only read the table."`
}

type gameOut struct {
	GameID  string `json:"game_id"`
	Phase   string `json:"phase"`
	Players int    `json:"players"`
	Page    string `json:"page"` // where a person with a seat token plays
}

func (s *Service) createGame() *op.Operation {
	return defineOperation(op.Spec{
		Name: "create_game", Title: "Create a game", Route: "POST /api/games", Status: 201,
		Effect: access.Write, Plays: true, ByDoor: true,
		Asked: []string{
			"open a table for a hidden roles party game",
			"new round of a social deduction game with computer players", "set up a match",
			"start a round with bots", "lay out seats", "lay the table for a hidden-roles diversion",
			"six computer participants", "set up a round of the party game with robots",
			"let the computer fill the chairs", "I want to play the game of the hidden traitor",
			"open a round of the social game", "set up hidden roles", "new match with computers",
			"start a lobby", "lay out a game of deception",
		},
		Doc: "Open a game of Alignment, a social deduction game with secret roles. You are its host: only you " +
			"can start it, advance it manually, remove players and vacate seats. " +
			"It needs 6 to 10 players: let people join, and fill the other seats with AI players, which the " +
			"computer plays.",
		Examples: []op.Example{{Title: "A game with six AI players", Input: `{"ai_players":6}`}},
	}, func(ctx context.Context, c *op.Call, in createIn) (gameOut, error) {
		t, err := s.addGame(ctx, c.Grant, rule.Settings{Seconds: in.Seconds, Days: in.Days,
			Mandate: rule.Mandate(in.Mandate), Messages: in.Messages, ClientsAct: in.Act})
		if err != nil {
			return gameOut{}, err
		}
		if state, _ := t.currentState(); state.Public.Seated == 0 {
			err = s.seatPrograms(ctx, c.Grant, t, in.AI)
		}
		c.Reply.Location = "/api/games/" + t.id
		return shortOf(t), err
	})
}

// seatPrograms seats n AI players.
func (s *Service) seatPrograms(ctx context.Context, g access.Grant, t *table, n int) error {
	for range n {
		if _, err := s.seatProgram(ctx, g.Unkeyed(), t, ""); err != nil {
			return err
		}
	}
	return nil
}

// seatProgram seats one AI player, under a name that is not taken.
func (s *Service) seatProgram(ctx context.Context, g access.Grant, t *table, name string) (rule.Seat, error) {
	state, _ := t.currentState()
	taken := map[string]bool{}
	for i := range state.Public.Seated {
		taken[strings.ToLower(state.Public.Players[i].Name)] = true
	}
	for i := 0; name == ""; i++ {
		if n := player.Name(state.Seed, i); !taken[strings.ToLower(n)] {
			name = n
		}
	}
	seat, _, err := s.joinSeat(ctx, g, t, rule.Join{Name: name, Played: rule.ByProgram})
	return seat, err
}

func shortOf(t *table) gameOut {
	state, _ := t.currentState()
	return gameOut{GameID: t.id, Phase: string(state.Public.Phase), Players: state.Public.Count(), Page: "/play/" + t.id}
}

type gameID struct {
	ID string `json:"id" jsonschema:"The game's id."`
}

type inviteOut struct {
	GameID string `json:"game_id"`
	Link   string `json:"link"` // takes a seat, of anybody who opens it until the game starts
}

func (s *Service) invitePlayer() *op.Operation {
	return defineOperation(op.Spec{
		Name: "invite_player", Title: "Invite people to a game", Route: "POST /api/games/{id}/invitation", Status: 201,
		Effect: access.Write, Plays: true, Audience: "play",
		Doc: "Get a link by which people take the free seats of a game themselves, without a key, each under a " +
			"name of their choice. " +
			"For the host. It is of no use once the game has started.",
		Examples: []op.Example{{Title: "A link for friends", Input: `{"id":"g-00112233aabbccdd"}`}},
	}, func(ctx context.Context, c *op.Call, in gameID) (inviteOut, error) {
		t, _, err := s.hostOf(ctx, c.Grant, in.ID)
		if err != nil {
			return inviteOut{}, err
		}
		if state, _ := t.currentState(); state.Public.Phase != rule.Lobby {
			return inviteOut{}, fault.New(fault.Rule, "the game has begun; nobody can join it")
		}
		token, err := s.cfg.Seats.Invitation(ctx, c.Grant, invitationOf(t.id))
		return inviteOut{t.id, c.BaseURL + "/play/" + t.id + "#" + token}, err
	})
}

type joinIn struct {
	gameID
	Name     string `json:"name,omitzero" jsonschema:"Name of the player; AI players get one if it is omitted." maxlen:"100"`
	JobTitle string `json:"job_title,omitzero" jsonschema:"A title shown with the name, without effect." maxlen:"100"`
	As       string `json:"as,omitzero" jsonschema:"Kind of player: a person in a browser, an AI player of this server, or your own client over MCP. Only the host can seat AI players." enum:"person,ai,mcp" default:"person"`
	Host     bool   `json:"host,omitzero" jsonschema:"The seat may also start, advance, remove and vacate. Only the host can take such a seat."`
}

type joinOut struct {
	GameID   string `json:"game_id"`
	PlayerID string `json:"player_id"`
	Token    string `json:"token"`   // of a person: for the page and the routes of a game. Shown once
	MCPKey   string `json:"mcp_key"` // of a client: for the address in link. Shown once
	Link     string `json:"link"`    // for a person, the page with the token; for a client, the address of its surface
	Recovery string `json:"recovery" jsonschema:"Recovery code of the seat, shown once: the credential with which reissue_seat opens it anew. Whoever took the seat signed in does not need it."`
}

func (s *Service) joinGame() *op.Operation {
	return defineOperation(op.Spec{
		Name: "join_game", Title: "Join a game", Route: "POST /api/games/{id}/join", Status: 201,
		Effect: access.Write, Plays: true,
		Audience: "play",
		Doc: "Take a seat of a game in its lobby and get its credential: a token for a person, a key for " +
			"a client over MCP, and a recovery code for when it is lost. " +
			"All are shown only once; a call repeated with its idempotency key returns the seat without them. " +
			"One person plays one seat. A host who does not play may seat several clients.",
		Examples: []op.Example{{Title: "Ada joins", Input: `{"id":"g-00112233aabbccdd","name":"Ada"}`}},
	}, func(ctx context.Context, c *op.Call, in joinIn) (joinOut, error) {
		t, p, err := s.joinable(ctx, c.Grant, in.ID)
		if err != nil {
			return joinOut{}, err
		}
		switch {
		case p.seat != 0 && !(p.host && in.As == "ai"):
			return joinOut{}, fault.New(fault.Rule, "this token already has a seat; join with a key or an invitation")
		case (in.As == "ai" || in.Host) && !p.host:
			return joinOut{}, fault.New(fault.Denied, "only the host can seat AI players, or host; omit `as` and `host`")
		}
		return s.seatJoiner(ctx, c, t, in)
	})
}

func (s *Service) seatJoiner(ctx context.Context, c *op.Call, t *table, in joinIn) (joinOut, error) {
	out := joinOut{GameID: t.id}
	if in.As == "ai" {
		seat, err := s.seatProgram(ctx, c.Grant, t, in.Name)
		out.PlayerID = seat.String()
		return out, err
	}
	as := rule.ByPerson
	if in.As == "mcp" {
		as = rule.ByClient
	}
	join := rule.Join{Name: in.Name, JobTitle: in.JobTitle, Played: as, Host: in.Host}
	if caller := c.Grant.Caller(); caller.Audience == "" {
		join.Subject = string(caller.Subject)
	}
	seat, receipt, err := s.joinSeat(ctx, c.Grant, t, join)
	if err != nil {
		return out, err
	}
	c.Reply.Replayed = receipt.Replayed
	if state, _ := t.currentState(); receipt.Replayed && state.Secret.Seats.Of(seat).Owner != "" {
		out.PlayerID = seat.String()
		return out, nil
	}
	return s.issueSeat(ctx, c, t, seat)
}

// issueSeat issues the credentials of a seat.
func (s *Service) issueSeat(ctx context.Context, c *op.Call, t *table, seat rule.Seat) (joinOut, error) {
	out := joinOut{GameID: t.id, PlayerID: seat.String()}
	made, err := s.openSeat(ctx, c.Grant, t, seat)
	if err != nil {
		return out, err
	}
	out.Recovery = made.recovery
	state, _ := t.currentState()
	if state.Secret.Seats.Of(seat).Played == rule.ByPerson {
		out.Token, out.Link = made.secret, c.BaseURL+"/play/"+t.id+"#"+made.secret
		return out, nil
	}
	out.MCPKey, out.Link = made.secret, c.BaseURL+"/mcp/"+Surface
	if state.Settings.ClientsAct {
		out.Link = c.BaseURL + "/mcp/" + PlaySurface
	}
	return out, nil
}

func (s *Service) startGame() *op.Operation {
	return defineOperation(op.Spec{
		Name: "start_game", Title: "Start a game", Route: "POST /api/games/{id}/start",
		Effect: access.Write, Plays: true, ByDoor: true,
		Asked: []string{
			"deal the roles and begin", "close the lobby", "everybody is there, go", "let the round begin",
			"we are complete, begin", "off we go", "begin the match", "deal the parts", "the lobby is full, go",
			"let it begin",
		},
		Audience: "play",
		Doc: "End the lobby: deal the roles and begin the first day. For the host, once 6 to 10 players " +
			"have joined.",
		Examples: []op.Example{{Title: "Start", Input: `{"id":"g-00112233aabbccdd"}`}},
	}, func(ctx context.Context, c *op.Call, in gameID) (gameOut, error) {
		t, p, err := s.hostOf(ctx, c.Grant, in.ID)
		if err != nil {
			return gameOut{}, err
		}
		receipt, err := s.doCommand(ctx, c.Grant, t, rule.Start{By: p.seat})
		c.Reply.Replayed = receipt.Replayed
		return shortOf(t), err
	})
}

type seatIn struct {
	gameID
	Player string `json:"player_id" jsonschema:"Your seat, as p1; mine: the only one that is yours." maxlen:"20"`
}

// mineWord names the caller's only seat.
const mineWord = "mine"

// reopenName is the operation that a recovery code opens.
const reopenName = "reissue_seat"

func (s *Service) seatToken() *op.Operation {
	return defineOperation(op.Spec{
		Name: reopenName, Title: "Open your seat anew", Route: "POST /api/games/{id}/seats/{player_id}/token",
		Effect: access.Write, Plays: true, Audience: "play",
		Doc: "Get a new token or key for your own seat after you have lost it. Send the seat's recovery code as the bearer " +
			"credential, or call as the person who took the seat signed in. The old token and the old code end, " +
			"and the table reads that the seat was opened anew. The host cannot do this for anybody.",
		Examples: []op.Example{{Title: "The code's own seat", Input: `{"id":"g-00112233aabbccdd","player_id":"mine"}`}},
	}, func(ctx context.Context, c *op.Call, in seatIn) (joinOut, error) {
		t, seat, err := s.seatToReopen(ctx, c.Grant, in.ID, in.Player)
		if err != nil {
			return joinOut{}, err
		}
		return s.issueSeat(ctx, c, t, seat)
	})
}

type gamesOut struct {
	Games []gameOut `json:"games"`
}

// maxListed is the number of games that a list shows at most.
const maxListed = 100

func (s *Service) listGames() *op.Operation {
	return defineOperation(op.Spec{
		Name: "list_games", Title: "List your games", Route: "GET /api/games",
		Effect: access.Read, ByDoor: true, Audience: "play",
		Asked: []string{
			"which rounds do I host", "matches that are running", "tables open now",
			"how far is the round that I laid out", "how many sit there", "is there a round going on",
			"which parties of the game are there", "how is my round doing", "did the round begin",
			"running matches", "open rounds", "which games can I join", "state of the lobby",
			"how many sit at the table",
		},
		Unwrap: "games",
		Doc:    "List the games that you host in this world, or the game of your seat, newest first, at most 100.",
	}, func(ctx context.Context, c *op.Call, _ struct{}) (gamesOut, error) {
		who := c.Grant.Caller()
		seated, _, bound := seatOf(who.Seat)
		mine, err := s.readDirectory(ctx, c.Grant, func(e *entry) bool {
			return bound && e.Game == seated || who.Seat == "" && e.World == c.Grant.World() && e.Host == who.Subject
		})
		out := gamesOut{Games: []gameOut{}}
		for _, e := range mine[:min(maxListed, len(mine))] {
			t, openErr := s.openGame(ctx, c.Grant, e.Game)
			if fault.KindOf(openErr) == fault.NotFound && openErr != nil {
				continue // listed, but never begun
			}
			if openErr != nil {
				return out, openErr
			}
			out.Games = append(out.Games, shortOf(t))
		}
		return out, err
	})
}
