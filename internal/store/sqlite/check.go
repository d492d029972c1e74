package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
)

// maxFaults is how many faults a check names at most.
const maxFaults = 100

// checkStart looks for damage in a file before anything is written to it, for as long as
// the configuration lets it: a small file is read whole, of a large one the schema and what
// comes first. Check reads the rest while the store is served.
func checkStart(ctx context.Context, c *conn, cfg Config) error {
	if cfg.Check < 0 {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, cfg.Check)
	defer cancel()
	found := ""
	err := c.query(within, func(r row) error {
		if found = r.textAt(0); found == "ok" {
			found = ""
		}
		return errStop
	}, "PRAGMA quick_check(1)")
	switch {
	case found != "":
		return damagedError(cfg, errors.New(found))
	case err == nil, within.Err() != nil && ctx.Err() == nil:
		return nil
	}
	return err
}

// damagedError is the failure of all writes to a file in which a fault was found.
func damagedError(cfg Config, found error) error {
	dir := filepath.Dir(cfg.Path)
	return (&fault.Error{Kind: fault.Unavailable, Message: damagedMessage, RetryAfter: time.Minute}).
		Because(fmt.Errorf("%s; found in %s: %w", repairAdvice(dir), filepath.Base(cfg.Path), found))
}

// MarkDamaged has the store refuse writes from now on, for a fault that was found in it.
func (s *Store) MarkDamaged(found string) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.damaged == nil {
		s.health.damaged = damagedError(s.cfg, errors.New(found))
	}
}

// checkIntegrity adds what SQLite finds in the file of a connection, or in one of its tables.
func checkIntegrity(ctx context.Context, c *conn, table string, faults *[]string) error {
	of := fmt.Sprint(maxFaults)
	if table != "" {
		of = `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	}
	err := c.query(ctx, func(r row) error {
		if f := r.textAt(0); f != "ok" {
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

// bodiesAtOnce is how many contents are read before others have their turn.
const bodiesAtOnce = 64

// findWrongBodies adds the contents that do not have their hash, of those after a row; last is
// 0 behind the last one.
func findWrongBodies(ctx context.Context, c *conn, after int64, faults *[]string) (last int64, err error) {
	n := 0
	err = c.query(ctx, func(r row) error {
		n, last = n+1, r.intAt(0)
		if sum := sha256.Sum256(r.bytesAt(2)); sum != [32]byte(readBlob[canon.Hash](r.bytesAt(1))) {
			*faults = append(*faults, fmt.Sprintf("content %s does not have its hash", readBlob[canon.Hash](r.bytesAt(1))))
		}
		return nil
	}, "SELECT rowid, hash, body FROM bodies WHERE rowid > ?1 ORDER BY rowid LIMIT ?2", after, bodiesAtOnce)
	if n < bodiesAtOnce {
		last = 0
	}
	return last, err
}

// Check reads both files, one table after the other, and gives every fault that it finds;
// none is soundness. Between the parts, each a snapshot of its own, it calls rest with how
// long the part took. It writes nothing and may run beside anything.
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
			return c.query(ctx, func(r row) error { tables = append(tables, r.textAt(0)); return nil },
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
