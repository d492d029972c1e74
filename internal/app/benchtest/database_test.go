package benchtest

import (
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// database gives the address of the PostgreSQL database that stands for the store of a
// data folder, and "" where BENCH_DATABASE, the address of a server, is not set.
func database(b *testing.B, dir string) string {
	b.Helper()
	server := os.Getenv("BENCH_DATABASE")
	if server == "" {
		return ""
	}
	u, err := url.Parse(server)
	if err != nil {
		b.Fatal(err)
	}
	u.Path = "/" + databaseName(dir)
	return u.String()
}

func databaseName(dir string) string {
	return fmt.Sprintf("bench_%08x", crc32.ChecksumIEEE([]byte(dir)))
}

// onServer runs a statement on the server that keeps the databases, and gives the number
// it answers with.
func onServer(b *testing.B, sql string) (n int) {
	b.Helper()
	c, err := pgx.Connect(b.Context(), os.Getenv("BENCH_DATABASE"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	rows, err := c.Query(b.Context(), sql)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}

func hasDatabase(b *testing.B, dir string) bool {
	return onServer(b, "SELECT count(*)::int FROM pg_database WHERE datname = '"+databaseName(dir)+"'") > 0
}

// readyDatabase makes the database of a folder where it is not there. Those of folders
// that a benchmark throws away go with it.
func readyDatabase(b *testing.B, dir string) string {
	b.Helper()
	at := database(b, dir)
	if at != "" && !hasDatabase(b, dir) {
		onServer(b, "CREATE DATABASE "+databaseName(dir)+" TEMPLATE template0")
	}
	return at
}

func dropDatabase(b *testing.B, dir string) {
	b.Helper()
	if database(b, dir) != "" {
		onServer(b, "DROP DATABASE IF EXISTS "+databaseName(dir)+" WITH (FORCE)")
	}
}

func renameDatabase(b *testing.B, from, to string) {
	b.Helper()
	if database(b, from) != "" {
		onServer(b, "ALTER DATABASE "+databaseName(from)+" RENAME TO "+databaseName(to))
	}
}
