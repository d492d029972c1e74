package plant

import (
	"fmt"
	"math"
	"reflect"
	"testing"
)

func Example() {
	oak := Grow("oak", 10, Summer, 1, 1)
	fmt.Println(oak.Trunk > 0.3, len(oak.Materials))
	// Output: true 4
}

// Every kind grows to a size that suits it, is the same for the same seed, and another for another.
func TestKinds(t *testing.T) {
	if len(Kinds()) < 8 {
		t.Fatalf("%d kinds", len(Kinds()))
	}
	for _, kind := range Kinds() {
		p := Grow(kind, 0, Summer, 5, 1)
		low, high := p.Mesh.Bounds()
		if size := high.Sub(low); size[2] < p.Height*0.5 || size[2] > p.Height*1.7 || len(p.Mesh.F) > 40_000 {
			t.Errorf("%s of %.1f m: %v, %d faces", kind, p.Height, size, len(p.Mesh.F))
		}
		if !reflect.DeepEqual(p, Grow(kind, 0, Summer, 5, 1)) {
			t.Errorf("%s differs from itself", kind)
		}
		if other := Grow(kind, p.Height, Summer, 6, 1); reflect.DeepEqual(p.Mesh.V, other.Mesh.V) {
			t.Errorf("%s is the same for another seed", kind)
		}
		if less := Grow(kind, 0, Summer, 5, 0.2); kind != "snag" && len(less.Mesh.F) >= len(p.Mesh.F) {
			t.Errorf("%s is not simpler with fewer leaves", kind)
		}
		for _, v := range p.Mesh.V {
			if math.IsNaN(v[0] + v[1] + v[2]) {
				t.Fatalf("%s has a point %v", kind, v)
			}
		}
	}
}

// Leaves fall in winter, except needles.
func TestSeasons(t *testing.T) {
	count := func(kind, season string) int { return len(Grow(kind, 0, season, 3, 1).Mesh.F) }
	if count("oak", Winter) >= count("oak", Autumn)/2 {
		t.Error("an oak keeps its leaves in winter")
	}
	if count("spruce", Winter) != count("spruce", Summer) {
		t.Error("a spruce loses needles")
	}
}
