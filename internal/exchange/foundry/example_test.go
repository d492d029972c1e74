package foundry_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/foundry"
)

// An exported document has lost its ownership, so it is for the GM until it is confirmed.
func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{"fvtt-Item-salt-I1.json": {Data: []byte(
		`{"_id": "I1", "name": "Salt", "type": "item", "img": "", "system": {"description": "<p>White.</p>"}}`)}}
	summary, err := foundry.Import(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary.Created, summary.Hides[0].Rule)
	// Output: 1 unknown ownership
}
