package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"loregate/internal/store/sqlstore"
)

// Finding is the result of one check. Problem describes the problem and its remedy; "" means no
// problem.
type Finding struct{ What, Detail, Problem string }

// Place is the server's data folder; "" if the server does not tell or is on another machine.
type Place string

// Limits beyond which a value is reported as a problem.
const (
	mostSkew   = 2 * time.Second // leases are a minute, tokens have 30 s of leeway
	longWait   = 5 * time.Second // a writer's turn is milliseconds
	longIdle   = time.Minute     // the server ends such a writer after a minute, but not transactions of other programs
	oldestXIDs = 1_500_000_000   // the server stops accepting writes at 2,000,000,000
)

// Inspect checks the server as an operator would: its release and schema, the durability of
// acknowledged writes, free connections, sessions that wait long, the age of its oldest
// transaction, its timeouts and its clock. now returns this machine's time.
func (s *Store) Inspect(ctx context.Context, now func() time.Time) (all []Finding, place Place, err error) {
	err = s.read(ctx, func(c *conn) error {
		for _, look := range []func(context.Context, *conn) ([]Finding, error){inspectServer, inspectDurability,
			inspectSchema, s.inspectConnections, inspectWaits, inspectAge, s.inspectTimeouts} {
			found, err := look(ctx, c)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return nil
	})
	if err != nil {
		return all, "", err
	}
	skew, err := s.inspectClock(ctx, now)
	if err != nil {
		return all, "", err
	}
	all = append(append(all, skew), s.inspectServers(ctx)...)
	return all, s.findDataDir(ctx), nil
}

func inspectServer(ctx context.Context, c *conn) (all []Finding, err error) {
	f := Finding{What: "server"}
	_, err = sqlstore.One(ctx, c, func(r sqlstore.Row) error {
		f.Detail = "PostgreSQL " + r.Text(0) + ", encoding " + r.Text(1)
		if r.Int(2) != 0 {
			f.Problem = "this server is a standby and takes no writes; point --database at the primary"
		}
		return nil
	}, "SELECT current_setting('server_version'), current_setting('server_encoding'), pg_is_in_recovery()")
	return []Finding{f}, err
}

// inspectDurability checks the settings that must be on for an acknowledged write to survive a
// power cut.
func inspectDurability(ctx context.Context, c *conn) (all []Finding, err error) {
	f := Finding{What: "durability"}
	var off, seen []string
	err = sqlstore.Each(ctx, c, func(r sqlstore.Row) error {
		seen = append(seen, r.Text(0)+"="+r.Text(1))
		if r.Text(1) == "off" || r.Text(1) == "local" && r.Text(0) != "synchronous_commit" {
			off = append(off, r.Text(0))
		}
		return nil
	}, "SELECT name, setting FROM pg_settings "+
		"WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name")
	f.Detail = strings.Join(seen, " ")
	if len(off) > 0 {
		f.Problem = "off: " + strings.Join(off, ", ") +
			". A power cut can lose or damage acknowledged writes; set them to on in postgresql.conf, " +
			"then run SELECT pg_reload_conf()"
	}
	return []Finding{f}, err
}

func inspectSchema(ctx context.Context, c *conn) ([]Finding, error) {
	n, err := sqlstore.QueryInt(ctx, c, "SELECT max(version_id) FROM goose_db_version WHERE is_applied")
	f := Finding{What: "migrations", Detail: fmt.Sprintf("schema %d of %d", n, schemaVersion)}
	if n != schemaVersion {
		f.Problem = "the schema is not the one of this program; start one server of this version, which migrates it"
	}
	return []Finding{f}, err
}

func (s *Store) inspectConnections(ctx context.Context, c *conn) (all []Finding, err error) {
	f := Finding{What: "connections"}
	_, err = sqlstore.One(ctx, c, func(r sqlstore.Row) error {
		most, used, ours, mine := r.Int(0), r.Int(1), r.Int(2), int64(s.cfg.Conns+1)
		f.Detail = fmt.Sprintf("%d of %d in use, %d by Loregate; a process may open %d", used, most, ours, mine)
		if most-used+ours < mine {
			f.Problem = fmt.Sprintf("%d of %d connections are in use by others: "+
				"raise max_connections, or lower pool.connections of each process", used-ours, most)
		}
		return nil
	}, `SELECT current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
		count(*), count(*) FILTER (WHERE application_name = 'loregate')
		FROM pg_stat_activity WHERE backend_type = 'client backend'`)
	return []Finding{f}, err
}

// inspectWaits finds a session that has waited long for a lock, or one that keeps a transaction
// open without doing anything. It does not show the statements of others.
func inspectWaits(ctx context.Context, c *conn) (all []Finding, err error) {
	f := Finding{What: "locks", Detail: "no session waits long"}
	err = sqlstore.Each(ctx, c, func(r sqlstore.Row) error {
		pid, secs := r.Int(0), r.Int(1)
		if by := r.Text(2); by != "" {
			f.Problem = fmt.Sprintf("session %d has waited for %d s on %s; look at SELECT * FROM pg_stat_activity, "+
				"and end the session that blocks it with SELECT pg_terminate_backend(%s)", pid, secs, by, by)
		} else {
			f.Problem = fmt.Sprintf("session %d (%s) has had a transaction open for %d s without doing anything, "+
				"which keeps old rows from being cleared; end it with SELECT pg_terminate_backend(%d)", pid, r.Text(3), secs, pid)
		}
		return sqlstore.ErrStop
	}, `SELECT pid, extract(epoch FROM clock_timestamp() - state_change)::bigint,
			coalesce((pg_blocking_pids(pid))[1]::text, ''), application_name
		FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (
			cardinality(pg_blocking_pids(pid)) > 0 AND state_change < clock_timestamp() - $1::bigint * interval '1 ms' OR
			state LIKE 'idle in transaction%' AND state_change < clock_timestamp() - $2::bigint * interval '1 ms')
		ORDER BY 3 DESC, 2 DESC LIMIT 1`, longWait.Milliseconds(), longIdle.Milliseconds())
	return []Finding{f}, err
}

func inspectAge(ctx context.Context, c *conn) ([]Finding, error) {
	n, err := sqlstore.QueryInt(ctx, c,
		"SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()")
	f := Finding{What: "vacuum", Detail: fmt.Sprintf("oldest transaction %d million ago", n/1_000_000)}
	if n > oldestXIDs {
		f.Problem = "old rows are not cleared, and the server will stop accepting writes; run VACUUM (FREEZE), " +
			"and find out why autovacuum does not run"
	}
	return []Finding{f}, err
}

func (s *Store) inspectTimeouts(ctx context.Context, c *conn) (all []Finding, err error) {
	f := Finding{What: "timeouts"}
	_, err = sqlstore.One(ctx, c, func(r sqlstore.Row) error {
		f.Detail = "statement " + r.Text(0) + ", wait for a write " + r.Text(1) + ", idle reader " + r.Text(2)
		return nil
	}, "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), "+
		"current_setting('idle_in_transaction_session_timeout')")
	return []Finding{f}, err
}

// inspectClock compares the clocks, to within half of a round trip.
func (s *Store) inspectClock(ctx context.Context, now func() time.Time) (Finding, error) {
	var theirs time.Time
	before := now()
	err := s.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&theirs)
	after := now()
	skew := theirs.Sub(before.Add(after.Sub(before) / 2))
	f := Finding{What: "clock", Detail: fmt.Sprintf("the server's is %s ahead of this machine's, give or take %s",
		skew.Round(time.Millisecond), (after.Sub(before) / 2).Round(time.Millisecond))}
	if skew.Abs()-after.Sub(before) > mostSkew {
		f.Problem = fmt.Sprintf("the clocks differ by %s, and leases and tokens depend on them; "+
			"synchronize both machines by NTP (timedatectl set-ntp true)", skew.Abs().Round(100*time.Millisecond))
	}
	return f, toFault(err)
}

