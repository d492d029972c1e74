package sample

import (
	"embed"
	"io/fs"
)

// World holds the files of the sample world below the folder "world".
//
//go:embed world
var World embed.FS

//go:embed campaign
var campaign embed.FS

// Files returns the folder of the sample world, ready for import.
func Files() fs.FS { return openFolder(World, "world") }

// Campaign returns the folder of the sample campaign, The Ninth Train, for campaign.Load. It is
// separate from the sample world: a winter on a mountain railway, played with coc-7e.
func Campaign() fs.FS { return openFolder(campaign, "campaign") }

func openFolder(in embed.FS, name string) fs.FS {
	files, err := fs.Sub(in, name)
	if err != nil {
		panic(err) // cannot happen: the names above are valid paths
	}
	return files
}
