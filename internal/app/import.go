package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/bound"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/bundle"
	"loregate/internal/exchange/turns"
	"loregate/internal/exchange/unpack"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
)

// ImportOptions holds the options of an import. An option without effect in the source's format is refused.
type ImportOptions struct {
	Level    access.Level // minimum level of imported cards
	DryRun   bool
	History  bool   // import older versions too
	Plan     string // the hash of the dry run that the import must repeat exactly; "" binds it to none
	Starter  string // place where players begin; "" chooses one if the world has none
	Vault    vault.Options
	Progress func(done, total int) `json:"-"`
}

// Import imports the folder, file or archive at path into a world. If format is "", the source is
// recognized by its files. A source that is recognized as another format than the named one is
// refused.
func (a *App) Import(ctx context.Context, format, world, path string, o ImportOptions) (s exchange.Summary,
	err error) {
	err = a.withSource(ctx, path, func(ctx context.Context, src *unpack.Source) (err error) {
		s, err = a.importOpen(ctx, format, world, path, src, o)
		return err
	})
	return s, err
}

// unpackedBytes is the size of all unpacked files of a process, on its disk.
const unpackedBytes = 4 << 30

// withSource opens the source of an import and calls work with it, within the budget of its size.
func (a *App) withSource(ctx context.Context, path string,
	work func(context.Context, *unpack.Source) error) (err error) {
	src, err := unpack.Open(ctx, path, unpack.Limits{Space: a.unpacked})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	return a.imports.Run(ctx, bound.BudgetOf(src.Size), "import: "+filepath.Base(path),
		func(ctx context.Context) error {
			src.Guard(ctx)
			return work(ctx, src)
		})
}

// importOpen imports an open source.
func (a *App) importOpen(ctx context.Context, format, world, path string, src *unpack.Source,
	o ImportOptions) (s exchange.Summary, err error) {
	f, found, err := chooseFormat(format, path, src)
	if err == nil {
		err = o.checkFor(f)
	}
	if err != nil {
		return s, err
	}
	id, err := a.targetWorld(ctx, f, world)
	if err != nil {
		return s, err
	}
	plan, err := a.checkImportPlan(ctx, f, id, src, o)
	if err != nil {
		return s, err
	}
	switch isFirst := id.IsZero() && !f.Whole; {
	case isFirst && o.DryRun:
		s, err = a.dryRunFirst(ctx, f, path, src, o)
	case isFirst:
		s, err = a.importFirst(ctx, f, path, src, o)
	default:
		s, err = a.importInto(ctx, id, f, path, src, o)
	}
	s.DryRun, s.Format, s.Plan = o.DryRun, found, plan
	return s, err
}

// checkFor refuses options that a format does not use.
func (o ImportOptions) checkFor(f exchange.Format) error {
	v := o.Vault
	switch {
	case f.Name != "markdown" && (len(v.Types)+len(v.Links) > 0 || v.HideLinks || v.Prune || v.AllFiles || v.Vault != "" ||
		v.Folders == vault.FolderNames || v.Folders == vault.FolderNone):
		return fault.New(fault.Invalid, "import: --link, --hide-links, --types, --folders, --vault, --prune and --all-files work "+
			"only with markdown; leave them out for %s", f.Name)
	case f.Whole && len(v.Open)+len(v.Confirm) > 0:
		return fault.New(fault.Invalid,
			"import: %s says who sees each card, so --open and --confirm have no effect; leave them out", f.Name)
	case !f.Past && o.History:
		return fault.New(fault.Invalid, "import: %s has no older versions, so --history has no effect; leave it out",
			f.Name)
	case !f.Places && o.Starter != "":
		return fault.New(fault.Invalid,
			"import: %s contains no places; set the starter location with: loregate world configure WORLD "+
				"--starter-location PLACE", f.Name)
	}
	return nil
}

// importInto imports an open source into a world.
func (a *App) importInto(ctx context.Context, w access.WorldID, f exchange.Format, path string, src *unpack.Source,
	o ImportOptions) (s exchange.Summary, err error) {
	r := access.Request{Operation: "import_" + f.Name, Effect: access.Write, Operator: true, World: w,
		IdempotencyKey: uuid.Must(uuid.NewV7()).String()} // with which commits are repeated after an outage
	err = a.WithGrant(ctx, Operator(), r, func(g access.Grant) error {
		if o.DryRun {
			g = g.DryRun()
		}
		s, err = a.importSource(ctx, g, f, path, src, o)
		return err
	})
	return s, err
}

// importFirst creates the first world of an empty store and imports an open source into it.
func (a *App) importFirst(ctx context.Context, f exchange.Format, path string, src *unpack.Source,
	o ImportOptions) (s exchange.Summary, err error) {
	if err := a.EnsureWorld(ctx); err != nil {
		return s, err
	}
	id, err := a.resolveWorld(ctx, FirstWorld)
	if err != nil {
		return s, err
	}
	return a.importInto(ctx, id, f, path, src, o)
}

