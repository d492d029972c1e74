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

// MarkdownOptions configure imports and exports of Markdown folders. The zero value imports a
// foreign vault for everyone, and exports all cards that the grant sees.
type MarkdownOptions struct {
	// Label names the vault, for example by its folder's base name. Card ids are derived from it:
	// importing under another label creates other cards.
	Label string
	// Level is the minimum level of imported cards; zero means user.
	Level access.Level
	// GMFolders are folders whose notes are for the GM, in addition to those found by Rules. A
	// folder is named by its path, or by its base name at any depth; base names are compared as
	// card names are. It is an error to name a folder that does not exist.
	GMFolders []string
	// Open and Confirm decide suspicions: Open makes them visible, Confirm keeps them secret. They
	// name a file, a folder, a rule, or a mark as in Hide. Confirm also accepts folders and notes
	// that are not suspected. It is an error if an item matches nothing.
	Open, Confirm []string
	// HideLinks turns links to hidden notes into plain text in texts that players read.
	HideLinks bool
	// Types maps words to card types and overrides the importer's own table. A word may be a
	// folder, a tag or the type in front matter. It is an error if a word matches nothing.
	Types map[string]string
	// Starter is the place where players begin. If it is "" and the world has no starter, the
	// import chooses one.
	Starter string
	// Folders selects the use of a foreign note's folders.
	Folders FolderUse
	// Native reads every file in our own dialect, even without the key loregate.
	Native bool
	// As is the level of the export's audience; zero means the grant's own view.
	As access.Level
	// Overwrite lets an export replace files that were edited since the last one.
	Overwrite bool
	// Progress, if set, is called after every batch.
	Progress func(done, total int)
}

// FolderUse selects the use of the folders of foreign notes.
type FolderUse string

// The values of FolderUse.
const (
	FolderTags  FolderUse = "tags"  // tags of the card; the default
	FolderNames FolderUse = "names" // parts of the card's name
	FolderNone  FolderUse = "none"
)

// ImportMarkdown imports a folder of Markdown into the grant's world. It reads our own dialect and
// the vaults of other programs. The Summary reports everything that could not be imported
// unchanged. If the import stops with an error, the parts committed before it remain.
func ImportMarkdown(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o MarkdownOptions) (Summary, error) {
	sum := Summary{DryRun: g.Request().DryRun}
	v, err := readVault(files, o)
	if err != nil {
		return sum, err
	}
	if len(v.notes) == 0 {
		return sum, fault.New(fault.Invalid, "the folder holds no Markdown note (*.md); name the folder of the vault itself")
	}
	v.indexNotes()
	want := newCollection()
	err = c.Read(ctx, g, func(l *canon.Snapshot) error {
		types, err := newTyper(ctx, l, o.Types)
		if err != nil {
			return err
		}
		f := &foreignReader{v: v, c: want, snapshot: l, types: types, shown: map[string]access.Level{}}
		x := &nativeReader{v: v, c: want}
		if err := collectNotes(ctx, v, f, x); err != nil {
			return err
		}
		sum.Types = types.listUses()
		return cmp.Or(v.checkUnusedFolders(), v.choices.checkUnusedChoices(), types.checkUnusedWords(),
			want.checkStarter(ctx, l, o.Starter))
	})
	if err != nil {
		return sum, err
	}
	sum.Hides, sum.Mentions = v.choices.listHides(), v.mentions.list
	sum.Files, sum.Hidden = len(v.notes), want.hidden
	sum.Problems = append(v.problems, want.problems...)
	for _, n := range v.notes {
		sum.Problems = append(sum.Problems, n.reports...)
	}
	want.arrangeSheets()
	im := &importer{canon: c, grant: g, c: want, sum: &sum, tell: o.Progress}
	if err := im.run(ctx); err != nil || o.Native {
		return sum, err
	}
	return sum, im.setStarter(ctx, o.Starter, v.linked)
}

// collectNotes adds the cards of all notes, folders and attachments.
func collectNotes(ctx context.Context, v *vault, f *foreignReader, x *nativeReader) error {
	strangers := false
	for _, n := range v.notes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.isNative(n) {
			if err := x.addNote(n); err != nil {
				return err
			}
			if file := n.metaText("file"); file != "" {
				f.shown[path.Join(path.Dir(n.path), file)] = access.LevelAdmin
			}
			continue
		}
		strangers = true
		if err := f.addNote(ctx, n); err != nil {
			return err
		}
	}
	if strangers {
		f.addFolders()
	}
	f.addAttachments()
	return nil
}

// ExportMarkdown writes the cards that the grant sees, or that the audience o.As sees, into a
// folder: one note per card, in our own dialect. The same canon gives the same bytes. The folder
// may hold only files whose names begin with a dot and the files of an earlier export, which are
// replaced.
func ExportMarkdown(ctx context.Context, c *canon.Canon, g access.Grant, dir string,
	o MarkdownOptions) (Summary, error) {
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
		x := &exporter{snapshot: view, sum: &sum}
		if err := x.loadWorld(ctx); err != nil {
			return err
		}
		if err := x.countWithheld(ctx, l); err != nil {
			return err
		}
		if err := x.writePages(ctx, out, o.Progress); err != nil {
			return err
		}
		return out.finishExport()
	})
	return sum, err
}
