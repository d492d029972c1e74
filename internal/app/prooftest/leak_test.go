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
	"loregate/internal/store/postgres/pgtest"
)

// processLog has the output of the process's default logger.
var processLog = &syncBuffer{}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(processLog, &slog.HandlerOptions{Level: slog.LevelDebug})))
	pgtest.Main(m)
}

// oracle checks everything that leaves a stage.
type oracle struct {
	*story
	finds   *detector
	hits    map[string]map[string]int // number of calls by operation and caller
	fine    map[string]bool           // operations that succeeded
	last    map[string]string         // last answer by operation
	shown   map[string]map[*mark]bool // marks in answers, by caller
	asked   map[*mark]bool            // marks in the callers' own requests
	leaked  map[*mark]bool
	decoys  namePool // may be written by callers: contains no marks
	watched int      // number of cards that were subscribed to
}

// newOracle tells the whole story, then the further parts.
func newOracle(t *testing.T, on string, further ...func(*story)) *oracle {
	t.Helper()
	s := &story{stage: newStage(t, on), mint: newMint(23), whole: true,
		who: newAuthor("user", access.RoleUser), ids: map[string]string{},
		hidden: []access.Label{forGM, forAlice, forAdmin, forBob, access.NewLabel(access.LevelAdmin, "alice")}}
	s.tellAll()
	for _, tell := range further {
		tell(s)
	}
	s.giveKeys("user", "alice", "gm", "admin", "stranger")
	s.giveOperatorKey()
	o := &oracle{story: s, finds: newDetector(s.mint.all), hits: map[string]map[string]int{}, fine: map[string]bool{},
		last:  map[string]string{},
		shown: map[string]map[*mark]bool{}, asked: map[*mark]bool{}, leaked: map[*mark]bool{}}
	clean := func(list []string) (kept []string) {
		for _, x := range list {
			if len(o.finds.findLeaks(x)) == 0 {
				kept = append(kept, x)
			}
		}
		return kept
	}
	k := s.known
	o.decoys = namePool{names: clean(k.names), hidden: clean(k.hidden), words: k.words, guesses: k.words,
		types: clean(k.types), tags: clean(k.tags), ids: k.ids}
	return o
}

// checkAnswer looks for marks in one answer. Marks that were in the request are allowed.
func (o *oracle) checkAnswer(who string, r request, got string) {
	o.t.Helper()
	own := map[*mark]bool{}
	for _, l := range o.finds.findLeaks(r.path + " " + strings.Join(r.header, " ") + " " + r.body) {
		own[l.mark], o.asked[l.mark] = true, true
	}
	for _, l := range o.finds.findLeaks(got) {
		if o.shown[who] == nil {
			o.shown[who] = map[*mark]bool{}
		}
		o.shown[who][l.mark] = true
		if who == "operator" || l.mark.isVisibleTo(who) || own[l.mark] || o.leaked[l.mark] {
			continue
		}
		o.leaked[l.mark] = true
		o.t.Errorf("%s is shown %s of a %s card (%s, %s):\n%s\n…%s…", who, l.mark.place, l.mark.label.Level, l.mark.word,
			l.how, r, l.near)
	}
}

func (o *oracle) call(who string, r request) reply {
	o.t.Helper()
	o.src.advance(time.Second)
	got := o.send(who, r)
	o.checkAnswer(who, r, got.String())
	return got
}

// invoke calls an operation, counts the call and reports whether it succeeded.
func (o *oracle) invoke(who string, of *op.Operation, input map[string]any, rest bool) (fine bool) {
	o.t.Helper()
	if o.hits[of.Name] == nil {
		o.hits[of.Name] = map[string]int{}
	}
	o.hits[of.Name][who]++
	if rest && of.Route != "" {
		got := o.call(who, viaREST(of, input))
		o.last[of.Name] = clip(got.body, 400)
		best := unequipped[of.Name]
		if best == "" && o.app.Config.Database != "" {
			best = onlyEmbedded[of.Name]
		}
		fine = got.status < 300 || best != "" && strings.Contains(got.body, best)
	} else {
		got := o.call(who, toolRequest(of, input))
		o.last[of.Name] = clip(got.body, 400)
		fine = got.status == 200 && !strings.Contains(got.body, `"isError":true`) &&
			!strings.Contains(got.body, `"error":{"code"`)
	}
	o.fine[of.Name] = o.fine[of.Name] || fine
	return fine
}

var callers = []string{"user", "alice", "gm", "stranger", "", "admin", "operator"}