// dryRunFirst is importFirst in an empty store of its own, so that this one stays empty.
func (a *App) dryRunFirst(ctx context.Context, f exchange.Format, path string, src *unpack.Source,
	o ImportOptions) (s exchange.Summary, err error) {
	dir, err := os.MkdirTemp("", "loregate-dry-run")
	if err != nil {
		return s, fmt.Errorf("dry run: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := LoadConfig("", nil)
	if err != nil {
		return s, err
	}
	c.Data, c.Import = dir, a.Config.Import
	other, err := Open(ctx, c, Options{Version: a.Version, Now: a.now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return s, err
	}
	defer other.Close(context.WithoutCancel(ctx))
	return other.importFirst(ctx, f, path, src, o)
}

// targetWorld returns the world to import into. It is the zero id if the format brings its own or if
// there is no world yet.
func (a *App) targetWorld(ctx context.Context, f exchange.Format, name string) (access.WorldID, error) {
	if f.Whole {
		if name != "" {
			return access.WorldID{}, fault.BadField("world",
				"%s brings its own world; leave out --world and LOREGATE_WORLD", f.Title)
		}
		return access.WorldID{}, nil
	}
	if all, err := a.Canon.Worlds(ctx); err != nil || len(all) == 0 && (name == "" || name == FirstWorld) {
		return access.WorldID{}, err
	}
	return a.resolveWorld(ctx, name)
}

// chooseFormat returns the named format, or the recognized one and a sentence about it.
func chooseFormat(name, path string, src *unpack.Source) (f exchange.Format, found string, err error) {
	p := exchange.NewPeek(src.Files, src.File)
	if name == "" {
		f, why := recognizeFormat(p)
		if why == "" {
			return f, "", unknownSource(p, path)
		}
		return f, f.Title + ", because " + why, nil
	}
	f, ok := FormatNamed(name)
	if !ok {
		return f, "", fault.New(fault.Invalid, "import: there is no format %q; the formats are %s", name,
			strings.Join(FormatNames(), ", "))
	}
	if f.Recognize(p) == "" {
		if other, why := recognizeFormat(p); why != "" && other.Name != "markdown" {
			return f, "", fault.New(fault.Invalid, "import: %q is not in the format %s; it looks like %s, because %s: "+
				"use loregate import %s", path, name, other.Title, why, other.Name)
		}
	}
	return f, "", nil
}

// importSource imports an open source in a format.
func (a *App) importSource(ctx context.Context, g access.Grant, f exchange.Format, path string, src *unpack.Source,
	o ImportOptions) (s exchange.Summary, err error) {
	texts, err := a.unpacked.NewFile()
	if err != nil {
		return exchange.Summary{}, err
	}
	defer func() { err = errors.Join(err, texts.Close()) }()
	step := canon.Step{Kind: canon.KindImport, Source: cmp.Or(src.File, src.Label, filepath.Base(path)), Format: f.Name}
	err = a.Canon.MakeStep(ctx, g, step, o.Level, func() (err error) {
		s, err = a.importFormat(ctx, g, f, path, src, exchange.NewShelf(texts), o)
		return err
	})
	return s, err
}

// importFormat reads an open source in a format.
func (a *App) importFormat(ctx context.Context, g access.Grant, f exchange.Format, path string, src *unpack.Source,
	shelf *exchange.Shelf, o ImportOptions) (exchange.Summary, error) {
	source := exchange.Options{Shelf: shelf, Label: src.Label, File: src.File, Level: o.Level,
		Starter:  o.Starter,
		Progress: o.Progress, History: o.History,
		Open: o.Vault.Open, Confirm: o.Vault.Confirm}
	switch f.Name {
	case "markdown":
		if source.File != "" {
			return exchange.Summary{}, fault.New(fault.Invalid,
				"import: %s is a single file; give the folder of its vault, or a zip of it", path)
		}
		o.Vault.Options, o.Vault.GMFolders = source, a.Config.Import.GMFolders
		return vault.Import(ctx, a.Canon, g, src.Files, o.Vault)
	case "lore":
		return bundle.Import(ctx, a.Canon, g, src.Files, bundle.ImportOptions{Options: source, Sealer: a.Identity})
	case "turns":
		return a.importTurns(ctx, g, path, src.Files, source)
	}
	return f.Import(ctx, a.Canon, g, src.Files, source)
}

// importTurns imports a record of play from the file of JSON lines in a source at path.
func (a *App) importTurns(ctx context.Context, g access.Grant, path string, files fs.FS,
	o exchange.Options) (s exchange.Summary, err error) {
	name := findTurns(exchange.NewPeek(files, o.File))
	f, err := files.Open(cmp.Or(name, o.File, "."))
	if err != nil {
		return s, fault.New(fault.Invalid, "import: %q cannot be read", name).Because(err)
	}
	defer f.Close()
	o.Label = filepath.Base(path)
	return turns.Import(ctx, a.Canon, g, f, o)
}
