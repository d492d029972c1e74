package postgres

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"errors"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/postgres/pgtest"
)

// TestOldProgramWritesNothingToNewerDatabase upgrades a database while a store is open, and runs
// the statements of old programs that do not compare formats.
func TestOldProgramWritesNothingToNewerDatabase(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: pgtest.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var format int
	if err := s.pool.QueryRow(t.Context(), "SELECT format FROM writer").Scan(&format); err != nil ||
		format != schemaVersion {
		t.Fatalf("the database says format %d, want %d: the last migration sets it; %v", format, schemaVersion, err)
	}
	if err := s.Writable(t.Context()); err != nil {
		t.Fatal(err)
	}
	var e *pgconn.PgError
	if _, err := s.pool.Exec(t.Context(), "UPDATE writer SET n = n + 1"); !errors.As(err, &e) || e.Code != "LG001" ||
		!strings.Contains(e.Message, "restart this process") {
		t.Errorf("a program of before the format writes: %v", err)
	}
	if _, err := s.pool.Exec(t.Context(), "UPDATE writer SET format = format + 1"); err != nil {
		t.Fatal(err)
	}
	wrote := false
	err = s.Write(t.Context(), func(canon.Tx) error { wrote = true; return nil })
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(),
		"restart it with the new program") || wrote {
		t.Errorf("a write: %v, done: %v", err, wrote)
	}
	if err := s.Writable(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Writable: %v", err)
	}
}

// TestUpgradeNeedsOperatorConsent opens databases of earlier formats. One that was never used needs no consent: its
// first program was stopped while it created the schema.
func TestUpgradeNeedsOperatorConsent(t *testing.T) {
	for at, use := range map[int64]string{
		1: "", 2: "",
		3: "INSERT INTO access_processes (process) VALUES ('one')",
		4: "INSERT INTO commits (s, seq, id, at, by, op, body) VALUES (1, 1, gen_random_uuid(), 1, '', '', '')",
	} {
		c := Config{URL: pgtest.Empty(t)}.withDefaults()
		createSchemaUpTo(t, c, at, use)
		if use != "" {
			if _, err := Open(t.Context(), c); fault.KindOf(err) != fault.Unavailable ||
				!strings.Contains(err.Error(), "loregate upgrade --yes") {
				t.Errorf("format %d opens: %v", at, err)
			}
			c.Upgrade = true
		}
		s, err := Open(t.Context(), c)
		if err != nil {
			t.Errorf("format %d: %v", at, err)
			continue
		}
		if err := s.Writable(t.Context()); err != nil {
			t.Errorf("format %d: %v", at, err)
		}
		s.Close()
	}
}

// createSchemaUpTo creates the schema of an earlier format, and runs a statement.
func createSchemaUpTo(t *testing.T, c Config, format int64, then string) {
	t.Helper()
	p, err := c.directConfig()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*p.ConnConfig)
	g, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err == nil {
		_, err = g.UpTo(t.Context(), format)
	}
	if err == nil {
		_, err = db.ExecContext(t.Context(), then)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
