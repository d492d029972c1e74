package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"

	"loregate/internal/app"
)

type eventsCmd struct {
	DeadLetters deadLettersCmd `cmd:"" help:"List the events that their handlers gave up."`
	Replay      replayCmd      `cmd:"" help:"Hand dead letters to their handlers again."`
}

type deadLettersCmd struct {
	common
	listing
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
}

type deadRow struct {
	Event   string    `json:"event"`
	Handler string    `json:"handler"`
	Tries   int       `json:"tries"`
	Since   time.Time `json:"since"`
	Problem string    `json:"problem"`
}

var deadTable = table[deadRow]{"EVENT HANDLER TRIES SINCE PROBLEM", func(d deadRow) []string {
	return []string{d.Event, d.Handler, strconv.Itoa(d.Tries), formatMinute(d.Since), d.Problem}
}}

func (d deadLettersCmd) Run(ctx context.Context, out io.Writer) error {
	return d.withApp(ctx, func(a *app.App) error {
		list, err := a.DeadLetters(ctx, d.World)
		if err != nil {
			return err
		}
		var rows []deadRow
		for _, l := range list {
			rows = append(rows, deadRow{l.Event, l.Handler, l.Attempts, l.At, l.Problem})
		}
		return deadTable.print(out, d.listing, rows)
	})
}

type replayCmd struct {
	common
	Event string `arg:"" optional:"" help:"The event, by its id or the last four characters; default all."`
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
}

func (r replayCmd) Run(ctx context.Context, out io.Writer) error {
	return r.withApp(ctx, func(a *app.App) error {
		n, err := a.ReplayEvents(ctx, r.World, r.Event)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%d handed on again; events dead-letters shows what failed once more\n", n)
		return err
	})
}

type worldResetCmd struct {
	common
	World string `arg:"" help:"The playthrough: a world that was made by fork."`
}

func (w worldResetCmd) Run(ctx context.Context, out io.Writer) error {
	return w.withApp(ctx, func(a *app.App) error {
		receipt, err := a.ResetWorld(ctx, w.World)
		if err != nil {
			return err
		}
		if receipt.Change == uuid.Nil {
			_, err = fmt.Fprintf(out, "%s is as it was made; there was nothing to take back\n", w.World)
			return err
		}
		_, err = fmt.Fprintf(out, "%s is as it was made, by change %s\n", w.World, receipt.Change)
		return err
	})
}
