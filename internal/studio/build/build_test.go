package build

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/fault"
	"loregate/internal/studio/builder"
	"loregate/internal/studio/gltf/gltftest"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

func Example() {
	s, err := spec.Parse([]byte("{version: 1, name: yard, parts: {keep: {tower: {radius: 3, height: 12, " +
		"door: true, slits: 2}}}}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := Build(s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Counts()["tower"], m.Counts()["door"], m.Counts()["arrow slit"])
	// Output: 1 1 6
}

// paints are shared by all tests, because painting takes long.
var paints = NewPaints()

// example parses a scene in the folder of examples.
func example(t testing.TB, name string) *spec.Scene {
	t.Helper()
	text, err := os.ReadFile("../../../examples/scenes/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, string(text))
}

func parsed(t testing.TB, text string) *spec.Scene {
	t.Helper()
	s, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func yard(parts string) string { return "version: 1\nname: yard\nparts: " + parts }

func built(t testing.TB, s *spec.Scene) *Model {
	t.Helper()
	m, err := Build(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encoded(t testing.TB, m *Model) []byte {
	t.Helper()
	b, err := m.GLB(paints)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Each scene of the examples has the things that its text names, in their numbers, without a fault, and is
// a sound file. The page of the docs has its table.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../../examples/scenes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	table := "| scene | things |\n|---|---|\n"
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			s := example(t, name)
			m := built(t, s)
			for _, f := range m.Check() {
				t.Errorf("%+v", f)
			}
			if len(m.Warnings) > 0 || s.Brief == "" || len(s.Shows) == 0 {
				t.Errorf("warnings %v, brief %q, shows %v", m.Warnings, s.Brief, s.Shows)
			}
			table += rowOfScene(s, name)
			gltftest.Check(t, name, encoded(t, m))
		})
	}
	page, err := os.ReadFile(docsPage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- scenes -->\n", "<!-- end of scenes -->\n"
	before, rest, _ := strings.Cut(string(page), begin)
	old, after, ok := strings.Cut(rest, end)
	if *update && ok {
		err = os.WriteFile(docsPage, []byte(before+begin+table+end+after), 0o644)
	} else if old != table {
		t.Errorf("the table of %s is old; write it with go test ./internal/studio/build -run Examples -update", docsPage)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const docsPage = "../../../docs/studio.md"

var update = flag.Bool("update", false, "write the table of scenes of the docs")

// rowOfScene returns the row of the docs for a scene: its picture and the things that it shows.
func rowOfScene(s *spec.Scene, name string) string {
	var things []string
	for _, noun := range sortedKeys(s.Shows) {
		things = append(things, fmt.Sprintf("%d %s", s.Shows[noun], noun))
	}
	return fmt.Sprintf("| ![%s](studio/%s.jpg) `%s.yaml` | %s |\n", s.Title, name, name, strings.Join(things, ", "))
}

// allBodies returns a scene with a body of each kind.
func allBodies(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/bodies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// All kinds of bodies are sound in glTF, and the same with and without a cache, and in any order.
func TestBodies(t *testing.T) {
	s := parsed(t, allBodies(t))
	m := built(t, s)
	glb := encoded(t, m)
	gltftest.Check(t, "bodies", glb)
	cache := NewCache()
	for range 2 {
		again, err := Build(s, cache)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, again), glb) {
			t.Error("the cache changes the file")
		}
	}
	for _, kind := range m.Things {
		if kind.Path == "plan.door-3" && kind.Kind != "door" {
			t.Errorf("%+v", kind)
		}
	}
	for noun, n := range map[string]int{"gate": 1, "room": 3, "archway": 2, "box": 39} {
		if got := m.Counts()[noun]; got != n {
			t.Errorf("%d of %s, not %d", got, noun, n)
		}
	}
}

// Walls, roofs and the other bodies with holes are closed: each edge borders one face on either side.
func TestPanelsAreClosed(t *testing.T) {
	for name, p := range map[string]*panel{
		"straight": {Length: 6, Height: 3, Thick: 0.4, Start: 0.2, End: -0.1, Holes: []hole{{1, 2, 0, 2, false},
			{3, 4, 1, 2, false}}},
		"round": {Length: 2 * math.Pi * 3, Radius: 3, Height: 4, Thick: 0.5, Holes: []hole{{-0.5, 0.5, 0, 2,
			false}, {4, 5, 1, 2, false}}},
	} {
		m := makePanel(p)
		edges := map[[2]int]int{}
		for _, f := range m.F {
			for i, a := range f.V {
				edges[[2]int{a, f.V[(i+1)%len(f.V)]}]++
			}
		}
		for e, n := range edges {
			if n != 1 || edges[[2]int{e[1], e[0]}] != 1 {
				t.Errorf("%s: edge %v is met %d times, back %d", name, e, n, edges[[2]int{e[1], e[0]}])
			}
		}
		volume := 0.0
		for _, f := range m.F {
			for i := 2; i < len(f.V); i++ {
				volume += dotOf(m.V[f.V[0]], m.V[f.V[i-1]].Cross(m.V[f.V[i]])) / 6
			}
		}
		if volume <= 0 {
			t.Errorf("%s is inside out", name)
		}
	}
}

// The surface of a cave is closed except at open ends, and faces the open space.
func TestCaveFacesInwards(t *testing.T) {
	m := makeCave(&spec.Cave{Chambers: [][4]float64{{0, 0, 0, 4}}, Rough: 0.4})
	edges, inwards := map[[2]int]int{}, 0
	for _, f := range m.F {
		if dotOf(m.Normal(f), scene.Vec{0, 0, 1.5}.Sub(m.V[f.V[0]])) > 0 {
			inwards++
		}
		for i, a := range f.V {
			edges[[2]int{a, f.V[(i+1)%len(f.V)]}]++
		}
	}
	if inwards < len(m.F)*99/100 || len(m.F) < 500 {
		t.Errorf("%d of %d faces face inwards", inwards, len(m.F))
	}
	for e := range edges {
		if edges[[2]int{e[1], e[0]}] == 0 {
			t.Fatalf("edge %v is open", e)
		}
	}
	closed := &spec.Cave{Tunnels: []spec.Tunnel{{Path: [][3]float64{{0, 0, 0}, {12, 0, 0}}, Radius: 2}}}
	open := &spec.Cave{Tunnels: []spec.Tunnel{{Path: closed.Tunnels[0].Path, Radius: 2, Open: "start"}}}
	if a, b := len(makeCave(closed).F), len(makeCave(open).F); a-b < 10 {
		t.Errorf("%d faces closed, %d open", a, b)
	}
	big := &spec.Cave{Chambers: [][4]float64{{-3000, 0, 0, 100}, {3000, 0, 0, 100}}}
	if k := newCarver(big); k.n[0]*k.n[1]*k.n[2] > carvePoint*3/2 {
		t.Errorf("%v points", k.n)
	}
}

// Each fault is found, and names its part.
func TestFindings(t *testing.T) {
	for name, row := range map[string]struct{ parts, more, kind, path string }{
		"two crates": {"{a: {prop: {kind: crate}}, b: {prop: {kind: crate}, at: [0.3, 0]}}", "", "intersects",
			"a"},
		"ghost": {"{a: {prop: {kind: crate}}, b: {prop: {kind: crate}, at: [0.3, 0], ghost: true}}", "",
			"", ""},
		"apart": {"{a: {prop: {kind: crate}}, b: {prop: {kind: crate}, at: [3, 0]}}", "", "", ""},
		"in a doorway": {"{a: {wall: {length: 6, height: 3, openings: [{kind: arch}]}}, b: {box: {size: [0.4, 0.1, " +
			"0.5]}}}", "", "", ""},
		"stacked":  {"{a: {box: {size: [2, 2, 1]}}, b: {prop: {kind: barrel}, at: [0, 0, 1]}}", "", "", ""},
		"floating": {"{a: {prop: {kind: barrel}, at: [0, 0, 2]}}", "", "floats", "a"},
		"buried":   {"{a: {prop: {kind: barrel}, at: [0, 0, -3]}}", "", "sunk", "a"},
		"blocked door": {"{a: {house: {size: [8, 6]}}, b: {prop: {kind: cart}, at: [-1, -4.75]}}", "", "blocks",
			"b"},
		"free door":     {"{a: {house: {size: [8, 6]}}, b: {prop: {kind: cart}, at: [-1, -8]}}", "", "", ""},
		"cart in water": {"{a: {prop: {kind: cart}}}", "water: {level: 0.5}", "in_water", "a"},
		"boat in water": {"{a: {prop: {kind: boat}}}", "water: {level: 0.5}", "", ""},
		"walled in": {"{a: {wall: {along: [[-4, -4], [4, -4], [4, 4], [-4, 4]], closed: true, height: 3}}}",
			"markers: {in: {kind: spawn, at: [0, 0]}, out: {kind: point, at: [9, 0]}}", "unreachable", "marker.out"},
		"through a gate": {"{a: {wall: {along: [[-4, -4], [4, -4], [4, 4], [-4, 4]], closed: true, height: 3, " +
			"openings: [{kind: gate}]}}}",
			"markers: {in: {kind: spawn, at: [0, 0]}, out: {kind: point, at: [9, 0]}}", "", ""},
		"on a roof": {"{a: {box: {size: [6, 6, 3]}}}",
			"markers: {in: {kind: spawn, at: [-9, 0]}, out: {kind: point, at: [0, 0, 3]}}", "unreachable",
			"marker.out"},
		"up a stair": {"{a: {box: {size: [6, 6, 3]}}, s: {stair: {height: 3, length: 5, width: 2}, at: [0, -8]}}",
			"markers: {in: {kind: spawn, at: [-9, 0]}, out: {kind: point, at: [0, 0, 3]}}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := built(t, parsed(t, yard(row.parts)+"\n"+row.more)).Check()
			switch {
			case row.kind == "" && len(found) > 0:
				t.Errorf("%+v", found)
			case row.kind != "" && (len(found) != 1 || found[0].Kind != row.kind || found[0].Path != row.path):
				t.Errorf("%+v", found)
			}
		})
	}
}

// A cache forgets the meshes that were not used for longest when it has too many corners.
func TestCacheIsBounded(t *testing.T) {
	c := NewCache()
	for i := range 3 {
		m := &Mesh{key: fmt.Sprint(i)}
		m.F = slices.Repeat([]scene.Face{{V: make([]int, 1000)}}, 3000)
		c.keepMesh(m.key, m)
		c.findMesh("0")
	}
	if c.findMesh("0") == nil || c.findMesh("1") != nil || c.findMesh("2") == nil || c.corners > maxCached {
		t.Errorf("%d corners in %d meshes", c.corners, len(c.meshes))
	}
}

// A marker so far away that the search for a way ends is reported as such.
func TestFarMarkerIsReported(t *testing.T) {
	found := built(t, parsed(t, yard("{a: {prop: {kind: crate}}}")+
		"\nmarkers: {in: {kind: spawn, at: [2, 2]}, out: {kind: point, at: [900, 900]}}")).Check()
	if len(found) != 1 || !strings.Contains(found[0].Text, "too far") {
		t.Errorf("%+v", found)
	}
}

// A scene that would take long to check is checked in part, and a finding says so.
func TestLargeSceneIsCheckedInPart(t *testing.T) {
	m := built(t, parsed(t, yard("{a: {repeat: {row: {count: 4, step: [0, 0, 601]}}, parts: "+
		"{b: {box: {size: [300, 300, 0.01]}, repeat: {row: {count: 2000, step: [0, 0, 0.3]}}}}}}")))
	found := m.Check()
	if last := found[len(found)-1]; last.Kind != "unchecked" {
		t.Errorf("%+v", last)
	}
	if d := m.Describe(10); len(d.Things) != 4 || d.Things[0].Members != 2000 {
		t.Errorf("%+v", d.Things)
	}
}

// Bodies that do not fit are errors with the path and a remedy.
func TestBadBodies(t *testing.T) {
	many := strings.Repeat("[1, 0], ", 49)
	for name, row := range map[string]struct{ parts, says string }{
		"material": {"{a: {box: {size: [1, 1, 1]}, material: cheese}}",
			"a: material: there is no material \"cheese\"; there is"},
		"prop":       {"{a: {prop: {kind: dragon}}}", "a: prop.kind: there is no thing \"dragon\"; there is"},
		"measure":    {"{a: {prop: {kind: brazier, with: {x: 3}}}}", "no measure"},
		"low wall":   {"{a: {wall: {length: 5, height: 2, openings: [{kind: door}]}}}", "a: openings[0]"},
		"short wall": {"{a: {wall: {length: 1, height: 4, openings: [{kind: gate}]}}}", "a: openings[0]"},
		"one name": {"{a: {wall: {length: 9, height: 4, openings: [{kind: door, name: x, at: 2}, {kind: door, " +
			"name: x, at: 5}]}}}", "used twice"},
		"crossing": {"{a: {extrude: {outline: [[0, 0], [1, 1], [1, 0], [0, 1]], height: 1}}}", "crosses itself"},
		"body": {"{a: {tower: {radius: 3, height: 9}, parts: {dor: {material: iron}}}}",
			"tower has no body \"dor\"; it has"},
		"room": {"{a: {plan: {rooms: {hall: [0, 0, 4, 4]}, doors: [{between: [hall, x]}]}}}",
			"a: plan.doors[0]"},
		"no wall": {"{a: {plan: {rooms: {hall: [0, 0, 4, 4], b: [9, 0, 12, 4]}, doors: [{between: [hall, b]}]}}}",
			"no common wall"},
		"bodies": {"{a: {house: {size: [9, 9], storeys: 8, windows: 9}, repeat: {row: {count: 2000, step: [20, " +
			"0]}}}}", "more than 20000 bodies"},
		"corners": {"{a: {lathe: {profile: [" + many + "[1, 1]], sides: 96}, repeat: {row: {count: 2000, step: [1, " +
			"0]}, members: {" +
			distinctLathes(250) + "}}}}", "corners"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(parsed(t, yard(row.parts)), nil)
			var bad *fault.Error
			if !errors.As(err, &bad) || bad.Kind != fault.Invalid || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// distinctLathes returns n members of a repeat, each with a mesh of its own.
func distinctLathes(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d: {lathe: {sides: 96, profile: [", i+1)
		for k := range 90 {
			fmt.Fprintf(&b, "[1, %d], ", k)
		}
		fmt.Fprintf(&b, "[0, %d]]}}", 100+i)
	}
	return b.String()
}

// A change of a body of a composite and of a member of a repeat changes only that.
func TestOverrides(t *testing.T) {
	m := built(t, parsed(t, yard(`{keep: {tower: {radius: 3, height: 12, door: true, slits: 2}, parts: {door: {material: iron}, battlements: {omit: true}}},
 row: {box: {size: [1, 1, 1]}, repeat: {row: {count: 3, step: [2, 0]}, members: {"2": {omit: true}, "3": {material: brick}}}}}`)))
	if m.Counts()["battlements"] != 0 || m.Counts()["box"] != 2 {
		t.Errorf("%v", m.Counts())
	}
	for _, thing := range m.Things {
		switch thing.Path {
		case "keep.door":
			if thing.Materials[0] != "iron" {
				t.Errorf("%+v", thing)
			}
		case "row.3":
			if thing.Materials[0] != "brick" {
				t.Errorf("%+v", thing)
			}
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add(allBodies(f))
	f.Add(yard("{a: {wall: {radius: 4, height: 5, openings: [{kind: arch, at: -180, size: [20, 3]}]}}}"))
	f.Add(yard("{a: {house: {size: [2, 2], windows: 20}}}"))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := spec.Parse([]byte(text))
		if err != nil {
			return
		}
		m, err := Build(s, nil)
		var bad *fault.Error
		switch {
		case err != nil && (!errors.As(err, &bad) || bad.Kind == fault.Internal):
			t.Errorf("%v", err)
		case err == nil && len(m.Nodes) < 300:
			m.Describe(10)
			m.Check()
			if _, err := m.Script(plainPainter{paints}); err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}

// plainPainter returns a hash for each surface without painting it.
type plainPainter struct{ *Paints }

func (plainPainter) Keep([]byte) (string, error) { return strings.Repeat("2", 64), nil }

func (plainPainter) Painted(string) (builder.Stored, error) {
	return builder.Stored{Color: strings.Repeat("0", 64), Normal: strings.Repeat("1", 64),
		Rough: strings.Repeat("3", 64)}, nil
}

// city is a scene of 2,000 parts, all of different sizes.
func city(first float64) *spec.Scene {
	s := &spec.Scene{Version: 1, Name: "city", Parts: map[string]*spec.Part{},
		Ground: &spec.Ground{Material: "grass", Size: 300, Hills: 5, Flat: 12}}
	materials := []string{"stone", "timber", "plaster", "slate", "brick"}
	for i := range 2000 {
		size := 1 + float64(i)*0.001
		if i == 0 {
			size = first
		}
		p := &spec.Part{At: []float64{float64(i%50) * 5, float64(i/50) * 5}, Material: materials[i%5]}
		switch i % 4 {
		case 0:
			p.Box = &spec.Box{Size: [3]float64{size, size, size}}
		case 1:
			p.Cylinder = &spec.Cylinder{Radius: size / 2, Height: size, Sides: 24}
		case 2:
			p.Roof = &spec.Roof{Form: "gable", Size: [2]float64{size, size}, Eaves: 0.3}
		case 3:
			p.Column = &spec.Column{Height: size * 2, Form: "round"}
		}
		s.Parts[fmt.Sprintf("part-%d", i)] = p
	}
	return s
}

func buildCity(b *testing.B, first float64, c *Cache, p Painter) {
	m, err := Build(city(first), c)
	if err == nil {
		_, err = m.GLB(p)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCity builds 2,000 parts as a GLB file, with nothing made before: not even its textures.
func BenchmarkCity(b *testing.B) {
	for b.Loop() {
		buildCity(b, 1, nil, NewPaints())
	}
}

// BenchmarkOneChange builds the same scene after a change of one part.
func BenchmarkOneChange(b *testing.B) {
	c, size := NewCache(), 1.0
	buildCity(b, size, c, paints)
	for b.Loop() {
		size += 0.01
		buildCity(b, size, c, paints)
	}
}
