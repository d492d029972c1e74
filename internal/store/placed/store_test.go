package placed

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/store/sqlstore"
	"loregate/internal/store/storetest"
)

var (
	_ Database     = (*sqlite.Store)(nil)
	_ fencedReader = (*sqlstore.Reader)(nil)
	_ fencedTx     = sqlstore.Tx{}
)

// files are the files of the databases home, east and west.
type files struct{ home, east, west string }

func newFiles(t testing.TB) files {
	dir := t.TempDir()
	f := files{filepath.Join(dir, "home.db"), filepath.Join(dir, "east.db"), filepath.Join(dir, "west.db")}
	for _, path := range []string{f.home, f.east, f.west} {
		sqlitetest.WriteEmpty(t, path)
	}
	return f
}

// open opens the databases as a process of its own.
func (f files) open(t testing.TB) *Store {
	t.Helper()
	home, err := sqlite.Open(t.Context(), sqlite.Config{Path: f.home})
	if err != nil {
		t.Fatal(err)
	}
	named := func(name, path string) Named {
		return Named{name, func(ctx context.Context) (Database, error) { return sqlite.Open(ctx, sqlite.Config{Path: path}) }}
	}
	s, err := Open(t.Context(), Config{Home: home, Others: []Named{named("east", f.east), named("west", f.west)},
		Patterns: []Pattern{{"east-*", "east"}, {"west-*", "west"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(s.Close(), home.Close()) })
	return s
}

// TestStoreElsewhere tests all promises of a store in a database with a name.
func TestStoreElsewhere(t *testing.T) {
	storetest.Run(t, func(t *testing.T) canon.Store {
		s := newFiles(t).open(t)
		s.unplaced = s.memberNamed("east")
		return s
	})
}

// TestNoOtherDatabase tests that a placement in a database that is not configured is an error.
func TestNoOtherDatabase(t *testing.T) {
	s := newFiles(t).open(t)
	err := s.Place(t.Context(), access.WorldID{1}, "east-1")
	if err != nil {
		t.Fatal(err)
	}
	s.members = s.members[:1]
	err = s.WriteTo(t.Context(), access.WorldID{1}, func(canon.Tx) error { return nil })
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a write to an unknown database: %v", err)
	}
}
