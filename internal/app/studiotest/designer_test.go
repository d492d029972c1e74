package studiotest

import (
	"bytes"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
)

// maxDesignCalls is the number of calls in which a scene must be designed.
const maxDesignCalls = 12

// cellar is the first draft of a lighthouse keeper's cellar with a hidden door. It has the faults that a first draft
// has: a barrel stands in the stairs, the lamp floats, and the bookcase blocks the hidden door from within.
const cellar = `
version: 1
name: cellar
title: The keeper's cellar
brief: >-
  A lighthouse keeper's cellar with a hidden door: a vaulted room of stone below the tower. Stairs come down along the
  wall, barrels of oil stand in a row, and a door in the colour of the wall leads to the sea.
shows: {cellar: 1, stairs: 1, barrel: 5, hidden door: 1, table: 1, crate: 3, shelf: 1, lamp: 1, rope: 1}
seed: 3
light: {interior: true}
materials:
  damp: {base: stone, color: "#7d776b", wear: 0.2, wet: 0.4}
  floor: {base: cobbles, color: "#6a645a", wet: 0.3}
parts:
  cellar:
    is: cellar
    material: damp
    parts:
      floor: {box: {size: [9, 7, 0.3]}, at: [0, 0, -0.3], material: floor}
      walls:
        wall:
          along: [[-4.2, -3.2], [4.2, -3.2], [4.2, 3.2], [-4.2, 3.2]]
          closed: true
          height: 2.4
          thick: 0.6
          openings: [{kind: arch, wall: 1, at: 3.2, name: gap, size: [1, 1.9]}]
      vault: {vault: {size: [8.4, 6.4], rise: 1.3, thick: 0.3, form: barrel}, at: [0, 0, 2.4]}
      south: {extrude: {outline: [[-4.2, -0.2], [4.2, -0.2], [4.2, 0.2], [-4.2, 0.2]], height: 1.4}, at: [0, -3.2, 2.4]}
      north: {extrude: {outline: [[-4.2, -0.2], [4.2, -0.2], [4.2, 0.2], [-4.2, 0.2]], height: 1.4}, at: [0, 3.2, 2.4]}
  secret: {is: hidden door, door: {size: [0.96, 1.86], ajar: 24}, at: [4.2, 0, 0], turn: 90, material: damp, materials: {main: damp}}
  stairs: {is: stairs, stair: {height: 2.3, width: 1.2, length: 3.6}, at: [-3.2, 0.9], material: damp}
  barrels: {prop: {kind: barrel}, at: [-2.4, 2.3], repeat: {row: {count: 5, step: [1, 0]}, vary: {turn: 60}}}
  table: {prop: {kind: table}, at: [0.2, -0.6]}
  lamp: {is: lamp, prop: {kind: candelabra}, at: [0.2, -0.6, 1.4], scale: 0.4}
  shelf: {is: shelf, prop: {kind: bookcase}, at: [3.5, 0], turn: -90}
  crates: {prop: {kind: crate}, at: [-1.6, -2.4], repeat: {row: {count: 3, step: [1.2, 0]}, vary: {turn: 20}}}
  rope: {is: rope, lathe: {profile: [[0.2, 0], [0.42, 0.02], [0.46, 0.16], [0.42, 0.3], [0.2, 0.32]]}, at: [3, -2.3], material: straw}
  light: {is: glow, lamp: {watts: 130}, at: [0.2, -0.6, 2.1]}
  stair_light: {is: glow, lamp: {watts: 60, color: "#a9c6ff"}, at: [-3, -1.6, 2.6]}
cameras:
  main: {at: [-3.3, -2.7, 1.7], look: [1.6, 0.8, 1], lens: 20, main: true}
  door: {at: [0, -1.8, 1.6], look: [4.2, 0, 1], lens: 24}
markers:
  spawn: {kind: spawn, at: [-2, -1]}
  way_out: {kind: door, at: [3.3, 0.3]}
`

// designer is a scripted model: it has a draft and reads the answers.
type designer struct {
	*mcpClient
	calls int
}

