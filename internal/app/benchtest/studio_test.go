package benchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/app"
	"loregate/internal/blob"
	"loregate/internal/cputest"
	"loregate/internal/loadtest"
	"loregate/internal/op"
	"loregate/internal/programtest"
	"loregate/internal/studio"
	"loregate/internal/studio/blender"
	"loregate/internal/studio/texture"
)

// studioStage is the product with a studio on a new folder: Blender, and the double of Unreal,
// which does nothing.
type studioStage struct {
	b   *testing.B
	app *app.App
}

func newStudioStage(b *testing.B) *studioStage {
	b.Helper()
	requireBench(b)
	programtest.Find(b, "blender")
	c, err := app.LoadConfig("", nil)
	if err != nil {
		b.Fatal(err)
	}
	c.Data, c.Studio.Unreal = b.TempDir(), "double"
	w := &studioStage{b: b}
	if w.app, err = app.Open(b.Context(), c, app.Options{Version: "1.0.0",
		Logger: slog.New(slog.DiscardHandler)}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.app.Close(context.Background()) })
	makeWorld(b, w.app)
	return w
}

// call calls a tool, like a client in the same process.
func (w *studioStage) call(tool string, input map[string]any) (e studio.Envelope[map[string]any], took time.Duration) {
	w.b.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		w.b.Fatal(err)
	}
	started := time.Now()
	answer, err := w.app.Ops.Invoke(w.b.Context(), app.Operator(),
		op.Request{Operation: tool, Surface: studio.Surface, Input: in, World: worldName, Correlation: uuid.NewString(),
			Transport: "mcp"})
	took = time.Since(started)
	if err == nil {
		err = json.Unmarshal(answer.Output, &e)
	}
	if err != nil {
		w.b.Fatalf("%s: %v", tool, err)
	}
	return e, took
}

// programTime returns the processor time of the child processes.
func programTime() (total time.Duration) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range lists {
		pids, _ := os.ReadFile(file) // a thread that has ended has none
		for _, pid := range strings.Fields(string(pids)) {
			if n, err := strconv.Atoi(pid); err == nil {
				took, _ := loadtest.ProcessTime(n)
				total += took
			}
		}
	}
	return total
}

// addTimes adds the time of a call: by the clock, and on processors here and in child processes.
func (m medians) addTimes(name string, call func() time.Duration) {
	ours, theirs := cputest.Used(), programTime()
	m.add(name+"-ms", ms(call()))
	m.add(name+"-cpu-ms", ms(cputest.Used()-ours))
	m.add(name+"-program-cpu-ms", ms(programTime()-theirs))
}

// crowdedScene describes a place of some 300 objects.
var crowdedScene = map[string]any{"description": "a clearing in a wood with sixty stumps and two hundred barrels",
	"seed": 3, "replace": true, "confirm": true}

// BenchmarkStudio measures the cost of the studio without its programs, and with them.
func BenchmarkStudio(b *testing.B) {
	b.Run("tools", benchmarkTools)
	b.Run("adapter", benchmarkAdapter)
	b.Run("terrain", benchmarkTerrain)
	b.Run("texture", benchmarkTexture)
}

// benchmarkTools calls tools through the whole product: a recorded no-op, a scene, and a dry run of
// the same scene.
func benchmarkTools(b *testing.B) {
	w, m := newStudioStage(b), medians{}
	w.call("generate_scene", crowdedScene) // starts Blender and paints the surfaces
	rehearsed := map[string]any{"dry_run": true}
	for k, v := range crowdedScene {
		rehearsed[k] = v
	}
	rehearsed["replace"] = false
	for b.Loop() {
		for range 20 {
			_, took := w.call("list_objects", map[string]any{"target": "unreal"})
			m.add("noop-ms", ms(took))
		}
		m.addTimes("scene", func() time.Duration {
			e, took := w.call("generate_scene", crowdedScene)
			m.add("objects", e.Result["objects_created"].(float64))
			return took
		})
		rehearsed["target"] = "blender:empty"
		w.call("list_objects", map[string]any{"target": "blender:empty"}) // starts it
		m.addTimes("dry-run", func() time.Duration {
			_, took := w.call("generate_scene", rehearsed)
			return took
		})
	}
	m.report(b)
}

