package build

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loregate/internal/studio/scene"
)

// Description describes the things of a model.
type Description struct {
	Counts  map[string]int `json:"counts" jsonschema:"Things by noun, including doors, windows and arrow slits."`
	Things  []Place        `json:"things" jsonschema:"The things of the scene, without the bodies of composites."`
	Omitted int            `json:"things_omitted" jsonschema:"Things that are not listed because of the limit."`
	Map     []string       `json:"map" jsonschema:"The scene from above, north up; legend explains the characters."`
	Legend  []string       `json:"legend"`
	Views   []View         `json:"views" jsonschema:"Things that each camera sees, from left to right."`
	Low     scene.Vec      `json:"low" jsonschema:"Lowest corner of the box around all things."`
	High    scene.Vec      `json:"high"`
	Parts   int            `json:"parts"`
	Bodies  int            `json:"bodies"`
	Warning []string       `json:"warnings"`
}

// Place is a thing and its position, or all members of a large repeat.
type Place struct {
	Path      string    `json:"path" jsonschema:"Of a large repeat, its path and .*, with the data of the first member."`
	Members   int       `json:"members,omitzero" jsonschema:"Of a large repeat."`
	Noun      string    `json:"noun"`
	At        scene.Vec `json:"at"`
	Size      scene.Vec `json:"size"`
	Faces     string    `json:"faces" jsonschema:"Compass point that its front faces; north is +Y."`
	Materials []string  `json:"materials"`
	Near      string    `json:"near,omitzero" jsonschema:"The nearest other thing, with its distance and direction."`
}

// View is a camera with the things that it sees.
type View struct {
	Camera string   `json:"camera"`
	Sees   []string `json:"sees" jsonschema:"Path, part of the picture, and distance."`
	Hidden []string `json:"hidden" jsonschema:"Things in front of the camera that others hide."`
}

var compass = []string{"east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east"}

// compassPoint returns the name of a direction; 0 is east.
func compassPoint(angle float64) string {
	return compass[int(math.Floor(angle/(math.Pi/4)+0.5+800))%8]
}

// outer returns the indices of the things that are in no other thing and have a body.
func (m *Model) outer() []int {
	var out []int
	for i, t := range m.Things {
		if t.Inside < 0 && t.Box != (scene.Box3{}) {
			out = append(out, i)
		}
	}
	return out
}

// Describe describes the model. It lists at most limit things.
func (m *Model) Describe(limit int) Description {
	outer := m.outer()
	d := Description{Counts: m.Counts(), Things: []Place{}, Parts: len(m.Things), Bodies: len(m.Nodes),
		Views: []View{},
		Low:   roundVec(m.bounds.Low), High: roundVec(m.bounds.High), Warning: append([]string{}, m.Warnings...)}
	sizes := m.countMembers(outer)
	listed := map[string]bool{}
	for _, i := range outer {
		t := m.Things[i]
		p := Place{Path: t.Path, Noun: t.Kind, At: roundVec(t.At), Size: roundVec(t.Box.High.Sub(t.Box.Low)),
			Faces: compassPoint(t.Front)}
		if base := repeatOf(t.Path); sizes[base] > fewMembers {
			if listed[base] {
				continue
			}
			listed[base] = true
			p.Path, p.Members = base+".*", sizes[base]
		}
		if len(d.Things) == limit {
			d.Omitted++
			continue
		}
		p.Materials, p.Near = append([]string{}, t.Materials...), m.nearest(outer, i)
		d.Things = append(d.Things, p)
	}
	d.Map, d.Legend = m.drawMap(outer)
	space := m.newSpace()
	for _, c := range m.Cameras {
		d.Views = append(d.Views, m.lookThrough(c, outer, space))
	}
	return d
}

// fewMembers is the number of members of a repeat that are described one by one.
const fewMembers = 12

// repeatOf returns the path of the repeat that a thing is a member of, or "".
func repeatOf(path string) string {
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 || path[dot+1] < '0' || path[dot+1] > '9' {
		return ""
	}
	return path[:dot]
}

// countMembers counts the members of each repeat.
func (m *Model) countMembers(outer []int) map[string]int {
	sizes := map[string]int{}
	for _, i := range outer {
		if base := repeatOf(m.Things[i].Path); base != "" {
			sizes[base]++
		}
	}
	return sizes
}

func roundVec(v scene.Vec) scene.Vec {
	for i := range v {
		v[i] = math.Round(v[i]*100)/100 + 0
	}
	return v
}

func middleOf(b scene.Box3) scene.Vec { return b.Low.Add(b.High).Mul(0.5) }

// nearest describes the nearest other thing.
func (m *Model) nearest(outer []int, i int) string {
	if len(outer) > 2000 {
		return ""
	}
	best, away := -1, math.Inf(1)
	from := middleOf(m.Things[i].Box)
	for _, k := range outer {
		if d := middleOf(m.Things[k].Box).Sub(from); k != i && d.Len() < away {
			best, away = k, d.Len()
		}
	}
	if best < 0 {
		return ""
	}
	d := middleOf(m.Things[best].Box).Sub(from)
	return fmt.Sprintf("%.1f m %s of %s", away, compassPoint(math.Atan2(-d[1], -d[0])), m.Things[best].Path)
}

