package lore_test

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
	"loregate/internal/world/lore"
)

func Example() {
	ctx := context.Background()
	wiki := canon.New(canon.Config{Store: memory.New()})
	guard := access.NewGuard(access.Config{})
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	admit := func(w access.WorldID) access.Grant {
		admission, err := guard.Admit(ctx, keeper, access.Request{Operation: "example", Effect: access.Write, World: w})
		panicOnError(err)
		return admission.Grant
	}
	harbour, err := wiki.CreateWorld(ctx, admit(access.WorldID{}), canon.NewWorld{Slug: "harbour", Title: "Harbour"})
	panicOnError(err)
	_, err = wiki.Update(ctx, admit(harbour.ID), func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "The Kept Lamp", Type: "Artifact", Codename: "lamp",
			Content: "<p>It has burned since the founding.</p>"})
		return err
	})
	panicOnError(err)
	places, err := world.New(world.Config{Canon: wiki})
	panicOnError(err)
	facts, err := lore.New(lore.Config{World: places, Canon: wiki})
	panicOnError(err)
	calls, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{facts.Surface()},
		Worlds: optest.SoleWorld(harbour.ID)})
	panicOnError(err)
	answer, err := calls.Invoke(ctx, keeper, op.Request{Operation: "search-lore",
		Input: json.RawMessage(`{"query": "burning lamps"}`)})
	panicOnError(err)
	var found struct {
		Items []struct{ FactID, Type, Snippet string }
	}
	panicOnError(json.Unmarshal(answer.Output, &found))
	for _, f := range found.Items {
		fmt.Printf("%s (%s): %s\n", f.FactID, f.Type, f.Snippet)
	}
	// Output: lamp (artifact): It has burned since the founding.
}

func panicOnError(err error) {
	if err != nil {
		panic(err)
	}
}
