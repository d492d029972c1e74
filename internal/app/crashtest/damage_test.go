package crashtest

import (
	"bytes"
	"database/sql"
	littleendian "encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/programtest"
)

// page is a page of a store's file.
type page struct {
	number int
	kind   string // of the b-tree, or "overflow", "free", "header"
	owner  string // table or index; "" where it has none
}

const pageSize = 4096

// listPages lists the pages of a closed file.
func listPages(t *testing.T, path string) (list []page) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT pageno, name, pagetype FROM dbstat ORDER BY pageno")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	owned := map[int]page{}
	for rows.Next() {
		var p page
		var is string
		if err := rows.Scan(&p.number, &p.owner, &is); err != nil {
			t.Fatal(err)
		}
		if p.kind = is; is != "overflow" {
			at := (p.number - 1) * pageSize
			if p.number == 1 {
				at = 100
			}
			p.kind = map[byte]string{2: "index ", 10: "index ", 5: "table ", 13: "table "}[b[at]] + is
		}
		owned[p.number] = p
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	list = append(list, page{1, "header", ""})
	for n := 2; n <= len(b)/pageSize; n++ {
		p, ok := owned[n]
		if !ok {
			p = page{n, "free", ""}
		}
		list = append(list, p)
	}
	return list
}

// damages are the ways in which a test damages a page.
var damages = []struct {
	name string
	do   func(b []byte, r *rand.Rand)
}{
	{"zeros", func(b []byte, _ *rand.Rand) { clear(b) }},
	{"junk", func(b []byte, r *rand.Rand) {
		for i := 0; i < len(b); i += 8 {
			littleendian.LittleEndian.PutUint64(b[i:], r.Uint64())
		}
	}},
	{"a sector of junk", func(b []byte, r *rand.Rand) {
		at := 512 * r.IntN(len(b)/512)
		for i := at; i < at+512; i += 8 {
			littleendian.LittleEndian.PutUint64(b[i:], r.Uint64())
		}
	}},
	{"a bit", func(b []byte, r *rand.Rand) { b[r.IntN(len(b))] ^= 1 << r.IntN(8) }},
}

