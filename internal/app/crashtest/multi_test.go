package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/app/apptest"
	"loregate/internal/raceenabled"
	"loregate/internal/waittest"
)

// localServer is a running `loregate mcp`, and a client that is connected to its pipes.
type localServer struct {
	*mcp.ClientSession
	heard chan string
}

// statuses maps the codes of tool errors to HTTP statuses, as far as the tests need them.
var statuses = map[string]int{"not_found": 404, "conflict": 409}

func startLocal(t *testing.T, at, era string) *localServer {
	t.Helper()
	l := &localServer{heard: make(chan string, 1000)}
	client := mcp.NewClient(&mcp.Implementation{Name: "crashtest", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			l.heard <- r.Params.URI
		}})
	cmd := command(t, at, "mcp", "--role", "admin")
	said := &apptest.Tail{}
	cmd.Stderr = said
	var err error
	l.ClientSession, err = client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Errorf("connect: %v; %s", err, said)
		return nil
	}
	t.Cleanup(func() {
		_ = l.Close()
		if t.Failed() && said.String() != "" {
			t.Logf("a local server said: %s", said)
		}
	})
	return l
}

func (l *localServer) call(ctx context.Context, operation, key string, in map[string]any) (answer, error) {
	in = maps.Clone(in)
	if key != "" {
		in["idempotency_key"] = key
	}
	if err := l.tagAll(ctx, operation, in); err != nil {
		return answer{}, err
	}
	res, err := l.CallTool(ctx, &mcp.CallToolParams{Name: operation, Arguments: in})
	if err != nil {
		return answer{}, err
	}
	if res.IsError {
		var said struct{ Error struct{ Code string } }
		text, _ := res.Content[0].(*mcp.TextContent)
		if err := json.Unmarshal([]byte(text.Text), &said); err != nil {
			return answer{}, fmt.Errorf("%s: %w", text.Text, err)
		}
		return answer{status: max(statuses[said.Error.Code], 400), body: text.Text}, nil
	}
	b, err := json.Marshal(res.StructuredContent)
	return answer{status: 200, body: string(b)}, err
}

// tagAll adds the etag of a full read to each write of a card's content; agents must send it.
func (l *localServer) tagAll(ctx context.Context, operation string, in map[string]any) error {
	var writes []any
	switch operation {
	case "update_card":
		writes = []any{in}
	case "batch_cards":
		writes, _ = in["ops"].([]any)
	}
	for _, w := range writes {
		w, _ := w.(map[string]any)
		if w["content"] == nil || w["if_match"] != nil {
			continue
		}
		read, err := l.call(ctx, "get_card", "", map[string]any{"name": w["name"], "full": true})
		if err != nil {
			return err
		}
		if found := etag.FindStringSubmatch(read.body); found != nil {
			w["if_match"] = found[1]
		}
	}
	return nil
}

// processGroup is a serve and three local servers on one store.
type processGroup struct {
	at     string
	http   *server
	locals []*localServer
}

func (c *processGroup) clients() []opClient {
	return []opClient{c.http, c.locals[0], c.locals[1], c.locals[2]}
}

// startAtOnce starts all four at the same moment on an empty store.
func startAtOnce(t *testing.T, at string) *processGroup {
	t.Helper()
	binary(t)
	c := &processGroup{at: at, locals: make([]*localServer, 3)}
	var all sync.WaitGroup
	for i, era := range []string{"2025-11-25", "2026-07-28", "2024-11-05"} {
		all.Go(func() { c.locals[i] = startLocal(t, c.at, era) })
	}
	c.http = startServer(t, c.at, "")
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	c.http.key, _, _ = strings.Cut(mustRun(t, c.at, "key", "create", "clerk", "--role", "admin"), "\t")
	return c
}

// TestCrashNothingIsLostBetweenProcesses lets four processes write to one store at once.
func TestCrashNothingIsLostBetweenProcesses(t *testing.T) { onEachStore(t, testBetweenProcesses) }

