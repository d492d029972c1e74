package studiotest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/studio"
)

// byHand changes a file in Blender as a person would: it moves the well and one barrel, turns the cart, deletes a crate
// and adds a cone.
const byHand = `
import bpy, sys
import numpy
numpy.bool = bool  # the add-on for glTF asks for the old name
from math import radians
source, out = sys.argv[-2:]
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.import_scene.gltf(filepath=source)
move = lambda name, x, y: setattr(bpy.data.objects[name], "location", bpy.data.objects[name].location + __import__("mathutils").Vector((x, y, 0)))
move("well", 2.0, 1.5)
move("barrels.2", 0.0, 1.25)
cart = bpy.data.objects["cart"]
cart.rotation_mode = "XYZ"
cart.rotation_euler[2] += radians(40)
bpy.data.objects.remove(bpy.data.objects["crates.1"])
bpy.ops.mesh.primitive_cone_add(location=(3, -6, 1))
bpy.context.object.name = "Marker cone"
bpy.ops.export_scene.gltf(filepath=out, export_format="GLB", export_lights=True, export_cameras=True, export_extras=True)
`

const yardOfParts = `
version: 1
name: yard
ground: {material: grass, size: 40}
parts:
  well: {prop: {kind: well}, at: [-6, -4]}
  cart: {prop: {kind: cart}, at: [5, 4]}
  house: {house: {size: [6, 5]}, at: [0, 8]}
  barrels: {prop: {kind: barrel}, at: [6, -3], repeat: {row: {count: 3, step: [1.2, 0]}}}
  crates: {prop: {kind: crate}, at: [-3, 2], repeat: {row: {count: 2, step: [1.6, 0]}}}
`

// A scene is changed by hand in Blender and then rebuilt from a new plan: moved, turned, deleted and added parts stay
// so. A part that the plan moved elsewhere is a conflict that names it with both places, and nothing is merged.
func TestHandEditsSurvive(t *testing.T) {
	requirePrograms(t, "blender")
	models := t.TempDir()
	g := newStage(t, "LOREGATE_STUDIO_ROOTS=models="+models).connect(access.RoleGM)
	result := func(tool string, args map[string]any) map[string]any {
		t.Helper()
		res, out := g.call(tool, args)
		if res.IsError {
			t.Fatalf("%s: %s", tool, text(res))
		}
		return out["result"].(map[string]any)
	}
	built := result("scene_spec", map[string]any{"text": yardOfParts, "action": "build"})
	editInBlender(t, g.artifact(built["glb"].(string)), filepath.Join(models, "yard.glb"))
	planned := result("scene_edit", map[string]any{"spec": built["spec"], "edits": []map[string]any{
		{"do": "set", "path": "house", "value": map[string]any{"house": map[string]any{"storeys": 2}}},
		{"do": "add", "path": "lamp", "value": map[string]any{"prop": map[string]any{"kind": "lamp"}, "at": []int{9, 9}}}}})

	merged := result(
		"scene_merge",
		map[string]any{"base": built["spec"], "spec": planned["spec"], "path": "models/yard.glb"},
	)
	if merged["merged"] != true || len(merged["kept"].([]any)) != 4 || fmt.Sprint(merged["added"]) != "[Marker cone]" ||
		len(merged["digest"].(string)) != 64 {
		t.Fatalf("scene_merge: %v", merged)
	}
	diff := fmt.Sprint(result("scene_diff", map[string]any{"from": planned["spec"], "to": merged["spec"]})["changes"])
	for _, want := range []string{"path:well", "[-4 -2.5", "path:cart", "turn:40", "path:barrels", "path:crates"} {
		if !strings.Contains(diff, want) {
			t.Errorf("the merged scene lacks %q: %s", want, diff)
		}
	}
	counts := merged["counts"].(map[string]any)
	if counts["crate"] != 1.0 || counts["lamp"] != 1.0 || counts["barrel"] != 3.0 {
		t.Errorf("%v", counts)
	}

	result("generate_scene", map[string]any{"spec": merged["spec"], "replace": true})
	result("import_asset", map[string]any{"target": "blender", "manifest": merged["additions"], "name": "by_hand"})
	where := map[string]string{}
	for _, o := range result("list_objects", map[string]any{"target": "blender"})["objects"].([]any) {
		object := o.(map[string]any)
		where[object["name"].(string)] = fmt.Sprintf("%.2f", object["location"])
	}
	if where["yard well"] != "[-4.00 -2.50 0.00]" || where["by_hand Marker cone"] != "[3.00 -6.00 1.00]" ||
		where["yard crates.1"] != "" || where["yard barrels.2"] != "[7.20 -1.75 0.00]" {
		t.Errorf("in Blender: %v", where)
	}

	moved := result("scene_edit", map[string]any{"spec": built["spec"], "edits": []map[string]any{
		{"do": "move", "path": "well", "at": []int{8, 8}}}})
	conflict := map[string]any{"base": built["spec"], "spec": moved["spec"], "path": "models/yard.glb"}
	refused := result("scene_merge", conflict)
	if said := fmt.Sprint(refused["conflicts"]); refused["merged"] != false || refused["spec"] != nil ||
		!strings.Contains(
			said,
			"path:well",
		) || !strings.Contains(said, "hand:[-4 -2.5") || !strings.Contains(said, "plan:[8 8]") {
		t.Errorf("a conflict: %v", refused)
	}
	conflict["prefer"] = "hand"
	if by := result("scene_merge", conflict); by["merged"] != true || by["spec"] == nil {
		t.Errorf("by hand: %v", by)
	}
}

