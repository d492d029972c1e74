package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/store/sqlstore"
)

// execIn runs a statement on a file directly, without the store.
func execIn(t *testing.T, path, sql string) error {
	t.Helper()
	c, err := openConn(t.Context(), Config{Path: path}.withDefaults(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	_, err = c.Exec(t.Context(), sql)
	return err
}

// TestOldProgramWritesNothingToNewerStore upgrades a store while it is open: the store can still be
// read, but writes fail with an error that says why.
func TestOldProgramWritesNothingToNewerStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	if err := s.Writable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := execIn(t, path, "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	wrote := false
	err := s.Write(t.Context(), func(canon.Tx) error { wrote = true; return nil })
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(),
		"restart it with the new program") || wrote {
		t.Errorf("a write: %v, done: %v", err, wrote)
	}
	if err := s.Writable(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Writable: %v", err)
	}
	if err := s.Read(t.Context(),
		func(r canon.Reader) error { _, err := r.Streams(t.Context(), ""); return err }); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := execIn(t, path+recordSuffix, "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.records.rewriteFormat(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a write to the records: %v", err)
	}
}

// TestAProgramOfBeforeTheFormatIsStopped runs the statements of old programs that do not compare
// formats.
func TestAProgramOfBeforeTheFormatIsStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	openTest(t, path)
	if err := execIn(t, path, "INSERT INTO streams (name, seq) VALUES ('world:1', 0)"); err != nil {
		t.Fatal(err)
	}
	if err := execIn(t, path, "UPDATE streams SET seq = 1, hash = x'00' WHERE s = 1"); err == nil ||
		!strings.Contains(err.Error(), "restart this process with the new program") {
		t.Errorf("the head of a stream is moved: %v", err)
	}
	if err := execIn(t, path, "UPDATE streams SET seq = 1, hash = x'00', mark = 1 WHERE s = 1"); err != nil {
		t.Error(err)
	}
}

