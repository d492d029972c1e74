package exchange

import (
	"cmp"
	"context"
	"io/fs"
	"path"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// MarkdownOptions say how a folder of Markdown is taken over or written out. The zero
// value takes a foreign vault over for everyone and writes what the grant sees.
type MarkdownOptions struct {
	// Label names the vault, such as its folder's base name. It stands in derived ids:
	// importing under another label makes other cards.
	Label string
	// Level is the least level that imported cards get; zero is user.
	Level access.Level
	// GMFolders are folders whose notes are for the GM besides those that Rules suspect: by
	// path, or by name at any depth and compared as names of cards are. One that is not
	// there is an error.
	GMFolders []string
	// Open and Confirm say what of the suspicions is open after all, and what is secret:
	// by file, by folder, by rule, or by what Hide.What says. Confirm also takes folders
	// and notes that nothing suspects. One that is about nothing is an error.
	Open, Confirm []string
	// HideLinks makes links to hidden notes plain text in what players read.
	HideLinks bool
	// Types are types of cards by a word, over the importer's own table: of a folder, a tag
	// or the front matter's type. A word that nothing bears is an error.
	Types map[string]string
	// Starter is the place where players begin; "" chooses one where the world has none.
	Starter string
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
	if len(v.notes) == 0 {
		return sum, fault.New(fault.Invalid, "the folder holds no Markdown note (*.md); name the folder of the vault itself")
	}
	v.index()
	want := newCollection()
	err = c.Read(ctx, g, func(l *canon.Snapshot) error {
		types, err := newTyper(ctx, l, o.Types)
		if err != nil {
			return err
		}
		f := &foreign{v: v, c: want, look: l, types: types, shown: map[string]access.Level{}}
		x := &native{v: v, c: want}
		if err := collect(ctx, v, f, x); err != nil {
			return err
		}
		sum.Types = types.list()
		return cmp.Or(v.unmatchedFolders(), v.choices.unmatched(), types.unmatched(), want.checkStarter(ctx, l, o.Starter))
	})
	if err != nil {
		return sum, err
	}
	sum.Hides, sum.Mentions = v.choices.list(), v.mentions.list
	sum.Files, sum.Hidden = len(v.notes), want.hidden
	sum.Problems = append(v.problems, want.problems...)
	for _, n := range v.notes {
		sum.Problems = append(sum.Problems, n.reports...)
	}
	want.settle()
	im := &importer{canon: c, grant: g, c: want, sum: &sum, tell: o.Progress}
	if err := im.run(ctx); err != nil || o.Native {
		return sum, err
	}
	return sum, im.startAt(ctx, o.Starter, v.linked)
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
	err = c.Read(ctx, g, func(l *canon.Snapshot) error {
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
