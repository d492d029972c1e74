package exchange

import (
	"context"
	"io/fs"
	"path"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// MarkdownOptions say how a folder of Markdown is taken over or written out. The zero
// value takes a foreign vault over for everyone and writes what the grant sees.
type MarkdownOptions struct {
	// Label names the vault, such as its folder's base name. It stands in derived ids:
	// importing under another label makes other cards.
	Label string
	// Level is the least level that imported cards get; zero is user.
	Level access.Level
	// GMFolders are names of folders, at any depth and compared as names of cards are,
	// whose notes are for the GM. Nil means GMFolders' usual names; an empty list none.
	GMFolders []string
	// Folders says what becomes of a foreign note's folders.
	Folders FolderUse
	// Native reads every file in our own dialect, marked or not.
	Native bool
	// As is the level of the audience to export for; zero is the grant's own view.
	As access.Level
	// Overwrite lets an export replace files that were edited since the last one.
	Overwrite bool
	// Progress, where set, is told of every batch that is done.
	Progress func(done, total int)
}

// FolderUse says what becomes of the folders that foreign notes lie in.
type FolderUse string

// The uses.
const (
	FolderTags  FolderUse = "tags"  // tags of the card; the default
	FolderNames FolderUse = "names" // parts of the card's name
	FolderNone  FolderUse = "none"
)

// ImportMarkdown brings a folder of Markdown into the grant's world: our own dialect, and
// the vaults that other programs keep. What could not be taken over as it stood is in the
// Summary; an error means that the import stopped, and what was committed before stays.
func ImportMarkdown(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o MarkdownOptions) (Summary, error) {
	sum := Summary{DryRun: g.Request().DryRun}
	v, err := readVault(files, o)
	if err != nil {
		return sum, err
	}
	v.index()
	want := newCollection()
	err = c.Look(ctx, g, func(l *canon.Look) error {
		f := &foreign{v: v, c: want, look: l, shown: map[string]access.Level{}}
		x := &native{v: v, c: want}
		return collect(ctx, v, f, x)
	})
	if err != nil {
		return sum, err
	}
	sum.Files, sum.Hidden = len(v.notes), want.hidden
	sum.Problems = append(v.problems, want.problems...)
	for _, n := range v.notes {
		sum.Problems = append(sum.Problems, n.reports...)
	}
	want.settle()
	im := &importer{canon: c, grant: g, c: want, sum: &sum, tell: o.Progress}
	return sum, im.run(ctx)
}

// collect makes cards of all notes.
func collect(ctx context.Context, v *vault, f *foreign, x *native) error {
	strangers := false
	for _, n := range v.notes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.native(n) {
			if err := x.note(n); err != nil {
				return err
			}
			if file := n.text("file"); file != "" {
				f.shown[path.Join(path.Dir(n.path), file)] = access.LevelAdmin
			}
			continue
		}
		strangers = true
		if err := f.note(ctx, n); err != nil {
			return err
		}
	}
	if strangers {
		f.folders()
	}
	f.attachments()
	return nil
}

// ExportMarkdown writes what the grant sees of its world, or what the audience o.As does,
// into a folder: one note a card, in our own dialect, the same bytes for the same canon.
// The folder holds nothing else but files that begin with a dot and what an earlier
// export wrote there, which this one replaces.
func ExportMarkdown(ctx context.Context, c *canon.Canon, g access.Grant, dir string, o MarkdownOptions) (Summary, error) {
	sum := Summary{Export: true}
	out, err := openFolder(dir, o.Overwrite)
	if err != nil {
		return sum, err
	}
	defer out.close()
	err = c.Look(ctx, g, func(l *canon.Look) error {
		view := l
		if o.As != access.LevelNone {
			view = l.As(o.As)
		}
		x := &exporter{look: view, sum: &sum}
		if err := x.gather(ctx); err != nil {
			return err
		}
		if err := x.withheld(ctx, l); err != nil {
			return err
		}
		if err := x.write(ctx, out, o.Progress); err != nil {
			return err
		}
		return out.finish()
	})
	return sum, err
}
