package slicesx_test

import (
	"fmt"
	"strings"

	"loregate/internal/slicesx"
)

func Example() {
	places := []string{"The Dry Anchor", "Saltmarsh", "The Lighthouse"}
	named := slicesx.Filter(places, func(name string) bool { return strings.HasPrefix(name, "The ") })
	fmt.Println(slicesx.Map(named, strings.ToUpper))
	// Output: [THE DRY ANCHOR THE LIGHTHOUSE]
}
