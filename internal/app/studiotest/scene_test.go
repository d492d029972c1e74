package studiotest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/programtest"
)

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// stage is the served product with one world.
type stage struct {
	t   *testing.T
	app *app.App
	url string
}

func newStage(t *testing.T, settings ...string) *stage {
	t.Helper()
	c, err := app.LoadConfig("", append(settings, "LOREGATE_DATA="+t.TempDir(), "LOREGATE_LIMITS_CALLS=-1",
		"LOREGATE_LIMITS_CALLS_BURST=-1", "LOREGATE_LIMITS_WRITES=-1"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), c, app.Options{Version: "0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(context.Background()) })
	if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "main", Title: "Main"}); err != nil {
		t.Fatal(err)
	}
	h, stop, err := a.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return &stage{t, a, server.URL}
}

// call calls an operation, like the operator at the command line.
func (h *stage) call(operation, input string) {
	h.t.Helper()
	if _, err := h.app.Ops.Invoke(h.t.Context(), app.Operator(),
		op.Request{Operation: operation, Input: []byte(input), World: "main", Correlation: uuid.NewString(),
			Transport: "cli"}); err != nil {
		h.t.Fatalf("%s: %v", operation, err)
	}
}

// mcpClient is an MCP client, connected to the studio.
type mcpClient struct {
	*mcp.ClientSession
	t          *testing.T
	url        string       // of the server
	http       *http.Client // with the key
	mu         sync.Mutex   // guards progress
	progress   []string
	onProgress func(message string) // called with each progress message; may be nil
}

func (h *stage) connect(role access.Role) *mcpClient {
	h.t.Helper()
	return h.connectTo("/mcp/studio", role)
}

func (h *stage) connectTo(path string, role access.Role) *mcpClient {
	h.t.Helper()
	secret, _, err := h.app.CreateKey(h.t.Context(), identity.KeySpec{Name: role.String(),
		Subject: access.Subject(role.String()), Actor: access.AI, MaxRole: role}, []string{"main"})
	if err != nil {
		h.t.Fatal(err)
	}
	g := &mcpClient{t: h.t, url: h.url, http: &http.Client{Transport: bearer(secret)}}
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.progress = append(g.progress, r.Params.Message)
			if g.onProgress != nil {
				g.onProgress(r.Params.Message)
			}
		}})
	g.ClientSession, err = client.Connect(h.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: h.url + path, MaxRetries: -1, HTTPClient: g.http}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = g.Close() })
	return g
}

func (g *mcpClient) call(tool string, args map[string]any) (*mcp.CallToolResult, map[string]any) {
	g.t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	p.SetProgressToken(tool)
	res, err := g.CallTool(g.t.Context(), p)
	if err != nil {
		g.t.Fatalf("%s: %v", tool, err)
	}
	out, _ := res.StructuredContent.(map[string]any)
	return res, out
}

func text(res *mcp.CallToolResult) string {
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

func requirePrograms(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		programtest.Find(t, name)
	}
}