// newSampleStore makes a closed store that has pages of every kind.
func newSampleStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	in, err := openApp(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	must := func(operation string, args map[string]any) {
		t.Helper()
		if a, err := in.call(t.Context(), operation, "", args); err != nil || a.status != 200 {
			t.Fatal(operation, a, err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%x ", r.IntN(5000))
		}
		return b.String()
	}
	for n := range 60 {
		must("create_card", map[string]any{"name": fmt.Sprintf("Card %d", n), "content": words([]int{20, 200, 3000}[n%3])})
	}
	for n := range 20 {
		must("update_card", map[string]any{"name": fmt.Sprintf("Card %d", 3*n), "content": words(300)})
	}
	in.close()
	// Dropping a table leaves free pages.
	db, err := sql.Open("sqlite", filepath.Join(dir, app.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"CREATE TABLE gone (b)", "INSERT INTO gone SELECT randomblob(3000) FROM commits",
		"DROP TABLE gone", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copyStore copies a closed store.
func copyStore(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	for name, b := range readStoreFiles(t, from) {
		if err := os.WriteFile(filepath.Join(to, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// readStoreFiles returns the contents of a store's files that hold data, by name.
func readStoreFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{app.StoreFile, app.StoreFile + "-wal", app.StoreFile + "-access", app.StoreFile +
		"-access-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			files[name] = b
		} else if !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return files
}

func configOf(t *testing.T, dir string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = dir
	return c
}

// TestADamagedPageIsFoundAndMended damages pages of every kind, in both files. The damage must
// be reported at the start, by the check in the background or by doctor, and rebuild must never
// call a damaged store identical. repair either recovers everything, or reports the loss and
// changes nothing.
func TestADamagedPageIsFoundAndMended(t *testing.T) {
	programtest.Long(t)
	silenceLog(t)
	whole := newSampleStore(t)
	want := digestsByWorld(t, whole)
	r := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 4))
	outcomes := map[string]int{}
	for _, file := range []string{app.StoreFile, app.StoreFile + "-access"} {
		kinds := map[string][]page{}
		for _, p := range listPages(t, filepath.Join(whole, file)) {
			what := p.kind
			if slices.Contains([]string{"bodies", "commits", "api_keys", "streams", "cards"}, p.owner) ||
				strings.HasPrefix(p.owner, "sqlite_autoindex_bodies") {
				what += " of " + p.owner
			}
			kinds[what] = append(kinds[what], p)
		}
		for what, pages := range kinds {
			for range countFromEnv("DAMAGE_CASES", 1) {
				p, injury := pages[r.IntN(len(pages))], damages[r.IntN(len(damages))]
				name := fmt.Sprintf("%s: %s in a page %q (%d, %s)", file, injury.name, what, p.number, p.owner)
				dir := copyStore(t, whole)
				damagePage(t, filepath.Join(dir, file), p.number, func(b []byte) { injury.do(b, r) })
				outcome := checkDamage(t, name, dir, want)
				outcomes[outcome]++
				t.Logf("%-22s %s", outcome, name)
			}
		}
	}
	t.Logf("%v", outcomes)
	if outcomes["recovered"] == 0 || outcomes["refused"] == 0 {
		t.Error("no repair recovered anything, or none refused: the test does not reach both")
	}
}

// damagePage changes a page of a file.
func damagePage(t *testing.T, path string, number int, do func([]byte)) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	do(b[(number-1)*pageSize : number*pageSize])
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkDamage looks for the damage in a copy of the store, repairs the store and returns the
// outcome: "refused", "recovered" or "harmless".
func checkDamage(t *testing.T, name, dir string, want map[string]string) (outcome string) {
	t.Helper()
	said := detectDamage(t, name, copyStore(t, dir))
	before := readStoreFiles(t, dir)
	var out bytes.Buffer
	err := app.Repair(t.Context(), configOf(t, dir), nil, false, &out)
	if err != nil {
		if said == "" {
			t.Errorf("%s: nobody found it, and repair refuses: %v", name, err)
		}
		if !strings.Contains(err.Error(), "Nothing was changed") {
			t.Errorf("%s: repair fails with %v", name, err)
		}
		for file, b := range readStoreFiles(t, dir) {
			if !bytes.Equal(b, before[file]) {
				t.Errorf("%s: a repair that refused changed %s", name, file)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "repair")); len(left) > 0 {
			t.Errorf("%s: a repair that refused left %v", name, left)
		}
		t.Logf("%s: %v\n%s", name, err, out.String())
		return "refused"
	}
	if got := digestsByWorld(t, dir); !maps.Equal(got, want) {
		t.Errorf("%s: after the repair the worlds hold\n%v\nwant\n%v", name, got, want)
	}
	var report bytes.Buffer
	if err := app.Doctor(t.Context(), configOf(t, dir), "test", "", &report); err != nil {
		t.Errorf("%s: doctor after the repair: %v\n%s", name, err, report.String())
	}
	if said == "" {
		return "harmless"
	}
	return "recovered"
}

// detectDamage returns the part of the program that reports the damage: "start", "check",
// "doctor" or "rebuild"; "" if none does.
func detectDamage(t *testing.T, name, dir string) (said string) {
	t.Helper()
	var report bytes.Buffer
	doctor := app.Doctor(t.Context(), configOf(t, dir), "test", "", &report)
	if doctor != nil && !strings.Contains(report.String(), "loregate repair") {
		t.Errorf("%s: doctor does not advise a repair:\n%s", name, report.String())
	}
	a, err := app.Open(t.Context(), configOf(t, dir), app.Options{Version: "test", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		if !strings.Contains(err.Error(), "loregate repair") || doctor == nil {
			t.Errorf("%s: the start is refused with %v; doctor says %v", name, err, doctor)
		}
		return "start"
	}
	defer a.Close(t.Context())
	rebuilt, err := a.Rebuild(t.Context(), "", canon.CompareOnly)
	identical := err == nil
	for _, one := range rebuilt {
		identical = identical && len(one.Different) == 0
	}
	_, _ = a.CheckStore(t.Context())
	ready := a.Ready(t.Context())
	switch {
	case ready != nil:
		said = "check"
		if doctor == nil {
			t.Errorf("%s: the check finds %v, and doctor nothing", name, ready)
		}
		if err := a.EnsureWorld(t.Context()); err != nil {
			t.Errorf("%s: reads: %v", name, err)
		}
		if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "more"}); err == nil {
			t.Errorf("%s: a damaged store takes writes", name)
		}
	case doctor != nil:
		said = "doctor"
	}
	if said != "" && identical && !strings.Contains(name, "-access") {
		t.Errorf("%s: found by %s, and rebuild calls it identical", name, said)
	}
	if said == "" && !identical {
		said = "rebuild"
	}
	return said
}

// TestARepairRefusesWhileAServerRuns runs the shipped program: repair refuses a store that a
// server has open, and repairs it after the server is gone.
func TestARepairRefusesWhileAServerRuns(t *testing.T) {
	at := t.TempDir()
	mustRun(t, at, "world", "create", "main")
	s := startServer(t, at, "")
	if out, err := run(t, at, "repair"); err == nil || !strings.Contains(err.Error(), "stop the server") {
		t.Errorf("repair beside a server: %v\n%s", err, out)
	}
	s.kill()
	if out := mustRun(t, at, "repair"); !strings.Contains(out, "lost: nothing") || !strings.Contains(out, "is repaired") {
		t.Errorf("repair says\n%s", out)
	}
	mustRun(t, at, "doctor")
}
