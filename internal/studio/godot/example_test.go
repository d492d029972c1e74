package godot_test

import (
	"fmt"

	"loregate/internal/studio/godot"
)

// An adapter lists the tools that its program carries out. It starts the program only when a target is used.
func ExampleAdapter_Tools() {
	a := godot.New(godot.Config{})
	for _, tool := range []string{"generate_blueprint", "render_preview"} {
		fmt.Println(tool, a.Tools()[tool].Does)
	}
	// Output:
	// generate_blueprint true
	// render_preview false
}
