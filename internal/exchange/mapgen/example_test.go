package mapgen_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/mapgen"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{"house.json": {Data: []byte(`{"exit": {}, "floors": [{"level": 0,
		"rooms": [{"name": "Hall", "cells": [{"i": 0, "j": 0}]}, {"name": "Kitchen", "cells": [{"i": 0, "j": 1}]}],
		"doors": [{"edge": {"cell": {"i": 0, "j": 0}, "dir": "e"}}]}]}`)}}
	summary, err := mapgen.ImportWatabou(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 3 cards created, 0 updated, 0 unchanged, 4 links and layers.
	// Players see 3 of these cards; 0 are for the GM, 0 for admins.
	// Players begin at "Hall" (--starter-location changes it).
}
