package lazyregexp_test

import (
	"fmt"

	"loregate/internal/lazyregexp"
)

var word = lazyregexp.New(`\pL+`)

func Example() {
	fmt.Println(word.FindAllString("the quay, the mill", -1))
	// Output: [the quay the mill]
}
