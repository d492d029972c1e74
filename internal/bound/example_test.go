package bound_test

import (
	"context"
	"fmt"

	"loregate/internal/bound"
)

func ExamplePool_Run() {
	budget := bound.BudgetOf(bound.Size{Files: 256, Largest: 2 << 20, Total: 10 << 20})
	err := bound.NewPool(256<<20).Run(context.Background(), budget, "notes.zip",
		func(context.Context) error { return nil })
	fmt.Println(budget, err)
	// Output: 81 MiB of memory and 60 s of processor time <nil>
}
