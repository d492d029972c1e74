package textworld

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

func scene(t testing.TB) *exchangetest.Scene { return exchangetest.NewOn(t, memory.New()) }

// smallWorld has the parts of a world of tbaMUD: two rooms, a hidden door, a room of the gods and one that
// kills, mobiles and objects, and a zone that places them.
var smallWorld = map[string]string{
	"wld/30.wld": "#3001\n@cThe @@Yard@n~\n   Mud.\nMore mud.\n~\n30 8 0 0 0 1\nD0\nA gate.\n~\ngate~\n1 3005 3002\nD5\n~\n~\n0 -1 -1\nD1\n~\npanel~\n3 -1 3003\nD2\n~\n~\n0 -1 9999\nE\nsign board~\nIt says: no.\n~\nS\nT 3001\n" +
		"#3002\nThe Barn~\nHay.\n~\n30 b 1\nD2\n~\n~\n0 0 3001\nS\n#3003\nThe Office~\nGold.\n~\n30 k 1\nS\n$~\n",
	"mob/30.mob": "#3010\nhen bird~\nthe hen~\nA hen stands here.\n~\nShe clucks.\n~\n72 0 0 0 0 0 0 0 0 E\n7 20 10 1d1+1 1d1+1\n0 0\n8 8 1\nE\nT 1\n#3011\ngod~\nthe god~\nA god.\n~\n~\n0 0 0 E\n34 1 1 1d1+1 1d1+1\n0 0\n8 8 1\n$\n",
	"obj/30.obj": "#3005\nkey iron~\nan iron key~\nA key lies here.~\n~\n18 0 0 0 0 a 0 0 0 0 0 0 0\n0 0 0 0\n1 1 1 0 0\nE\nkey~\nRusty.\n~\n#3006\nbag~\na bag~\nA bag.~\n~\n15 0 1\n50 0 -1 0\n1 1 1\n$\n",
	"zon/30.zon": "#30\nBuilder~\nThe Farm~\n3000 3099 15 2 d 0 0 0 1 33\nM 0 3010 5 3001 \t(hen)\nM 0 3010 5 3001\nM 0 3010 5 3003\nG 1 3006 9 -1\nM 0 3011 1 3003\nO 0 3006 1 3002 (bag)\nP 1 3005 1 3006\nD 0 3001 0 2\nZ 1 2 3\nO 0 4444 1 3002\nS\n$\n",
	"shp/30.shp": "x", "wld/31.wld": "#3100\nHalf", "wld/index": "30.wld\n31.wld\n$\n",
	"wld/99.wld": "#9900\nUnused~\n~\n99 0 0\nS\n$\n",
}

