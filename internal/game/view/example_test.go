package view_test

import (
	"fmt"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// A seat reads the public table. Only its own view has its role.
func Example() {
	var s rule.State
	do := func(c rule.Command) {
		events, err := rule.Decide(s, c, 1000, s.Dice())
		if err != nil {
			fmt.Println(err)
		}
		for _, e := range events {
			s = rule.Apply(s, e)
		}
	}
	do(rule.Create{ID: "g-1"})
	for _, name := range []string{"Ada", "Ben", "Cy", "Dot", "Eve", "Fay"} {
		do(rule.Join{Name: name})
	}
	do(rule.Start{})
	table, own := view.TableOf(s.ID, &s.Public, 1), view.OwnOf(&s, 1)
	fmt.Println(table.You, table.Phase, len(table.Players), own.Self.Role)
	// Output: p1 DAY_SITREP 6 PLATFORMS_VP
}
