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
)

// kills is how many runs are killed: STUDIO_KILLS, or a few.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("STUDIO_KILLS")); err == nil {
		return n
	}
	return 2
}

// programs are the process ids of this process's children by a name.
func programs(name string) []int {
	var pids []int
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range lists {
		b, _ := os.ReadFile(file) // a thread that is gone has none
		for _, text := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(text)
			if comm, err := os.ReadFile("/proc/" + text + "/comm"); err == nil && strings.TrimSpace(string(comm)) == name {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Blender is killed at random points of runs: each run ends and says truly how, and the
// scene is as the last good run left it.
func TestKilledAtAnyPoint(t *testing.T) {
	engines(t, "blender")
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to find programs in")
	}
	h := newHouse(t)
	g := h.guest(access.RoleGM)
	g.call("add_object", map[string]any{"object_type": "cube", "name": "Base", "location": []int{0, 0, 0}})
	digest := func() any {
		_, e := g.call("list_objects", map[string]any{"target": "blender"})
		result, _ := e["result"].(map[string]any)
		return result["digest"]
	}
	before := digest()
	rnd := rand.New(rand.NewPCG(1, 2))
	ended := map[string]int{}
	for i := range kills() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			timer := time.NewTimer(time.Duration(rnd.IntN(700)) * time.Millisecond)
			<-timer.C
			for _, pid := range programs("blender") {
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
	t.Logf("of %d runs: %v", kills(), ended)
}
