package postgres

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"loregate/internal/fault"
	"loregate/internal/wait"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaVersion is the format of a store: the number of the last migration, which writes it to the
// table writer.
const schemaVersion = 15

// Format is the format of stores that this program writes.
const Format = schemaVersion

// oldestSupported is the first PostgreSQL release that this store is tested with, in the server's
// numbering.
const oldestSupported = 140000

// Config sets the address and the limits of a store. Zero fields except URL take their defaults.
type Config struct {
	URL      string        // postgres://user@host/database, or a connection string of libpq's
	Direct   string        // the same database without PgBouncer, if URL is an address of PgBouncer
	Standbys bool          // make long reads at a standby, if URL names several servers
	Conns    int           // maximum number of connections; default 16, at least 4
	Wait     time.Duration // longest wait for another process's write; default 30 s
	Timeout  time.Duration // longest time for one statement; default 30 s
	Upgrade  bool          // migrate a database of an earlier format; otherwise Open refuses it
	Existing bool          // refuse a database without a store; otherwise Open makes one
	Poll     time.Duration // how often to look for other processes' writes in addition to notifications; default 500 ms
	Search   string        // folder of this machine's search indexes; "" keeps them only in memory
	Log      *slog.Logger  // of failures in the background; default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Conns <= 0 {
		c.Conns = 16
	}
	c.Conns = max(c.Conns, 4)
	if c.Wait <= 0 {
		c.Wait = 30 * time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Poll <= 0 {
		c.Poll = 500 * time.Millisecond
	}
	c.Log = cmp.Or(c.Log, slog.Default())
	return c
}

// pooled reports whether URL is an address of PgBouncer, which gives a transaction any of its
// connections to the server.
func (c Config) pooled() bool { return c.Direct != "" }

// readConfig returns the configuration of connections to PgBouncer.
func (c Config) readConfig() (*pgxpool.Config, error) {
	p, err := c.parseAddress(c.URL)
	if err == nil {
		// A prepared statement stays with one connection to the server; its description does not.
		p.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return p, err
}

// directConfig returns the configuration of connections to the servers themselves.
func (c Config) directConfig() (*pgxpool.Config, error) {
	p, err := c.parseAddress(cmp.Or(c.Direct, c.URL))
	if err != nil {
		return nil, err
	}
	for _, s := range c.sessionSettings() {
		p.ConnConfig.RuntimeParams[s.name] = s.value
	}
	p.ConnConfig.OnNotice = noteWarning
	return p, nil
}

func (c Config) parseAddress(address string) (*pgxpool.Config, error) {
	p, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the database's address cannot be read%s; write postgres://user@host:port/name",
			reasonOfAddress(err))
	}
	// An @ in the password would begin the host, and messages with the host would show the rest of the password.
	hosts := []string{p.ConnConfig.Host}
	for _, f := range p.ConnConfig.Fallbacks {
		hosts = append(hosts, f.Host)
	}
	if slices.ContainsFunc(hosts, func(h string) bool { return strings.Contains(h, "@") }) {
		return nil, fault.New(fault.Invalid, "the database's address has more than one @: write an @ in the password as %%40")
	}
	p.MaxConns = int32(c.Conns)
	p.MaxConnIdleTime = 5 * time.Minute
	p.ConnConfig.RuntimeParams["application_name"] = "loregate"
	p.ConnConfig.RuntimeParams["timezone"] = "UTC"
	return p, nil
}

// reasonOfAddress returns the reason why pgx refuses an address, such as a missing file of sslrootcert, in brackets; ""
// if its message may quote the address with its password.
func reasonOfAddress(err error) string {
	parse, ok := errors.AsType[*pgconn.ParseConfigError](err)
	if !ok || parse.Unwrap() == nil {
		return ""
	}
	if _, quotes := errors.AsType[*url.Error](err); quotes {
		return ""
	}
	return " (" + parse.Unwrap().Error() + ")"
}

// sessionSetting is a setting of a session as the view pg_settings shows it.
type sessionSetting struct{ name, value string }

// sessionSettings returns the settings of each session. PgBouncer refuses them in a connection: its
// connect_query sets them.
func (c Config) sessionSettings() []sessionSetting {
	return []sessionSetting{
		{"statement_timeout", millisText(c.Timeout)},
		{"lock_timeout", millisText(c.Wait)},
		{"idle_in_transaction_session_timeout", millisText(maxIdle)}, // for readers; writers have a shorter limit
		{"synchronous_commit", "on"},
		{"jit", "off"}, // compiling costs more than running these statements
		// Many concurrent queries need the processors more than one search does.
		{"max_parallel_workers_per_gather", "0"},
		{"work_mem", "32768"}, // KiB; if a search's hits do not fit, each row is checked again
		// Every query has its index. Plans made while a table was nearly empty would scan it, and
		// stay with the session when the table has grown.
		{"enable_seqscan", "off"},
		// Every query has its index for all arguments: planning it anew each time costs more than
		// most of these statements.
		{"plan_cache_mode", "force_generic_plan"},
	}
}

