package phrase_test

import (
	"fmt"

	"loregate/internal/studio/phrase"
)

func ExampleParse() {
	said := phrase.Parse("add a cube named Crate at 2, 0, 1, paint Crate with wood and render it at 640 x 360", nil)
	for _, a := range said.Acts {
		fmt.Println(a.Tool, a.With)
	}
	// Output:
	// add_object map[location:[2 0 1] name:Crate object_type:cube]
	// generate_texture map[object_name:Crate texture_type:wood]
	// render_preview map[height:360 width:640]
}
