package main

import (
	"context"
	"io"

	"loregate/internal/app"
)

type copyCmd struct {
	Config string `help:"Configuration file." env:"LOREGATE_CONFIG" placeholder:"FILE"`
	From   string `help:"Data folder, or postgres://…" required:"" placeholder:"STORE"`
	To     string `help:"Data folder, or postgres://… It must be empty, or an earlier copy of the same store." required:"" placeholder:"STORE"`

	Worlds []string `help:"Copy only these worlds, by slug or UUID, or all whose chains of commits are whole (whole). The source may be damaged." placeholder:"WORLD,…|whole"`
}

func (c copyCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := common{Config: c.Config}.loadConfig()
	if err != nil {
		return err
	}
	return app.Copy(ctx, cfg, c.From, c.To, c.Worlds, out)
}

type filesCmd struct {
	Copy filesCopyCmd `cmd:"" help:"Copy the files that the studio made to another folder or bucket, and verify them."`
}

type filesCopyCmd struct {
	common
	From string `help:"Data folder, or s3://bucket/prefix." required:"" placeholder:"PLACE"`
	To   string `help:"Data folder, or s3://bucket/prefix. Files that are already there are not copied again." required:"" placeholder:"PLACE"`
}

func (c filesCopyCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := c.loadConfig()
	if err != nil {
		return err
	}
	all, copied, err := app.CopyFiles(ctx, cfg, c.From, c.To)
	return printResult(out, err, "%d files, %d of them copied\n", all, copied)
}

type repairCmd struct {
	Config   string `help:"Configuration file." env:"LOREGATE_CONFIG" placeholder:"FILE"`
	Data     string `help:"Folder of the store." placeholder:"DIR"`
	Database string `help:"PostgreSQL database, in which worlds named with --world are repaired." placeholder:"postgres://…"`

	World      []string `help:"Worlds that lack commits, by slug or UUID. Each is begun anew after its last whole commit, by a commit that records the loss and keeps the cards." placeholder:"WORLD"`
	AcceptLoss bool     `help:"Repair even if some data cannot be recovered. Without this flag nothing is changed in that case."`
}

func (r repairCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := common{Config: r.Config, Data: r.Data, Database: r.Database}.loadConfig()
	if err != nil {
		return err
	}
	return app.Repair(ctx, cfg, r.World, r.AcceptLoss, out)
}

type upgradeCmd struct {
	common
	Yes bool `help:"Confirm that you have a backup of the PostgreSQL database. A data folder is backed up automatically."`
}

func (u upgradeCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := u.loadConfig()
	if err != nil {
		return err
	}
	return app.Upgrade(ctx, cfg, u.Yes, out)
}
