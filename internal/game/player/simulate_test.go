package player_test

import (
	"context"
	"os"
	"strconv"
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

// At each size of a table the humans' side wins about half of the games, and few are draws. GAMES
// is the number of games; with 500 or more the shares must be those that players are promised.
func TestNeitherSideWinsTooOften(t *testing.T) {
	games, step, least, most, draws := 60, 2, 30, 70, 15
	if raceenabled.Detected {
		games, step = 30, 4
	}
	if n, err := strconv.Atoi(os.Getenv("GAMES")); err == nil {
		games, step = n, 1
	}
	if games >= 500 {
		least, most, draws = 45, 55, 8
	}
	for players := rule.MinSeats; players <= rule.MaxSeats; players += step {
		o := simulate(t, player.Simulation{Players: players, AI: players, Seed: 7, Games: games, Workers: 2})
		t.Logf("%d players: humans win %d, the AI %d of %d", players, o.Won[rule.Humans], o.Won[rule.Machine], games)
		if n := 100 * o.Won[rule.Humans]; n < least*games || n > most*games || 100*o.Won[rule.Draw] > draws*games {
			t.Errorf("%d players\n%s", players, o)
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
