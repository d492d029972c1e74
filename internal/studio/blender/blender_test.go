package blender

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/blob"
	"loregate/internal/programtest"
	"loregate/internal/sandbox"
	"loregate/internal/studio"
	"loregate/internal/studio/build"
	"loregate/internal/studio/gltf/gltftest"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/sentence"
	"loregate/internal/studio/spec"
)

func needed(t testing.TB) {
	t.Helper()
	programtest.Find(t, "blender")
}

// shop is a target on a real Blender, with the runs that count as recorded.
type shop struct {
	t     testing.TB
	at    studio.Place
	tgt   *target
	known map[string]bool
	n     int
}

func newShop(t testing.TB) *shop {
	t.Helper()
	needed(t)
	dir := t.TempDir()
	store, err := blob.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := &shop{t: t, at: studio.Place{Name: "blender", Dir: dir, Files: studio.Kept{Blobs: store}},
		known: map[string]bool{}}
	s.tgt = New(Config{}).newTarget(s.at)
	t.Cleanup(func() { s.tgt.Close() })
	return s
}

func (s *shop) begin() *txn {
	s.t.Helper()
	x, err := s.tgt.Begin(s.t.Context(), func(run string) bool { return s.known[run] })
	if err != nil {
		s.t.Fatal(err)
	}
	return x.(*txn)
}

func (s *shop) digest(x *txn) string {
	s.t.Helper()
	d, err := x.Digest(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// run does operations as one recorded run.
func (s *shop) run(ops []raw) (string, string) {
	s.t.Helper()
	x := s.begin()
	if err := x.applyOps(s.t.Context(), ops, nil); err != nil {
		s.t.Fatal(err)
	}
	d := s.digest(x)
	s.n++
	id := fmt.Sprintf("run-%d", s.n)
	if err := x.Commit(s.t.Context(), id); err != nil {
		s.t.Fatal(err)
	}
	s.known[id] = true
	return id, d
}

func meshOps(name string, m *scene.Mesh) []raw {
	s := &scene.Script{}
	s.Material(scene.Material{Name: name, Color: [4]float64{0.5, 0.2, 0.1, 1}, Roughness: 0.5})
	s.Mesh(name, m, name)
	s.Object(name, name, "Things", scene.Transform{Location: scene.Vec{1, 2, 3}})
	s.Light(scene.Light{Name: name + " lamp", Kind: "POINT", Energy: 10, Color: [3]float64{1, 1, 1}, Size: 0.1})
	s.Camera(name+" camera", 35, true, scene.Transform{Location: scene.Vec{5, -5, 5}})
	s.Sky(scene.Sky{Elevation: 0.5, Strength: 0.3})
	return s.Ops
}

// TestScenes shares one session among its tests: a start takes longer than all of them together.
func TestScenes(t *testing.T) {
	s := newShop(t)
	for _, test := range []struct {
		name string
		play func(*testing.T, *shop)
	}{
		{"rollback is exact", rollbackIsExact}, {"refusals", refusals}, {"called off", calledOff},
		{"a scene is what its journal says", sceneIsItsJournal},
		{"a scene is its checkpoint and the journal since", fromCheckpoint}, {"killed", killed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			s.empty()
			test.play(t, s)
		})
	}
}

// empty resets the target to an empty scene and an empty journal.
func (s *shop) empty() {
	s.t.Helper()
	for _, file := range []string{s.tgt.journal.File, s.tgt.journal.pointFile()} { // the run ids start again from run-1
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.t.Fatal(err)
		}
	}
	s.known, s.n = map[string]bool{}, 0
	s.tgt.sessionState = ""
}

func sceneIsItsJournal(t *testing.T, s *shop) {
	empty := s.digest(s.begin())
	_, one := s.run(meshOps("A", scene.Sphere(1, 16, 8)))
	_, two := s.run(meshOps("B", scene.Box(1, 2, 3)))
	if empty == one || one == two {
		t.Fatal("digests do not tell scenes apart")
	}

	// The same state in another process.
	s.tgt.dropSession()
	if got := s.digest(s.begin()); got != two {
		t.Error("a fresh session is in another state")
	}
	// An undone run.
	x := s.begin()
	if err := x.Undo(t.Context(), "run-1"); err == nil {
		t.Error("an earlier run was undone under a later one")
	}
	if err := x.Undo(t.Context(), "run-2"); err != nil {
		t.Fatal(err)
	}
	if got := s.digest(x); got != one {
		t.Error("after undo the scene is not as before the run")
	}
	if err := x.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.digest(s.begin()); got != two {
		t.Error("an undo that was rolled back stays")
	}
	// A run that was never recorded.
	s.known["run-2"] = false
	if got := s.digest(s.begin()); got != one {
		t.Error("what an unrecorded run left is there")
	}
}

