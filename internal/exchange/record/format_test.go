package record_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/light"
	"loregate/internal/exchange/ranvier"
	"loregate/internal/exchange/srd"
	"loregate/internal/store/memory"
)

// TestRealSources imports the real data twice. All records are imported, errors in the data are
// reported, and the second import changes nothing.
func TestRealSources(t *testing.T) {
	for _, tc := range []struct {
		folder   string
		read     exchangetest.Importer
		cards    int
		problems []string
		then     func(*scene)
	}{
		{"srd-2014", srd.Import, 2317, []string{"233 names were taken by other cards and made longer"}, rulesBecomeCards},
		{"light-worlds", light.Import, 223, []string{`complex_world.json:310: "bathroom pot_61" is in no container`},
			func(*scene) {}},
		{"ranvier-areas", ranvier.Import, 50,
			[]string{`areas/limbo/rooms.yml:56: "limbo:training2": item "craft:greenplant" does not exist`}, areasBecomePlaces},
	} {
		t.Run(tc.folder, func(t *testing.T) {
			root, err := os.OpenRoot(exchangetest.RealData(t, tc.folder))
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			s := newStoredScene(t)
			o := exchange.Options{Label: tc.folder}
			dryRun, err := tc.read(t.Context(), s.Canon, s.As("admin").DryRun(), root.FS(), o)
			if err != nil || len(s.Listing("admin")) > 0 {
				t.Fatalf("a rehearsal left %d things, %v", len(s.Listing("admin")), err)
			}
			first := s.Import(tc.read, root.FS(), o)
			t.Log(exchangetest.FirstLine(first))
			if first.Created < tc.cards || first.Created != dryRun.Created {
				t.Errorf("%d cards, rehearsed %d, want %d at least", first.Created, dryRun.Created, tc.cards)
			}
			if got := first.String(); len(tc.problems) == 0 && len(first.Problems) > 0 {
				t.Error(got)
			} else {
				for _, p := range tc.problems {
					if !strings.Contains(got, p) {
						t.Errorf("%q is missing from %s", p, got)
					}
				}
			}
			if again := s.Import(tc.read, root.FS(), o); again.Created+again.Updated+again.Links > 0 ||
				again.Unchanged != first.Created {
				t.Errorf("importing again: %s", exchangetest.FirstLine(again))
			}
			tc.then(s)
		})
	}
}

func rulesBecomeCards(s *scene) {
	t := s.T
	for _, tc := range []struct{ name, typ, codename, holds string }{
		{"Aboleth", "Creature", "srd-monster-aboleth",
			"Armor class 17. Hit points 135 (18d10+36). Speed: swim 40 ft., walk 10 ft. Languages"},
		{"Fireball", "Lore", "srd-spell-fireball", "spell slot of 4th level or higher"},
		{"Blindness Deafness", "Lore", "srd-spell-blindness-deafness", "Casting time"},
		{"Armor, plus 1", "Artifact", "srd-magic-item-armor-1", "+1 bonus to AC"},
		{"Club", "Item", "srd-equipment-club", "1d4 bludgeoning"},
		{"Druid+Level 3", "Lore", "", "[[Druid]]"},
		{":srd-equipment-shield", "Item", "srd-equipment-shield", ""},
	} {
		c, text, ok := s.Content("gm", tc.name)
		if !ok || c.Type != tc.typ || c.Codename != tc.codename ||
			!strings.Contains(strings.ReplaceAll(text, "&#39;", "'"), tc.holds) {
			t.Errorf("%s: %t %s %s %.300q", tc.name, ok, c.Type, c.Codename, text)
		}
	}
	if c, _, _ := s.Content("gm", "Blindness Deafness"); !strings.Contains(string(c.Fields),
		`"aliases":["Blindness/Deafness"]`) {
		t.Errorf("the name as it was is no alias: %.300s", c.Fields)
	}
}

func areasBecomePlaces(s *scene) {
	t := s.T
	for _, tc := range []struct {
		from, kind, attr, to, want string
	}{
		{"White Room", "exit", "direction", "Wally's Wonderful Wares (Shop)", "west"},
		{"White Room", "exit", "direction", "Begin", "north"},
		{"Begin", "exit", "direction", "Hallway North 1", "north"}, // from the grid alone
		{"Hallway North 2", "exit", "door", "Basement", "closed"},
		{"Basement", "exit", "lockState", "Hallway North 2", "unlocked"}, // a door applies in both directions
		{"Room Context Commands Test", "exit", "key", "Locked room with key", "ranvier-limbo-test_key"},
		{"Training Dummy (Training Room 2)", "at", "", "Training Room 2", ""},
		{"Wooden Chest", "holds", "quantity", "Rusty Sword", "1"},
		{"White Room", "within", "", "Limbo", ""},
	} {
		if got, ok := s.Linked("user", tc.from, tc.kind, tc.attr)[tc.to]; !ok || got != tc.want {
			t.Errorf("%s %s %s: %q %t", tc.from, tc.kind, tc.to, got, ok)
		}
	}
	// The description comes from a merge key.
	if _, text, _ := s.Content("user", "Training Room 2"); !strings.Contains(text, "hexagonal grid surface") {
		t.Errorf("training room 2 reads %q", text)
	}
	if _, text, _ := s.Content("user", "Wally's Wonderful Wares (Shop)"); strings.Contains(text, "yellow") {
		t.Errorf("the shop reads %q", text)
	}
}

