package canon_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

// A game master writes two cards in one commit. A player reads the world and finds one of them: a card
// above the grant looks as if it did not exist.
func Example() {
	ctx := context.Background()
	c, guard := canon.New(canon.Config{Store: memory.New()}), access.NewGuard(access.Config{})
	grant := func(who access.Caller, effect access.Effect, world access.WorldID) access.Grant {
		call, err := guard.Admit(ctx, who, access.Request{Effect: effect, World: world})
		if err != nil {
			fmt.Println(err)
			return access.Grant{}
		}
		defer call.Done(ctx, 0, nil)
		return call.Grant
	}
	gm, player := access.Caller{Subject: "gm", EveryRole: access.RoleAdmin, Operator: true},
		access.Caller{Subject: "ada", EveryRole: access.RoleUser}

	world, err := c.CreateWorld(ctx, grant(gm, access.Write, access.WorldID{}), canon.NewWorld{Slug: "mire"})
	if err != nil {
		fmt.Println(err)
		return
	}
	hidden := access.NewLabel(access.LevelGM)
	receipt, err := c.Update(ctx, grant(gm, access.Write, world.ID), func(p *canon.Plan) error {
		if _, err := p.Create(canon.NewCard{Name: "Ferry", Content: "It crosses at dusk."}); err != nil {
			return err
		}
		_, err := p.Create(canon.NewCard{Name: "Ferryman", Content: "He is dead.", Label: &hidden})
		return err
	})
	fmt.Println("commit", receipt.Seq, err)

	err = c.Read(ctx, grant(player, access.Read, world.ID), func(s *canon.Snapshot) error {
		ferry, err := s.Find(ctx, "ferry")
		if err != nil {
			return err
		}
		text, err := s.Content(ctx, ferry)
		fmt.Println(ferry.Name+":", text, err)
		_, err = s.Find(ctx, "ferryman")
		return err
	})
	fmt.Println(fault.KindOf(err).Code())
	// Output:
	// commit 2 <nil>
	// Ferry: It crosses at dusk. <nil>
	// not_found
}
