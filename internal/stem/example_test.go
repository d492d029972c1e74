package stem_test

import (
	"fmt"

	"loregate/internal/stem"
)

// Words with the same stem find each other in a search.
func ExampleOf() {
	fmt.Println(stem.Of("en", "bridges"), stem.Of("en", "bridged"), stem.Of("de", "brücken"))
	// Output: bridg bridg bruck
}
