package spec

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"loregate/internal/fault"
)

var update = flag.Bool("update", false, "write the schema")

func Example() {
	s, err := Parse([]byte("{version: 1, name: yard, parts: {crate: {box: {size: [1, 1, 1]}, " +
		"repeat: {row: {count: 3, step: [2, 0]}}}}}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	kind, _ := s.Parts["crate"].Body()
	fmt.Println(s.Name, kind, s.Parts["crate"].Repeat.Size())
	// Output: yard box 3
}

// yard returns a scene with these parts, in YAML.
func yard(parts string) string { return "version: 1\nname: yard\nparts: " + parts }

const crate = "{box: {size: [1, 1, 1]}}"

// TestSchema compares the schema of the language with the file that editors and models use.
func TestSchema(t *testing.T) {
	s, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	s.Title, s.Schema = "Scene of Loregate", "https://json-schema.org/draft/2020-12/schema"
	got, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const file = "../../../docs/studio/scene-spec.schema.json"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != string(got) {
		t.Errorf("%s is not the schema of the types (%v); write it with go test ./internal/studio/spec -run Schema -update", file, err)
	}
}

// Each bound and each rule has one error, which names the path.
func TestBadScenes(t *testing.T) {
	deep := "{a: " + strings.Repeat("{parts: {a: ", 14) + crate + strings.Repeat("}}", 14) + "}"
	for name, row := range map[string]struct{ text, path, says string }{
		"empty":      {"", "spec", "is empty"},
		"not YAML":   {"a: [", "spec", "neither YAML nor JSON"},
		"version":    {"{version: 2, name: a}", "version", "1"},
		"too long":   {"# " + strings.Repeat("x", maxText), "spec", "use define and repeat"},
		"values":     {"[" + strings.Repeat("1,", maxValues) + "1]", "spec", "use define and repeat"},
		"nesting":    {strings.Repeat("[", 70) + strings.Repeat("]", 70), "spec[0]", "nested more than"},
		"anchor":     {yard("{a: &x " + crate + ", b: *x}"), "spec.parts.a", "use define and use"},
		"two fields": {yard("{a: {box: {size: [1, 1, 1]}, box: {size: [1, 1, 1]}}}"), "spec.parts.a", "two fields"},
		"NaN":        {yard("{a: {box: {size: [.nan, 1, 1]}}}"), "spec.parts.a.box.size[0]", "finite"},
		"infinity":   {yard("{a: {at: [-.inf, 1], box: {size: [1, 1, 1]}}}"), "spec.parts.a.at[0]", "finite"},
		"huge": {yard("{a: {extrude: {outline: [[0, 0], [1e300, 0], [1, 1]], height: 1}}}"),
			"spec.parts.a.extrude.outline", "10000"},
		"large":      {yard("{a: {box: {size: [1, 1, 99999]}}}"), "parts.a.box.size", "2000"},
		"field":      {yard("{a: {boks: {size: [1, 1, 1]}}}"), "parts.a.boks", "not known"},
		"name":       {yard("{A!: " + crate + "}"), "parts", "not a name"},
		"no body":    {yard("{a: {at: [1, 1]}}"), "a", "has no body"},
		"null part":  {yard("{a: null}"), "a", ""},
		"two bodies": {yard("{a: {box: {size: [1, 1, 1]}, sphere: {radius: 1}}}"), "a", "several bodies"},
		"deep":       {yard(deep), "a.a.a", "groups deep"},
		"bomb": {yard("{a: {parts: {b: {box: {size: [1, 1, 1]}, repeat: {grid: {columns: 100, rows: 100, " +
			"step: [2, 2]}}}}, repeat: {row: {count: 2000, step: [1, 0]}}}}"), "a", "at most 20000"},
		"deeper bomb": {yard(nestedRepeats(8, 10)), "a", "at most 20000"},
		"density": {yard("{a: {box: {size: [1, 1, 1]}, repeat: {scatter: {area: [-2000, -2000, 2000, 2000], " +
			"density: 10}}}}"), "a", "density"},
		"every": {yard("{a: {box: {size: [1, 1, 1]}, repeat: {along: {path: [[-2000, 0], [2000, 0]], " +
			"every: 0.05}}}}"), "a", "at most 20000"},
		"itself": {"{version: 1, name: a, define: {x: {use: x}}, parts: {b: {use: x}}}", "b", "uses itself"},
		"each other": {"{version: 1, name: a, define: {x: {parts: {p: {use: y}}}, y: {parts: {p: {use: x}}}}, " +
			"parts: {b: {use: x}}}", "b.p.p", "uses itself"},
		"undefined": {yard("{b: {use: x}}"), "b", "no \"x\" in define"},
		"arrangements": {yard("{a: {box: {size: [1, 1, 1]}, repeat: {row: {count: 2, step: [1, 0]}, " +
			"ring: {count: 2, radius: 3}}}}"), "a", "exactly one"},
		"no path": {yard("{a: {box: {size: [1, 1, 1]}, repeat: {along: {path: [[1, 1], [1, 1]], " +
			"count: 3}}}}"), "a", "no length"},
		"area": {yard("{a: {box: {size: [1, 1, 1]}, repeat: {scatter: {area: [1, 1, 1, 1], count: 3}}}}"),
			"a", "area is empty"},
		"member": {yard("{a: {box: {size: [1, 1, 1]}, repeat: {row: {count: 2, step: [1, 0]}, " +
			"members: {x: {omit: true}}}}}"), "a", "number of a member"},
		"tower":        {yard("{a: {tower: {radius: 3, side: 4, height: 9}}}"), "a", "radius or side"},
		"thick tower":  {yard("{a: {tower: {radius: 3, height: 9, thick: 3}}}"), "a", "thick"},
		"wall":         {yard("{a: {wall: {height: 3}}}"), "a", "one of along, length and radius"},
		"roof":         {yard("{a: {roof: {form: gable, radius: 3}}}"), "a", "only spire and flat"},
		"long wall":    {yard("{a: {wall: {along: [[-3000, 0], [3000, 0]], height: 3}}}"), "a", "4,000 m"},
		"palisade":     {yard("{a: {palisade: {along: [[-3000, 0], [3000, 0]]}}}"), "a", "4,000 m"},
		"cameras":      {yard(crateIn("a")) + "\ncameras: {" + manyNames(201) + "}", "cameras", "at most 200"},
		"no cave":      {yard("{a: {cave: {}}}"), "a", "1 to 60"},
		"chamber":      {yard("{a: {cave: {chambers: [[0, 0, 0, 0]]}}}"), "a", "radius of a chamber"},
		"lathe":        {yard("{a: {lathe: {profile: [[-1, 0], [1, 1]]}}}"), "a", "less than 0"},
		"plan":         {yard("{a: {plan: {rooms: {hall: [0, 0, 0, 3]}}}}"), "a", "least x"},
		"turns":        {yard("{a: {box: {size: [1, 1, 1]}, turn: 3, facing: [1, 1]}}"), "a", "not both"},
		"tilted group": {yard("{a: {tilt: [1, 1], parts: {b: " + crate + "}}}"), "a", "tilt"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(row.text))
			var bad *fault.Error
			if !errors.As(err, &bad) || bad.Kind != fault.Invalid {
				t.Fatalf("%v", err)
			}
			if !strings.Contains(err.Error(), row.path) || !strings.Contains(err.Error(), row.says) ||
				len(err.Error()) > 600 {
				t.Errorf("%.700v", err)
			}
		})
	}
}

