package exchangetest

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// NewWorld returns an empty world in memory and a grant of its owner. It is for examples, which have
// no testing.TB, and panics if the world cannot be created.
func NewWorld() (*canon.Canon, access.Grant) {
	ctx, guard := context.Background(), access.NewGuard(access.Config{})
	owner := access.Caller{Subject: "owner", EveryRole: access.RoleAdmin, Operator: true}
	admit := func(w access.WorldID) access.Grant {
		a, err := guard.Admit(ctx, owner, access.Request{Operation: "example", Effect: access.Write, World: w})
		if err != nil {
			panic(err)
		}
		return a.Grant
	}
	c := canon.New(canon.Config{Store: memory.New()})
	w, err := c.CreateWorld(ctx, admit(access.WorldID{}), canon.NewWorld{Slug: "example", Title: "Example"})
	if err != nil {
		panic(err)
	}
	return c, admit(w.ID)
}
