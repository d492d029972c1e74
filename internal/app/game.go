package app

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/console"
	"loregate/internal/fault"
	"loregate/internal/game"
	"loregate/internal/game/page"
	"loregate/internal/game/player"
	"loregate/internal/httpd"
	"loregate/internal/identity"
	"loregate/internal/mcpd"
	"loregate/internal/safety"
)

// openGames creates the surface alignment.
func (a *App) openGames(ctx context.Context, o Options) (err error) {
	moderate := func(text string) bool { return !safety.InUse().Judge(safety.DefaultProfile, text).Flagged() }
	a.games, err = game.New(ctx, game.Config{Ledgers: a.Canon, Guard: a.Guard, Seats: seats{a}, Model: a.playerModel(),
		Moderate: moderate, Now: a.now, Random: o.Random, Logger: a.logger})
	if err != nil {
		return err
	}
	a.Surfaces = append(a.Surfaces, a.games.Surfaces()...)
	return nil
}

func (a *App) closeGames() {
	if a.games != nil {
		a.games.Close()
	}
}

// hostGames runs the games in progress until stop is called. AI players read over MCP, like all
// other players. With Options.Deterministic it runs no games, because their phases end by the machine's
// clock.
func (a *App) hostGames(ctx context.Context, server *mcpd.Server) (stop func()) {
	if a.still {
		return func() {}
	}
	return runBehind(context.WithoutCancel(ctx), func(ctx context.Context) { a.games.Run(ctx, newDialer(server)) })
}

// newDialer returns a function that connects to an MCP server of this process over a pipe.
func newDialer(server *mcpd.Server) game.Dial {
	return func(ctx context.Context, c access.Caller, uri string) (game.Link, error) {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() {
			defer close(done)
			err := server.ServePipe(serving, c, []string{game.Surface}, in, out)
			_, _ = in.CloseWithError(errors.Join(io.EOF, err)), out.CloseWithError(io.EOF)
		}()
		end := func() { cancel(); _ = toServer.Close(); _ = fromServer.Close(); <-done }
		client, err := player.Dial(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, uri)
		if err != nil {
			end()
			return nil, err
		}
		return link{client, end}, nil
	}
}

// link is a connection, and the function that ends its server side.
type link struct {
	*player.Client
	end func()
}

func (l link) Close() {
	l.Client.Close()
	l.end()
}

// AtSeat returns the caller of a local client that reads one seat's game, and the surfaces that it
// may use.
func AtSeat(seat string) (access.Caller, []string) {
	surfaces := []string{game.Surface}
	return access.Caller{Subject: "local-seat", Actor: access.AI, Seat: seat, Surfaces: surfaces, Unlimited: true},
		surfaces
}

// gamePage is the route of the page that people play on. The page itself contains no data of any
// game.
func gamePage() httpd.Route {
	return httpd.Route{Pattern: "GET /play/{game}", Public: true, Serve: page.New(console.StylesheetPath())}
}

// seats issues and revokes the tokens and keys of seats.
type seats struct{ app *App }

func (s seats) Token(ctx context.Context, by access.Grant, seat string) (token, id string, err error) {
	return s.app.Identity.IssuePlay(ctx, identity.PlaySpec{World: by.World(), MadeWith: by.Caller().Key,
		Subject: access.Subject("seat-" + seat), Seat: seat})
}

func (s seats) Invitation(ctx context.Context, by access.Grant, seat string) (token string, err error) {
	token, _, err = s.app.Identity.IssuePlay(ctx, identity.PlaySpec{World: by.World(), MadeWith: by.Caller().Key,
		Subject: access.Subject("seat-" + seat), Seat: seat, Operations: []string{"join_game"}})
	return token, err
}

func (s seats) Recovery(ctx context.Context, by access.Grant, seat, operation string) (code, id string, err error) {
	return s.app.Identity.IssuePlay(ctx, identity.PlaySpec{World: by.World(), MadeWith: by.Caller().Key,
		Life:    identity.MaxPlayLife,
		Subject: access.Subject("seat-" + seat), Seat: seat, Operations: []string{operation}})
}

func (s seats) Key(ctx context.Context, by access.Grant, seat string,
	surfaces []string) (secret, id string, err error) {
	k, secret, err := s.app.Identity.CreateKey(ctx, identity.KeySpec{Name: "seat " + seat,
		Subject: access.Subject("seat-" + seat), Actor: access.AI,
		MaxRole: access.RoleUser, Worlds: map[access.WorldID]access.Role{by.World(): access.RoleUser}, Seat: seat,
		Surfaces: surfaces, MadeWith: by.Caller().Key})
	return secret, k.ID, err
}

func (s seats) Revoke(ctx context.Context, id string) error {
	err := s.app.Identity.RevokeKey(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
