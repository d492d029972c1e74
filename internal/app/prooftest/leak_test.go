package prooftest

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres/pgtest"
)

// logged is what the whole process logs by its default logger.
var logged = &sink{}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	pgtest.Main(m)
}

// oracle watches everything that leaves a stage.
type oracle struct {
	*story
	finds   *detector
	hits    map[string]map[string]int // calls by operation and caller
	fine    map[string]bool           // operations that were answered well
	last    map[string]string         // what operations were answered last
	shown   map[string]map[*mark]bool // marks that came out, by who saw them
	asked   map[*mark]bool            // marks that callers asked for by themselves
	leaked  map[*mark]bool
	decoys  pool // what may be written down: no marks
	watched int  // cards that were subscribed to
}

func newOracle(t *testing.T, on string) *oracle {
	t.Helper()
	s := &story{stage: newStage(t, on), mint: newMint(23), whole: true,
		who: author("user", access.RoleUser), ids: map[string]string{}, hidden: []access.Label{forGM, forAlice, forAdmin, forBob, access.NewLabel(access.LevelAdmin, "alice")}}
	s.tell()
	s.giveKeys("user", "alice", "gm", "admin", "stranger")
	s.giveOperatorKey()
	o := &oracle{story: s, finds: newDetector(s.mint.all), hits: map[string]map[string]int{}, fine: map[string]bool{}, last: map[string]string{},
		shown: map[string]map[*mark]bool{}, asked: map[*mark]bool{}, leaked: map[*mark]bool{}}
	clean := func(list []string) (kept []string) {
		for _, x := range list {
			if len(o.finds.find(x)) == 0 {
				kept = append(kept, x)
			}
		}
		return kept
	}
	k := s.known
	o.decoys = pool{names: clean(k.names), hidden: clean(k.hidden), words: k.words, guesses: k.words, types: clean(k.types), tags: clean(k.tags), ids: k.ids}
	return o
}

// watch holds one answer against the marks. What the caller asked for by name it may be
// told back.
func (o *oracle) watch(who string, r request, got string) {
	o.t.Helper()
	own := map[*mark]bool{}
	for _, l := range o.finds.find(r.path + " " + strings.Join(r.header, " ") + " " + r.body) {
		own[l.mark], o.asked[l.mark] = true, true
	}
	for _, l := range o.finds.find(got) {
		if o.shown[who] == nil {
			o.shown[who] = map[*mark]bool{}
		}
		o.shown[who][l.mark] = true
		if who == "operator" || l.mark.shows(who) || own[l.mark] || o.leaked[l.mark] {
			continue
		}
		o.leaked[l.mark] = true
		o.t.Errorf("%s is shown %s of a %s card (%s, %s):\n%s\n…%s…", who, l.mark.place, l.mark.label.Level, l.mark.word, l.how, r, l.near)
	}
}

func (o *oracle) call(who string, r request) reply {
	o.t.Helper()
	o.src.pass(time.Second)
	got := o.send(who, r)
	o.watch(who, r, got.String())
	return got
}

// invoke calls an operation, counts it, and tells whether it was answered well.
func (o *oracle) invoke(who string, of *op.Operation, input map[string]any, rest bool) (fine bool) {
	o.t.Helper()
	if o.hits[of.Name] == nil {
		o.hits[of.Name] = map[string]int{}
	}
	o.hits[of.Name][who]++
	if rest && of.Route != "" {
		got := o.call(who, overREST(of, input))
		o.last[of.Name] = clip(got.body, 400)
		best := unequipped[of.Name]
		if best == "" && o.app.Config.Database != "" {
			best = onlyEmbedded[of.Name]
		}
		fine = got.status < 300 || best != "" && strings.Contains(got.body, best)
	} else {
		got := o.call(who, asTool(of, input))
		o.last[of.Name] = clip(got.body, 400)
		fine = got.status == 200 && !strings.Contains(got.body, `"isError":true`) && !strings.Contains(got.body, `"error":{"code"`)
	}
	o.fine[of.Name] = o.fine[of.Name] || fine
	return fine
}

var callers = []string{"user", "alice", "gm", "stranger", "", "admin", "operator"}

// TestNoMarkLeaks drives everything that is served as everybody, and looks for marks of
// what they may not see in every byte that comes out.
func TestNoMarkLeaks(t *testing.T) {
	if raceenabled.Detected && !long() {
		t.Skip("only without the race detector, as make test does too, or with PROOF_ROUNDS")
	}
	onEachStore(t, testNoMarkLeaks)
}

