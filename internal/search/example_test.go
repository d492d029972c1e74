package search_test

import (
	"context"
	"fmt"

	"loregate/internal/canon"
	"loregate/internal/search"
	"loregate/internal/store/words"
)

// A document above the level of a search does not count, and does not change the scores of others.
func ExampleIndex_Find() {
	x := search.New()
	err := x.Apply([]search.Doc{
		{ID: search.ID{1}, Level: 1, Name: "Rent Quay", Text: "The ferry lands at the black stones.", Row: []byte("quay")},
		{ID: search.ID{2}, Level: 2, Name: "Night ferry", Text: "It carries what nobody may see.", Row: []byte("secret")},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for level := 1; level <= 2; level++ {
		found, err := x.Find(context.Background(), search.Query{Level: level, Limit: 10,
			Terms: words.Terms(canon.SearchQuery{Q: "ferry"})})
		fmt.Print(found.Total, err)
		for _, hit := range found.Hits {
			fmt.Printf(" %s", hit.Row)
		}
		fmt.Println()
	}
	// Output:
	// 1 <nil> quay
	// 2 <nil> secret quay
}