func TestCircleWorld(t *testing.T) {
	s := scene(t)
	sum := s.Import(ImportCircle, exchangetest.Files(smallWorld), exchange.Options{Label: "x"})
	s.WantSees(map[string]string{
		"user The @Yard":          "Location user <p>Mud.<br/>More mud.</p>\n",
		"user The Barn":           "Location user <p>Hay.</p>\n",
		"gm The Barn+GM":          "RichText gm <p>Whoever enters this room dies.</p>\n",
		"user The Barn+GM":        "-",
		"user The Office":         "-",
		"user the hen":            "Character user <p>A hen stands here.</p>\n<p>She clucks.</p>\n",
		"gm the hen (The Office)": "Character gm <p>A hen stands here.</p>\n<p>She clucks.</p>\n",
		"user the god":            "-",
		"user an iron key":        "Item user <p>A key lies here.</p>\n",
		"user Unused":             "-",
	})
	for _, tc := range []struct{ who, from, kind, attr, to, want string }{
		{"user", "The @Yard", "exit", "direction", "The Barn", "north"},
		{"user", "The @Yard", "exit", "lockState", "The Barn", "locked"},
		{"user", "The @Yard", "exit", "key", "The Barn", "circle-object-3005"},
		{"gm", "The @Yard", "exit", "direction", "The Office", "east"},
		{"user", "The @Yard", "within", "", "The Farm", ""},
		{"user", "the hen", "at", "", "The @Yard", ""},
		{"user", "The Barn", "holds", "quantity", "a bag", "1"},
		{"user", "a bag", "holds", "quantity", "an iron key", "1"},
	} {
		if got, ok := s.Linked(tc.who, tc.from, tc.kind, tc.attr)[tc.to]; !ok || got != tc.want {
			t.Errorf("%s %s %s: %q %v", tc.from, tc.kind, tc.to, got, ok)
		}
	}
	if got := s.Linked("user", "The @Yard", "exit", ""); len(got) != 1 {
		t.Errorf("players see the exits %v", got)
	}
	for _, said := range []string{"wld/31.wld:1: room 3100 is cut off",
		"1 exits lead to rooms that are not there; left out: 3001 to 9999",
		"1 hidden doors", "1 files of shops", "1 files that the index does not name", "rooms of the gods: 1 notes",
		`Players begin at "The @Yard"`,
		"1 commands of zones about things that are not there"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
	if again := s.Import(ImportCircle, exchangetest.Files(smallWorld),
		exchange.Options{Label: "x"}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", again)
	}
}

func TestTweeStory(t *testing.T) {
	s := scene(t)
	sum := s.Import(ImportTwee,
		exchangetest.Files(map[string]string{"bell.twee": ":: StoryTitle\nBell\n\n:: StoryData\n{\"start\": \"Yard\"}\n\n" +
			":: Yard [calm out\\]side] {\"position\": \"1,2\"}\nGo [[north->Barn]] or [[again|Barn]] or [[out<-see]] or [[Tower]]. {{x}} [[a->https://x.example]]\n\n" +
			":: Barn\nHay. [[Yard]]\n:: out\nEnd.\n:: code [script]\nalert(1)\n:: Barn\nTwice\n:: [broken\nlost\n"}),
		exchange.Options{Label: "x"})
	s.WantSees(map[string]string{
		"user Yard": "Location user <p>Go [[Barn|north]] or [[Barn|again]] or [[out|see]] or &#91;&#91;Tower]]. &#123;&#123;x}} &#91;&#91;a-&gt;https://x.example]]</p>\n",
		"user Barn": "Location user <p>Hay. [[Yard]]</p>\n", "user code": "-",
	})
	if got := s.Linked("user", "Yard", "exit", "direction"); got["Barn"] != "north" || len(got) != 2 ||
		sum.Starter != "Yard" {
		t.Errorf("from the yard: %v, begins at %q", got, sum.Starter)
	}
	for _, said := range []string{`links "Tower", which is no passage`, "scripts or style sheets; left out: code",
		`"Barn" occurs twice`, "bell.twee:18: is not the head"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
}

func TestRealTextWorlds(t *testing.T) {
	t.Run("evennia", func(t *testing.T) {
		s, files := scene(t), os.DirFS(exchangetest.RealData(t, "evennia-tutorial"))
		sum := s.Import(ImportEvennia, files, exchange.Options{Label: "e"})
		t.Log(sum)
		// The bridge is a program of the game, so the rooms behind it are reached from the castle only.
		if a, b := s.Walk("user", "Cliff by the coast"), s.Walk("user", sum.Starter); len(a) != 4 || len(b) < 9 {
			t.Errorf("rooms: %v, %v", a, b)
		}
		if again := s.Import(ImportEvennia, files,
			exchange.Options{Label: "e"}); again.Created+again.Updated+again.Links > 0 {
			t.Errorf("importing again: %s", again)
		}
	})
	t.Run("twee", func(t *testing.T) {
		s, files := scene(t), os.DirFS(exchangetest.RealData(t, "twee-chapbook"))
		sum := s.Import(ImportTwee, files, exchange.Options{Label: "e"})
		t.Log(exchangetest.FirstLine(sum), sum.Starter)
		if got := s.Walk("user", "Foyer"); len(got) < 4 {
			t.Errorf("from the foyer: %v", got)
		}
	})
	t.Run("tbamud", func(t *testing.T) {
		dir := os.Getenv("LOREGATE_TEST_TBAMUD") // the folder lib/world of a copy; none is part of the project
		if dir == "" {
			dir = filepath.Join(exchangetest.RealData(t, "tbamud"))
		}
		s, files := exchangetest.NewOn(t, sqlitetest.Open(t)), os.DirFS(dir)
		sum := s.Import(ImportCircle, files, exchange.Options{Label: "tbamud"})
		t.Log(sum)
		if again := s.Import(ImportCircle, files,
			exchange.Options{Label: "tbamud"}); again.Created+again.Updated+again.Links > 0 {
			t.Errorf("importing again: %s", again)
		}
	})
}

// FuzzTextWorlds checks that no bytes cause a panic, or cards that players see against the level.
func FuzzTextWorlds(f *testing.F) {
	f.Add(smallWorld["wld/30.wld"], smallWorld["zon/30.zon"])
	f.Add("@dig A;b : x = n, s\n#\n@open up = A\n#\n@desc here = x\n", ":: A [b] {}\n[[a->A]] [[A<-b]]")
	f.Fuzz(func(t *testing.T, a, b string) {
		files := fstest.MapFS{"1.wld": {Data: []byte(a)}, "1.mob": {Data: []byte(a)}, "1.obj": {Data: []byte(a)},
			"1.zon": {Data: []byte(b)}, "1.ev": {Data: []byte(a)}, "1.twee": {Data: []byte(b)}}
		exchangetest.CheckHostile(t, memory.New(), files, ImportCircle, ImportEvennia, ImportTwee)
	})
}
