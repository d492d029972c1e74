package prooftest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

// downgradeStatements bring a store back to the schema that it had before versions had former
// names.
var downgradeStatements = map[string][]string{
	"embedded": {
		"ALTER TABLE members DROP COLUMN may", "ALTER TABLE invitations DROP COLUMN may",
		"ALTER TABLE cards DROP COLUMN parts", "ALTER TABLE cards DROP COLUMN places",
		"ALTER TABLE versions DROP COLUMN places",
		"DROP INDEX jobs_turns", "DROP INDEX jobs_listed", "DROP INDEX jobs_waiting",
		"ALTER TABLE jobs DROP COLUMN started", "ALTER TABLE jobs DROP COLUMN stop",
		"DROP TABLE placements", "DROP TABLE fences",
		"ALTER TABLE cards DROP COLUMN body", "DROP TABLE former_keys", "DROP TRIGGER cards_renamed",
		"ALTER TABLE docs RENAME TO later_docs", "ALTER TABLE doc_texts RENAME TO later_texts", "DROP TABLE searched",
		"CREATE TABLE docs (doc INTEGER PRIMARY KEY, w INTEGER, card BLOB, part INTEGER, level INTEGER, label INTEGER, sum BLOB, kind TEXT)",
		"CREATE INDEX docs_card ON docs (w, card)", "CREATE INDEX docs_named ON docs (label)",
		"INSERT INTO docs (w, card, part, level, label, sum) SELECT w, card, 4 * w + level, level, label, sum FROM later_docs WHERE sum IS NOT NULL",
		"CREATE TABLE doc_texts (doc INTEGER PRIMARY KEY, name TEXT, text TEXT)",
		"INSERT INTO doc_texts SELECT d.doc, t.name, t.text FROM later_texts t JOIN docs d ON d.w = t.w AND d.card = t.card",
		"DROP TABLE later_docs", "DROP TABLE later_texts",
		"CREATE TABLE parts (part INTEGER PRIMARY KEY)", "CREATE TABLE tokens (id INTEGER PRIMARY KEY)",
		"CREATE TABLE alias_runs (rid INTEGER)",
		"DROP TRIGGER refs_added", "DROP TRIGGER refs_taken", "DROP TRIGGER cards_added", "DROP TRIGGER cards_taken",
		"DROP TRIGGER cards_turned",
		"DROP TABLE targets", "DROP TRIGGER streams_mark", "ALTER TABLE streams DROP COLUMN mark",
		"UPDATE versions SET name = was_name, key = was_key WHERE was_name <> ''",
		"DROP INDEX versions_was", "DROP TABLE stale",
		"ALTER TABLE cards DROP COLUMN format", "ALTER TABLE versions DROP COLUMN format",
		"ALTER TABLE versions DROP COLUMN was_name", "ALTER TABLE versions DROP COLUMN was_key",
		"ALTER TABLE versions DROP COLUMN was_level", "ALTER TABLE versions DROP COLUMN was_label",
		"DELETE FROM goose_db_version WHERE version_id >= 7", "PRAGMA user_version = 6",
	},
	"postgres": {
		"DROP TABLE access_readers, access_seen, access_progress", "ALTER TABLE members DROP COLUMN may",
		"ALTER TABLE invitations DROP COLUMN may", "ALTER TABLE cards DROP COLUMN parts, DROP COLUMN places",
		"ALTER TABLE versions DROP COLUMN places",
		"DROP INDEX jobs_turns, jobs_listed, jobs_waiting", "ALTER TABLE jobs DROP COLUMN started, DROP COLUMN stop",
		"DROP TABLE placements, fences",
		"ALTER TABLE cards DROP COLUMN format", "ALTER TABLE versions DROP COLUMN format",
		"DROP TABLE searched", "ALTER TABLE docs DROP COLUMN gen", "DROP SEQUENCE docs_gen",
		"DELETE FROM docs WHERE name IS NULL",
		"ALTER TABLE docs ADD COLUMN fname text, ADD COLUMN fbody text, ALTER COLUMN name SET NOT NULL, ALTER COLUMN body SET NOT NULL",
		"CREATE TABLE lexemes (w bigint)", "CREATE TABLE tokens (w bigint)", "CREATE TABLE indexed (w bigint)",
		"CREATE INDEX cards_fold ON cards (fold)", "ALTER TABLE aliases ADD COLUMN fold text",
		"CREATE INDEX aliases_fold ON aliases (fold)",
		"DROP TABLE targets", "DROP FUNCTION refs_added, refs_taken, cards_turned, targets_count, targets_least CASCADE",
		"DROP FUNCTION check_writer_mark CASCADE", "ALTER TABLE writer DROP COLUMN mark, DROP COLUMN format",
		"UPDATE versions SET name = was_name, key = was_key WHERE was_name <> ''",
		"DROP INDEX versions_was", "DROP TABLE stale",
		"ALTER TABLE versions DROP COLUMN was_name, DROP COLUMN was_key, DROP COLUMN was_level, DROP COLUMN was_label",
		"DELETE FROM goose_db_version WHERE version_id >= 5",
	},
}

