package sentence

import (
	"math"
	"slices"

	"loregate/internal/studio/spec"
)

// shoreLine is the edge of the land at a sea.
const shoreLine = -7.0

func (c *composer) wet() bool {
	return c.place.Indoor == nil && (c.place.Sea || c.place.Quay ||
		c.alsoHas(func(s setting) bool { return s.Sea || s.Quay }))
}

func (c *composer) alsoHas(is func(setting) bool) bool { return slices.ContainsFunc(c.also, is) }

func (c *composer) hasWay() bool {
	return c.place.Way != "" || c.alsoHas(func(s setting) bool { return s.Way != "" })
}

func (c *composer) hasRiver() bool {
	return c.place.Indoor == nil && (c.place.River || c.alsoHas(func(s setting) bool { return s.River }))
}

func (c *composer) onWater(m *mention) bool {
	stands := c.Things[m.name].Stands
	return stands == isAfloat || m.name == "bridge" || m.name == "jetty"
}

// riverY is the middle of a river.
const riverY = -11.0

// ways returns the roads and rivers.
func (c *composer) ways() (list []spec.GroundWay) {
	if c.place.Indoor != nil {
		return nil
	}
	if c.hasWay() {
		material := c.place.Way
		for _, s := range c.also {
			if material == "" {
				material = s.Way
			}
		}
		list = append(list, spec.GroundWay{Along: [][2]float64{{-c.far - 30, 0}, {c.far + 30, 0}}, Width: 5,
			Material: material})
	}
	if c.hasRiver() {
		list = append(list, spec.GroundWay{Along: [][2]float64{{-70, riverY - 3}, {-20, riverY}, {20, riverY},
			{70, riverY + 3}},
			Width: 6, Material: "water"})
	}
	return list
}

// planRoad finds the length of the road: it has room for all buildings on both sides.
func (c *composer) planRoad(things []*mention) {
	length := 0.0
	for _, m := range things {
		if c.Things[m.name].Stands == asHouse {
			length += float64(m.count) * (2*c.sizes[m].half[0] + 3)
		}
	}
	c.far = max(22, length/4+4)
}

// coreRadius returns the radius of the circle around all things.
func (c *composer) coreRadius() float64 {
	r := 6.0
	for _, b := range c.boxes {
		x0, y0, x1, y1 := b.extent()
		if c.Things[b.name].Stands != asLand {
			r = max(r, math.Hypot(max(math.Abs(x0), math.Abs(x1)), max(math.Abs(y0), math.Abs(y1))))
		}
	}
	return min(r, 120)
}

// placeSpots returns the spots of the i-th member in relation to the whole place, or to its walls.
func (c *composer) placeSpots(m *mention, i int) (out []spot) {
	b := c.sizes[m]
	if m.to != nil && m.to.class == isSurface {
		switch {
		case m.to.name == "ceiling" && c.room != nil && m.relation != "under":
			return []spot{{0, 0, c.room[2] - b.high(), 0}}
		case m.to.name == "wall" && c.room != nil:
			return c.wallSpots(b)
		}
		return nil
	}
	spread := (float64(i) - float64(m.count-1)/2) * (2*b.half[0] + 0.4)
	switch m.relation {
	case inMiddle:
		for k := range 6 {
			r := float64(k) * 0.7
			out = append(out, spot{spread, r, 0, 0}, spot{spread, -r, 0, 0})
		}
	case "in the corner of":
		return c.cornerSpots(b, i)
	case "at the end of", "at each end of", "behind", "at the back of":
		if c.room != nil {
			for k := range 4 {
				out = append(out, spot{spread, c.room[1]/2 - b.half[1] - 0.5 - float64(k)*0.5, 0, 0})
			}
			return out
		}
		sign := 1.0
		if m.relation == "at each end of" && i%2 == 1 {
			sign = -1
		}
		out = append(out, spot{sign * (c.far + b.half[1] + 4), spread + 7.0*math.Abs(spread)*0, 0, -90 * sign},
			spot{sign * (c.far + b.half[1] + 4), 3 + b.half[0], 0, -90 * sign})
	case "along", "on both sides of":
		return c.roadSpots(b, i)
	case "around":
		for k := range 3 {
			a, r := 2*math.Pi*float64(i)/float64(m.count)+math.Pi/2, c.coreRadius()+b.half[0]+1+float64(k)
			if c.room != nil {
				r = min(c.room[0], c.room[1])/2 - b.half[1] - 0.4
			}
			out = append(out, spot{r * math.Cos(a), r * math.Sin(a), 0, toward(r*math.Cos(a), r*math.Sin(a), 0, 0)})
		}
	}
	return out
}

