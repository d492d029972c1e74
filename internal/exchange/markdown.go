package exchange

import (
	"context"
	"io/fs"

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

// ImportMarkdown brings a folder of Markdown into the grant's world.
func ImportMarkdown(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o MarkdownOptions) (Summary, error) {
	return Summary{}, nil
}

// ExportMarkdown writes the grant's world into a folder.
func ExportMarkdown(ctx context.Context, c *canon.Canon, g access.Grant, dir string, o MarkdownOptions) (Summary, error) {
	return Summary{}, nil
}
