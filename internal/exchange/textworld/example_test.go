package textworld_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/textworld"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{"bell.twee": {Data: []byte(":: Start\nGo [[north->Barn]].\n\n:: Barn\nHay.\n")}}
	summary, err := textworld.ImportTwee(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 2 cards created, 0 updated, 0 unchanged, 1 links and layers.
	// Players see 2 of these cards; 0 are for the GM, 0 for admins.
	// Players begin at "Start" (--starter-location changes it).
}
