package markdown_test

import (
	"fmt"

	"loregate/internal/exchange/markdown"
)

func Example() {
	n := markdown.Parse("Old Mill.md", []byte("---\ntags: [river, 'town/north']\nbuilt: 1204\n---\nThe mill #turns.\n"))
	fmt.Println(n.AllTags(), n.Text("built"))
	fmt.Print(n.Body)
	// Output:
	// [river town/north turns] 1204
	// The mill #turns.
}
