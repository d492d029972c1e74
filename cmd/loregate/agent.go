package main

import (
	"context"
	"encoding/json"
	"io"

	"loregate/internal/app"
)

type agentCmd struct {
	Ambience agentAmbienceCmd `cmd:"" help:"Propose an ambient layer for a place that has none."`
}

type agentAmbienceCmd struct {
	common
	Location string `help:"Place by name or id. Default: the place where players begin." placeholder:"PLACE"`
	World    string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
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
