package build

import (
	"strings"
	"testing"

	"loregate/internal/studio/gltf"
)

// The file of a scene has no changes; a body that was taken apart, and a mesh of another size, are errors that name
// the part.
func TestReadHand(t *testing.T) {
	base := parsed(t, yard(`{keep: {tower: {radius: 3, height: 9, door: true}, at: [4, 2], turn: 30},
 row: {parts: {posts: {box: {size: [1, 1, 2]}, at: [-6, 0], repeat: {row: {count: 4, step: [0, 2]}}}}, turn: 90}}`))
	m := built(t, base)
	glb, err := m.GLB(paints)
	if err != nil {
		t.Fatal(err)
	}
	read := func(change func(p *gltf.Place)) (Hand, error) {
		places, err := gltf.Places(glb)
		if err != nil {
			t.Fatal(err)
		}
		for i := range places {
			change(&places[i])
		}
		return ReadHand(base, places, nil)
	}
	move := func(p *gltf.Place, x float64) {
		for k := range p.Points {
			p.Points[k][0] += x
		}
	}
	same, err := read(func(*gltf.Place) {})
	if err != nil || len(same.Added) > 0 {
		t.Fatalf("%v, %v", same.Added, err)
	}
	hand, err := read(func(p *gltf.Place) {
		if strings.HasPrefix(p.Name, "keep") || p.Name == "row.posts.3" {
			move(p, 2)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	keep, _ := hand.Scene.PartAt("keep")
	post, _ := hand.Scene.PartAt("row.posts.3")
	if keep.At[0] != 6 || keep.At[1] != 2 || keep.Turn != 30 || post.At[0] != -2 && post.At[1] > 2.01 {
		t.Errorf("keep %v %v, post %v", keep.At, keep.Turn, post.At)
	}
	if _, err = read(func(p *gltf.Place) {
		if p.Name == "row.posts.2" {
			p.Size[1] *= 2
		}
	}); err == nil || !strings.Contains(err.Error(), "row.posts.2") {
		t.Errorf("another size: %v", err)
	}
	if _, err = read(func(p *gltf.Place) {
		if p.Name == "row.posts.2" {
			p.Points[2][0] += 0.8
		}
	}); err == nil || !strings.Contains(err.Error(), "row.posts.2") {
		t.Errorf("a tilt: %v", err)
	}
}
