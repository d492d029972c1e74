package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"loregate/internal/app"
)

type studioSweepCmd struct {
	common
	Unused time.Duration `help:"Leave alone what was asked for within this time." default:"24h"`
	Delete bool          `help:"Take it away. Without this it is only listed."`
}

// minUnused leaves runs on other machines time to record the files that they keep.
const minUnused = time.Hour

func (s studioSweepCmd) Run(ctx context.Context, out io.Writer) error {
	if s.Unused < minUnused {
		return fmt.Errorf("unused: %s is too short; use at least %s", s.Unused, minUnused)
	}
	return s.withApp(ctx, func(a *app.App) error {
		swept, err := a.Studio.Sweep(ctx, s.Unused, !s.Delete)
		for _, f := range swept.Files {
			fmt.Fprintf(out, "%s %9d bytes\n", f.Sum, f.Size)
		}
		if err != nil {
			return err
		}
		did := "could be taken away: repeat with --delete"
		if s.Delete {
			did = "were taken away"
		}
		_, err = fmt.Fprintf(out, "%d files of %d bytes that nothing names %s.\n", len(swept.Files), swept.Bytes, did)
		return err
	})
}