// benchmarkAdapter runs single operations in one session, and compares them with starting Blender
// for each.
func benchmarkAdapter(b *testing.B) {
	requireBench(b)
	m := medians{}
	blobs, err := blob.Open(filepath.Join(b.TempDir(), "blobs"))
	if err != nil {
		b.Fatal(err)
	}
	defer blobs.Close()
	all := func(string) bool { return true }
	a := blender.New(blender.Config{})
	add := func(x studio.Txn, n int) time.Duration {
		started := time.Now()
		work := &studio.Work{Tool: "add_object", Input: fmt.Appendf(nil,
			`{"object_type": "cube", "name": "N%d", "location": [%d, 0, 0]}`, n, n), Progress: func(float64, float64, string) {}}
		if _, err := x.Do(b.Context(), work); err != nil {
			b.Fatal(err)
		}
		return time.Since(started)
	}
	open := func() (studio.Target, studio.Txn) {
		t, err := a.Open(studio.Place{Name: "blender", Dir: b.TempDir(), Files: studio.Kept{Blobs: blobs}})
		if err != nil {
			b.Fatal(err)
		}
		x, err := t.Begin(b.Context(), all)
		if err != nil {
			b.Fatal(err)
		}
		return t, x
	}
	t, x := open()
	defer t.Close()
	add(x, -1)
	for b.Loop() {
		var ops outcome
		for n := range 300 {
			ops.each = append(ops.each, add(x, n))
		}
		slices.Sort(ops.each)
		if err := x.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
		started := time.Now()
		own, y := open()
		add(y, 0)
		own.Close()
		each := time.Since(started)
		m.add("op-p50-ms", ms(ops.at(50)))
		m.add("op-p99-ms", ms(ops.at(99)))
		m.add("start-per-op-ms", ms(each))
		m.add("start-ratio", float64(each)/float64(ops.at(50)))
	}
	m.report(b)
}

// benchmarkTerrain generates 513² of terrain, places 5,000 instances on it and exports everything.
func benchmarkTerrain(b *testing.B) {
	w, m := newStudioStage(b), medians{}
	n := 0
	for b.Loop() {
		n++
		target := fmt.Sprintf("blender:land%d", n)
		w.call("list_objects", map[string]any{"target": target}) // starts it
		ours, theirs, started := cputest.Used(), programTime(), time.Now()
		w.call("generate_terrain", map[string]any{"target": target, "width": 512, "height": 512, "detail_level": "high",
			"amplitude": 40, "seed": 5})
		w.call("add_object", map[string]any{"target": target, "object_type": "cone", "name": "Tree",
			"location": []int{0, 0, 0}})
		e, _ := w.call("populate_level", map[string]any{"target": target, "asset": "Tree", "ground": "Terrain",
			"density": 0.05, "area": []int{-250, -250, 250, 250}, "budget_max_instances": 5000})
		m.add("instances", e.Result["placements_created"].(float64))
		out, _ := w.call("export_asset", map[string]any{"target": target, "format": "glb"})
		m.add("s", time.Since(started).Seconds())
		m.add("cpu-s", (cputest.Used() - ours).Seconds())
		m.add("program-cpu-s", (programTime() - theirs).Seconds())
		m.add("MB", float64(out.Artifacts[0].Bytes)/1e6)
	}
	m.report(b)
}

// benchmarkTexture paints a pair of textures of 1,024² and writes both as PNG.
func benchmarkTexture(b *testing.B) {
	requireBench(b)
	m := medians{}
	for b.Loop() {
		cpu, started := cputest.Used(), time.Now()
		pair := texture.Paint("stone", 1024, 7)
		for _, half := range []*image.RGBA{pair.Color, pair.Normal} {
			if _, err := texture.PNG(half); err != nil {
				b.Fatal(err)
			}
		}
		m.add("pair-ms", ms(time.Since(started)))
		m.add("pair-cpu-ms", ms(cputest.Used()-cpu))
	}
	m.report(b)
}
