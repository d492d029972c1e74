package member_test

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
	"loregate/internal/member"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
)

// A game master invites players, and cannot invite an admin.
func Example() {
	ctx, guard := context.Background(), access.NewGuard(access.Config{})
	keeper := access.Caller{Subject: "keeper", Actor: access.Person, EveryRole: access.RoleAdmin, Operator: true}
	gm := access.Caller{Subject: "gm", Actor: access.Person, EveryRole: access.RoleGM}
	admitted, err := guard.Admit(ctx, keeper, access.Request{Effect: access.Write})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := canon.New(canon.Config{Store: memory.New(),
		Ledgers: map[string][]string{member.LedgerKind: {canon.AnySurface}}})
	world, err := c.CreateWorld(ctx, admitted.Grant, canon.NewWorld{Slug: "main"})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := identity.New(identity.Config{Store: &identitytest.Store{}, Worlds: &identitytest.Worlds{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer keys.Close()
	ops, err := op.NewLocal(op.Config{Guard: guard, Worlds: optest.SoleWorld(world.ID),
		Surfaces: []op.Surface{member.New(member.Config{Canon: c, Identity: keys})}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"role": "user", "uses": 4}`, `{"role": "admin"}`} {
		answer, err := ops.Invoke(ctx, gm, op.Request{Operation: "create_invitation", World: "main", Input: []byte(input)})
		if err != nil {
			fmt.Println(err)
			continue
		}
		var out struct{ Invitation struct{ Role, By string } }
		if err := json.Unmarshal(answer.Output, &out); err != nil {
			fmt.Println(err)
		}
		fmt.Println(out.Invitation.Role, out.Invitation.By)
	}
	// Output:
	// user gm
	// validation_error: role: must be at most your own, gm
}
