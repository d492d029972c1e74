package faction_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/faction"
	"loregate/internal/world/worldtest"
)

// For all factions, numbers stay within their bounds, relations are mutual, and a seed gives its steps.
func TestSimulationsStayWithinBounds(t *testing.T) {
	differ := 0
	for seed := range uint64(200) {
		draw := func() []*faction.Faction {
			r := rand.New(rand.NewPCG(seed, 1))
			var all []*faction.Faction
			for i := range 1 + r.IntN(8) {
				f := &faction.Faction{ID: canon.CardID{byte(i + 1)}, Name: fmt.Sprint("F", i), Resources: r.IntN(1001),
					Influence: r.IntN(101), Relations: map[canon.CardID]int{}}
				for range r.IntN(3) {
					f.Goals = append(f.Goals, faction.Goal{Name: fmt.Sprint("G", len(f.Goals)), Progress: r.IntN(101)})
				}
				for _, o := range all {
					if r.IntN(2) == 0 {
						v := r.IntN(201) - 100
						f.Relations[o.ID], o.Relations[f.ID] = v, v
					}
				}
				all = append(all, f)
			}
			return all
		}
		first := draw()
		steps := faction.Simulate(first, 50, seed)
		if again := faction.Simulate(draw(), 50, seed); !reflect.DeepEqual(steps, again) {
			t.Fatalf("seed %d gives other steps", seed)
		}
		if !reflect.DeepEqual(steps, faction.Simulate(draw(), 50, seed+1)) {
			differ++
		}
		for _, s := range steps {
			ok := s.Resources >= 0 && s.Resources <= 1000 && s.Influence >= 0 && s.Influence <= 100 && s.Why != ""
			for _, g := range s.Goals {
				ok = ok && g.Progress >= 0 && g.Progress <= 100
			}
			for _, r := range s.Relations {
				ok = ok && r.Value >= -100 && r.Value <= 100
			}
			if !ok {
				t.Fatalf("seed %d: %+v", seed, s)
			}
		}
		for _, f := range first {
			for _, o := range first {
				if f.Relations[o.ID] != o.Relations[f.ID] {
					t.Fatalf("seed %d: %s and %s see each other differently", seed, f.Name, o.Name)
				}
			}
		}
	}
	if differ < 150 {
		t.Errorf("only %d of 200 other seeds give other steps", differ)
	}
}

func newScene(t *testing.T) *worldtest.Scene {
	s := worldtest.New(t, func(set *worldtest.Setup) {
		set.More = func(w *world.World, c *canon.Canon) op.Surface {
			service, err := faction.New(faction.Config{World: w, Canon: c})
			if err != nil {
				t.Fatal(err)
			}
			return service.Surface()
		}
	})
	add := func(name, fields string, l *access.Label) {
		s.Card(canon.NewCard{Name: name, Type: "Faction", Fields: json.RawMessage(fields), Label: l})
	}
	admin := access.NewLabel(access.LevelAdmin)
	add("The Club", `{"goals":["win the market",{"name":"a seat on the council","progress":40}],
		"resources":{"coin":7,"locksmiths":4},"influence":30}`, nil)
	add("The Bench", `{"resources":25,"influence":70}`, nil)
	add("The Sisters", `{}`, nil)
	add("Unseen Hand", `{"influence":99}`, &admin)
	s.Link("at_war_with", "The Club", "The Bench", `{}`)
	s.Link("allied_with", "The Sisters", "The Club", `{}`)
	s.Link("at_war_with", "The Club", "Unseen Hand", `{}`)
	return s
}

// A simulation leaves no trace: the stream has the same head, the tables still follow from it, and the same seed
// gives the same bytes. A hidden faction does not matter.
func TestASimulationLeavesNoTrace(t *testing.T) {
	s := newScene(t)
	head := func() (h canon.Head) {
		err := s.Canon.Read(t.Context(), s.Admin, func(snap *canon.Snapshot) error { h, _ = snap.Head(); return nil })
		if err != nil || h.Seq == 0 {
			t.Fatalf("%+v %v", h, err)
		}
		return h
	}
	before := head()
	gm, input := s.As("gm"), `{"factionId":"The Club","horizonSteps":50,"seed":4}`
	first := gm.Call("simulate-faction-tick", input)
	first.Is("steps.#", 50, "steps.0.relations.#", 2, "steps.0.goals.#", 2, "notes.#", 0)
	for range 5 {
		if again := gm.Call("simulate-faction-tick", input); again.Raw != first.Raw {
			t.Fatalf("%s\n%s", first.Raw, again.Raw)
		}
	}
	if after := head(); after != before {
		t.Errorf("the stream went from %+v to %+v", before, after)
	}
	if r, err := s.Canon.Rebuild(t.Context(), s.Operator(), s.ID, canon.CompareOnly); err != nil || len(r.Different) > 0 {
		t.Errorf("the streams give other tables: %+v, %v", r, err)
	}
	s.Change(func(p *canon.Plan) error {
		c, err := p.Card("Unseen Hand")
		if err != nil {
			return err
		}
		return p.Trash(c)
	})
	if again := gm.Call("simulate-faction-tick", input); again.Raw != first.Raw {
		t.Error("a faction that the game master does not see changes the steps")
	}
	gm.Call("simulate-faction-tick", `{"factionId":"The Sisters"}`).Is("steps.#", 10, "notes.#", 3)
	gm.Fails("validation_error", "simulate-faction-tick", `{"factionId":"Iron Key"}`)
	gm.Fails("validation_error", "simulate-faction-tick", `{"factionId":"The Club","horizonSteps":51}`)
	s.As("user").Fails("permission_denied", "simulate-faction-tick", input)
}
