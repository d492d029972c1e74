package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
)

// Backup writes a consistent copy of the store to one new file: with its access records, without
// free space and without the keys that sign tokens. It reads one snapshot and then the records;
// writes continue meanwhile. If it fails, it leaves no file.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	if err := s.calls.Begin(); err != nil {
		return err
	}
	defer s.calls.End()
	defer func() {
		if isDamageCode(codeOf(err)) {
			err = s.cfg.toFault(err)
		} else {
			err = Config{Path: path}.toFault(err)
		}
	}()
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("back up to %s: the file is there already", path)
	}
	// VACUUM INTO writes no rows of its own, but a query_only connection refuses it.
	c, err := openConn(ctx, s.cfg, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	return writeCopy(ctx, c, recordPath(s.cfg.Path), path, proveCopy)
}

// writeCopy writes a copy of the store that c has open to one new file, with the access records of
// the file records, and keeps it only if prove finds it sound.
func writeCopy(ctx context.Context, c *conn, records, path string,
	prove func(ctx context.Context, path string) error) (err error) {
	part := path + ".part"
	if err := makeFile(part); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = removeFiles(part, part+"-wal", part+"-shm", part+"-journal", recordPath(part), recordPath(part)+"-wal",
				recordPath(part)+"-shm")
		}
	}()
	if _, err := c.Exec(ctx, "VACUUM INTO $1", part); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	if err := completeBackup(ctx, part, records); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	if err := prove(ctx, part); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// completeBackup turns a copy of the store into a backup: it adds the access records, which are in
// a separate file, and removes the keys that sign tokens and overwrites their bytes, so that a
// stolen backup cannot be used to sign. A store that runs on the copy creates new keys.
func completeBackup(ctx context.Context, path, records string) (err error) {
	c, err := openConn(ctx, Config{Path: path}.withDefaults(), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	run := func(list ...string) error {
		for _, sql := range list {
			if err := sqlstore.Each(ctx, c, func(sqlstore.Row) error { return nil }, sql); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run("PRAGMA journal_mode = DELETE", "PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	if fileSize(records) > 0 { // older stores have no record file
		if err := mergeRecords(ctx, c, records); err != nil {
			return err
		}
	}
	// The first format had no keys yet.
	keys, err := sqlstore.QueryInt(ctx, c, "SELECT count(*) FROM sqlite_schema WHERE name = 'signing_keys'")
	if err == nil && keys > 0 {
		err = run("DELETE FROM signing_keys")
	}
	if err != nil {
		return err
	}
	return run("VACUUM")
}

// proveCopy reads a copy completely and verifies its chains: a damaged page is copied as it is.
func proveCopy(ctx context.Context, path string) (err error) {
	s, err := Open(ctx, Config{Path: path, Check: -1})
	if err != nil {
		return err
	}
	faults, err := s.Verify(ctx)
	if err == nil && len(faults) == 0 {
		_, err = canon.VerifyStreams(ctx, s)
	}
	if err == nil && len(faults) == 0 {
		_, err = access.VerifySegments(ctx, s, nil)
	}
	if len(faults) > 0 {
		err = errors.New(faults[0])
	}
	if err != nil {
		err = (&fault.Error{Kind: fault.Unavailable,
			Message: "the copy is not sound, and was not kept: run loregate doctor on the store"}).Because(err)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	// A backup is one file and must not need others beside it.
	c, err := openConn(ctx, Config{Path: path}.withDefaults(), false)
	if err != nil {
		return err
	}
	err = sqlstore.Each(ctx, c, func(sqlstore.Row) error { return nil }, "PRAGMA journal_mode = DELETE")
	if err = errors.Join(err, c.close()); err != nil {
		return err
	}
	return removeFiles(recordPath(path), recordPath(path)+"-wal", recordPath(path)+"-shm")
}

// removeFiles removes files. Missing files are no error.
func removeFiles(paths ...string) (err error) {
	for _, p := range paths {
		if e := os.Remove(p); !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Verify reads both files completely and returns every fault that SQLite finds, every body that
// does not match its hash, and every fault of the search indexes; none means that the store is
// sound. It takes about a second for 100 MB.
func (s *Store) Verify(ctx context.Context) (faults []string, err error) {
	check := func(c *conn) error { return checkIntegrity(ctx, c, "", &faults) }
	err = s.read(ctx, func(c *conn) error {
		if err := check(c); err != nil || len(faults) > 0 {
			return err
		}
		for at := int64(-1); at != 0; {
			if at, err = findWrongBodies(ctx, c, max(at, 0), &faults); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.records.runInTx(ctx, "BEGIN", check)
	}
	if err != nil || len(faults) > 0 {
		return faults, err
	}
	return s.finder.Verify(ctx)
}

// Stats holds sizes of a store for metrics. It contains nothing that labels hide.
type Stats struct {
	FileBytes   int64 // of the database file
	WALBytes    int64 // of the log that is not yet checkpointed into it
	FreeBytes   int64 // unused bytes inside the file
	RecordBytes int64 // of the file of access records and its log
	Queued      int   // writes of this process that wait for their turn
}

// Stats measures the store. It is cheap enough to be called every few seconds.
func (s *Store) Stats(ctx context.Context) (st Stats, err error) {
	err = s.read(ctx, func(c *conn) error {
		size, err := sqlstore.QueryInt(ctx, c, "PRAGMA page_size")
		if err != nil {
			return err
		}
		pages, err := sqlstore.QueryInt(ctx, c, "PRAGMA page_count")
		if err != nil {
			return err
		}
		free, err := sqlstore.QueryInt(ctx, c, "PRAGMA freelist_count")
		st.FileBytes, st.FreeBytes = size*pages, size*free
		return err
	})
	st.WALBytes = fileSize(s.cfg.Path + "-wal")
	st.RecordBytes = fileSize(s.records.cfg.Path) + fileSize(s.records.cfg.Path+"-wal")
	st.Queued = s.writes.Waiting()
	return st, err
}

// fileSize returns the size of a file; 0 if it does not exist.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