func testNoMarkLeaks(t *testing.T, on string) {
	if on == "postgres" && !long() {
		t.Skip("only by make proof, with PROOF_ROUNDS: TestBothStoresAnswerAlike and TestNonInterference ask PostgreSQL")
	}
	t.Parallel()
	o := newOracle(t, on)
	for i, who := range callers {
		o.tryGood(who)
		if who != "admin" && who != "operator" {
			o.tryChance(who, rounds(40))
		}
		for _, r := range besides(o.known, i) {
			o.call(who, r)
		}
		if who != "admin" && who != "operator" {
			for _, r := range writes(o.decoys, i) { // no mark is written down
				o.call(who, r)
			}
		}
		o.call(who, request{operation: "metrics", method: "GET", path: "/metrics"})
	}
	list, as := seated(o.story)
	for i, r := range list {
		o.call(as[i], r)
	}
	o.followAll()
	o.sessions()
	o.exports()
	o.tryControl()
	o.wantCoverage()
	o.wantQuiet()
}

// tryGood makes every good call.
func (o *oracle) tryGood(who string) {
	o.t.Helper()
	for _, of := range o.app.Ops.All() {
		if len(good[of.Name]) == 0 {
			o.t.Errorf("operation %s has no good input; add one to the table good", of.Name)
		}
		for i, e := range good[of.Name] {
			in := o.inputs(e)
			if (e.sure || some(i+1)) && o.invoke(who, of, in, false) {
				o.fine[of.Name+exampleOf(i)] = true
			}
			if (i == 0 || some(i)) && o.invoke(who, of, in, true) {
				o.fine[of.Name+exampleOf(i)] = true
			}
			for n, older := range of.Older {
				if some(i + n) {
					o.call(who, overRoute(of, older.Route, in))
				}
			}
		}
	}
}

// exampleOf names the good call of an operation at a place of its list.
func exampleOf(i int) string { return " " + itoa(i) }

// tryChance makes random calls. Marks are asked for, and never written down.
func (o *oracle) tryChance(who string, n int) {
	o.t.Helper()
	c := newChance(uint64(len(who)), o.known)
	for i := range n {
		of := pick(c, o.app.Ops.All())
		if c.known = o.known; of.Writes() {
			c.known = o.decoys
		}
		o.invoke(who, of, c.input(of), i%2 == 0)
	}
}

// exports writes the world out for each audience.
func (o *oracle) exports() {
	o.t.Helper()
	for who, role := range map[string]access.Role{"user": access.RoleUser, "gm": access.RoleGM} {
		dir := filepath.Join(o.t.TempDir(), who)
		summary, err := o.app.ExportMarkdown(o.t.Context(), "lendwater", dir, role, nil)
		if err != nil {
			o.t.Errorf("export as %s: %v", who, err)
		}
		o.watch(who, request{operation: "export"}, summary.String())
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // an export of nothing makes no folder
			}
			b, err := os.ReadFile(path)
			o.watch(who, request{operation: "export"}, path+"\n"+string(b))
			return err
		})
		if err != nil {
			o.t.Error(err)
		}
	}
}

// tryControl reads all there is as those who may: what the oracle then finds shows that
// it can.
func (o *oracle) tryControl() {
	o.t.Helper()
	o.list("gm", "changes")
	for _, who := range []string{"admin", "stranger"} {
		trashed := o.list(who, "trash")
		for _, id := range trashed {
			o.call(who, request{operation: "control", method: "POST", path: "/api/mcp/cards/~" + id + "/restore", body: "{}"})
		}
		o.list(who, "wanted")
		o.list(who, "tags")
		seen := slices.Concat(trashed, o.list(who, "cards"), o.list(who, "changes"))
		slices.Sort(seen)
		for _, id := range slices.Compact(seen) {
			card := "/api/mcp/cards/~" + id
			o.call(who, request{operation: "control", method: "GET", path: card})
			o.call(who, request{operation: "control", method: "GET", path: card + "/file"})
			for n := 1; o.call(who, request{operation: "control", method: "GET", path: card + "/history/" + itoa(n)}).status == 200; n++ {
			}
		}
		for _, kind := range o.known.types {
			o.call(who, request{operation: "control", method: "GET", path: "/api/mcp/types/" + kind})
		}
		o.call(who, request{operation: "control", method: "GET", path: "/api/mcp/queries?limit=100"})
	}
}

