package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlite"
)

// ExampleOpen stores a world and reads it on a snapshot.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "canon.db")})
	if err != nil {
		panic(err)
	}
	defer s.Close()
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
