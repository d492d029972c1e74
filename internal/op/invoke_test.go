package op_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
)

// Each row names a caller, a call and its transport and surface, and the expected kind of answer.
func TestInvokeRights(t *testing.T) {
	b := newBench(t, nil)
	const ok = fault.Kind(200)
	user, gm, admin := as(access.RoleUser), as(access.RoleGM), as(access.RoleAdmin)
	operator := access.Caller{Subject: "op", Operator: true}
	narrow := user
	narrow.Operations = []string{"get_card"}
	worldOnly := user
	worldOnly.Surfaces = []string{"world"}
	mixed := admin
	mixed.Roles = map[access.WorldID]access.Role{worldA: access.RoleUser, worldB: access.RoleAdmin}
	for _, tc := range []struct {
		name              string
		c                 access.Caller
		transport, op, on string
		in                string
		want              fault.Kind
	}{
		{"a player reads", user, "mcp", "get_card", "", `{"name":"A"}`, ok},
		{"a player deletes over REST", user, "rest", "delete_card", "", `{"name":"A"}`, fault.Denied},
		{"a player deletes by the command line", user, "cli", "delete_card", "", `{"name":"A"}`, fault.Denied},
		{"a player deletes over MCP", user, "mcp", "delete_card", "", `{"name":"A"}`, fault.NotFound},
		{"a GM deletes over MCP", gm, "mcp", "delete_card", "", `{"name":"A"}`, fault.NotFound},
		{"an admin deletes over MCP", admin, "mcp", "delete_card", "", `{"name":"A"}`, ok},
		{"nobody knows it", admin, "rest", "no_such", "", `{}`, fault.NotFound},
		{"not on this surface", admin, "mcp", "delete_card", "world", `{"name":"A"}`, fault.NotFound},
		{"on a second surface", user, "mcp", "get_card", "world", `{"name":"A"}`, ok},
		{"a key for one surface reaches it by another", worldOnly, "mcp", "get_card", "", `{"name":"A"}`, ok},
		{"a key for one surface, on another", worldOnly, "mcp", "get_card", "archive", `{"name":"A"}`, fault.NotFound},
		{"a key for one operation", narrow, "mcp", "create_card", "", `{"name":"A"}`, fault.NotFound},
		{"a key for one operation, over REST", narrow, "rest", "create_card", "", `{"name":"A"}`, fault.Denied},
		{"an admin backs up", admin, "rest", "create_backup", "", `{"name":"A"}`, fault.Denied},
		{"an admin backs up over MCP", admin, "mcp", "create_backup", "", `{"name":"A"}`, fault.NotFound},
		{"the operator backs up", operator, "mcp", "create_backup", "", `{"name":"A"}`, ok},
		{"admin elsewhere, player here: the tool is known", mixed, "mcp", "delete_card", "", `{"name":"A","world":"a"}`,
			fault.Denied},
		{"admin elsewhere, and there", mixed, "mcp", "delete_card", "", `{"name":"A","world":"b"}`, ok},
		{"the role is asked before the input", user, "rest", "delete_card", "", `{"bad":1}`, fault.Denied},
		{"nobody at all", access.Caller{}, "rest", "get_card", "", `{"name":"A"}`, fault.NotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(b.journal.records)
			_, err := b.Invoke(context.Background(), tc.c, op.Request{Operation: tc.op, Surface: tc.on, Input: []byte(tc.in),
				Transport: tc.transport})
			if got := kind(err); got != tc.want {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if len(b.journal.records) != before+1 {
				t.Errorf("%d records of one call", len(b.journal.records)-before)
			}
		})
	}
}

func kind(err error) fault.Kind {
	if err == nil {
		return 200
	}
	return fault.KindOf(err)
}

// An operation that the caller may not use gives the same answer as one that does not exist, apart
// from its name.
func TestHiddenToolLooksAbsent(t *testing.T) {
	b := newBench(t, nil)
	ask := func(name string) string {
		_, err := b.Invoke(context.Background(), as(access.RoleUser),
			op.Request{Operation: name, Transport: "mcp", Input: []byte(`{"x":1}`)})
		out, _ := json.Marshal(fault.Show(err, "c"))
		return strings.ReplaceAll(string(out), name, "NAME")
	}
	if hidden, absent := ask("delete_card"), ask("delete_cart"); hidden != absent {
		t.Errorf("hidden %s\nabsent %s", hidden, absent)
	}
}

