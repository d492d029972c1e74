package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/finder"
	"loregate/internal/store/group"
	"loregate/internal/store/sqlstore"
)

// Store is a canon.Store in one PostgreSQL database. Several Stores, in one process or in
// many, may have the same database open.
type Store struct {
	*sqlstore.Service // the tables outside the canon

	cfg    Config
	pool   *pgxpool.Pool // of connections that read
	direct *pgxpool.Pool // of the connection that writes: pool, or past PgBouncer

	analyzeAt int // passed to the write connection; see conn

	writes *group.Group[*tx]

	closed sync.Once
	calls  sqlstore.Calls

	damaged atomic.Pointer[error] // the damage that was found; nil if none
	refused atomic.Pointer[error] // why the server refused the last write; nil if it did not

	spares   spares
	watch    watch
	failover *failover
	standbys standbys
	caches   sqlstore.Caches
	finder   *finder.Finder
}

var _ canon.Store = (*Store)(nil)

// errClosed is returned by a closed store.
var errClosed = fault.New(fault.Unavailable, "the store is closed; the server is stopping")

// Open opens a database and brings its schema up to date.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	s := &Store{cfg: cfg, calls: sqlstore.Calls{Closed: errClosed}}
	s.watch.init(s)
	if err := s.openPools(ctx); err != nil {
		return nil, err
	}
	s.failover.start()
	err := s.prepareDatabase(ctx)
	if err != nil {
		s.closePools()
		s.watch.close()
		return nil, fmt.Errorf("open the database: %w", toFault(err))
	}
	s.Service = sqlstore.NewService(sqlstore.Database{
		Snapshot: func(ctx context.Context, f func(sqlstore.Conn) error) error {
			return s.read(ctx, func(c *conn) error { return f(c) })
		},
		Change: func(ctx context.Context, f func(sqlstore.Conn) error) error {
			return s.write(ctx, func(t *tx) error { return f(t.c) })
		},
	})
	s.spares.init(s.pool)
	s.finder = newFinder(s)
	s.writes = group.New(&writer{s: s})
	return s, nil
}

// openPools creates the pools and the failover. Through PgBouncer only reads are made: a write holds
// the writer lock, for which all processes wait, and another hop for each of its statements would
// prolong that.
func (s *Store) openPools(ctx context.Context) error {
	direct, err := s.cfg.directConfig()
	if err != nil {
		return err
	}
	s.failover = newFailover(direct.ConnConfig, s.cfg, s.adoptPrimary)
	direct.BeforeConnect = s.failover.choosePrimary
	s.failover.guard(direct.ConnConfig)
	if s.direct, err = pgxpool.NewWithConfig(ctx, direct); err != nil {
		return err
	}
	s.pool = s.direct
	if !s.cfg.pooled() {
		return nil
	}
	read, err := s.cfg.readConfig()
	if err == nil {
		s.failover.guard(read.ConnConfig)
		s.pool, err = pgxpool.NewWithConfig(ctx, read)
	}
	if err != nil {
		s.direct.Close()
	}
	return err
}

func (s *Store) closePools() {
	s.failover.close()
	s.pool.Close()
	s.direct.Close() // does nothing if it is the same
}

func (s *Store) prepareDatabase(ctx context.Context) error {
	if err := s.failover.awaitPrimary(ctx); err != nil {
		return err
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	if err = s.checkAddresses(ctx, c.Conn()); err == nil {
		err = checkServer(ctx, c.Conn())
	}
	c.Release()
	if err == nil {
		err = s.cfg.migrate(ctx, s.direct, s.failover.primaryConfig())
	}
	if err != nil {
		return err
	}
	var known float32
	if err := s.pool.QueryRow(ctx,
		"SELECT reltuples FROM pg_class WHERE oid = 'cards'::regclass").Scan(&known); err != nil {
		return err
	}
	if known < fewCards {
		s.analyzeAt = firstAnalyze
	}
	return nil
}

// adoptPrimary prepares the store for a primary that was found, before the first call is let
// through. After a failover that lost writes, which synchronous standbys exclude, cached numbers
// might belong to rows that do not exist.
func (s *Store) adoptPrimary(promoted bool) {
	if promoted {
		s.caches.Clear()
	}
	s.pool.Reset()
	s.direct.Reset()
	s.watch.wakeWaiters()
}

// beginCall begins a call, which ends with s.calls.End. It refuses the call if the store is closed
// or has no primary.
func (s *Store) beginCall(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.failover.check(); err != nil {
		return err
	}
	return s.calls.Begin()
}

// beginRead is sent together with the first query, which takes the snapshot.
const beginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"

// refuseStandbySQL fails on a standby: a connection to PgBouncer outlives the role of the server
// behind it.
const refuseStandbySQL = "SELECT pg_current_wal_lsn()"

// read runs f on a snapshot of the database.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	if err := s.beginCall(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	p, err := s.spares.takeConn(ctx)
	if err != nil {
		return toFault(err)
	}
	defer s.spares.putConn(p)
	c := &conn{raw: p.Conn()}
	if c.raw.PgConn().TxStatus() != txIdle {
		c.enqueue("COMMIT") // ends the transaction of the previous read
	}
	c.enqueue(beginRead)
	if s.cfg.pooled() {
		c.enqueue(refuseStandbySQL)
	}
	return toFault(f(c))
}

