package sentence

import (
	"math"
	"slices"
	"strings"

	"loregate/internal/studio/spec"
)

// box is the place of one thing: half its extents, and the middle relative to its position.
type box struct {
	name string
	item *mention
	at   [3]float64
	turn float64 // degrees
	half [3]float64
	off  [3]float64
	tall float64
	hard bool // nothing may stand there
	flat bool // others may stand on it
	skip *box // a landmark that it may touch
}

// spot is a candidate for the position of a thing.
type spot struct{ x, y, z, turn float64 }

// inMiddle is the relation of things in the middle of a place.
const inMiddle = "in the middle of"

// place returns the part at the box's position.
func (b *box) place(p spec.Part) *spec.Part {
	p.At, p.Turn = []float64{round(b.at[0]), round(b.at[1])}, round(b.turn+p.Turn)
	if z := round(b.at[2]); z != 0 {
		p.At = append(p.At, z)
	}
	return &p
}

func round(x float64) float64 { return math.Round(x*100)/100 + 0 }

// extent returns the corners of the box from above, at its position and turn.
func (b *box) extent() (x0, y0, x1, y1 float64) {
	sin, cos := math.Sincos(b.turn * math.Pi / 180)
	hx := math.Abs(b.half[0]*cos) + math.Abs(b.half[1]*sin)
	hy := math.Abs(b.half[0]*sin) + math.Abs(b.half[1]*cos)
	mx, my := b.at[0]+b.off[0]*cos-b.off[1]*sin, b.at[1]+b.off[0]*sin+b.off[1]*cos
	return mx - hx, my - hy, mx + hx, my + hy
}

func (b *box) low() float64  { return b.at[2] + b.off[2] - b.half[2] }
func (b *box) high() float64 { return b.at[2] + b.tall }

// gap is the least distance between things.
const gap = 0.12

// isFree reports whether a box touches no other one and is in the room.
func (c *composer) isFree(b *box) bool {
	x0, y0, x1, y1 := b.extent()
	if c.room != nil {
		const slack = 0.25 // things for walls have their back in the wall
		if x0 < -c.room[0]/2-slack || x1 > c.room[0]/2+slack || y0 < -c.room[1]/2-slack || y1 > c.room[1]/2+slack {
			return false
		}
	}
	for _, o := range c.boxes {
		if o == b.skip || o.flat || b.flat && !o.hard && !o.flat {
			continue
		}
		u0, v0, u1, v1 := o.extent()
		if x0 < u1+gap && u0 < x1+gap && y0 < v1+gap && v0 < y1+gap && b.low() < o.high() && o.low() < b.high()-0.02 {
			return false
		}
	}
	if b.item != nil && !c.onWater(b.item) && c.place.Indoor == nil {
		for _, w := range c.ways() {
			if w.Material == "water" && touchesWay(w, x0, y0, x1, y1) || c.Things[b.item.name].Stands == asHouse &&
				b.item.name != "bridge" && touchesWay(w, x0, y0, x1, y1) {
				return false
			}
		}
		if c.wet() && y0 < shoreLine {
			return false
		}
	}
	return true
}

func touchesWay(w spec.GroundWay, x0, y0, x1, y1 float64) bool {
	for i := range 60 {
		at := pointAlong(w.Along, float64(i)/59)
		if at[0] > x0-w.Width/2 && at[0] < x1+w.Width/2 && at[1] > y0-w.Width/2 && at[1] < y1+w.Width/2 {
			return true
		}
	}
	return false
}

// pointAlong returns the point of a chain at a fraction of its length.
func pointAlong(path [][2]float64, t float64) [2]float64 {
	left := spec.PathLength(path) * t
	for i := 1; i < len(path); i++ {
		dx, dy := path[i][0]-path[i-1][0], path[i][1]-path[i-1][1]
		if l := math.Hypot(dx, dy); left <= l && l > 0 {
			return [2]float64{path[i-1][0] + dx*left/l, path[i-1][1] + dy*left/l}
		} else {
			left -= l
		}
	}
	return path[len(path)-1]
}

// placeMention finds the places of the members of a mention; ok is false if there was no room.
func (c *composer) placeMention(m *mention) (ok bool) {
	t, size := c.Things[m.name], c.sizes[m]
	if t.Stands == asPlant && m.count > 8 && m.to == nil {
		return true
	}
	related := c.relatedSpots(m)
	own := c.ownSpots(m)
	ok = true
	for i := range m.count {
		b := *size
		b.flat = t.Stands == isFlat
		if m.to != nil && slices.Contains([]string{"in", "under", "on", "above"}, m.relation) &&
			len(c.stands[m.to]) > 0 {
			b.skip = c.stands[m.to][i%len(c.stands[m.to])]
		}
		switch {
		case c.take(&b, related(i)):
		case c.take(b.free(), own(i)):
			if i == 0 {
				c.admitPlace(m)
			}
		default:
			ok = false
			c.force(&b, i)
		}
		c.stands[m] = append(c.stands[m], &b)
		c.boxes = append(c.boxes, &b)
	}
	if t.Stands == asHouse && c.main == nil {
		c.main = m
	}
	return ok
}

