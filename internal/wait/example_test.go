package wait_test

import (
	"context"
	"fmt"
	"time"

	"loregate/internal/wait"
)

// A loop that waits ends with its context.
func ExampleFor() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for try := 1; wait.For(ctx, time.Millisecond); try++ {
		fmt.Println("try", try)
		if try == 2 {
			cancel()
		}
	}
	fmt.Println(ctx.Err())
	// Output:
	// try 1
	// try 2
	// context canceled
}
