package media_test

import (
	"bytes"
	"fmt"
	"strings"

	"loregate/internal/media"
)

// A drawing loses its script and its comment.
func ExampleClean() {
	var out bytes.Buffer
	drawing := `<svg><!-- drawn at home --><script>alert(1)</script><circle r="3"/></svg>`
	typ, err := media.Clean(&out, strings.NewReader(drawing))
	fmt.Println(typ.Media, err)
	fmt.Println(strings.Replace(out.String(), ` xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"`, "", 1))
	// Output:
	// image/svg+xml <nil>
	// <svg><circle r="3"></circle></svg>
}
