package exchange_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

// An importer adds the cards of its source to a collection, and writes the collection into a world.
func Example() {
	world, owner := exchangetest.NewWorld()
	cards := exchange.NewCollection()
	mill := &exchange.Sheet{File: "mill.txt", ID: exchange.CardID("text", "example", "mill"), Name: "Old Mill",
		Label: access.NewLabel(access.LevelUser), Body: exchange.PlainBody("<p>The mill turns.</p>")}
	cards.Add(mill)
	cards.AddTags(mill, []string{"river"})

	var summary exchange.Summary
	w := &exchange.Writer{Canon: world, Grant: owner, Collection: cards, Summary: &summary}
	if err := w.Write(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 0 files: 1 cards created, 0 updated, 0 unchanged, 1 lists of tags.
	// Players see 1 of these cards; 0 are for the GM, 0 for admins.
}
