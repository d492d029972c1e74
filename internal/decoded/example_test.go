package decoded_test

import (
	"fmt"

	"loregate/internal/decoded"
)

func Example() {
	row := decoded.ParseObject(`{"name": " Mira ", "age": 31, "tags": ["harbour", ["old town"]]}`)
	fmt.Printf("%q %d %q\n", decoded.TextOf(row["name"]), decoded.IntOf(row["age"]), decoded.ListOf(row["tags"]))
	// Output: "Mira" 31 ["harbour" "old town"]
}
