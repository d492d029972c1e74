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
)

// audience is a caller, with the labels that it sees beside the cards that all see, and those
// that are hidden from it.
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

	forOthers = forAdmin // no caller of a session is an admin
)

var audiences = []audience{
	{"user", nil, []access.Label{forGM, forAdmin, forBob}},
	{"gm", []access.Label{forGM, forBob}, []access.Label{forAdmin, access.NewLabel(access.LevelAdmin, "bob")}},
	{"alice", []access.Label{forAlice}, []access.Label{forGM, forAdmin, forBob}},
}

// twins are two stages that look the same to an audience. Each call is made on both.
type twins struct {
	t           *testing.T
	audience    audience
	alone, full *story
	asked       int
	followed    int // feeds
	session     [2]string
	// reports whether two different replies are still equivalent; nil: they never are
	alike func(r request, x, y string) bool
}

func newTwins(t *testing.T, on string, a audience) *twins {
	t.Helper()
	return newTwinsOn(t, a, [2]string{on, on}, [2]bool{false, true})
}

// newTwinsOn creates twins, each on a store, with the whole story or only its visible part.
func newTwinsOn(t *testing.T, a audience, on [2]string, whole [2]bool) *twins {
	t.Helper()
	make := func(on string, whole bool) *story {
		s := &story{stage: newStage(t, on), mint: newMint(11), whole: whole, hidden: a.hidden,
			who: newAuthor(a.who, people[a.who].role), ids: map[string]string{}}
		s.tellAll(a.shown...)
		s.giveKeys("user", "gm", "alice")
		return s
	}
	tw := &twins{t: t, audience: a, alone: make(on[0], whole[0]), full: make(on[1], whole[1])}
	tw.alone.known = tw.full.known
	tw.session = [2]string{tw.alone.startSession(a.who), tw.full.startSession(a.who)}
	return tw
}

// maxDifferences is the number of differences after which a proof ends.
const maxDifferences = 6

// askBoth sends the same request to both stages and compares the replies.
func (tw *twins) askBoth(r request) (same bool) {
	tw.t.Helper()
	return tw.compareForAudience(r, r)
}

// askInSession is askBoth in the session of each stage.
func (tw *twins) askInSession(method string, params map[string]any) bool {
	tw.t.Helper()
	return tw.compareForAudience(sessionRequest(tw.session[0], method, params),
		sessionRequest(tw.session[1], method, params))
}

func (tw *twins) compareForAudience(a, b request) bool {
	tw.t.Helper()
	return tw.compareReplies(tw.audience.who, a, b)
}

// compareReplies compares the replies of the two stages to a caller.
func (tw *twins) compareReplies(who string, a, b request) bool {
	tw.t.Helper()
	tw.asked++
	tw.alone.src.advance(time.Second)
	tw.full.src.advance(time.Second)
	x, y := tw.alone.send(who, a).String(), tw.full.send(who, b).String()
	if x == y {
		return true
	}
	if x, y = maskRandom(x), maskRandom(y); x == y || tw.alike != nil && tw.alike(a, x, y) {
		return true
	}
	at := firstDifference(x, y)
	tw.t.Errorf("what is hidden shows to %s in call %d, %s\nat %d\nwithout it: …%s\n   with it: …%s", who, tw.asked, a, at,
		excerptAt(x, at), excerptAt(y, at))
	return false
}

