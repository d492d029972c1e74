package builder

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v4"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

func Example() {
	barrel, err := MakeThing("barrel", 1, nil, map[string]string{"timber": "planks"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(barrel.Mesh.F), "faces of", strings.Join(barrel.Materials, " and "))
	// Output: 262 faces of planks and iron
}

func recipes(t testing.TB) *library {
	t.Helper()
	lib, err := loadRecipes()
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// Every recipe can be built, and all that it refers to exists.
func TestRecipesAreComplete(t *testing.T) {
	lib := recipes(t)
	for name, thing := range lib.Things {
		checkParts(t, lib, name, thing.Parts, thing.Materials)
	}
}

func checkParts(t *testing.T, lib *library, name string, parts []part, aliases map[string]list[string]) {
	for i := range parts {
		p := &parts[i]
		given := 0
		for _, has := range []bool{p.Box != nil, p.Frustum != nil, p.Quad != nil, p.Cylinder != nil, p.Cone != nil,
			p.Sphere != nil, p.Torus != nil, p.Gable != nil, p.Lathe != nil, p.Surface != nil, p.Mesh != nil, p.Use != "",
			p.Parts != nil} {
			given += int(truth(has))
		}
		if given != 1 {
			t.Errorf("%s: part %d has %d shapes", name, i, given)
		}
		materials := append(slices.Clone(p.Of), p.Ends)
		for alias, of := range p.Materials {
			materials = append(materials, of...)
			if lib.Things[p.Use].Materials[alias] == nil {
				t.Errorf("%s: %s has no material %q", name, p.Use, alias)
			}
		}
		for _, m := range materials {
			if _, ok := lib.Materials[m]; m != "" && !ok && aliases[m] == nil {
				t.Errorf("%s: no material %q", name, m)
			}
		}
		for _, b := range p.With {
			if !lib.Things[p.Use].Let.has(b.name) {
				t.Errorf("%s: %s has no value %q", name, p.Use, b.name)
			}
		}
		if p.Use != "" && lib.Things[p.Use].Parts == nil {
			t.Errorf("%s: uses %q, which is not built", name, p.Use)
		}
		checkParts(t, lib, name, p.Parts, aliases)
	}
}

// Every thing can be built alone.
func TestThingsBuild(t *testing.T) {
	lib := recipes(t)
	for name := range lib.Things {
		for seed := range uint64(10) {
			s := newScope(lib, seed)
			p := &piece{}
			s.addThing(p, &part{Use: name})
			if s.err != nil || len(s.vars) != len(newScope(lib, seed).vars) || len(p.m.F) == 0 {
				t.Errorf("%s: %v, %d faces, %v", name, s.err, len(p.m.F), s.vars)
			}
		}
	}
}

func newScope(lib *library, seed uint64) *scope {
	return &scope{lib: lib, seed: seed, rnd: noise.NewSource(seed, "test"),
		vars: []entry[float64]{{"pi", math.Pi}, {"true", 1}, {"false", 0}, {"dark", 1}}}
}

func TestBadRecipesAreErrors(t *testing.T) {
	for _, row := range []struct{ recipe, reason string }{
		{"things: {a: {part: []}}", "part"},
		{"things: {a: {parts: [{box: [1, 1, 1], colour: red}]}}", "colour"},
		{"things: {a: {parts: [{mesh: {edges: []}}]}}", "edges"},
		{"places: {}", "places"},
		{"materials: {a: {colour: [1, 1, 1, 1]}}", "colour"},
		{"things: {a: {parts: [{box: [1, 1, 1 +]}]}}", `"1 +"`},
		{"things: {a: {parts: [{box: [1, 1, exec(1)]}]}}", "no function exec"},
		{"things: {a: {parts: [{box: [1, 1, 'max(1)']}]}}", "no function max of 1 arguments"},
		{"things: {a: {parts: [{turn: 'a[0]'}]}}", "not allowed"},
		{"things: {a: {let: [1]}}", "a mapping is needed"},
	} {
		_, err := loadLibrary(fstest.MapFS{"a.yaml": {Data: []byte(row.recipe)}})
		if err == nil || !strings.Contains(err.Error(), row.reason) {
			t.Errorf("%s: %v, without %q", row.recipe, err, row.reason)
		}
	}
}

func TestFaultyPartsAreErrors(t *testing.T) {
	lib := recipes(t)
	for _, recipe := range []string{"{of: red}", "{box: [1, 2], of: red}", "{box: [1, 2, size], of: red}",
		"{box: [1, 2, 3]}", "{use: dragon}", "{each: {x y: [[1]]}, box: [x, y, 1], of: red}",
		"{each: {x y: 2}, box: [x, y, 1], of: red}", "{box: [1, 1, 1], of: [red, blue]}"} {
		var p part
		if err := yaml.Unmarshal([]byte(recipe), &p); err != nil {
			t.Fatal(err)
		}
		s := newScope(lib, 1)
		s.addParts(&piece{}, []part{p})
		if s.err == nil {
			t.Errorf("%s is built", recipe)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{"1 + 2*3": 7, "-(1 - 3) / 4": 0.5, "7 % 4": 3, "2 > 1 && !(1 >= 2)": 1,
		"1 == 2 || 2 < 1": 0, "max(2, min(5, 3))": 3, "floor(2.7) + round(2.5)": 5, "hypot(3, 4)": 5, "pow(2, 3)": 8,
		"abs(-1) + sqrt(4)": 3, "2*pi": 2 * math.Pi, "true": 1,
		"false && nothing": 0, "true || nothing": 1, "cos(0) + sin(0) + atan2(0, 1)": 1} {
		s := newScope(recipes(t), 1)
		if got := evalText(t, s, text); got != want || s.err != nil {
			t.Errorf("%s is %v (%v), not %v", text, got, s.err, want)
		}
	}
	s := newScope(recipes(t), 1)
	for _, text := range []string{"between(2, 3)", "2 + random()", "2.5 + 0*intn(9)"} {
		if got := evalText(t, s, text); got < 2 || got > 3 {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func evalText(t *testing.T, s *scope, text string) float64 {
	t.Helper()
	var n number
	if err := n.UnmarshalYAML(&yaml.Node{Kind: yaml.ScalarNode, Value: text}); err != nil {
		t.Fatal(err)
	}
	return n(s)
}

// A loop's values, the index, and values that change after each repetition.
func TestControl(t *testing.T) {
	var p part
	recipe := `
let: {at: 0}
parts:
- each: {x y: [[1, 2], [3, 4]], k: 2}
  when: "!(x == 3 && k == 0)"
  box: [1, 1, 1]
  of: [red, blue]
  at: [x*10 + k, y, at]
  next: {at: at + 1}`
	if err := yaml.Unmarshal([]byte(recipe), &p); err != nil {
		t.Fatal(err)
	}
	s, made := newScope(recipes(t), 1), &piece{}
	s.addParts(made, []part{p})
	var got []scene.Vec
	for i := 0; i < len(made.m.V); i += 8 {
		got = append(got, made.m.V[i].Add(scene.Vec{0.5, 0.5, 0}))
	}
	want := []scene.Vec{{10, 2, 0}, {11, 2, 1}, {31, 4, 3}}
	if s.err != nil || !slices.Equal(got, want) || !slices.Equal(made.mats, []string{"red", "blue"}) {
		t.Errorf("%v, %v, %v", got, made.mats, s.err)
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range []string{"1 + 2*x", "between(0, 1)", "max(1, -x)", "a.b(c)", "func() {}()", "intn(1e99)", `"s"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n number
		if err := n.UnmarshalYAML(&yaml.Node{Kind: yaml.ScalarNode, Value: text}); err == nil {
			n(newScope(&library{}, 1))
		}
	})
}
