package unreal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/studio"
)

func double(t *testing.T) *Adapter {
	t.Helper()
	d, err := NewDouble()
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Config{Double: d})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func code(err error) studio.Code {
	var f *studio.Failure
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// Every reply of a double has the double's kind.
func TestDoubleNamesItsKind(t *testing.T) {
	a := double(t)
	i, err := a.Probe(t.Context())
	if err != nil || i.Kind != "protocol-double" || !strings.Contains(i.Version, "documented") {
		t.Fatalf("probe %+v, %v", i, err)
	}
	tgt, err := a.Open(studio.Place{Name: "unreal", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	x, err := tgt.Begin(t.Context(), func(string) bool { return true })
	if err != nil || x.Info().Kind != "protocol-double" {
		t.Fatalf("transaction %+v, %v", x.Info(), err)
	}
	for name, sup := range a.Tools() {
		if sup.Does && !strings.Contains(sup.Note, "no Unreal has run it") {
			t.Errorf("%s does not say that no Unreal has run it", name)
		}
	}
}

func TestDoubleRefusesUnknownRequests(t *testing.T) {
	a := double(t)
	for _, call := range []objectCall{
		{Object: actorSubsystem, Function: "DestroyEverything"},
		{Object: "/Script/Engine.Default__KismetSystemLibrary", Function: "ExecuteConsoleCommand",
			Parameters: map[string]any{"Command": "quit"}},
		{Object: actorSubsystem, Function: "SpawnActorFromObject",
			Parameters: map[string]any{"ObjectToUse": "/Game/Other/x.x"}},
	} {
		if err := a.client.sendRequest(t.Context(), http.MethodPut, "/remote/object/call", call,
			nil); code(err) != studio.ExecFailed {
			t.Errorf("%s was answered: %v", call.Function, err)
		}
	}
	if err := a.client.sendRequest(t.Context(), http.MethodPut, "/remote/batch", nil, nil); err == nil {
		t.Error("an unknown path was answered")
	}
}

func TestSpawnAndRollBack(t *testing.T) {
	a := double(t)
	tgt, _ := a.Open(studio.Place{Name: "unreal", Dir: t.TempDir()})
	b, err := tgt.Begin(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	x := b.(*txn)
	before, _ := x.Digest(t.Context())
	for range 3 {
		if err := x.spawnActor(t.Context(), "/Game/Loregate/dry_anchor.dry_anchor",
			studio.Placement{Location: [3]float64{1, 2, 3}, Scale: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.placed.Actors) != 3 || x.placed.Actors[0] == x.placed.Actors[1] {
		t.Errorf("spawned %v", x.placed.Actors)
	}
	if d, _ := x.Digest(t.Context()); d == before {
		t.Error("the digest does not see actors")
	}
	if err := x.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d, _ := x.Digest(t.Context()); d != before {
		t.Error("rolled back, and not as before")
	}
}

func TestBridgeAcceptsOnlyItsOperations(t *testing.T) {
	a := double(t)
	var out map[string]any
	if err := a.callBridge(t.Context(), "import_asset", map[string]any{"file": "x.glb"}, &out); err != nil ||
		out["imported_object_paths"] == nil {
		t.Errorf("import: %v, %v", out, err)
	}
	if err := a.callBridge(t.Context(), "exec", nil, nil); code(err) != studio.PolicyDenied {
		t.Errorf("exec: %v", err)
	}
	if err := a.callBridge(t.Context(), "profile", nil, nil); code(err) != studio.Missing {
		t.Errorf("what the project has no bridge for: %v", err)
	}
	script, err := os.ReadFile("bridge.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{"exec(", "eval(", "execute_console_command", "ExecPythonScript"} {
		if bytes.Contains(script, []byte(forbidden)) {
			t.Errorf("the bridge holds %s", forbidden)
		}
	}
}

func TestServerResponses(t *testing.T) {
	status, body := 200, `{"httpRoutes": [{"path": "/remote/info", "verb": "Get"}]}`
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path)
		if status == 302 {
			http.Redirect(w, r, "http://127.0.0.1:1/", status)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	var log bytes.Buffer
	a, err := New(Config{Address: server.URL, Record: &log})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		status int
		body   string
		want   studio.Code
	}{
		{200, body, studio.Missing}, {503, ``, studio.TargetGone}, {500, `{"errorMessage": "no"}`, studio.ExecFailed},
		{200, `<html>`, studio.ExecFailed}, {302, ``, studio.TargetGone},
	} {
		status, body = row.status, row.body
		if _, err := a.Probe(t.Context()); code(err) != row.want {
			t.Errorf("%d %s: %v, not %s", row.status, row.body, err, row.want)
		}
	}
	var e Exchange
	if err := json.Unmarshal(bytes.SplitN(log.Bytes(), []byte("\n"), 2)[0], &e); err != nil || e.Path != "/remote/info" ||
		e.Status != 200 {
		t.Errorf("recorded %+v, %v", e, err)
	}
	server.Close()
	if _, err := a.Probe(t.Context()); code(err) != studio.TargetGone {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Probe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "ftp://x", "http://", "http://user:pw@host:1", "http://host/a/path", "http://host/mcp?x", "host:1"} {
		if _, err := New(Config{Address: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// epicDouble is a protocol double of Epic's MCP server: it answers the documented calls of two toolsets, executes
// nothing, and calls itself protocol-double.
func epicDouble(t *testing.T, name string) (address string, asked *[]string) {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: "5.8 (documented)"}, nil)
	asked = &[]string{}
	type call struct {
		Toolset   string         `json:"toolset_name"`
		Tool      string         `json:"tool_name"`
		Arguments map[string]any `json:"arguments"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "call_tool"}, func(_ context.Context, _ *mcp.CallToolRequest, in call) (
		*mcp.CallToolResult, any, error) {
		*asked = append(*asked, in.Tool+" "+fmt.Sprint(in.Arguments))
		answer := ""
		switch in.Toolset + "." + in.Tool {
		case "editor_toolset.toolsets.asset.AssetTools.find_assets":
			answer = `{"returnValue": ["/Game/Loregate/dry_anchor.dry_anchor", "/Game/Other/x.x"]}`
		case "editor_toolset.toolsets.scene.SceneTools.add_to_scene_from_asset":
			answer = fmt.Sprintf(`{"returnValue": {"refPath": "/Game/Main.Main:PersistentLevel.Actor_%d"}}`, len(*asked))
		case "editor_toolset.toolsets.scene.SceneTools.remove_from_scene":
			answer = `{"returnValue": true}`
		default:
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such tool"}}}, nil, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}, nil, nil
	})
	site := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(site.Close)
	return site.URL + "/mcp", asked
}

// Over Epic's MCP server assets are listed, actors placed, and a run undone by taking its actors away. Nothing outside
// of the allow-list is asked, and only a server with Epic's name counts as an editor.
func TestEpicServer(t *testing.T) {
	address, asked := epicDouble(t, DoubleKind)
	a, err := New(Config{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	i, err := a.Probe(t.Context())
	if err != nil || i.Kind != DoubleKind || !strings.Contains(i.Version, "documented") {
		t.Fatalf("probe %+v, %v", i, err)
	}
	tgt, _ := a.Open(studio.Place{Name: "unreal", Dir: t.TempDir()})
	begin := func() *txn {
		t.Helper()
		b, err := tgt.Begin(t.Context(), func(string) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		return b.(*txn)
	}
	x := begin()
	before, _ := x.Digest(t.Context())
	if names, err := x.Names(t.Context()); err != nil || len(names) != 1 {
		t.Fatalf("assets %v, %v", names, err)
	}
	if err := x.spawnActor(t.Context(), "/Game/Loregate/dry_anchor.dry_anchor",
		studio.Placement{Location: [3]float64{1, 2, 3}, Turn: math.Pi / 2, Scale: 2}); err != nil {
		t.Fatal(err)
	}
	if said := (*asked)[len(*asked)-1]; !strings.Contains(said, "x:100 y:-200 z:300") ||
		!strings.Contains(said, "yaw:-90") {
		t.Errorf("asked %s", said)
	}
	if err := x.Commit(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	x = begin()
	if err := x.Undo(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(t.Context(), "run-2"); err != nil {
		t.Fatal(err)
	}
	if d, _ := begin().Digest(t.Context()); d != before ||
		!strings.HasPrefix((*asked)[len(*asked)-2], "remove_from_scene") {
		t.Errorf("undone, and not as before: %v", *asked)
	}
	n := len(*asked)
	for _, tool := range [][2]string{{"editor_toolset.toolsets.programmatic.ProgrammaticToolset", "execute_tool_script"},
		{sceneTools, "load_level"}, {assetTools, "delete"}} {
		if err := a.editor.(*epic).call(t.Context(), tool[0], tool[1], nil, nil); code(err) != studio.PolicyDenied {
			t.Errorf("%v: %v", tool, err)
		}
	}
	if err := a.callBridge(t.Context(), "profile", nil, nil); code(err) != studio.NotSupported || len(*asked) != n {
		t.Errorf("the bridge: %v", err)
	}
	other, _ := epicDouble(t, "somebody-else")
	if a, err = New(Config{Address: other}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Probe(t.Context()); code(err) != studio.Missing {
		t.Errorf("another server: %v", err)
	}
	if a, err = New(Config{Address: "http://127.0.0.1:1/mcp"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Probe(t.Context()); code(err) != studio.TargetGone {
		t.Errorf("nobody there: %v", err)
	}
}
