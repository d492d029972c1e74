package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// sources are the importers of records that others keep, by the name of their format.
var sources = map[string]func(context.Context, *canon.Canon, access.Grant, fs.FS, exchange.SourceOptions) (exchange.Summary, error){
	"srd":     exchange.ImportSRD,
	"light":   exchange.ImportLight,
	"ranvier": exchange.ImportRanvier,
}

// Importer brings what a path holds into a world. level is the least level of what comes in.
type Importer func(ctx context.Context, world, path string, level access.Level, dry bool, progress func(done, total int)) (exchange.Summary, error)

// ImportSource is the importer of records in a format: a folder of files, or one of them.
func (a *App) ImportSource(format string) Importer {
	return func(ctx context.Context, world, path string, level access.Level, dry bool, progress func(done, total int)) (s exchange.Summary, err error) {
		read, ok := sources[format]
		if !ok {
			return s, fmt.Errorf("import: there is no format %q", format)
		}
		id, err := a.world(ctx, world)
		if err != nil {
			return s, err
		}
		root, o, err := openSource(path)
		if err != nil {
			return s, fmt.Errorf("import: %w", err)
		}
		defer root.Close()
		o.Level, o.Progress = level, progress
		err = a.operate(ctx, id, "import_"+format, access.Write, func(g access.Grant) error {
			if dry {
				g = g.Rehearse()
			}
			s, err = read(ctx, a.Canon, g, root.FS(), o)
			return err
		})
		s.DryRun = dry
		return s, err
	}
}

// openSource opens a folder, or the folder of a file. Its name is the label, so that the
// ids are the same for a file alone and among others.
func openSource(path string) (root *os.Root, o exchange.SourceOptions, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, o, err
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, o, err
	}
	if !info.IsDir() {
		o.File = filepath.Base(full)
		full = filepath.Dir(full)
	}
	o.Label = filepath.Base(full)
	root, err = os.OpenRoot(full)
	return root, o, err
}
