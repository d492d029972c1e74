package srd_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/srd"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{
		"5e-SRD-Spells.json": {Data: []byte(`[{"index": "light", "name": "Light", "desc": ["A glow."]}]`)},
	}
	summary, err := srd.Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 1 cards created, 0 updated, 0 unchanged, 1 lists of tags.
	// Players see 1 of these cards; 0 are for the GM, 0 for admins.
}
