package memory_test

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// ExampleNew stores a world and reads it on a snapshot.
func ExampleNew() {
	ctx := context.Background()
	s := memory.New()
	if err := s.Write(ctx, func(tx canon.Tx) error {
		return tx.PutWorld(ctx, canon.World{ID: access.WorldID{1}, Slug: "arda", Title: "Arda"})
	}); err != nil {
		panic(err)
	}
	if err := s.Read(ctx, func(r canon.Reader) error {
		worlds, err := r.Worlds(ctx, canon.WorldQuery{All: true})
		for _, w := range worlds {
			fmt.Println(w.Slug, w.Title)
		}
		return err
	}); err != nil {
		panic(err)
	}
	// Output: arda Arda
}
