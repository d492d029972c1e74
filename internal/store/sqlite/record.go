package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync"

	"loregate/internal/access"
	"loregate/internal/store/sqlstore"
)

const (
	// recordSuffix is appended to the store's file name to name the file of access records.
	recordSuffix = "-access"
	// recordCacheKiB is the page cache for the record file, which is mostly appended to and seldom
	// read.
	recordCacheKiB = 512
)

// recordFile is the file beside the store's that holds access records. Records are written twice a
// second even if little else is, and after a write to a file every connection to it must read its
// pages again; a separate file spares the store's readers. It has one connection, used by one call
// at a time.
//
// Older stores have records in their own file, and so has a backup, which is one file. Those stay
// there: new records of a process go to the file that has its first ones.
type recordFile struct {
	s      *Store
	cfg    Config
	turn   chan struct{} // holds one token; its holder may use c
	c      *conn         // nil until it is opened
	health health

	homes sync.Map // process -> bool: its records are in the store's own file
}

// openRecords opens a store's file of records and creates it if it is missing.
func openRecords(ctx context.Context, s *Store) (*recordFile, error) {
	f := &recordFile{s: s, cfg: s.cfg, turn: make(chan struct{}, 1)}
	f.cfg.Path, f.cfg.CacheKiB = recordPath(s.cfg.Path), recordCacheKiB*writerShare
	f.turn <- struct{}{}
	return f, f.open(ctx)
}

func recordPath(store string) string { return store + recordSuffix }

func (f *recordFile) open(ctx context.Context) error {
	if err := makeFile(f.cfg.Path); err != nil {
		return err
	}
	c, err := connectWriter(ctx, f.cfg, recordSchema)
	if err != nil {
		return fmt.Errorf("open %s: %w", f.cfg.Path, err)
	}
	c.steady = true
	f.c = c
	return nil
}

// service returns the tables of the file.
func (f *recordFile) service() *sqlstore.Service {
	run := func(begin string) func(context.Context, func(sqlstore.Conn) error) error {
		return func(ctx context.Context, do func(sqlstore.Conn) error) error {
			return f.runInTx(ctx, begin, func(c *conn) error { return do(c) })
		}
	}
	return sqlstore.NewService(sqlstore.Database{Snapshot: run("BEGIN"), Change: run("BEGIN IMMEDIATE")})
}

func (f *recordFile) runInTx(ctx context.Context, begin string, do func(*conn) error) (err error) {
	defer func() {
		f.health.noteOutcome(f.cfg, err)
		err = f.cfg.toFault(err)
	}()
	if err := f.s.calls.Begin(); err != nil {
		return err
	}
	defer f.s.calls.End()
	if err := f.health.foundDamage(); err != nil && begin != "BEGIN" {
		return err
	}
	select {
	case <-f.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { f.turn <- struct{}{} }()
	if f.c == nil {
		if err := f.open(ctx); err != nil {
			return err
		}
	}
	if _, err := f.c.Exec(ctx, begin); err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept { // it failed, or panicked
			err = errors.Join(err, f.rollbackTx())
		}
	}()
	if begin != "BEGIN" {
		if err := recordSchema.checkFileFormat(ctx, f.c); err != nil {
			return err
		}
	}
	if err := do(f.c); err != nil {
		return err
	}
	_, err = f.c.Exec(context.Background(), "COMMIT")
	kept = err == nil
	return err
}

// rollbackTx rolls the transaction back. If that fails, the connection is closed and not used
// again.
func (f *recordFile) rollbackTx() error {
	if _, err := f.c.Exec(context.Background(), "ROLLBACK"); err == nil {
		return nil
	}
	c := f.c
	f.c = nil
	return c.close()
}

// close closes the file. No call may be running.
func (f *recordFile) close() error {
	if f == nil || f.c == nil {
		return nil
	}
	return f.c.close()
}

// AppendSegment stores a segment of access records.
func (s *Store) AppendSegment(ctx context.Context, one access.Segment) error {
	here, err := s.hasRecordsOf(ctx, one.Process)
	if err != nil {
		return err
	}
	if here {
		return s.Service.AppendSegment(ctx, one)
	}
	return s.records.service().AppendSegment(ctx, one)
}

// hasRecordsOf reports whether the store's own file has records of a process. The result is cached,
// so that callers that occupy all read connections do not delay records.
func (s *Store) hasRecordsOf(ctx context.Context, process string) (found bool, err error) {
	if home, ok := s.records.homes.Load(process); ok {
		return home.(bool), nil
	}
	err = s.read(ctx, func(c *conn) error {
		n, err := sqlstore.QueryInt(ctx, c, "SELECT count(*) FROM access_processes WHERE process = $1", process)
		found = n > 0
		return err
	})
	if err == nil {
		s.records.homes.Store(process, found)
	}
	return found, err
}

// recordStores returns the two places of records, the older one first.
func (s *Store) recordStores() []*sqlstore.Service {
	return []*sqlstore.Service{s.Service, s.records.service()}
}

// Segments yields a process's segments from a number on, in order. If a backup has replaced the
// store it was made from, segments newer than the backup are in the record file.
func (s *Store) Segments(ctx context.Context, process string, from uint64) iter.Seq2[access.Segment, error] {
	return func(yield func(access.Segment, error) bool) {
		for _, place := range s.recordStores() {
			for one, err := range place.Segments(ctx, process, from) {
				if !yield(one, err) || err != nil {
					return
				}
				from = one.Seq + 1
			}
		}
	}
}

// Processes lists the processes that have segments, in the order of their first segment.
func (s *Store) Processes(ctx context.Context) (all []string, err error) {
	known := map[string]bool{}
	for _, place := range s.recordStores() {
		list, err := place.Processes(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if !known[p] {
				all = append(all, p)
			}
			known[p] = true
		}
	}
	return all, nil
}

// mergeRecords copies the records of a file into a copy of the store, which c has open and which
// has only the store's own records.
func mergeRecords(ctx context.Context, c *conn, records string) error {
	path, err := filepath.Abs(records)
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "ATTACH DATABASE $1 AS recorded", path); err != nil {
		return err
	}
	for _, sql := range []string{
		"BEGIN IMMEDIATE",
		"INSERT OR IGNORE INTO access_processes (process) SELECT process FROM recorded.access_processes ORDER BY p",
		`INSERT OR IGNORE INTO access_segments (p, seq, at, count, body, prev, hash)
			SELECT here.p, one.seq, one.at, one.count, one.body, one.prev, one.hash
			FROM recorded.access_segments one JOIN recorded.access_processes there ON there.p = one.p
			JOIN main.access_processes here ON here.process = there.process ORDER BY one.n`,
		"COMMIT",
		"DETACH DATABASE recorded",
	} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
