package unreal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

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
	tgt, err := a.Open(studio.Place{Name: "unreal"})
	if err != nil {
		t.Fatal(err)
	}
	x, err := tgt.Begin(t.Context(), nil)
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
	tgt, _ := a.Open(studio.Place{Name: "unreal"})
	b, err := tgt.Begin(t.Context(), nil)
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
	if len(x.spawned) != 3 || x.spawned[0] == x.spawned[1] {
		t.Errorf("spawned %v", x.spawned)
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
	for _, bad := range []string{"", "ftp://x", "http://", "http://user:pw@host:1", "http://host/path", "host:1"} {
		if _, err := New(Config{Address: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
