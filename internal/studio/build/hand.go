package build

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/studio/gltf"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// sameSpot is the distance in metres below which a point of a file counts as unmoved: programs round.
const sameSpot = 0.004

// Hand is the result of changes by hand to a file that was made from a scene.
type Hand struct {
	Scene *spec.Scene // the scene with the changes that the language of scenes can say
	Added []string    // names of nodes that the scene has not
}

// handReader compares the nodes of a file with those of a scene.
type handReader struct {
	base  *spec.Scene
	cache *Cache
	nodes map[string][]point4 // of the file, by path; nil: deleted
	edits []spec.Edit
	moved map[string]string // paths of moved parts, each with the path of its first node
}

// point4 has a node's origin and the ends of its axes, in metres with Y up.
type point4 = [4][3]float64

// ReadHand reads the changes by hand out of the nodes of a file. Parts are known by the names of their nodes, as GLB
// writes them or as a program has them. A change that no edit of the scene can say is an error that names the part.
func ReadHand(base *spec.Scene, places []gltf.Place, c *Cache) (Hand, error) {
	m, err := Build(base, c)
	if err != nil {
		return Hand{}, err
	}
	r := &handReader{base: base, cache: c, nodes: map[string][]point4{}, moved: map[string]string{}}
	added, err := r.matchNodes(m, places)
	if err != nil {
		return Hand{}, err
	}
	was := placesOf(m)
	r.compareBodies("", sortedKeys(was), was)
	after, err := r.moveParts()
	return Hand{Scene: after, Added: added}, err
}

// placesOf returns the places of the model's nodes by path.
func placesOf(m *Model) map[string]point4 {
	out := map[string]point4{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if len(n.Mesh.F) == 0 {
			continue
		}
		var p point4
		for k, v := range [4]scene.Vec{{}, {1}, {0, 0, 1}, {0, -1}} { // the axes of the file: X, up, and towards the front
			p[k] = toYUp(n.apply(v))
		}
		out[n.Path] = p
	}
	return out
}

// maxFileName is the length to which programs cut the names of nodes.
const maxFileName = 63

// matchNodes finds the node of each path, and the nodes that the scene has not.
func (r *handReader) matchNodes(m *Model, places []gltf.Place) (added []string, err error) {
	paths, sizes := map[string]string{}, map[string]scene.Vec{}
	for i := range m.Nodes {
		path := m.Nodes[i].Path
		paths[path[:min(len(path), maxFileName)]], paths[m.fullName(path)] = path, path
		s := m.Nodes[i].Mesh.high.Sub(m.Nodes[i].Mesh.low)
		sizes[path] = scene.Vec{s[0], s[2], s[1]}
	}
	added = []string{}
	for _, p := range places {
		path, ok := paths[p.Name]
		if !ok {
			added = append(added, p.Name)
			continue
		}
		for axis, is := range p.Size {
			if was := sizes[path][axis]; math.Abs(is-was) > 0.01+0.01*was {
				return nil, cannotSay(path, "its mesh was changed from %.2f to %.2f m along an axis", was, is)
			}
		}
		r.nodes[path] = append(r.nodes[path], p.Points)
	}
	slices.Sort(added)
	return added, nil
}

func cannotSay(path, format string, args ...any) error {
	return fault.BadField("file", "the change by hand of %s cannot be kept: "+format+
		"; undo it in the file, or say it in the plan", append([]any{path}, args...)...)
}

// compareBodies appends the edits for the parts below a path: a part whose bodies all moved alike is moved, a part without
// bodies is deleted, and other parts are looked into.
func (r *handReader) compareBodies(path string, paths []string, was map[string]point4) {
	gone, changed := 0, 0
	for _, p := range paths {
		switch at := r.nodes[p]; {
		case len(at) == 0:
			gone++
		case farApart(at[0], was[p]) > sameSpot:
			changed++
		}
	}
	switch {
	case gone+changed == 0:
		return
	case path != "" && gone == len(paths):
		r.edits = append(r.edits, spec.Edit{Do: "delete", Path: path})
		return
	case path != "" && (len(paths) == 1 && paths[0] == path || changed == len(paths) && r.movedAlike(paths, was)):
		r.moved[path] = paths[0]
		return
	}
	children := map[string][]string{}
	for _, p := range paths {
		rest := strings.TrimPrefix(strings.TrimPrefix(p, path), ".")
		if name, _, _ := strings.Cut(rest, "."); name != "" {
			child := spec.JoinPath(path, name)
			children[child] = append(children[child], p)
		}
	}
	for _, child := range sortedKeys(children) {
		r.compareBodies(child, children[child], was)
	}
}

