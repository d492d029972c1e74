package player_test

import (
	"context"
	"testing"

	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/raceenabled"
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
	first, step := 6, 2
	if raceenabled.Detected {
		first, step = 8, 4
	}
	for players := first; players <= rule.MaxSeats; players += step {
		o := simulate(t, player.Simulation{Players: players, AI: players, Seed: 7, Games: 100, Workers: 2})
		t.Logf("%d players\n%s", players, o)
		for _, side := range []rule.Side{rule.Humans, rule.Machine} {
			if n := o.Won[side]; 100*n > 65*o.Games || 100*n < 15*o.Games {
				t.Errorf("%d players: %s won %d of %d", players, side, n, o.Games)
			}
		}
	}
}

func TestTheSameSeedPlaysTheSameGames(t *testing.T) {
	one := simulate(t, player.Simulation{Players: 7, AI: 5, Seed: 3, Games: 12, Workers: 1})
	two := simulate(t, player.Simulation{Players: 7, AI: 5, Seed: 3, Games: 12, Workers: 2})
	other := simulate(t, player.Simulation{Players: 7, AI: 5, Seed: 4, Games: 12, Workers: 2})
	if one.String() != two.String() || one.Digest == other.Digest {
		t.Errorf("seed 3:\n%s%sseed 4:\n%s", one, two, other)
	}
}

// BenchmarkSimulate plays 500 games of eight AI players to their end.
func BenchmarkSimulate(b *testing.B) {
	for b.Loop() {
		o := simulate(b, player.Simulation{Players: 8, AI: 8, Seed: 7, Games: 500, Workers: 2})
		b.ReportMetric(float64(o.Steps)/b.Elapsed().Seconds(), "commands/s")
	}
}