// cornerSpots returns the corners of a room, or of the area in front.
func (c *composer) cornerSpots(b *box, i int) (out []spot) {
	w, d := 12.0, 10.0
	if c.room != nil {
		w, d = c.room[0]/2, c.room[1]/2
	}
	for k := range 4 {
		n := (i + k) % 4
		sx, sy := []float64{-1, 1, 1, -1}[n], []float64{1, 1, -1, -1}[n]
		for step := range 3 {
			in := float64(step) * 0.6
			out = append(out, spot{sx * (w - b.half[0] - 0.35 - in), sy * (d - b.half[1] - 0.35), 0, 90 * (1 - sy)})
		}
	}
	return out
}

// roadSpots returns the spots along both sides of the road, from the middle outwards, or along the
// long walls of a room. Fronts face the middle.
func (c *composer) roadSpots(b *box, i int) (out []spot) {
	if c.room != nil {
		for k := range 40 {
			sign := float64(1 - (i+k)%2*2)
			y := c.room[1]/2 - 1 - b.half[0] - float64((i+k)/2)*(2*b.half[0]+0.8)
			out = append(out, spot{sign * (c.room[0]/2 - b.half[1] - 0.4), y, 0, -90 * sign})
		}
		return out
	}
	offset := 2.5 + 1.4 + b.half[1] - b.off[1]
	if !c.hasWay() {
		offset += 1
	}
	for k := range 200 {
		n := k / 2
		x := float64((n+1)/2) * (b.half[0] + 1.2)
		if n%2 == 1 {
			x = -x
		}
		side := (i + k) % 2
		out = append(out, spot{x, offset * float64(1-2*side), 0, 180 * float64(side)})
	}
	return out
}

// wallSpots returns the spots at the walls of a room: the far one, the sides, and then the near one.
func (c *composer) wallSpots(b *box) (out []spot) {
	w, d := c.room[0]/2, c.room[1]/2
	steps := func(length float64) []float64 {
		list := []float64{0}
		for u := b.half[0] + 0.2; u+b.half[0] < length; u += b.half[0] + 0.2 {
			list = append(list, u, -u)
		}
		return list
	}
	back := b.half[1] + b.off[1] // the box's reach behind its position
	for _, u := range steps(w) {
		out = append(out, spot{u, d - back, 0, 0})
	}
	for _, u := range steps(d) {
		out = append(out, spot{-w + back, u, 0, 90}, spot{w - back, u, 0, -90})
	}
	for _, u := range steps(w) {
		if math.Abs(u) > 1.2+b.half[0] { // the entrance
			out = append(out, spot{u, -d + back, 0, 180})
		}
	}
	return out
}

