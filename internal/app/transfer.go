package app

import (
	"context"
	"path/filepath"
	"time"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/unpack"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
	"loregate/internal/transfer"
)

// openTransfer adds the surface with which people import and export files.
func (a *App) openTransfer(o Options) {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	a.Surfaces = append(a.Surfaces, transfer.New(transfer.Config{World: a, Jobs: a.jobs, Now: now,
		Folder: filepath.Join(a.Config.Data, "imports"), Exports: map[string]string{"markdown": "", "lorebook": "",
			"character": "", "table": ".csv", "memory": ".jsonl"}}))
}

// ImportFile imports a file or an archive into the world of a grant.
func (a *App) ImportFile(ctx context.Context, g access.Grant, path string, c transfer.Choices,
	progress func(done, total int)) (s exchange.Summary, err error) {
	level, ok := access.ParseLevel(c.Level)
	if !ok {
		level = access.LevelUser
	}
	o := ImportOptions{Level: level, Progress: progress,
		Vault: vault.Options{Open: c.Open, Confirm: c.Confirm, Links: c.Links, HideLinks: c.HideLinks}}
	err = a.withSource(ctx, path, func(ctx context.Context, src *unpack.Source) (err error) {
		s, err = a.importSent(ctx, g, path, src, c.Format, o)
		return err
	})
	return s, err
}

// importSent imports an open source that a person sent.
func (a *App) importSent(ctx context.Context, g access.Grant, path string, src *unpack.Source, format string,
	o ImportOptions) (s exchange.Summary, err error) {
	name := filepath.Base(path) // errors and reports, which people elsewhere read, name no folder of this machine
	f, found, err := chooseFormat(format, name, src)
	if err != nil {
		return s, err
	}
	if f.Whole {
		return s, fault.New(fault.Rule, "%s brings a world of its own; the operator imports it with loregate import lore",
			f.Title).With("field", "data")
	}
	if err := o.checkFor(f); err != nil {
		return s, err
	}
	s, err = a.importSource(ctx, g, f, name, src, o)
	s.Format = found
	return s, err
}

// ExportFiles writes the part of the world that a role sees to a new file or folder.
func (a *App) ExportFiles(ctx context.Context, g access.Grant, format string, role access.Role, path string) error {
	_, err := a.exportFiles(ctx, g.As(role.Level()), format, path, nil)
	return err
}
