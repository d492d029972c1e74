package play

import (
	"testing"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

func TestCostsByCondition(t *testing.T) {
	for _, test := range []struct {
		verb   command.Verb
		travel int64
		state  condition
		want   int64
	}{
		{command.Move, 0, condition{}, 60_000}, {command.Flee, 0, condition{}, 60_000}, {command.Look, 0, condition{}, 5_000},
		{command.Examine, 0, condition{}, 30_000},
		{command.Attack, 0, condition{}, 6_000}, {command.Rest, 0, condition{}, 8 * world.Hour},
		{command.Talk, 0, condition{}, 60_000},
		{command.Move, 120_000, condition{}, 120_000},
		{command.Move, 0, condition{terrain: "dense-forest"}, 90_000},
		{command.Move, 120_000, condition{terrain: "dense-forest"}, 120_000}, {command.Move, 0, condition{load: 20}, 60_000},
		{command.Move, 0, condition{load: 30}, 72_000}, {command.Move, 0, condition{load: 1 << 40}, 120_000},
		{command.Move, 0, condition{wounds: 3, terrain: "hilltop"}, 93_000},
		{command.Attack, 0, condition{wounds: 2, load: 500}, 7_200}, {command.Rest, 0, condition{wounds: 9}, 8 * world.Hour},
		{command.Move, 1 << 60, condition{}, maxTravel},
	} {
		if got := costOf(test.verb, test.travel, test.state); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
