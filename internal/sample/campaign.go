package sample

import (
	"embed"
	"io/fs"
)

//go:embed campaign
var campaign embed.FS

// Campaign is the sample campaign, The Ninth Train, as a folder that campaign.Load takes.
// It is a world of its own: a winter on a mountain railway, told with coc-7e.
func Campaign() fs.FS {
	files, err := fs.Sub(campaign, "campaign")
	if err != nil {
		panic(err) // "campaign" is a valid name
	}
	return files
}
