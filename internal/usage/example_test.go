package usage_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
	"loregate/internal/usage"
)

// Each call of a model is one event; callers see sums of them.
func ExampleRecorder() {
	ctx, guard := context.Background(), access.NewGuard(access.Config{})
	c := canon.New(canon.Config{Store: memory.New(), Ledgers: map[string][]string{usage.LedgerKind: {canon.AnySurface}}})
	grant := func(w access.WorldID) access.Grant {
		call, err := guard.Admit(ctx, access.Caller{Subject: "gm", EveryRole: access.RoleAdmin, Operator: true},
			access.Request{Effect: access.Write, World: w})
		if err != nil {
			panic(err)
		}
		return call.Grant
	}
	world, err := c.CreateWorld(ctx, grant(access.WorldID{}), canon.NewWorld{Slug: "mire"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := usage.New(usage.Config{Canon: c, Guard: guard, Every: usage.WhenTold})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		r.Record(world.ID, usage.Event{Name: usage.ModelCalled, Purpose: "ambience", Model: "llama3.2", TokensPrompt: 100,
			TokensCompletion: 20})
	}
	if err := r.Close(ctx); err != nil { // writes the events
		fmt.Println(err)
		return
	}
	total, _, err := r.Aggregate(ctx, grant(world.ID), usage.Query{Purpose: "ambience"})
	fmt.Println(total.Count, total.TokensPrompt, total.TokensCompletion, err)
	// Output: 2 200 40 <nil>
}