// ownSpots returns the spots of the i-th member by the kind of the thing.
func (c *composer) ownSpots(m *mention) func(i int) []spot {
	b := c.sizes[m]
	switch stands := c.Things[m.name].Stands; {
	case m.pattern != "" && m.relation == "":
		return func(i int) []spot { return append(c.patternSpots(m, i), c.floorSpots(m, i)...) }
	case c.room != nil && stands == onCeiling:
		return func(i int) []spot {
			var out []spot
			for k := range 9 {
				a := float64(i+k) * 2.4
				r := 0.9 * math.Sqrt(float64(i+k)) * (1 + float64(k)*0.2)
				out = append(out, spot{r * math.Cos(a), r * math.Sin(a), c.room[2], 0})
			}
			return out
		}
	case c.room != nil && (stands == onWall):
		return func(int) []spot { return append(c.wallSpots(b), c.floorSpots(m, 0)...) }
	case c.room != nil && stands == atHead:
		return func(i int) []spot {
			var out []spot
			for k := range 12 {
				out = append(out, spot{(float64(i) - float64(m.count-1)/2) * (2*b.half[0] + 0.4),
					c.room[1]/2 - b.half[1] - 1 - float64(k)*0.4, 0, 0})
			}
			return append(out, c.floorSpots(m, i)...)
		}
	case c.room != nil && stands == inRows && m.count > 1:
		return func(i int) []spot { return append(c.rowSpots(m, i), c.floorSpots(m, i)...) }
	case stands == onTable:
		return func(i int) []spot { return append(c.tableSpots(m, i), c.floorSpots(m, i)...) }
	case stands == atCentre:
		return func(i int) []spot {
			out := []spot{{0, 0, 0, 0}}
			return append(out, c.floorSpots(m, i)...)
		}
	case c.room == nil && stands == onWall && c.main != nil:
		return func(i int) []spot { return append(c.facadeSpots(m, i), c.floorSpots(m, i)...) }
	case c.room == nil && (stands == asHouse || stands == asLand):
		return func(i int) []spot { return c.siteSpots(m, i) }
	case stands == isAfloat && c.room == nil && (c.wet() || c.hasRiver()):
		return func(i int) []spot { return c.waterSpots(b, i) }
	}
	return func(i int) []spot { return c.floorSpots(m, i) }
}

// patternSpots returns the spot of the i-th member of a row, ring or pile.
func (c *composer) patternSpots(m *mention, i int) (out []spot) {
	b := c.sizes[m]
	wide := 2*max(b.half[0], 0.1) + 0.3
	y := -6.0
	if c.room != nil {
		y = 0
	}
	switch m.pattern {
	case "ring":
		r := max(wide*float64(m.count)/(2*math.Pi), 2.2)
		a := 2*math.Pi*float64(i)/float64(m.count) + math.Pi/2
		for _, my := range []float64{0, y, y - r} {
			out = append(out, spot{r * math.Cos(a), my + r*math.Sin(a), 0,
				toward(r*math.Cos(a), r*math.Sin(a), 0, 0)})
		}
	case "row":
		for k := range 8 {
			u := (float64(i) - float64(m.count-1)/2) * wide
			out = append(out, spot{u, y + float64(k)*1.1, 0, 0}, spot{u, y - float64(k)*1.1, 0, 0})
		}
	default: // a pile
		for k := range 10 {
			base := spot{-3 + float64(k%5)*1.7, y + float64(k/5)*2, 0, float64(i * 37 % 90)}
			base.x += float64(i%3)*wide - wide
			base.y += float64(i/3%3) * wide
			base.z = float64(i/9) * 2 * b.half[2]
			out = append(out, base)
		}
	}
	return out
}

// rowSpots returns the spot of the i-th of columns or pews: two rows along a room, or rows of four.
func (c *composer) rowSpots(m *mention, i int) []spot {
	b := c.sizes[m]
	if m.name == "column" {
		half := (m.count + 1) / 2
		sign := float64(1 - i%2*2)
		y := (float64(i/2)+0.5)/float64(half)*(c.room[1]-2) - c.room[1]/2 + 1
		return []spot{{sign * c.room[0] * 0.32, y, 0, 0}, {sign * c.room[0] * 0.4, y, 0, 0}}
	}
	sign := float64(1 - i%2*2)
	y := c.room[1]/2 - 4.5 - float64(i/2)*(2*b.half[1]+0.8)
	return []spot{{sign * (b.half[0] + 0.7), y, 0, 180}}
}

