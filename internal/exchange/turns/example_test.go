package turns_test

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/turns"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	record := strings.NewReader(`{"ep": "C1E001", "n": 1, "names": ["MATT"], "text": "Hello, everyone."}`)
	summary, err := turns.Import(context.Background(), world, owner, record, exchange.Options{Label: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 2 cards created, 0 updated, 0 unchanged.
	// Players see 2 of these cards; 0 are for the GM, 0 for admins.
}
