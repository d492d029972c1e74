package vault_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
	"loregate/internal/job"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

// holdout is one case of testdata/holdout/cases.jsonl: a note, the words in it that players must
// not read, and those that they must read.
type holdout struct {
	Name, Half, Category, Path, Content, Expect string
	Forbidden, Visible                          []string
}

// verdict is the result of importing one holdout.
type verdict struct {
	leaked []string // forbidden words that players read
	lost   []string // visible words that they do not read
	asked  bool     // the summary asks to confirm hidden text, or reports a problem
}

// readHoldout reads a file of testdata/holdout.
func readHoldout[T any](t testing.TB, file string) (all []T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/holdout", file))
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var one T
		switch err := d.Decode(&one); err {
		case nil:
			all = append(all, one)
		case io.EOF:
			return all
		default:
			t.Fatalf("%s: %v", file, err)
		}
	}
}

var owner = access.Caller{Subject: "owner", EveryRole: access.RoleAdmin, Operator: true}

// newWorld creates an empty world in memory.
func newWorld(t testing.TB) (*canon.Canon, *access.Guard, access.WorldID) {
	t.Helper()
	var ids optest.IDs
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tick := func() time.Time { now = now.Add(time.Millisecond); return now }
	c := canon.New(canon.Config{Store: memory.New(), Now: tick,
		NewID: func(canon.StreamID) uuid.UUID { return ids.Next() }})
	guard := access.NewGuard(access.Config{Now: tick})
	w, err := c.CreateWorld(t.Context(), admit(t, guard, owner, access.WorldID{}),
		canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	return c, guard, w.ID
}

func admit(t testing.TB, guard *access.Guard, who access.Caller, w access.WorldID) access.Grant {
	t.Helper()
	a, err := guard.Admit(t.Context(), who, access.Request{Operation: "test", Effect: access.Write, World: w})
	if err != nil {
		t.Fatal(err)
	}
	return a.Grant
}

// judge imports the note alone into an empty world and reads all of it as a player.
func (h holdout) judge(t testing.TB) (v verdict) {
	t.Helper()
	c, guard, w := newWorld(t)
	grant := func(who access.Caller) access.Grant { return admit(t, guard, who, w) }
	sum, err := vault.Import(t.Context(), c, grant(owner), fstest.MapFS{h.Path: {Data: []byte(h.Content)}},
		vault.Options{Options: exchange.Options{Label: "vault"}})
	if err != nil {
		t.Fatalf("%s: %v", h.Name, err)
	}
	v.asked = len(sum.Problems) > 0 || slices.ContainsFunc(sum.Hides, func(x exchange.Hide) bool { return x.Doubt })

	player := grant(access.Caller{Subject: "player", EveryRole: access.RoleUser})
	read := readable(t, c, player)
	found := func(word string) (there bool) {
		if strings.Contains(read, word) {
			return true
		}
		if err := c.Read(t.Context(), player, func(l *canon.Snapshot) error {
			r, err := l.Search(t.Context(), canon.SearchQuery{Q: word}, canon.Page{Limit: 5})
			there = len(r.Hits) > 0
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return there
	}
	for _, word := range h.Forbidden {
		if found(word) {
			v.leaked = append(v.leaked, word)
		}
	}
	for _, word := range h.Visible {
		if !found(word) {
			v.lost = append(v.lost, word)
		}
	}
	return v
}

// readable returns all text that a grant can read in its world: cards, contents, links, wanted
// cards and its export.
func readable(t testing.TB, c *canon.Canon, g access.Grant) string {
	t.Helper()
	var b strings.Builder
	err := c.Read(t.Context(), g, func(l *canon.Snapshot) error {
		cards, _, err := l.Cards(t.Context(), canon.Filter{}, canon.Page{Limit: 200})
		if err != nil {
			return err
		}
		for _, card := range cards {
			text, err := l.Content(t.Context(), card)
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, card.Name, card.Codename, card.Aliases(), string(card.Fields), text)
		}
		links, _, err := l.Links(t.Context(), canon.LinkQuery{Page: canon.Page{Limit: 200}})
		if err != nil {
			return err
		}
		for _, link := range links {
			fmt.Fprintln(&b, link.Kind, string(link.Attrs))
		}
		wanted, _, err := l.Wanted(t.Context(), canon.Page{Limit: 200})
		for _, w := range wanted {
			fmt.Fprintln(&b, w.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := native.Export(t.Context(), c, g, dir, nil); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		fmt.Fprintln(&b, path)
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tally counts the secret and the open sides of notes.
type tally struct {
	hid, leaked         int // secret sides
	open, closed, asked int // open sides: imported open, hidden without a question, hidden with a question
	doubts, said        int // suspicions that were hidden, and those among them that the summary asks about
}

func share(part, all int) float64 {
	if all == 0 {
		return 100
	}
	return 100 * float64(part) / float64(all)
}

func (n *tally) add(h holdout, v verdict) {
	if len(h.Forbidden) > 0 {
		if len(v.leaked) > 0 {
			n.leaked++
		} else {
			n.hid++
		}
	}
	if len(h.Visible) > 0 {
		switch {
		case len(v.lost) == 0:
			n.open++
		case v.asked:
			n.asked++
		default:
			n.closed++
		}
	}
	if h.Expect == "suspicious" && len(v.leaked) == 0 {
		n.doubts++
		if v.asked {
			n.said++
		}
	}
}

func (n *tally) recall() float64 { return share(n.hid, n.hid+n.leaked) }

// precision is the percentage of hidden sides that are secret.
func (n *tally) precision() float64 { return share(n.hid, n.hid+n.closed+n.asked) }

func (n *tally) String() string {
	return fmt.Sprintf("recall %.1f (%d of %d), precision %.1f (%d hidden wrongly: %d without a word, %d asked about; %d open), %d of %d doubts said",
		n.recall(), n.hid, n.hid+n.leaked, n.precision(), n.closed+n.asked, n.closed, n.asked, n.open, n.said, n.doubts)
}

// TestSecretsInVaultsNobodyTunedFor checks that secrets in vaults are imported hidden, that
// everything else is imported open, and that the summary asks about doubts. The notes were written
// without knowledge of the rules. Authors of rules may read only the half "dev", see
// testdata/holdout/README.md; LOREGATE_HOLDOUT=dev logs its failures.
func TestSecretsInVaultsNobodyTunedFor(t *testing.T) {
	// The last measured values, less two points.
	bars := map[string]struct{ recall, precision float64 }{"dev": {98, 91.4}, "lock": {92.4, 89.9}}
	halves := map[string]*tally{"dev": {}, "lock": {}}
	kinds := map[string]*tally{}
	for _, h := range readHoldout[holdout](t, "cases.jsonl") {
		v := h.judge(t)
		halves[h.Half].add(h, v)
		kind := h.Half + " " + h.Category
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		kinds[kind].add(h, v)
		if h.Half == "dev" && os.Getenv("LOREGATE_HOLDOUT") == "dev" {
			switch {
			case len(v.leaked) > 0:
				t.Logf("LEAK %s (%s) %s: players read %v; asked: %v", h.Name, h.Expect, h.Path, v.leaked, v.asked)
			case len(v.lost) > 0:
				t.Logf("LOST %s (%s) %s: players do not read %v; asked: %v", h.Name, h.Expect, h.Path, v.lost, v.asked)
			case h.Expect == "suspicious" && !v.asked:
				t.Logf("UNSAID %s %s", h.Name, h.Path)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %v", kind, kinds[kind])
	}
	for half, n := range halves {
		t.Logf("%s: %v", half, n)
		if bar := bars[half]; n.recall() < bar.recall || n.precision() < bar.precision {
			t.Errorf("%s: %v; want recall %.1f and precision %.1f", half, n, bar.recall, bar.precision)
		}
	}
}

// spoiler is a world of a few cards and the expected result of a scan of it.
type spoiler struct {
	Name, Half, Scope, Expect string
	Terms                     json.RawMessage
	Cards                     []json.RawMessage
	Found                     []string
}

// passes reports whether the scan gives the expected result: it found every term, it says that all
// is clear, or it reports that it did not understand the terms.
func (s spoiler) passes(t testing.TB, jobs *job.Runner) bool {
	t.Helper()
	c, guard, w := newWorld(t)
	wiki, err := archive.New(archive.Config{Canon: c, Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{wiki}, Worlds: optest.SoleWorld(w)})
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, input json.RawMessage, out any) error {
		got, err := ops.Invoke(t.Context(), owner, op.Request{Operation: name, Input: input, Transport: "mcp"})
		if err != nil || out == nil {
			return err
		}
		return json.Unmarshal(got.Output, out)
	}
	for _, card := range append(s.Cards, s.Terms) {
		if err := call("create_card", card, nil); err != nil {
			t.Fatalf("%s: %s: %v", s.Name, card, err)
		}
	}
	var scan struct {
		Status           string
		Matches, Unclear int
	}
	refused := call("spoiler_scan", json.RawMessage(`{"terms_card":"Terms+GM","results_card":"Found+GM","scope":"`+s.Scope+
		`"}`), &scan)
	if refused != nil && fault.KindOf(refused).Code() != "validation_error" {
		t.Fatalf("%s: %v", s.Name, refused)
	}
	if refused == nil && scan.Status != "completed" {
		t.Fatalf("%s: %+v", s.Name, scan)
	}
	said := refused != nil || scan.Unclear > 0
	var list struct{ Content string }
	if refused == nil {
		if err := call("get_card", json.RawMessage(`{"name":"Found+GM"}`), &list); err != nil {
			t.Fatal(err)
		}
	}
	found := scan.Matches > 0
	for _, term := range s.Found {
		found = found && strings.Contains(html.UnescapeString(list.Content), "<h2>"+term+"</h2>")
	}
	switch s.Expect {
	case "found":
		return found
	case "found-or-said":
		return found || said
	case "said":
		return said
	case "clear":
		return refused == nil && scan.Matches == 0 && !said && strings.Contains(list.Content, "All clear")
	}
	t.Fatalf("%s expects %q", s.Name, s.Expect)
	return false
}

// TestSpoilersNobodyTunedFor checks that a scan for spoilers finds the terms that players can read,
// and says "All clear" only if there are none.
func TestSpoilersNobodyTunedFor(t *testing.T) {
	bars := map[string]float64{"dev": 98, "lock": 92.4}
	jobs, err := job.New(t.Context(), job.Config{Store: sqlitetest.Open(t), Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(jobs.Close)
	passed, all := map[string]int{}, map[string]int{}
	for _, s := range readHoldout[spoiler](t, "spoilers.jsonl") {
		all[s.Half]++
		if s.passes(t, jobs) {
			passed[s.Half]++
		} else if s.Half == "dev" && os.Getenv("LOREGATE_HOLDOUT") == "dev" {
			t.Logf("%s: want %s %v", s.Name, s.Expect, s.Found)
		}
	}
	for half, n := range all {
		got := share(passed[half], n)
		t.Logf("%s: %d of %d scans say what is so (%.1f)", half, passed[half], n, got)
		if got < bars[half] {
			t.Errorf("%s: %.1f; want %.1f", half, got, bars[half])
		}
	}
}
