package sample

import (
	"embed"
	"io/fs"
)

//go:embed campaign
var campaign embed.FS

// Campaign returns the folder of the sample campaign, The Ninth Train, for campaign.Load. It is
// separate from the sample world: a winter on a mountain railway, played with coc-7e.
func Campaign() fs.FS {
	files, err := fs.Sub(campaign, "campaign")
	if err != nil {
		panic(err) // cannot happen: "campaign" is a valid path
	}
	return files
}
