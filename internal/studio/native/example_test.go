package native_test

import (
	"fmt"

	"loregate/internal/studio/native"
)

func ExampleAdapter_Tools() {
	a := native.New()
	for _, tool := range []string{"scene_check", "render_preview"} {
		fmt.Println(tool, a.Tools()[tool].Does)
	}
	// Output:
	// scene_check true
	// render_preview false
}
