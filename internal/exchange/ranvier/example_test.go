package ranvier_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/ranvier"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{
		"town/manifest.yml": {Data: []byte("title: Town")},
		"town/rooms.yml": {Data: []byte("- {id: gate, title: Gate, exits: [{direction: north, roomId: \"town:inn\"}]}\n" +
			"- {id: inn, title: Inn}")},
	}
	summary, err := ranvier.Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 2 files: 3 cards created, 0 updated, 0 unchanged, 3 links and layers.
	// Players see 3 of these cards; 0 are for the GM, 0 for admins.
	// Players begin at "Gate" (--starter-location changes it).
}