// TestBrokenSources checks that each error is reported with its file and line, and that everything
// else is imported.
func TestBrokenSources(t *testing.T) {
	for _, tc := range []struct {
		name  string
		read  exchangetest.Importer
		files map[string]string
		cards string // names of the imported cards without tags, sorted
		said  []string
	}{
		{"srd: a record that is none, one without index, an end", srd.Import, map[string]string{
			"5e-SRD-Spells.json":  "[\n {\"index\": \"light\", \"name\": \"Light\", \"desc\": [\"A glow.\"]},\n 7,\n {\"name\": \"X\"},\n {\"index\": \"fog\", \"name\": \"Fog\"},\n {\"index\": ",
			"5e-SRD-Levels.json":  `[{"index": "bard-1", "level": 1, "class": {"index": "bard", "url": "/bard"}}]`,
			"5e-SRD-Mystery.json": `[]`,
		}, "Fog Light", []string{
			"5e-SRD-Spells.json:3: the record is not an object", "5e-SRD-Spells.json:4: the record has no index",
			"5e-SRD-Spells.json:6: cannot be read further",
			`5e-SRD-Levels.json:1: level "bard-1" belongs to no class`, "5e-SRD-Mystery.json: is not a file of the rules",
		}},
		{"srd: a syntax error", srd.Import, map[string]string{
			"5e-SRD-Rules.json": "[\n {\"index\": \"a\", \"name\": \"A\"},\n {\"index\" \"b\"}\n]",
		}, "A", []string{"5e-SRD-Rules.json:3: cannot be read further"}},
		{"light: nodes that are nothing, ways that lead nowhere", light.Import, map[string]string{
			"w.json": `{"agents": [], "nodes": {
"a_1": {"room": true, "name": "Yard", "desc": "x", "neighbors": {"b_2": {"target_id": "b_2", "label": "path to the north"}, "c_3": {"target_id": "c_3"}, "d_4": {"target_id": "d_4", "label": "north"}}},
"b_2": {"room": true, "name": "Barn", "descripton": "misspelt", "neighbors": null, "contained_nodes": {"e_5": {}, "f_6": {}}},
"d_4": {"room": true, "name": "Den", "neighbors": {}},
"e_5": {"object": true, "name": "egg", "container_node": {"target_id": "a_1"}, "gettable": true},
"g_7": {"name": "ghost"},
"h_8": {"agent": true, "name": "hen", "container_node": {"target_id": "z_9"}},
"h_8": {"agent": true, "name": "hen"}}}`,
			"x.json": `{"rooms": []}`, "y.json": `[1]`,
		}, "Barn Den egg hen Yard", []string{
			`w.json:2: "a_1" leads to "c_3", which is not a room of this file`,
			`w.json:2: "a_1" has two exits north; the direction of the one to "d_4" is now "in"`,
			`w.json:3: "b_2" contains "e_5", whose container is "a_1"`,
			`w.json:3: "b_2" contains "f_6", which does not exist`,
			`w.json:6: "g_7" is not a room`, `w.json:7: "h_8" is in "z_9", which does not exist`,
			`w.json:8: "h_8" occurs twice`,
			`x.json: has no member "nodes"`, "y.json:1: is not an object",
		}},
		{"ranvier: what cannot be read, what is not there", ranvier.Import, map[string]string{
			"town/manifest.yml": "title: Town",
			"town/rooms.yml":    "- id: gate\n  title: Gate\n  exits:\n    - {direction: Sideways, roomId: 'town:inn'}\n    - {direction: up, roomId: 'town:sky'}\n  npcs: [town:cat]\n- title: None\n- id: inn\n  title: Inn\n  coordinates: here\n- id: inn\n  title: Inn\n- id: gate\n",
			"town/npcs.yml":     "- id: dog\n  name: Dog\n  items: ['town:bone']\n",
			"town/items.yml":    "a: b",
			"bad/manifest.yml":  "title: [",
		}, "Dog Gate Inn Town", []string{
			`town/rooms.yml:1: room "town:gate": the direction "Sideways" of the exit to "town:inn" is now "in"`,
			`the exit up leads to "town:sky", which does not exist`,
			`town/rooms.yml:1: room "town:gate": npc "town:cat" does not exist`, "town/rooms.yml:7: has no id",
			"town/rooms.yml:10: cannot construct",
			`town/rooms.yml:13: "town:gate" occurs twice`, "town/items.yml:1: is not a list",
			`town/npcs.yml:1: npc "town:dog" is in no room`,
			`town/npcs.yml:1: "town:dog": item "town:bone" does not exist`, "bad/manifest.yml:2: did not find",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, files := newScene(t), fstest.MapFS{}
			for name, text := range tc.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			sum := s.Import(tc.read, files, exchange.Options{Label: "x"})
			for _, said := range tc.said {
				if !strings.Contains(sum.String(), said) {
					t.Errorf("%q is missing from\n%s", said, sum)
				}
			}
			if got := s.cardNames(); got != tc.cards {
				t.Errorf("came in: %s, want %s", got, tc.cards)
			}
		})
	}
}

