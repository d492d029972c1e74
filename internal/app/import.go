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
	"loregate/internal/exchange/light"
	"loregate/internal/exchange/ranvier"
	"loregate/internal/exchange/srd"
	"loregate/internal/exchange/turns"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
)

// ImportOptions holds the options of an import. A format ignores options that it does not know.
type ImportOptions struct {
	Level    access.Level // minimum level of imported cards
	DryRun   bool
	Starter  string // place where players begin; "" chooses one if the world has none
	Vault    vault.Options
	Progress func(done, total int)
}

// importer imports the folder or file at path with a grant.
type importer func(ctx context.Context, g access.Grant, path string, o ImportOptions) (exchange.Summary, error)

// importers maps the name of each format to its importer.
func (a *App) importers() map[string]importer {
	return map[string]importer{
		"markdown": a.importVault,
		"turns":    a.importTurns,
		"srd":      a.importFiles(srd.Import),
		"light":    a.importFiles(light.Import),
		"ranvier":  a.importFiles(ranvier.Import),
	}
}

// Import imports the folder or file at path, which is in the named format, into a world.
func (a *App) Import(ctx context.Context, format, world, path string, o ImportOptions) (s exchange.Summary, err error) {
	read, ok := a.importers()[format]
	if !ok {
		return s, fmt.Errorf("import: there is no format %q", format)
	}
	if _, err := os.Stat(path); err != nil {
		return s, explainUnreadable(path, err)
	}
	id, err := a.resolveWorld(ctx, world)
	if err != nil {
		return s, err
	}
	err = a.runAsOperator(ctx, id, "import_"+format, access.Write, func(g access.Grant) error {
		if o.DryRun {
			g = g.DryRun()
		}
		s, err = read(ctx, g, path, o)
		return err
	})
	s.DryRun = o.DryRun
	return s, err
}

// importFiles returns the importer of a format that reads a folder of files, or one of them.
func (a *App) importFiles(read func(context.Context, *canon.Canon, access.Grant, fs.FS,
	exchange.Options) (exchange.Summary, error)) importer {
	return func(ctx context.Context, g access.Grant, path string, o ImportOptions) (s exchange.Summary, err error) {
		root, source, err := openSource(path, o)
		if err != nil {
			return s, err
		}
		defer root.Close()
		return read(ctx, a.Canon, g, root.FS(), source)
	}
}

// importVault imports a vault of Markdown notes.
func (a *App) importVault(ctx context.Context, g access.Grant, path string, o ImportOptions) (s exchange.Summary,
	err error) {
	root, source, err := openSource(path, o)
	if err != nil {
		return s, err
	}
	defer root.Close()
	if source.File != "" {
		return s, fault.New(fault.Invalid, "import: %s is a file; name the folder of its vault", path)
	}
	o.Vault.Options, o.Vault.GMFolders = source, a.Config.Import.GMFolders
	return vault.Import(ctx, a.Canon, g, root.FS(), o.Vault)
}

// importTurns imports a record of play from a file of JSON lines, plain or compressed with gzip.
func (a *App) importTurns(ctx context.Context, g access.Grant, file string, o ImportOptions) (s exchange.Summary,
	err error) {
	f, err := os.Open(file)
	if err != nil {
		return s, explainUnreadable(file, err)
	}
	defer f.Close()
	return turns.Import(ctx, a.Canon, g, f, exchange.Options{Label: filepath.Base(file), Level: o.Level,
		Progress: o.Progress})
}

// openSource opens a folder, or the folder of a file. The folder's name is the label, so a file
// gets the same ids whether it is imported alone or with the rest of its folder.
func openSource(path string, from ImportOptions) (root *os.Root, o exchange.Options, err error) {
	o = exchange.Options{Level: from.Level, Starter: from.Starter, Progress: from.Progress}
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
		return fault.New(fault.Invalid, "import: %q does not exist; give a file or folder", path).Because(err)
	}
	return fault.New(fault.Invalid, "import: %q cannot be read (%v)", path, errors.Unwrap(err)).Because(err)
}
