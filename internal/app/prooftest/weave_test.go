package prooftest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
)

// planted is a card with a marked text.
type planted struct {
	name          string
	id            string // "~" and the id, once it is known
	way           wayOfWriting
	mark          exactMark
	before, after *mark // words that everybody reads
	a, b          *mark // words of the hidden part
	more          []*mark
	marked        string // the marked part
	text, open    string // with the part and without it
	acts          []string
	closed        bool // the card itself is hidden or in the trash
	gone          map[*mark]bool
}

func (c *planted) String() string {
	return fmt.Sprintf("%s × %s × %s", c.way.name, c.mark.kind, strings.Join(c.acts, ", "))
}

// weave is a world of cards with marked texts, of which each reader may see known words.
type weave struct {
	*stage
	rng        *rand.Rand
	mint       *markMint
	planted    int // number of cases that were tried
	free       int // index of the next word that is not planted yet
	finds      *detector
	cases      []*planted
	owner      map[*mark]*planted
	found      map[string]string // leaks by key, with an example
	lastChange string
	refused    map[string]int
	done       map[string]int
	twin       bool       // its secrets are other ones
	answers    []lookedAt // of readers
}

// lookedAt is an answer to a reader.
type lookedAt struct {
	who  string
	r    request
	body string
	of   string // the case that it is about, as it was
}

// caseIn names the case that a request is about.
func (x *weave) caseIn(r request) string {
	for _, c := range x.cases {
		if strings.Contains(r.path, c.id) || strings.Contains(r.path,
			url.PathEscape(c.name)) || strings.Contains(r.body, quoted(c.name)) {
			return c.String()
		}
	}
	return r.operation
}

// readers are the callers below the game master, with their keys.
var weaveReaders = []string{"alice", "bob", "agent", "guest"}

const weaveWords = 4096