func crateIn(name string) string { return "{" + name + ": " + crate + "}" }

// manyNames returns n empty entries.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "c%d: {}, ", i)
	}
	return b.String()
}

// nestedRepeats returns groups in groups, each with n members.
func nestedRepeats(depth, n int) string {
	text := crate
	for range depth {
		text = fmt.Sprintf("{repeat: {row: {count: %d, step: [1, 0]}}, parts: {a: %s}}", n, text)
	}
	return "{a: " + text + "}"
}

func parsed(t testing.TB, text string) *Scene {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEdits(t *testing.T) {
	const base = `{keep: {tower: {radius: 3, height: 12, door: true}, material: stone},
 houses: {house: {size: [6, 5]}, repeat: {row: {count: 3, step: [9, 0]}}},
 yard: {parts: {well: {prop: {kind: well}}, crate: {box: {size: [1, 1, 1]}}}}}`
	for name, row := range map[string]struct{ edit, want, err string }{
		"add":           {`{"do": "add", "path": "yard.cart", "value": {"prop": {"kind": "cart"}}}`, "yard.cart added", ""},
		"add twice":     {`{"do": "add", "path": "yard.well", "value": {"prop": {"kind": "cart"}}}`, "", "already a part"},
		"set":           {`{"do": "set", "path": "keep", "value": {"tower": {"height": 15}}}`, "keep changed", ""},
		"set bad":       {`{"do": "set", "path": "keep", "value": {"tower": {"height": -15}}}`, "", "parts.keep.tower.height"},
		"set body":      {`{"do": "set", "path": "keep.door", "value": {"material": "iron"}}`, "keep.door added", ""},
		"set member":    {`{"do": "set", "path": "houses.2", "value": {"turn": 90}}`, "houses changed", ""},
		"set scene":     {`{"do": "set", "value": {"light": {"time": "night"}, "cameras": {"main": {"at": [1, 2, 3], "look": [0, 0, 0]}}}}`, " changed", ""},
		"move":          {`{"do": "move", "path": "yard.well", "at": [4, 5], "turn": 30}`, "yard.well changed", ""},
		"move to":       {`{"do": "move", "path": "yard.well", "to": "well"}`, "well added, yard.well removed", ""},
		"move inside":   {`{"do": "move", "path": "yard", "to": "yard.well.yard"}`, "", "inside of"},
		"delete":        {`{"do": "delete", "path": "yard.well"}`, "yard.well removed", ""},
		"delete body":   {`{"do": "delete", "path": "keep.door"}`, "keep.door added", ""},
		"delete member": {`{"do": "delete", "path": "houses.3"}`, "houses changed", ""},
		"delete none":   {`{"do": "delete", "path": "yard.cart"}`, "", "there is crate, well"},
		"replace":       {`{"do": "replace", "path": "keep", "value": {"box": {"size": [1, 2, 3]}}}`, "keep changed", ""},
		"replace none":  {`{"do": "replace", "path": "x", "value": {"box": {"size": [1, 2, 3]}}}`, "", "no part"},
	} {
		t.Run(name, func(t *testing.T) {
			var e Edit
			if err := json.Unmarshal([]byte(row.edit), &e); err != nil {
				t.Fatal(err)
			}
			before := parsed(t, yard(base))
			after, err := before.Apply([]Edit{e})
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			changes, err := Diff(before, after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range changes {
				got = append(got, c.Path+" "+c.Did)
			}
			if strings.Join(got, ", ") != row.want {
				t.Errorf("%q", got)
			}
			if same, err := Diff(before, parsed(t, yard(base))); err != nil || len(same) > 0 {
				t.Errorf("the scene itself changed: %v, %v", same, err)
			}
		})
	}
}

// A scene is the same after it is encoded and decoded.
func TestEncodingIsStable(t *testing.T) {
	s := parsed(t, yard(`{a: {cylinder: {radius: 1, height: 2, top: 0}}, b: {lamp: {}}}`))
	one, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(one)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := again.Encode(); err != nil || string(two) != string(one) {
		t.Errorf("%s\n%s %v", one, two, err)
	}
	if top := again.Parts["a"].Cylinder.Top; top == nil || *top != 0 {
		t.Error("the top of a cone was lost")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(yard("{a: " + crate + "}"))
	f.Add(yard(nestedRepeats(3, 4)))
	f.Add("{version: 1, name: a, define: {x: {use: x}}, parts: {b: {use: x}}}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse([]byte(text))
		var bad *fault.Error
		switch {
		case err == nil:
			if _, err := s.Encode(); err != nil {
				t.Error(err)
			}
		case !errors.As(err, &bad):
			t.Errorf("%v", err)
		}
	})
}

func FuzzApply(f *testing.F) {
	for _, edit := range []string{`{"do": "add", "path": "a.b", "value": {"box": {"size": [1, 1, 1]}}}`,
		`{"do": "set", "path": "b.1.door", "value": {"parts": null}}`, `{"do": "move", "path": "a", "to": "b.1.x"}`,
		`{"do": "delete", "path": "b.2"}`, `{"do": "set", "value": {"parts": {"a": null}}}`} {
		f.Add(edit)
	}
	f.Fuzz(func(t *testing.T, edit string) {
		var e Edit
		if json.Unmarshal([]byte(edit), &e) != nil {
			return
		}
		s := parsed(t, yard("{a: "+crate+", b: {tower: {radius: 3, height: 9}, repeat: {row: {count: 2, step: [9, 0]}}}}"))
		after, err := s.Apply([]Edit{e})
		var bad *fault.Error
		if err != nil {
			if !errors.As(err, &bad) {
				t.Errorf("%v", err)
			}
			return
		}
		if _, err := Diff(s, after); err != nil {
			t.Error(err)
		}
	})
}
