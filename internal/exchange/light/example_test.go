package light_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/light"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{
		"town.json": {Data: []byte(`{"nodes": {
			"yard_1": {"room": true, "name": "Yard", "desc": "Mud.", "neighbors": {"barn_2": {"label": "a path to the north"}}},
			"barn_2": {"room": true, "name": "Barn", "desc": "Hay.", "neighbors": {}}}}`)},
	}
	summary, err := light.Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 2 cards created, 0 updated, 0 unchanged, 1 links and layers.
	// Players see 2 of these cards; 0 are for the GM, 0 for admins.
	// Players begin at "Yard" (--starter-location changes it).
}
