package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
)

// maxFaults limits the faults that a check reports.
const maxFaults = 100

// checkStart checks a file for damage before anything is written to it. It stops after cfg.Check: a
// small file is read completely, a large one only in part, beginning with its schema. Check reads
// the rest while the store is in use.
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
		return damagedError(cfg, errors.New(found))
	case err == nil, within.Err() != nil && ctx.Err() == nil:
		return nil
	}
	return err
}

// damagedError returns the error for all writes to a file in which a fault was found.
func damagedError(cfg Config, found error) error {
	dir := filepath.Dir(cfg.Path)
	return (&fault.Error{Kind: fault.Unavailable, Message: damagedMessage, RetryAfter: time.Minute}).
		Because(fmt.Errorf("%s; found in %s: %w", repairAdvice(dir), filepath.Base(cfg.Path), found))
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

// Check reads both files, one table after the other, and returns every fault that it finds; none
// means that the store is sound. Between the parts, each in a snapshot of its own, it calls rest
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
			step(use, func(c *conn) error { return checkIntegrity(ctx, c, t, &faults) })
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
