package sample

import (
	"embed"
	"io/fs"
)

// World holds the files of the sample world below the folder "world".
//
//go:embed world
var World embed.FS

// Files returns the folder of the sample world, ready for import.
func Files() fs.FS {
	files, err := fs.Sub(World, "world")
	if err != nil {
		panic(err) // cannot happen: "world" is a valid path
	}
	return files
}
