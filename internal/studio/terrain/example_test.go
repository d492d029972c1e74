package terrain_test

import (
	"fmt"

	"loregate/internal/studio/terrain"
)

// Land is made from a seed; its mesh and its heightmap have the same heights.
func ExampleMake() {
	l := terrain.Make(1, 33, 100, 100, 20)
	fmt.Printf("%d heights, %.2f m in the middle, %d corners\n", len(l.Heights), l.Mesh().V[16*33+16][2], len(l.Mesh().V))
	// Output: 1089 heights, 6.97 m in the middle, 1089 corners
}
