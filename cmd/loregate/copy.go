package main

import (
	"context"
	"io"

	"loregate/internal/app"
)

type copyCmd struct {
	Config string `help:"Configuration file." env:"LOREGATE_CONFIG" placeholder:"FILE" type:"existingfile"`
	From   string `help:"Data folder, or postgres://…" required:"" placeholder:"STORE"`
	To     string `help:"Data folder, or postgres://…; empty, or an earlier copy of the same." required:"" placeholder:"STORE"`
}

func (c copyCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := common{Config: c.Config}.loadConfig()
	if err != nil {
		return err
	}
	return app.Copy(ctx, cfg, c.From, c.To, out)
}

type repairCmd struct {
	Config     string `help:"Configuration file." env:"LOREGATE_CONFIG" placeholder:"FILE" type:"existingfile"`
	Data       string `help:"Folder of the store." placeholder:"DIR"`
	AcceptLoss bool   `help:"Go on where something cannot be recovered; without it nothing is changed then."`
}

func (r repairCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := common{Config: r.Config, Data: r.Data}.loadConfig()
	if err != nil {
		return err
	}
	return app.Repair(ctx, cfg, r.AcceptLoss, out)
}

type upgradeCmd struct {
	common
	Yes bool `help:"A database in PostgreSQL is backed up: go on. A data folder is backed up by itself."`
}

func (u upgradeCmd) Run(ctx context.Context, out io.Writer) error {
	cfg, err := u.loadConfig()
	if err != nil {
		return err
	}
	return app.Upgrade(ctx, cfg, u.Yes, out)
}
