package build

import (
	"math"

	"loregate/internal/slicesx"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// relief is the shape of the land.
type relief struct {
	ground *spec.Ground
	hills  *noise.Fractal
	rough  *noise.Fractal
	rivers []river
	steps  [][][2]float64 // lines of the steps
	ridges [][][2]float64
}

// river is a river with its smoothed line.
type river struct {
	spec.River
	line   [][2]float64
	length float64
}

func newRelief(s *spec.Scene) *relief {
	g := s.Ground
	r := &relief{ground: g, hills: noise.NewFractal(uint64(s.Seed)+5, 5, 4),
		rough: noise.NewFractal(uint64(s.Seed)+6, 8, 5)}
	r.rivers = slicesx.Map(g.Rivers, func(one spec.River) river {
		if one.Level == ([2]float64{}) {
			one.Level = [2]float64{-0.5, -0.5}
		}
		line := smoothLine(one.Along)
		return river{one, line, spec.PathLength(line)}
	})
	r.ridges = slicesx.Map(g.Ridges, func(one spec.Ridge) [][2]float64 { return smoothLine(one.Along) })
	r.steps = slicesx.Map(g.Steps, stepLine)
	return r
}

// smoothLine returns a line through the points without corners, as a Catmull-Rom spline.
func smoothLine(p [][2]float64) [][2]float64 {
	const pieces = 4
	if len(p) < 3 {
		return p
	}
	at := func(i int) [2]float64 { return p[min(max(i, 0), len(p)-1)] }
	out := [][2]float64{p[0]}
	for i := range len(p) - 1 {
		a, b, c, d := at(i-1), at(i), at(i+1), at(i+2)
		for k := 1; k <= pieces; k++ {
			t := float64(k) / pieces
			var v [2]float64
			for axis := range v {
				v[axis] = 0.5 * (2*b[axis] + (c[axis]-a[axis])*t + (2*a[axis]-5*b[axis]+4*c[axis]-d[axis])*t*t +
					(3*b[axis]-a[axis]-3*c[axis]+d[axis])*t*t*t)
			}
			out = append(out, v)
		}
	}
	return out
}

// stepLine returns the line of a step. The ends of an open one are extended, so that it has two sides
// everywhere.
func stepLine(s spec.Step) [][2]float64 {
	if s.Closed {
		return append(append([][2]float64{}, s.Along...), s.Along[0])
	}
	line := smoothLine(s.Along)
	beyond := func(a, b [2]float64) [2]float64 {
		const far = 5000
		l := max(math.Hypot(a[0]-b[0], a[1]-b[1]), 1e-6)
		return [2]float64{a[0] + (a[0]-b[0])/l*far, a[1] + (a[1]-b[1])/l*far}
	}
	n := len(line)
	out := [][2]float64{beyond(line[0], line[1])}
	return append(append(out, line...), beyond(line[n-1], line[n-2]))
}

func smoothRamp(t float64) float64 {
	t = min(max(t, 0), 1)
	return t * t * (3 - 2*t)
}

// near is the nearest point of a line: its distance, the length of the line up to it, and the distance to
// the left of the line; below 0 on its right.
type near struct{ away, along, left float64 }

func nearestOn(line [][2]float64, x, y float64) near {
	best, side, run := near{away: math.Inf(1)}, 0.0, 0.0
	for i := 1; i < len(line); i++ {
		ax, ay := line[i-1][0], line[i-1][1]
		dx, dy := line[i][0]-ax, line[i][1]-ay
		l := math.Hypot(dx, dy)
		if l == 0 {
			continue
		}
		t := min(max(((x-ax)*dx+(y-ay)*dy)/(l*l), 0), 1)
		away := math.Hypot(ax+dx*t-x, ay+dy*t-y)
		across := (dx*(y-ay) - dy*(x-ax)) / l
		// At a corner both lines are equally near: the one that the point is more beside decides.
		if away < best.away-1e-9 || away < best.away+1e-9 && math.Abs(across) > math.Abs(side) {
			side = across
			best = near{away, run + l*t, math.Copysign(away, across)}
		}
		run += l
	}
	return best
}

// unevenAt returns smooth noise from -1 to 1 with features of about a twentieth of a period in metres.
func (r *relief) unevenAt(x, y, period float64) float64 {
	u, v := int64(x/period*noise.One), int64(y/period*noise.One)
	return (float64(r.rough.At(u+noise.One*64, v+noise.One*64))/noise.One - 0.5) * 2.6
}

// heightAt returns the height of the land.
func (r *relief) heightAt(x, y float64) float64 {
	g := r.ground
	h := 0.0
	if g.Hills > 0 {
		u, v := int64((x/g.Size+0.5)*60000)+noise.One, int64((y/g.Size+0.5)*60000)+noise.One
		h = (float64(r.hills.At(u, v))/noise.One - 0.45) * g.Hills
		h *= min(max((math.Hypot(x, y)-g.Flat)/(g.Flat+8), 0), 1)
	}
	for i, one := range g.Ridges {
		n := nearestOn(r.ridges[i], x, y)
		uneven := r.unevenAt(x, y, 260) + 0.5*r.unevenAt(y, x, 70)
		t := 1 - n.away*(1+one.Rough*uneven*0.6)/one.Width
		h += one.Height * smoothRamp(t) * (1 + one.Rough*uneven*0.45)
	}
	for i, one := range g.Steps {
		n := nearestOn(r.steps[i], x, y)
		left := n.left + one.Rough*r.unevenAt(x, y, 90)
		h += one.Height * smoothRamp(left/one.Width)
	}
	for i := range r.rivers {
		h = r.rivers[i].carve(h, x, y)
	}
	return h
}

// carve returns the height of the land with the river's bed.
func (v *river) carve(h, x, y float64) float64 {
	n := nearestOn(v.line, x, y)
	half := v.Width / 2
	level := v.levelAt(n.along)
	switch {
	case n.away >= half+v.Bank:
		return h
	case n.away > half:
		return level + 0.02 + (h-level)*smoothRamp((n.away-half)/v.Bank)
	}
	t := n.away / half
	return min(h, level-v.Depth*math.Sqrt(max(1-t*t, 0))+0.02)
}

func (v *river) levelAt(along float64) float64 {
	return v.Level[0] + (v.Level[1]-v.Level[0])*along/max(v.length, 0.01)
}

// waterAt returns the level of a river at a point.
func (r *relief) waterAt(x, y float64) (level float64, ok bool) {
	for i := range r.rivers {
		v := &r.rivers[i]
		if n := nearestOn(v.line, x, y); n.away < v.Width/2 {
			return v.levelAt(n.along), true
		}
	}
	return 0, false
}

// makeRiver makes the surface of a river.
func (v *river) makeRiver() *scene.Mesh {
	m := &scene.Mesh{}
	n := min(max(int(v.length/1.5), 2), 1500)
	for i := range n + 1 {
		along := v.length * float64(i) / float64(n)
		at, turn := pathPoint(v.line, along)
		left := scene.Vec{-math.Sin(turn), math.Cos(turn)}.Mul(v.Width/2 + min(v.Bank*0.3, 0.8))
		at[2] = v.levelAt(along)
		m.V = append(m.V, at.Sub(left), at.Add(left))
	}
	for i := range n {
		a := 2 * i
		m.F = append(m.F, scene.Face{V: []int{a, a + 2, a + 3, a + 1}, Smooth: true})
	}
	return m
}

// gradientAt returns how much a surface rises along X and along Y, from its heights half a metre around.
func gradientAt(height func(x, y float64) float64, x, y float64) (dx, dy float64) {
	const e = 0.6
	return (height(x+e, y) - height(x-e, y)) / (2 * e), (height(x, y+e) - height(x, y-e)) / (2 * e)
}

// slopeAt returns the slope of a surface in degrees.
func slopeAt(height func(x, y float64) float64, x, y float64) float64 {
	dx, dy := gradientAt(height, x, y)
	return math.Atan(math.Hypot(dx, dy)) * 180 / math.Pi
}
