package godot

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/blob"
	"loregate/internal/programtest"
	"loregate/internal/studio"
)

func needed(t testing.TB) {
	t.Helper()
	programtest.Find(t, "godot3-server")
}

func newProject(t testing.TB) *project {
	t.Helper()
	needed(t)
	dir := t.TempDir()
	store, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	p, err := New(Config{}).Open(studio.Place{Name: "godot", Dir: dir, Files: studio.Kept{Blobs: store}})
	if err != nil {
		t.Fatal(err)
	}
	return p.(*project)
}

func (p *project) begin(t testing.TB) *txn {
	t.Helper()
	x, err := p.Begin(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return x.(*txn)
}

// glb returns a file of two nodes that share a triangle.
func glb(t testing.TB) []byte {
	t.Helper()
	var bin []byte
	for _, x := range []float32{0, 0, 0, 1, 0, 0, 0, 1, 0} {
		bin = binary.LittleEndian.AppendUint32(bin, math.Float32bits(x))
	}
	text, err := json.Marshal(map[string]any{"asset": map[string]any{"version": "2.0"}, "scene": 0,
		"scenes": []any{map[string]any{"nodes": []int{0, 1}}},
		"nodes": []any{map[string]any{"mesh": 0, "name": "A"},
			map[string]any{"mesh": 0, "name": "B", "translation": []int{2, 0, 0}}},
		"meshes": []any{map[string]any{"primitives": []any{map[string]any{"attributes": map[string]int{"POSITION": 0},
			"material": 0}}}},
		"materials": []any{map[string]any{"name": "M"}},
		"accessors": []any{map[string]any{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
			"min": []int{0, 0, 0}, "max": []int{1, 1, 0}}},
		"bufferViews": []any{map[string]any{"buffer": 0, "byteLength": 36}},
		"buffers":     []any{map[string]any{"byteLength": 36}}})
	if err != nil {
		t.Fatal(err)
	}
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	le := binary.LittleEndian
	out := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 0x46546c67), 2), uint32(28+len(text)+len(bin)))
	out = append(le.AppendUint32(le.AppendUint32(out, uint32(len(text))), 0x4e4f534a), text...)
	return append(le.AppendUint32(le.AppendUint32(out, uint32(len(bin))), 0x004e4942), bin...)
}

func TestImportIsCountedByGodot(t *testing.T) {
	x := newProject(t).begin(t)
	if err := x.putFile(t.Context(), assetFile("two"), glb(t)); err != nil {
		t.Fatal(err)
	}
	got, err := x.importFile(t.Context(), assetFile("two"))
	if err != nil || got.Nodes != 3 || got.Triangles != 2 || got.Materials != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	l := level{Groups: []group{{Asset: "two", Placements: []studio.Placement{{Scale: 1},
		{Location: [3]float64{5, 6, 1}, Turn: 1, Scale: 1.1}}}}}
	if err := x.putLevel(t.Context(), "main", l); err != nil {
		t.Fatal(err)
	}
	if got, err = x.inspectLevel(t.Context(), "main", 5); err != nil || got.Children != 2 || got.Nodes != 7 ||
		got.Frames != 5 || got.Triangles != 4 {
		t.Errorf("the level: %+v, %v", got, err)
	}
	// A later transaction finds the imported asset.
	if err := x.Commit(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	x = x.project.begin(t)
	if got, err = x.inspectLevel(t.Context(), "main", 0); err != nil || got.Materials != 1 {
		t.Errorf("the level in a later transaction: %+v, %v", got, err)
	}
	if err := x.putFile(t.Context(), assetFile("bad"), []byte("no glTF at all")); err != nil {
		t.Fatal(err)
	}
	if _, err := x.importFile(t.Context(), assetFile("bad")); err == nil {
		t.Error("what is no GLB was imported")
	}
}

func TestProjectFollowsItsHistory(t *testing.T) {
	p := newProject(t)
	x := p.begin(t)
	empty, _ := x.Digest(t.Context())
	if err := errors.Join(x.putFile(t.Context(), "scripts/a.gd", []byte("extends Node\n")),
		x.Commit(t.Context(), "1")); err != nil {
		t.Fatal(err)
	}
	x = p.begin(t)
	one, _ := x.Digest(t.Context())
	if err := errors.Join(x.putFile(t.Context(), "scripts/b.gd", []byte("extends Node\n")),
		x.Rollback(t.Context())); err != nil {
		t.Fatal(err)
	}
	if d, _ := x.Digest(t.Context()); d != one {
		t.Error("rolled back, and not as before")
	}
	if _, err := os.Stat(filepath.Join(p.dir, "scripts", "b.gd")); err == nil {
		t.Error("a file of a run that was rolled back is there")
	}
	if err := errors.Join(x.Undo(t.Context(), "1"), x.Commit(t.Context(), "2")); err != nil {
		t.Fatal(err)
	}
	if d, _ := p.begin(t).Digest(t.Context()); d != empty {
		t.Error("undone, and not empty")
	}
	y, err := p.Begin(t.Context(), func(run string) bool { return run == "1" })
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := y.Digest(t.Context()); d != one {
		t.Error("an undo that was not recorded counts")
	}
}

// Callers' text appears in scripts only as string literals, and the engine accepts every script.
func TestScripts(t *testing.T) {
	x := newProject(t).begin(t)
	rules := []studio.LogicNode{{On: "ready", Do: "say", Text: "a\"\nfunc _init():\n\tOS.execute(\"x\")\\"},
		{On: "timer", Every: 0.5, Do: "rotate", By: 15, Target: "La\"mp"},
		{On: "entered", Do: "toggle"}, {On: "entered", Do: "hide", Target: "Door"}, {On: "left", Do: "move", By: -1}}
	script := formatScript(rules)
	if strings.Contains(string(script), "\n\tOS.execute") {
		t.Fatalf("a text became code:\n%s", script)
	}
	if err := x.putFile(t.Context(), "scripts/x.gd", script); err != nil {
		t.Fatal(err)
	}
	said, failed, err := x.adapter.runEngine(t.Context(), x.folder, "--check-only", "-s", "scripts/x.gd")
	if err != nil || failed != nil {
		t.Errorf("%v %v\n%s\n%s", failed, err, said, script)
	}
	if err := x.putFile(t.Context(), "scripts/y.gd", []byte("extends Node\nfunc _ready(:\n")); err != nil {
		t.Fatal(err)
	}
	if said, failed, _ = x.adapter.runEngine(t.Context(), x.folder, "--check-only", "-s", "scripts/y.gd"); failed == nil ||
		len(compileErrors(string(said))) == 0 {
		t.Errorf("a script that does not parse was taken: %s", said)
	}
}

func TestLevelBytesAreStable(t *testing.T) {
	l := level{Groups: []group{{Asset: "a", Placements: []studio.Placement{{Location: [3]float64{1, 2, 3}, Turn: 0.5,
		Scale: 1}}}}}
	const want = "transform = Transform( 0.8776, 0, 0.4794, 0, 1, 0, -0.4794, 0, 0.8776, 1, 3, -2 )"
	if got := string(l.encodeTSCN("main")); !strings.Contains(got, want) || got != string(l.encodeTSCN("main")) {
		t.Errorf("%s", got)
	}
}

func TestWithoutGodot(t *testing.T) {
	a := New(Config{Binary: "there-is-no-such-godot"})
	var failed *studio.Failure
	if _, err := a.Probe(t.Context()); !errors.As(err, &failed) || failed.Code != studio.Missing ||
		!strings.Contains(failed.Message, "apt-get install") {
		t.Errorf("without Godot: %v", err)
	}
}
