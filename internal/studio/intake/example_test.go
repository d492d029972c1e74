package intake_test

import (
	"fmt"

	"loregate/internal/studio/gltf"
	"loregate/internal/studio/intake"
)

// A file that contains all of its data is accepted, and a text that names other files is not.
func ExampleInspect() {
	file, err := gltf.Write(gltf.File{Generator: "example"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(intake.Inspect(file))
	_, err = intake.Inspect([]byte("mtllib /etc/passwd"))
	fmt.Println(err)
	// Output:
	// glb <nil>
	// the file is refused: it is no GLB and no .blend file; export the model as GLB, with all its data in the file
}
