package builder

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// goldenWords are all words that name a kind of place, a thing, a number or a style.
const goldenWords = `inn tavern taproom alehouse pub bar beer hostel lighthouse beacon light quay harbour harbor wharf
dock pier landing ferry jetty boathouse pans saltern saltworks rakers wood forest grove trees thicket alder copse
square market plaza forum marketplace church chapel temple nave shrine abbey marsh swamp bog fen reeds tower keep
turret watchtower hall manor palace registry mansion school gate gatehouse barbican cottage house cottages rows court
shop dispensary smithy forge plain field moor heath beach hill meadow head cliff
anchor barrel cask tankard crate box bale boat ship lamp lantern bench settle table stool stump tree poplar pine rock
stone boulder bell well cart wagon stall fence post bollard chimney flag banner kettle bucket pile grave bush reed net
statue fountain drain clock stair step boxes benches flags
night midnight moonlight dusk evening sunset lamplight twilight overcast fog mist rain grey dragon`

const goldenNumbers = `a an one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen eighteen twenty thirty forty fifty sixty hundred several some many few dozen couple pair 17 60 61`

// TestGolden compares every kind of place by day and at dusk, every style, every thing, and the meaning of every word
// with the golden file. A line of a place covers three seeds, and a sparse and a crowded brief.
func TestGolden(t *testing.T) {
	var out strings.Builder
	hash := func(name string, briefs ...Brief) {
		sum := sha256.New()
		for _, b := range briefs {
			for _, b.Seed = range []uint64{1, 7, 1 << 40} {
				one := built(t, b)
				sum.Write(script(one))
				fmt.Fprintln(sum, one.ID, one.Kind, one.Features, one.Warnings)
			}
		}
		fmt.Fprintf(&out, "%s %x\n", name, sum.Sum(nil)[:12])
	}
	crowd := " with forty stumps, seven stalls, five boats, three tables, an anchor, two lamps, six trees, four pines, " +
		"nine rocks, 8 bushes, a bell, a well, two wagons, a fence, 5 posts, two flags, a kettle, three buckets, " +
		"two graves, seven reeds, a statue, eight barrels, eleven crates and a bench"
	for _, kind := range strings.Fields("inn lighthouse quay pans wood square church marsh tower hall gate house plain") {
		styles := "day dusk"
		if kind == "inn" {
			styles += " night overcast"
		}
		for _, style := range strings.Fields(styles) {
			word := strings.Replace(kind, "house", "cottage", int(truth(kind == "house")))
			hash("place "+kind+" "+style, Brief{Words: word + " " + word + " " + word, Style: style},
				Brief{Title: "The " + word, Text: "A place" + crowd, Words: word + crowd, Style: style})
		}
	}
	for _, thing := range strings.Fields("anchor barrel bell bench boat bucket bush cart conifer crate fence flag grave " +
		"kettle lamp post reed rock stall statue stump table tree well") {
		word := strings.Replace(thing, "conifer", "poplar", 1)
		hash("thing "+thing, Brief{Words: "heath moor plain, six " + word, Style: "dusk"})
	}
	for _, w := range strings.Fields(goldenWords) {
		r := recipes(t).parseBrief(Brief{Words: w, Terrain: "hilltop"})
		fmt.Fprintln(&out, "word", w, r.kind, r.style, r.features())
	}
	for _, w := range strings.Fields(goldenNumbers) {
		fmt.Fprintln(&out, "number", w, recipes(t).parseBrief(Brief{Words: w + " boats"}).features())
	}
	for _, terrain := range strings.Fields("open-plain dense-forest hilltop swamp water void") {
		fmt.Fprintln(&out, "terrain", terrain, recipes(t).parseBrief(Brief{Terrain: terrain}).kind)
	}
	compareGolden(t, "testdata/scenes.golden", out.String())
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(old) || line != old[i] {
			t.Errorf("line %d is %q, not as in %s", i+1, line, file)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d bytes, and %d in %s", len(got), len(want), file)
	}
}