// list goes through a list to its end, and gives the ids of the cards in it.
func (o *oracle) list(who, of string) (ids []string) {
	o.t.Helper()
	for offset := 0; ; offset += 100 {
		got := o.call(who, request{operation: "control", method: "GET", path: "/api/mcp/" + of + "?limit=100&offset=" + itoa(offset)})
		var page struct {
			Cards   []struct{ ID string }
			Changes []struct {
				ID string `json:"card_id"`
			}
			Next *int `json:"next_offset"`
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 {
			o.t.Fatalf("%s of %s: %d %.300s", of, who, got.status, got.body)
		}
		for _, c := range page.Cards {
			ids = append(ids, c.ID)
		}
		for _, c := range page.Changes {
			ids = append(ids, c.ID)
		}
		if page.Next == nil {
			return ids
		}
	}
}

// wantCoverage holds that everything was tried, and that the oracle can see.
func (o *oracle) wantCoverage() {
	o.t.Helper()
	for _, of := range o.app.Ops.All() {
		for _, who := range callers {
			if o.hits[of.Name][who] == 0 {
				o.t.Errorf("%s was never called as %q", of.Name, who)
			}
		}
		if !o.fine[of.Name] {
			o.t.Errorf("%s was never answered well: its good inputs are not good; the last answer is %s", of.Name, o.last[of.Name])
		}
	}
	for name, list := range good {
		for i, e := range list {
			if e.sure && !o.fine[name+exampleOf(i)] {
				o.t.Errorf("%s was never answered well to %v", name, e.input)
			}
		}
	}
	store := strings.ToLower(o.stored())
	for i := range o.finds.marks {
		m := &o.finds.marks[i]
		if !strings.Contains(store, m.word) {
			o.t.Errorf("mark %s (%s) is not in the store: it was not planted", m.word, m.place)
		}
		if !m.apart && m.shows("admin") && !o.shown["admin"][m] || !m.apart && m.world == "otherland" && !o.shown["stranger"][m] {
			o.t.Errorf("the control did not see %s of a %s card %v (%s)", m.place, m.label.Level, m.label.Subjects, m.word)
		}
		if m.place == formerName && m.shows("gm") && !o.shown["gm"][m] {
			o.t.Errorf("the gm did not see %s of a %s card %v (%s)", m.place, m.label.Level, m.label.Subjects, m.word)
		}
	}
	o.t.Logf("%d marks; %d operations × %d callers", len(o.finds.marks), len(o.hits), len(callers))
}

// stored are the bytes of the store: of its files, or of every row of the database.
func (o *oracle) stored() string {
	if o.app.Config.Database != "" {
		return o.rows()
	}
	var b strings.Builder
	base := filepath.Join(o.app.Config.Data, app.StoreFile)
	for _, f := range []string{base, base + "-wal"} {
		part, err := os.ReadFile(f)
		if err != nil {
			o.t.Error(err)
		}
		b.Write(part)
	}
	return b.String()
}

// rows are all rows of all tables, with texts and bytes as they are kept.
func (o *oracle) rows() string {
	ctx := o.t.Context()
	c, err := pgx.Connect(ctx, o.app.Config.Database)
	if err != nil {
		o.t.Fatal(err)
	}
	defer c.Close(ctx)
	names, err := c.Query(ctx, "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'")
	if err != nil {
		o.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(names, pgx.RowTo[string])
	if err != nil {
		o.t.Fatal(err)
	}
	var b strings.Builder
	for _, table := range tables {
		if _, err := c.PgConn().CopyTo(ctx, &b, "COPY "+table+" TO STDOUT (FORMAT binary)"); err != nil {
			o.t.Error(err)
		}
	}
	return b.String()
}

// wantQuiet holds that no log, trace or access record says what a card holds.
func (o *oracle) wantQuiet() {
	o.t.Helper()
	for r, err := range o.app.AccessTail(o.t.Context(), access.TailOptions{Last: 1 << 20}) {
		if err != nil {
			o.t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, l := range o.finds.find(string(b)) {
			if !o.asked[l.mark] && !strings.Contains(l.mark.place, "name") {
				o.t.Errorf("an access record holds %s: %s", l.mark.place, b)
			}
		}
	}
	o.close()
	for what, text := range map[string]string{"log": o.logs.String(), "default log": logged.String(), "traces": o.traces.String()} {
		for _, l := range o.finds.find(text) {
			o.t.Errorf("the %s holds %s (%s): …%s…", what, l.mark.place, l.how, l.near)
		}
	}
	if !strings.Contains(o.traces.String(), "get_card") {
		o.t.Error("nothing was traced")
	}
}
