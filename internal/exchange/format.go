package exchange

import (
	"context"
	"io/fs"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Format describes a format that can be imported. The page docs/import.md is made from it.
type Format struct {
	Name  string // on the command line
	Title string // for people
	// Recognize reports why a source looks like this format, for example "card.json with spec
	// chara_card_v3". It returns "" if the source does not look like it.
	Recognize func(*Peek) string
	// Import imports a folder, or the one file of it that the options name.
	Import func(context.Context, *canon.Canon, access.Grant, fs.FS, Options) (Summary, error)
	Places bool // it contains places: the option Starter applies
	Whole  bool // it brings its own world: Import gets a grant of the operator for no world
	Past   bool // it has older versions: the option History applies
	Page   Page
}

// Page is the documentation of a format: plain sentences for a table.
type Page struct {
	Get     string // how a person gets a file of the format, in sentences
	Example string // a path for the commands
	Maps    string // the parts of the source and the cards that they become
	Lost    string // the parts that are left out or changed
	Sight   string // the rules that decide who sees a card
	Tried   string // real files that were imported; "" if none could be had
}