// admitPlace says that a thing does not stand where the words put it.
func (c *composer) admitPlace(m *mention) {
	switch {
	case m.relation == "" || m.relation == inRowsOf:
	case m.to != nil && m.to.class == isThing && m.class == isThing:
		m.assume("there is no room %s %s; it stands near", m.relation, c.landmarkName(m))
	case m.to != nil && (m.relation == "in" || m.relation == "on"):
	default:
		m.assume("its place, %s, is not exact", strings.TrimSpace(m.relation+" "+c.landmarkName(m)))
	}
}

func appendOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// free makes the box touch nothing.
func (b *box) free() *box {
	b.skip = nil
	return b
}

// take puts a box at the first free spot.
func (c *composer) take(b *box, spots []spot) bool {
	for _, s := range spots {
		b.at, b.turn = [3]float64{s.x, s.y, s.z}, s.turn
		if c.isFree(b) {
			return true
		}
	}
	return false
}

// force puts a box outside of all others.
func (c *composer) force(b *box, i int) {
	if c.room != nil {
		b.at, b.turn = [3]float64{(float64(i%5) - 2) * 0.5, -c.room[1]/2 + 1.5 + float64(i/5%4)*0.5, 0}, 0
		return
	}
	b.at, b.turn = [3]float64{c.coreRadius() + b.half[0] + 2, float64(i%7) * 2, 0}, 0
}

// toward returns the turn of a thing at one point whose front faces another.
func toward(x, y, tx, ty float64) float64 { return math.Atan2(ty-y, tx-x)*180/math.Pi + 90 }

// relatedSpots returns the spots of the i-th member in its relation; none without one.
func (c *composer) relatedSpots(m *mention) func(i int) []spot {
	none := func(int) []spot { return nil }
	switch {
	case m.relation == "":
		return none
	case m.to == nil && m.relation == inMiddle, m.to != nil && m.to.class != isThing:
		return func(i int) []spot { return c.placeSpots(m, i) }
	case m.to == nil:
		return none
	}
	list := c.stands[m.to]
	if len(list) == 0 {
		return none
	}
	return func(i int) []spot {
		mark := list[i%len(list)]
		if m.relation == "between" || m.relation == "around" || m.relation == inMiddle {
			mark = joinBoxes(append(slices.Clone(list), c.stands[m.and]...))
		}
		return c.spotsAt(m, i, mark, len(list))
	}
}

// joinBoxes returns a box around boxes.
func joinBoxes(list []*box) *box {
	out := *list[0]
	x0, y0, x1, y1 := out.extent()
	for _, b := range list[1:] {
		u0, v0, u1, v1 := b.extent()
		x0, y0, x1, y1 = min(x0, u0), min(y0, v0), max(x1, u1), max(y1, v1)
	}
	if len(list) > 1 {
		out.at, out.turn, out.off[0], out.off[1] = [3]float64{(x0 + x1) / 2, (y0 + y1) / 2, out.at[2]}, 0, 0, 0
		out.half[0], out.half[1] = (x1-x0)/2, (y1-y0)/2
	}
	return &out
}