// holders are the things that small ones stand on.
var holders = []string{"table", "desk", "altar", "counter", "workbench", "pedestal", "cabinet"}

func (c *composer) tableSpots(m *mention, i int) (out []spot) {
	for _, b := range c.boxes {
		if !slices.Contains(holders, b.name) {
			continue
		}
		if i == 0 && m.relation == "" {
			m.assumed = appendOnce(m.assumed, "it stands on the "+b.name)
		}
		sin, cos := math.Sincos(b.turn * math.Pi / 180)
		for k := range 5 {
			u := (float64(k) - 2) * b.half[0] * 0.36
			for _, v := range []float64{0, b.half[1] * 0.45, -b.half[1] * 0.45} {
				out = append(out, spot{b.at[0] + u*cos - v*sin, b.at[1] + u*sin + v*cos, b.high(), b.turn})
			}
		}
	}
	return out
}

// facadeSpots returns the spots in front of the first building, where things of walls stand outdoors.
func (c *composer) facadeSpots(m *mention, i int) (out []spot) {
	list := c.stands[c.main]
	mark := *list[i%len(list)]
	b := c.sizes[m]
	sin, cos := math.Sincos(mark.turn * math.Pi / 180)
	for k := range 7 {
		u := []float64{1.4, -1.4, 0, 2.6, -2.6, 3.6, -3.6}[k]
		v := mark.off[1] - mark.half[1] - b.half[1] - gap - 0.3
		out = append(out, spot{mark.at[0] + u*cos - v*sin, mark.at[1] + u*sin + v*cos, 0, mark.turn})
	}
	return out
}

// siteSpots returns the spots of buildings and hills outdoors.
func (c *composer) siteSpots(m *mention, i int) (out []spot) {
	b := c.sizes[m]
	reach := max(b.half[0], b.half[1])
	switch {
	case c.Things[m.name].Stands == asLand:
		for k := range 20 {
			a := math.Pi/2 + float64((i+k+1)/2)*0.42*float64(1-(i+k)%2*2)
			r := c.far + 20 + reach + float64(k)*2
			out = append(out, spot{r * math.Cos(a), r * math.Sin(a), 0, 0})
		}
		return out
	case m.name == "bridge" && c.hasRiver():
		return []spot{{float64(i) * 12, riverY, 0, 90}, {float64(i)*12 + 20, riverY, 0, 90}}
	case m.name == "jetty" && c.wet():
		for k := range 9 {
			out = append(out, spot{float64((k+1)/2*(1-k%2*2)) * 7, shoreLine - b.half[1] + 1.5, -0.1, 0})
		}
		return out
	case c.hasWay():
		return c.roadSpots(b, i)
	}
	for k := range 60 {
		n := i + k
		if n == 0 {
			out = append(out, spot{0, 0, 0, 0}, spot{0, reach + 3, 0, 0})
			continue
		}
		if c.wet() || c.place.Ground == "cobbles" {
			u := float64((n+1)/2) * float64(1-n%2*2) * (b.half[0]*2 + 1.5)
			out = append(out, spot{u, 12 + b.half[1], 0, 0}, spot{u, 30 + b.half[1], 0, 0})
			continue
		}
		a := math.Pi/2 + float64((n+1)/2)*0.55*float64(1-n%2*2)
		r := reach*2 + 7 + float64(k)*1.5
		x, y := r*math.Cos(a), r*math.Sin(a)
		out = append(out, spot{x, y, 0, toward(x, y, 0, -6)})
	}
	return out
}

// waterSpots returns spots on the water.
func (c *composer) waterSpots(b *box, i int) (out []spot) {
	for k := range 30 {
		n := i + k
		x := float64((n+1)/2) * float64(1-n%2*2) * (2*b.half[0] + 1.2)
		y, z := shoreLine-3-b.half[1]-float64(k%3)*2.5, waterLevel-0.05
		if !c.wet() {
			y, z = riverY, 0.02
		}
		out = append(out, spot{x, y, z, float64(n*13%30) - 15})
	}
	return out
}

