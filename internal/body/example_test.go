package body_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"loregate/internal/body"
	"loregate/internal/fault"
)

// A file that a caller sends goes to disk, and counts for the caller until its request has ended.
func Example() {
	folder, err := os.MkdirTemp("", "spool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	bodies, err := body.New(body.Config{Folder: folder, Disk: 400_000, Wait: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, picture := context.Background(), func() body.Source {
		return body.Source{Reader: io.LimitReader(strings.NewReader(strings.Repeat("x", 1e5)), 1e5), Size: 1e5, Limit: 1e6}
	}
	first, second := bodies.NewHold("ada", "harbour"), bodies.NewHold("ada", "harbour")
	file, err := first.Spool(ctx, picture())
	fmt.Println(file.Size(), bodies.OnDisk(), bodies.InMemory(), err)
	_, err = second.Spool(ctx, picture())
	fmt.Println(errors.Is(err, fault.RateLimited))
	first.Release()
	fmt.Println(bodies.OnDisk())
	// Output:
	// 100000 100000 0 <nil>
	// true
	// 0
}
