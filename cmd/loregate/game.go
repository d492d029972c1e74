package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"loregate/internal/fault"
	"loregate/internal/game/player"
)

type gameCmd struct {
	Simulate simulateCmd `cmd:"" help:"Simulate games of Alignment with AI players, and print the winners."`
}

// simulateCmd plays games in this process. It does not open a store.
type simulateCmd struct {
	Players int    `help:"Number of players, 6 to 10." default:"8"`
	AI      int    `help:"Number of AI players. The other players do nothing." name:"ai" default:"8"`
	Seed    uint64 `help:"Seed of the random numbers. The same seed plays the same games." default:"1"`
	Games   int    `help:"Number of games." default:"100"`
}

func (c simulateCmd) Run(ctx context.Context, out io.Writer) error {
	o, err := player.Simulate(ctx, player.Simulation{Players: c.Players, AI: c.AI, Seed: c.Seed, Games: c.Games,
		Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return fault.New(fault.Invalid, "%v", err)
	}
	if _, err := io.WriteString(out, o.String()); err != nil {
		return err
	}
	if n := len(o.Broken); n > 0 {
		return fmt.Errorf("%d games broke a rule", n)
	}
	return nil
}
