package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	driverlib "modernc.org/sqlite"

	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
)

//go:embed migrations/*.sql migrations/records/*.sql
var migrations embed.FS

// schemaVersion is the format of a store: the user_version that its last migration sets.
const schemaVersion = 18

// Format is the format of stores that this program writes.
const Format = schemaVersion

// schema is the schema that a file is migrated to.
type schema struct {
	folder  string // folder of its migrations
	version int64  // the user_version that the last migration sets
}

var (
	storeSchema  = schema{"migrations", schemaVersion}
	recordSchema = schema{"migrations/records", 1}
)

// oldestSupported is the first SQLite release without the WAL-reset corruption.
const oldestSupported = 3_051_003

// Config sets the path and the limits of a store. Zero fields except Path take their defaults.
type Config struct {
	Path     string        // of the file; created if it is missing
	Readers  int           // read connections open at once; default 8
	CacheKiB int           // memory for the page caches of all connections; default 98,304
	Wait     time.Duration // longest wait for another process's write; default 30 s
	Poll     time.Duration // how often to look for other processes' writes; default 200 ms
	// Check is how long Open may check each file for damage; default 250 ms, no check if negative.
	Check time.Duration
	Log   *slog.Logger // of upgrades and of failures in the background; default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Readers <= 0 {
		c.Readers = 8
	}
	if c.CacheKiB <= 0 {
		c.CacheKiB = 96 << 10
	}
	if c.Wait <= 0 {
		c.Wait = 30 * time.Second
	}
	if c.Poll <= 0 {
		c.Poll = 200 * time.Millisecond
	}
	c.Check = cmp.Or(c.Check, 250*time.Millisecond)
	c.Log = cmp.Or(c.Log, slog.Default())
	return c
}

// writerShare: the writer gets 1/writerShare of the memory for page caches; the readers share the
// rest. A reader's cached pages are dropped after each commit and then read again, mostly from the
// operating system's file cache.
const writerShare = 3

// pageKiB is the memory that one cached page takes. SQLite asks for its 4 KiB and some 250 bytes of
// its own, and the allocator rounds up to a power of two.
const pageKiB = 8

// cachedPages returns how many pages a connection's cache may hold.
func (c Config) cachedPages(readOnly bool) int {
	writer := c.CacheKiB / writerShare
	if readOnly {
		return (c.CacheKiB - writer) / c.Readers / pageKiB
	}
	return writer / pageKiB
}

// openConn opens a connection. SQLite's own busy handler only bridges short waits, for a checkpoint
// or another reader's recovery; writer.Begin waits for the write lock.
func openConn(ctx context.Context, cfg Config, readOnly bool) (*conn, error) {
	registerFunctions()
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_defensive=1&_dqs=0"}
	connector, err := driverlib.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := newConn(raw)
	for _, p := range connPragmas(cfg.cachedPages(readOnly), readOnly) {
		if err := p.set(ctx, c); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

type pragma struct{ name, value, want string }

func connPragmas(cachedPages int, readOnly bool) []pragma {
	list := []pragma{
		{"busy_timeout", "5000", "5000"},
		{"journal_mode", "WAL", "wal"},
		{"synchronous", "FULL", "2"},
		{"foreign_keys", "ON", "1"},
		{"trusted_schema", "OFF", "0"},
		{"mmap_size", "0", "0"},
		{"cache_size", strconv.Itoa(cachedPages), strconv.Itoa(cachedPages)},
		{"temp_store", "MEMORY", "2"},
		{"journal_size_limit", "67108864", "67108864"},
		// 4,000 pages are 16 MiB: a bulk load checkpoints a quarter as often as by default.
		{"wal_autocheckpoint", "4000", "4000"},
	}
	if readOnly {
		list = append(list, pragma{"query_only", "ON", "1"})
	}
	return list
}

// set sets a pragma and verifies the value: SQLite silently ignores unsupported values.
func (p pragma) set(ctx context.Context, c *conn) error {
	nothing := func(sqlstore.Row) error { return nil }
	if err := sqlstore.Each(ctx, c, nothing, "PRAGMA "+p.name+" = "+p.value); err != nil {
		return fmt.Errorf("set %s: %w", p.name, err)
	}
	var got string
	_, err := sqlstore.One(ctx, c, func(r sqlstore.Row) error { got = fmt.Sprint(valueAt(r, 0)); return nil }, "PRAGMA "+p.name)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.name, err)
	}
	// mmap_size returns no row if SQLite was built without memory mapping.
	if got != p.want && (got != "" || p.want != "0") {
		return fmt.Errorf("this SQLite does not accept %s = %s (the value is %q)", p.name, p.value, got)
	}
	return nil
}

