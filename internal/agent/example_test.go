package agent_test

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/prompt"
)

// Without a model, rules classify an utterance.
func Example() {
	ctx, guard := context.Background(), access.NewGuard(access.Config{})
	prompts, err := prompt.Open("")
	if err != nil {
		fmt.Println(err)
		return
	}
	operations, err := op.NewLocal(op.Config{Guard: guard}) // of the world, which the agents read
	if err != nil {
		fmt.Println(err)
		return
	}
	agents, err := agent.New(agent.Config{Invoker: operations, Prompts: prompts, Acts: []string{"move"},
		Intents: func(utterance string) (string, float64, bool) {
			if strings.HasPrefix(utterance, "go ") {
				return "move", 0.9, false
			}
			return "", 0, true
		}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ops, err := op.NewLocal(op.Config{Guard: guard, Worlds: optest.SoleWorld{1},
		Surfaces: []op.Surface{{Name: "world", Operations: agents.Operations("world")}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := ops.Invoke(ctx, access.Caller{Subject: "ada", EveryRole: access.RoleUser},
		op.Request{Operation: "classify-intent", World: "main", Input: []byte(`{"utterance": "go north"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(answer.Output))
	// Output: {"intent":"move","confidence":0.9}
}
