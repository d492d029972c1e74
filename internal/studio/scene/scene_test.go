package scene

import (
	"crypto/sha256"
	"fmt"
	"math"
	"testing"
)

func Example() {
	s := &Script{}
	s.Mesh("Crate", Box(1, 1, 1))
	s.Object("Crate", "Crate", "", Transform{Location: Vec{0, 0, 2}})
	fmt.Println(len(s.Ops), s.Err())
	// Output: 2 <nil>
}

// Solids are closed: each edge occurs once in either direction.
func TestSolidsAreClosed(t *testing.T) {
	for name, m := range map[string]*Mesh{"box": Box(1, 2, 3), "frustum": Frustum(2, 2, 1, 1, 3),
		"cylinder": Cylinder(1, 2, 12), "cone": Cone(1, 2, 12), "sphere": Sphere(1, 12, 8), "torus": Torus(1, 0.3, 12, 6)} {
		edges := map[[2]int]int{}
		for _, f := range m.F {
			for i, a := range f.V {
				edges[[2]int{a, f.V[(i+1)%len(f.V)]}]++
			}
			if f.UV != nil && len(f.UV) != len(f.V) {
				t.Errorf("%s: %d corners have %d coordinates", name, len(f.V), len(f.UV))
			}
		}
		for e, n := range edges {
			if n != 1 || edges[[2]int{e[1], e[0]}] != 1 {
				t.Errorf("%s: edge %v is met %d times, back %d", name, e, n, edges[[2]int{e[1], e[0]}])
			}
		}
		if v := volume(m); v <= 0 {
			t.Errorf("%s is inside out: volume %f", name, v)
		}
	}
}

// volume returns the volume of a closed mesh; it is greater than 0 if the faces point outwards.
func volume(m *Mesh) float64 {
	v := 0.0
	for _, f := range m.F {
		for i := 2; i < len(f.V); i++ {
			a, b, c := m.V[f.V[0]], m.V[f.V[i-1]], m.V[f.V[i]]
			v += dot(a, b.Cross(c)) / 6
		}
	}
	return v
}

func TestPackedBytesAreStable(t *testing.T) {
	m := Sphere(1, 8, 4).At(Gable(4, 3, 2, 0.3), Vec{1, 2, 3}, 1)
	sum := sha256.Sum256(m.Pack())
	const want = "c1d5aa70c08c5a24"
	if got := fmt.Sprintf("%x", sum[:8]); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", " x", "a/b", "a\x00", "ä", "a\n", "../a", string(make([]byte, 80))} {
		s := &Script{}
		s.Object(name, "", "", Transform{})
		if s.Err() == nil {
			t.Errorf("%q was taken", name)
		}
	}
	s := &Script{}
	s.Object("A", "", "", Transform{})
	s.Object("A", "", "", Transform{})
	if s.Err() == nil {
		t.Error("a name was taken twice")
	}
}

func TestHeights(t *testing.T) {
	m := Grid(5, 2, func(x, y int) float64 { return float64(x + 10*y) })
	h, err := Heights(m.Pack())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][3]float64{{-4, -4, 0}, {4, 4, 44}, {0, 0, 22}, {1, 0, 22.5}, {-99, 99, 40}} {
		if got := h(row[0], row[1]); math.Abs(got-row[2]) > 1e-6 {
			t.Errorf("at %v, %v: %v, not %v", row[0], row[1], got, row[2])
		}
	}
	for _, bad := range [][]byte{nil, Box(1, 1, 1).Pack(), m.Pack()[:40]} {
		if _, err := Heights(bad); err == nil {
			t.Error("what is no grid has heights")
		}
	}
}

// The whole box is inside the picture.
func TestFrame(t *testing.T) {
	var b Box3
	b.Grow(Vec{-3, -2, 0})
	b.Grow(Vec{5, 4, 9})
	for _, from := range []Vec{{0.5, -1, 0.3}, {-1, -1, 0.1}, {0, -1, 2}} {
		c := Frame(b, from, 35)
		f := from.Mul(1 / from.Len())
		side := Vec{-f[1], f[0], 0}
		side = side.Mul(1 / side.Len())
		up := f.Cross(side)
		for i := range 8 {
			p := b.Low
			for k := range p {
				if i>>k&1 == 1 {
					p[k] = b.High[k]
				}
			}
			d := p.Sub(c.Location)
			depth := -dot(d, f)
			if x, y := math.Abs(dot(d, side))/depth, math.Abs(dot(d, up))/depth; depth <= 0 || x > 18.0/35 || y > 18.0/35*9/16 {
				t.Errorf("from %v corner %v is out of the picture", from, p)
			}
		}
	}
}
