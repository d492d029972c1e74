package faction_test

import (
	"fmt"

	"loregate/internal/canon"
	"loregate/internal/world/faction"
)

func ExampleSimulate() {
	club := &faction.Faction{ID: canon.CardID{1}, Name: "The Club", Goals: []faction.Goal{{Name: "win the market"}},
		Resources: 9, Influence: 40, Relations: map[canon.CardID]int{}}
	for _, s := range faction.Simulate([]*faction.Faction{club}, 3, 1) {
		fmt.Println(s.N, s.Act, s.Goals[0].Progress, s.Resources)
	}
	// Output:
	// 1 pursue 7 6
	// 2 pursue 14 3
	// 3 pursue 26 0
}