func TestOperationsShown(t *testing.T) {
	b := newBench(t, nil)
	for _, tc := range []struct {
		who     access.Caller
		surface string
		want    string
	}{
		{as(access.RoleUser), "", "get_card create_card read_long read_slow upload_attachment"},
		{as(access.RoleAdmin), "", "get_card create_card delete_card read_long read_slow upload_attachment"},
		{as(access.RoleAdmin), "world", "get_card"},
		{access.Caller{Operator: true, EveryRole: access.RoleAdmin}, "archive",
			"get_card create_card delete_card create_backup read_long read_slow upload_attachment"},
		{access.Caller{}, "", ""},
	} {
		var names []string
		for _, o := range b.Operations(tc.who, tc.surface) {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != tc.want {
			t.Errorf("on %q: %s, want %s", tc.surface, got, tc.want)
		}
	}
}

func TestWorldOfACall(t *testing.T) {
	both := as(access.RoleUser)
	both.Roles = map[access.WorldID]access.Role{worldA: access.RoleUser, worldB: access.RoleUser}
	home := both
	home.Home = worldA
	every := access.Caller{EveryRole: access.RoleGM}
	const ok = fault.Kind(200)
	for _, tc := range []struct {
		name       string
		c          access.Caller
		asked, arg string
		want       fault.Kind
		world      access.WorldID
		lookups    string
	}{
		{"the only one", as(access.RoleUser), "", "", ok, worldA, ""},
		{"asked for by the transport", both, "b", "", ok, worldB, "b"},
		{"asked for as an argument", both, "", "b", ok, worldB, "b"},
		{"both, the same", both, "b", "b", ok, worldB, "b"},
		{"both, not the same", both, "a", "b", fault.Invalid, worldA, "a"},
		{"none of several", both, "", "", fault.Invalid, access.WorldID{}, ""},
		{"none of several, every role", every, "", "", fault.Invalid, access.WorldID{}, ""},
		{"the token's", home, "", "", ok, worldA, ""},
		{"the token's by name", home, "", "a", ok, worldA, ""},
		{"the token's by id", home, strings.ToUpper(worldA.String()), "", ok, worldA, ""},
		{"not the token's, though open to the key", home, "", "b", fault.Denied, access.WorldID{}, ""},
		{"not the token's, and not there", home, "nowhere", "", fault.Denied, access.WorldID{}, ""},
		{"not open", as(access.RoleUser), "b", "", fault.NotFound, access.WorldID{}, "b"},
		{"not there", as(access.RoleUser), "nowhere", "", fault.NotFound, access.WorldID{}, "nowhere"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, nil)
			in := `{"name":"A"}`
			if tc.arg != "" {
				in = fmt.Sprintf(`{"name":"A","world":%q}`, tc.arg)
			}
			_, err := b.Invoke(context.Background(), tc.c, op.Request{Operation: "get_card", World: tc.asked, Input: []byte(in),
				Transport: "rest"})
			if kind(err) != tc.want {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			if got := b.journal.records[0].World; got != tc.world {
				t.Errorf("world %s, want %s", got, tc.world)
			}
			if got := strings.Join(b.worlds.lookups, " "); got != tc.lookups {
				t.Errorf("looked up %q, want %q", got, tc.lookups)
			}
		})
	}
	b := newBench(t, nil)
	_, err := b.call(both, "get_card", `{"name":"A"}`)
	if !strings.Contains(err.Error(), "a, b") || faultsOf(err) == "" {
		t.Errorf("the worlds are not listed: %v", err)
	}
}

