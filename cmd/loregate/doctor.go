package main

import (
	"context"
	"io"
	"time"

	"loregate/internal/app"
)

type doctorCmd struct {
	common
	URL string `help:"Also try a running server, with the key in LOREGATE_KEY."`
}

func (d doctorCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := d.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return app.Doctor(ctx, cfg, versionText(), d.URL, out)
}