// floorSpots returns free spots for a thing that stands by itself: near the walls of a room, or in
// front of the buildings.
func (c *composer) floorSpots(m *mention, i int) (out []spot) {
	b, rnd := c.sizes[m], c.seedOf(m)
	for range i * 3 {
		rnd.Float()
	}
	if c.room != nil {
		w, d := c.room[0]/2-b.half[0]-0.3, c.room[1]/2-b.half[1]-0.3
		for k := range 240 {
			x, y := rnd.Between(-w, w), rnd.Between(-d+1, d)
			turn := 0.0
			if k < 120 { // near a wall
				switch k % 3 {
				case 0:
					x, turn = -w+0.1, 90
				case 1:
					x, turn = w-0.1, -90
				default:
					y = d - 0.1
				}
				if turn != 0 && b.half[0] != b.half[1] {
					x = math.Copysign(c.room[0]/2-b.half[1]-0.3, x)
				}
			}
			out = append(out, spot{x, y, 0, turn})
		}
		return out
	}
	y0, y1 := -13.0, -3.4
	if c.wet() {
		y0, y1 = shoreLine+0.6, 6
	}
	if c.hasRiver() {
		y0 = riverY + 4
	}
	wide := 9.0
	for k := range 200 {
		grow := 1 + float64(k)/60
		x, y := rnd.Between(-wide, wide)*grow, rnd.Between(y0, y1)
		if k > 60 {
			y = rnd.Between(y0, 14*grow)
		}
		out = append(out, spot{x, y, 0, math.Floor(rnd.Between(-40, 40))})
	}
	return out
}

// waterLevel is the height of the sea.
const waterLevel = -0.9

// addPlace adds the land or the room.
func (c *composer) addPlace() {
	if c.room != nil {
		c.addRoom()
		return
	}
	s := c.place
	if c.wet() {
		c.addShore()
	} else {
		flat := max(s.Flat, c.coreRadius()+6, c.far*boolFloat(c.hasWay()))
		c.scene.Ground = &spec.Ground{Material: s.Ground, Hills: s.Hills, Flat: min(flat, 200), Size: 220,
			Horizon: true, Paths: c.ways()}
	}
	if s.Walled != "" {
		r := c.coreRadius() + 4
		c.scene.Parts["yard_wall"] = &spec.Part{Is: "yard wall", Material: s.Walled,
			Wall: &spec.Wall{Closed: true, Height: 4, Thick: 0.8,
				Along:    [][2]float64{{-r, -r}, {r, -r}, {r, r}, {-r, r}},
				Openings: []spec.Opening{{Kind: "arch", Name: "entrance", Size: [2]float64{4, 3.4}, Arched: true}}}}
	}
	if s.Puddles {
		c.scene.Parts["puddles"] = &spec.Part{Use: "puddle", Scale: 3, Repeat: &spec.Repeat{Scatter: &spec.Scatter{
			Area: [4]float64{-34, -20, 34, 40}, Count: 14, Apart: 2.4, Avoid: []spec.AvoidDisc{{0, 0, 4}}}}}
		c.scene.Define["puddle"] = c.parts["puddle"]
	}
}

func boolFloat(b bool) float64 { return float64(boolInt(b)) }

// addShore adds land with an edge at a sea.
func (c *composer) addShore() {
	s := c.place
	c.scene.Water = &spec.Water{Level: waterLevel}
	reach := max(90, c.coreRadius()+60)
	land := &spec.Part{Is: "land", Material: s.Ground, Ghost: true,
		Box: &spec.Box{Size: [3]float64{2 * reach, reach - shoreLine, 3}},
		At:  []float64{0, (reach + shoreLine) / 2, -3}}
	c.scene.Parts["land"] = land
	if !s.Quay {
		c.scene.Parts["shore"] = &spec.Part{Is: "shore", Material: s.Ground, Ghost: true, Turn: 0,
			Wedge: &spec.Wedge{Size: [3]float64{2 * reach, 9, 2.6}}, At: []float64{0, shoreLine - 4.5, -2.6}}
	}
}

