package crashtest

import (
	"bytes"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/programtest"
	"loregate/internal/store/sqlite"
)

// lostWorlds are the worlds of the store that TestALostPageEndsOneWorld damages.
var lostWorlds = []string{"ash", "birch", "cedar"}

// worldCards is the number of cards of each of them.
const worldCards = 30

// cardToken is a word that only one card has.
func cardToken(world string, n int) string { return fmt.Sprintf("token%s%d", world, n) }

// newWorlds makes a closed store with several worlds, each with commits on several pages.
func newWorlds(t *testing.T, at string) {
	t.Helper()
	in, err := openApp(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	for _, w := range lostWorlds {
		if _, err := in.app.CreateWorld(t.Context(), canon.NewWorld{Slug: w}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range worldCards {
		for _, w := range lostWorlds {
			callOK(t, in, "create_card", map[string]any{"world": w, "name": fmt.Sprintf("Card %d", n),
				"content": strings.Repeat(cardToken(w, n)+" ", 1+n%3*200), "fields": map[string]any{"note": strings.Repeat("s", 300+n%10/9*9000)}})
		}
	}
	for _, w := range lostWorlds {
		for n := range 5 {
			callOK(t, in, "update_card", map[string]any{"world": w, "name": fmt.Sprintf("Card %d", n),
				"content": cardToken(w, n) + " changed"})
		}
		callOK(t, in, "rename_card", map[string]any{"world": w, "name": "Card 6", "new_name": "Card six"})
		callOK(t, in, "delete_card", map[string]any{"world": w, "name": "Card 7"})
	}
}

func callOK(t *testing.T, in appClient, operation string, args map[string]any) {
	t.Helper()
	if a, err := in.call(t.Context(), operation, "", args); err != nil || a.status >= 300 {
		t.Fatal(operation, a, err)
	}
}

// cardName is the name that a card of newWorlds has in the end; "" if it is in the trash.
func cardName(n int) string {
	switch n {
	case 6:
		return "Card six"
	case 7:
		return ""
	}
	return fmt.Sprintf("Card %d", n)
}

// checkCards checks that a world has all cards of newWorlds.
func checkCards(t *testing.T, name string, in appClient, world string) {
	t.Helper()
	for n := range worldCards {
		if cardName(n) == "" {
			continue
		}
		a, err := in.call(t.Context(), "get_card", "", map[string]any{"world": world, "name": cardName(n)})
		if err != nil || a.status != 200 || !strings.Contains(a.body, cardToken(world, n)) {
			t.Errorf("%s: card %d of %s: %v %v", name, n, world, a, err)
			return
		}
	}
}

// digestsByWorld returns the digests of each world's tables.
func digestsByWorld(t *testing.T, dir string) map[string]string {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, app.StoreFile)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sums := map[string]string{}
	err = s.Read(t.Context(), func(r canon.Reader) error {
		worlds, err := r.Worlds(t.Context(), canon.WorldQuery{All: true})
		for _, w := range worlds {
			for _, table := range canon.Tables {
				d, err := canon.Digest(t.Context(), r, w.ID, table)
				if err != nil {
					return err
				}
				sums[w.Slug] += fmt.Sprintf("%s %d %s\n", table, d.Rows, d.Sum)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// lostStreams returns the names of streams of which a commit of the whole file differs in the damaged one, or
// cannot be read. It asks SQLite, not the product.
func lostStreams(t *testing.T, whole, damaged string) (worlds []string, ledgers bool) {
	t.Helper()
	open := func(dir string) *sql.DB {
		db, err := sql.Open("sqlite", filepath.Join(dir, app.StoreFile))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	good, bad := open(whole), open(copyStore(t, damaged))
	rows, err := good.QueryContext(t.Context(), `SELECT c.n, c.body, coalesce(d.slug, '') FROM commits c JOIN streams s ON s.s = c.n >> 40
		LEFT JOIN world_ids i ON s.name = 'world:' || lower(format('%s-%s-%s-%s-%s', substr(hex(i.id), 1, 8), substr(hex(i.id), 9, 4),
			substr(hex(i.id), 13, 4), substr(hex(i.id), 17, 4), substr(hex(i.id), 21))) LEFT JOIN worlds d ON d.w = i.w`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var body, now []byte
		var slug string
		if err := rows.Scan(&n, &body, &slug); err != nil {
			t.Fatal(err)
		}
		err := bad.QueryRowContext(t.Context(), "SELECT body FROM commits NOT INDEXED WHERE n = ?", n).Scan(&now)
		switch {
		case err == nil && bytes.Equal(body, now):
		case slug == "":
			ledgers = true
		case !slices.Contains(worlds, slug):
			worlds = append(worlds, slug)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return worlds, ledgers
}

// TestALostPageEndsOneWorld loses a page of each table and of each index in turn. Worlds whose commits are
// whole are served, read and written, or the start names them; lost worlds are refused by name; nothing that a
// whole world acknowledged is lost, neither by writes beside the damage nor by copy --worlds or repair.
func TestALostPageEndsOneWorld(t *testing.T) {
	programtest.Long(t)
	silenceLog(t)
	whole := t.TempDir()
	newWorlds(t, whole)
	want := digestsByWorld(t, whole)
	seed := uint64(countFromEnv("SEED", 1))
	r := rand.New(rand.NewPCG(seed, 5))
	byOwner := map[string][]page{}
	for _, p := range listPages(t, filepath.Join(whole, app.StoreFile)) {
		// Overflow pages of other tables have no checksum and follow from the commits: rebuild compares them.
		if p.owner != "" && (p.kind != "overflow" || p.owner == "commits" || p.owner == "bodies") {
			byOwner[p.owner] = append(byOwner[p.owner], p)
		}
	}
	most := countFromEnv("LOST_PAGES", 1)
	outcomes := map[string]int{}
	for _, owner := range slices.Sorted(maps.Keys(byOwner)) {
		pages, n := byOwner[owner], most
		switch {
		case owner == "commits":
			n = 3 * most
		case most == 1 && !slices.Contains([]string{"bodies", "cards", "commits_id",
			"streams"}, owner):
			continue
		}
		r.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		for i, p := range pages[:min(n, len(pages))] {
			injury := damages[r.IntN(2)] // of a whole page
			if owner == "commits" {
				injury = damages[i%3]
			}
			name := fmt.Sprintf("%s in page %d (%s) of %s", injury.name, p.number, p.kind, owner)
			dir := copyStore(t, whole)
			damagePage(t, filepath.Join(dir, app.StoreFile), p.number, func(b []byte) { injury.do(b, r) })
			outcome := checkLostPage(t, name, whole, dir, want)
			outcomes[outcome]++
			t.Logf("%-40s %s", outcome, name)
		}
	}
	t.Logf("%v", outcomes)
	if outcomes["served, mended"] == 0 || outcomes["refused, all recovered"] == 0 {
		t.Error("no store was served beside its damage, or none recovered: the test does not reach both")
	}
}

// checkLostPage checks all that can be done with a damaged store, and returns what came of it.
func checkLostPage(t *testing.T, name, whole, dir string, want map[string]string) (outcome string) {
	t.Helper()
	lost, ledgers := lostStreams(t, whole, dir)
	want = maps.Clone(want)
	for _, w := range lost {
		delete(want, w)
	}
	outcome = serveDamaged(t, name, copyStore(t, dir), lost)
	copyWholeWorlds(t, name, copyStore(t, dir), want, lost)

	var out bytes.Buffer
	err := app.Repair(t.Context(), configOf(t, dir), nil, false, &out)
	if len(lost) > 0 || ledgers {
		if err == nil {
			t.Errorf("%s: commits of %v are lost, and repair says\n%s", name, lost, out.String())
			return outcome
		}
		if strings.Contains(err.Error(), "nothing can be read") { // the list of tables is lost
			return outcome + ", not repaired"
		}
		for _, w := range lost {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: repair does not name %s: %v", name, w, err)
			}
		}
		out.Reset()
		err = app.Repair(t.Context(), configOf(t, dir), lost, ledgers, &out)
	}
	if err != nil {
		if accepted := app.Repair(t.Context(), configOf(t, dir), lost, true, &out); accepted != nil {
			return outcome + ", not repaired"
		}
		return outcome + ", repaired with loss"
	}
	checkRepaired(t, name, dir, want, lost)
	if len(lost) > 0 {
		return outcome + ", mended"
	}
	return outcome + ", all recovered"
}

// serveDamaged opens a damaged store and reads and writes each world.
func serveDamaged(t *testing.T, name, dir string, lost []string) string {
	t.Helper()
	var report bytes.Buffer
	doctor := app.Doctor(t.Context(), configOf(t, dir), "test", "", &report)
	in, err := openApp(t.Context(), dir)
	if err != nil {
		if doctor == nil || !strings.Contains(err.Error(), "loregate repair") {
			t.Errorf("%s: refused with %v; doctor %v", name, err, doctor)
		}
		if named, known := strings.CutPrefix(err.Error()[max(strings.Index(err.Error(), "worlds with whole chains: "), 0):],
			"worlds with whole chains: "); known {
			named, gone, _ := strings.Cut(named, "; lost: ")
			for _, w := range lostWorlds {
				if isLost := slices.Contains(lost, w); strings.Contains(named, w) == isLost || strings.Contains(gone, w) != isLost {
					t.Errorf("%s: %v are lost, and the start says %v", name, lost, err)
				}
			}
		}
		return "refused"
	}
	defer in.close()
	if _, err := in.app.CheckStore(t.Context()); err != nil {
		t.Errorf("%s: check: %v", name, err)
	}
	readOnly := in.app.Ready(t.Context()) != nil
	outcome := "served"
	if readOnly {
		outcome = "read only"
	}
	for _, w := range lostWorlds {
		if !slices.Contains(lost, w) {
			if !strings.Contains(name, "of commits") && !readOnly {
				checkCards(t, name, in, w)
			}
			if !readOnly && !writeBeside(t, name, in, w) {
				outcome = "served, some writes refused"
			}
			continue
		}
		if doctor == nil || !strings.Contains(report.String(), w) {
			t.Errorf("%s: doctor does not name %s: %v\n%s", name, w, doctor, report.String())
		}
		if readOnly {
			continue
		}
		for operation, args := range map[string]map[string]any{"get_card": {"world": w, "name": "Card 1"},
			"create_card": {"world": w, "name": "New", "content": "x"}} {
			a, err := in.call(t.Context(), operation, "", args)
			if err != nil || a.status != 503 || !strings.Contains(a.body, "the world "+w+" is damaged") ||
				!strings.Contains(a.body, "loregate repair --world "+w) {
				t.Errorf("%s: %s in %s: %v %v", name, operation, w, a, err)
			}
		}
	}
	return outcome
}

// besides numbers the cards of writeBeside.
var besides int

// writeBeside writes to a whole world, checks that all acknowledged cards are there, and reports whether all writes
// were accepted.
func writeBeside(t *testing.T, name string, in appClient, world string) (all bool) {
	t.Helper()
	var made []string
	const writes = 40
	for range writes {
		besides++
		n := besides
		text := fmt.Sprintf("beside%s%d ", world, n)
		a, err := in.call(t.Context(), "create_card", "", map[string]any{"world": world, "name": "Beside " + fmt.Sprint(n),
			"content": strings.Repeat(text, 1+n%4*60)})
		switch {
		case err == nil && a.status < 300:
			made = append(made, fmt.Sprint(n))
		case err != nil || a.status != 503 || !strings.Contains(a.body, "damaged page"):
			t.Errorf("%s: a write to %s: %v %v", name, world, a, err)
			return false
		}
	}
	checkCards(t, name, in, world)
	for _, n := range made {
		a, err := in.call(t.Context(), "get_card", "", map[string]any{"world": world, "name": "Beside " + n})
		if err != nil || a.status != 200 || !strings.Contains(a.body, "beside"+world+n+" ") {
			t.Errorf("%s: the acknowledged card %s of %s: %v %v", name, n, world, a, err)
		}
	}
	return len(made) == writes
}

// copyWholeWorlds copies all whole worlds out of a damaged store.
func copyWholeWorlds(t *testing.T, name, dir string, want map[string]string, lost []string) {
	t.Helper()
	var out bytes.Buffer
	to := t.TempDir()
	err := app.Copy(t.Context(), configOf(t, dir), dir, to, []string{app.WholeWorlds}, &out)
	if err != nil {
		if !strings.Contains(err.Error(), "loregate repair") && !strings.Contains(err.Error(), "could not be copied") {
			t.Errorf("%s: copy: %v\n%s", name, err, out.String())
		}
		t.Logf("%s: copy: %v", name, err)
		return
	}
	if got := digestsByWorld(t, to); !maps.Equal(got, want) {
		t.Errorf("%s: the copy has %v, want %v", name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for _, w := range lost {
		if !strings.Contains(out.String(), "not copied: the world "+w) {
			t.Errorf("%s: copy does not name %s:\n%s", name, w, out.String())
		}
		err := app.Copy(t.Context(), configOf(t, dir), dir, t.TempDir(), []string{w}, &out)
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%s: copy of %s: %v", name, w, err)
		}
	}
}

// checkRepaired checks a repaired store: whole worlds are as they were, and mended ones have their cards and say
// what is lost.
func checkRepaired(t *testing.T, name, dir string, want map[string]string, lost []string) {
	t.Helper()
	got := digestsByWorld(t, dir)
	for w, sum := range want {
		if got[w] != sum {
			t.Errorf("%s: after the repair the whole world %s differs", name, w)
		}
	}
	in, err := openApp(t.Context(), dir)
	if err != nil {
		t.Errorf("%s: after the repair: %v", name, err)
		return
	}
	report, err := in.app.Verify(t.Context(), "")
	if err != nil || strings.Count(report, "are lost, as commit") != len(lost) {
		t.Errorf("%s: after the repair of %v audit verify says %v\n%s", name, lost, err, report)
	}
	for _, w := range lostWorlds {
		checkCards(t, name, in, w)
		if !writeBeside(t, name, in, w) {
			t.Errorf("%s: a repaired store refuses writes to %s", name, w)
		}
	}
	rebuilt, err := in.app.Rebuild(t.Context(), "", canon.CompareOnly)
	for _, one := range rebuilt {
		if len(one.Different) > 0 {
			t.Errorf("%s: after the repair %s differs from its stream in %v", name, one.World.Slug, one.Different)
		}
	}
	if err != nil {
		t.Errorf("%s: rebuild: %v", name, err)
	}
	in.close()
	var out bytes.Buffer
	if err := app.Doctor(t.Context(), configOf(t, dir), "test", "", &out); err != nil {
		t.Errorf("%s: doctor after the repair: %v\n%s", name, err, out.String())
	}
}