func TestFailuresShowNothing(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{"panic", "broken"} {
		_, err := b.call(as(access.RoleUser), "get_card", `{"name":"`+name+`"}`)
		shown, _ := json.Marshal(fault.Show(err, "c-1"))
		if fault.KindOf(err) != fault.Internal || strings.Contains(string(shown), "secret") {
			t.Errorf("%s: %v shows %s", name, err, shown)
		}
		if name == "panic" && strings.Contains(err.Error(), "secret") {
			t.Errorf("the log gets the text of a panic: %.100s", err)
		}
	}
	_, err := b.call(as(access.RoleUser), "read_slow", `{}`)
	if !errors.Is(err, fault.Unavailable) {
		t.Errorf("a slow read: %v", err)
	}
	for i, want := range []string{"internal_error", "internal_error", "unavailable"} {
		if r := b.journal.records[i]; r.Outcome != want || r.Correlation != "c-1" {
			t.Errorf("record %d: %+v, want %s", i, r, want)
		}
	}
}

// TestAnInterruptedWriteTellsThatItWrote interrupts a call before and after its commit.
func TestAnInterruptedWriteTellsThatItWrote(t *testing.T) {
	lost := fault.New(fault.Unavailable, "the store was lost; try again")
	b := newBench(t, func(c *op.Config) {
		c.Surfaces = []op.Surface{{Name: "archive", Operations: []*op.Operation{
			op.Define(spec("make", access.Write, access.RoleUser), func(_ context.Context, c *op.Call, in echoIn) (echoOut, error) {
				if in.Name == "after" {
					c.Grant.On("elsewhere").NoteCommit()
				}
				return echoOut{}, fmt.Errorf("read the card: %w", lost)
			}),
		}}}
	})
	for name, want := range map[string]bool{"before": false, "after": true} {
		_, err := b.call(as(access.RoleUser), "make", `{"name":"`+name+`"}`)
		shown, _ := json.Marshal(fault.Show(err, "c-1"))
		if !errors.Is(err, fault.Unavailable) || !errors.Is(err, lost) || strings.Contains(string(shown), "is kept") != want {
			t.Errorf("interrupted %s its commit: %v shows %s", name, err, shown)
		}
	}
}

func TestRecordNamesTheTarget(t *testing.T) {
	b := newBench(t, nil)
	a, err := b.call(as(access.RoleUser), "get_card", `{"name":"Rivers"}`)
	if err != nil {
		t.Fatal(err)
	}
	if r := b.journal.records[0]; r.Target != "Rivers" || r.Bytes != len(a.Output) || r.Surface != "archive" {
		t.Errorf("%+v", r)
	}
}

// grants records the requests of the grants that handlers got.
type grants struct{ seen []access.Request }

func noting(g *grants) func(context.Context, *op.Call, echoIn) (echoOut, error) {
	return func(_ context.Context, c *op.Call, _ echoIn) (echoOut, error) {
		g.seen = append(g.seen, c.Grant.Request())
		return echoOut{}, nil
	}
}