// checkBuild refuses an SQLite release that can corrupt data.
func checkBuild(ctx context.Context, c *conn) error {
	var version string
	if _, err := sqlstore.One(ctx, c, func(r sqlstore.Row) error { version = r.Text(0); return nil },
		"SELECT sqlite_version()"); err != nil {
		return err
	}
	if n, ok := versionNumber(version); !ok || n < oldestSupported {
		return fmt.Errorf("SQLite %s can lose committed writes; 3.51.3 or later is needed", version)
	}
	return nil
}

// versionNumber converts "3.51.3" to 3051003.
func versionNumber(s string) (n int, ok bool) {
	for i, part := range strings.SplitN(s, ".", 3) {
		d, err := strconv.Atoi(part)
		if err != nil || i > 2 {
			return 0, false
		}
		n = n*1000 + d
	}
	return n, strings.Count(s, ".") == 2
}

// migrate brings a file to this program's schema. It runs Goose only if the file has an older
// format: a current store opens without it. Before it changes an existing file it calls before with
// the file's format; it does not call before for a new file.
func (s schema) migrate(ctx context.Context, c *conn, before func(at int64) error) error {
	const tries = 50
	for try := 0; ; try++ {
		at, err := sqlstore.QueryInt(ctx, c, "PRAGMA user_version")
		if err == nil {
			err = s.checkFormat(at)
		}
		if err != nil || at == s.version {
			return err
		}
		if at > 0 && before != nil {
			if err := before(at); err != nil {
				return err
			}
			before = nil
		}
		err = s.upgradeInTx(ctx, c, at)
		if err == nil {
			continue
		}
		// Another process may be upgrading the same file.
		if try == tries || ctx.Err() != nil || !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// upgradeInTx brings a file from format from to this program's format in one transaction. It does
// nothing if another process has upgraded the file already. Without the one transaction, two
// processes upgrading by turns could apply a step twice and set the format back.
func (s schema) upgradeInTx(ctx context.Context, c *conn, from int64) (err error) {
	if _, err := c.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, undo := c.Exec(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, undo)
		}
	}()
	at, err := sqlstore.QueryInt(ctx, c, "PRAGMA user_version")
	if err != nil {
		return err
	}
	if at == from {
		if err := s.runGoose(ctx, c); err != nil {
			return err
		}
		if at, err = sqlstore.QueryInt(ctx, c, "PRAGMA user_version"); err == nil && at != s.version {
			err = fmt.Errorf("the store's user_version is format %d, but its list of migrations ends at format %d: restore a backup", at, s.version)
		}
		if err != nil {
			return err
		}
	}
	_, err = c.Exec(ctx, "COMMIT")
	return err
}

// checkFormat refuses a format written by a newer program.
func (s schema) checkFormat(at int64) error {
	if at <= s.version {
		return nil
	}
	e := fault.Error{Kind: fault.Unavailable, RetryAfter: time.Minute,
		Message: "the store was upgraded by a newer Loregate, and this program is older: it writes nothing; ask the operator to restart it with the new program"}
	return e.Because(fmt.Errorf("the store has format %d and this program knows formats up to %d: it was written by a newer version; upgrade loregate and restart this process, or use another data folder", at, s.version))
}

// checkFileFormat refuses a file that a newer program has upgraded since it was opened. Writers
// call it while they hold the write lock.
func (s schema) checkFileFormat(ctx context.Context, c *conn) error {
	at, err := sqlstore.QueryInt(ctx, c, "PRAGMA user_version")
	if err != nil {
		return err
	}
	return s.checkFormat(at)
}

func (s schema) runGoose(ctx context.Context, c *conn) (err error) {
	files, err := fs.Sub(migrations, s.folder)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connLender{c})
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, s.version)
	return err
}

// connLender lends an open connection to database/sql, which Goose needs, inside the transaction of
// an upgrade: Goose's own transactions become parts of it. Closing the sql.DB leaves the connection
// open.
type connLender struct{ c *conn }

func (b connLender) Connect(context.Context) (driver.Conn, error) { return lentConn{b.c.raw}, nil }
func (b connLender) Driver() driver.Driver                        { return &driverlib.Driver{} }

type lentConn struct{ driver.Conn }

func (lentConn) Close() error { return nil }

func (l lentConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	return l.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (l lentConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	return l.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

func (lentConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return subTx{}, nil }

// subTx is a Goose transaction inside the transaction of an upgrade. Its Commit and Rollback do
// nothing; upgradeInTx ends the real transaction.
type subTx struct{}

func (subTx) Commit() error   { return nil }
func (subTx) Rollback() error { return nil }

var registerFunctions = sync.OnceFunc(func() {
	driverlib.MustRegisterDeterministicScalarFunction("lore_glob", 2, sqlGlob)
	driverlib.MustRegisterDeterministicScalarFunction("lore_has", 2, sqlHas)
})
