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
	Unused time.Duration `help:"Keep files that were used within this duration." default:"24h"`
	Delete bool          `help:"Delete the files. Without this flag they are only listed."`
}

// minUnused leaves runs on other machines time to record the files that they keep.
const minUnused = time.Hour

func (s studioSweepCmd) Run(ctx context.Context, out io.Writer) error {
	if s.Unused < minUnused {
		return fmt.Errorf("unused: %s is too short; give at least %s", s.Unused, minUnused)
	}
	return s.withApp(ctx, func(a *app.App) error {
		swept, err := a.Studio.Sweep(ctx, s.Unused, !s.Delete)
		for _, f := range swept.Files {
			fmt.Fprintf(out, "%s %9d bytes\n", f.Sum, f.Size)
		}
		if err != nil {
			return err
		}
		did := "can be deleted; repeat with --delete"
		if s.Delete {
			did = "were deleted"
		}
		_, err = fmt.Fprintf(out, "%d unused files of %d bytes %s.\n", len(swept.Files), swept.Bytes, did)
		return err
	})
}
