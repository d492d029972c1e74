package unreal_test

import (
	"context"
	"fmt"

	"loregate/internal/studio/unreal"
)

// Without an editor, a double replays documented exchanges. Its results never pass for an editor's.
func ExampleNewDouble() {
	double, err := unreal.NewDouble()
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := unreal.New(unreal.Config{Double: double})
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := a.Probe(context.Background())
	fmt.Println(info.Kind, err)
	// Output: protocol-double <nil>
}