// findDataDir returns the server's data folder if the server is on this machine.
func (s *Store) findDataDir(ctx context.Context) Place {
	host := s.failover.primaryConfig().Host
	if ip := net.ParseIP(host); !strings.HasPrefix(host, "/") && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	var dir string
	if err := s.pool.QueryRow(ctx, "SHOW data_directory").Scan(&dir); err != nil {
		return "" // the user may lack the right to read it
	}
	return Place(dir)
}

// Remedy describes why a database cannot be opened and how to fix that; "" if the error says
// enough.
func Remedy(err error) string {
	var e *pgconn.PgError
	var dns *net.DNSError
	var connect *pgconn.ConnectError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &e):
		return remedies[e.Code]
	case errors.As(err, &dns):
		return "no machine has the name " + strconv.Quote(dns.Name) + "; check its spelling"
	case errors.As(err, &certificate):
		return "the server's certificate is not accepted (" + certificate.Err.Error() + "); renew it, or name its authority and its " +
			"host as they are: sslrootcert and the host of the address"
	case errors.Is(err, errStale):
		return ""
	case errors.As(err, &connect) && everyTryLacksTLS(connect.Error()):
		return "the server offers no TLS: set ssl = on there, or sslmode=disable if nobody can read the network between"
	case errors.As(err, &connect) && strings.Contains(connect.Error(), "refused"):
		return "nothing listens there; start PostgreSQL (systemctl start postgresql), or name its host and port"
	case errors.As(err, &connect) && strings.Contains(connect.Error(), "no such file"):
		return "there is no socket there; start PostgreSQL (systemctl start postgresql), or name host=/var/run/postgresql"
	case errors.As(err, &connect):
		return "the server cannot be reached, or does not answer in time; check host, port, firewall and sslmode"
	case errors.Is(err, pgx.ErrNoRows):
		return "the database holds other tables; create an empty one with createdb"
	}
	return ""
}

// everyTryLacksTLS reports whether all of the tries that a connection error lists have failed since the server offers
// no TLS. With sslmode=prefer such a try is followed by one without TLS.
func everyTryLacksTLS(text string) bool {
	tries := strings.Split(text, "\n")
	if len(tries) > 1 {
		tries = tries[1:] // below the heading
	}
	return !slices.ContainsFunc(tries, func(try string) bool { return !strings.Contains(try, "refused TLS") })
}

const noExtension = "the extension pg_trgm is not on the server; " +
	"install PostgreSQL's contrib package (Debian: it is in postgresql-15)"

// remedies maps error codes to remedies. Codes: PostgreSQL's manual, appendix A.
var remedies = map[string]string{
	"28P01": "the password or the user is wrong; correct it in LOREGATE_DATABASE, PGPASSWORD or ~/.pgpass",
	"28000": "the server does not let this user in from here; check pg_hba.conf, and create the user with createuser",
	"3D000": "there is no such database; create it with: createdb --encoding=UTF8 --owner=USER NAME",
	"42501": "the user must own the database and its tables: ALTER DATABASE name OWNER TO user; " +
		"if a dump was restored as another user, restore it with pg_restore --role=user",
	"53300": "the server has no connection left; raise max_connections, or lower pool.connections of each process",
	"57P03": "the server is starting or stopping; try again shortly",
	"58P01": noExtension,
	"0A000": noExtension,
}
