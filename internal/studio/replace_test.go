package studio_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/studio"
)

// rows lists the parts of a dry run's diff, as "path did".
func rows(t *testing.T, out map[string]any) string {
	t.Helper()
	diff, ok := out["diff"].(map[string]any)
	if !ok {
		t.Fatalf("no diff: %v", out)
	}
	var list []string
	parts, _ := diff["parts"].([]any)
	for _, p := range parts {
		part := p.(map[string]any)
		list = append(list, fmt.Sprint(part["path"], " ", part["did"]))
	}
	return strings.Join(list, ", ")
}

// Replacing a scene needs confirm. A dry run needs none: it lists the parts that differ.
func TestReplacingASceneNeedsConfirm(t *testing.T) {
	d := newDesk(t)
	put := func(text string) string {
		return result(d.do(access.RoleGM, "scene_spec", `{"text": `+quote(text)+`}`))["spec"].(string)
	}
	build := func(spec, more string) string {
		return `{"spec": "` + spec + `", "target": "blender:keep", "replace": true` + more + `}`
	}
	old := put(keepYAML)
	d.do(access.RoleGM, "generate_scene", build(old, "")) // the target is empty
	d.do(access.RoleGM, "generate_scene", `{"spec": "`+put(strings.Replace(keepYAML, "name: keep", "name: yard", 1))+
		`", "target": "blender:keep"}`)
	now := put(strings.NewReplacer("height: 12", "height: 15", "crates:", "well: {prop: {kind: well}, at: [0, 9]}\n  boxes:").
		Replace(keepYAML))

	want := "boxes added, crates removed, keep changed, well added, yard removed"
	if got := rows(t, d.do(access.RoleGM, "generate_scene", build(now, `, "dry_run": true`))); got != want {
		t.Errorf("a dry run lists %s; want %s", got, want)
	}
	request := `, "request_id": "again"`
	_, err := d.try(access.RoleGM, "generate_scene", build(now, request))
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code != string(studio.Confirmation) ||
		!strings.HasPrefix(refused.Message, "confirm: blender:keep already has a scene") {
		t.Fatalf("without confirm: %v", err)
	}
	if got := rows(t, d.do(access.RoleGM, "generate_scene", build(old, `, "dry_run": true`))); got != "yard removed" {
		t.Errorf("the refused call changed the target: %s", got)
	}
	run := d.do(access.RoleGM, "generate_scene", build(now, request+`, "confirm": true`))
	if got := rows(t, d.do(access.RoleGM, "generate_scene", build(now, `, "dry_run": true`))); got != "" {
		t.Errorf("after the replacement: %s", got)
	}
	if v := d.do(access.RoleGM, "verify_run", `{"run_id": "`+run["run_id"].(string)+`"}`); v["same"] != true {
		t.Errorf("the run does not repeat: %v", v)
	}
	d.do(access.RoleGM, "undo_run", `{"run_id": "`+run["run_id"].(string)+`"}`)
	if got := rows(t, d.do(access.RoleGM, "generate_scene", build(now, `, "dry_run": true`))); got != want {
		t.Errorf("after undoing it: %s", got)
	}
}

// A plan from words that replaces a scene is executed only with confirm.
func TestPlanReplacesWithConfirm(t *testing.T) {
	d := newDesk(t)
	d.card("Mill", "Location", "A mill.", access.LevelUser)
	d.do(access.RoleGM, "generate_scene", `{"card": "Mill"}`)
	for _, words := range []string{"rebuild Mill", "build Mill anew", "replace the scene with Mill"} {
		made := d.do(access.RoleGM, "plan_create", `{"intent": "`+words+`"}`)["plan"].(map[string]any)
		if with := fmt.Sprint(made["calls"]); !strings.Contains(with, "replace:true") ||
			!strings.Contains(fmt.Sprint(made["assumptions"]), "needs confirm") {
			t.Errorf("%s: %v", words, made)
		}
		plan := `{"plan_id": "` + made["plan_id"].(string) + `"`
		d.do(access.RoleGM, "plan_execute", plan+`, "dry_run": true}`)
		d.wantCode(studio.Confirmation, access.RoleGM, "plan_execute", plan+`}`)
		d.do(access.RoleGM, "plan_execute", plan+`, "confirm": true}`)
	}
}