// TestAnUpgradedStoreKeepsFormerNames opens a store that was written before names had labels:
// no former name is visible to players, and the tables match their stream.
func TestAnUpgradedStoreKeepsFormerNames(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		c := configOn(t, on)
		withApp(t, c, func(a *app.App) {
			w, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "old"})
			if err != nil {
				t.Fatal(err)
			}
			s := &stage{t: t, app: a, world: w.ID}
			s.do(keeper, "create_card", map[string]any{"name": "Zq Is The Killer", "level": "gm", "content": "x"})
			s.do(keeper, "create_card", map[string]any{"name": "Zq Is The Killer+tags", "content": "[[guild]]"})
			s.do(keeper, "create_card", map[string]any{"name": "Inn+sign", "content": "a swan"})
			for _, r := range [][2]string{{"Zq Is The Killer", "Baker"}, {"Inn", "Tavern"}} {
				s.do(keeper, "rename_card", map[string]any{"name": r[0], "new_name": r[1]})
			}
			s.do(keeper, "set_card_level", map[string]any{"name": "Baker", "level": "user"})
		})
		downgradeStore(t, on, c)
		if err := app.Upgrade(t.Context(), c, true, io.Discard); err != nil {
			t.Fatal(err)
		}
		withApp(t, c, func(a *app.App) {
			list, err := a.Canon.Stale(t.Context())
			if err != nil || len(list) != 0 {
				t.Errorf("still to be made again: %v, %v", list, err)
			}
			rebuilt, err := a.Rebuild(t.Context(), "", canon.CompareOnly)
			if err != nil || len(rebuilt) != 1 || len(rebuilt[0].Different) > 0 {
				t.Errorf("the tables are not what the stream says: %+v, %v", rebuilt, err)
			}
			w, err := a.Canon.Worlds(t.Context())
			if err != nil || len(w) != 1 {
				t.Fatal(w, err)
			}
			s := &stage{t: t, app: a, world: w[0].ID}
			shown := func(role access.Role, card string) string {
				return fmt.Sprint(s.do(newAuthor("somebody", role), "get_card_history", map[string]any{"name": card}))
			}
			if got := shown(access.RoleUser, "Baker+tags"); strings.Contains(got, "Zq") {
				t.Errorf("a player is shown %s", got)
			}
			if got := shown(access.RoleGM, "Baker+tags"); !strings.Contains(got, "Zq Is The Killer+tags") {
				t.Errorf("a GM is shown %s", got)
			}
			found := fmt.Sprint(s.do(newAuthor("somebody", access.RoleUser), "search_cards",
				map[string]any{"q": "swan", "search_in": "content"}))
			if !strings.Contains(found, "Tavern+sign") {
				t.Errorf("what was searchable before is not found: %s", found)
			}
			if got := shown(access.RoleUser, "Tavern+sign"); !strings.Contains(got, "Inn+sign") {
				t.Errorf("of a name that was never hidden a player is shown %s", got)
			}
		})
	})
}

func withApp(t *testing.T, c app.Config, f func(*app.App)) {
	t.Helper()
	a, err := app.Open(t.Context(), c, app.Options{Version: "1.0.0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.WithoutCancel(t.Context()))
	f(a)
}

func downgradeStore(t *testing.T, on string, c app.Config) {
	t.Helper()
	var exec func(q string) error
	if on == "postgres" {
		db, err := pgx.Connect(t.Context(), c.Database)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close(t.Context())
		exec = func(q string) error { _, err := db.Exec(t.Context(), q); return err }
	} else {
		db, err := sql.Open("sqlite", filepath.Join(c.Data, app.StoreFile))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		exec = func(q string) error { _, err := db.ExecContext(t.Context(), q); return err }
	}
	for _, q := range downgradeStatements[on] {
		if err := exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}
