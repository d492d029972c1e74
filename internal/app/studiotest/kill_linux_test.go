package studiotest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/programtest"
)

// killCount returns the number of runs that are killed: STUDIO_KILLS, or 2.
func killCount() int {
	if n, err := strconv.Atoi(os.Getenv("STUDIO_KILLS")); err == nil {
		return n
	}
	return 2
}

// childPIDs returns the process ids of the children with a name.
func childPIDs(name string) []int {
	var pids []int
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range lists {
		b, _ := os.ReadFile(file) // a thread that has ended has none
		for _, text := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(text)
			if comm, err := os.ReadFile("/proc/" + text + "/comm"); err == nil && strings.TrimSpace(string(comm)) == name {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Blender is killed at random points of runs. Each run ends with a true status, and the scene is as
// the last successful run left it.
func TestKilledAtAnyPoint(t *testing.T) {
	programtest.Long(t)
	requirePrograms(t, "blender")
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to find programs in")
	}
	h := newStage(t)
	g := h.connect(access.RoleGM)
	g.call("add_object", map[string]any{"object_type": "cube", "name": "Base", "location": []int{0, 0, 0}})
	digest := func() any {
		_, e := g.call("list_objects", map[string]any{"target": "blender"})
		result, _ := e["result"].(map[string]any)
		return result["digest"]
	}
	before := digest()
	rnd := rand.New(rand.NewPCG(1, 2))
	ended := map[string]int{}
	rehearsal := map[string]any{"description": "an inn with ten barrels", "dry_run": true}
	callDuration(g, "generate_scene", rehearsal) // paints the surfaces, which are then cached
	long := callDuration(g, "generate_scene", rehearsal)
	for i := range killCount() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			timer := time.NewTimer(time.Duration(rnd.Int64N(int64(long))))
			<-timer.C
			for _, pid := range childPIDs("blender") {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}()
		res, e := g.call("generate_scene", map[string]any{"description": "an inn with ten barrels", "seed": i})
		<-done
		after := digest()
		switch {
		case res.IsError && after != before:
			t.Fatalf("run %d failed and changed the scene: %s", i, text(res))
		case res.IsError:
			ended["error"]++
			if !strings.Contains(text(res), "TARGET_UNAVAILABLE") && !strings.Contains(text(res), "EXECUTION_ERROR") {
				t.Errorf("run %d: %s", i, text(res))
			}
		default:
			ended["ok"]++
			if after == before {
				t.Fatalf("run %d was ok and changed nothing", i)
			}
			if undo, _ := g.call("undo_run", map[string]any{"run_id": e["run_id"]}); undo.IsError || digest() != before {
				t.Fatalf("run %d could not be taken back: %s", i, text(undo))
			}
		}
		_, list := g.call("list_runs", map[string]any{"status": "running"})
		if fmt.Sprint(list["total"]) != "0" {
			t.Fatalf("run %d left something running: %v", i, list)
		}
	}
	t.Logf("of %d runs: %v", killCount(), ended)
}

// callDuration returns the duration of an undisturbed call.
func callDuration(g *mcpClient, tool string, args map[string]any) time.Duration {
	g.t.Helper()
	started := time.Now()
	if res, _ := g.call(tool, args); res.IsError {
		g.t.Fatalf("%s: %s", tool, text(res))
	}
	return time.Since(started)
}

// Runs are cancelled at random points: while they build, export and render. Each ends with an error
// that says so, and leaves the scene as it was. The log has the longest time that a run took to
// stop.
func TestCancelledAtAnyPoint(t *testing.T) {
	programtest.Long(t)
	requirePrograms(t, "blender")
	h := newStage(t)
	g, other := h.connect(access.RoleGM), h.connect(access.RoleAdmin)
	plan := map[string]any{"plan": map[string]any{"name": "An inn", "seed": 5, "calls": []any{
		map[string]any{"tool": "generate_scene", "with": map[string]any{"description": "an inn with ten barrels and a well"}},
		map[string]any{"tool": "export_asset", "with": map[string]any{"format": "glb"}},
		map[string]any{"tool": "render_preview", "with": map[string]any{"width": 320, "height": 180, "samples": 16}},
	}}}
	long := callDuration(g, "plan_execute", plan)
	_, list := g.call("list_runs", map[string]any{})
	first := list["runs"].([]any)[0].(map[string]any)["run_id"]
	if res, _ := g.call("undo_run", map[string]any{"run_id": first}); res.IsError {
		t.Fatalf("undo_run: %s", text(res))
	}
	objects := func() any {
		_, e := g.call("list_objects", map[string]any{"target": "blender"})
		return e["result"].(map[string]any)["digest"]
	}
	before := objects()
	rnd := rand.New(rand.NewPCG(3, 4))
	var slowest time.Duration
	ended := map[string]int{}
	for range killCount() {
		var stopped time.Duration
		done := make(chan struct{})
		go func() {
			defer close(done)
			timer := time.NewTimer(time.Duration(rnd.Int64N(int64(long))))
			<-timer.C
			_, list := other.call("list_runs", map[string]any{"status": "running", "tool": "plan_execute"})
			if runs := list["runs"].([]any); len(runs) > 0 {
				started := time.Now()
				other.call("cancel_run", map[string]any{"run_id": runs[0].(map[string]any)["run_id"]})
				stopped = time.Since(started)
			}
		}()
		res, e := g.call("plan_execute", plan)
		<-done
		slowest = max(slowest, stopped)
		if !res.IsError {
			ended["ok"]++
			if undo, _ := g.call("undo_run", map[string]any{"run_id": e["run_id"]}); undo.IsError {
				t.Fatalf("undo_run: %s", text(undo))
			}
		} else if ended["cancelled"]++; !strings.Contains(text(res), "CANCELLED") {
			t.Errorf("a cancelled run says %s", text(res))
		}
		if objects() != before {
			t.Fatal("the scene is not as it was")
		}
	}
	t.Logf("of %d runs: %v; the slowest stopped in %s", killCount(), ended, slowest)
}
