package godot4

import (
	"archive/zip"
	"bytes"
	"crypto/md5" // Godot names imported files by it
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loregate/internal/studio/build"
	"loregate/internal/studio/scene"
)

// Files returns the files of a project by their paths: a scene around the GLB file of the model, with its
// cameras, markers and environment.
func Files(m *build.Model, glb []byte) (map[string][]byte, error) {
	files := map[string][]byte{
		"project.godot":        []byte(projectText(m.Name)),
		m.Name + ".glb":        glb,
		m.Name + ".glb.import": []byte(importText(m.Name)),
		m.Name + ".tscn":       []byte(sceneText(m)),
		m.Name + ".gd":         []byte(scriptText),
	}
	return files, Check(files)
}

// Zip packs files: sorted, and with a fixed time, so that the same files give the same bytes.
func Zip(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate,
			Modified: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

func projectText(name string) string {
	return fmt.Sprintf("config_version=5\n\n[application]\n\nconfig/name=%s\nrun/main_scene=\"res://%s.tscn\"\n"+
		"config/features=PackedStringArray(\"4.2\")\n", strconv.Quote(name), name)
}

// uidOf returns the id of a resource: 63 bits of a hash in Godot's 34 digits.
func uidOf(path string) string {
	const digits = "abcdefghijklmnopqrstuvwxy012345678"
	sum := sha256.Sum256([]byte(path))
	n := binary.LittleEndian.Uint64(sum[:8]) & math.MaxInt64
	var text []byte
	for range 13 {
		text = append(text, digits[n%uint64(len(digits))])
		n /= uint64(len(digits))
	}
	return "uid://" + string(text)
}

func importText(name string) string {
	source := "res://" + name + ".glb"
	made := fmt.Sprintf("res://.godot/imported/%s.glb-%x.scn", name, md5.Sum([]byte(source)))
	return fmt.Sprintf(`[remap]

importer="scene"
importer_version=1
type="PackedScene"
uid="%s"
path="%s"

[deps]

source_file="%s"
dest_files=["%s"]

[params]

nodes/root_type="Node3D"
nodes/root_name="%s"
nodes/apply_root_scale=true
nodes/root_scale=1.0
meshes/ensure_tangents=true
meshes/generate_lods=true
meshes/create_shadow_meshes=true
meshes/light_baking=1
animation/import=false
import_script/path=""
_subresources={}
gltf/naming_version=1
gltf/embedded_image_handling=1
`, uidOf(source), made, source, made, name)
}

// scriptText is the script of every scene: it reports the triggers and doors that a body enters.
const scriptText = `extends Node3D

signal entered(marker: StringName, body: Node3D)
signal left(marker: StringName, body: Node3D)

@export var player: Node3D


func _ready() -> void:
	for area: Area3D in get_tree().get_nodes_in_group("triggers"):
		area.body_entered.connect(_on_body_entered.bind(area.name))
		area.body_exited.connect(_on_body_exited.bind(area.name))
	if player != null and has_node("spawn"):
		player.global_transform = get_node("spawn").global_transform


func _on_body_entered(body: Node3D, marker: StringName) -> void:
	entered.emit(marker, body)


func _on_body_exited(body: Node3D, marker: StringName) -> void:
	left.emit(marker, body)
`

// writer writes the text of a scene.
type writer struct {
	strings.Builder
	subs int
}

func (w *writer) section(tag string, properties ...string) {
	w.WriteString("[" + tag + "]\n")
	for _, p := range properties {
		w.WriteString(p + "\n")
	}
	w.WriteString("\n")
}

func number(x float64) string {
	text := strconv.FormatFloat(math.Round(x*1e5)/1e5+0, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func color(c [3]float64) string {
	return fmt.Sprintf("Color(%s, %s, %s, 1.0)", number(c[0]), number(c[1]), number(c[2]))
}

// transform returns a transform with Y up. Cameras look along their own -Z in both worlds.
func transform(t scene.Transform, looks bool) string {
	turn := func(v scene.Vec) scene.Vec {
		sx, cx := math.Sincos(t.Rotation[0])
		v = scene.Vec{v[0], v[1]*cx - v[2]*sx, v[1]*sx + v[2]*cx}
		sy, cy := math.Sincos(t.Rotation[1])
		return scene.Vec{v[0]*cy + v[2]*sy, v[1], v[2]*cy - v[0]*sy}.Turned(t.Rotation[2])
	}
	axes := []scene.Vec{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}
	if looks {
		axes = []scene.Vec{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	}
	var columns [3]scene.Vec
	for i, a := range axes {
		v := turn(a)
		columns[i] = scene.Vec{v[0], v[2], -v[1]}
	}
	parts := []string{}
	for row := range 3 {
		for _, c := range columns {
			parts = append(parts, number(c[row]))
		}
	}
	at := t.Location
	parts = append(parts, number(at[0]), number(at[2]), number(-at[1]))
	return "transform = Transform3D(" + strings.Join(parts, ", ") + ")"
}

func node(name, kind, parent string) string {
	return fmt.Sprintf("node name=%q type=%q parent=%q", name, kind, parent)
}

// sceneText returns the text of the scene.
func sceneText(m *build.Model) string {
	body := &writer{}
	body.section(fmt.Sprintf("node name=%q type=\"Node3D\"", m.Name), `script = ExtResource("2_script")`)
	body.section(`node name="model" parent="." instance=ExtResource("1_model")`)
	body.section(node("environment", "WorldEnvironment", "."), `environment = SubResource("Environment_1")`)
	for i, c := range m.Cameras {
		properties := []string{transform(c.Transform, true), "fov = " + number(math.Atan(18*9.0/16/c.Lens)*360/math.Pi)}
		if i == 0 {
			properties = append(properties, "current = true")
		}
		body.section(node("camera_"+c.Name, "Camera3D", "."), properties...)
	}
	shapes := &writer{}
	for _, k := range m.Markers {
		at := transform(scene.Transform{Location: k.At, Rotation: scene.Vec{0, 0, k.Turn}}, false)
		note := fmt.Sprintf("metadata/kind = %q", k.Kind)
		switch k.Kind {
		case "trigger", "door":
			shapes.subs++
			id := fmt.Sprintf("BoxShape3D_%d", shapes.subs)
			shapes.section(fmt.Sprintf("sub_resource type=\"BoxShape3D\" id=%q", id), "size = Vector3(2.0, 2.5, 2.0)")
			body.section(fmt.Sprintf("node name=%q type=\"Area3D\" parent=\".\" groups=[\"triggers\"]", k.Name), at, note)
			body.section(node("shape", "CollisionShape3D", k.Name),
				"transform = Transform3D(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.25, 0.0)",
				fmt.Sprintf("shape = SubResource(%q)", id))
		case "sound":
			body.section(node(k.Name, "AudioStreamPlayer3D", "."), at, note, fmt.Sprintf("metadata/note = %q", k.Note))
		default:
			body.section(node(k.Name, "Marker3D", "."), at, note)
		}
	}
	head := &writer{}
	head.section(fmt.Sprintf("gd_scene load_steps=%d format=3 uid=%q", 4+shapes.subs, uidOf("res://"+m.Name+".tscn")))
	head.section(fmt.Sprintf("ext_resource type=\"PackedScene\" uid=%q path=\"res://%s.glb\" id=\"1_model\"",
		uidOf("res://"+m.Name+".glb"), m.Name))
	head.section(fmt.Sprintf("ext_resource type=\"Script\" path=\"res://%s.gd\" id=\"2_script\"", m.Name))
	sky := [3]float64{0.45, 0.6, 0.8}
	if m.Sky.Color != nil {
		sky = *m.Sky.Color
	}
	head.section(`sub_resource type="Environment" id="Environment_1"`, "background_mode = 1", "background_color = "+color(sky),
		"ambient_light_source = 2", "ambient_light_color = "+color(sky), "tonemap_mode = 3")
	return head.String() + shapes.String() + body.String()
}
