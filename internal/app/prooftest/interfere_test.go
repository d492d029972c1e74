package prooftest

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
)

// audience is somebody, with what is in sight beside what all see, and what is not.
type audience struct {
	who    string
	shown  []access.Label
	hidden []access.Label
}

var (
	forGM    = access.NewLabel(access.LevelGM)
	forAdmin = access.NewLabel(access.LevelAdmin)
	forAlice = access.NewLabel(access.LevelGM, "alice")
	forBob   = access.NewLabel(access.LevelGM, "bob")

	forOthers = forAdmin // of whom no caller in a session is one
)

var audiences = []audience{
	{"user", nil, []access.Label{forGM, forAdmin, forBob}},
	{"gm", []access.Label{forGM, forBob}, []access.Label{forAdmin, access.NewLabel(access.LevelAdmin, "bob")}},
	{"alice", []access.Label{forAlice}, []access.Label{forGM, forAdmin, forBob}},
}

// twins are two stages that look the same to an audience. All that is asked of the one is
// asked of the other.
type twins struct {
	t           *testing.T
	audience    audience
	alone, full *story
	asked       int
	session     [2]string
	alike       func(r request, x, y string) bool // tells whether replies that are not the same may differ; nil: none
}

func newTwins(t *testing.T, on string, a audience) *twins {
	t.Helper()
	return newTwinsOn(t, a, [2]string{on, on}, [2]bool{false, true})
}

// newTwinsOn makes twins on a store each, of a story that is whole or of what is in sight
// of it.
func newTwinsOn(t *testing.T, a audience, on [2]string, whole [2]bool) *twins {
	t.Helper()
	make := func(on string, whole bool) *story {
		s := &story{stage: newStage(t, on), mint: newMint(11), whole: whole, hidden: a.hidden, who: author(a.who, people[a.who].role), ids: map[string]string{}}
		s.tell(a.shown...)
		s.giveKeys("user", "gm", "alice")
		return s
	}
	tw := &twins{t: t, audience: a, alone: make(on[0], whole[0]), full: make(on[1], whole[1])}
	tw.alone.known = tw.full.known
	tw.session = [2]string{tw.alone.session(a.who), tw.full.session(a.who)}
	return tw
}

// maxDifferences is how many differences are shown before a proof ends.
const maxDifferences = 6

// ask sends the same request to both and holds the replies against each other.
func (tw *twins) ask(r request) (same bool) {
	tw.t.Helper()
	return tw.compare(r, r)
}

// askInSession is ask in the session that each stage gave.
func (tw *twins) askInSession(method string, params map[string]any) bool {
	tw.t.Helper()
	return tw.compare(inSession(tw.session[0], method, params), inSession(tw.session[1], method, params))
}

func (tw *twins) compare(a, b request) bool {
	tw.t.Helper()
	return tw.askAs(tw.audience.who, a, b)
}

// askAs holds what somebody is told on the one stage against what on the other.
func (tw *twins) askAs(who string, a, b request) bool {
	tw.t.Helper()
	tw.asked++
	tw.alone.src.pass(time.Second)
	tw.full.src.pass(time.Second)
	x, y := tw.alone.send(who, a).fixed(), tw.full.send(who, b).fixed()
	if x == y || tw.alike != nil && tw.alike(a, x, y) {
		return true
	}
	at := differAt(x, y)
	tw.t.Errorf("what is hidden shows to %s in call %d, %s\nat %d\nwithout it: …%s\n   with it: …%s", who, tw.asked, a, at, around(x, at), around(y, at))
	return false
}

// differAt is where two replies part: their bodies, for a body of another length shows in
// the head already.
func differAt(x, y string) int {
	from := 0
	if a, b := strings.Index(x, "\n\n"), strings.Index(y, "\n\n"); a == b && a > 0 {
		from = a
	}
	for _, at := range []int{from, 0} {
		for at < min(len(x), len(y)) && x[at] == y[at] {
			at++
		}
		if at < max(len(x), len(y)) {
			return at
		}
	}
	return 0
}

func around(s string, at int) string { return s[max(0, at-300):min(len(s), at+300)] }

// TestNonInterference holds all that is served against the second law: two worlds that
// look the same to somebody answer that somebody alike, to the byte. PROOF_TURNS says how
// often it is played for each audience, PROOF_TURN repeats one turn.
func TestNonInterference(t *testing.T) { onEachStore(t, testNonInterference) }

