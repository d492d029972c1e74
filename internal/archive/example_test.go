package archive_test

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
)

// A wiki in memory: the game master writes two cards, and a player searches. Hidden cards are not even
// counted.
func Example() {
	ctx, guard := context.Background(), access.NewGuard(access.Config{})
	gm, player := access.Caller{Subject: "gm", EveryRole: access.RoleAdmin, Operator: true},
		access.Caller{Subject: "ada", EveryRole: access.RoleUser}
	admitted, err := guard.Admit(ctx, gm, access.Request{Effect: access.Write})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := canon.New(canon.Config{Store: memory.New()})
	world, err := c.CreateWorld(ctx, admitted.Grant, canon.NewWorld{Slug: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	surface, err := archive.New(archive.Config{Canon: c})
	if err != nil {
		fmt.Println(err)
		return
	}
	ops, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface}, Worlds: optest.SoleWorld(world.ID)})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := func(who access.Caller, operation, input string) {
		answer, err := ops.Invoke(ctx, who, op.Request{Operation: operation, World: "main", Input: []byte(input)})
		if err != nil {
			fmt.Println(err)
			return
		}
		var found struct {
			Cards []struct{ Name string }
			Total int
		}
		if json.Unmarshal(answer.Output, &found) == nil && found.Cards != nil {
			fmt.Println(who.Subject, "finds", found.Cards, "of", found.Total)
		}
	}
	call(gm, "create_card", `{"name": "Ferry", "content": "<p>It crosses at dusk.</p>"}`)
	call(gm, "create_card", `{"name": "Ferryman", "content": "<p>He died at dusk.</p>", "level": "gm"}`)
	call(gm, "search_cards", `{"q": "dusk", "search_in": "content"}`)
	call(player, "search_cards", `{"q": "dusk", "search_in": "content"}`)
	// Output:
	// gm finds [{Ferry} {Ferryman}] of 2
	// ada finds [{Ferry}] of 1
}