// A scene of many operations is restored from its checkpoint and the later journal entries. A
// checkpoint that does not match the journal is ignored.
func fromCheckpoint(t *testing.T, s *shop) {
	ops := meshOps("A", scene.Sphere(1, 16, 8))
	for k := range checkpointOps {
		ops = append(ops, mustJSON(map[string]any{"op": "object", "name": fmt.Sprintf("O%d", k), "mesh": "A"}))
	}
	s.run(ops)
	s.run(meshOps("B", scene.Box(1, 2, 3)))
	x := s.begin()
	whole := s.digest(x)
	point, ok := x.journal.findCheckpoint()
	if !ok || point.entries != 1 || x.journal.opsSinceCheckpoint() >= checkpointOps {
		t.Fatalf("the saved scene holds %d runs, %v; %d operations since", point.entries, ok, x.journal.opsSinceCheckpoint())
	}
	s.tgt.dropSession()
	if got := s.digest(s.begin()); got != whole {
		t.Error("from the saved scene comes another one")
	}
	// The restored names prove that the file was read.
	x = s.begin()
	if err := x.clearScene(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := x.sendOps(t.Context(), meshOps("Tell", scene.Box(1, 1, 1)), nil); err != nil {
		t.Fatal(err)
	}
	if err := x.saveScene(t.Context(), point.file); err != nil {
		t.Fatal(err)
	}
	s.tgt.dropSession()
	names, err := s.begin().Names(t.Context())
	if err != nil || !slices.Contains(names, "Tell") || !slices.Contains(names, "B") || slices.Contains(names, "A") {
		t.Errorf("restored: %v, %v", names, err)
	}
	// With another journal the file matches none of its states.
	if err := os.Rename(x.journal.File, x.journal.File+".old"); err != nil {
		t.Fatal(err)
	}
	s.known, s.n = map[string]bool{}, 10
	_, other := s.run(meshOps("C", scene.Box(1, 1, 1)))
	s.tgt.dropSession()
	if got := s.digest(s.begin()); got != other {
		t.Error("the file of another scene was used")
	}
}

func rollbackIsExact(t *testing.T, s *shop) {
	s.run(meshOps("A", scene.Sphere(1, 16, 8)))
	x := s.begin()
	before := s.digest(x)
	more := &scene.Script{}
	more.Ops = append(more.Ops, meshOps("B", scene.Torus(1, 0.2, 12, 6))...)
	more.Text("Words", "Mind the step", "B", "", 1, scene.Transform{})
	more.Assign("A", "B")
	more.Assign("Words", "A")
	more.Instances("Many", "A", "Crowd", []scene.Transform{{}, {Location: scene.Vec{3, 0, 0}}})
	more.Object("Nothing", "", "", scene.Transform{})
	if err := x.applyOps(t.Context(), more.Ops, nil); err != nil {
		t.Fatal(err)
	}
	if s.digest(x) == before {
		t.Fatal("nothing changed")
	}
	session := s.tgt.session
	if err := x.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.digest(s.begin()); got != before || s.tgt.session != session {
		t.Errorf("the rollback left a trace, or needed another session: %v", s.tgt.session != session)
	}
	// Emptying the scene is rolled back too.
	x = s.begin()
	if err := x.clearScene(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.Rollback(t.Context()); err != nil || s.digest(s.begin()) != before {
		t.Errorf("the scene was emptied for good: %v", err)
	}
}

func refusals(t *testing.T, s *shop) {
	s.run(meshOps("A", scene.Box(1, 1, 1)))
	for what, op := range map[string]string{
		"a taken name":         `{"op": "mesh", "name": "A", "data": ""}`,
		"an unknown operation": `{"op": "exec", "code": "1"}`,
		"a private name":       `{"op": "_answer"}`,
		"an unknown mesh":      `{"op": "object", "name": "C", "mesh": "nothing"}`,
		"torn numbers":         `{"op": "mesh", "name": "C", "data": "AAAA"}`,
		"unknown fields":       `{"op": "sky", "code": "1"}`,
	} {
		x := s.begin()
		before := s.digest(x)
		if err := x.applyOps(t.Context(), []raw{raw(op)}, nil); err == nil {
			t.Errorf("%s was taken", what)
		}
		if err := x.Rollback(t.Context()); err != nil || s.digest(s.begin()) != before {
			t.Errorf("%s left a trace: %v", what, err)
		}
	}
}

// Killing Blender at any point leaves the scene unchanged.
func killed(t *testing.T, s *shop) {
	_, before := s.run(meshOps("A", scene.Sphere(1, 16, 8)))
	for i := range 2 {
		x := s.begin()
		ops := []raw{}
		for k := range 200 {
			ops = append(ops, mustJSON(map[string]any{"op": "object", "name": fmt.Sprintf("O%d", k), "mesh": "A"}))
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if i > 0 {
				time.AfterFunc(5*time.Millisecond, func() { _ = x.session.process.Kill() })
				return
			}
			_ = x.session.process.Kill()
		}()
		<-done
		var err error
		for err == nil {
			err = x.applyOps(t.Context(), ops, nil)
			for k := range ops {
				ops[k] = bytes.Replace(ops[k], []byte(`"O`), []byte(`"OO`), 1)
			}
		}
		var failed *studio.Failure
		if !errors.As(err, &failed) || failed.Code != studio.TargetGone && failed.Code != studio.Validation ||
			failed.Code == studio.TargetGone && !failed.Retryable {
			t.Fatalf("a killed session: %v", err)
		}
		if err := x.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.digest(s.begin()); got != before {
			t.Fatal("the scene is not as it was")
		}
	}
}

func calledOff(t *testing.T, s *shop) {
	_, before := s.run(meshOps("A", scene.Sphere(1, 16, 8)))
	x := s.begin()
	ctx, cancel := context.WithCancel(t.Context())
	ops := []raw{}
	for k := range 2_000 {
		ops = append(ops, mustJSON(map[string]any{"op": "object", "name": fmt.Sprintf("O%d", k), "mesh": "A"}))
	}
	err := x.applyOps(ctx, ops, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("called off: %v", err)
	}
	if err := x.Rollback(t.Context()); err != nil || s.digest(s.begin()) != before {
		t.Errorf("the scene is not as it was: %v", err)
	}
}

// The same scene exports to the same bytes in two processes, and the files contain the expected
// objects.
func TestExportsAreDeterministic(t *testing.T) {
	var sums [2]map[string]string
	for i := range sums {
		s := newShop(t)
		sums[i] = map[string]string{}
		s.run(append(meshOps("A", scene.Sphere(1, 24, 12)),
			meshOps("B", scene.Grid(40, 0.2, func(x, y int) float64 { return float64(x*y%7) / 10 }))...))
		x := s.begin()
		for _, format := range []string{"glb", "gltf", "obj", "fbx"} {
			dir := t.TempDir()
			file, err := x.exportTo(t.Context(), dir, map[string]any{"format": format, "names": []string{"A", "B"},
				"textures": true})
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out := studio.ExportOut{Format: format}
			if err := inspectExport(&out, dir, data); err != nil {
				t.Fatal(err)
			}
			if format != "fbx" && (out.Nodes != 2 || out.Triangles != 24*2+24*10*2+39*39*2 || len(out.Materials) != 2) {
				t.Errorf("%s holds %d nodes, %d triangles, %v", format, out.Nodes, out.Triangles, out.Materials)
			}
			if bytes.Contains(data, []byte(s.tgt.folder.Path("."))) || bytes.Contains(data, []byte(dir)) {
				t.Errorf("%s tells paths of this machine", format)
			}
			sums[i][format] = studio.SumOf(data).String()
		}
		s.tgt.Close()
	}
	for format, sum := range sums[0] {
		if sums[1][format] != sum {
			t.Errorf("%s differs from one process to the next", format)
		}
	}
}

// Places of every kind, with their textures, lights, cameras and glass, export to valid glTF without a warning.
func TestExportsConform(t *testing.T) {
	s := newShop(t)
	for _, words := range []string{"an inn at night with ten barrels, a well and an anchor", "a lighthouse on a cliff",
		"a quay with four boats",
		"salt pans with a windmill", "a clearing in a wood with stumps", "a market square with a hall and a fountain"} {
		read, err := sentence.Read(sentence.Brief{Words: words, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		model, err := build.Build(read.Scene, s.tgt.adapter.meshes)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := model.Script(&painter{t.Context(), s.at.Files, s.tgt.adapter})
		if err != nil {
			t.Fatal(err)
		}
		x := s.begin()
		if _, err := x.sendOps(t.Context(), ops, nil); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		before := s.digest(x)
		file, err := x.exportTo(t.Context(), t.TempDir(), map[string]any{"format": "glb", "names": []string{},
			"textures": true})
		if err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		if s.digest(x) != before {
			t.Errorf("%s: the export changed the scene", words)
		}
		glb, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		gltftest.Check(t, words, glb)
		if !bytes.Contains(glb, []byte(`"KHR_lights_punctual":{"light":0}`)) || !bytes.Contains(glb, []byte(`"camera":1`)) {
			t.Errorf("%s: the file lacks the light or the cameras", words)
		}
		if err := x.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing of the server's environment reaches the program.
func TestCleanEnvironment(t *testing.T) {
	t.Setenv("PYTHONPATH", "/evil")
	t.Setenv("SECRET_KEY", "s3cr3t")
	for _, e := range append(sandbox.Environment("/home"), steadyEnv...) {
		if strings.Contains(e, "evil") || strings.Contains(e, "s3cr3t") {
			t.Errorf("it gets %s", e)
		}
	}
}

func TestWithoutBlender(t *testing.T) {
	a := New(Config{Binary: "there-is-no-such-blender"})
	_, err := a.Probe(t.Context())
	var failed *studio.Failure
	if !errors.As(err, &failed) || failed.Code != studio.Missing || !strings.Contains(failed.Message, "apt-get install") {
		t.Errorf("without Blender: %v", err)
	}
	tgt, err := a.Open(studio.Place{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tgt.Begin(t.Context(), func(string) bool { return true }); !errors.As(err, &failed) ||
		failed.Code != studio.Missing {
		t.Errorf("without Blender: %v", err)
	}
}

// scene300 returns the operations for 300 objects of a few meshes.
func scene300() []raw {
	s := &scene.Script{}
	s.Material(scene.Material{Name: "M", Color: [4]float64{1, 1, 1, 1}})
	for i := range 3 {
		s.Mesh(fmt.Sprintf("Mesh %d", i), scene.Sphere(1, 16, 8), "M")
	}
	for i := range 300 {
		s.Object(fmt.Sprintf("Object %d", i), fmt.Sprintf("Mesh %d", i%3), "All",
			scene.Transform{Location: scene.Vec{float64(i), 0, 0}})
	}
	return s.Ops
}

func BenchmarkScene300(b *testing.B) {
	s := newShop(b)
	x := s.begin()
	ops := scene300()
	for b.Loop() {
		if err := x.applyOps(b.Context(), ops, nil); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := x.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
		x = s.begin()
		b.StartTimer()
	}
}

func BenchmarkDryRun300(b *testing.B) {
	s := newShop(b)
	ops := scene300()
	for b.Loop() {
		x := s.begin()
		s.digest(x)
		if err := x.applyOps(b.Context(), ops, nil); err != nil {
			b.Fatal(err)
		}
		s.digest(x)
		if err := x.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOperation(b *testing.B) {
	s := newShop(b)
	s.run(meshOps("A", scene.Sphere(1, 16, 8)))
	x := s.begin()
	var slow time.Duration
	n := 0
	for b.Loop() {
		n++
		started := time.Now()
		if err := x.applyOps(b.Context(), []raw{mustJSON(map[string]any{"op": "object", "name": fmt.Sprintf("O%d", n),
			"mesh": "A"})}, nil); err != nil {
			b.Fatal(err)
		}
		slow = max(slow, time.Since(started))
	}
	b.ReportMetric(float64(slow.Microseconds()), "µs-slowest")
}

// BenchmarkStart measures the cost of a fresh Blender for each call.
func BenchmarkStart(b *testing.B) {
	s := newShop(b)
	for b.Loop() {
		s.begin()
		s.tgt.dropSession()
	}
}

// A GLB file that was designed without a program comes into Blender as a part with a name, is in the
// saved .blend file, and goes with a rollback.
func TestImportedModel(t *testing.T) {
	s := newShop(t)
	design, err := spec.Parse([]byte("{version: 1, name: yard, parts: {keep: {tower: {radius: 3, height: 9}}, " +
		"lamp: {lamp: {watts: 20}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := build.Build(design, nil)
	if err != nil {
		t.Fatal(err)
	}
	glb, err := m.GLB(s.tgt.adapter.paints)
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := s.at.Files.Put(t.Context(), bytes.NewReader(glb))
	if err != nil {
		t.Fatal(err)
	}
	x := s.begin()
	empty := s.digest(x)
	op := mustJSON(map[string]string{"op": "import", "name": "gate", "blob": sum})
	if err := x.applyOps(t.Context(), []raw{op}, nil); err != nil {
		t.Fatal(err)
	}
	names, err := x.Names(t.Context())
	if err != nil || !slices.Contains(names, "gate") || !slices.Contains(names, "gate keep.shaft-panel") {
		t.Errorf("%v, %v", names, err)
	}
	first := s.digest(x)
	if err := x.applyOps(t.Context(), []raw{op}, nil); err == nil {
		t.Error("the name was taken twice")
	}
	file := filepath.Join(t.TempDir(), "scene.blend")
	if err := x.saveScene(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || !isBlend(data) {
		t.Errorf("no .blend file: %v", err)
	}
	if err := x.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if x = s.begin(); s.digest(x) != empty {
		t.Error("the rollback leaves parts of the import")
	}
	if err := x.applyOps(t.Context(), []raw{op}, nil); err != nil || s.digest(x) != first {
		t.Errorf("the second import differs: %v", err)
	}
}
