package build

import (
	"bytes"
	"image/jpeg"
	"math"
	"testing"

	"loregate/internal/studio/gltf/gltftest"
)

const shore = `
version: 1
name: shore
seed: 4
water: {level: -1.2}
ground:
  material: grass
  size: 80
  hills: 3
  horizon: true
  ridges: [{along: [[-40, 30], [40, 34]], height: 14, width: 16}]
  steps: [{along: [[40, -24], [-40, -24]], height: -6, width: 10}]
  rivers: [{along: [[-30, 30], [-10, 5], [0, -30]], width: 4, depth: 0.8, level: [6, -1.2]}]
  layers:
    - {material: rock, slope: [32, 90]}
    - {material: sand, height: [-20, -0.6]}
  paths: [{along: [[-30, -10], [30, -8]], width: 3, material: earth}, {along: [[10, 0], [20, 12]], material: cobbles}]
parts:
  trees: {plant: {kind: oak}, repeat: {scatter: {area: [-30, -20, 30, 20], count: 12, apart: 3}}}
  reeds: {plant: {kind: reed}, at: [14, 2]}
`

// The land has the shapes that its description names, and its materials where slope and height suit
// them.
func TestRelief(t *testing.T) {
	m := built(t, parsed(t, shore))
	for _, row := range []struct {
		name       string
		x, y       float64
		low, high  float64
		underWater bool
	}{
		{"crest", 0, 32, 8, 30, false},
		{"sea", 20, -38, -9, -4, true},
		{"river", -10, 5, -1, 3, true},
		{"bank", 10, 0, -2, 3, false},
	} {
		h := m.height(row.x, row.y)
		level, wet := m.water(row.x, row.y)
		if h < row.low || h > row.high || (wet && h < level) != row.underWater {
			t.Errorf("%s: height %.2f, water %.2f %v", row.name, h, level, wet)
		}
	}
	for _, n := range m.Nodes {
		if n.Thing < 0 || m.Things[n.Thing].Kind != "oak" {
			continue
		}
		level, wet := m.water(n.Location[0], n.Location[1])
		if wet && n.Location[2] < level {
			t.Errorf("%s stands in water", n.Path)
		}
	}
	gltftest.Check(t, "shore", encoded(t, m))
}

// The texture of the land is the same for the same scene, differs between its materials, and does not
// repeat.
func TestLandTexture(t *testing.T) {
	paint := func() []byte {
		m := built(t, parsed(t, shore))
		for _, mesh := range m.Meshes {
			if mesh.texture != nil {
				b, err := mesh.texture(paints)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
		}
		t.Fatal("the land has no texture")
		return nil
	}
	first := paint()
	if !bytes.Equal(first, paint()) {
		t.Error("the texture differs from itself")
	}
	im, err := jpeg.Decode(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	n := im.Bounds().Dx()
	r1, g1, b1, _ := im.At(n/2, n/20).RGBA()    // the ridge in the north: rock
	r2, g2, b2, _ := im.At(n/2, n*19/20).RGBA() // the bottom of the sea: sand
	if r2 <= r1 || r2 < b2 || g1 > r1*3/2 {
		t.Errorf("rock %v %v %v, sand %v %v %v", r1, g1, b1, r2, g2, b2)
	}
}

func TestSpan(t *testing.T) {
	for _, s := range []span{newSpan(-80, 80, 0, 30), newSpan(-80, 80, 60, 30), newSpan(-10, 10, 0, 30),
		newSpan(-10, 10, 500, 3)} {
		for x := s.low; x <= s.high; x += 0.7 {
			u := s.toTexture(x)
			if back := s.toMetres(u); u < 0 || u > 1 || math.Abs(back-x) > 1e-6 {
				t.Errorf("%v: %v is at %v, back %v", s, x, u, back)
			}
		}
	}
}

// A file for engines has bodies for collisions, simpler plants and shared nodes, and is sound.
func TestGameFile(t *testing.T) {
	m := built(t, parsed(t, shore+`  pines: {plant: {kind: pine}, repeat: {row: {count: 9, step: [2, 0]}, vary: {variants: 1}}, at: [-12, 14]}
  keep: {tower: {radius: 3, height: 9, door: true}, at: [14, 12]}
`))
	b, err := m.GameGLB(paints)
	if err != nil {
		t.Fatal(err)
	}
	gltftest.Check(t, "game", b)
	for _, want := range []string{`"EXT_mesh_gpu_instancing"`, `"MSFT_lod"`, `-colonly"`, `"MSFT_screencoverage"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("there is no %s", want)
		}
	}
	plain := encoded(t, m)
	if bytes.Contains(plain, []byte("MSFT_lod")) || bytes.Contains(plain, []byte("colonly")) {
		t.Error("a plain file has them, too")
	}
}
