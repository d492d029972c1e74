package benchtest

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// database returns the address of the PostgreSQL database that replaces the store of a data folder,
// or "" if BENCH_DATABASE, the address of a server, is not set.
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

// onServer runs a statement on the server of the databases, and returns the number that it answers
// with.
func onServer(b *testing.B, sql string) (n int) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context()) // cleanup runs after the context has ended
	c, err := pgx.Connect(ctx, os.Getenv("BENCH_DATABASE"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(ctx)
	rows, err := c.Query(ctx, sql)
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

// readyDatabase creates the database of a folder if it does not exist. The database of a temporary
// folder is dropped with it.
func readyDatabase(b *testing.B, dir string) string {
	b.Helper()
	at := database(b, dir)
	if at != "" && !hasDatabase(b, dir) {
		onServer(b, "CREATE DATABASE "+databaseName(dir)+" TEMPLATE template0")
		if !strings.HasPrefix(dir, folder()) {
			b.Cleanup(func() { dropDatabase(b, dir) })
		}
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

// maxWritten is the largest number of cards that are written one by one for a world in PostgreSQL.
// The server copies them for a larger world: writing a million would take most of an hour.
const maxWritten = 100_000

// multiplyCards creates a database of n cards from the database of a folder with maxWritten cards.
// The copies have the same texts under other names, so each word stays as frequent. The chains of
// the streams are not complete.
func multiplyCards(b *testing.B, from, to string, n int) {
	b.Helper()
	onServer(b, "CREATE DATABASE "+databaseName(to)+" TEMPLATE "+databaseName(from))
	c, err := pgx.Connect(b.Context(), database(b, to))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	run := func(sql string) {
		b.Helper()
		if _, err := c.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	run("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; DROP INDEX lexemes_words; DROP INDEX cards_fold")
	for k := 2; k <= n/maxWritten; k++ {
		for _, copy := range copies {
			run(strings.ReplaceAll(copy, "%k", strconv.Itoa(k)))
		}
	}
	run("CREATE INDEX lexemes_words ON lexemes USING gin (words) WITH (gin_pending_list_limit = 256)")
	run("CREATE INDEX cards_fold ON cards USING gin (fold gin_trgm_ops) WITH (gin_pending_list_limit = 256) WHERE trashed = 0")
	run("VACUUM ANALYZE")
}

// copies are the statements that make the k-th copy of the first maxWritten cards and of their rows
// in other tables. Ids are hashes, and " xk" follows the first part of each name.
var copies = []string{
	`INSERT INTO cards (w, id, parent, part, codename, type, type_key, content, size, length, fields, own, name, key, fold, level, label,
		rev, c1, c2, c3, created, created_by, updated, updated_by, seq, trashed, trash_root, sort)
	SELECT w, md5(id::text || '%k')::uuid, CASE parent WHEN '00000000-0000-0000-0000-000000000000' THEN parent ELSE md5(parent::text || '%k')::uuid END,
		CASE parent WHEN '00000000-0000-0000-0000-000000000000' THEN part || ' x%k' ELSE part END, codename, type, type_key, content, size, length, fields, own,
		regexp_replace(name, '^[^+]*', '\& x%k'), regexp_replace(key, '^[^+]*', '\&_x%k'), regexp_replace(fold, '^[^+]*', '\& x%k'), level, label,
		rev, c1, c2, c3, created, created_by, updated + %k, updated_by, seq, trashed, trash_root, sort
	FROM cards WHERE name !~ '^[^+]* x[0-9]+(\+|$)'`,
	`INSERT INTO versions SELECT w, md5(card::text || '%k')::uuid, rev, from_seq, to_seq, c1, c2, c3, level, label, regexp_replace(name, '^[^+]*', '\& x%k'),
		regexp_replace(key, '^[^+]*', '\&_x%k'), type, type_key, content, size, length, fields, trashed, purged, at, by, op, change
	FROM versions WHERE name !~ '^[^+]* x[0-9]+(\+|$)'`,
	`INSERT INTO docs (w, card, level, label, name, body, fname, fbody)
	SELECT d.w, md5(d.card::text || '%k')::uuid, d.level, d.label, d.name, d.body, d.fname, d.fbody
	FROM docs d JOIN cards c ON c.w = d.w AND c.id = d.card WHERE c.name !~ '^[^+]* x[0-9]+(\+|$)'`,
	`INSERT INTO lexemes SELECT l.w, md5(l.card::text || '%k')::uuid, l.level, l.label, l.big, l.words
	FROM lexemes l JOIN cards c ON c.w = l.w AND c.id = l.card WHERE c.name !~ '^[^+]* x[0-9]+(\+|$)'`,
}