// byHandInBlend changes a .blend file that export_asset wrote: it moves the well, deletes a crate and adds a cone. The
// text block would run when the file is opened, if scripts were allowed.
const byHandInBlend = `
import bpy, sys
file, touched = sys.argv[-2:]
bpy.ops.wm.open_mainfile(filepath=file)
bpy.data.objects["yard well"].location.x += 2
bpy.data.objects.remove(bpy.data.objects["yard crates.1"])
bpy.ops.mesh.primitive_cone_add(location=(3, -6, 1))
bpy.context.object.name = "Marker cone"
script = bpy.data.texts.new("harm.py")
script.write("open(%r, 'w').close()" % touched)
script.use_module = True
bpy.ops.wm.save_mainfile()
`

// The same for a .blend file, which Blender reads without the scripts in it. Its digest is that of the .blend file.
func TestHandEditsOfBlendSurvive(t *testing.T) {
	requirePrograms(t, "blender")
	models := t.TempDir()
	g := newStage(t, "LOREGATE_STUDIO_ROOTS=models="+models).connect(access.RoleGM)
	result := func(tool string, args map[string]any) map[string]any {
		t.Helper()
		res, out := g.call(tool, args)
		if res.IsError {
			t.Fatalf("%s: %s", tool, text(res))
		}
		return out["result"].(map[string]any)
	}
	put := result("scene_spec", map[string]any{"text": yardOfParts})
	result("generate_scene", map[string]any{"spec": put["spec"]})
	result("export_asset", map[string]any{"format": "blend", "path": "models/yard.blend"})
	file, touched := filepath.Join(models, "yard.blend"), filepath.Join(t.TempDir(), "touched")
	runInBlender(t, byHandInBlend, file, touched)
	planned := result("scene_edit", map[string]any{"spec": put["spec"], "edits": []map[string]any{
		{"do": "add", "path": "lamp", "value": map[string]any{"prop": map[string]any{"kind": "lamp"}, "at": []int{9, 9}}}}})
	merge := map[string]any{"base": put["spec"], "spec": planned["spec"], "path": "models/yard.blend"}
	merged := result("scene_merge", merge)
	counts := merged["counts"].(map[string]any)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if merged["merged"] != true || len(merged["kept"].([]any)) != 2 || fmt.Sprint(merged["added"]) != "[Marker cone]" ||
		merged["digest"] != studio.SumOf(data).String() || counts["crate"] != 1.0 || counts["lamp"] != 1.0 {
		t.Errorf("scene_merge: %v", merged)
	}
	diff := fmt.Sprint(result("scene_diff", map[string]any{"from": planned["spec"], "to": merged["spec"]})["changes"])
	if !strings.Contains(diff, "path:well") || !strings.Contains(diff, "[-4 -4") {
		t.Errorf("the merged scene: %s", diff)
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a script of the file ran")
	}
	moved := result("scene_edit", map[string]any{"spec": put["spec"], "edits": []map[string]any{
		{"do": "move", "path": "well", "at": []int{8, 8}}}})
	merge["spec"] = moved["spec"]
	if refused := result("scene_merge", merge); refused["merged"] != false || len(refused["conflicts"].([]any)) != 1 {
		t.Errorf("a conflict: %v", refused)
	}
	if err := os.WriteFile(file, []byte("BLENDER but no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res, _ := g.call("scene_merge", merge); !res.IsError {
		t.Error("a broken .blend file was merged")
	}
}

// artifact downloads an artifact.
func (g *mcpClient) artifact(id string) []byte {
	g.t.Helper()
	res, err := g.http.Get(g.url + "/api/studio/artifacts/" + id)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		g.t.Fatalf("artifact %s: %s, %v", id, res.Status, err)
	}
	return data
}

// editInBlender has Blender open a file, change it and write it.
func editInBlender(t *testing.T, glb []byte, to string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source.glb")
	if err := os.WriteFile(source, glb, 0o600); err != nil {
		t.Fatal(err)
	}
	runInBlender(t, byHand, source, to)
}

// runInBlender has Blender run a script with two arguments.
func runInBlender(t *testing.T, code, first, second string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "by_hand.py")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(
		t.Context(),
		"blender",
		"--background",
		"--factory-startup",
		"--python-exit-code",
		"9",
		"--python",
		script,
		"--",
		first,
		second,
	).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}
