package main

import (
	"context"
	"io"
	"time"

	"loregate"
	"loregate/internal/app"
)

type doctorCmd struct {
	common
	URL   string `help:"Also check a running server, with the key in LOREGATE_KEY."`
	Ready string `help:"Only ask a running server if it is ready, as a health check does. The store is not opened." placeholder:"URL"`
}

func (d doctorCmd) Run(ctx context.Context, out io.Writer) error {
	if d.Ready != "" {
		return app.AskReady(ctx, d.Ready)
	}
	cfg, err := d.loadConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return app.Doctor(ctx, cfg, loregate.Version(), d.URL, out)
}
