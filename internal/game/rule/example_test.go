package rule_test

import (
	"fmt"

	"loregate/internal/game/rule"
)

// A command is decided on a state, and its events are folded into the next.
func ExampleDecide() {
	var s rule.State
	for _, c := range []rule.Command{rule.Create{ID: "g-1"}, rule.Join{Name: "Ada"}, rule.Chat{From: 1, Text: "Hello?"},
		rule.Start{}} {
		events, err := rule.Decide(s, c, 1000, s.Dice())
		if err != nil {
			fmt.Println("refused")
		}
		for _, e := range events {
			fmt.Printf("%T %t\n", e, rule.IsOpen(e))
			s = rule.Apply(s, e)
		}
	}
	// Output:
	// *rule.Created true
	// *rule.Joined true
	// *rule.Seated false
	// *rule.Said true
	// refused
}