func testNonInterference(t *testing.T, on string) {
	t.Parallel()
	for _, a := range audiences {
		t.Run(a.who, func(t *testing.T) {
			whole := long() || os.Getenv("PROOF_TURN") != ""
			if raceenabled.Detected && !whole && a.who != "user" {
				t.Skip("only without the race detector, as make test does too, or with PROOF_ROUNDS")
			}
			if on == "postgres" && !whole && a.who == "gm" {
				t.Skip("only by make proof, with PROOF_ROUNDS: TestBothStoresAnswerAlike holds the stores against each other for a GM")
			}
			t.Parallel()
			for _, turn := range turns() {
				t.Run(fmt.Sprint("turn ", turn), func(t *testing.T) { newTwins(t, on, a).play(turn) })
			}
		})
	}
}

// turns are the numbers that the rounds of a proof are played by: which calls a short
// proof makes over which transport, and the random ones.
func turns() (list []int) {
	if n, err := strconv.Atoi(os.Getenv("PROOF_TURN")); err == nil {
		return []int{n}
	}
	most, _ := strconv.Atoi(os.Getenv("PROOF_TURNS")) // none is one
	for range max(most, 1) {
		list = append(list, rand.IntN(1_000_000))
	}
	return list
}

// play is one round.
func (tw *twins) play(turn int) {
	tw.t.Helper()
	differences := 0
	count := func(same bool) bool {
		if !same {
			differences++
		}
		return differences < maxDifferences
	}
	tw.everything(turn, count)
	tw.allBesides(turn, count)
	if differences >= maxDifferences {
		return
	}
	for range 2 { // the second time repeats calls by their keys, of which much has moved since
		for _, r := range writes(tw.full.known, turn) {
			if !count(tw.ask(r)) {
				return
			}
		}
		tw.alone.stir(turn + tw.asked)
		tw.full.stir(turn + tw.asked)
	}
	for _, r := range besides(tw.full.known, turn+1) {
		if !count(tw.ask(r)) {
			return
		}
	}
	c := newChance(uint64(turn), tw.full.known)
	ops := tw.full.app.Ops.All()
	for i := range rounds(80) {
		if o := pick(c, ops); !tw.differs(o) && !count(tw.chance(c, o, i)) {
			return
		}
	}
	if long() {
		tw.everything(turn+1, count)
	}
	if tw.asked < 100 {
		tw.t.Errorf("only %d calls were made", tw.asked)
	}
	tw.t.Logf("%d calls were answered alike by turn %d; PROOF_TURN=%[2]d repeats it", tw.asked, turn)
}

// differs reports whether an operation may tell its audience of more than it sees: what
// all people's calls used up in the world is a GM's to know, whoever made them and of
// whatever. It is numbers by purpose and model, and no one's words.
func (tw *twins) differs(o *op.Operation) bool {
	return o.Name == "get-ai-usage" && people[tw.audience.who].role >= access.RoleGM
}

// everything asks each good call over each transport, in a short proof over some.
func (tw *twins) everything(turn int, more func(same bool) bool) {
	tw.t.Helper()
	for _, o := range tw.full.app.Ops.All() {
		for _, e := range good[o.Name] {
			if tw.differs(o) {
				continue
			}
			in, twin := tw.alone.inputs(e), tw.full.inputs(e)
			a, b := asTool(o, in), asTool(o, twin)
			if fixed(a.body) != fixed(b.body) {
				tw.t.Fatalf("the story of %s is not the same: %v, %v", o.Name, in, twin)
			}
			turn++
			for n, route := range o.Routes() {
				if some(turn+n) && !more(tw.compare(overRoute(o, route.Route, in), overRoute(o, route.Route, twin))) {
					return
				}
			}
			if some(turn+1) && !more(tw.compare(a, b)) {
				return
			}
			call := func(in map[string]any) map[string]any { return map[string]any{"name": o.Name, "arguments": in} }
			if some(turn+2) && !more(tw.compare(inSession(tw.session[0], "tools/call", call(in)), inSession(tw.session[1], "tools/call", call(twin)))) {
				return
			}
		}
	}
}

// allBesides asks all that is no operation.
func (tw *twins) allBesides(turn int, more func(same bool) bool) {
	tw.t.Helper()
	for _, r := range besides(tw.full.known, turn) {
		if !more(tw.ask(r)) {
			return
		}
	}
	list, as := seated(tw.full)
	for i, r := range list {
		if !more(tw.askAs(as[i], r, r)) {
			return
		}
	}
	tw.follow(more)
}

