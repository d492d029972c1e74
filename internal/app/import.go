package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/fault"
)

// Importing holds the options of an import. A format ignores options that it does not know.
type Importing struct {
	Level    access.Level // minimum level of imported cards
	DryRun   bool
	Starter  string // place where players begin; "" chooses one if the world has none
	Vault    exchange.MarkdownOptions
	Progress func(done, total int)
}

// Importer imports the folder or file at path into a world.
type Importer func(ctx context.Context, world, path string, o Importing) (exchange.Summary, error)

// sourceImporters maps the name of each source format to its importer.
var sourceImporters = map[string]func(context.Context, *canon.Canon, access.Grant, fs.FS, exchange.Options) (exchange.Summary, error){
	"srd":     exchange.ImportSRD,
	"light":   exchange.ImportLight,
	"ranvier": exchange.ImportRanvier,
}

// runImport runs one import as an operation in a world.
func (a *App) runImport(ctx context.Context, world, operation string, dry bool,
	run func(access.Grant) (exchange.Summary, error)) (s exchange.Summary, err error) {
	id, err := a.resolveWorld(ctx, world)
	if err != nil {
		return s, err
	}
	err = a.runAsOperator(ctx, id, operation, access.Write, func(g access.Grant) error {
		if dry {
			g = g.DryRun()
		}
		s, err = run(g)
		return err
	})
	s.DryRun = dry
	return s, err
}

// ImportSource returns the importer for a source format. It reads a folder of files, or one of
// them.
func (a *App) ImportSource(format string) Importer {
	return func(ctx context.Context, world, path string, o Importing) (s exchange.Summary, err error) {
		read, ok := sourceImporters[format]
		if !ok {
			return s, fmt.Errorf("import: there is no format %q", format)
		}
		root, source, err := openSource(path)
		if err != nil {
			return s, err
		}
		defer root.Close()
		source.Level, source.Starter, source.Progress = o.Level, o.Starter, o.Progress
		return a.runImport(ctx, world, "import_"+format, o.DryRun, func(g access.Grant) (exchange.Summary, error) {
			return read(ctx, a.Canon, g, root.FS(), source)
		})
	}
}

// ImportMarkdown imports a vault of Markdown notes into a world.
func (a *App) ImportMarkdown(ctx context.Context, world, path string, o Importing) (s exchange.Summary, err error) {
	root, source, err := openSource(path)
	if err != nil {
		return s, err
	}
	defer root.Close()
	if source.File != "" {
		return s, fault.New(fault.Invalid, "import: %s is a file; name the folder of the vault that it lies in", path)
	}
	vault := o.Vault
	vault.Label, vault.Level, vault.Starter, vault.Progress = source.Label, o.Level, o.Starter, o.Progress
	vault.GMFolders = a.Config.Import.GMFolders
	return a.runImport(ctx, world, "import_markdown", o.DryRun, func(g access.Grant) (exchange.Summary, error) {
		return exchange.ImportMarkdown(ctx, a.Canon, g, root.FS(), vault)
	})
}

// ImportTurns imports a record of play into a world from a file of JSON lines, plain or compressed
// with gzip.
func (a *App) ImportTurns(ctx context.Context, world, file string, o Importing) (s exchange.Summary, err error) {
	f, err := os.Open(file)
	if err != nil {
		return s, explainUnreadable(file, err)
	}
	defer f.Close()
	return a.runImport(ctx, world, "import_turns", o.DryRun, func(g access.Grant) (exchange.Summary, error) {
		return exchange.ImportTurns(ctx, a.Canon, g, f, exchange.Options{Label: filepath.Base(file), Level: o.Level,
			Progress: o.Progress})
	})
}

// openSource opens a folder, or the folder of a file. The folder's name is the label, so a file
// gets the same ids whether it is imported alone or with the rest of its folder.
func openSource(path string) (root *os.Root, o exchange.Options, err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, o, explainUnreadable(path, err)
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, o, explainUnreadable(path, err)
	}
	if !info.IsDir() {
		o.File = filepath.Base(full)
		full = filepath.Dir(full)
	}
	o.Label = filepath.Base(full)
	if root, err = os.OpenRoot(full); err != nil {
		return nil, o, explainUnreadable(path, err)
	}
	return root, o, nil
}

// explainUnreadable returns an error that tells a person why a path cannot be read.
func explainUnreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Invalid, "import: there is nothing at %q; name the file or folder to read", path).Because(err)
	}
	return fault.New(fault.Invalid, "import: %q cannot be read (%v)", path, errors.Unwrap(err)).Because(err)
}
