package game_test

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/game"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
)

// A game is hosted on a ledger of the canon. People and programs join it and get a credential each.
func Example() {
	ctx, guard := context.Background(), access.NewGuard(access.Config{})
	host := access.Caller{Subject: "gm", EveryRole: access.RoleAdmin, Operator: true}
	admitted, err := guard.Admit(ctx, host, access.Request{Effect: access.Write})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := canon.New(canon.Config{Store: memory.New(), Ledgers: map[string][]string{game.Ledger: {game.Surface, game.PlaySurface}}})
	world, err := c.CreateWorld(ctx, admitted.Grant, canon.NewWorld{Slug: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	games, err := game.New(ctx, game.Config{Ledgers: c, Guard: guard, Seats: seats{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer games.Close()
	ops, err := op.NewLocal(op.Config{Guard: guard, Surfaces: games.Surfaces(),
		Worlds: optest.SoleWorld(world.ID)})
	if err != nil {
		fmt.Println(err)
		return
	}
	var out struct {
		GameID string `json:"game_id"`
		Seat   string `json:"player_id"`
		Token  string `json:"token"`
		Key    string `json:"mcp_key"`
	}
	call := func(as access.Caller, operation, input string) {
		answer, err := ops.Invoke(ctx, as, op.Request{Operation: operation, World: "main", Input: []byte(input)})
		if err == nil {
			err = json.Unmarshal(answer.Output, &out)
		}
		if err != nil {
			fmt.Println(operation, err)
		}
	}
	ada, ben := access.Caller{Subject: "ada", EveryRole: access.RoleUser}, access.Caller{Subject: "ben",
		EveryRole: access.RoleUser}
	call(host, "create_game", `{"ai_players": 4}`)
	call(ada, "join_game", fmt.Sprintf(`{"id": %q, "name": "Ada", "as": "person"}`, out.GameID))
	fmt.Println(out.Seat, out.Token)
	call(ben, "join_game", fmt.Sprintf(`{"id": %q, "name": "Ben", "as": "mcp"}`, out.GameID))
	fmt.Println(out.Seat, out.Key)
	// Output:
	// p5 a token to play with
	// p6 a key for /mcp
}

// seats issues credentials.
type seats struct{}

func (seats) Token(context.Context, access.Grant, string) (token, id string, err error) {
	return "a token to play with", "id-1", nil
}

func (seats) Invitation(context.Context, access.Grant, string) (token string, err error) {
	return "a token to join with", nil
}

func (seats) Key(context.Context, access.Grant, string, []string) (secret, id string, err error) {
	return "a key for /mcp", "id-2", nil
}

func (seats) Recovery(context.Context, access.Grant, string, string) (code, id string, err error) {
	return "a code to open it anew with", "id-3", nil
}

func (seats) Revoke(context.Context, string) error { return nil }
