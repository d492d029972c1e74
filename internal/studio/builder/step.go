package builder

import (
	"fmt"
	"math"

	"loregate/internal/studio/scene"
)

// step is one step in building a place: a group of steps, an object, or one of the others.
type step struct {
	part `yaml:",inline"` // of an object

	Steps  []step
	Random string // purpose of the random numbers in Steps

	Object string // its name
	Number number // is added to the name
	Framed number // the camera must show the object
	Room   number // radius of the ground that the object occupies
	Layers []string

	Land     *land
	Headland *headland
	Stand    *stand
	Strew    *strew
	Plant    *plant
	Title    *title
	Light    *lamp
	Take     *[3]number  // x, y and radius of occupied ground
	Dry      number      // things can stand at x, y if it is not 0
	Frame    []scene.Vec // points that the camera must show
	View     *view
}

// strew is a number of things at free spots in an area.
type strew struct {
	Thing string
	Count int
	Area  [4]float64
}

// title is the place's name as a text.
type title struct {
	Name, Of string
	Size     float64
	At       [3]number
	Turn     number
}

type lamp struct {
	At    scene.Vec
	Watts float64
}

// view is the camera, the sun, and the area where the things stand that the words name.
type view struct {
	Front [4]float64
	From  scene.Vec // direction from the place to the camera
	Sun   float64   // azimuth in radians
	Lens  float64   // in millimetres; 0: 35
}

func (y *yard) addSteps(steps []step) {
	for i := range steps {
		y.run(steps[i].control, func() { y.addStep(&steps[i]) })
	}
}

func (y *yard) addStep(st *step) {
	switch {
	case st.Random != "":
		y.withSource(st.Random, func() { y.addSteps(st.Steps) })
	case st.Steps != nil:
		y.addSteps(st.Steps)
	case st.Object != "":
		y.buildObject(st)
	case st.Land != nil:
		y.addLand(st.Land)
	case st.Headland != nil:
		y.addHeadland(st.Headland)
	case st.Stand != nil:
		y.addStand(st.Stand)
	case st.Strew != nil:
		y.strewProps(st.Strew.Thing, st.Strew.Count, st.Strew.Area, false)
	case st.Plant != nil:
		y.addPlants(st.Plant)
	case st.Title != nil:
		y.addTitle(st.Title)
	case st.Light != nil:
		y.addLamp(st.Light.At, st.Light.Watts)
	case st.Take != nil:
		at := y.evalVec(st.Take)
		y.takeDisc(at[0], at[1], at[2])
	default:
		y.setView(st)
	}
}

// setView does the steps that add nothing to the scene, but decide which part of it is visible, and
// where things can stand.
func (y *yard) setView(st *step) {
	switch {
	case st.Dry != nil:
		y.dry = func(px, py float64) bool {
			mark := len(y.vars)
			y.set("x", px)
			y.set("y", py)
			dry := st.Dry(&y.scope) != 0
			y.vars = y.vars[:mark]
			return dry
		}
	case st.Frame != nil:
		for _, v := range st.Frame {
			y.frame.Grow(v)
		}
	case st.View != nil:
		y.front, y.from, y.sun, y.lens = st.View.Front, st.View.From, st.View.Sun, st.View.Lens
	default:
		y.fail("a step does nothing")
	}
}

// buildObject builds a part as an object of its own. Its layers become objects at the same position.
func (y *yard) buildObject(st *step) {
	p, body := &piece{}, st.part
	body.At = nil
	y.layers = map[string]*piece{}
	for _, name := range st.Layers {
		y.layers[name] = &piece{}
	}
	y.addPart(p, &body)
	at, turn, name := y.evalVec(st.At), y.eval(st.Turn, 0), st.Object
	if st.Number != nil {
		name = fmt.Sprintf("%s %d", name, int(st.Number(&y.scope)))
	}
	y.addObject(name, y.useMesh(name, p), at, turn, 1)
	for _, layer := range st.Layers {
		y.addObject(layer, y.useMesh(layer, y.layers[layer]), at, turn, 1)
	}
	y.layers = nil
	if y.eval(st.Framed, 0) != 0 {
		for _, v := range p.m.V {
			y.frame.Grow(v.Turned(turn).Add(at))
		}
	}
	if st.Room != nil {
		y.takeDisc(at[0], at[1], st.Room(&y.scope))
	}
}

func (y *yard) addTitle(t *title) {
	body := displayName(y.id[:min(len(y.id), 12)])
	y.Text(y.id+" "+t.Name, body, y.useMaterial(t.Of), y.id, t.Size,
		scene.Transform{Location: y.evalVec(&t.At), Rotation: scene.Vec{math.Pi / 2, 0, y.eval(t.Turn, 0)}})
}

// displayName turns an identifier into a name.
func displayName(id string) string {
	b := []byte(id)
	up := true
	for i, c := range b {
		switch {
		case c == '_':
			b[i], up = ' ', true
		case up && c >= 'a' && c <= 'z':
			b[i], up = c-32, false
		default:
			up = false
		}
	}
	return string(b)
}
