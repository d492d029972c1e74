package bundle_test

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/exchange/bundle"
	"loregate/internal/exchange/exchangetest"
)

func Example() {
	dir, err := os.MkdirTemp("", "lore")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	world, owner := exchangetest.NewWorld()
	name := filepath.Join(dir, "example.lore")
	summary, err := bundle.Export(context.Background(), world, owner, name, bundle.ExportOptions{})
	fmt.Println(summary.Files, err)
	z, err := zip.OpenReader(name)
	if err != nil {
		panic(err)
	}
	defer z.Close()
	for _, entry := range z.File {
		fmt.Println(entry.Name)
	}
	// Output:
	// 1 <nil>
	// manifest.json
	// commits.jsonl
	// contents.bin
}