// A client builds a place from its card, renders it, finds the run, and learns that the run is
// stale after the card has changed.
func TestBuildPlaceFromCard(t *testing.T) {
	requirePrograms(t, "blender", "godot3-server")
	h := newStage(t)
	h.call("create_card",
		`{"name": "The Old Mill", "type": "Location", "content": "<p>A cottage with two barrels and a well.</p>"}`)
	g := h.connect(access.RoleGM)
	res, e := g.call("generate_scene", map[string]any{"card": "The Old Mill", "seed": 4, "audience": "user"})
	if res.IsError || e["status"] != "ok" || !strings.Contains(text(res), "2 barrel") {
		t.Fatalf("generate_scene: %s", text(res))
	}
	envelope, _ := res.Meta["loregate/envelope"].(map[string]any)
	if envelope["run_id"] != e["run_id"] || envelope["target"].(map[string]any)["kind"] != "blender" {
		t.Errorf("_meta: %v", res.Meta)
	}
	run := e["run_id"].(string)
	_, got := g.call("get_run", map[string]any{"run_id": run})
	if b, _ := json.Marshal(got); !strings.Contains(string(b), "The Old Mill") {
		t.Errorf("get_run: %s", b)
	}

	res, _ = g.call("render_preview", map[string]any{"width": 64, "height": 36, "samples": 1, "audience": "user"})
	pictures := 0
	for _, c := range res.Content {
		if im, ok := c.(*mcp.ImageContent); ok {
			pictures++
			if m, err := png.Decode(bytes.NewReader(im.Data)); err != nil || m.Bounds().Dx() != 64 {
				t.Errorf("the picture: %v", err)
			}
		}
	}
	if pictures != 1 {
		t.Errorf("%d pictures: %s", pictures, text(res))
	}

	_, exported := g.call("export_asset", map[string]any{"format": "glb", "audience": "user"})
	result := exported["result"].(map[string]any)
	res, imported := g.call("import_asset", map[string]any{"manifest": result["manifest"], "name": "mill",
		"audience": "user"})
	if res.IsError || imported["result"].(map[string]any)["import_summary"].(map[string]any)["matches_manifest"] != true {
		t.Errorf("import_asset: %s", text(res))
	}
	_, verdict := g.call("verify_run", map[string]any{"run_id": exported["run_id"]})
	if verdict["same"] != true {
		t.Errorf("verify: %v", verdict)
	}

	if _, stale := g.call("list_stale", nil); len(stale["stale"].([]any)) != 0 {
		t.Errorf("stale at once: %v", stale)
	}
	h.call("update_card", `{"name": "The Old Mill", "content": "<p>A cottage with nine barrels.</p>"}`)
	_, stale := g.call("list_stale", nil)
	if list := stale["stale"].([]any); len(list) != 1 || list[0].(map[string]any)["run_id"] != run {
		t.Errorf("stale: %v", stale)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.progress) == 0 {
		t.Error("no progress was seen")
	}
}

// A client designs a scene part by part, mends it, builds it in Blender, looks at it through two cameras,
// and takes it back.
func TestDesignAndBuildScene(t *testing.T) {
	programtest.Long(t)
	requirePrograms(t, "blender")
	g := newStage(t).connect(access.RoleGM)
	result := func(tool string, args map[string]any) map[string]any {
		t.Helper()
		res, out := g.call(tool, args)
		if res.IsError {
			t.Fatalf("%s: %s", tool, text(res))
		}
		return out["result"].(map[string]any)
	}
	put := result("scene_spec", map[string]any{"spec": map[string]any{"version": 1, "name": "keep",
		"ground": map[string]any{"material": "grass", "size": 40},
		"parts": map[string]any{
			"keep": map[string]any{"tower": map[string]any{"radius": 3, "height": 9, "door": true, "slits": 2}},
			"well": map[string]any{"prop": map[string]any{"kind": "well"}, "at": []int{1, 0}}},
		"cameras": map[string]any{"main": map[string]any{"main": true}, "door": map[string]any{"look_at": "keep.door"}}}})
	if put["findings"] != 1.0 {
		t.Errorf("the well in the tower is no fault: %v", put)
	}
	edited := result("scene_edit", map[string]any{"spec": put["spec"],
		"edits": []map[string]any{{"do": "move", "path": "well", "at": []int{7, -3}}}})
	if edited["findings"] != 0.0 {
		t.Errorf("%v", edited)
	}
	_, made := g.call("generate_scene", map[string]any{"spec": edited["spec"], "replace": true})
	if made["status"] != "ok" || made["result"].(map[string]any)["scene_id"] != "keep" {
		t.Fatalf("generate_scene: %v", made)
	}
	anew := map[string]any{"spec": put["spec"], "replace": true}
	if res, _ := g.call("generate_scene", anew); !res.IsError || !strings.Contains(text(res), "confirm: blender already") {
		t.Errorf("a scene was replaced without confirm: %s", text(res))
	}
	anew["dry_run"] = true
	_, would := g.call("generate_scene", anew)
	if diff := would["diff"].(map[string]any); !strings.HasPrefix(fmt.Sprint(diff["parts"]),
		"[map[did:changed from:map[at:[7 -3") || diff["digest_after"] != diff["digest_before"] {
		t.Errorf("the diff of the parts: %v", diff)
	}
	listed := result("list_objects", map[string]any{"target": "blender", "prefix": "keep keep."})
	if n := listed["total"].(float64); n < 5 {
		t.Errorf("%v bodies of the tower", n)
	}
	res, sheet := g.call("render_preview", map[string]any{"cameras": edited["cameras"], "width": 64, "height": 36,
		"samples": 1})
	for _, c := range res.Content {
		if im, ok := c.(*mcp.ImageContent); ok {
			if m, err := png.Decode(bytes.NewReader(im.Data)); err != nil || m.Bounds().Dx() != 64 ||
				m.Bounds().Dy() != 36 {
				t.Errorf("the contact sheet: %v", err)
			}
		}
	}
	if res.IsError || sheet["result"].(map[string]any)["width"] != 64.0 {
		t.Errorf("render_preview: %s", text(res))
	}
	if _, verdict := g.call("verify_run", map[string]any{"run_id": made["run_id"]}); verdict["same"] != true {
		t.Errorf("verify: %v", verdict)
	}
	res, _ = g.call("undo_run", map[string]any{"run_id": made["run_id"]})
	if after := result("list_objects", map[string]any{"target": "blender"}); res.IsError || after["total"] != 0.0 {
		t.Errorf("undo: %s, %v", text(res), after)
	}
}

