package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"loregate/internal/canon"
	"loregate/internal/store/finder"
	"loregate/internal/store/group"
	"loregate/internal/store/sqlstore"
)

// Store is a canon.Store in one SQLite file, with another for access records beside it.
// Several Stores, in one process or in many, may have the same files open.
type Store struct {
	*sqlstore.Service // the tables outside the canon

	cfg Config

	readers *pool
	writes  *group.Group[*tx]

	closed sync.Once
	calls  sqlstore.Calls

	finder  *finder.Finder
	health  health
	watch   watch
	marker  marker
	caches  sqlstore.Caches
	records *recordFile
}

var _ canon.Store = (*Store)(nil)

// errClosed is returned by a closed store.
var errClosed = errors.New("sqlite: the store is closed")

// Open opens the store at cfg.Path and brings its schema up to date. It creates a missing file,
// readable by its owner only.
func Open(ctx context.Context, cfg Config) (s *Store, err error) {
	cfg = cfg.withDefaults()
	if cfg.Path == "" {
		return nil, errors.New("sqlite: the store's path is not set")
	}
	defer func() { err = cfg.toFault(err) }()
	if err := makeFile(cfg.Path); err != nil {
		return nil, err
	}
	c, err := connectWriter(ctx, cfg, storeSchema)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", cfg.Path, err)
	}
	s = &Store{
		cfg:     cfg,
		calls:   sqlstore.Calls{Closed: errClosed},
		readers: newPool(cfg.Readers),
	}
	s.health.confined = c.confined
	s.Service = sqlstore.NewService(sqlstore.Database{
		Snapshot: func(ctx context.Context, f func(sqlstore.Conn) error) error {
			return s.read(ctx, func(c *conn) error { return f(c) })
		},
		Change: func(ctx context.Context, f func(sqlstore.Conn) error) error {
			return s.write(ctx, func(t *tx) error { return f(t.c) })
		},
	})
	if s.records, err = openRecords(ctx, s); err != nil {
		return nil, errors.Join(err, c.close())
	}
	s.watch.init()
	if err := prepareWriter(ctx, c); err != nil {
		return nil, errors.Join(err, s.records.close(), c.close())
	}
	s.writes = group.New(&writer{s: s, c: c})
	s.finder = newFinder(s)
	return s, nil
}

// makeFile creates the file if it is missing, so that its permissions do not depend on the umask.
// SQLite gives the -wal and -shm files the same permissions.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// connectWriter opens the write connection. It tries again while several processes create the file
// at the same time.
func connectWriter(ctx context.Context, cfg Config, to schema) (*conn, error) {
	for end := time.Now().Add(cfg.Wait); ; {
		c, err := openConn(ctx, cfg, false)
		if err == nil {
			if err = checkBuild(ctx, c); err == nil {
				err = checkStart(ctx, c, cfg)
			}
			if err == nil {
				err = to.migrate(ctx, c, to.backupFunc(ctx, c, cfg))
			}
			if err == nil && to == storeSchema {
				err = dropOldSearchTables(ctx, c)
			}
			if err == nil && to == recordSchema {
				err = makeSeenTables(ctx, c)
			}
			if err == nil {
				return c, nil
			}
			err = errors.Join(err, c.close())
		}
		if !isBusy(err) || time.Now().After(end) || ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// read runs f on a snapshot of the file.
func (s *Store) read(ctx context.Context, f func(*conn) error) (err error) {
	defer func() {
		if isDamageCode(codeOf(err)) {
			s.health.noteOutcome(s.cfg, err)
		}
		err = s.cfg.toFault(err)
	}()
	if err := s.calls.Begin(); err != nil {
		return err
	}
	defer s.calls.End()
	c, err := s.borrowConn(ctx)
	if err != nil {
		return err
	}
	c.unread = true // the transaction begins with the first statement: a read of cached data needs none
	sound := false
	defer func() {
		var err error
		if !c.unread {
			_, err = c.Exec(context.Background(), "COMMIT")
		}
		if c.unread = false; err != nil || !sound {
			// Do not reuse a connection whose transaction did not end, or in which f panicked.
			_ = c.close()
			c = nil
		}
		s.readers.putConn(c)
	}()
	err = f(c)
	sound = true
	return err
}

// borrowConn takes an idle read connection, or opens one if none is idle.
func (s *Store) borrowConn(ctx context.Context) (*conn, error) {
	c, err := s.readers.takeConn(ctx)
	if err != nil || c != nil {
		return c, err
	}
	if c, err = openConn(ctx, s.cfg, true); err != nil {
		s.readers.putConn(nil)
		return nil, fmt.Errorf("open %s: %w", s.cfg.Path, err)
	}
	return c, nil
}

// Read runs f on one snapshot.
func (s *Store) Read(ctx context.Context, f func(canon.Reader) error) error {
	return s.read(ctx, func(c *conn) error { return f(newReader(s, c)) })
}

// Write runs f with no other writer running and returns when its effects are durable.
func (s *Store) Write(ctx context.Context, f func(canon.Tx) error) error {
	return s.write(ctx, func(t *tx) error { return f(t) })
}

// Close closes the store. It waits for running calls and finishes their writes; later calls are
// refused.
func (s *Store) Close() error {
	var err error
	s.closed.Do(func() {
		err = s.finder.Library.Close()
		s.calls.Close()
		s.writes.Close()
		for _, c := range s.readers.idle {
			err = errors.Join(err, c.close())
		}
		err = errors.Join(err, s.watch.close(), s.marker.close(), s.records.close())
	})
	return err
}

// reader is a canon.Reader on one snapshot.
type reader struct {
	sqlstore.Reader
	c          *conn
	tx         *tx // the transaction that the reader belongs to; nil on a read connection
	prefetched prefetched
}

func newReader(s *Store, c *conn) *reader {
	r := newUnindexedReader(s, c)
	r.SnapshotFinder = s.finder.Bind(r)
	return r
}

// newUnindexedReader returns a reader that cannot search. The search indexes are built through it.
func newUnindexedReader(s *Store, c *conn) *reader {
	return &reader{Reader: sqlstore.NewReader(c, dialect, &s.caches), c: c}
}

// Commits yields a stream's commits from a number on, in order.
func (r *reader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		for commit, err := range r.Reader.Commits(ctx, s, from) {
			if isDamageCode(codeOf(err)) {
				err = fmt.Errorf("%w: %w", canon.ErrDamaged, err)
			}
			if !yield(commit, err) {
				return
			}
		}
	}
}

var _ canon.Reader = (*reader)(nil)
var _ canon.Tx = (*tx)(nil)
