package main

import (
	"context"
	"fmt"
	"io"

	"loregate/internal/access"
	"loregate/internal/app"
)

type importCmd struct {
	common
	Format string `arg:"" help:"markdown: a vault of Markdown notes. turns: a record of play, gzipped JSON lines of {ep, n, names, text}. srd: the 5e rules as JSON files. light: text worlds of LIGHT, JSON. ranvier: areas of the Ranvier engine, YAML." enum:"markdown,turns,srd,light,ranvier"`
	Path   string `arg:"" help:"Folder or file to read."`
	World  string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
	Level  string `help:"Least level of all that comes in: user, gm or admin." enum:"user,gm,admin" default:"user"`
	DryRun bool   `help:"Say what would come in, and change nothing."`
}

func (i importCmd) Run(ctx context.Context, out io.Writer) error {
	level, _ := access.ParseLevel(i.Level) // kong checked it
	return i.with(ctx, func(a *app.App) error {
		if err := a.EnsureWorld(ctx); err != nil {
			return err
		}
		read := a.ImportMarkdown
		switch i.Format {
		case "turns":
			read = a.ImportTurns
		case "srd", "light", "ranvier":
			read = a.ImportSource(i.Format)
		}
		summary, err := read(ctx, i.World, i.Path, level, i.DryRun, progress("importing"))
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(out, summary)
		return err
	})
}

type exportCmd struct {
	common
	Format string `arg:"" help:"markdown: a vault of Markdown notes." enum:"markdown"`
	Path   string `arg:"" help:"Folder to write; made where it is not there, refused where it holds other files."`
	World  string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
	As     string `help:"Whose view to write: user, gm or admin." enum:"user,gm,admin" default:"user"`
}

func (e exportCmd) Run(ctx context.Context, out io.Writer) error {
	role, _ := access.ParseRole(e.As) // kong checked it
	return e.with(ctx, func(a *app.App) error {
		summary, err := a.ExportMarkdown(ctx, e.World, e.Path, role, progress("exporting"))
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(out, summary)
		return err
	})
}
