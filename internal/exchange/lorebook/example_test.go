package lorebook_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/lorebook"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{"river.json": {Data: []byte(
		`{"entries": {"0": {"uid": 0, "key": ["mill"], "comment": "Old Mill", "content": "The mill turns."}}}`)}}
	summary, err := lorebook.Import(context.Background(), world, owner, files,
		exchange.Options{Open: []string{"entries of lorebooks"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 2 cards created, 0 updated, 0 unchanged, 1 links and layers.
	// Players see 2 of these cards; 0 are for the GM, 0 for admins.
}