func testBetweenProcesses(t *testing.T, at string) {
	c := startAtOnce(t, at)
	if out := mustRun(t, c.at, "world", "list"); strings.Count(out, "\n") != 2 {
		t.Fatalf("four processes that start at once make not one world:\n%s", out)
	}
	base := countCommits(t, c.at)
	t.Run("each sees what another wrote", func(t *testing.T) { testWritesVisible(t, c) })
	t.Run("a subscriber hears of it within a second", func(t *testing.T) { testSubscriberNotified(t, c) })
	t.Run("a key has one effect in several processes", func(t *testing.T) { testOneEffect(t, c) })
	before := countCommits(t, c.at)
	t.Run("all write at once", func(t *testing.T) { testAllWrite(t, c, before) })
	if out := mustRun(t, c.at, "rebuild"); !strings.Contains(out, "identical") {
		t.Errorf("rebuild says: %s", out)
	}
	t.Logf("%d commits by four processes", countCommits(t, c.at)-base)
}

func mustCall(t *testing.T, d opClient, operation, key string, in map[string]any) answer {
	t.Helper()
	a, err := d.call(t.Context(), operation, key, in)
	if err != nil || a.status >= 300 {
		t.Fatalf("%s %v: %d %s, %v", operation, in, a.status, a.body, err)
	}
	return a
}

var etag = regexp.MustCompile(`"etag":"([^"]+)"`)

// rewriteCard replaces a card's content. It sends the etag of its read, as programs must.
func rewriteCard(t *testing.T, d opClient, name, text string) {
	t.Helper()
	read := mustCall(t, d, "get_card", "", map[string]any{"name": name})
	found := etag.FindStringSubmatch(read.body)
	if found == nil {
		t.Fatalf("%s is read without a tag: %s", name, read.body)
	}
	mustCall(t, d, "update_card", "", map[string]any{"name": name, "content": text, "if_match": found[1]})
}

func testWritesVisible(t *testing.T, c *processGroup) {
	for i, writer := range c.clients() {
		name := fmt.Sprintf("Seen %d", i)
		mustCall(t, writer, "create_card", "", map[string]any{"name": name, "content": "<p>one</p>"})
		for n, reader := range c.clients() {
			text := fmt.Sprintf("<p>%d to %d</p>", i, n)
			rewriteCard(t, writer, name, text)
			if a := mustCall(t, reader, "get_card", "", map[string]any{"name": name}); !strings.Contains(a.body,
				fmt.Sprintf("%d to %d", i, n)) {
				t.Errorf("process %d wrote %q, was answered, and process %d reads %s", i, text, n, a.body)
			}
		}
	}
}