// TestNoMarkLeaks makes calls to everything that is served, as every caller, and looks in every
// byte of the answers for marks that the caller may not see.
func TestNoMarkLeaks(t *testing.T) {
	skipWithRace(t)
	onEachStore(t, testNoMarkLeaks, placed)
}

// skipOnPostgres leaves a search for marks on PostgreSQL to make proof.
func skipOnPostgres(t *testing.T, on string) {
	t.Helper()
	if on != "embedded" && !isLong() {
		t.Skip("only by make proof, with PROOF_ROUNDS: TestBothStoresAnswerAlike and TestNonInterference ask PostgreSQL")
	}
}

func testNoMarkLeaks(t *testing.T, on string) {
	skipOnPostgres(t, on)
	t.Parallel()
	o := newOracle(t, on)
	o.askAll()
	if o.server != nil {
		o.restartDatabase()
		o.askAll()
	}
	o.followAllFeeds()
	o.runSessions()
	o.checkExports()
	o.tryControl()
	o.wantCoverage()
	o.wantReplay()
	o.wantNoMarkInLogs()
}

// askAll makes calls to everything as every caller.
func (o *oracle) askAll() {
	o.t.Helper()
	for i, who := range callers {
		o.tryGood(who, access.Read, access.Write, access.Destroy, access.Propose)
		if who != "admin" && who != "operator" {
			o.tryRandom(who, rounds(40))
		}
		for _, r := range otherCalls(o.known, i) {
			o.call(who, r)
		}
		if who != "admin" && who != "operator" {
			for _, r := range writeCalls(o.decoys, i) { // no mark is written
				o.call(who, r)
			}
		}
		o.call(who, request{operation: "metrics", method: "GET", path: "/metrics"})
	}
	list, as := seatedCalls(o.story)
	for i, r := range list {
		o.call(as[i], r)
	}
}

// tryGood makes every good call of operations with some effects.
func (o *oracle) tryGood(who string, effects ...access.Effect) {
	o.t.Helper()
	for _, of := range o.app.Ops.All() {
		if !slices.Contains(effects, of.Effect) {
			continue
		}
		for i, e := range o.goodInputs(of) {
			in := o.inputs(e)
			if (e.tool || isSelected(i+1)) && o.invoke(who, of, in, false) {
				o.fine[of.Name+exampleKey(i)] = true
			}
			if (e.rest || isSelected(i)) && o.invoke(who, of, in, true) {
				o.fine[of.Name+exampleKey(i)] = true
			}
			for n, older := range of.Older {
				if isSelected(i + n) {
					o.call(who, viaRoute(of, older.Route, in))
				}
			}
		}
	}
}

// exampleKey returns the key in fine of example i of an operation.
func exampleKey(i int) string { return " " + itoa(i) }

// tryRandom makes random calls. Marks are asked for, and never written.
func (o *oracle) tryRandom(who string, n int) {
	o.t.Helper()
	c := newInputGen(uint64(len(who)), o.known)
	for i := range n {
		of := pick(c, o.app.Ops.All())
		if c.known = o.known; of.Effect != access.Read {
			c.known = o.decoys // a proposal quotes its author's words in lists, too
		}
		o.invoke(who, of, c.randomInput(of), i%2 == 0)
	}
}

// checkExports exports the world for each audience in each format.
func (o *oracle) checkExports() {
	o.t.Helper()
	for who, role := range map[string]access.Role{"user": access.RoleUser, "gm": access.RoleGM} {
		for _, format := range app.ExportNames() {
			o.checkExport(who, role, format)
		}
	}
}

func (o *oracle) checkExport(who string, role access.Role, format string) {
	o.t.Helper()
	dir := filepath.Join(o.t.TempDir(), who)
	summary, err := o.app.Export(o.t.Context(), format, "lendwater", dir, role, nil)
	if err != nil {
		o.t.Errorf("export of %s as %s: %v", format, who, err)
	}
	o.checkAnswer(who, request{operation: "export"}, summary.String())
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // an empty export makes no folder
		}
		b, err := os.ReadFile(path)
		o.checkAnswer(who, request{operation: "export"}, path+"\n"+string(b))
		return err
	})
	if err != nil {
		o.t.Error(err)
	}
}

