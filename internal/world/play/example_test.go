package play_test

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
	"loregate/internal/world/play"
)

// noTokens issues empty tokens.
type noTokens struct{}

func (noTokens) IssuePlayer(context.Context, access.Grant, canon.CardID) (string, error) {
	return "", nil
}

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
	harbour, err := wiki.CreateWorld(ctx, admit(access.WorldID{}),
		canon.NewWorld{Slug: "harbour", Title: "Harbour", Settings: canon.Settings{Starter: "Quay"}})
	panicOnError(err)
	_, err = wiki.Update(ctx, admit(harbour.ID), func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Quay", Type: world.TypeLocation, Content: "<p>A bell hangs here.</p>"})
		return err
	})
	panicOnError(err)
	places, err := world.New(world.Config{Canon: wiki})
	panicOnError(err)
	host, err := play.New(play.Config{World: places, Canon: wiki, Tokens: noTokens{}})
	panicOnError(err)
	calls, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{places.Surface(host.Surface())},
		Worlds: optest.SoleWorld(harbour.ID)})
	panicOnError(err)
	call := func(name string, input map[string]string, out any) {
		text, err := json.Marshal(input)
		panicOnError(err)
		answer, err := calls.Invoke(ctx, keeper, op.Request{Operation: name, Input: text, Transport: "rest"})
		panicOnError(err)
		panicOnError(json.Unmarshal(answer.Output, out))
	}
	var made struct{ Player struct{ ID string } }
	call("create_player", map[string]string{"name": "Mira"}, &made)
	var told struct{ Narration string }
	call("send_command", map[string]string{"id": made.Player.ID, "text": "look"}, &told)
	fmt.Println(told.Narration)
	// Output: Quay. A bell hangs here. There is no way out.
}

func panicOnError(err error) {
	if err != nil {
		panic(err)
	}
}
