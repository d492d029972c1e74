package studio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/studio"
)

const cube = `{"object_type": "cube", "name": "A", "location": [0, 0, 0]}`

func TestRunRecordIsComplete(t *testing.T) {
	d := newDesk(t)
	e := d.do(access.RoleGM, "add_object", cube)
	if e["status"] != "ok" || e["protocol_version"] != "1.0.0" || e["tool_name"] != "add_object" ||
		len(e["trace_id"].(string)) != 32 || len(e["span_id"].(string)) != 16 {
		t.Errorf("envelope %v", e)
	}
	id := e["run_id"].(string)
	run := d.do(access.RoleGM, "get_run", `{"run_id": "`+id+`"}`)["run"].(map[string]any)
	for _, field := range []string{"inputs", "tool_version", "target", "digest_before", "digest_after"} {
		if step := run["steps"].([]any)[0].(map[string]any); field != "tool_version" && step[field] == nil {
			t.Errorf("the record has no %s", field)
		}
	}
	for _, field := range []string{"configuration_hash", "started_at", "ended_at", "actor", "seed", "input_hash"} {
		if run[field] == nil {
			t.Errorf("the record has no %s", field)
		}
	}
	if b, err := os.ReadFile(filepath.Join(d.data, "studio", "runs", id, "run.json")); err != nil || !json.Valid(b) {
		t.Errorf("run.json: %v", err)
	}
}

