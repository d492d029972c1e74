package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/access"
	"loregate/internal/exchange"
)

// ImportMarkdown brings a vault of Markdown notes into a world. level is the least level
// of what comes in.
func (a *App) ImportMarkdown(ctx context.Context, world, dir string, level access.Level, dry bool, progress func(done, total int)) (s exchange.Summary, err error) {
	id, err := a.world(ctx, world)
	if err != nil {
		return s, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, fmt.Errorf("import: %w", err)
	}
	defer root.Close()
	full, err := filepath.Abs(dir)
	if err != nil {
		return s, err
	}
	err = a.operate(ctx, id, "import_markdown", access.Write, func(g access.Grant) error {
		if dry {
			g = g.Rehearse()
		}
		s, err = exchange.ImportMarkdown(ctx, a.Canon, g, root.FS(), exchange.MarkdownOptions{
			Label: filepath.Base(full), Level: level, GMFolders: a.Config.Import.GMFolders, Progress: progress})
		return err
	})
	s.DryRun = dry
	return s, err
}

// ExportMarkdown writes what a role sees of a world to a folder.
func (a *App) ExportMarkdown(ctx context.Context, world, dir string, role access.Role, progress func(done, total int)) (s exchange.Summary, err error) {
	id, err := a.world(ctx, world)
	if err != nil {
		return s, err
	}
	err = a.operate(ctx, id, "export_markdown", access.Read, func(g access.Grant) error {
		s, err = exchange.ExportMarkdown(ctx, a.Canon, g.As(role.Level()), dir, exchange.MarkdownOptions{Progress: progress})
		return err
	})
	return s, err
}

// ImportTurns brings a record of play into a world, from a file of JSON lines, plain or
// packed with gzip.
func (a *App) ImportTurns(ctx context.Context, world, file string, level access.Level, dry bool, progress func(done, total int)) (s exchange.Summary, err error) {
	id, err := a.world(ctx, world)
	if err != nil {
		return s, err
	}
	f, err := os.Open(file)
	if err != nil {
		return s, fmt.Errorf("import: %w", err)
	}
	defer f.Close()
	err = a.operate(ctx, id, "import_turns", access.Write, func(g access.Grant) error {
		if dry {
			g = g.Rehearse()
		}
		s, err = exchange.ImportTurns(ctx, a.Canon, g, f, exchange.TurnsOptions{Label: filepath.Base(file), Level: level, Progress: progress})
		return err
	})
	s.DryRun = dry
	return s, err
}