// ask makes one call of the budget, through the door of the default set if the tool is not listed there.
func (d *designer) ask(tool string, args map[string]any) (*mcp.CallToolResult, map[string]any) {
	d.t.Helper()
	d.calls++
	res, out := d.call(tool, args)
	if res.IsError {
		d.t.Fatalf("%s: %s", tool, text(res))
	}
	if result, ok := out["result"].(map[string]any); ok {
		out = result
	}
	return res, out
}

// mend returns an edit for a finding, as a designer would do it who reads its kind and the two parts: things that float
// come down to the table, and of two parts in each other's way the lighter one moves, further in each round.
func mend(finding map[string]any, round int) map[string]any {
	step := 0.3 * float64(round+1)
	places := []struct {
		part string
		at   []float64
	}{{"shelf", []float64{3.6, 1.4 + step}}, {"barrels", []float64{-2.4 + 2*step, 2.3}},
		{"stairs", []float64{-3.2, 0.9 - 5.6*step}}, {"lamp", []float64{0.2, -0.6, 0.85}}}
	if finding["kind"] == "floats" {
		places = places[3:]
	}
	for _, p := range places {
		for _, of := range []string{"path", "with"} {
			name, _ := finding[of].(string)
			if top, _, _ := strings.Cut(name, "."); top == p.part {
				return map[string]any{"do": "move", "path": p.part, "at": p.at}
			}
		}
	}
	return nil
}

// A scripted designer builds a cellar with a hidden door over MCP in at most twelve calls: it finds the tool, writes a
// draft, mends the faults that scene_check reports, reads the description, and looks at two cameras. DESIGN names a file for a large picture.
func TestScriptedDesigner(t *testing.T) {
	requirePrograms(t, "blender")
	h := newStage(t)
	d := &designer{mcpClient: h.connectTo("/mcp/all", access.RoleGM)}
	found, _ := d.ask("find_operation", map[string]any{"words": "design a scene part by part"})
	if !strings.Contains(text(found), "scene_spec") {
		t.Fatalf("find_operation: %s", text(found))
	}
	_, put := d.ask("scene_spec", map[string]any{"text": cellar})
	id := put["spec"]
	_, checked := d.ask("scene_check", map[string]any{"spec": id})
	first := checked["findings"].([]any)
	if len(first) < 3 {
		t.Errorf("the faults of the draft are not found: %v", first)
	}
	for round := 0; checked["ok"] != true && d.calls < maxDesignCalls-3; round++ {
		edits, paths := []map[string]any{}, []any{}
		for _, f := range checked["findings"].([]any) {
			e := mend(f.(map[string]any), round)
			if e != nil && !slices.Contains(paths, e["path"]) {
				edits, paths = append(edits, e), append(paths, e["path"])
			}
		}
		_, edited := d.ask("scene_edit", map[string]any{"spec": id, "edits": edits})
		id = edited["spec"]
		_, checked = d.ask("scene_check", map[string]any{"spec": id})
	}
	if checked["ok"] != true {
		t.Fatalf("after %d calls: %v", d.calls, checked["findings"])
	}
	_, described := d.ask("scene_describe", map[string]any{"spec": id})
	counts := described["counts"].(map[string]any)
	for noun, n := range map[string]float64{"cellar": 1, "hidden door": 1, "stairs": 1, "barrel": 5, "shelf": 1} {
		if counts[noun] != n {
			t.Errorf("the description counts %v %s, not %v: %v", counts[noun], noun, n, counts)
		}
	}
	width, samples := 192, 2
	if os.Getenv("DESIGN") != "" {
		width, samples = 1536, 48
	}
	res, _ := d.ask("render_preview", map[string]any{"spec": id, "timeout_s": 600,
		"cameras": []string{"cellar camera.main", "cellar camera.door"}, "width": width, "height": width * 9 / 32,
		"samples": samples})
	if d.calls > maxDesignCalls {
		t.Errorf("%d calls", d.calls)
	}
	t.Logf("%d calls, %d faults mended", d.calls, len(first))
	for _, c := range res.Content {
		if im, ok := c.(*mcp.ImageContent); ok {
			if m, err := png.Decode(bytes.NewReader(im.Data)); err != nil || m.Bounds().Dx() != width {
				t.Errorf("the picture: %v", err)
			}
			if file := os.Getenv("DESIGN"); file != "" {
				if err := os.WriteFile(file, im.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			return
		}
	}
	t.Error("there is no picture")
}
