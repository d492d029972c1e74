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
	DeadLetters deadLettersCmd `cmd:"" help:"List the dead letters: events whose handlers failed too often."`
	Replay      replayCmd      `cmd:"" help:"Deliver dead letters to their handlers again."`
}

type deadLettersCmd struct {
	common
	listing
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
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
	return d.withStore(ctx, func(a *app.App) error {
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
	Event string `arg:"" optional:"" help:"The event, by its id or the last four characters of it. Default: all events."`
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

func (r replayCmd) Run(ctx context.Context, out io.Writer) error {
	return r.withStore(ctx, func(a *app.App) error {
		n, err := a.ReplayEvents(ctx, r.World, r.Event)
		return printResult(out, err, "%d delivered again; loregate events dead-letters lists those that failed once more\n", n)
	})
}

type worldResetCmd struct {
	common
	World string `arg:"" help:"The playthrough: a world that was created by world fork."`
}

func (w worldResetCmd) Run(ctx context.Context, out io.Writer) error {
	return w.withStore(ctx, func(a *app.App) error {
		receipt, err := a.ResetWorld(ctx, w.World)
		if err != nil {
			return err
		}
		if receipt.Change == uuid.Nil {
			_, err = fmt.Fprintf(out, "%s is already as it was created; nothing was changed\n", w.World)
			return err
		}
		_, err = fmt.Fprintf(out, "%s is again as it was created; the change is %s\n", w.World, receipt.Change)
		return err
	})
}