// The size of a map in characters. A character is twice as high as it is wide.
const (
	mapWide = 64
	mapHigh = 32
)

// drawMap draws the scene from above. Each noun gets a letter; later letters are on top.
func (m *Model) drawMap(outer []int) (rows, legend []string) {
	legend = []string{}
	low, high := m.bounds.Low, m.bounds.High
	step := max((high[0]-low[0])/mapWide, (high[1]-low[1])/mapHigh/2, 0.1)
	wide := min(int(math.Ceil((high[0]-low[0])/step))+1, mapWide+1)
	tall := min(int(math.Ceil((high[1]-low[1])/step/2))+1, mapHigh+1)
	grid := make([][]byte, tall)
	for i := range grid {
		grid[i] = []byte(strings.Repeat(".", wide))
	}
	letters := map[string]byte{}
	bySize := slices.Clone(outer)
	slices.SortStableFunc(bySize, func(a, b int) int {
		area := func(i int) float64 {
			s := m.Things[i].Box.High.Sub(m.Things[i].Box.Low)
			return s[0] * s[1]
		}
		return int(math.Copysign(1, area(b)-area(a)))
	})
	for _, i := range bySize {
		t := m.Things[i]
		letter := letters[t.Kind]
		if letter == 0 {
			letter = mapLetter(t.Kind, letters)
			letters[t.Kind] = letter
			legend = append(legend, fmt.Sprintf("%c %s", letter, t.Kind))
		}
		for y := range grid {
			for x := range grid[y] {
				px, py := low[0]+(float64(x)+0.5)*step, high[1]-(float64(y)+0.5)*step*2
				if px >= t.Box.Low[0]-step/2 && px <= t.Box.High[0]+step/2 && py >= t.Box.Low[1]-step &&
					py <= t.Box.High[1]+step {
					grid[y][x] = letter
				}
			}
		}
	}
	for _, row := range grid {
		rows = append(rows, string(row))
	}
	return rows, append(legend, fmt.Sprintf("one character is %.1f m wide and %.1f m high", step, 2*step))
}

// mapLetter chooses a letter of a noun that no other noun has.
func mapLetter(noun string, used map[string]byte) byte {
	taken := func(c byte) bool {
		for _, v := range used {
			if v == c {
				return true
			}
		}
		return false
	}
	upper := strings.ToUpper(noun)
	for _, text := range []string{upper, noun, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"} {
		for i := range len(text) {
			if c := text[i]; c > ' ' && c != '-' && !taken(c) {
				return c
			}
		}
	}
	return '?'
}

// lookThrough lists the things that a camera sees. Members of a large repeat are counted together.
func (m *Model) lookThrough(c Camera, outer []int, space *space) View {
	v := View{Camera: c.Name, Sees: []string{}, Hidden: []string{}}
	eye := Node{Mesh: &Mesh{}, Transform: scene.Transform{Rotation: c.Rotation, Scale: scene.Vec{1, 1, 1}}}
	ahead, right, up := eye.apply(scene.Vec{0, 0, -1}), eye.apply(scene.Vec{1, 0, 0}), eye.apply(scene.Vec{0, 1, 0})
	sizes, seen, hidden := m.countMembers(outer), map[string]int{}, map[string]int{}
	type sight struct {
		x    float64
		text string
	}
	var list []sight
	for _, i := range outer {
		t := m.Things[i]
		d := middleOf(t.Box).Sub(c.Location)
		depth := dotOf(d, ahead)
		if depth < 0.2 {
			continue
		}
		x, y := dotOf(d, right)/depth*c.Lens/18, dotOf(d, up)/depth*c.Lens/18*16/9
		if math.Abs(x) > 1 || math.Abs(y) > 1 {
			continue
		}
		base := repeatOf(t.Path)
		large := sizes[base] > fewMembers
		switch behind := space.hides(c.Location, t.Box, i); {
		case behind && large:
			hidden[base]++
		case behind:
			v.Hidden = append(v.Hidden, t.Path)
		case large:
			seen[base]++
		default:
			list = append(list, sight{x, fmt.Sprintf("%s, %s, %.0f m", t.Path, pictureThird(x), d.Len())})
		}
	}
	slices.SortStableFunc(list, func(a, b sight) int { return int(math.Copysign(1, a.x-b.x)) })
	for _, s := range list {
		v.Sees = append(v.Sees, s.text)
	}
	v.Sees, v.Hidden = appendCounts(v.Sees, seen), appendCounts(v.Hidden, hidden)
	return v
}

func pictureThird(x float64) string {
	switch {
	case x < -0.33:
		return "left"
	case x > 0.33:
		return "right"
	}
	return "middle"
}

func appendCounts(list []string, counts map[string]int) []string {
	for _, base := range sortedKeys(counts) {
		list = append(list, fmt.Sprintf("%d of %s", counts[base], base))
	}
	return list
}
