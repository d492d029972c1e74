package builder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// plainPainter returns the hash of a surface's name.
type plainPainter struct{}

func (plainPainter) Painted(kind string) (string, string, error) {
	sum := sha256.Sum256([]byte(kind))
	return hex.EncodeToString(sum[:]), hex.EncodeToString(sum[:]), nil
}

func built(t testing.TB, b Brief) Built {
	t.Helper()
	out, err := Build(b, plainPainter{})
	if err != nil {
		t.Fatalf("%+v: %v", b, err)
	}
	return out
}

func Example() {
	out, err := Build(Brief{Words: "an inn at dusk with ten barrels and a well", Seed: 1}, plainPainter{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.ID, "is an", out.Kind, "with", strings.Join(out.Features, ", "))
	// Output: an_inn_at_dusk_with is an inn with 10 barrel, 1 well
}

func recipes(t testing.TB) *library {
	t.Helper()
	lib, err := loadRecipes()
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func script(b Built) []byte {
	var all bytes.Buffer
	for _, o := range b.Ops {
		all.Write(o)
		all.WriteByte('\n')
	}
	return all.Bytes()
}

func TestBuildIsDeterministic(t *testing.T) {
	for kind, p := range recipes(t).Places {
		b := Brief{Words: "a " + p.Words[0] + " with ten barrels and a well", Style: "dusk", Seed: 5}
		one := built(t, b)
		if one.Kind != kind {
			t.Errorf("%q is read as %s", b.Words, one.Kind)
		}
		if !bytes.Equal(script(one), script(built(t, b))) {
			t.Errorf("%s is built in two ways", kind)
		}
		b.Seed = 6
		if bytes.Equal(script(one), script(built(t, b))) {
			t.Errorf("%s is the same for two seeds", kind)
		}
	}
}

// Every operation refers only to names that earlier operations made, and the scene has one main
// camera.
func TestOperationsReferToEarlierNames(t *testing.T) {
	for kind, p := range recipes(t).Places {
		out := built(t, Brief{Title: "A Place", Text: strings.Join(p.Words, " ") +
			" with four boats, two carts, an anchor, nine stumps, a bell, a flag, a statue, graves, reeds, kettles and buckets",
			Words: p.Words[0], Style: "dusk", Seed: 1})
		made := map[string]bool{}
		cameras := 0
		for _, o := range out.Ops {
			var op struct {
				Op, Name, Mesh, Image, Normal string
				Materials                     []string
				Main                          bool
			}
			if err := json.Unmarshal(o, &op); err != nil {
				t.Fatal(err)
			}
			for _, m := range op.Materials {
				if !made["material "+m] {
					t.Errorf("%s: mesh %s wants material %s, which is not there yet", kind, op.Name, m)
				}
			}
			for what, name := range map[string]string{"mesh ": op.Mesh, "image ": op.Image + op.Normal[:0]} {
				if name != "" && !made[what+name] {
					t.Errorf("%s: %s wants %s%s, which is not there yet", kind, op.Name, what, name)
				}
			}
			if op.Op == "camera" && op.Main {
				cameras++
			}
			if op.Name != "" && !strings.HasPrefix(op.Name, "a_place ") {
				t.Errorf("%s: %q does not begin with the scene's id", kind, op.Name)
			}
			made[op.Op+" "+op.Name] = true
		}
		if cameras != 1 {
			t.Errorf("%s has %d main cameras", kind, cameras)
		}
	}
}

func TestParseBrief(t *testing.T) {
	for _, row := range []struct {
		brief              Brief
		kind, style, thing string
	}{
		{Brief{Words: "an inn by the sea at dusk, ten barrels"}, "inn", "dusk", "10 barrel"},
		{Brief{Title: "The Kept Light", Text: "The lighthouse. Four rules of the house."}, "lighthouse", "day", ""},
		{Brief{Text: "forty stumps in the wood, left in one week in 219, kettles and all"}, "wood", "day", "40 stump"},
		{Brief{Text: "an inn with two carts", Words: "with 7 carts"}, "inn", "day", "7 cart"},
		{Brief{Text: "somewhere", Terrain: "dense-forest"}, "wood", "day", ""},
		{Brief{Words: "an inn", Style: "night"}, "inn", "night", ""},
		{Brief{Words: strings.Repeat("ten barrels ", 3000)}, "house", "day", "10 barrel"},
	} {
		r := recipes(t).parseBrief(row.brief)
		if r.kind != row.kind || r.style != row.style || row.thing != "" &&
			!strings.Contains(fmt.Sprint(r.features()), row.thing) {
			t.Errorf("%.60v: %s, %s, %v", row.brief, r.kind, r.style, r.features())
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add("The Dry Anchor", "An inn with nine tankards on nine hooks.", uint64(1))
	f.Add("+++", "\x00\xff", uint64(0))
	f.Fuzz(func(t *testing.T, title, text string, seed uint64) {
		if _, err := Build(Brief{Title: title, Text: text, Seed: seed}, plainPainter{}); err != nil {
			t.Errorf("%q, %q: %v", title, text, err)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		built(b, Brief{Words: "an inn with ten barrels", Seed: 1})
	}
}