func TestRequestIDReturnsFirstRun(t *testing.T) {
	d := newDesk(t)
	with := strings.Replace(cube, `{`, `{"request_id": "r1", `, 1)
	first := d.do(access.RoleGM, "add_object", with)
	again := d.do(access.RoleGM, "add_object", strings.Replace(with, `{`, `{"timeout_s": 9, `, 1))
	if first["run_id"] != again["run_id"] || d.names() != "1" {
		t.Errorf("run %v, then %v; %s objects", first["run_id"], again["run_id"], d.names())
	}
	if _, err := d.try(access.RoleGM, "add_object", strings.Replace(with, `"A"`, `"B"`, 1)); !errors.Is(err,
		fault.Conflict) {
		t.Errorf("another request under the same id: %v", err)
	}
	if e := d.do(access.RoleAdmin, "add_object", strings.Replace(with, `"A"`, `"B"`, 1)); e["run_id"] == first["run_id"] {
		t.Error("somebody else's request id was taken for this one's")
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	d := newDesk(t)
	d.do(access.RoleGM, "add_object", cube)
	e := d.do(access.RoleGM, "add_object", strings.Replace(strings.Replace(cube, `"A"`, `"B"`, 1), `{`,
		`{"dry_run": true, `, 1))
	diff := e["diff"].(map[string]any)
	if diff["digest_before"] != diff["digest_after"] || diff["digest_then"] == diff["digest_before"] ||
		fmt.Sprint(diff["added"]) != "[B]" {
		t.Errorf("diff %v", diff)
	}
	if d.names() != "1" || e["run_id"] != nil {
		t.Errorf("%s objects, run %v", d.names(), e["run_id"])
	}
	if list := d.do(access.RoleGM, "list_runs", `{"tool": "add_object"}`); list["total"] != 1.0 {
		t.Errorf("%v runs are recorded", list["total"])
	}
}

func TestFailedRunLeavesNothing(t *testing.T) {
	d := newDesk(t)
	for _, err := range []error{studio.Fail(studio.ExecFailed, "no"), errors.New("secret detail"),
		studio.Fail(studio.TargetGone, "gone")} {
		d.paper.fail = err
		_, got := d.try(access.RoleGM, "add_object", cube)
		if got == nil || strings.Contains(fmt.Sprint(fault.Show(got, "c")), "secret") {
			t.Fatalf("%v became %v", err, got)
		}
	}
	if d.names() != "0" {
		t.Errorf("%s objects are left", d.names())
	}
	list := d.do(access.RoleGM, "list_runs", `{"status": "error", "tool": "add_object"}`)
	if list["total"] != 3.0 {
		t.Errorf("%v failed runs are recorded, not 3", list["total"])
	}
}

// A target's entry of a run that was never recorded is dropped.
func TestUnrecordedRunIsDropped(t *testing.T) {
	d := newDesk(t)
	d.do(access.RoleGM, "add_object", cube)
	file, err := filepath.Glob(filepath.Join(d.data, "studio", "targets", "*", "blender", "sheet.ndjson"))
	if err != nil || len(file) != 1 {
		t.Fatal(file, err)
	}
	f, err := os.OpenFile(file[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"run":"0190d0a0-0000-7000-8000-00000000dead","names":["A","ghost"]}` + "\n" + `{"run": "torn`)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	d.studio.Close()
	d.open()
	if d.names() != "1" {
		t.Errorf("%s objects, with a ghost among them", d.names())
	}
}

func TestUndo(t *testing.T) {
	d := newDesk(t)
	first := d.do(access.RoleGM, "add_object", cube)["run_id"].(string)
	second := d.do(access.RoleGM, "add_object", strings.Replace(cube, `"A"`, `"B"`, 1))["run_id"].(string)
	d.wantCode(studio.Validation, access.RoleGM, "undo_run", `{"run_id": "`+first+`"}`)
	if e := d.do(access.RoleGM, "undo_run", `{"run_id": "`+second+`", "dry_run": true}`); e["dry_run"] != true ||
		d.names() != "2" {
		t.Errorf("a rehearsed undo left %s objects: %v", d.names(), e)
	}
	d.do(access.RoleGM, "undo_run", `{"run_id": "`+second+`"}`)
	if d.names() != "1" {
		t.Errorf("%s objects after the undo", d.names())
	}
	if run := d.do(access.RoleGM, "get_run", `{"run_id": "`+second+`"}`); run["undone_by"] == nil {
		t.Error("the run does not say that it was undone")
	}
}

func TestCancel(t *testing.T) {
	d := newDesk(t)
	d.paper.hold, d.paper.entered = make(chan struct{}), make(chan struct{}, 1)
	var wait sync.WaitGroup
	var err error
	wait.Go(func() { _, err = d.try(access.RoleGM, "add_object", cube) })
	<-d.paper.entered
	list := d.do(access.RoleGM, "list_runs", `{"status": "running"}`)
	id := list["runs"].([]any)[0].(map[string]any)["run_id"].(string)
	if out := d.do(access.RoleGM, "cancel_run", `{"run_id": "`+id+`"}`); out["cancelled"] != true {
		t.Errorf("cancel: %v", out)
	}
	wait.Wait()
	var known *fault.Error
	if !errors.As(err, &known) || known.Code != string(studio.Cancelled) {
		t.Errorf("the cancelled call ended with %v", err)
	}
	d.paper.hold, d.paper.entered = nil, nil
	if d.names() != "0" {
		t.Errorf("%s objects are left of a cancelled run", d.names())
	}
	if out := d.do(access.RoleGM, "cancel_run", `{"run_id": "`+id+`"}`); out["cancelled"] != false {
		t.Error("a run that has ended was cancelled")
	}
}

func TestTimeout(t *testing.T) {
	d := newDesk(t)
	d.paper.hold = make(chan struct{})
	d.wantCode(studio.TimedOut, access.RoleGM, "add_object", strings.Replace(cube, `{`, `{"timeout_s": 1, `, 1))
}

// Runs on one target wait for one another; each sees the changes of those before it.
func TestQueue(t *testing.T) {
	d := newDesk(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			d.do(access.RoleGM, "add_object", fmt.Sprintf(`{"object_type": "cube", "name": "N%d", "location": [0, 0, 0]}`, i))
		})
	}
	wait.Wait()
	if d.names() != "8" {
		t.Errorf("%s objects of 8", d.names())
	}
}

func TestReadOnlyToolMustNotChangeTarget(t *testing.T) {
	d := newDesk(t)
	d.paper.lie = true
	d.wantCode(studio.ExecFailed, access.RoleGM, "render_preview", `{}`)
	d.paper.lie = false
	if d.names() != "0" {
		t.Errorf("%s objects", d.names())
	}
}

func TestArtifactsAreCached(t *testing.T) {
	d := newDesk(t)
	d.do(access.RoleGM, "add_object", cube)
	first := d.do(access.RoleGM, "export_asset", `{"format": "glb"}`)
	again := d.do(access.RoleGM, "export_asset", `{"format": "glb"}`)
	if again["cached"] != true || fmt.Sprint(again["artifacts"]) != fmt.Sprint(first["artifacts"]) {
		t.Errorf("made again: %v", again)
	}
	for what, input := range map[string]string{"seed": `{"format": "glb", "seed": 2}`, "input": `{"format": "obj"}`} {
		if e := d.do(access.RoleGM, "export_asset", input); e["cached"] == true {
			t.Errorf("with another %s the old artifacts were given", what)
		}
	}
	d.do(access.RoleGM, "add_object", strings.Replace(cube, `"A"`, `"B"`, 1))
	if e := d.do(access.RoleGM, "export_asset", `{"format": "glb"}`); e["cached"] == true {
		t.Error("of another scene the old artifacts were given")
	}
}

func TestVerify(t *testing.T) {
	d := newDesk(t)
	d.do(access.RoleGM, "add_object", cube)
	id := d.do(access.RoleGM, "export_asset", `{"format": "glb", "seed": 5}`)["run_id"].(string)
	d.do(access.RoleGM, "add_object", strings.Replace(cube, `"A"`, `"B"`, 1))
	v := d.do(access.RoleGM, "verify_run", `{"run_id": "`+id+`"}`)
	if v["same"] != true || v["compared"].(float64) < 4 {
		t.Errorf("verdict %v", v)
	}
	if d.names() != "2" {
		t.Errorf("verifying left %s objects", d.names())
	}
}

func TestPolicy(t *testing.T) {
	d := newDesk(t)
	export := `{"format": "glb", "path": "out/a.glb"%s}`
	d.do(access.RoleGM, "export_asset", fmt.Sprintf(export, ""))
	d.wantCode(studio.Validation, access.RoleGM, "export_asset", fmt.Sprintf(export, ""))
	d.wantCode(studio.PolicyDenied, access.RoleAdmin, "export_asset",
		fmt.Sprintf(export, `, "overwrite": true, "confirm": true`))

	d = newDeskWith(t, true)
	d.do(access.RoleGM, "export_asset", fmt.Sprintf(export, ""))
	over := fmt.Sprintf(export, `, "overwrite": true`)
	d.wantCode(studio.PolicyDenied, access.RoleGM, "export_asset", strings.Replace(over, "}", `, "confirm": true}`, 1))
	d.wantCode(studio.Confirmation, access.RoleAdmin, "export_asset", over)
	d.do(access.RoleAdmin, "export_asset", strings.Replace(over, "}", `, "confirm": true}`, 1))
	if _, err := d.try(access.RoleUser, "add_object", cube); !errors.Is(err, fault.NotFound) &&
		!errors.Is(err, fault.Denied) {
		t.Errorf("a user ran a tool: %v", err)
	}
}

func TestPathsStayBelowRoots(t *testing.T) {
	d := newDeskWith(t, true)
	outside := t.TempDir()
	if err := errors.Join(os.Symlink(outside, filepath.Join(d.roots["out"], "link")),
		os.WriteFile(filepath.Join(d.roots["out"], "Case.glb"), nil, 0o600),
		os.Mkdir(filepath.Join(d.roots["out"], "folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"../a.glb", "out/../../a.glb", "/etc/a.glb", "out//a.glb", "out/./a.glb", `out\\a.glb`,
		"out/a\\u0000.glb", "out/link/a.glb", "out/link",
		"out/case.glb", "out/folder", "other/a.glb", "out", "out/.a", "out/a.", "out/a /b.glb", "C:/a.glb", "out/" +
			strings.Repeat("x", 390) + "/" + strings.Repeat("y", 100), "out/a\\u202eblg.glb"} {
		input := fmt.Sprintf(`{"format": "glb", "path": "%s"}`, p)
		_, err := d.try(access.RoleAdmin, "export_asset", input)
		if err == nil {
			t.Errorf("%s was written", p)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("outside there is %v", left)
	}
}

func TestHiddenRunsAreAbsent(t *testing.T) {
	d := newDesk(t)
	secret := d.do(access.RoleGM, "add_object", cube)["run_id"].(string)
	d.wantCode(studio.PolicyDenied, access.RoleGM, "export_asset", `{"format": "glb", "audience": "user"}`)
	open := d.do(access.RoleGM, "export_asset",
		`{"format": "glb", "audience": "user", "target": "blender:players"}`)["run_id"].(string)
	list := d.do(access.RoleUser, "list_runs", `{}`)
	if list["total"] != 1.0 {
		t.Errorf("a user counts %v runs", list["total"])
	}
	d.do(access.RoleUser, "get_run", `{"run_id": "`+open+`"}`)
	absent := "0190d0a0-0000-7000-8000-00000000dead"
	_, hidden := d.try(access.RoleUser, "get_run", `{"run_id": "`+secret+`"}`)
	_, none := d.try(access.RoleUser, "get_run", `{"run_id": "`+absent+`"}`)
	if hidden == nil || strings.ReplaceAll(hidden.Error(), secret, absent) != none.Error() {
		t.Errorf("hidden answers %v, absent %v", hidden, none)
	}
	if _, err := d.try(access.RoleUser, "get_artifact", `{"artifact_id": "`+secret+`.1"}`); !errors.Is(err,
		fault.NotFound) {
		t.Errorf("an artifact out of sight: %v", err)
	}
}

func TestStale(t *testing.T) {
	d := newDesk(t)
	d.card("Mill", "Location", "A mill with two wheels.", access.LevelUser)
	d.card("Vault", "Location", "A secret.", access.LevelGM)
	d.card("Bess", "Character", "The miller.", access.LevelUser)
	run := d.do(access.RoleGM, "generate_scene",
		`{"card": "Mill", "audience": "user", "target": "blender:a"}`)["run_id"].(string)
	d.do(access.RoleGM, "generate_scene", `{"card": "Vault"}`)
	if _, err := d.try(access.RoleGM, "generate_scene",
		`{"card": "Vault", "audience": "user", "target": "blender:a"}`); !errors.Is(err, fault.Invalid) {
		t.Errorf("a run for players read a card of the GM: %v", err)
	}
	d.wantCode(studio.Validation, access.RoleGM, "generate_scene", `{"card": "Bess"}`)
	if out := d.do(access.RoleGM, "list_stale", `{}`); len(out["stale"].([]any)) != 0 {
		t.Errorf("stale at once: %v", out)
	}
	d.card("Mill", "", "A mill with three wheels.", access.LevelUser)
	d.card("Vault", "", "Another secret.", access.LevelGM)
	if out := d.do(access.RoleGM, "list_stale", `{}`); len(out["stale"].([]any)) != 2 {
		t.Errorf("stale for the gm: %v", out)
	}
	stale := d.do(access.RoleUser, "list_stale", `{}`)["stale"].([]any)
	if len(stale) != 1 || stale[0].(map[string]any)["run_id"] != run ||
		stale[0].(map[string]any)["current_version"] != 2.0 {
		t.Errorf("stale for a user: %v", stale)
	}
}

func TestPlans(t *testing.T) {
	d := newDesk(t)
	plan := `{"plan": {"name": "two", "seed": 3, "calls": [{"tool": "add_object", "with": {"object_type": "cube", "name": "P", "location": [0,0,0]}},
		{"tool": "export_asset", "with": {"format": "glb"}}%s]}}`
	e := d.do(access.RoleGM, "plan_execute", fmt.Sprintf(plan, ""))
	if steps := e["result"].(map[string]any)["steps"].([]any); len(steps) != 2 {
		t.Errorf("steps %v", steps)
	}
	known := d.wantCode(studio.Validation, access.RoleGM, "plan_execute",
		fmt.Sprintf(plan, `, {"tool": "render_preview", "with": {"width": 3, "wdith": 4}}`))
	if len(known.Fields) != 2 || !strings.HasPrefix(known.Fields[0].Field, "calls[2].with.") {
		t.Errorf("faults %v", known.Fields)
	}
	d.wantCode(studio.Validation, access.RoleGM, "plan_execute", fmt.Sprintf(plan, `, {"tool": "format_disk"}`))
	before := d.names()
	d.paper.fail = studio.Fail(studio.ExecFailed, "no")
	if _, err := d.try(access.RoleGM, "plan_execute",
		strings.ReplaceAll(fmt.Sprintf(plan, ""), `"P"`, `"Q"`)); err == nil || d.names() != before {
		t.Errorf("half a plan was kept: %s objects, %v", d.names(), err)
	}
	long := strings.Repeat(`,{"tool": "render_preview"}`, 60)
	d.wantCode(studio.OverBudget, access.RoleGM, "plan_execute", fmt.Sprintf(plan, long))
	if out := d.do(access.RoleGM, "plan_validate", fmt.Sprintf(plan,
		`, {"tool": "import_asset", "with": {"manifest": "$9.manifest"}}`)); out["valid"] != false {
		t.Errorf("a plan that refers ahead is valid: %v", out)
	}
}

func TestPlanner(t *testing.T) {
	d := newDesk(t)
	d.card("The Sunken Tavern", "Location", "A tavern.", access.LevelUser)
	d.card("Black Vault", "Location", "Hidden.", access.LevelAdmin)
	for _, row := range []struct{ intent, tools, card string }{
		{"build The Sunken Tavern with ten barrels and export it to glb", "generate_scene export_asset", "The Sunken Tavern"},
		{"Make a lighthouse at dusk, then render it", "generate_scene render_preview", ""},
		{"export The Sunken Tavern as obj", "generate_scene export_asset", "The Sunken Tavern"},
		{"build Black Vault", "generate_scene", ""},
		{"make a terrain and render it", "generate_terrain render_preview", ""},
	} {
		out := d.do(access.RoleGM, "plan_create", `{"intent": "`+row.intent+`"}`)
		plan := out["plan"].(map[string]any)
		var names []string
		card := ""
		for _, c := range plan["calls"].([]any) {
			call := c.(map[string]any)
			names = append(names, call["tool"].(string))
			if with, ok := call["with"].(map[string]any); ok && with["card"] != nil {
				card = with["card"].(string)
			}
		}
		if strings.Join(names, " ") != row.tools || card != row.card {
			t.Errorf("%s: %v of %q", row.intent, names, card)
		}
		if got := d.do(access.RoleUser, "list_runs", `{}`); got["total"] != 0.0 {
			t.Error("planning ran something")
		}
	}
	if out := d.do(access.RoleGM, "plan_create", `{"intent": "hello there"}`); len(out["questions"].([]any)) == 0 ||
		out["valid"] != false {
		t.Errorf("of nothing came a plan without questions: %v", out)
	}
}

func TestMissingProgramNamesInstallation(t *testing.T) {
	d := newDesk(t)
	d.paper.version = ""
	if known := d.wantCode(studio.Missing, access.RoleGM, "add_object", cube); !strings.Contains(known.Message,
		"buy some") {
		t.Errorf("it says %q", known.Message)
	}
	out := d.do(access.RoleUser, "list_targets", `{}`)
	if first := out["targets"].([]any)[0].(map[string]any); first["ready"] != false ||
		!strings.Contains(first["missing"].(string), "buy some") {
		t.Errorf("targets %v", out)
	}
}

func TestProtocolVersion(t *testing.T) {
	d := newDesk(t)
	d.do(access.RoleGM, "list_objects", `{"protocol_version": "1.7.0"}`)
	d.wantCode(studio.Validation, access.RoleGM, "list_objects", `{"protocol_version": "2.0.0"}`)
}

// Every tool is declared completely: an adapter that supports it, a note of every adapter, an
// example that its schema accepts, a version, and an operation.
func TestToolRegistryIsComplete(t *testing.T) {
	d := newDesk(t)
	out := d.do(access.RoleUser, "mcp.list_commands", `{}`)
	if same := d.do(access.RoleUser, "mcp_list_commands", `{}`); fmt.Sprint(same) != fmt.Sprint(out) {
		t.Error("the two names of list_commands differ")
	}
	for _, c := range out["commands"].([]any) {
		name := c.(map[string]any)["name"].(string)
		help := d.do(access.RoleUser, "mcp.help", `{"command_name": "`+name+`"}`)
		examples := help["examples"].([]any)
		if help["version"] == "" || len(examples) == 0 || help["input_schema"] == nil {
			t.Errorf("%s is not declared whole", name)
		}
		o, ok := d.ops.Find(name)
		if !ok {
			t.Errorf("%s has no operation", name)
			continue
		}
		for _, e := range examples {
			if _, err := o.Check([]byte(e.(map[string]any)["input"].(string))); err != nil {
				t.Errorf("%s: its example: %v", name, err)
			}
		}
		does := false
		for _, a := range help["adapters"].([]any) {
			does = does || a.(map[string]any)["does"] == true
		}
		if !does {
			t.Errorf("nothing carries %s out", name)
		}
	}
	d.wantCode(studio.ToolNotFound, access.RoleUser, "mcp.help", `{"command_name": "nothing"}`)
}

// A secret of the environment appears in no record, log, manifest or error.
func TestSecretsStayOut(t *testing.T) {
	const secret = "s3cr3t-of-the-surroundings"
	t.Setenv("LOREGATE_KEY_FOR_TEST", secret)
	d := newDesk(t)
	d.paper.fail = fmt.Errorf("failed with %s", secret)
	_, err := d.try(access.RoleGM, "add_object", cube)
	d.do(access.RoleGM, "export_asset", `{"format": "glb"}`)
	if strings.Contains(fmt.Sprint(fault.Show(err, "c")), secret) {
		t.Error("an error shows it")
	}
	_ = filepath.WalkDir(filepath.Join(d.data, "studio"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), secret) {
				t.Errorf("%s holds it", path)
			}
		}
		return nil
	})
}

func TestPreviewIsAttached(t *testing.T) {
	d := newDesk(t)
	answer, err := d.ops.Invoke(t.Context(), d.caller(access.RoleGM),
		op.Request{Operation: "render_preview", Surface: studio.Surface, Transport: "mcp"})
	if err != nil || len(answer.Reply.Images) != 1 || answer.Reply.Meta["loregate/envelope"] == nil {
		t.Errorf("images %v, meta %v, %v", answer.Reply.Images, answer.Reply.Meta, err)
	}
}

func TestPlanFiles(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\ncalls:\n  - tool: render_preview\n": "",
		"":                       "empty",
		"calls: []":              "name",
		"name: x\nseeed: 4\n":    "seeed",
		"name: x\ncalls: 7\n":    "cannot",
		"name: &a [*a]\n":        "cannot",
		strings.Repeat("a", 2e6): "larger",
	} {
		_, err := studio.ParsePlan([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

func FuzzPlanFile(f *testing.F) {
	f.Add("name: x\ncalls:\n  - tool: render_preview\n    with: {width: 3}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := studio.ParsePlan([]byte(text))
		if err == nil && p.Name == "" {
			t.Error("a plan without a name")
		}
	})
}

func BenchmarkRun(b *testing.B) {
	d := newDesk(b)
	for i := 0; b.Loop(); i++ {
		answer, err := d.ops.Invoke(context.Background(), d.caller(access.RoleGM),
			op.Request{Operation: "list_objects", Surface: studio.Surface,
				Input: fmt.Appendf(nil, `{"target": "blender", "offset": %d}`, i), Transport: "mcp"})
		if err != nil || answer == nil {
			b.Fatal(err)
		}
	}
}

// A run can be followed: progress while it is under way, and its end.
func TestFollow(t *testing.T) {
	d := newDesk(t)
	d.paper.hold, d.paper.entered = make(chan struct{}), make(chan struct{}, 1)
	var wait sync.WaitGroup
	wait.Go(func() { d.do(access.RoleGM, "add_object", cube) })
	<-d.paper.entered
	id := d.do(access.RoleGM, "list_runs", `{"status": "running"}`)["runs"].([]any)[0].(map[string]any)["run_id"].(string)
	follow := func(role access.Role) (*op.Stream, error) {
		return d.ops.Follow(t.Context(), d.caller(role),
			op.FeedRequest{Ask: op.Ask{Surface: studio.Surface, Transport: "rest"}, Feed: d.ops.Feeds()[0],
				Vars: map[string]string{"run_id": id}})
	}
	if _, err := follow(access.RoleUser); !errors.Is(err, fault.NotFound) {
		t.Errorf("a user follows a run of the GM: %v", err)
	}
	stream, err := follow(access.RoleGM)
	if err != nil {
		t.Fatal(err)
	}
	close(d.paper.hold)
	var seen []string
	for m, err := range stream.Messages {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, m.Event)
	}
	wait.Wait()
	if len(seen) == 0 || seen[len(seen)-1] != "ended" {
		t.Errorf("followed: %v", seen)
	}
}

// The list of runs can be followed: a run is told of when it begins, and when it ends, to those who see it.
func TestFollowAllRuns(t *testing.T) {
	d := newDesk(t)
	d.paper.hold, d.paper.entered = make(chan struct{}), make(chan struct{}, 1)
	follow := func(role access.Role) func() string {
		stream, err := d.ops.Follow(t.Context(), d.caller(role),
			op.FeedRequest{Ask: op.Ask{Surface: studio.Surface, Transport: "rest"}, Feed: d.ops.Feeds()[1]})
		if err != nil {
			t.Fatal(err)
		}
		next, stop := iter.Pull2(stream.Messages)
		t.Cleanup(func() { stop(); stream.Close(nil) })
		return func() string {
			m, err, ok := next()
			if err != nil || !ok || m.Event != "runs" {
				t.Fatalf("%v %v %v", m, err, ok)
			}
			return string(m.Data)
		}
	}
	gm, user := follow(access.RoleGM), follow(access.RoleUser)
	if got := gm(); got != `{"runs":[],"total":0}` || user() != got {
		t.Errorf("at first: %s", got)
	}
	var wait sync.WaitGroup
	wait.Go(func() { d.do(access.RoleGM, "add_object", cube) })
	<-d.paper.entered
	if got := gm(); !strings.Contains(got, `"status":"running"`) {
		t.Errorf("a run has begun: %s", got)
	}
	close(d.paper.hold)
	wait.Wait()
	for got := gm(); !strings.Contains(got, `"status":"ok"`); got = gm() {
		if !strings.Contains(got, `"progress"`) {
			t.Errorf("a run goes on: %s", got)
		}
	}
	d.do(access.RoleGM, "add_object", strings.Replace(cube, "{", `{"target": "blender:yard", "audience": "user", `, 1))
	if got := user(); strings.Count(got, `"run_id"`) != 1 {
		t.Errorf("a player is told %s", got)
	}
}
