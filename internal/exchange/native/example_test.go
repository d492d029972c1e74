package native_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/native"
)

func Example() {
	ctx := context.Background()
	world, owner := exchangetest.NewWorld()
	_, err := world.Update(ctx, owner, func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Old Mill", Content: "<p>The mill <em>turns</em>.</p>"})
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "export")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	summary, err := native.Export(ctx, world, owner, dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	notes, _ := filepath.Glob(filepath.Join(dir, "*.md"))
	for _, note := range notes {
		fmt.Println(filepath.Base(note))
	}
	// Output:
	// 1 cards in 1 files.
	// Old Mill.md
}
