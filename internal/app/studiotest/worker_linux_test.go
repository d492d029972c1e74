package studiotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
)

var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	pgtest.Main(m, func() {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
	})
}

// program builds the loregate program, once.
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "loregate-studio"); built.err == nil {
			out, err := exec.Command("go", "build", "-o", built.dir, "loregate/cmd/loregate").CombinedOutput()
			if err != nil {
				built.err = fmt.Errorf("%w: %s", err, out)
			}
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "loregate")
}

// startWorker starts a worker process on the stage's store.
func (h *stage) startWorker() *exec.Cmd {
	h.t.Helper()
	cmd := exec.Command(program(h.t), "studio", "worker", "--lease", "2s")
	cmd.Env = append(os.Environ(), "LOREGATE_DATA="+h.app.Config.Data, "LOREGATE_DATABASE="+h.app.Config.Database,
		"LOREGATE_LOG_LEVEL=error")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd
}

// A worker process is killed in the middle of a run. After the lease another worker does the run;
// it is recorded once, and the scene holds the result of one run.
func TestAKilledWorkerIsReplaced(t *testing.T) {
	programtest.Long(t)
	requirePrograms(t, "blender")
	for _, store := range []string{"embedded", "postgres"} {
		t.Run(store, func(t *testing.T) {
			settings := []string{"LOREGATE_STUDIO_WORKERS=true"}
			if store == "postgres" {
				settings = append(settings, "LOREGATE_DATABASE="+pgtest.Empty(t))
			}
			h := newStage(t, settings...)
			g := h.connect(access.RoleGM)
			first := h.startWorker()
			var killed time.Time
			replace := sync.OnceFunc(func() {
				_ = first.Process.Kill()
				killed = time.Now()
				h.startWorker()
			})
			g.onProgress = func(message string) {
				if strings.Contains(message, "render_preview") {
					replace()
				}
			}
			res, e := g.call("plan_execute", map[string]any{"plan": map[string]any{"name": "An inn", "seed": 5, "calls": []any{
				map[string]any{"tool": "generate_scene",
					"with": map[string]any{"description": "an inn with ten barrels and a well"}},
				map[string]any{"tool": "render_preview", "with": map[string]any{"width": 320, "height": 180, "samples": 24}},
			}}})
			if res.IsError {
				t.Fatalf("the run: %s", text(res))
			}
			if killed.IsZero() {
				t.Fatal("the run ended before it could be disturbed")
			}
			_ = first.Wait() // it was killed
			_, got := g.call("get_run", map[string]any{"run_id": e["run_id"]})
			if started, err := time.Parse(time.RFC3339, got["run"].(map[string]any)["started_at"].(string)); err != nil ||
				started.Before(killed.Truncate(time.Millisecond)) {
				t.Errorf("the run that is recorded began at %s, the first worker was killed at %s", started, killed)
			}
			_, list := g.call("list_runs", map[string]any{"tool": "plan_execute"})
			if fmt.Sprint(list["total"]) != "1" {
				t.Errorf("%v runs are recorded", list["total"])
			}
			scene := e["result"].(map[string]any)["steps"].([]any)[0].(map[string]any)["result"].(map[string]any)
			if _, now := g.call("list_objects",
				map[string]any{"target": "blender"}); now["result"].(map[string]any)["total"] != scene["objects_created"] {
				t.Errorf("%v objects were made, %v are there", scene["objects_created"], now["result"].(map[string]any)["total"])
			}
		})
	}
}
