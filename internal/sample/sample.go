// Package sample holds the sample world: Lendwater, the town on rented land.
//
// It is text only, one card a file, in the native Markdown dialect that package exchange
// reads. What may see what of it is said in the files.
package sample

import (
	"embed"
	"io/fs"
)

// World holds the files of the sample world below the folder "world".
//
//go:embed world
var World embed.FS

// Files is the sample world as a folder of its own, as an import takes it.
func Files() fs.FS {
	files, err := fs.Sub(World, "world")
	if err != nil {
		panic(err) // "world" is a valid name
	}
	return files
}
