package vector_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/vector"
)

// A keeper that has read no cards yet is not ready.
func ExampleKeeper_Near() {
	k, err := vector.New(vector.Config{Embedder: &topics{}, Model: "topics"})
	if err != nil {
		fmt.Println(err)
		return
	}
	near := k.Near(context.Background(), access.WorldID{}, access.LevelUser, "a gleam")
	fmt.Println(len(near.Cards), near.Ready)
	// Output: 0 false
}
