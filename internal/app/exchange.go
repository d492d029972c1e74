package app

import (
	"context"
	"errors"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/console"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/bundle"
	"loregate/internal/exchange/graph"
	"loregate/internal/exchange/lorebook"
	"loregate/internal/exchange/native"
	"loregate/internal/exchange/table"
	"loregate/internal/fault"
)

// exporter writes the cards that a grant sees.
type exporter func(ctx context.Context, a *App, g access.Grant, path string, progress func(done, total int)) (
	exchange.Summary, error)

// exporters maps the name of each format that is written to its exporter.
var exporters = map[string]exporter{
	"markdown": func(ctx context.Context, a *App, g access.Grant, path string,
		progress func(done, total int)) (exchange.Summary, error) {
		return native.Export(ctx, a.Canon, g, path, progress)
	},
	"lore": func(ctx context.Context, a *App, g access.Grant, path string,
		progress func(done, total int)) (exchange.Summary, error) {
		return bundle.Export(ctx, a.Canon, g, path, bundle.ExportOptions{Sealer: a.Identity, Progress: progress})
	},
	"lorebook": func(ctx context.Context, a *App, g access.Grant, path string,
		_ func(done, total int)) (exchange.Summary, error) {
		return lorebook.Export(ctx, a.Canon, g, path)
	},
	"table": func(ctx context.Context, a *App, g access.Grant, path string,
		_ func(done, total int)) (exchange.Summary, error) {
		return table.Export(ctx, a.Canon, g, path)
	},
	"site": exportSite,
	"memory": func(ctx context.Context, a *App, g access.Grant, path string,
		_ func(done, total int)) (exchange.Summary, error) {
		return graph.Export(ctx, a.Canon, g, path)
	},
	"character": func(ctx context.Context, a *App, g access.Grant, path string,
		_ func(done, total int)) (exchange.Summary, error) {
		return lorebook.ExportCharacters(ctx, a.Canon, g, path, lorebook.SpecV3)
	},
	"character-v2": func(ctx context.Context, a *App, g access.Grant, path string,
		_ func(done, total int)) (exchange.Summary, error) {
		return lorebook.ExportCharacters(ctx, a.Canon, g, path, lorebook.SpecV2)
	},
}

// ExportNames returns the names of the formats that are written, sorted.
func ExportNames() []string { return decoded.SortedKeys(exporters) }

// Export writes the part of a world that is visible to a role, in the named format.
func (a *App) Export(ctx context.Context, format, world, path string, role access.Role,
	progress func(done, total int)) (s exchange.Summary, err error) {
	if exporters[format] == nil {
		return s, fault.New(fault.Invalid, "export: there is no format %q; the formats are %s", format,
			strings.Join(ExportNames(), ", "))
	}
	id, err := a.resolveWorld(ctx, world)
	if err != nil {
		return s, err
	}
	err = a.runAsOperator(ctx, id, "export_"+format, access.Read, func(g access.Grant) error {
		s, err = a.exportFiles(ctx, g.As(role.Level()), format, path, progress)
		return err
	})
	return s, err
}

// exportFiles writes the cards that a grant sees, in a format of exporters. It reads a standby if the
// settings say so; if that fails on the way, it begins again at the primary. The pages of a site are made by
// operations, whose kept answers must be those of the primary.
func (a *App) exportFiles(ctx context.Context, g access.Grant, format, path string,
	progress func(done, total int)) (exchange.Summary, error) {
	write := exporters[format]
	if a.Config.Standbys && format != "site" {
		s, err := write(canon.LongRead(ctx), a, g, path, progress)
		if fault.KindOf(err) != fault.Unavailable || ctx.Err() != nil {
			return s, err
		}
	}
	return write(ctx, a, g, path, progress)
}

// exportSite writes the reading pages, as the grant's view sees them, as static files.
func exportSite(ctx context.Context, a *App, g access.Grant, dir string, progress func(done, total int)) (
	s exchange.Summary, err error) {
	role, _ := access.ParseRole(g.View().Level.String())
	world, err := a.Canon.World(ctx, g.World())
	if err != nil {
		return s, err
	}
	folder, err := exchange.OpenNewFolder(dir, exchange.ModesFor(g.View().Level))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	s.Export = true
	write := func(name string, data []byte) error {
		s.Files++
		return folder.Write(name, data)
	}
	s.Cards, err = console.WriteSite(ctx, console.SiteConfig{Engine: a.Ops, Caller: g.Caller().Lower(role),
		World: world.Slug, Write: write, Progress: progress,
		LeftOut: func(card, why string) {
			s.Problems = append(s.Problems, exchange.Problem{File: card, Why: why})
		}})
	return s, err
}
