package main

import (
	"context"
	"encoding/json"
	"io"

	"loregate/internal/app"
)

type agentCmd struct {
	Ambience agentAmbienceCmd `cmd:"" help:"Give a place an ambient layer, where it has none: read, draft, and propose."`
}

type agentAmbienceCmd struct {
	common
	Location string `help:"Place by name or id; default where players begin." placeholder:"PLACE"`
	World    string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
}

func (c agentAmbienceCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		done, err := a.KeepAmbience(ctx, c.World, c.Location)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(done)
		if err != nil {
			return err
		}
		return printJSON(out, raw)
	})
}
