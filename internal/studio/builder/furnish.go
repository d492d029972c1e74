package builder

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// placeProps places the props that the words name, in alphabetical order.
func (y *yard) placeProps() {
	for _, name := range slices.Sorted(maps.Keys(y.named)) {
		if y.lib.Things[name].Parts != nil && (name != "boat" || y.lib.Places[y.read.kind].Boats) {
			y.strewProps(name, y.named[name]-y.counts[name], y.front, true)
		}
	}
}

// strewProps places n props at free spots in an area. For props that the words name it widens a
// full area, and warns if that is not enough.
func (y *yard) strewProps(name string, n int, area [4]float64, named bool) {
	rnd, t := noise.NewSource(y.seed, name), y.lib.Things[name]
	for i := range n {
		mesh := y.variantMesh(name, i)
		at, ok := y.findSpot(rnd, area, t.Room)
		for wider := 0; !ok && named && wider < maxWider; wider++ {
			area = widenArea(area)
			at, ok = y.findSpot(rnd, area, t.Room)
		}
		if !ok {
			if named {
				y.warnings = append(y.warnings, fmt.Sprintf("there was room for %d of %d of %s", i, n, name))
			}
			return
		}
		y.addObject(name, mesh, at, rnd.Between(0, 2*math.Pi), rnd.Between(0.92, 1.1))
		y.lightLamp(t, at, 1)
	}
}

// stand is one thing at a position above the ground.
type stand struct {
	Thing      string
	Variant    number
	At         [3]number
	Turn, Size number
	Room       number // radius of the ground that it occupies, if it is not the thing's; 0: none
}

func (y *yard) addStand(st *stand) {
	t := y.lib.Things[st.Thing]
	mesh := y.variantMesh(st.Thing, int(y.eval(st.Variant, 0)))
	at, size := y.evalVec(&st.At), y.eval(st.Size, 1)
	at[2] += y.groundHeight(at[0], at[1])
	y.addObject(st.Thing, mesh, at, y.eval(st.Turn, 0), size)
	if room := y.eval(st.Room, t.Room*size); room > 0 {
		y.takeDisc(at[0], at[1], room)
	}
	y.lightLamp(t, at, size)
}

// watts returns the power of the thing's lamp.
func (t thing) watts() float64 { return cmp.Or(t.Watts, 90) }

// lightLamp adds the light of a thing's lamp in the dark.
func (y *yard) lightLamp(t thing, at scene.Vec, size float64) {
	if t.Lamp > 0 && y.style.Dark {
		y.addLamp(at.Add(scene.Vec{0, 0, t.Lamp * size}), t.watts())
	}
}

// maxWider bounds the widening of a full area for props that the words name.
const maxWider = 2

// widenArea returns the area with its width and depth enlarged by half.
func widenArea(a [4]float64) [4]float64 {
	w, d := (a[2]-a[0])/4, (a[3]-a[1])/4
	return [4]float64{a[0] - w, a[1] - d, a[2] + w, a[3] + d}
}

// variantMesh returns the mesh of the i-th thing of a name, which has a few variants, and makes the
// mesh at its first use.
func (y *yard) variantMesh(name string, i int) string {
	mesh := fmt.Sprintf("%s kind %d", name, i%max(y.lib.Things[name].Variants, 1))
	if !y.meshes[mesh] {
		p := &piece{}
		y.withSource(mesh, func() { y.addThing(p, &part{Use: name}) })
		y.useMesh(mesh, p)
	}
	return y.id + " " + mesh
}

// plant is a number of things in a ring sector behind the place.
type plant struct {
	Thing    string
	Count    int
	From, To float64 // radii of the ring
	Spread   float64 // half the sector's angle
}

func (y *yard) addPlants(l *plant) {
	rnd, t := noise.NewSource(y.seed, "around "+l.Thing), y.lib.Things[l.Thing]
	for i := range l.Count {
		a, r := rnd.Between(math.Pi/2-l.Spread, math.Pi/2+l.Spread), rnd.Between(l.From, l.To)
		x, yy := math.Cos(a)*r, math.Sin(a)*r
		mesh := y.variantMesh(l.Thing, i)
		if y.isFree(x, yy, t.Room) {
			y.takeDisc(x, yy, t.Room)
			y.addObject("far "+l.Thing, mesh, scene.Vec{x, yy, y.groundHeight(x, yy) - 0.1}, rnd.Between(0, 6.28),
				rnd.Between(0.85, 1.3))
		}
	}
}