// firstDifference returns the offset at which two replies differ, in their bodies if possible,
// since the headers already differ if the lengths of the bodies do.
func firstDifference(x, y string) int {
	from := 0
	if a, b := strings.Index(x, "\n{"), strings.Index(y, "\n{"); a == b && a > 0 { // the body
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

func excerptAt(s string, at int) string { return s[max(0, at-300):min(len(s), at+900)] }

// TestNonInterference checks the second law on everything that is served: two worlds that look
// the same to a caller give that caller equal answers, to the byte. PROOF_TURNS sets the number
// of turns for each audience, PROOF_TURN repeats one turn.
func TestNonInterference(t *testing.T) { onEachStore(t, testNonInterference, placed) }

func testNonInterference(t *testing.T, on string) {
	t.Parallel()
	whole := isLong() || os.Getenv("PROOF_TURN") != ""
	if on == placed && !whole {
		t.Skip("only by make proof, with PROOF_ROUNDS: TestPlacedWorldAnswersAlike holds a placed world against an" +
			" embedded one for a user, and the suite of all stores asks a placed store as each audience")
	}
	asked := audiences[rand.IntN(len(audiences))].who
	for _, a := range audiences {
		t.Run(a.who, func(t *testing.T) {
			if !whole && a.who != asked {
				t.Skip("a short run asks as one audience, drawn by lot; make proof, with PROOF_ROUNDS, as all")
			}
			t.Parallel()
			for _, turn := range turnNumbers() {
				t.Run(fmt.Sprint("turn ", turn), func(t *testing.T) {
					tw := newTwins(t, on, a)
					tw.playTurn(turn)
					if on == placed && inCluster() && !t.Failed() {
						tw.alone.restartDatabase()
						tw.full.restartDatabase()
						tw.playTurn(turn)
					}
				})
			}
		})
	}
}

// turnNumbers returns the numbers of the turns of a proof. The number of a turn selects the
// calls that a short proof makes over each transport, and seeds the random calls.
func turnNumbers() (list []int) {
	if n, err := strconv.Atoi(os.Getenv("PROOF_TURN")); err == nil {
		return []int{n}
	}
	most, _ := strconv.Atoi(os.Getenv("PROOF_TURNS")) // no number counts as 0
	for range max(most, 1) {
		list = append(list, rand.IntN(1_000_000))
	}
	return list
}

// playTurn makes one turn.
func (tw *twins) playTurn(turn int) {
	tw.t.Helper()
	differences := 0
	count := func(same bool) bool {
		if !same {
			differences++
		}
		return differences < maxDifferences
	}
	tw.compareGoodCalls(turn, count)
	tw.compareOtherCalls(turn, count)
	if differences >= maxDifferences {
		return
	}
	for range 2 { // the second time repeats calls with their keys, after many changes
		for _, r := range writeCalls(tw.full.known, turn) {
			if !count(tw.askBoth(r)) {
				return
			}
		}
		tw.alone.changeBetweenCalls(turn + tw.asked)
		tw.full.changeBetweenCalls(turn + tw.asked)
	}
	for _, r := range otherCalls(tw.full.known, turn+1) {
		if !tw.mayDiffer(r.operation) && !count(tw.askBoth(r)) {
			return
		}
	}
	c := newInputGen(uint64(turn), tw.full.known)
	ops := tw.full.app.Ops.All()
	for i := range rounds(80) {
		if o := pick(c, ops); !tw.mayDiffer(o.Name) && !count(tw.compareRandomCall(c, o, i)) {
			return
		}
	}
	if isLong() {
		tw.compareGoodCalls(turn+1, count)
	}
	if tw.asked < 100 {
		tw.t.Errorf("only %d calls were made", tw.asked)
	}
	tw.t.Logf("%d calls were answered alike by turn %d; PROOF_TURN=%[2]d repeats it", tw.asked, turn)
}

const usageOperation = "get-ai-usage"

// usagePage opens a page with the answer of usageOperation.
func usagePage(path string) request {
	r := pageRequest(path)
	r.operation = usageOperation
	return r
}

// mayDiffer reports whether an operation may tell its audience of hidden things: a GM may read
// the usage of all AI calls of the world. The answer has numbers by purpose and model, and no
// text.
func (tw *twins) mayDiffer(operation string) bool {
	return operation == usageOperation && people[tw.audience.who].role >= access.RoleGM
}

// compareGoodCalls makes each good call over each transport, in a short proof over some of
// them.
func (tw *twins) compareGoodCalls(turn int, more func(same bool) bool) {
	tw.t.Helper()
	for _, o := range tw.full.app.Ops.All() {
		for _, e := range tw.full.goodInputs(o) {
			if tw.mayDiffer(o.Name) {
				continue
			}
			in, twin := tw.alone.inputs(e), tw.full.inputs(e)
			a, b := toolRequest(o, in), toolRequest(o, twin)
			if maskRandom(a.body) != maskRandom(b.body) {
				tw.t.Fatalf("the story of %s is not the same: %v, %v", o.Name, in, twin)
			}
			turn++
			for n, route := range o.Routes() {
				if isSelected(turn+n) && !more(tw.compareForAudience(viaRoute(o, route.Route, in),
					viaRoute(o, route.Route, twin))) {
					return
				}
			}
			if isSelected(turn+1) && !more(tw.compareForAudience(a, b)) {
				return
			}
			call := func(in map[string]any) map[string]any { return map[string]any{"name": o.Name, "arguments": in} }
			if isSelected(turn+2) && !more(tw.compareForAudience(sessionRequest(tw.session[0], "tools/call", call(in)),
				sessionRequest(tw.session[1], "tools/call", call(twin)))) {
				return
			}
		}
	}
}

// compareOtherCalls makes all calls that are no operations.
func (tw *twins) compareOtherCalls(turn int, more func(same bool) bool) {
	tw.t.Helper()
	for _, r := range otherCalls(tw.full.known, turn) {
		if !tw.mayDiffer(r.operation) && !more(tw.askBoth(r)) {
			return
		}
	}
	list, as := seatedCalls(tw.full)
	for i, r := range list {
		if !more(tw.compareReplies(as[i], r, r)) {
			return
		}
	}
	tw.compareFeeds(more)
}

// otherCalls returns calls that are no operations: lists, resources, prompts, completions, and
// addresses.
func otherCalls(known namePool, turn int) []request {
	list := cardCalls(known, turn)
	list = append(list, []request{
		mcpRequest("server/discover", nil), mcpRequest("tools/list", nil), mcpRequest("resources/list", nil),
		mcpRequest("resources/templates/list", nil),
		mcpRequest("prompts/list", nil), mcpRequest("tools/call", map[string]any{"name": "no_such_tool"}),
		mcpRequest("nonsense/method", nil),
		{operation: "malformed", method: "POST", path: "/mcp",
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_card","name":"x"}}`},
		{operation: "malformed", method: "POST", path: "/api/mcp/cards", body: `{"name": "x", "name": "y"}`},
		{operation: "malformed", method: "POST", path: "/api/mcp/cards", body: `{"name": `},
		{operation: "openapi", method: "GET", path: "/api/openapi.json"},
		{operation: "health", method: "GET", path: "/healthz"},
		{operation: "ready", method: "GET", path: "/readyz"},
		{operation: "front", method: "GET", path: "/connect", header: []string{"Accept: text/html"}},
		pageRequest("/"), pageRequest("/home/lendwater"), pageRequest("/proposals/lendwater?view=all"),
		pageRequest("/sign-in"), pageRequest("/account"), pageRequest("/w/lendwater"),
		pageRequest("/w/lendwater?as=user"), pageRequest("/w/lendwater?q=the&offset=30"), pageRequest("/changes/lendwater"),
		pageRequest("/changes/lendwater?as=user"), pageRequest("/proposals/lendwater"),
		pageRequest("/proposals/lendwater?status=accepted"), pageRequest("/new/lendwater"), pageRequest("/names/lendwater"),
		pageRequest("/names/lendwater?q=the"), pageRequest("/tree/lendwater"), pageRequest("/w/nowhere"),
		pageRequest("/members/lendwater"), pageRequest("/members/lendwater?as=user"), pageRequest("/keys/lendwater"),
		pageRequest("/join"), pageRequest("/campaign/lendwater"), pageRequest("/campaign/lendwater?as=user"),
		pageRequest("/timeline/lendwater"), pageRequest("/sessions/lendwater"), pageRequest("/conflicts/lendwater"),
		pageRequest("/studio/lendwater"), usagePage("/agents/lendwater"), usagePage("/usage/lendwater"),
		pageRequest("/games/lendwater"), pageRequest("/health"), pageRequest("/audit/lendwater"),
		pageRequest("/audit/lendwater?as=gm&by=keeper"), pageRequest("/audit/lendwater?card=Sunken%20Bell"),
		pageRequest("/import/lendwater"),
		pageRequest("/export/lendwater?role=user&format=table"), pageRequest("/export/lendwater?role=gm&format=markdown"),
		pageRequest("/places/lendwater?steps=5"), pageRequest("/places/lendwater?as=user"),
		pageRequest("/map/lendwater/Salt%20Quay+map"),
		{operation: "nothing", method: "GET", path: "/api/nothing"},
		{operation: "method", method: "PUT", path: "/api/mcp/cards"},
		{operation: "surface", method: "POST", path: "/mcp/otherland", body: "{}"},
		{operation: "metadata", method: "GET", path: "/.well-known/oauth-protected-resource"},
	}...)
	for _, surface := range []string{"archive", "world", "lore", "studio", "campaign", "alignment", "alignment-play"} {
		for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			r := mcpRequest(method, nil)
			r.path += "/" + surface
			list = append(list, r)
		}
	}
	for _, uri := range listURIs {
		list = append(list, mcpRequest("resources/read", map[string]any{"uri": uri}))
	}
	for i, name := range slices.Concat(known.names, known.hidden) {
		if (i+turn)%stride() == 0 {
			list = append(list, nameCalls(name, i/stride())...)
		}
	}
	for i, id := range slices.Concat(known.ids, known.hidden) {
		if (i+turn)%stride() == 0 {
			list = append(list, playCalls(id, i/stride())...)
		}
	}
	return list
}

// cardCalls reads the card of each name by two routes; in a short proof, of some names.
func cardCalls(known namePool, turn int) (list []request) {
	for i, name := range slices.Concat(known.hidden, known.names) {
		if !isLong() && (i+turn)%(stride()/4) > 0 {
			continue
		}
		path := "/api/mcp/cards/" + url.PathEscape(name)
		list = append(list, request{operation: "every-name", method: "GET", path: path},
			request{operation: "every-name", method: "GET", path: path + "/history"})
	}
	return list
}

// nameCalls returns calls about one name that are no operations: a third of them, by turns.
func nameCalls(name string, turn int) []request {
	uri := "archive://card/" + url.PathEscape(name)
	prompt := func(name string, args map[string]any) request {
		return mcpRequest("prompts/get", map[string]any{"name": name, "arguments": args})
	}
	complete := func(ref map[string]any, argument, value string) request {
		return mcpRequest("completion/complete", map[string]any{"ref": ref,
			"argument": map[string]any{"name": argument, "value": value}})
	}
	return [][]request{{
		mcpRequest("resources/read", map[string]any{"uri": uri}),
		prompt("summarize-card", map[string]any{"name": name}),
		{operation: "if-none-match", method: "GET", path: "/api/mcp/cards/" + url.PathEscape(name),
			header: []string{`If-None-Match: "1", "2", "3"`}},
		pageRequest("/w/lendwater/" + url.PathEscape(name)),
		pageRequest("/history/lendwater/" + url.PathEscape(name) + "?to=1"),
	}, {
		{operation: "head", method: "HEAD", path: "/api/mcp/cards/" + url.PathEscape(name)},
		pageRequest("/w/lendwater/" + url.PathEscape(name) + "?as=user"),
		pageRequest("/file/lendwater/" + url.PathEscape(name)), pageRequest("/hovercard/lendwater/" + url.PathEscape(name)),
		pageRequest("/w/lendwater?q=" + url.QueryEscape(name)), pageRequest("/names/lendwater?q=" + url.QueryEscape(name)),
		prompt("check-canon", map[string]any{"name": name, "statement": name}),
		complete(map[string]any{"type": "ref/resource", "uri": "archive://card/{name}"}, "name", name[:min(3, len(name))]),
	}, {
		{operation: "if-match", method: "PATCH", path: "/api/mcp/cards/" + url.PathEscape(name),
			header: []string{`If-Match: "77"`}, body: `{"content": "x"}`},
		pageRequest("/edit/lendwater/" + url.PathEscape(name)),
		prompt("find-plot-holes", map[string]any{"name": name}),
		complete(map[string]any{"type": "ref/prompt", "name": "write-card"}, "type", name[:min(2, len(name))]),
	}}[turn%3]
}

// compareRandomCall makes one random call.
func (tw *twins) compareRandomCall(c *inputGen, o *op.Operation, i int) bool {
	tw.t.Helper()
	in := c.randomInput(o)
	switch {
	case i%4 == 3:
		return tw.askInSession("tools/call", map[string]any{"name": o.Name, "arguments": in})
	case i%2 == 0 && o.Route != "":
		r := viaREST(o, in)
		if c.oneIn(6) {
			r.header = append(r.header, fmt.Sprintf(`If-Match: "%d"`, c.IntN(4)))
		}
		return tw.askBoth(r)
	}
	return tw.askBoth(toolRequest(o, in))
}
