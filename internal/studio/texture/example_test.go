package texture_test

import (
	"fmt"

	"loregate/internal/studio/texture"
)

// The same arguments paint the same pixels on every machine.
func ExamplePaint() {
	p := texture.Paint("stone", 16, 1)
	file, err := texture.PNG(p.Color)
	fmt.Println(p.Color.Bounds(), p.Color.RGBAAt(3, 5), string(file[1:4]), err)
	// Output: (0,0)-(16,16) {52 48 43 255} PNG <nil>
}
