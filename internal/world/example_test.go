package world_test

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
	"loregate/internal/world"
)

func Example() {
	ctx := context.Background()
	wiki := canon.New(canon.Config{Store: memory.New()})
	guard := access.NewGuard(access.Config{})
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	admit := func(w access.WorldID) access.Grant {
		admission, err := guard.Admit(ctx, keeper, access.Request{Operation: "example", Effect: access.Write, World: w})
		if err != nil {
			panic(err)
		}
		return admission.Grant
	}
	harbour, err := wiki.CreateWorld(ctx, admit(access.WorldID{}),
		canon.NewWorld{Slug: "harbour", Title: "Harbour", Settings: canon.Settings{Starter: "Quay"}})
	if err != nil {
		panic(err)
	}
	_, err = wiki.Update(ctx, admit(harbour.ID), func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Quay", Type: world.TypeLocation, Content: "<p>Black <b>stone</b>.</p>"})
		return err
	})
	if err != nil {
		panic(err)
	}
	places, err := world.New(world.Config{Canon: wiki})
	if err != nil {
		panic(err)
	}
	calls, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{places.Surface()},
		Worlds: optest.SoleWorld(harbour.ID)})
	if err != nil {
		panic(err)
	}
	answer, err := calls.Invoke(ctx, keeper, op.Request{Operation: "get-location", Input: json.RawMessage(`{}`)})
	if err != nil {
		panic(err)
	}
	var place struct {
		Item struct{ Name, Description string }
	}
	if err := json.Unmarshal(answer.Output, &place); err != nil {
		panic(err)
	}
	fmt.Printf("%s: %s\n", place.Item.Name, place.Item.Description)
	// Output: Quay: Black stone.
}