// SessionStatements returns the statements for PgBouncer's connect_query.
func (c Config) SessionStatements() (list []string) {
	for _, s := range c.withDefaults().sessionSettings() {
		list = append(list, "SET "+s.name+"="+s.value)
	}
	return list
}

// checkSession refuses a connection through PgBouncer that lacks the settings of a session.
func (c Config) checkSession(ctx context.Context, conn *pgx.Conn) error {
	var names []string
	for _, s := range c.sessionSettings() {
		names = append(names, s.name)
	}
	rows, err := conn.Query(ctx, "SELECT name, setting FROM pg_settings WHERE name = ANY($1)", names)
	if err != nil {
		return err
	}
	set, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Value string }])
	if err != nil {
		return err
	}
	for _, s := range c.sessionSettings() {
		if !slices.Contains(set, struct{ Name, Value string }{s.name, s.value}) {
			return fault.New(fault.Invalid, "PgBouncer's sessions lack %s=%s: add to the database's line in pgbouncer.ini "+
				"connect_query='%s', then run RELOAD and RECONNECT in PgBouncer's console",
				s.name, s.value, strings.Join(c.SessionStatements(), ";"))
		}
	}
	return nil
}

// errNoDirect is returned for an address of PgBouncer without another one.
var errNoDirect = fault.New(
	fault.Invalid,
	"database is an address of PgBouncer: set database_direct (databases_direct for one of databases) to the "+
		"address of the servers themselves, for notifications and migrations",
)

// identitySQL names a database among all databases of all servers.
const identitySQL = "SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()) " +
	"FROM pg_control_system()"

// checkAddresses refuses two addresses of different databases, and an address of PgBouncer if there
// is no other. PgBouncer tells its clients other process numbers than the server has.
func (s *Store) checkAddresses(ctx context.Context, conn *pgx.Conn) error {
	if s.cfg.pooled() {
		var here, there struct {
			system int64
			oid    uint32
		}
		if err := conn.QueryRow(ctx, identitySQL).Scan(&here.system, &here.oid); err != nil {
			return err
		}
		if err := s.direct.QueryRow(ctx, identitySQL).Scan(&there.system, &there.oid); err != nil {
			return err
		}
		if here != there {
			return fault.New(fault.Invalid,
				"database and database_direct (databases and databases_direct) are addresses of different databases; name the same one")
		}
		return s.cfg.checkSession(ctx, conn)
	}
	var pid uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return err
	}
	if pid != conn.PgConn().PID() {
		return errNoDirect
	}
	return nil
}

// maxIdle is the longest pause of a reader in the middle of a snapshot, for example to write an
// export.
const maxIdle = 15 * time.Minute

func millisText(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// checkServer refuses a server that cannot hold a store.
func checkServer(ctx context.Context, c *pgx.Conn) error {
	var version int
	var encoding string
	if err := c.QueryRow(ctx,
		"SELECT current_setting('server_version_num')::int, current_setting('server_encoding')").Scan(&version,
		&encoding); err != nil {
		return err
	}
	if version < oldestSupported {
		return fault.New(fault.Unavailable, "PostgreSQL %d is too old; 14 or later is needed", version/10000)
	}
	if encoding != "UTF8" {
		return fault.New(fault.Unavailable, "the database's encoding is %s; create it with ENCODING 'UTF8'", encoding)
	}
	return nil
}

// migrate brings the database to this program's schema. It runs Goose only if the database has an
// older format. If several processes start at once, one migrates and the others wait.
//
// Without c.Upgrade, a database of an earlier format is left unchanged: only its operator can back it
// up, and older programs cannot write to it after the migration. One that was never used is brought up
// to date: the process that created its schema was stopped in between.
func (c Config) migrate(ctx context.Context, pool *pgxpool.Pool, primary *pgx.ConnConfig) error {
	upgrade := c.Upgrade
	at, err := readFormat(ctx, pool)
	if err == nil && at == 0 && c.Existing {
		return fault.New(fault.Invalid, "there is no store of Loregate in the database yet: correct its address, or let loregate "+
			"serve or loregate copy make one")
	}
	if err == nil && at > 0 && at < schemaVersion && !upgrade {
		// Another process may be creating a new database's schema, step by step.
		if err = waitForGoose(ctx, pool); err == nil {
			at, err = readFormat(ctx, pool)
		}
		if err == nil && at < schemaVersion {
			upgrade, err = isUnused(ctx, pool)
		}
	}
	if err == nil {
		err = checkFormat(at)
	}
	switch {
	case err != nil:
		return err
	case at == schemaVersion:
		return nil
	case at > 0 && !upgrade:
		return fault.New(fault.Unavailable,
			"the database has format %d and this program needs format %d: "+
				"back it up with pg_dump --exclude-table-data=signing_keys, then run loregate upgrade --yes; "+
				"processes of the older program take no more writes then, until they are restarted with this one", at, schemaVersion)
	}
	return runGoose(ctx, primary)
}

// checkFormat refuses a format written by a newer program.
func checkFormat(at int) error {
	if at <= schemaVersion {
		return nil
	}
	e := fault.Error{Kind: fault.Unavailable, RetryAfter: time.Minute,
		Message: "the store was upgraded by a newer Loregate, and this program is older: " +
			"it writes nothing; ask the operator to restart it with the new program"}
	return e.Because(fmt.Errorf("the database has format %d and this program knows formats up to %d: "+
		"it was written by a newer version; upgrade loregate and restart this process, or use another database", at, schemaVersion))
}

func readFormat(ctx context.Context, pool *pgxpool.Pool) (at int, err error) {
	err = pool.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&at)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedTable {
		return 0, nil
	}
	return at, err
}

