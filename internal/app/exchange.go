package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/exchange"
)

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
