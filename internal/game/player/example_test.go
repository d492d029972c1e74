package player_test

import (
	"context"
	"fmt"

	"loregate/internal/game/player"
)

// The same seed plays the same games, on every machine and with any number of workers.
func ExampleSimulate() {
	games := player.Simulation{Players: 6, AI: 6, Seed: 1, Games: 4}
	one, err := player.Simulate(context.Background(), games)
	if err != nil {
		fmt.Println(err)
		return
	}
	games.Workers = 2
	two, err := player.Simulate(context.Background(), games)
	fmt.Println(one.Games, one.Broken, one.Digest == two.Digest, err)
	// Output: 4 [] true <nil>
}