func TestIdempotencyKeyAndHash(t *testing.T) {
	var g grants
	b := newBench(t, func(c *op.Config) {
		c.Surfaces = []op.Surface{{Name: "archive", Operations: []*op.Operation{
			op.Define(spec("make", access.Write, access.RoleUser), noting(&g)),
			op.Define(spec("make_other", access.Write, access.RoleUser), noting(&g)),
		}}}
	})
	send := func(name, key, in string) access.Request {
		t.Helper()
		_, err := b.Invoke(context.Background(), as(access.RoleUser),
			op.Request{Operation: name, Input: []byte(in), IdempotencyKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return g.seen[len(g.seen)-1]
	}
	first := send("make", "k", `{"name":"A","limit":50}`)
	for _, same := range []access.Request{
		send("make", "", `{"idempotency_key":"k","limit":5e1, "name":"\u0041"}`),
		send("make", "k", `{"idempotency_key":"k","name":"A","wait_for_previous":true,"world":"a"}`),
	} {
		if same.IdempotencyKey != "k" || same.InputHash != first.InputHash {
			t.Errorf("%+v is not the same as %+v", same, first)
		}
	}
	for _, other := range []access.Request{send("make", "k", `{"name":"B"}`), send("make_other", "k", `{"name":"A"}`),
		send("make", "k", `{"name":"A","fields":{"x":1}}`)} {
		if other.InputHash == first.InputHash {
			t.Errorf("%+v has the hash of another call", other)
		}
	}
	if r := send("make", "", `{"name":"A","dry_run":true}`); !r.DryRun {
		t.Error("dry_run does not rehearse")
	}
	for _, bad := range []string{`{"name":"A","idempotency_key":3}`, `{"name":"A","idempotency_key":"other"}`} {
		_, err := b.Invoke(context.Background(), as(access.RoleUser),
			op.Request{Operation: "make", Input: []byte(bad), IdempotencyKey: "k"})
		if faultsOf(err) != "idempotency_key: must be a string, equal to the one in the header" {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, key := range []string{strings.Repeat("k", 256), "a\nb"} {
		if _, err := b.Invoke(context.Background(), as(access.RoleUser),
			op.Request{Operation: "make", Input: []byte(`{"name":"A"}`), IdempotencyKey: key}); !errors.Is(err, fault.Invalid) {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

// clerk is a Diverter that keeps its input and grant.
type clerk struct {
	input string
	grant access.Grant
}

func (k *clerk) Divert(_ context.Context, c *op.Call, o *op.Operation, input json.RawMessage) (*op.Answer, error) {
	k.input, k.grant = string(input), c.Grant
	return &op.Answer{Output: []byte(`{"proposal":"p-1"}`)}, nil
}

func TestAdvisoryKeysPropose(t *testing.T) {
	c := as(access.RoleUser)
	c.Advisory = true
	b := newBench(t, nil)
	if _, err := b.call(c, "create_card", `{"name":"A"}`); !errors.Is(err, fault.Denied) {
		t.Errorf("without a diverter: %v", err)
	}
	var k clerk
	b = newBench(t, func(cfg *op.Config) { cfg.Diverter = &k })
	a, err := b.call(c, "create_card", `{"name":"A"}`)
	if err != nil || !a.Reply.Diverted || k.input != `{"limit":50,"name":"A","sort":"name"}` {
		t.Errorf("%v %+v %s", err, a, k.input)
	}
	if k.grant.Writes() || k.grant.Request().Effect != access.Propose {
		t.Errorf("the proposal's grant writes: %+v", k.grant.Request())
	}
	if _, err := b.Invoke(context.Background(), c, op.Request{Operation: "upload_attachment",
		Input: []byte(`{"name":"A"}`), Upload: body.Bytes([]byte("hi"))}); err != nil || k.input != `{"data":"aGk=","name":"A"}` {
		t.Errorf("an upload: %v %s", err, k.input)
	}
	if a, err := b.call(c, "create_card", `{"name":"A","dry_run":true}`); err != nil || a.Reply.Diverted {
		t.Errorf("a rehearsal: %v %+v", err, a)
	}
	if a, err := b.call(c, "get_card", `{"name":"A"}`); err != nil || a.Reply.Diverted {
		t.Errorf("a read: %v %+v", err, a)
	}
	c.Roles[worldA] = access.RoleNone
	if _, err := b.call(c, "create_card", `{"name":"A"}`); kind(err) != fault.NotFound {
		t.Errorf("without a role: %v", err)
	}
}

// tableSurface has an act of play, and an operation with which game masters manage cards.
func tableSurface() op.Surface {
	play, manage := spec("play_card", access.Write, access.RoleUser), spec("rename", access.Write, access.RoleAdmin)
	play.Surfaces, play.Plays = []string{"table"}, true
	manage.Surfaces, manage.Manages = []string{"table"}, true
	return op.Surface{Name: "table", Title: "Table", Doc: "A table.",
		Operations: []*op.Operation{op.Define(play, echo), op.Define(manage, echo)}}
}

// TestMembersWhoSuggest calls operations as a member who may only propose in one of two worlds, and as others.
func TestMembersWhoSuggest(t *testing.T) {
	var k clerk
	b := newBench(t, func(cfg *op.Config) { cfg.Diverter, cfg.Surfaces = &k, append(cfg.Surfaces, tableSurface()) })
	member := func(m access.May) access.Caller {
		c := as(access.RoleUser)
		c.Roles = map[access.WorldID]access.Role{worldA: access.RoleUser, worldB: access.RoleUser}
		c.May = map[access.WorldID]access.May{worldA: m}
		return c
	}
	for _, row := range []struct {
		may       access.May
		operation string
		world     string
		diverted  bool
		want      error
	}{
		{access.MayPropose, "create_card", "a", true, nil}, {access.MayPropose, "create_card", "b", false, nil},
		{access.MayPropose, "get_card", "a", false, nil}, {access.MayPropose, "play_card", "a", false, nil},
		{access.MayRead, "create_card", "a", false, fault.Denied}, {access.MayRead, "create_card", "b", false, nil},
		{access.MayRead, "play_card", "a", false, fault.Denied}, {access.MayRead, "get_card", "a", false, nil},
		{access.MayOwn, "create_card", "a", false, nil},
	} {
		for _, transport := range []string{"rest", "mcp", "console", "cli"} {
			a, err := b.Invoke(t.Context(), member(row.may), op.Request{Operation: row.operation, World: row.world,
				Transport: transport, Input: []byte(`{"name":"A"}`)})
			if !errors.Is(err, row.want) || err == nil && a.Reply.Diverted != row.diverted {
				t.Errorf("%s %s in %s over %s: %v, %+v", row.may, row.operation, row.world, transport, err, a)
			}
		}
	}
}

// TestGameMastersManageWhereTheyMay calls an operation of admins that game masters have in one of two worlds.
func TestGameMastersManageWhereTheyMay(t *testing.T) {
	b := newBench(t, func(cfg *op.Config) {
		cfg.Surfaces = append(cfg.Surfaces, tableSurface())
		cfg.GMManages = func(w access.WorldID) bool { return w == worldA || w.IsZero() }
	})
	gm := func(worlds ...access.WorldID) access.Caller {
		c := as(access.RoleGM)
		c.Roles = map[access.WorldID]access.Role{}
		for _, w := range worlds {
			c.Roles[w] = access.RoleGM
		}
		return c
	}
	everywhere := as(access.RoleGM)
	everywhere.Roles, everywhere.EveryRole = nil, access.RoleGM
	for name, row := range map[string]struct {
		who    access.Caller
		world  string
		listed bool
		want   error // over REST
		mcp    error
	}{
		"where they manage":          {gm(worldA), "a", true, nil, nil},
		"where they do not":          {gm(worldB), "b", false, fault.Denied, fault.NotFound},
		"in the other of two worlds": {gm(worldA, worldB), "b", true, fault.Denied, fault.Denied},
		"everywhere":                 {everywhere, "a", true, nil, nil},
		"a player":                   {as(access.RoleUser), "a", false, fault.Denied, fault.NotFound},
	} {
		listed := slices.ContainsFunc(b.Operations(row.who, ""), func(o *op.Operation) bool { return o.Name == "rename" })
		if listed != row.listed {
			t.Errorf("%s: listed %t", name, listed)
		}
		for transport, want := range map[string]error{"rest": row.want, "mcp": row.mcp} {
			_, err := b.Invoke(t.Context(), row.who, op.Request{Operation: "rename", World: row.world, Transport: transport,
				Input: []byte(`{"name":"A"}`)})
			if !errors.Is(err, want) {
				t.Errorf("%s over %s: %v, want %v", name, transport, err, want)
			}
		}
	}
}

// fileOf returns bytes as an uploaded file; nil is none.
func fileOf(b []byte) *body.File {
	if b == nil {
		return nil
	}
	return body.Bytes(b)
}

func TestUploadIsAnInput(t *testing.T) {
	b := newBench(t, nil)
	send := func(upload []byte, in string) (string, error) {
		a, err := b.Invoke(context.Background(), as(access.RoleUser),
			op.Request{Operation: "upload_attachment", Input: []byte(in), Upload: fileOf(upload)})
		if err != nil {
			return "", err
		}
		return string(a.Output), nil
	}
	if got, err := send([]byte{0xff, 0}, `{"name":"A"}`); got != `{"size":2,"filename":""}` {
		t.Errorf("%s %v", got, err)
	}
	if got, err := send(nil, `{"name":"A","data":"/wA="}`); got != `{"size":2,"filename":""}` {
		t.Errorf("%s %v", got, err)
	}
	if _, err := send(make([]byte, 25<<20+1), `{"name":"A"}`); !errors.Is(err, fault.TooLarge) {
		t.Errorf("over the cap: %v", err)
	}
}

func TestLongOutputsAreCut(t *testing.T) {
	b := newBench(t, nil)
	call := func(max int) string {
		t.Helper()
		a, err := b.Invoke(context.Background(), as(access.RoleUser),
			op.Request{Operation: "read_long", Input: []byte(`{"offset":3,"world":"a"}`), MaxText: max})
		if err != nil {
			t.Fatal(err)
		}
		o, _ := b.Find("read_long")
		if err := optest.CheckOutput(o, a.Output); err != nil {
			t.Errorf("departs from the shown schema: %v", err)
		}
		return string(a.Output)
	}
	if whole := call(0); len(whole) < 5000 || strings.Contains(whole, "truncated") {
		t.Errorf("uncut: %.80s", whole)
	}
	cut := call(1000)
	if len(cut) > 1000 ||
		!strings.HasSuffix(cut,
			`"from":3,"truncated":true,"next":{"arguments":{"offset":735,"world":"a"},"tool":"read_long"}}`) {
		t.Errorf("%d bytes: …%s", len(cut), cut[max(len(cut)-150, 0):])
	}
}

// tally is an Observer.
type tally struct{ lines []string }

func (y *tally) StartCall(ctx context.Context, transport, surface,
	operation string) (context.Context, func(string, int)) {
	return ctx, func(outcome string, bytes int) {
		y.lines = append(y.lines, fmt.Sprint(transport, " ", surface, " ", operation, " ", outcome, " ", bytes > 0))
	}
}

func TestCallsAreObserved(t *testing.T) {
	var y tally
	b := newBench(t, func(c *op.Config) { c.Observer = &y })
	for _, name := range []string{"A", "absent"} {
		_, _ = b.call(as(access.RoleUser), "get_card", `{"name":"`+name+`"}`)
	}
	_, _ = b.call(as(access.RoleUser), "made_up_name", `{}`)
	want := "rest archive get_card ok true\nrest archive get_card not_found false\nrest  unknown not_found false"
	if got := strings.Join(y.lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// stingy is a Limiter that refuses every call and records its class.
type stingy struct{ taken []access.Class }

func (s *stingy) Take(_, _ string, class access.Class) (time.Duration, bool) {
	s.taken = append(s.taken, class)
	return time.Second, false
}

func TestEverythingIsLimited(t *testing.T) {
	s := &stingy{}
	b := newBench(t, func(c *op.Config) { c.Guard = access.NewGuard(access.Config{Limiter: s}) })
	ctx, c := context.Background(), as(access.RoleUser)
	ask := op.Ask{Transport: "mcp"}
	for name, call := range map[string]func() error{
		"a call":           func() error { _, err := b.call(c, "get_card", `{"name":"A"}`); return err },
		"bad input":        func() error { _, err := b.call(c, "get_card", `{`); return err },
		"an unknown tool":  func() error { _, err := b.call(c, "nothing", `{}`); return err },
		"an unknown world": func() error { _, err := b.call(c, "get_card", `{"name":"A","world":"x"}`); return err },
		"a resource": func() error {
			_, err := b.ReadResource(ctx, c, op.ResourceRequest{Ask: ask, URI: "archive://card/A"})
			return err
		},
		"an absent one": func() error {
			_, err := b.ReadResource(ctx, c, op.ResourceRequest{Ask: ask, URI: "archive://x"})
			return err
		},
		"a listing": func() error { return b.AdmitList(ctx, c, op.ListCall{Method: "tools/list", Correlation: "c"}) },
		"resources": func() error { _, err := b.ListResources(ctx, c, op.ListRequest{Ask: ask}); return err },
		"a prompt": func() error {
			_, err := b.GetPrompt(ctx, c, op.PromptRequest{Ask: ask, Name: "summarize-card"})
			return err
		},
		"an absent prompt": func() error { _, err := b.GetPrompt(ctx, c, op.PromptRequest{Ask: ask, Name: "x"}); return err },
		"a completion": func() error {
			_, err := b.Complete(ctx, c, op.CompleteRequest{Ask: ask, Prompt: "summarize-card"})
			return err
		},
		"an unmade request": func() error { o, _ := b.Find("get_card"); return b.Refused(ctx, c, o, "c", fault.TooLarge) },
	} {
		if err := call(); !errors.Is(err, fault.RateLimited) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