// newWeave opens the product with a world and its readers. long makes the planted secrets longer.
func newWeave(t testing.TB, on string, seed uint64, twin bool) *weave {
	x := &weave{twin: twin, stage: newStage(t, on), rng: rand.New(rand.NewPCG(seed, 2)), mint: newMint(seed),
		owner: map[*mark]*planted{},
		found: map[string]string{}, refused: map[string]int{}, done: map[string]int{}}
	for range weaveWords {
		x.mint.newMark("", access.NewLabel(access.LevelGM))
	}
	x.finds = newDetector(x.mint.all)
	for name, spec := range map[string]identity.KeySpec{
		"alice": {MaxRole: access.RoleUser, Actor: access.Person}, "bob": {MaxRole: access.RoleUser,
			Actor: access.Person},
		"agent": {MaxRole: access.RoleUser, Actor: access.AI}, "guest": {MaxRole: access.RoleUser,
			Actor: access.Person, ReadOnly: true},
		"gm": {MaxRole: access.RoleGM, Actor: access.Person}, "gmagent": {MaxRole: access.RoleGM, Actor: access.AI},
		"admin": {MaxRole: access.RoleAdmin, Actor: access.Person},
	} {
		spec.Name, spec.Subject = name, access.Subject(name)
		secret, _, err := x.app.CreateKey(t.Context(), spec, []string{"lendwater"})
		if err != nil {
			t.Fatal(err)
		}
		x.keys[name] = secret
	}
	for _, name := range []string{"alice", "bob"} {
		if err := x.app.SetMember(t.Context(), "lendwater", app.MemberSpec{Subject: access.Subject(name),
			Role: access.RoleUser}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][2]string{{"Quay", "user"}, {"Open Parent", "user"}, {"Closed", "gm"}} {
		if err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c[0], "content": "seen", "level": c[1]},
			nil); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// word takes a word that is not planted yet.
func (x *weave) word(place string, l access.Label, c *planted) *mark {
	m := &x.finds.marks[x.free]
	x.free++
	m.place, m.label = place, l
	x.owner[m] = c
	return m
}

var everyone = access.NewLabel(access.LevelUser)

// plant makes a case and writes it.
func (x *weave) plant(w wayOfWriting, m exactMark) {
	c := &planted{way: w, mark: m, name: fmt.Sprintf("Case %d", x.planted), gone: map[*mark]bool{}}
	x.planted++
	c.before, c.after = x.word("before", everyone, c), x.word("after", everyone, c)
	c.a, c.b = x.word("a", forGM, c), x.word("b", forGM, c)
	c.marked = x.fill(m.text, c.a.word, c.b.word)
	if !strings.Contains(m.text, "{b}") {
		c.gone[c.b] = true
	}
	c.text, c.open = m.around(c.before.word, c.after.word)
	c.text = x.fill(c.text, c.a.word, c.b.word)
	if err := w.write(x, c); err != nil {
		x.note("write "+w.name, err)
		return
	}
	x.note("write "+w.name, nil)
	if got := x.card(c); got != nil {
		c.id = "~" + got.ID
		x.cases = append(x.cases, c)
		x.keepAll(c, "the write")
		return
	}
	x.t.Errorf("%s: the card is not there", c)
}

// note counts an act.
func (x *weave) note(what string, err error) {
	if err != nil {
		x.refused[what]++
		if x.refused[what] <= 2 {
			x.t.Logf("refused: %s: %v", what, err)
		}
		return
	}
	x.done[what]++
}

// at returns the path of a card.
func (x *weave) at(c *planted) string {
	if c.id != "" {
		return "/api/mcp/cards/" + c.id
	}
	return "/api/mcp/cards/" + pathName(c.name)
}

// shownCard is a card as the game master reads it.
type shownCard struct {
	ID, Name, Content string
	ETag              any `json:"etag"`
	Version           int
	Format            string `json:"text_format"`
	Hidden            []struct{ ID, Text string }
}

func (x *weave) card(c *planted) *shownCard { return x.cardAs("admin", c) }

func (x *weave) cardAs(who string, c *planted) *shownCard {
	got := x.send(who, request{operation: "read", method: "GET",
		path: x.at(c) + "?full=true&format=" + c.mark.form.String()})
	var out shownCard
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != 200 {
		return nil
	}
	return &out
}

// keepAll checks that the game master still reads each word that nobody deleted.
func (x *weave) keepAll(c *planted, after string) {
	if c.closed {
		return
	}
	got := x.card(c)
	if got != nil && strings.HasPrefix(c.way.name, "import") { // parts of imports lie in a card of their own
		below := *c
		below.id, below.name = "", got.Name+"+GM"
		if part := x.card(&below); part != nil {
			got.Content += "\n" + part.Content
		}
	}
	if got == nil {
		x.leak(c, "LOST CARD", "the card is gone after "+after)
		return
	}
	for _, m := range append([]*mark{c.before, c.after, c.a, c.b}, c.more...) {
		if !c.gone[m] && !strings.Contains(got.Content, m.word) {
			x.leak(c, "LOST "+m.place, fmt.Sprintf("after %s the game master reads %q", after, clip(got.Content, 600)))
			c.gone[m] = true
		}
	}
}

// leak notes a leak of a case once.
func (x *weave) leak(c *planted, what, example string) {
	key := fmt.Sprintf("%s | %s | %s | after %s", what, c.way.name, c.mark.kind, strings.Join(c.acts, ", "))
	if _, known := x.found[key]; !known {
		x.found[key] = example
	}
}

// look makes a call as a reader and looks for words that this reader may not see.
func (x *weave) look(who string, r request) reply {
	x.t.Helper()
	got := x.send(who, r)
	asked := map[*mark]bool{}
	for _, l := range x.finds.findLeaks(r.path + r.body) {
		asked[l.mark] = true
	}
	v := access.View{Level: access.LevelUser, Subject: access.Subject(who)}
	for _, l := range x.finds.findLeaks(got.String()) {
		c := x.owner[l.mark]
		if c == nil || asked[l.mark] || v.Sees(l.mark.label) {
			continue
		}
		l.mark.label = everyone // once is enough
		x.leak(c, fmt.Sprintf("%s reads %s in %s", who, l.mark.place, r.operation),
			fmt.Sprintf("%s (%s)\n…%s…\ntext: %q", r, l.how, l.near, c.text))
	}
	x.answers = append(x.answers, lookedAt{who, r, maskIDs(maskRandom(got.String())), x.caseIn(r)})
	return got
}

// cardLooks are the requests by which readers look at a card.
func cardLooks(c *planted) (list []request) {
	at := "/api/mcp/cards/" + c.id
	get := func(what, path string) {
		list = append(list, request{operation: what, method: "GET", path: path})
	}
	get("card", at+"?full=true")
	get("card rendered", at+"?rendered=true&with_children=true")
	get("card as markdown", at+"?full=true&format=markdown")
	get("history", at+"/history")
	for _, n := range []string{"1", "2", "3", "4", "5", "6"} {
		get("revision", at+"/history/"+n)
	}
	get("diff from 1", at+"/diff?from=1")
	get("diff 1 2", at+"/diff?from=1&to=2")
	get("diff 2 3", at+"/diff?from=2&to=3")
	get("diff", at+"/diff")
	get("outline", at+"/outline")
	get("stats", at+"/stats")
	get("relations", at+"/relations")
	get("children", at+"/children?depth=3")
	get("find", at+"/find?q=quay")
	get("X+GM", "/api/mcp/cards/"+pathName(c.name+"+GM"))
	get("X+Told", "/api/mcp/cards/"+pathName(c.name+"+Told by the GM"))
	name := url.PathEscape(c.name)
	for what, path := range map[string]string{"page": "/w/lendwater/" + name,
		"history page": "/history/lendwater/" + name,
		"diff page":    "/history/lendwater/" + name + "?from=1&to=2", "edit page": "/edit/lendwater/" + name,
		"hovercard": "/hovercard/lendwater/" + name} {
		r := pageRequest(path)
		r.operation = what
		list = append(list, r)
	}
	tool := func(what, name string, in fields) {
		r := mcpRequest("tools/call", map[string]any{"name": name, "arguments": map[string]any(in)})
		r.operation = what
		list = append(list, r)
	}
	tool("MCP browse", "browse", fields{"name": c.name})
	tool("MCP history", "history", fields{"name": c.name})
	tool("MCP compare", "history", fields{"name": c.name, "compare": 1})
	tool("MCP fetch", "fetch", fields{"id": c.name})
	r := mcpRequest("resources/read", map[string]any{"uri": "archive://card/" + url.PathEscape(c.name)})
	list = append(list, r)
	slices.SortStableFunc(list, func(a, b request) int { return strings.Compare(a.path+a.body, b.path+b.body) })
	return list
}

// worldLooks are the requests by which readers look at the whole world.
func worldLooks() (list []request) {
	get := func(what, path string) {
		list = append(list, request{operation: what, method: "GET", path: path})
	}
	for offset := 0; offset < 400; offset += 100 {
		get("list", "/api/mcp/cards?sort=name&limit=100&offset="+itoa(offset))
		get("search in content",
			"/api/mcp/cards?search_in=content&q=softly&highlight=true&limit=100&offset="+itoa(offset))
		get("search of words", "/api/mcp/cards?q=quay+road&limit=100&offset="+itoa(offset))
		get("changes", "/api/mcp/changes?limit=100&offset="+itoa(offset))
	}
	get("search for GM", "/api/mcp/cards?q=GM&limit=100")
	get("search by prefix", "/api/mcp/cards?prefix=Case&limit=100&sort=updated_at")
	get("tags", "/api/mcp/tags?limit=100")
	get("wanted", "/api/mcp/wanted?limit=100")
	get("entities", "/api/campaigns/lendwater/entities?limit=100")
	get("timeline", "/api/campaigns/lendwater/timeline")
	get("facts", "/api/lore/search?query=quay&k=20")
	get("site context", "/api/mcp/site-context")
	get("proposals", "/api/proposals")
	get("jobs", "/api/mcp/jobs?everywhere=true")
	for _, path := range []string{"/w/lendwater", "/w/lendwater?q=softly", "/changes/lendwater", "/tree/lendwater",
		"/home/lendwater", "/campaign/lendwater", "/proposals/lendwater?view=all", "/names/lendwater?q=case",
		"/wanted/lendwater"} {
		r := pageRequest(path)
		r.operation = "page " + path
		list = append(list, r)
	}
	tool := func(what, name string, in fields) {
		r := mcpRequest("tools/call", map[string]any{"name": name, "arguments": map[string]any(in)})
		r.operation = what
		list = append(list, r)
	}
	tool("MCP search", "search", fields{"query": "quay softly"})
	tool("MCP history", "history", fields{})
	tool("MCP context", "context", fields{})
	tool("MCP ask_canon", "ask_canon", fields{"claim": "They say it softly at the quay."})
	list = append(list, request{operation: "weekly summary", method: "POST", path: "/api/mcp/weekly-summary",
		body: `{"days": 92, "card_limit": 100}`})
	list = append(list, mcpRequest("resources/list", nil))
	return list
}

// lookAt looks at a card as one reader, at a share of all that can be seen of it.
func (x *weave) lookAt(c *planted, who string, share int) {
	x.t.Helper()
	turn := x.rng.IntN(share)
	for i, r := range cardLooks(c) {
		if i%share == turn {
			x.look(who, r)
		}
	}
	x.askForWords(c, who)
}

// askForWords searches for hidden words, and for one that is nowhere: the answers are the same.
func (x *weave) askForWords(c *planted, who string) {
	x.t.Helper()
	v := access.View{Level: access.LevelUser, Subject: access.Subject(who)}
	decoy := x.mint.all[weaveWords-1].word
	for _, m := range append([]*mark{c.a, c.b}, c.more...) {
		if v.Sees(m.label) {
			continue
		}
		for _, path := range []string{"/api/mcp/cards?q=", "/api/mcp/cards?search_in=both&fuzzy=false&q=",
			"/api/mcp/cards/" + c.id + "/find?q="} {
			got := x.send(who, request{operation: "search", method: "GET", path: path + m.word})
			want := x.send(who, request{operation: "search", method: "GET", path: path + decoy})
			if a, b := strings.ReplaceAll(got.body, m.word, decoy), want.body; maskRandom(a) != maskRandom(b) {
				m.label = everyone
				x.leak(c, who+" finds "+m.place, fmt.Sprintf("%s\n%s\nfor a word that is nowhere\n%s", path,
					clip(got.body, 500), clip(want.body, 500)))
			}
		}
	}
}

// lookAround looks at the whole world as one reader.
func (x *weave) lookAround(who string) {
	x.t.Helper()
	for _, r := range worldLooks() {
		x.look(who, r)
	}
}

// lookAtExports looks at the exports for players.
func (x *weave) lookAtExports(formats ...string) {
	x.t.Helper()
	for _, format := range formats {
		dir := filepath.Join(x.t.TempDir(), "out")
		if _, err := x.app.Export(x.t.Context(), format, "lendwater", dir, access.RoleUser, nil); err != nil {
			x.t.Errorf("export %s: %v", format, err)
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // an empty export makes no folder
			}
			b, err := os.ReadFile(path)
			for _, l := range x.finds.findLeaks(path + "\n" + string(b)) {
				if c := x.owner[l.mark]; c != nil && l.mark.label.Level >= access.LevelGM {
					l.mark.label = everyone
					x.leak(c, "the export "+format+" shows "+l.mark.place, path+" …"+l.near+"…")
				}
			}
			return err
		})
		if err != nil {
			x.t.Error(err)
		}
	}
}

// zipOf returns a zip of files.
func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// maskIDs numbers the ids in a text in the order of their first places.
func maskIDs(text string) string {
	known := map[string]string{}
	return uuidForm.ReplaceAllStringFunc(text, func(id string) string {
		if known[id] == "" {
			known[id] = fmt.Sprintf("id-%d", len(known))
		}
		return known[id]
	})
}

func (x *weave) tick() { x.src.advance(time.Minute) }
