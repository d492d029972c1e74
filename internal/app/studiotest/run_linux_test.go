package studiotest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The command line runs each scene of examples/scenes on Blender in a process of its own, and another process repeats
// the run on a copy and gets the same. Pictures are left out here: `make scenes` renders them. SCENES selects some
// scenes by name.
func TestRunsOfScenesAreRepeatable(t *testing.T) {
	requirePrograms(t, "blender")
	if os.Getenv("ALL_SCENES") != "1" && os.Getenv("SCENES") == "" {
		t.Skip("ALL_SCENES is not 1 and SCENES names no scene; this test was not run")
	}
	files, err := filepath.Glob("../../../examples/scenes/*.yaml")
	if err != nil || len(files) != 12 {
		t.Fatal(files, err)
	}
	binary, data := program(t), t.TempDir()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if only := os.Getenv("SCENES"); only != "" && !strings.Contains(" "+only+" ", " "+name+" ") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			plan := filepath.Join(t.TempDir(), name+".json")
			b, err := json.Marshal(buildPlan(name, string(text)))
			if err == nil {
				err = os.WriteFile(plan, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			ask := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), binary, append(append([]string{"studio"}, args...), "--world", "lendwater",
					"--data", data)...)
				cmd.Env = append(os.Environ(), "LOREGATE_LOG_LEVEL=error")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				return string(out)
			}
			ran := ask("run", plan)
			run := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).FindString(ran)
			if run == "" {
				t.Fatalf("no run: %s", ran)
			}
			t.Log(ask("verify", run))
		})
	}
}

// buildPlan returns a plan that designs, checks, builds and exports a scene.
func buildPlan(name, text string) map[string]any {
	built := map[string]any{"spec": "$1.spec"}
	target := "blender:" + name
	return map[string]any{"name": name, "calls": []map[string]any{
		{"tool": "scene_spec", "with": map[string]any{"text": text}}, {"tool": "scene_check", "with": built},
		{"tool": "generate_scene", "target": target, "with": map[string]any{"spec": "$1.spec", "replace": true}},
		{"tool": "export_asset", "target": target, "with": map[string]any{"format": "glb"}}}}
}