// cardNames returns the sorted names of all cards except tags.
func (s *scene) cardNames() string {
	s.T.Helper()
	var names []string
	err := s.Canon.Read(s.T.Context(), s.As("admin"), func(l *canon.Snapshot) error {
		cards, _, err := l.Cards(s.T.Context(), canon.Filter{}, canon.Page{Limit: 1000})
		for _, c := range cards {
			if !strings.HasSuffix(c.Name, "+tags") {
				names = append(names, c.Name)
			}
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.Join(names, " ")
}

// TestSourcesLeaveOtherCardsAlone checks that an import leaves a card from elsewhere unchanged if a
// record has the same name. The record gets a longer name, which it keeps.
func TestSourcesLeaveOtherCardsAlone(t *testing.T) {
	s := newScene(t)
	ctx := t.Context()
	if _, err := s.Canon.Update(ctx, s.As("admin"), func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Light", Content: "<p>ours</p>"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"5e-SRD-Spells.json": {Data: []byte(`[{"index": "light", "name": "Light", "desc": ["A glow."]}]`)}}
	s.Import(srd.Import, files, exchange.Options{Label: "x"})
	if _, text, _ := s.Content("user", "Light"); text != "<p>ours</p>" {
		t.Errorf("Light reads %q", text)
	}
	files["5e-SRD-Spells.json"].Data = []byte(`[{"index": "light", "name": "Light", "desc": ["A gleam."]}]`)
	sum := s.Import(srd.Import, files, exchange.Options{Label: "x"})
	if c, text, _ := s.Content("user", ":srd-spell-light"); c.Name != "Light (spell)" ||
		!strings.Contains(text, "gleam") || sum.Updated != 1 {
		t.Errorf("%q reads %q: %s", c.Name, text, exchangetest.FirstLine(sum))
	}
}

func TestEmptySources(t *testing.T) {
	for name, read := range map[string]exchangetest.Importer{"srd": srd.Import, "light": light.Import, "ranvier": ranvier.Import} {
		s := newScene(t)
		if sum, err := read(t.Context(), s.Canon, s.As("admin"), fstest.MapFS{"notes.txt": {}},
			exchange.Options{}); err == nil {
			t.Errorf("%s: an empty folder gives %s", name, sum)
		}
		if _, err := read(t.Context(), s.Canon, s.As("admin"), exchangetest.ErrorFS{}, exchange.Options{}); err == nil {
			t.Errorf("%s: a folder that cannot be read gives no error", name)
		}
	}
}

// FuzzSources checks that arbitrary bytes cause no panic and no card that is visible to users.
func FuzzSources(f *testing.F) {
	f.Add([]byte(`{"nodes": {"a_1": {"room": true, "name": "A", "neighbors": {"a_1": {"label": "up"}}}}}`))
	f.Add([]byte(`[{"index": "a", "name": "A+B/[[x]]", "desc": ["| a |", "| b |"]}]`))
	f.Add([]byte("- &a {id: x, title: Y}\n- {<<: *a, id: z, exits: [{roomId: 'a:x', direction: up}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		files := fstest.MapFS{"5e-SRD-Monsters.json": {Data: text}, "a/manifest.yml": {Data: []byte("title: A")},
			"a/rooms.yml": {Data: text}, "a/npcs.yml": {Data: text}, "a/items.yml": {Data: text}}
		exchangetest.CheckHostile(t, memory.New(), files, srd.Import, light.Import, ranvier.Import)
	})
}
