package godot4

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"loregate/internal/studio/build"
	"loregate/internal/studio/spec"
)

func made(t testing.TB) map[string][]byte {
	t.Helper()
	s, err := spec.Parse([]byte(`{version: 1, name: yard, parts: {keep: {tower: {radius: 3, height: 9, door: true}}},
  cameras: {main: {main: true}, gate: {look_at: keep}},
  markers: {spawn: {kind: spawn, at: [8, 0], turn: 90}, gate: {kind: door, at: [0, -5]}, pit: {kind: trigger, at: [5, 5]},
    bell: {kind: sound, at: [0, 0, 9], note: 'a "bell"'}}}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := build.Build(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(m, []byte("glTF"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func ExampleCheck() {
	fmt.Println(Check(map[string][]byte{"a.gd": []byte("extends Node\nonready var x = 1\n")}))
	// Output: godot4: a.gd: line 2: is GDScript 1
}

// A project has its files, twice the same bytes, and nodes for cameras and markers.
func TestFiles(t *testing.T) {
	files := made(t)
	if got := slices.Sorted(maps.Keys(files)); len(got) != 5 {
		t.Errorf("%v", got)
	}
	text := string(files["yard.tscn"])
	for _, want := range []string{`[gd_scene load_steps=6 format=3 uid="uid://`, `[node name="spawn" type="Marker3D" parent="."]`,
		`[node name="gate" type="Area3D" parent="." groups=["triggers"]]`, `type="Camera3D"`, `metadata/note = "a \"bell\""`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	a, err := Zip(files)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Zip(made(t)); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the bytes differ: %v", err)
	}
}

// Faults of each kind are found.
func TestCheck(t *testing.T) {
	for name, change := range map[string][3]string{
		"format":   {"yard.tscn", "format=3", "format=2"},
		"parent":   {"yard.tscn", `parent="gate"`, `parent="gone"`},
		"resource": {"yard.tscn", `SubResource("Environment_1")`, `SubResource("Environment_2")`},
		"steps":    {"yard.tscn", "load_steps=6", "load_steps=5"},
		"value":    {"yard.tscn", "background_mode = 1", "background_mode = one"},
		"list":     {"yard.tscn", "Vector3(2.0, 2.5, 2.0)", "Vector3(2.0, 2.5, 2.0"},
		"file":     {"yard.tscn", `"res://yard.glb"`, `"res://gone.glb"`},
		"import":   {"yard.glb.import", "importer_version=1", "importer_version"},
		"spaces":   {"yard.gd", "\tentered.emit", "    entered.emit"},
		"old":      {"yard.gd", "@export var", "export var"},
		"brackets": {"yard.gd", "left.emit(marker, body)", "left.emit(marker, body"},
		"block":    {"yard.gd", "\tleft.emit(marker, body)\n", ""},
	} {
		files := made(t)
		old := files[change[0]]
		files[change[0]] = bytes.Replace(old, []byte(change[1]), []byte(change[2]), 1)
		if bytes.Equal(old, files[change[0]]) {
			t.Fatalf("%s: there is no %s", name, change[1])
		}
		if Check(files) == nil {
			t.Errorf("%s: the fault is not found", name)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, data := range made(f) {
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 100_000 {
			_ = Check(map[string][]byte{"a.tscn": []byte(text), "b.gd": []byte(text), "c.import": []byte(text)})
		}
	})
}