// tryControl reads everything as callers who may: the marks that the oracle then finds show
// that it can find them.
func (o *oracle) tryControl() {
	o.t.Helper()
	o.listAll("gm", "changes")
	for _, who := range []string{"admin", "stranger"} {
		trashed := o.listAll(who, "trash")
		for _, id := range trashed {
			o.call(who, request{operation: "control", method: "POST", path: "/api/mcp/cards/~" + id + "/restore", body: "{}"})
		}
		o.listAll(who, "wanted")
		o.listAll(who, "tags")
		seen := slices.Concat(trashed, o.listAll(who, "cards"), o.listAll(who, "changes"))
		slices.Sort(seen)
		for _, id := range slices.Compact(seen) {
			card := "/api/mcp/cards/~" + id
			o.call(who, request{operation: "control", method: "GET", path: card})
			o.call(who, request{operation: "control", method: "GET", path: card + "/file"})
			for n := 1; o.call(who, request{operation: "control", method: "GET", path: card + "/history/" +
				itoa(n)}).status == 200; n++ {
			}
		}
		for _, kind := range o.known.types {
			o.call(who, request{operation: "control", method: "GET", path: "/api/mcp/types/" + kind})
		}
		o.call(who, request{operation: "control", method: "GET", path: "/api/mcp/queries?limit=100"})
	}
}

// listAll pages through a list, and returns the ids of its cards.
func (o *oracle) listAll(who, of string) (ids []string) {
	o.t.Helper()
	for offset := 0; ; offset += 100 {
		got := o.call(who, request{operation: "control", method: "GET", path: "/api/mcp/" + of + "?limit=100&offset=" +
			itoa(offset)})
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

// wantCoverage checks that everything was called, and that the oracle can find marks.
func (o *oracle) wantCoverage() {
	o.t.Helper()
	for _, of := range o.app.Ops.All() {
		for _, who := range callers {
			if o.hits[of.Name][who] == 0 {
				o.t.Errorf("%s was never called as %q", of.Name, who)
			}
		}
		if !o.fine[of.Name] {
			o.t.Errorf("%s was never answered well: let an example name cards of the sample world, or, if no example can "+
				"state a good input, add one to a table of byHand; the last answer is %s", of.Name, o.last[of.Name])
		}
	}
	for _, of := range o.app.Ops.All() {
		for i, e := range o.goodInputs(of) {
			if e.sure && !o.fine[of.Name+exampleKey(i)] {
				o.t.Errorf("%s was never answered well to %v", of.Name, e.input)
			}
		}
	}
	store := strings.ToLower(o.storeBytes())
	for i := range o.finds.marks {
		m := &o.finds.marks[i]
		if !strings.Contains(store, m.word) {
			o.t.Errorf("mark %s (%s) is not in the store: it was not planted", m.word, m.place)
		}
		if !m.apart && m.isVisibleTo("admin") && !o.shown["admin"][m] || !m.apart && m.world == "otherland" &&
			!o.shown["stranger"][m] {
			o.t.Errorf("the control did not see %s of a %s card %v (%s)", m.place, m.label.Level, m.label.Subjects, m.word)
		}
		if m.place == formerNamePlace && m.isVisibleTo("gm") && !o.shown["gm"][m] {
			o.t.Errorf("the gm did not see %s of a %s card %v (%s)", m.place, m.label.Level, m.label.Subjects, m.word)
		}
	}
	o.t.Logf("%d marks; %d operations × %d callers", len(o.finds.marks), len(o.hits), len(callers))
}

// storeBytes returns the bytes of the store: of its files, or of every row of its databases.
func (o *oracle) storeBytes() string {
	var b strings.Builder
	if c := o.app.Config; c.Database != "" {
		b.WriteString(o.databaseBytes(c.Database))
		for _, named := range c.Databases {
			_, address, _ := strings.Cut(named, "=")
			b.WriteString(o.databaseBytes(address))
		}
		return b.String()
	}
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

// databaseBytes returns all rows of all tables of a database, with texts and bytes as they are stored.
func (o *oracle) databaseBytes(address string) string {
	ctx := o.t.Context()
	c, err := pgx.Connect(ctx, address)
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

// wantNoMarkInLogs checks that no log, trace or access record has the content of a card.
func (o *oracle) wantNoMarkInLogs() {
	o.t.Helper()
	for r, err := range o.app.AccessTail(o.t.Context(), access.TailOptions{Last: 1 << 20}) {
		if err != nil {
			o.t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, l := range o.finds.findLeaks(string(b)) {
			if !o.asked[l.mark] && !strings.Contains(l.mark.place, "name") {
				o.t.Errorf("an access record holds %s: %s", l.mark.place, b)
			}
		}
	}
	o.close()
	for what, text := range map[string]string{"log": o.logs.String(), "default log": processLog.String(),
		"traces": o.traces.String()} {
		for _, l := range o.finds.findLeaks(text) {
			o.t.Errorf("the %s holds %s (%s): …%s…", what, l.mark.place, l.how, l.near)
		}
	}
	if !strings.Contains(o.traces.String(), "get_card") {
		o.t.Error("nothing was traced")
	}
}