// addRoom adds a closed room with an entrance, and soft light.
func (c *composer) addRoom() {
	w, d, h := c.room[0], c.room[1], c.room[2]
	in := c.place.Indoor
	c.scene.Light = spec.Light{Time: c.scene.Light.Time, Interior: true}
	const thick = 0.4
	x, y := w/2+thick/2, d/2+thick/2
	c.scene.Parts["room"] = &spec.Part{Is: c.out.Setting, Material: in.Wall, Parts: map[string]*spec.Part{
		"floor": {At: []float64{0, 0, -0.3}, Material: in.Floor,
			Box: &spec.Box{Size: [3]float64{w + 2*thick, d + 2*thick, 0.3}}},
		"walls": {Wall: &spec.Wall{Along: [][2]float64{{-x, -y}, {x, -y}, {x, y}, {-x, y}}, Closed: true,
			Height: h, Thick: thick,
			Openings: []spec.Opening{{Kind: "arch", Name: "entrance", Size: [2]float64{1.4, min(2.3, h-0.3)}}}}},
		"ceiling": {At: []float64{0, 0, h}, Box: &spec.Box{Size: [3]float64{w + 2*thick, d + 2*thick, 0.3}}},
	}}
	if in.Canal {
		c.scene.Parts["water"] = &spec.Part{Is: "water", Material: "water", Ghost: true, At: []float64{0, 0, 0.01},
			Box: &spec.Box{Size: [3]float64{2, d, 0.03}}}
	}
	n := max(1, int(math.Ceil(d/7)))
	c.scene.Parts["glow"] = &spec.Part{Lamp: &spec.Lamp{Watts: 26 * w * d / float64(n) / 10},
		At:     []float64{0, -d/2 + d/float64(2*n), h - 0.6},
		Repeat: &spec.Repeat{Row: &spec.Row{Count: n, Step: []float64{0, d / float64(n)}}}}
	c.scene.Cameras = map[string]spec.Camera{
		"main": {At: []float64{-w * 0.28, -d/2 + 0.5, min(h*0.6, 2.3)},
			Look: []float64{w * 0.06, d * 0.2, min(h*0.3, 1.2)}, Lens: 20, Main: true}}
	c.scene.Markers = map[string]spec.Marker{"spawn": {Kind: "spawn", At: []float64{0, -d/2 + 1}}}
}

// addCamera adds a camera that shows the things outdoors.
func (c *composer) addCamera() {
	if c.room != nil {
		return
	}
	x0, y0, x1, y1, top := -4.0, -4.0, 4.0, 4.0, 3.0
	for _, b := range c.boxes {
		if c.Things[b.name].Stands == asLand || b.item != nil && b.item.implied {
			continue
		}
		u0, v0, u1, v1 := b.extent()
		x0, y0, x1, y1, top = min(x0, u0), min(y0, v0), max(x1, u1), max(y1, v1), max(top, b.high())
	}
	mx, my := (x0+x1)/2, (y0+y1)/2
	far := max(math.Hypot(x1-x0, y1-y0)/2, top*0.8)*1.55 + 5
	c.scene.Cameras = map[string]spec.Camera{
		"main": {At: []float64{round(mx - far*0.62), round(my - far*0.92), round(max(3, far*0.3))},
			Look: []float64{round(mx), round(my), round(top * 0.35)}, Main: true},
		"above": {At: []float64{round(mx), round(my - far*0.7), round(far * 1.1)},
			Look: []float64{round(mx), round(my), 0}}}
}