// spotsAt returns the spots of the i-th member around a landmark.
func (c *composer) spotsAt(m *mention, i int, mark *box, marks int) []spot {
	b := *c.sizes[m]
	x0, y0, x1, y1 := mark.extent()
	mx, my := (x0+x1)/2, (y0+y1)/2
	sin, cos := math.Sincos(mark.turn * math.Pi / 180)
	at := func(u, v, z, turn float64) spot { return spot{mx + u*cos - v*sin, my + u*sin + v*cos, z, turn} }
	hx, hy := mark.half[0], mark.half[1]
	space := 0.25
	if c.room == nil {
		space = 0.6
	}
	side := hx + b.half[0] + space
	front := hy + b.half[1] + space
	member := i / marks
	most := max((m.count+marks-1)/marks, 1)
	var out []spot
	switch m.relation {
	case "on":
		step := 2 * hx * 0.8 / float64(most)
		z := mark.high()
		if mark.name == "table" || mark.name == "altar" {
			z = mark.at[2] + mark.tall
		}
		for k := range 3 {
			out = append(out, at((float64(member)-float64(most-1)/2)*step+float64(k)*0.1, 0.15*hy*float64(k), z,
				mark.turn))
		}
	case "above":
		out = append(out, at((float64(member)-float64(most-1)/2)*(2*b.half[0]+0.1), 0, mark.high()+0.25, mark.turn))
	case "in":
		out = append(out, at((float64(member)-float64(most-1)/2)*0.4, 0, mark.at[2]+0.1, mark.turn))
	case "under":
		beside := 0.0
		if c.Things[mark.name].Stands == asPlant {
			beside = b.half[1] + 0.7 // next to the trunk
		}
		for k := range 4 {
			out = append(out, at((float64(member)-float64(most-1)/2)*(2*b.half[0]+0.1),
				-beside-float64(k)*(hy+b.half[1])/3, mark.at[2], mark.turn))
		}
	case "in front of", "facing", "outside", "at the front of":
		for k := range 5 {
			out = append(out, at((float64(member)-float64(most-1)/2)*(2*b.half[0]+space), -front-float64(k)*0.4,
				mark.at[2], mark.turn+180))
		}
	case "behind", "at the back of":
		for k := range 4 {
			out = append(out, at((float64(member)-float64(most-1)/2)*(2*b.half[0]+space), front+float64(k)*0.4,
				mark.at[2], mark.turn))
		}
	case "around":
		radius := math.Hypot(hx, hy)*0.85 + max(b.half[0], b.half[1]) + space
		if m.count == 1 && b.half[0] > hx {
			out = append(out, at(0, 0, mark.at[2], 0))
		}
		for k := range 4 {
			a := 2*math.Pi*float64(i)/float64(m.count) + math.Pi/2
			r := radius + float64(k)*0.4
			x, y := mx+r*math.Cos(a), my+r*math.Sin(a)
			out = append(out, spot{x, y, mark.at[2], toward(x, y, mx, my)})
		}
	case "between":
		out = append(out, c.betweenSpots(m, i, mark)...)
	case inMiddle:
		out = append(out, at(0, 0, mark.at[2], mark.turn))
	case "along", "against", "hanging from", "at the end of", "at each end of":
		out = append(out, c.edgeSpots(m, member, most, at, hx, hy, &b, mark)...)
	default: // beside, on both sides of
		for k := range 8 {
			sign := float64(1 - member%2*2)
			u := side + float64(member/2)*(2*b.half[0]+space) + float64(k)*0.4
			out = append(out, at(sign*u, 0, mark.at[2], mark.turn), at(sign*u, -hy, mark.at[2], mark.turn))
			if m.relation == "beside" {
				out = append(out, at(-sign*u, 0, mark.at[2], mark.turn))
			}
		}
	}
	return out
}

// betweenSpots returns the spots between two landmarks, or in the middle of several.
func (c *composer) betweenSpots(m *mention, i int, around *box) []spot {
	x0, y0, x1, y1 := around.extent()
	mx, my := (x0+x1)/2, (y0+y1)/2
	first := c.stands[m.to][0]
	if m.and != nil && len(c.stands[m.and]) > 0 {
		second := c.stands[m.and][0]
		mx, my = (first.at[0]+second.at[0])/2, (first.at[1]+second.at[1])/2
	}
	shift := (float64(i) - float64(m.count-1)/2) * (2*c.sizes[m].half[0] + 0.3)
	return []spot{{mx, my + shift, first.at[2], 0}, {mx + shift, my, first.at[2], 0}, {mx, my - 1, first.at[2], 0}}
}

// edgeSpots returns the spots along the sides and at the ends of a landmark.
func (c *composer) edgeSpots(m *mention, member, most int, at func(u, v, z, turn float64) spot, hx, hy float64,
	b *box,
	mark *box) (out []spot) {
	z := mark.at[2]
	switch m.relation {
	case "along":
		u := (float64(member) + 0.5 - float64(most)/2) * max(2*hx/float64(most), 2*b.half[0]+0.2)
		return []spot{at(u, -hy-b.half[1]-0.3, z, mark.turn+180), at(u, hy+b.half[1]+0.3, z, mark.turn)}
	case "against", "hanging from":
		return []spot{at(0, -hy-b.half[1]-gap*1.1, z, mark.turn+180), at(hx+b.half[0]+gap*1.1, 0, z, mark.turn),
			at(-hx-b.half[0]-gap*1.1, 0, z, mark.turn), at(0, hy+b.half[1]+gap*1.1, z, mark.turn)}
	}
	sign := float64(1 - member%2*2)
	for k := range 3 {
		extra := float64(member/2)*(2*b.half[0]+0.3) + float64(k)*0.4
		if hx >= hy {
			out = append(out, at(sign*(hx+b.half[0]+0.3+extra), 0, z, mark.turn-90*sign))
		} else {
			out = append(out, at(0, sign*(hy+b.half[1]+0.3+extra), z, mark.turn))
		}
	}
	return out
}