// Without any program the server starts, and each tool names the package to install.
func TestMissingProgramsAreReported(t *testing.T) {
	started := time.Now()
	h := newStage(t, "LOREGATE_STUDIO_BLENDER=/nowhere/blender", "LOREGATE_STUDIO_GODOT=/nowhere/godot")
	t.Logf("started in %s", time.Since(started))
	g := h.connect(access.RoleGM)
	for tool, args := range map[string]map[string]any{
		"generate_scene": {"description": "an inn"}, "render_preview": {}, "export_asset": {"format": "glb"},
		"add_object":          {"object_type": "cube", "location": []int{0, 0, 0}},
		"generate_terrain":    {"width": 10, "height": 10, "detail_level": "low"},
		"generate_texture":    {"object_name": "x", "texture_type": "wood"},
		"profile_performance": {"level_name": "main"}, "generate_blueprint": {"logic_description": "say hello"},
		"import_asset":   {"manifest": "x"},
		"populate_level": {"asset": "x", "density": 1, "target": "godot"}, "list_objects": {"target": "blender"},
	} {
		res, _ := g.call(tool, args)
		if !res.IsError || !strings.Contains(text(res), "DEPENDENCY_MISSING") ||
			!strings.Contains(text(res), "apt-get install") {
			t.Errorf("%s: %s", tool, text(res))
		}
	}
	_, out := g.call("list_targets", nil)
	if b, _ := json.Marshal(out); strings.Count(string(b), "apt-get install") != 2 {
		t.Errorf("targets: %s", b)
	}
	h.call("search_cards", `{"q": "anything"}`)
}

// Answers of the double of Unreal are labelled as such in the envelope, the record of the run and
// the documentation.
func TestUnrealDoubleIsLabelled(t *testing.T) {
	h := newStage(t, "LOREGATE_STUDIO_UNREAL=double")
	g := h.connect(access.RoleGM)
	res, e := g.call("populate_level", map[string]any{"target": "unreal", "asset": "dry_anchor", "density": 0.05})
	if res.IsError || e["target"].(map[string]any)["kind"] != "protocol-double" {
		t.Fatalf("populate_level: %s", text(res))
	}
	_, run := g.call("get_run", map[string]any{"run_id": e["run_id"]})
	b, _ := json.Marshal(run)
	if !strings.Contains(string(b), `"kind":"protocol-double"`) || !strings.Contains(string(b), "no Unreal editor was used") {
		t.Errorf("the record: %s", b)
	}
	page, err := os.ReadFile("../../../docs/studio.md")
	if err != nil || !strings.Contains(string(page), "No Unreal has run this code") {
		t.Errorf("the page does not say it: %v", err)
	}
}
