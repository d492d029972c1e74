package light

import (
	"os"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

func TestLightWorlds(t *testing.T) {
	root, err := os.OpenRoot(exchangetest.RealData(t, "light-worlds"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := exchangetest.NewOn(t, memory.New())
	s.Import(Import, root.FS(), exchange.Options{Label: "light", File: "complex_world.json"})
	if got := s.Linked("user", "Main street", "exit", "direction"); len(got) != 4 || got["Main house"] != "north" {
		t.Errorf("exits of the main street: %v", got)
	}
	if reached := s.Walk("user", "Main street"); len(reached) != 41 {
		t.Errorf("%d of 41 rooms are reached", len(reached))
	}
	s2 := exchangetest.NewOn(t, memory.New())
	s2.Import(Import, root.FS(), exchange.Options{Label: "light", File: "simple_world.json",
		Level: access.LevelGM})
	if got := s2.Listing("user"); len(got) > 0 {
		t.Errorf("a user sees %d things of what came in for the GM", len(got))
	}
	if got := s2.Linked("gm", "orc", "at", ""); len(got) != 1 {
		t.Errorf("the orc stands in %v", got)
	}
	if got := s2.Linked("gm", "orc", "holds", "quantity"); got["priceless piece of art"] != "1" {
		t.Errorf("the orc holds %v", got)
	}
	if got := s2.Linked("gm", "Orc cave", "exit", "description"); got["Church Entryway"] != "You see a path!" {
		t.Errorf("exits of the cave: %v", got)
	}
}

// TestLightReimportMovesExit checks two rules: an exit without a direction gets its direction from
// the map, whose second number grows to the south; and an exit that leads elsewhere on the second
// import has moved.
func TestLightReimportMovesExit(t *testing.T) {
	world := func(to string) fstest.MapFS {
		return fstest.MapFS{"w.json": {Data: []byte(`{"nodes": {
			"a_1": {"room": true, "name": "Yard", "grid_location": [0, 0, 0], "neighbors": {"x": {"target_id": "` + to + `", "label": "a gate"}}},
			"b_2": {"room": true, "name": "Barn", "grid_location": [0, 1, 0], "neighbors": {}},
			"c_3": {"room": true, "name": "Den", "grid_location": [0, 5, 0], "neighbors": {}}}}`)}}
	}
	s := exchangetest.NewOn(t, memory.New())
	for to, name := range map[string]string{"b_2": "Barn", "c_3": "Den"} {
		s.Import(Import, world(to), exchange.Options{Label: "x"})
		if got := s.Linked("user", "Yard", "exit", "direction"); len(got) != 1 || got[name] != "south" {
			t.Errorf("with the gate to the %s the yard leads to %v", name, got)
		}
	}
}
