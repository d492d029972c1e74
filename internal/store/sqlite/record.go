package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync"

	"loregate/internal/access"
	"loregate/internal/store/service"
)

const (
	// recordSuffix is what the name of the file of access records has after the store's.
	recordSuffix = "-access"
	// recordCacheKiB is the page cache of a file that is appended to, and seldom read.
	recordCacheKiB = 512
)

// recordFile is the file beside the store's that access records are kept in. Records are
// written twice a second however little else is, and after a write to a file every
// connection to it reads its pages anew. It has one connection, used in turns.
//
// Stores of before this file have records in their own, and so has a backup, which is one
// file. They stay there: what is appended for a process goes where its first records are.
type recordFile struct {
	s      *Store
	cfg    Config
	turn   chan struct{} // holds one token; whoever has it may use c
	c      *conn         // nil where it is to be opened
	health health

	homes sync.Map // process -> whether its records are in the store's own file
}

// openRecords opens a store's file of records, making it where it is not there.
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

// Snapshot runs a function on one state of the file.
func (f *recordFile) Snapshot(ctx context.Context, do func(service.Conn) error) error {
	return f.runInTx(ctx, "BEGIN", func(c *conn) error { return do(serviceConn{c}) })
}

// Change runs a function alone among writers, and returns when its effects are durable.
func (f *recordFile) Change(ctx context.Context, do func(service.Conn) error) error {
	return f.runInTx(ctx, "BEGIN IMMEDIATE", func(c *conn) error { return do(serviceConn{c}) })
}

func (f *recordFile) runInTx(ctx context.Context, begin string, do func(*conn) error) (err error) {
	defer func() {
		f.health.noteOutcome(f.cfg, err)
		err = f.cfg.toFault(err)
	}()
	if err := f.s.beginCall(); err != nil {
		return err
	}
	defer f.s.inUse.Done()
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
	if _, err := f.c.exec(ctx, begin); err != nil {
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
	_, err = f.c.exec(context.Background(), "COMMIT")
	kept = err == nil
	return err
}

// rollbackTx ends a transaction without effect. A connection that cannot is not used again.
func (f *recordFile) rollbackTx() error {
	if _, err := f.c.exec(context.Background(), "ROLLBACK"); err == nil {
		return nil
	}
	c := f.c
	f.c = nil
	return c.close()
}

// close closes the file, when nobody uses it any more.
func (f *recordFile) close() error {
	if f == nil || f.c == nil {
		return nil
	}
	return f.c.close()
}

// AppendSegment keeps a segment of access records.
func (s *Store) AppendSegment(ctx context.Context, one access.Segment) error {
	here, err := s.hasRecordsOf(ctx, one.Process)
	if err != nil {
		return err
	}
	if here {
		return s.Service.AppendSegment(ctx, one)
	}
	return service.New(s.records).AppendSegment(ctx, one)
}

// hasRecordsOf tells whether the store's own file has records of a process. It is asked
// once: who has all read connections does not keep records from being written.
func (s *Store) hasRecordsOf(ctx context.Context, process string) (found bool, err error) {
	if home, ok := s.records.homes.Load(process); ok {
		return home.(bool), nil
	}
	err = s.read(ctx, func(c *conn) error {
		n, err := c.queryInt(ctx, "SELECT count(*) FROM access_processes WHERE process = ?1", process)
		found = n > 0
		return err
	})
	if err == nil {
		s.records.homes.Store(process, found)
	}
	return found, err
}

// recordStores are the two places of records, the earlier first.
func (s *Store) recordStores() []*service.Service {
	return []*service.Service{s.Service, service.New(s.records)}
}

// Segments yields a process's segments from a number on, in order. Where a backup was put
// over the store that it was made of, later ones than it has are in the file of records.
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

// Processes lists those that have segments, in the order of their first one.
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

// mergeRecords writes the records of a file into a copy of the store, which c has open and
// which has none but the store's own.
func mergeRecords(ctx context.Context, c *conn, records string) error {
	path, err := filepath.Abs(records)
	if err != nil {
		return err
	}
	if _, err := c.exec(ctx, "ATTACH DATABASE ?1 AS recorded", path); err != nil {
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
		if _, err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
