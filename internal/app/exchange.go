package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
)

// ExportMarkdown writes the part of a world that is visible to a role to a folder.
func (a *App) ExportMarkdown(ctx context.Context, world, dir string, role access.Role,
	progress func(done, total int)) (s exchange.Summary, err error) {
	id, err := a.resolveWorld(ctx, world)
	if err != nil {
		return s, err
	}
	err = a.runAsOperator(ctx, id, "export_markdown", access.Read, func(g access.Grant) error {
		s, err = native.Export(ctx, a.Canon, g.As(role.Level()), dir, progress)
		return err
	})
	return s, err
}
