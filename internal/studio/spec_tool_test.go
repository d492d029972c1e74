package studio_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/studio"
	"loregate/internal/studio/builder"
)

// keepYAML is a small scene with a fault: two crates at one place.
const keepYAML = `version: 1
name: keep
ground: {material: grass}
parts:
  keep: {tower: {radius: 3, height: 12, door: true, slits: 2}, material: stone}
  crates: {prop: {kind: crate}, at: [6, 0], repeat: {row: {count: 2, step: [0.1, 0]}}}
`

func result(out map[string]any) map[string]any { return out["result"].(map[string]any) }

func quote(text string) string {
	b, _ := json.Marshal(text) // a text always has a JSON form
	return string(b)
}

// A client designs a scene without any program: it stores the scene, describes and checks it, mends the
// fault, compares the versions, builds the file, and finds the runs with their card.
func TestDesignScene(t *testing.T) {
	d := newDesk(t)
	d.card("The Keep", "Location", "<p>A tower.</p>", access.LevelUser)
	put := d.do(access.RoleGM, "scene_spec", `{"text": `+quote(keepYAML)+`, "card": "The Keep"}`)
	id := result(put)["spec"].(string)
	if result(put)["findings"] != 1.0 || put["target"].(map[string]any)["kind"] != "native" {
		t.Errorf("put: %v", put)
	}
	look := result(d.do(access.RoleGM, "scene_describe", `{"spec": "`+id+`"}`))
	if counts := look["counts"].(map[string]any); counts["arrow slit"] != 6.0 || counts["crate"] != 2.0 {
		t.Errorf("describe: %v", counts)
	}
	check := result(d.do(access.RoleGM, "scene_check", `{"spec": "`+id+`"}`))
	if check["ok"] != false || !strings.Contains(fmt.Sprint(check["findings"]), "crates.1") {
		t.Errorf("check: %v", check)
	}
	edited := result(d.do(access.RoleGM, "scene_edit", `{"spec": "`+id+`", "edits": [{"do": "set", "path": "crates", "value": {"repeat": {"row": {"step": [2, 0]}}}}]}`))
	if edited["findings"] != 0.0 || len(edited["changes"].([]any)) != 1 {
		t.Errorf("edit: %v", edited)
	}
	diff := result(d.do(access.RoleGM, "scene_diff", `{"from": "`+id+`", "to": "`+edited["spec"].(string)+`"}`))
	if fmt.Sprint(diff["changes"]) != fmt.Sprint(edited["changes"]) {
		t.Errorf("diff: %v", diff)
	}
	made := d.do(access.RoleGM, "scene_spec", `{"from": "`+edited["spec"].(string)+`", "action": "build"}`)
	if files := fmt.Sprint(made["artifacts"]); !strings.Contains(files, "keep.glb") || !strings.Contains(files,
		"keep.json") {
		t.Errorf("build: %v", files)
	}
	if verdict := d.do(access.RoleGM, "verify_run", `{"run_id": "`+made["run_id"].(string)+`"}`); verdict["same"] != true {
		t.Errorf("verify: %v", verdict)
	}
	d.card("The Keep", "Location", "<p>A tower without a top.</p>", access.LevelUser)
	if stale := d.do(access.RoleGM, "list_stale", `{}`)["stale"].([]any); len(stale) != 1 {
		t.Errorf("stale: %v", stale)
	}
}

func TestSceneToolsRefuse(t *testing.T) {
	d := newDesk(t)
	put := d.do(access.RoleGM, "scene_spec", `{"text": `+quote(keepYAML)+`, "action": "build"}`)
	glb := result(put)["glb"].(string)
	for input, says := range map[string]string{
		`{}`:                                  "exactly one",
		`{"text": "version: 1", "from": "x"}`: "exactly one",
		`{"text": "{version: 1, name: a, parts: {a: {}}}"}`:                   "a: has no body",
		`{"spec": {"version": 1, "name": "a", "parts": {"b": {"use": "c"}}}}`: "b: use",
		`{"from": "` + glb + `"}`:                                             "has the kind export",
		`{"from": "` + strings.Replace(glb, ".2", ".7", 1) + `"}`:             "",
	} {
		if err := d.wantCode(studio.Validation, access.RoleGM, "scene_spec",
			input); !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", input, err)
		}
	}
	validated := d.do(access.RoleGM, "scene_spec", `{"text": `+quote(keepYAML)+`, "action": "validate"}`)
	if len(validated["artifacts"].([]any)) != 0 || result(validated)["spec"] != nil {
		t.Errorf("validate: %v", validated)
	}
	hidden := result(d.do(access.RoleGM, "scene_spec", `{"text": `+quote(keepYAML)+`}`))["spec"].(string)
	d.wantCode(studio.Validation, access.RoleGM, "scene_check", `{"spec": "`+hidden+`", "audience": "user"}`)
}

// The tool names all things and materials that a scene can use.
func TestVocabularyIsNamed(t *testing.T) {
	things, materials, err := builder.Vocabulary()
	if err != nil {
		t.Fatal(err)
	}
	help := newDesk(t).do(access.RoleUser, "mcp.help", `{"command_name": "scene_spec"}`)["description"].(string)
	for _, list := range []string{"Things for prop: " + strings.Join(things, ", "),
		"Materials: " + strings.Join(materials, ", ")} {
		if !strings.Contains(help, list+".") {
			t.Errorf("the description does not have %q", list)
		}
	}
}

// A dry run of a plan tries the calls that use the plan's own scene.
func TestDryRunUsesTheScene(t *testing.T) {
	d := newDesk(t)
	plan := `{"name": "a keep", "seed": 1, "calls": [{"tool": "scene_spec", "with": {"text": ` + quote(keepYAML) + `}}, {"tool": "scene_check", "with": {"spec": "$1.spec"}}, {"tool": "scene_edit", "with": {"spec": "$1.spec", "edits": [{"do": "delete", "path": "crates"}]}}, {"tool": "scene_diff", "with": {"from": "$1.spec", "to": "$3.spec"}}]}`
	out := d.do(access.RoleGM, "plan_execute", `{"dry_run": true, "plan": `+plan+`}`)
	steps := result(out)["steps"].([]any)
	if len(steps) != 4 || len(out["artifacts"].([]any)) != 0 {
		t.Fatalf("%v", out)
	}
	if last := steps[3].(map[string]any)["result"].(map[string]any); len(last["changes"].([]any)) != 1 {
		t.Errorf("%v", last)
	}
}