// Read runs f on one snapshot. A canon.LongRead may be made at a standby.
func (s *Store) Read(ctx context.Context, f func(canon.Reader) error) error {
	if canon.IsLongRead(ctx) {
		return s.readLong(ctx, func(c *conn, known *sqlstore.Caches) error { return f(newReader(s, c, known)) })
	}
	return s.read(ctx, func(c *conn) error { return f(newReader(s, c, &s.caches)) })
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
		s.watch.close()
		s.spares.close()
		s.standbys.close()
		s.closePools()
	})
	return err
}

// reader is a canon.Reader on one snapshot.
type reader struct {
	sqlstore.Reader
	c          *conn
	prefetched prefetched
}

// Commits yields a stream's commits from a number on, in order.
func (r *reader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		for commit, err := range r.Reader.Commits(ctx, s, from) {
			if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == dataCorrupted || e.Code == indexCorrupted) {
				err = fmt.Errorf("%w: %w", canon.ErrDamaged, err)
			}
			if !yield(commit, err) {
				return
			}
		}
	}
}

func newReader(s *Store, c *conn, known *sqlstore.Caches) *reader {
	r := newUnindexedReader(c, known)
	r.SnapshotFinder = s.finder.Bind(r)
	return r
}

// newUnindexedReader returns a reader that cannot search. The search indexes are built through it.
func newUnindexedReader(c *conn, known *sqlstore.Caches) *reader {
	return &reader{Reader: sqlstore.NewReader(c, dialect, known), c: c}
}

var _ canon.Reader = (*reader)(nil)
var _ canon.Tx = (*tx)(nil)

// noteWrite stores the error of a write that the server refused because it has no room or is
// read-only.
func (s *Store) noteWrite(err error) {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (strings.HasPrefix(e.Code, "53") || e.Code == readOnly) {
		refused := toFault(err)
		s.refused.Store(&refused)
	}
}

// Writable returns the reason why writes are refused; nil if they are accepted. If the server
// refused an earlier write, it tries a write that changes nothing.
func (s *Store) Writable(ctx context.Context) error {
	if err := s.damaged.Load(); err != nil {
		return *err
	}
	at := 0
	if err := s.read(ctx, func(c *conn) error {
		format, err := sqlstore.QueryInt(ctx, c, "SELECT format FROM writer")
		at = int(format)
		return err
	}); err != nil {
		return err
	}
	if err := checkFormat(at); err != nil {
		return err
	}
	if s.refused.Load() == nil {
		return nil
	}
	err := s.write(ctx, func(t *tx) error {
		_, err := t.c.Exec(ctx, "UPDATE writer SET n = n")
		return err
	})
	if err == nil {
		s.refused.Store(nil)
	}
	return err
}

// Stats holds sizes of a store for metrics. It contains nothing that labels hide.
type Stats struct {
	Bytes  int64 // of the database
	Conns  int   // open connections of this process
	Queued int   // writes of this process that wait for their turn
}

// Stats measures the store.
func (s *Store) Stats(ctx context.Context) (st Stats, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		st.Bytes, err = sqlstore.QueryInt(ctx, c, "SELECT pg_database_size(current_database())")
		return err
	})
	st.Conns, st.Queued = int(s.pool.Stat().TotalConns()), s.writes.Waiting()
	return st, err
}

// Verify returns the faults that the server knows of, which are indexes that it could not finish,
// and those of the search indexes. Faults in the tables are found by verifying the chains and by a
// rebuild.
func (s *Store) Verify(ctx context.Context) (faults []string, err error) {
	err = s.read(ctx, func(c *conn) error {
		return sqlstore.Each(ctx, c, func(r sqlstore.Row) error {
			faults = append(faults, "index "+r.Text(0)+" is not valid; rebuild it with REINDEX")
			return nil
		},
			"SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1")
	})
	if err != nil || len(faults) > 0 {
		return faults, err
	}
	return s.finder.Verify(ctx)
}

// Check is Verify; checking pages is left to the server's own tools.
func (s *Store) Check(ctx context.Context, rest func(time.Duration)) ([]string, error) {
	started := time.Now()
	faults, err := s.Verify(ctx)
	rest(time.Since(started))
	return faults, err
}

// Confined is for stores in files: broken pages are found by the server's own tools.
func (s *Store) Confined() string { return "" }

// MarkDamaged makes the store refuse writes from now on because of the given fault.
func (s *Store) MarkDamaged(found string) {
	err := error((&fault.Error{Kind: fault.Unavailable, RetryAfter: time.Minute,
		Message: "the store is damaged: nothing is written to it; ask the operator to restore it"}).Because(errors.New(found)))
	s.damaged.CompareAndSwap(nil, &err)
}

// errNoBackup is returned by Backup.
var errNoBackup = fault.New(fault.Rule,
	"this instance keeps its worlds in PostgreSQL; back it up with pg_dump --exclude-table-data=signing_keys, "+
		"and restore with pg_restore")

// Backup always fails: backups are made with pg_dump, as its error says.
func (s *Store) Backup(context.Context, string) error { return errNoBackup }