func farApart(a, b point4) (far float64) {
	for k := range a {
		far = max(far, math.Hypot(math.Hypot(a[k][0]-b[k][0], a[k][1]-b[k][1]), a[k][2]-b[k][2]))
	}
	return far
}

// turnBetween returns the degrees about the vertical axis from one place to another.
func turnBetween(from, to point4) float64 {
	angle := func(p point4) float64 { return math.Atan2(p[0][2]-p[1][2], p[1][0]-p[0][0]) }
	return math.Remainder((angle(to)-angle(from))*180/math.Pi, 360)
}

// movedAlike reports whether nodes keep their distances from each other and all turned alike.
func (r *handReader) movedAlike(paths []string, was map[string]point4) bool {
	first, to := was[paths[0]], r.nodes[paths[0]][0]
	turn := turnBetween(first, to)
	sin, cos := math.Sincos(turn * math.Pi / 180)
	for _, p := range paths[1:] {
		d := [3]float64{was[p][0][0] - first[0][0], was[p][0][1] - first[0][1], was[p][0][2] - first[0][2]}
		now := r.nodes[p][0]
		x, z := to[0][0]+d[0]*cos+d[2]*sin, to[0][2]-d[0]*sin+d[2]*cos
		if math.Hypot(math.Hypot(now[0][0]-x, now[0][2]-z), now[0][1]-to[0][1]-d[1]) > sameSpot ||
			math.Abs(math.Remainder(turnBetween(was[p], now)-turn, 360)) > 0.2 {
			return false
		}
	}
	return true
}

// moveParts does the edits, and moves each moved part until its first body stands where the file has it.
func (r *handReader) moveParts() (*spec.Scene, error) {
	after := r.base
	if len(r.edits) > 0 {
		var err error
		if after, err = after.Apply(r.edits); err != nil {
			return nil, err
		}
	}
	moved := sortedKeys(r.moved)
	for round := 0; ; round++ {
		m, err := Build(after, r.cache)
		if err != nil {
			return nil, err
		}
		now := placesOf(m)
		path, away := r.furthest(now)
		if away <= sameSpot {
			return after, nil
		}
		if math.IsInf(away, 1) {
			return nil, cannotSay(path, "it was deleted, and other bodies of its part were not")
		}
		if round == 4 || len(moved) == 0 {
			return nil, cannotSay(path, "it is %.2f m from where the scene can put it", away)
		}
		var edits []spec.Edit
		for _, path := range moved {
			edits = append(edits, r.moveCloser(after, path, now))
		}
		if after, err = after.Apply(edits); err != nil {
			return nil, err
		}
	}
}

// furthest returns the node that is furthest from its place in the file.
func (r *handReader) furthest(now map[string]point4) (path string, away float64) {
	for _, p := range sortedKeys(now) {
		if at := r.nodes[p]; len(at) == 0 {
			return p, math.Inf(1)
		} else if d := farApart(at[0], now[p]); d > away {
			path, away = p, d
		}
	}
	return path, away
}

// moveCloser returns an edit that moves a part by the rest of its way.
func (r *handReader) moveCloser(s *spec.Scene, path string, now map[string]point4) spec.Edit {
	e := spec.Edit{Do: "move", Path: path, At: []float64{0, 0, 0}}
	part, around := s.PartAt(path)
	if part != nil {
		copy(e.At, part.At)
	}
	is, want := now[r.moved[path]], r.nodes[r.moved[path]][0]
	sin, cos := math.Sincos(around.Turn * math.Pi / 180)
	x, y, z := want[0][0]-is[0][0], is[0][2]-want[0][2], want[0][1]-is[0][1]
	for i, d := range []float64{x*cos + y*sin, y*cos - x*sin, z} {
		e.At[i] = roundMillimetres(e.At[i] + d/cmp.Or(around.Scale, 1))
	}
	if turn := turnBetween(is, want); math.Abs(turn) > 0.05 {
		own := 0.0
		if part != nil {
			own = part.Turn
		}
		own = math.Round((own+turn)*100) / 100
		e.Turn = &own
	}
	return e
}

func roundMillimetres(x float64) float64 { return math.Round(x*1000)/1000 + 0 }
