package record_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/record"
)

// A format names its records and their texts; Import reads the files and writes the cards.
func Example() {
	ctx := context.Background()
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{"towns.json": {Data: []byte(`[{"name": "Inn"}, {"name": "Mill"}, 3]`)}}
	summary, err := record.Import(ctx, world, owner, "towns", exchange.Options{Label: "example"},
		func(s *record.Source) error {
			text, _ := s.ReadFile(files, "towns.json")
			for _, e := range s.ReadEntries("towns.json", text) {
				name := e.Text("name")
				if _, err := s.Add(ctx, record.Card{Key: []string{name}, File: e.File, Name: name, Type: "Location"}); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 1 files: 2 cards created, 0 updated, 0 unchanged.
	// Players see 2 of these cards; 0 are for the GM, 0 for admins.
	// Players begin at "Inn" (--starter-location changes it).
	// Please check:
	//   towns.json:1: the record is not an object; left out
}
