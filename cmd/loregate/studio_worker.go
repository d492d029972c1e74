package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"loregate/internal/app"
	"loregate/internal/studio"
)

type studioWorkerCmd struct {
	common
	Target []string      `help:"Kinds of targets whose runs to execute. Default: all configured kinds." placeholder:"KIND"`
	Lease  time.Duration `help:"Time after which another worker takes over the run of a worker that died." default:"15s"`
}

// minLease leaves a worker time to renew its lease if the store is slow.
const minLease = 2 * time.Second

func (w studioWorkerCmd) Run(ctx context.Context, _ io.Writer) error {
	if w.Lease < minLease {
		return fmt.Errorf("lease: %s is too short; give at least %s", w.Lease, minLease)
	}
	return w.withApp(ctx, func(a *app.App) error {
		kinds := a.Studio.Kinds()
		for _, k := range w.Target {
			if !strings.Contains(" "+strings.Join(kinds, " ")+" ", " "+k+" ") {
				return errors.New("target: there is no " + k + " here; there is " + strings.Join(kinds, ", "))
			}
		}
		if len(w.Target) > 0 {
			kinds = w.Target
		}
		fmt.Fprintln(os.Stderr, "Loregate executes runs for", strings.Join(kinds, ", "))
		return a.Work(ctx, studio.Worker{Kinds: kinds, Lease: w.Lease})
	})
}

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
