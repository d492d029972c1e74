package campaign_test

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/campaign"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
)

// A campaign in memory: a new entity is hidden from the players until the game master reveals it.
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
	surface, err := campaign.New(campaign.Config{Canon: c})
	if err != nil {
		fmt.Println(err)
		return
	}
	ops, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface}, Worlds: optest.SoleWorld(world.ID)})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := func(who access.Caller, operation, input string) []byte {
		answer, err := ops.Invoke(ctx, who, op.Request{Operation: operation, World: "main", Input: []byte(input)})
		if err != nil {
			fmt.Println(operation, err)
			return nil
		}
		return answer.Output
	}
	search := func() {
		var found struct {
			Entities []struct{ Name, Description string }
		}
		err := json.Unmarshal(call(player, "entity_search", `{"campaign_id": "main", "query": "Ottilie"}`), &found)
		fmt.Println(found.Entities, err)
	}
	var made struct{ ID string }
	err = json.Unmarshal(call(gm, "entity_create", `{"campaign_id": "main", "entity_type": "npc", "name": "Ottilie Brandt",
		"description": "Matron of the sanatorium.", "gm_notes": "She signs for two dead patients."}`), &made)
	if err != nil {
		fmt.Println(err)
		return
	}
	search()
	call(gm, "reveal", fmt.Sprintf(`{"campaign_id": "main", "items": [{"entity_id": %q}]}`, made.ID))
	search()
	// Output:
	// [] <nil>
	// [{Ottilie Brandt Matron of the sanatorium.}] <nil>
}
