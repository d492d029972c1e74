package crashtest

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app"
	"loregate/internal/canon"
)

// injureCommits deletes or changes commits 12 to 14 of a world.
func injureCommits(t *testing.T, at, world, how string) {
	t.Helper()
	in, err := openApp(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	w, ok, err := in.app.Canon.WorldBySlug(t.Context(), world)
	in.close()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	stream := string(canon.WorldStream(w.ID))
	if isDatabase(at) {
		db, err := pgx.Connect(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close(t.Context())
		q := map[string]string{"missing": "DELETE FROM commits", "changed": "UPDATE commits SET body = set_byte(body, 30, 88)"}[how]
		tag, err := db.Exec(t.Context(), q+" WHERE s = (SELECT s FROM streams WHERE name = $1) AND seq BETWEEN 12 AND 14", stream)
		if err != nil || tag.RowsAffected() != 3 {
			t.Fatal(tag, err)
		}
		return
	}
	db, err := sql.Open("sqlite", filepath.Join(at, app.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	q := map[string]string{"missing": "DELETE FROM commits",
		"changed": "UPDATE commits SET body = CAST(replace(CAST(body AS TEXT), 'stream', 'strewn') AS BLOB)"}[how]
	if _, err := db.ExecContext(t.Context(), q+" WHERE n >> 40 = (SELECT s FROM streams WHERE name = ?) AND n & 1099511627775 BETWEEN 12 AND 14",
		stream); err != nil {
		t.Fatal(err)
	}
}

// TestALostCommitEndsOneWorld takes commits of one world away, or changes them, on both stores. The world is
// refused by name, the others are served and copied, and repair --world begins it anew with a recorded gap.
func TestALostCommitEndsOneWorld(t *testing.T) {
	silenceLog(t)
	for _, how := range []string{"missing", "changed"} {
		t.Run(how, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, at string) {
				newWorlds(t, at)
				injureCommits(t, at, "birch", how)
				serveWithout(t, at, "birch")
				c := configOf(t, "")
				c.Data, c.Database = settingsFor(at)
				var out bytes.Buffer
				to := t.TempDir()
				if err := app.Copy(t.Context(), c, at, to, []string{app.WholeWorlds}, &out); err != nil ||
					!strings.Contains(out.String(), "not copied: the world birch: commits 12 to 14 of") {
					t.Errorf("copy: %v\n%s", err, out.String())
				}
				in, err := openApp(t.Context(), to)
				if err != nil {
					t.Fatal(err)
				}
				checkCards(t, "copy", in, "ash")
				checkCards(t, "copy", in, "cedar")
				in.close()
				if err := app.Copy(t.Context(), c, at, t.TempDir(), []string{"ash", "birch"}, &out); err == nil ||
					!strings.Contains(err.Error(), "could not be copied: birch") {
					t.Errorf("copy of the lost world: %v", err)
				}
				if err := app.Repair(t.Context(), c, []string{"ash"}, false, &out); err == nil {
					t.Error("a whole world was repaired")
				}
				if err := app.Repair(t.Context(), c, []string{"birch"}, false, &out); err != nil {
					t.Fatalf("repair: %v\n%s", err, out.String())
				}
				if in, err = openApp(t.Context(), at); err != nil {
					t.Fatal(err)
				}
				report, err := in.app.Verify(t.Context(), "")
				if err != nil || !strings.Contains(report, "; commits 12 to ") || !strings.Contains(report, "are lost, as commit") {
					t.Errorf("audit verify after the repair: %v\n%s", err, report)
				}
				for _, w := range lostWorlds {
					checkCards(t, "repaired", in, w)
					writeBeside(t, "repaired", in, w)
				}
				in.close()
				// The gap is a part of the chain, so that a whole copy has it too.
				if err := app.Copy(t.Context(), c, at, t.TempDir(), nil, &out); err != nil {
					t.Errorf("copy of the repaired store: %v\n%s", err, out.String())
				}
			})
		})
	}
}

// serveWithout checks that all worlds but one are served, and that it is named.
func serveWithout(t *testing.T, at, lost string) {
	t.Helper()
	in, err := openApp(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	if found, err := in.app.CheckStore(t.Context()); err != nil || found != "" {
		t.Errorf("check: %s %v", found, err)
	}
	if err := in.app.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
	for _, w := range lostWorlds {
		if w != lost {
			checkCards(t, "served", in, w)
			if !writeBeside(t, "served", in, w) {
				t.Errorf("writes to %s are refused", w)
			}
			continue
		}
		a, err := in.call(t.Context(), "get_card", "", map[string]any{"world": w, "name": "Card 1"})
		if err != nil || a.status != 503 || !strings.Contains(a.body, "commits 12 to 14 of") ||
			!strings.Contains(a.body, "loregate repair --world "+w) {
			t.Errorf("a read of %s: %v %v", w, a, err)
		}
	}
	report, err := in.app.Verify(t.Context(), "")
	if err == nil || strings.Count(report, "BROKEN") != 1 || !strings.Contains(report, "BROKEN: the world "+lost+": commits 12 to 14 of") ||
		!strings.Contains(err.Error(), "loregate repair --world "+lost) {
		t.Errorf("audit verify: %v\n%s", err, report)
	}
}
