package player_test

import (
	"context"
	"testing"

	"loregate/internal/game/player"
	"loregate/internal/game/rule"
)

func simulate(t testing.TB, c player.Simulation) player.Outcome {
	t.Helper()
	o, err := player.Simulate(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Broken) > 0 {
		t.Fatalf("broken rules: %v", o.Broken[:min(3, len(o.Broken))])
	}
	return o
}

func TestNeitherSideWinsTooOften(t *testing.T) {
	for players := rule.MinSeats; players <= rule.MaxSeats; players++ {
		o := simulate(t, player.Simulation{Players: players, AI: players, Seed: 7, Games: 200, Workers: 2})
		t.Logf("%d players\n%s", players, o)
		for _, side := range []rule.Side{rule.Humans, rule.Machine} {
			if n := o.Won[side]; 100*n > 65*o.Games || 100*n < 15*o.Games {
				t.Errorf("%d players: %s won %d of %d", players, side, n, o.Games)
			}
		}
	}
}