// isUnused reports whether no program has done anything in a database but to create its schema.
func isUnused(ctx context.Context, pool *pgxpool.Pool) (unused bool, err error) {
	err = pool.QueryRow(ctx, "SELECT NOT (EXISTS (SELECT FROM commits) OR EXISTS (SELECT FROM api_keys) "+
		"OR EXISTS (SELECT FROM access_processes))").Scan(&unused)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedTable { // of the second step
		return true, nil
	}
	return unused, err
}

// migrationWait is the longest wait for another process that migrates.
const migrationWait = 2 * time.Minute

// waitForGoose returns when no process is migrating the database.
func waitForGoose(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, migrationWait)
	defer cancel()
	c, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	for {
		var free bool // the lock is released at once
		if err := c.QueryRow(ctx, "SELECT CASE WHEN pg_try_advisory_lock($1) THEN pg_advisory_unlock($1) END IS NOT NULL",
			int64(lock.DefaultLockID)).Scan(&free); err != nil || free {
			return err
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

func runGoose(ctx context.Context, c *pgx.ConnConfig) (err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// tried every second
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, uint64(migrationWait.Seconds())))
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*c)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err = p.Up(ctx); err != nil {
		return fmt.Errorf("bring the database to schema %d: %w", schemaVersion, err)
	}
	return nil
}

// PostgreSQL error codes.
const (
	undefinedTable   = "42P01"
	lockNotAvailable = "55P03"
	deadlock         = "40P01"
	diskFull         = "53100"
	readOnly         = "25006"
	noDatabase       = "3D000"
	adminShutdown    = "57P01"
	crashShutdown    = "57P02"
	dataCorrupted    = "XX001"
	indexCorrupted   = "XX002"

	protocolViolation = "08P01"
)

var errRefused = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the database refuses this server; ask its operator to run loregate doctor"}

// isRefusal reports whether a server has refused the user, the password or the database of a connection.
func isRefusal(err error) bool {
	var e *pgconn.PgError
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) && errors.As(err, &e) && (e.Code[:2] == "28" || e.Code == noDatabase)
}

// isPoolers reports whether PgBouncer has refused the settings of a direct connection.
func isPoolers(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == protocolViolation && strings.Contains(e.Message, "startup parameter")
}

// toFault converts failures of the server or of the connection to it to errors for callers: they
// may try again.
func toFault(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	var e *pgconn.PgError
	var connect *pgconn.ConnectError
	again := func(message string) error {
		return (&fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: time.Second}).Because(err)
	}
	switch {
	case isPoolers(err):
		return errNoDirect.Because(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case isRefusal(err):
		return errRefused.Because(err)
	case errors.As(err, &connect):
		return again("the database does not answer; try again")
	case !errors.As(err, &e):
		if pgconn.SafeToRetry(err) || isClosed(err) {
			return again("the connection to the database was lost; try again")
		}
		return err
	case e.Code == lockNotAvailable, e.Code == deadlock:
		return again("another process keeps the store busy; try again")
	case e.Code == diskFull:
		return again("the disk is full: nothing can be written until there is room, " +
			"and nothing that was acknowledged is lost; ask the operator to free space on the database's disk, and try again")
	case e.Code == readOnly:
		return again("the database takes no writes; ask the operator to look at it " +
			"(a standby, or default_transaction_read_only), and try again")
	case e.Code[:2] == "53":
		return again("the database has no room or no connection left; try again later")
	case e.Code[:2] == "08", e.Code[:2] == "57", e.Code == "25P03":
		return again("the database stopped the call; try again")
	}
	return err
}
