package unpack_test

import (
	"bytes"
	"compress/gzip"
	"fmt"

	"loregate/internal/exchange/unpack"
)

func ExampleDecode() {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, "a map")
	w.Close()
	content, err := unpack.Decode(packed.Bytes(), 1<<20)
	fmt.Println(string(content), err)
	// Output: a map <nil>
}
