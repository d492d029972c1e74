package sample_test

import (
	"fmt"
	"io/fs"

	"loregate/internal/sample"
)

// The sample world is a folder of Markdown files, each with the visibility of its card.
func ExampleFiles() {
	file, err := fs.ReadFile(sample.Files(), "items/the-lot-urn.gm.md")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.48s\n", file)
	// Output:
	// ---
	// name: The Lot Urn+GM
	// ---
	// It isn't fair. Slip
}
