package placed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/placed"
	"loregate/internal/store/sqlite"
)

// A world is created in the database that its short name decides, and moved to the home database.
func Example() {
	if err := moveHome(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// both are equal at commit 1
	// the world is in home
	// the old copy in east is discarded
	// campaign-1 has 1 commit
}

func moveHome(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "placed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "home.db")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	east := func(ctx context.Context) (placed.Database, error) {
		return sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "east.db")})
	}
	s, err := placed.Open(ctx, placed.Config{Home: home, Wait: time.Minute, Others: []placed.Named{{Name: "east",
		Open: east}},
		Patterns: []placed.Pattern{{Slug: "campaign-*", Database: "east"}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	call, err := access.NewGuard(access.Config{}).Admit(ctx,
		access.Caller{Subject: "ada", EveryRole: access.RoleAdmin, Operator: true}, access.Request{Effect: access.Write})
	if err != nil {
		return err
	}
	w, err := canon.New(canon.Config{Store: s}).CreateWorld(ctx, call.Grant, canon.NewWorld{Slug: "campaign-1"})
	if err != nil {
		return err
	}
	err = s.Move(ctx, w.ID, placed.Home, func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !strings.HasPrefix(text, "writes") && !strings.HasPrefix(text, "cop") {
			fmt.Println(text)
		}
	})
	if err != nil {
		return err
	}
	return s.Read(ctx, func(r canon.Reader) error {
		head, err := r.Head(ctx, canon.WorldStream(w.ID))
		fmt.Println(w.Slug, "has", head.Seq, "commit")
		return err
	})
}
