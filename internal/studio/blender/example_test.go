package blender_test

import (
	"fmt"

	"loregate/internal/studio/blender"
)

// An adapter lists the tools that its program carries out. It starts the program only when a target is used.
func ExampleAdapter_Tools() {
	a := blender.New(blender.Config{})
	for _, tool := range []string{"generate_scene", "generate_blueprint"} {
		fmt.Println(tool, a.Tools()[tool].Does)
	}
	// Output:
	// generate_scene true
	// generate_blueprint false
}