// testSubscriberNotified has a subscriber hear of other processes' writes. The log has the times.
func testSubscriberNotified(t *testing.T, c *processGroup) {
	mustCall(t, c.http, "create_card", "", map[string]any{"name": "Bell Tower", "content": "<p>0</p>"})
	l := c.locals[0]
	const uri = "archive://card/Bell%20Tower"
	if err := l.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for i := range 5 {
		begin := time.Now()
		rewriteCard(t, c.clients()[i%2*2], "Bell Tower", fmt.Sprintf("<p>%d strokes</p>", i))
		if got := waittest.Receive(t, l.heard, "a notice of another process's write"); got != uri {
			t.Errorf("heard of %s", got)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	t.Logf("heard after %v", took)
}

func testOneEffect(t *testing.T, c *processGroup) {
	before := countCommits(t, c.at)
	const rounds = 10
	for n := range rounds {
		var all sync.WaitGroup
		answers := make([]answer, len(c.locals))
		for i, l := range c.locals {
			all.Go(func() {
				a, err := l.call(t.Context(), "create_card", fmt.Sprint("once-", n),
					map[string]any{"name": fmt.Sprint("Once ", n), "content": "<p>once</p>"})
				if err != nil || a.status != 200 {
					t.Errorf("process %d: %d %s, %v", i, a.status, a.body, err)
				}
				answers[i] = a
			})
		}
		all.Wait()
		if answers[0] != answers[1] || answers[1] != answers[2] {
			t.Errorf("one key, three answers:\n%s\n%s\n%s", answers[0].body, answers[1].body, answers[2].body)
		}
	}
	if got := countCommits(t, c.at) - before; got != rounds {
		t.Errorf("%d keys used in three processes each made %d commits", rounds, got)
	}
}

// testAllWrite lets a clerk work in each process, while all of them add to one list.
func testAllWrite(t *testing.T, c *processGroup, before int) {
	const calls = 40
	mustCall(t, c.http, "create_card", "", map[string]any{"name": "Common List", "type": "Pointer",
		"content": "[[start]]"})
	before++
	var all sync.WaitGroup
	clerks := make([]*clerk, 4)
	refused := make([]int, 4)
	for i, d := range c.clients() {
		clerks[i] = newClerk(t, string(rune('a'+i)), 1)
		all.Go(func() {
			for n := range calls {
				if !clerks[i].doNextCall(t.Context(), d) {
					t.Errorf("process %d gives no answer", i)
					return
				}
				for addListItem(t, d, fmt.Sprintf("item-%d-%d", i, n)) == 409 {
					if refused[i]++; refused[i] > 10*calls {
						t.Errorf("process %d is always refused", i)
						return
					}
				}
			}
		})
	}
	all.Wait()
	for i, clerk := range clerks {
		for n, d := range c.clients() {
			got, err := clerk.read(t.Context(), d)
			if err != nil || got != clerk.state.visible() {
				t.Errorf("what process %d wrote is to process %d\n%+v, %v\nwant\n%+v", i, n, got, err, clerk.state.visible())
			}
		}
		before += clerk.commits + calls
	}
	list := mustCall(t, c.http, "get_card", "", map[string]any{"name": "Common List", "full": true}).body
	for i := range clerks {
		for n := range calls {
			if !strings.Contains(list, fmt.Sprintf("[[item-%d-%d]]", i, n)) {
				t.Errorf("item %d of process %d is lost", n, i)
			}
		}
	}
	if got := countCommits(t, c.at); got != before {
		t.Errorf("there are %d commits, want %d", got, before)
	}
	t.Logf("4 processes, %d calls each and as many to one card, which was refused as moved %v times", calls, refused)
}

// addListItem adds an item to the shared list, and returns the status.
func addListItem(t *testing.T, d opClient, item string) int {
	a, err := d.call(t.Context(), "update_card", item,
		map[string]any{"name": "Common List", "patch": map[string]any{"mode": "items", "add": []string{item}}})
	if err != nil || a.status >= 300 && a.status != 409 {
		t.Errorf("add %s: %d %s, %v", item, a.status, a.body, err)
	}
	return a.status
}

// TestCrashStartUp starts `loregate mcp` on an existing store several times: each process answers
// initialize and ends without an error when its input ends. The log has the times.
func TestCrashStartUp(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, "world", "create", "main")
	var took []time.Duration
	for range 7 {
		cmd := command(t, dir, "mcp")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		line, err := bufio.NewReader(out).ReadString('\n')
		took = append(took, time.Since(begin))
		if err != nil || !strings.Contains(line, `"serverInfo"`) {
			t.Fatalf("initialize is answered %q, %v", line, err)
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(took)
	t.Logf("start to answered initialize: best %v, median %v, worst %v", took[0], took[len(took)/2], took[len(took)-1])
}

// TestCrashOneWorldIsMade opens an empty store several times and ensures the first world in all
// of them at the same moment: only one is made.
func TestCrashOneWorldIsMade(t *testing.T) {
	for range max(raceenabled.Share(5, 10), 2) {
		onEachStore(t, testOneWorld)
	}
}

func testOneWorld(t *testing.T, at string) {
	openers := make([]appClient, 4)
	for i := range openers {
		var err error
		if openers[i], err = openApp(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for _, in := range openers {
		all.Go(func() {
			if err := in.app.EnsureWorld(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, in := range openers {
		if worlds, err := in.app.Canon.Worlds(t.Context()); err != nil || len(worlds) != 1 {
			t.Errorf("there are %d worlds, %v", len(worlds), err)
		}
		in.close()
	}
}