// TestUpgradeFromEveryFormat upgrades from the state after each migration.
func TestUpgradeFromEveryFormat(t *testing.T) {
	for at := int64(1); at < schemaVersion; at++ {
		path := filepath.Join(t.TempDir(), "canon.db")
		c, err := openConn(t.Context(), Config{Path: path}.withDefaults(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := (schema{"migrations", at}).runGoose(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		reached, err := sqlstore.QueryInt(t.Context(), c, "PRAGMA user_version")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(t.Context(), "INSERT INTO streams (name, seq) VALUES ('world:1', 0)"); err != nil {
			t.Fatal(err)
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
		s := openTest(t, path)
		if err := s.Writable(t.Context()); err != nil {
			t.Errorf("from format %d: %v", reached, err)
		}
		kept, err := filepath.Glob(filepath.Join(filepath.Dir(path), backupFolder, "canon-format-*.db"))
		if err != nil || len(kept) != 1 {
			t.Errorf("from format %d: backups are %v; %v", reached, kept, err)
		}
	}
}

// Every table is either salvaged or rebuilt from the streams.
func TestEveryTableIsSalvagedOrRebuilt(t *testing.T) {
	known := map[string]bool{"goose_db_version": true, "sqlite_sequence": true}
	for _, table := range kept {
		known[table.name] = true
	}
	for _, table := range []string{"worlds", "members", "labels", "label_subjects", "cards", "versions", "refs", "links",
		"layers", "events",
		"searched", "docs", "doc_texts", "aliases", "stale", "targets", "former_keys"} {
		known[table] = true
	}
	s := openNew(t)
	if err := s.read(t.Context(), func(c *conn) error {
		return sqlstore.Each(t.Context(), c, func(r sqlstore.Row) error {
			if !known[r.Text(0)] {
				t.Errorf("the table %s is not in kept; list it there, or here where the streams give it again", r.Text(0))
			}
			return nil
		}, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	}); err != nil {
		t.Fatal(err)
	}
}

// TestBackupIsVerified backs up a store with a body that does not match its hash, which SQLite
// copies as it is.
func TestBackupIsVerified(t *testing.T) {
	s := openNew(t)
	if err := s.Write(t.Context(),
		func(tx canon.Tx) error { return tx.PutBody(t.Context(), testWorld, canon.Hash{1}, []byte("other")) }); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := s.Backup(t.Context(), filepath.Join(dir, "copy.db")); err == nil ||
		!strings.Contains(err.Error(), "does not have its hash") {
		t.Errorf("the backup of a damaged store: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v; %v", left, err)
	}
}

// TestConcurrentOpensCreateOneStore opens a new store several times at the same moment.
func TestConcurrentOpensCreateOneStore(t *testing.T) {
	for range 10 {
		path := filepath.Join(t.TempDir(), "canon.db")
		opened := make(chan error)
		for range 6 {
			go func() {
				s, err := Open(t.Context(), Config{Path: path})
				if err == nil {
					err = s.Close()
				}
				opened <- err
			}()
		}
		for range 6 {
			if err := <-opened; err != nil {
				t.Error(err)
			}
		}
		openTest(t, path)
	}
}

// TestUpgradeIsAtomic upgrades a store of format 7 in which the migration to format 10 fails, after two have
// succeeded.
func TestUpgradeIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	old := schema{storeSchema.folder, 7}
	c, err := openConn(t.Context(), Config{Path: path}.withDefaults(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(old.migrate(t.Context(), c, nil), c.close()); err != nil {
		t.Fatal(err)
	}
	if err := execIn(t, path, "CREATE TABLE searched (x)"); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Config{Path: path}); err == nil {
		t.Error("opened", s.Close())
	}
	if err := execIn(t, path, "DROP TABLE searched"); err != nil {
		t.Fatal(err)
	}
	if c, err = openConn(t.Context(), Config{Path: path}.withDefaults(), false); err != nil {
		t.Fatal(err)
	}
	at, err := sqlstore.QueryInt(t.Context(), c, "PRAGMA user_version")
	if err := errors.Join(err, c.close()); err != nil || at != old.version {
		t.Errorf("format %d, %v; want %d", at, err, old.version)
	}
	openTest(t, path)
}

// TestUpgradeKeepsFormerKeys upgrades a store of format 10 in which a card was renamed.
func TestUpgradeKeepsFormerKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	if err := s.Write(t.Context(), func(tx canon.Tx) error {
		err := tx.PutWorld(t.Context(), canon.World{ID: testWorld, Slug: "w", Title: "W", CreatedAt: testTime})
		for rev, name := range []string{"Mill", "Bakery"} {
			c := cardOf(1, name, access.NewLabel(access.LevelUser), "")
			c.Rev = uint32(rev + 1)
			err = errors.Join(err, tx.PutCard(t.Context(), c),
				tx.PutVersion(t.Context(), canon.Version{World: testWorld, Card: c.ID, Rev: c.Rev, Name: name, Label: c.Label,
					At: testTime}))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	wantFormer := func(s *Store) {
		t.Helper()
		if err := s.Read(t.Context(), func(r canon.Reader) error {
			found, err := r.FindCards(t.Context(), canon.Visibility{World: testWorld,
				View: access.View{Level: access.LevelUser}}, canon.CardQuery{OldKey: "mill"})
			if err == nil && (len(found) != 1 || found[0].Name != "Bakery") {
				t.Errorf("the card that was Mill is %v", found)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	wantFormer(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"ALTER TABLE members DROP COLUMN may", "ALTER TABLE invitations DROP COLUMN may",
		"ALTER TABLE cards DROP COLUMN parts", "ALTER TABLE cards DROP COLUMN places", "ALTER TABLE versions DROP COLUMN places",
		"DROP INDEX jobs_turns", "DROP INDEX jobs_listed", "DROP INDEX jobs_waiting",
		"ALTER TABLE jobs DROP COLUMN started",
		"ALTER TABLE jobs DROP COLUMN stop", "DROP TABLE placements", "DROP TABLE fences",
		"DROP TRIGGER cards_renamed", "DROP TABLE former_keys", "CREATE INDEX versions_key ON versions (w, key, card)",
		"ALTER TABLE searched ADD COLUMN gen INTEGER NOT NULL DEFAULT 0",
		"UPDATE searched SET gen = (SELECT max(gen) FROM docs)",
		"ALTER TABLE cards DROP COLUMN format", "ALTER TABLE versions DROP COLUMN format",
		"ALTER TABLE cards DROP COLUMN body", "DELETE FROM goose_db_version WHERE version_id >= 11",
		"PRAGMA user_version = 10",
	} {
		if err := execIn(t, path, sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	wantFormer(openTest(t, path))
}

// TestUpgradeKeepsRights upgrades a store of before members could have less than their role's rights: its members and
// open invitations keep all of them.
func TestUpgradeKeepsRights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	member := canon.Member{World: testWorld, Subject: "ada", Role: access.RoleUser, May: access.MayRead}
	invitation := identity.Invitation{ID: "i", World: testWorld, Role: access.RoleUser, May: access.MayPropose,
		By: "keeper", State: identity.InvitationOpen, Created: testTime, Expires: testTime.Add(time.Hour)}
	rights := func(s *Store) (m, i access.May) {
		t.Helper()
		var members []canon.Member
		err := s.Read(t.Context(), func(r canon.Reader) (err error) {
			members, err = r.Members(t.Context(), canon.MemberQuery{World: testWorld})
			return err
		})
		all, bad := s.Identity().Invitations(t.Context(), testWorld)
		if err != nil || bad != nil || len(members) != 1 || len(all) != 1 {
			t.Fatal(members, all, err, bad)
		}
		return members[0].May, all[0].May
	}
	if err := errors.Join(s.Write(t.Context(), func(tx canon.Tx) error { return tx.PutMember(t.Context(), member) }),
		s.Identity().AddInvitation(t.Context(), invitation)); err != nil {
		t.Fatal(err)
	}
	if m, i := rights(s); m != access.MayRead || i != access.MayPropose {
		t.Fatalf("stored as %v, %v", m, i)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"ALTER TABLE members DROP COLUMN may", "ALTER TABLE invitations DROP COLUMN may",
		"DELETE FROM goose_db_version WHERE version_id >= 18", "PRAGMA user_version = 16"} {
		if err := execIn(t, path, sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	if m, i := rights(openTest(t, path)); m != access.MayWrite || i != access.MayWrite {
		t.Errorf("after the upgrade the member may %v and the invited %v", m, i)
	}
}
