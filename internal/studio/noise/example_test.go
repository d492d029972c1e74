package noise_test

import (
	"fmt"

	"loregate/internal/studio/noise"
)

// Each purpose has numbers of its own, so that one that draws more does not change the others.
func ExampleNewSource() {
	trees, again, rocks := noise.NewSource(7, "trees"), noise.NewSource(7, "trees"), noise.NewSource(7, "rocks")
	fmt.Println(trees.Intn(100), again.Intn(100), rocks.Intn(100))
	// Output: 10 10 57
}
