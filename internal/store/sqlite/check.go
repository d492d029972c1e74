package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
)

// maxFaults limits the faults that a check reports.
const maxFaults = 100

// checkStart checks a file for damage before anything is written to it. It stops after cfg.Check: a
// small file is read completely, a large one only in part, beginning with its schema. Check reads
// the rest while the store is in use. Damage that is confined to the table of commits is noted in c.
func checkStart(ctx context.Context, c *conn, cfg Config) error {
	if cfg.Check < 0 {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, cfg.Check)
	defer cancel()
	found := ""
	err := sqlstore.Each(within, c, func(r sqlstore.Row) error {
		if found = r.Text(0); found == "ok" {
			found = ""
		}
		return sqlstore.ErrStop
	}, "PRAGMA quick_check(1)")
	switch {
	case found != "":
		alone, err := damagedCommitsAlone(ctx, c)
		if c.confined = found; err == nil && !alone {
			err = damagedError(cfg, errors.New(found))
		}
		return err
	case err == nil, within.Err() != nil && ctx.Err() == nil:
		return nil
	}
	return err
}

// allFaults is the number of faults that damagedCommitsAlone asks for: one for each page of a large file.
const allFaults = 1_000_000

// damagedCommitsAlone reports whether all faults of a file's trees are pages of the table of commits that
// SQLite cannot open at all, or overflow pages of its rows, which only readers of these rows use. Other
// streams can then be written beside them: no tree shares a page with another one, the list of free pages
// is sound, and SQLite refuses to use a page that it cannot open. It does not refuse a page that opens and
// is wrong inside.
func damagedCommitsAlone(ctx context.Context, c *conn) (bool, error) {
	root, err := sqlstore.QueryInt(ctx, c, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'commits'")
	if err != nil || root == 0 {
		return false, err
	}
	at, err := sqlstore.QueryInt(ctx, c, "PRAGMA user_version")
	if err != nil || at != schemaVersion { // an upgrade rewrites tables
		return false, err
	}
	harmless := []string{"btreeInitPage() returns error", "overflow list length is", "invalid page number"}
	page, unopened, others := fmt.Sprintf("Tree %d page ", root), 0, 0
	err = sqlstore.Each(ctx, c, func(r sqlstore.Row) error {
		for line := range strings.Lines(r.Text(0)) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, page) &&
				slices.ContainsFunc(harmless, func(s string) bool { return strings.Contains(line, s) }):
				unopened++
			case strings.HasPrefix(line, "*** in database"), strings.HasPrefix(line, "Page ") &&
				strings.HasSuffix(line, ": never used"), strings.Contains(line, "index commits_"):
			default:
				others++
			}
		}
		return nil
	}, fmt.Sprintf("PRAGMA quick_check(%d)", allFaults))
	if isDamageCode(codeOf(err)) && unopened > 0 { // it comes to the rows of the damaged table after all trees
		err = nil
	}
	return unopened > 0 && others == 0, err
}

// Confined describes damage of which only some streams are affected: their commits cannot be read, and all
// others are read and written. It is "" if there is none.
func (s *Store) Confined() string {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	return s.health.confined
}

// damagedError returns the error for all writes to a file in which a fault was found.
func damagedError(cfg Config, found error) error {
	dir := filepath.Dir(cfg.Path)
	return (&fault.Error{Kind: fault.Unavailable, Message: damagedMessage, RetryAfter: time.Minute}).
		Because(fmt.Errorf("%s; found in %s: %w: %w", repairAdvice(dir), filepath.Base(cfg.Path), canon.ErrDamaged, found))
}

// MarkDamaged makes the store refuse writes from now on because of the given fault.
func (s *Store) MarkDamaged(found string) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.damaged == nil {
		s.health.damaged = damagedError(s.cfg, errors.New(found))
	}
}

// checkIntegrity appends the faults that SQLite finds in the file, or in one table if table is set.
func checkIntegrity(ctx context.Context, c *conn, table string, faults *[]string) error {
	of := fmt.Sprint(maxFaults)
	if table != "" {
		of = `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	}
	err := sqlstore.Each(ctx, c, func(r sqlstore.Row) error {
		if f := r.Text(0); f != "ok" {
			*faults = append(*faults, strings.Join(strings.Fields(f), " "))
		}
		return nil
	}, "PRAGMA integrity_check("+of+")")
	if isDamageCode(codeOf(err)) {
		*faults = append(*faults, err.Error())
		return nil
	}
	return err
}

// bodiesAtOnce is the number of bodies read before other callers get a turn.
const bodiesAtOnce = 64

// findWrongBodies checks the hashes of the next bodies after a row and appends those that do not
// match. It returns the last row that it read; 0 if there are no more.
func findWrongBodies(ctx context.Context, c *conn, after int64, faults *[]string) (last int64, err error) {
	n := 0
	err = sqlstore.Each(ctx, c, func(r sqlstore.Row) error {
		n, last = n+1, r.Int(0)
		if sum := sha256.Sum256(r.Bytes(2)); sum != [32]byte(sqlstore.ReadHash(r, 1)) {
			*faults = append(*faults, fmt.Sprintf("content %s does not have its hash", sqlstore.ReadHash(r, 1)))
		}
		return nil
	}, "SELECT rowid, hash, body FROM bodies WHERE rowid > $1 ORDER BY rowid LIMIT $2", after, bodiesAtOnce)
	if n < bodiesAtOnce {
		last = 0
	}
	return last, err
}

// Check reads both files, one table after the other, and returns every fault that it finds, except those
// that Confined describes; none means that the store can be written. Between the parts, each in a snapshot of its own, it calls rest
// with the time that the part took. It writes nothing and may run beside any other call.
func (s *Store) Check(ctx context.Context, rest func(took time.Duration)) (faults []string, err error) {
	var tables []string
	step := func(use func(func(*conn) error) error, do func(*conn) error) {
		if err != nil || len(faults) >= maxFaults {
			return
		}
		started := time.Now()
		if err = use(do); isDamageCode(codeOf(err)) {
			faults, err = append(faults, err.Error()), nil
		}
		rest(time.Since(started))
	}
	store := func(do func(*conn) error) error { return s.read(ctx, do) }
	records := func(do func(*conn) error) error { return s.records.runInTx(ctx, "BEGIN", do) }
	for _, use := range []func(func(*conn) error) error{store, records} {
		tables = []string{"sqlite_schema"}
		step(use, func(c *conn) error {
			return sqlstore.Each(ctx, c, func(r sqlstore.Row) error { tables = append(tables, r.Text(0)); return nil },
				"SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")
		})
		for _, t := range tables {
			step(use, func(c *conn) error { return s.checkTable(ctx, c, t, &faults) })
		}
	}
	for at := int64(-1); at != 0 && err == nil && len(faults) < maxFaults; {
		before := len(faults)
		step(store, func(c *conn) (err error) {
			at, err = findWrongBodies(ctx, c, max(at, 0), &faults)
			return err
		})
		if len(faults) > before {
			break
		}
	}
	return faults, err
}

// checkTable appends the faults of a table. If it is the table of commits and they are confined to it, they are
// noted instead.
func (s *Store) checkTable(ctx context.Context, c *conn, table string, faults *[]string) error {
	var found []string
	if err := checkIntegrity(ctx, c, table, &found); err != nil || len(found) == 0 {
		return err
	}
	alone := false
	if table == "commits" {
		var err error
		if alone, err = damagedCommitsAlone(ctx, c); err != nil {
			return err
		}
	}
	if !alone {
		*faults = append(*faults, found...)
		return nil
	}
	s.health.confine(found[0])
	return nil
}
