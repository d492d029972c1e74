package sentence

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/cputest"
	"loregate/internal/studio/build"
)

func Example() {
	r,
		err := Read(Brief{Words: "a street of eight thatched houses with a church at the end, a well and a griffin", Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range r.Phrases {
		fmt.Printf("%s: %s\n", p.Words, p.Became)
	}
	fmt.Println("not understood:", strings.Join(r.Unknown, ", "))
	// Output:
	// street: the place is street
	// eight thatched houses: 8 house with thatch
	// church: 1 church, at the end of
	// well: 1 well
	// not understood: griffin
}

// reading reads words and builds the scene.
func reading(t testing.TB, words string) (*Reading, map[string]int) {
	t.Helper()
	r, err := Read(Brief{Words: words, Seed: 1})
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	m, err := build.Build(r.Scene, nil)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	if len(m.Warnings) > 0 {
		t.Errorf("%q: %v", words, m.Warnings)
	}
	return r, m.Counts()
}

// Places that others tried in words are what they say, in the counts of scene_describe.
func TestPlacesAreWhatTheySay(t *testing.T) {
	for _, row := range []struct {
		words, place string
		counts       map[string]int
	}{
		{"a stone watchtower with battlements, a door and twelve arrow slits", "open ground",
			map[string]int{"tower": 1, "battlements": 1, "door": 1, "arrow slit": 12, "lighthouse": 0}},
		{"a street of eight thatched houses with a church at the end, a well and a cart", "street",
			map[string]int{"house": 9, "church": 1, "well": 1, "cart": 1}}, // the nave is a house
		{"an underground temple with twelve columns, an altar, six braziers and a pool", "underground temple",
			map[string]int{"column": 12, "altar": 1, "brazier": 6, "pool": 1, "manor": 0, "rock": 0}},
		{"a village of eight houses", "street", map[string]int{"house": 8}},
		{"a lighthouse keeper's cellar with a hidden door", "cellar",
			map[string]int{"hidden door": 1, "lighthouse": 0}},
		{"a narrow cave", "cave", map[string]int{"house": 0}},
		{"a sewer with two grates", "sewer", map[string]int{"grate": 2, "house": 0}},
		{"a castle beside a bridge", "open ground", map[string]int{"castle": 1, "bridge": 1}},
		{"a prison cell with a bed and a bucket", "cell", map[string]int{"bed": 1, "bucket": 1, "bars": 1}},
		{"a throne room with six marble pillars", "throne room", map[string]int{"throne": 1, "column": 6}},
	} {
		r, counts := reading(t, row.words)
		if r.Setting != row.place || len(r.Unknown) > 0 {
			t.Errorf("%q: the place is %s; not understood: %v", row.words, r.Setting, r.Unknown)
		}
		for noun, n := range row.counts {
			if counts[noun] != n {
				t.Errorf("%q: %d %s instead of %d", row.words, counts[noun], noun, n)
			}
		}
	}
}

// Each row has words, and phrases with their number, material and relation.
func TestPhrases(t *testing.T) {
	for _, row := range []struct{ words, want string }{
		{"Two torches hang on the wall beside the altar.", "torch 2 hanging from wall; wall 1 beside altar; altar 1"},
		{"in the centre of the room stands a statue between two pillars",
			"room 1; statue 1 between pillars; column 2"},
		{"A small church with a red door at the end of the street, surrounded by gravestones",
			"church 1 at the end of street; street 1; grave 9 around church"},
		{"a throne and a red carpet in front of it", "throne 1; rug 1 red in front of throne"},
		{"a large oak desk between two bookcases", "desk 1 timber between bookcases; bookcase 2"},
		{"walls of rough stone and a floor made of planks", "wall 1 stone; floor 1 planks"},
		{"the walls are wooden", "wall 1 timber"},
		{"a corridor with no doors and three paintings", "corridor 1; painting 3"},
		{"a ring of seven standing stones around a campfire", "rock 7 around campfire; campfire 1"},
		{"a barrel of wine stands on a cart", "barrel 1 on cart; puddle 1 in barrel; cart 1"},
		{"four stone houses with slate roofs surround a fountain",
			"house 4 stone around fountain; roof 1 slate; fountain 1"},
		{"a tavern. A barrel is next to the door", "inn 1; barrel 1 beside door"},
		{"The ceiling is supported by thick wooden beams.", "ceiling 1; beam 3 timber under ceiling"},
		{"The walls are covered in tapestries and the floor is made of polished marble.",
			"wall 1; tapestry 3 on walls; floor 1 marble"},
		{"Beds line both sides of the room.", "bed 3 on both sides of room; room 1"},
		{"On either side of the door stands a marble statue.", "door 1; statue 2 marble on both sides of door"},
		{"two beds, one on each side of the room", "bed 2 on both sides of room; room 1"},
		{"Two tables near the back of the hall are each surrounded by twelve old, but serviceable chairs.",
			"table 2 at the back of hall; hall 1; chair 24 around tables"},
		{"A desk with a stool tucked under it stands next to the bed.", "desk 1 beside bed; stool 1 under desk; bed 1"},
		{"A table, around which stand six chairs, is full of plates and half a dozen mugs.",
			"table 1; chair 6 around table; plate 3 on table; mug 6 on table"},
		{"A black iron gate and a pair of stone lions flank the path.",
			"gate 1 iron on both sides of path; statue 2 stone on both sides of path; road 1"},
		{"Swords, axes and bows hang on pegs.",
			"sword 3 hanging from pegs; axe 3 hanging from pegs; bow 3 hanging from pegs; hook 3"},
		{"The slab is smaller than a house and covered with moss.", "block 1; moss 1 on slab"},
		{"There is a rug on the floor in front of the hearth and a pot of honey on the table.",
			"rug 1 in front of hearth; floor 1; fireplace 1; pot 1 on table; food 1 in pot; table 1"},
		{"Behind the house is a garden with a small shed, next to which grows an apple tree.",
			"house 1; garden 1 behind house; hut 1 in garden; apple_tree 1 beside shed"},
		{"The table is covered with books, and a lamp hangs above it.", "table 1; book 3 on table; lamp 1 above table"},
		{"The kitchen is dark. It has two ovens and no windows.", "kitchen 1; oven 2 in kitchen"},
		{"a door leading to the kitchen", "door 1 leading to kitchen; arch 1"},
		{"snow lies between the tents and the river", "patch 1 snow between tents and river; tent 3; riverbank 1"},
		{"A table is covered wall to wall with maps.", "table 1; painting 3 on table"},
		{"Ivy adorned the gate.", "vines 1 on gate; gate 1"},
		{"A statue stands in the square, facing the church.", "statue 1 in square; square 1; church 1"},
		{"In the far left corner of the room is a chest.", "room 1; chest 1 in the corner of room"},
		{"A desk with a lamp and two books on it", "desk 1; lamp 1 on desk; book 2 on desk"},
		{"Tapestries cover the walls, and between them are iron sconces.",
			"tapestry 3 on walls; wall 1; torch 4 iron between tapestries"},
		{"The stable is a large wooden building situated behind the barn.", "stable 1 timber behind barn; barn 1"},
		{"Surrounded by oaks, the cottage has a porch.", "oak 4 around cottage; house 1; porch 1 in cottage"},
		{"The altar is draped with a cloth, and two candles burn on it.",
			"altar 1; cloth 1 on altar; candle 2 on altar"},
		{"A ship lies at anchor. Its two cannons are loaded.", "ship 1 beside anchor; anchor 1; cannon 2 on ship"},
		{"There is a table in the room with plates and cups on it.",
			"table 1 in room; room 1; plate 3 on table; mug 3 on table"},
		{"A cart filled with hay sitting outside of the barn", "cart 1 outside barn; patch 1 hay on cart; barn 1"},
		{"Inside the hut there is a table with two chairs, and a fireplace.",
			"room 1; table 1 in hut; chair 2 beside table; fireplace 1 in hut"},
		{"the towers of the castle rising above the trees", "tower 3 above trees; castle 1; tree 12"},
		{"a path leading to the castle, and a well", "road 1 leading to castle; castle 1; well 1"},
	} {
		r, _ := reading(t, row.words)
		var got []string
		for _, p := range r.Phrases {
			if p.Kind != "" && !strings.Contains(p.Assumed, "belong to the place") {
				got = append(got, strings.Join(strings.Fields(fmt.Sprint(p.Kind, " ", p.Count, " ", p.Material,
					" ", p.Relation)), " "))
			}
		}
		if text := strings.Join(got, "; "); text != row.want {
			t.Errorf("%q:\n got %s\nwant %s; not understood: %v", row.words, text, row.want, r.Unknown)
		}
	}
}

// Words that name nothing are refused with the list of them.
func TestNothingIsGuessed(t *testing.T) {
	for _, words := range []string{"a dragon", "a treaty of peace", "love", "zzyzx"} {
		r, err := Read(Brief{Words: words})
		if !errors.Is(err, ErrNothing) || len(r.Unknown) == 0 {
			t.Errorf("%q: %v, %+v", words, err, r)
		}
	}
}

// The caller's words come before those of the card, and the title's place before that of the text.
func TestBrief(t *testing.T) {
	for _, row := range []struct {
		brief        Brief
		place, light string
		kind         string
		count        int
	}{
		{Brief{Words: "an inn by the sea at dusk, ten barrels"}, "sea", "dusk", "barrel", 10},
		{Brief{Title: "The Kept Light", Text: "The lighthouse. Four rules of the house."}, "open ground", "",
			"lighthouse", 1},
		{Brief{Text: "an inn with two carts", Words: "with 7 carts"}, "open ground", "", "cart", 7},
		{Brief{Title: "The Barrel Hall", Text: "A hall with a table."}, "hall", "", "table", 1},
		{Brief{Text: "somewhere with a stump", Terrain: "dense-forest"}, "wood", "", "stump", 1},
		{Brief{Words: "an inn at noon", Style: "night"}, "open ground", "night", "inn", 1},
	} {
		r, err := Read(row.brief)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(r.Phrases, func(p Phrase) bool {
			return p.Kind == row.kind &&
				p.Count == row.count
		})
		if r.Setting != row.place || r.Scene.Light.Time != row.light || !found {
			t.Errorf("%+v: %s, %s, %+v", row.brief, r.Setting, r.Scene.Light.Time, r.Phrases)
		}
	}
}

// Every entry of the vocabulary can be built, alone and in a room, and its words lead to it.
func TestVocabularyBuilds(t *testing.T) {
	v, err := loadVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range keysOf(v.Things) {
		for i, word := range v.Things[name].Words {
			words := "two " + word
			r, err := Read(Brief{Words: words})
			if i == 0 {
				r, _ = reading(t, words)
			}
			becomes := func(p Phrase) bool { return p.Kind == name && p.Count == 2 && p.Path != "" }
			if err != nil || !slices.ContainsFunc(r.Phrases, becomes) {
				t.Errorf("%q does not become %s: %v, %+v", word, name, err, r.Phrases)
			}
		}
	}
	for _, name := range keysOf(v.Settings) {
		for _, word := range v.Settings[name].Words {
			if r, err := Read(Brief{Words: "a " + word + " with three barrels"}); err != nil ||
				r.Setting != v.Settings[name].Words[0] {
				t.Errorf("%q is %s, not %s", word, r.Setting, name)
			}
		}
	}
}

func TestReadIsDeterministic(t *testing.T) {
	b := Brief{Words: "a village of eight houses with ten trees, a river and a bridge", Seed: 5}
	first, err := Read(b)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Read(b)
	one, _ := first.Scene.Encode()
	if two, _ := again.Scene.Encode(); string(one) != string(two) {
		t.Error("two readings of the same words differ")
	}
	b.Seed = 6
	other, _ := Read(b)
	if two, _ := other.Scene.Encode(); string(one) == string(two) {
		t.Error("two seeds give the same scene")
	}
}

// A description is read in less than 20 ms of processor time once the vocabulary is loaded.
func TestReadIsQuick(t *testing.T) {
	words := "a street of eight thatched houses with a church at the end, a well and a cart, surrounded by twelve oaks"
	if _, err := Read(Brief{Words: words}); err != nil {
		t.Fatal(err)
	}
	const times = 5
	used := cputest.Of(func() {
		for range times {
			if _, err := Read(Brief{Words: words, Seed: 2}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if used > times*20*time.Millisecond {
		t.Errorf("reading used the processor for %v", used/times)
	}
}

// The cost of a text is proportional to its length, even if each of its words might belong to a phrase.
func TestLongTextsAreBounded(t *testing.T) {
	for _, words := range []string{"oak ", "big old ", "and on a table "} {
		cputest.CheckLinear(t, words, maxTokens/8, func(n int) {
			if _, err := Read(Brief{Words: strings.Repeat(words, n)}); err != nil && !errors.Is(err, ErrNothing) {
				t.Errorf("%q: %v", words, err)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _,
			err := Read(Brief{Words: "a street of eight thatched houses with a church at the end, a well and a cart"}); err != nil {
			b.Fatal(err)
		}
	}
}

// Any text gives a scene that the language accepts and that can be built, or ErrNothing.
func FuzzRead(f *testing.F) {
	f.Add("The Dry Anchor", "An inn with nine tankards on nine hooks.", "ten barrels beside the well", uint64(1))
	f.Add("+++", "\x00\xff", "a a a of of in the wall's 12 m high 9999 trees", uint64(0))
	f.Fuzz(func(t *testing.T, title, text, words string, seed uint64) {
		r, err := Read(Brief{Title: title, Text: text, Words: words, Seed: seed % (1 << 53)})
		if errors.Is(err, ErrNothing) {
			return
		}
		if err != nil {
			t.Fatalf("%q, %q, %q: %v", title, text, words, err)
		}
		if _, err := build.Build(r.Scene, nil); err != nil {
			t.Errorf("%q, %q, %q: %v", title, text, words, err)
		}
	})
}

// A wall outdoors stands by itself.
func TestWallOutdoors(t *testing.T) {
	r, counts := reading(t, "a garden behind a brick wall with two benches")
	if counts["wall"] != 1 || counts["bench"] != 2 || len(r.Unknown) > 0 {
		t.Errorf("%v, %v", counts, r.Unknown)
	}
}

// People and animals become markers beside their landmark, which a person can walk to, and the answer says so.
func TestCreaturesAreMarked(t *testing.T) {
	r, err := Read(Brief{Words: "Two guards stand beside a gate of stone. " +
		"A dog sleeps under a table, and there are no cats.", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := build.Build(r.Scene, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Scene.Markers) != 3 || r.Scene.Markers["place_guard_2"].Note != "two guards" ||
		r.Scene.Markers["place_dog_1"].Kind != "point" || !slices.ContainsFunc(r.Phrases, func(p Phrase) bool {
		return p.Words == "two guards" && strings.Contains(p.Assumed, "markers")
	}) {
		t.Errorf("%v, %+v", r.Scene.Markers, r.Phrases)
	}
	for _, f := range m.Check() {
		if strings.Contains(fmt.Sprint(f), "place_") {
			t.Errorf("%+v", f)
		}
	}
}