// besides are calls of what is no operation: lists, resources, prompts, completions, and
// addresses.
func besides(known pool, turn int) []request {
	list := everyName(known, turn)
	list = append(list, []request{
		overMCP("server/discover", nil), overMCP("tools/list", nil), overMCP("resources/list", nil), overMCP("resources/templates/list", nil),
		overMCP("prompts/list", nil), overMCP("tools/call", map[string]any{"name": "no_such_tool"}), overMCP("nonsense/method", nil),
		{operation: "malformed", method: "POST", path: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_card","name":"x"}}`},
		{operation: "malformed", method: "POST", path: "/api/mcp/cards", body: `{"name": "x", "name": "y"}`},
		{operation: "malformed", method: "POST", path: "/api/mcp/cards", body: `{"name": `},
		{operation: "openapi", method: "GET", path: "/api/openapi.json"}, {operation: "health", method: "GET", path: "/healthz"},
		{operation: "ready", method: "GET", path: "/readyz"}, {operation: "front", method: "GET", path: "/", header: []string{"Accept: text/html"}},
		{operation: "nothing", method: "GET", path: "/api/nothing"}, {operation: "method", method: "PUT", path: "/api/mcp/cards"},
		{operation: "surface", method: "POST", path: "/mcp/otherland", body: "{}"},
		{operation: "metadata", method: "GET", path: "/.well-known/oauth-protected-resource"},
	}...)
	for _, surface := range []string{"archive", "world", "lore", "studio", "campaign", "alignment"} {
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			r := overMCP(method, nil)
			r.path += "/" + surface
			list = append(list, r)
		}
	}
	for _, uri := range lists {
		list = append(list, overMCP("resources/read", map[string]any{"uri": uri}))
	}
	for i, name := range slices.Concat(known.names, known.hidden) {
		if (i+turn)%stride() == 0 {
			list = append(list, about(name, i/stride())...)
		}
	}
	for i, id := range slices.Concat(known.ids, known.hidden) {
		if (i+turn)%stride() == 0 {
			list = append(list, aboutPlay(id, i/stride())...)
		}
	}
	return list
}

// everyName asks for the card of each name, by two ways of looking it up; a short proof,
// for some of them.
func everyName(known pool, turn int) (list []request) {
	for i, name := range slices.Concat(known.hidden, known.names) {
		if !long() && (i+turn)%(stride()/4) > 0 {
			continue
		}
		path := "/api/mcp/cards/" + url.PathEscape(name)
		list = append(list, request{operation: "every-name", method: "GET", path: path},
			request{operation: "every-name", method: "GET", path: path + "/history"})
	}
	return list
}

// about are calls about one name that are no operation's: a third of them, by turns.
func about(name string, turn int) []request {
	uri := "archive://card/" + url.PathEscape(name)
	prompt := func(name string, args map[string]any) request {
		return overMCP("prompts/get", map[string]any{"name": name, "arguments": args})
	}
	complete := func(ref map[string]any, argument, value string) request {
		return overMCP("completion/complete", map[string]any{"ref": ref, "argument": map[string]any{"name": argument, "value": value}})
	}
	return [][]request{{
		overMCP("resources/read", map[string]any{"uri": uri}),
		prompt("summarize-card", map[string]any{"name": name}),
		{operation: "if-none-match", method: "GET", path: "/api/mcp/cards/" + url.PathEscape(name), header: []string{`If-None-Match: "1", "2", "3"`}},
	}, {
		{operation: "head", method: "HEAD", path: "/api/mcp/cards/" + url.PathEscape(name)},
		prompt("check-canon", map[string]any{"name": name, "statement": name}),
		complete(map[string]any{"type": "ref/resource", "uri": "archive://card/{name}"}, "name", name[:min(3, len(name))]),
	}, {
		{operation: "if-match", method: "PATCH", path: "/api/mcp/cards/" + url.PathEscape(name), header: []string{`If-Match: "77"`}, body: `{"content": "x"}`},
		prompt("find-plot-holes", map[string]any{"name": name}),
		complete(map[string]any{"type": "ref/prompt", "name": "write-card"}, "type", name[:min(2, len(name))]),
	}}[turn%3]
}

// chance makes one random call.
func (tw *twins) chance(c *chance, o *op.Operation, i int) bool {
	tw.t.Helper()
	in := c.input(o)
	switch {
	case i%4 == 3:
		return tw.askInSession("tools/call", map[string]any{"name": o.Name, "arguments": in})
	case i%2 == 0 && o.Route != "":
		r := overREST(o, in)
		if c.in(6) {
			r.header = append(r.header, fmt.Sprintf(`If-Match: "%d"`, c.IntN(4)))
		}
		return tw.ask(r)
	}
	return tw.ask(asTool(o, in))
}
