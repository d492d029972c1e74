package worldtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// arcOfEvents is the part of the answer of generate-event-arc that the tests read.
type arcOfEvents struct {
	Hash  string
	Beats []struct {
		Title, Cause   string
		Places, People []struct{ ID, Name string }
		Sound          bool
		Checks         []struct {
			By     string
			Passed bool
		}
	}
}

// TestAnArcOfEventsIsAdviceUntilItIsAdopted drafts arcs over the sample world, and proposes the beats of one.
func TestAnArcOfEventsIsAdviceUntilItIsAdopted(t *testing.T) {
	h := open(t)
	heads := func() string {
		list, err := h.app.Canon.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(list)
	}
	before, beats, titles := heads(), 0, map[string]bool{}
	for seed := range 12 {
		var arc, again arcOfEvents
		input := fmt.Sprintf(`{"seed":%d,"constraints":{"beats":5}}`, seed)
		h.operate("generate-event-arc", input, &arc)
		h.operate("generate-event-arc", input, &again)
		if first, second := fmt.Sprintf("%+v", arc), fmt.Sprintf("%+v", again); first != second {
			t.Fatalf("seed %d gives two arcs:\n%s\n%s", seed, first, second)
		}
		for n, b := range arc.Beats {
			beats++
			titles[b.Title] = true
			if len(b.Checks) != 2 || b.Cause == "" || len(b.Places) == 0 || len(b.People) == 0 {
				t.Errorf("seed %d, beat %d: %+v", seed, n+1, b)
			}
			for _, who := range b.People {
				if h.nameOf(who.ID) == "" {
					t.Errorf("seed %d, beat %d: %s is not in the canon", seed, n+1, who.Name)
				}
			}
			for _, where := range b.Places {
				var got struct{ Item struct{ Name string } }
				if h.operate("get-location", fmt.Sprintf(`{"locationId":%q}`, where.ID), &got); got.Item.Name != where.Name {
					t.Errorf("seed %d, beat %d: %s is not in the canon", seed, n+1, where.Name)
				}
			}
		}
	}
	if beats < 24 || len(titles) < 8 {
		t.Errorf("12 arcs have %d beats with %d titles", beats, len(titles))
	}
	if after := heads(); after != before {
		t.Errorf("drafting changed a stream:\n%s\n%s", before, after)
	}

	var arc arcOfEvents
	h.operate("generate-event-arc", `{"seed":9,"constraints":{"beats":2}}`, &arc)
	if len(arc.Beats) != 2 || !arc.Beats[0].Sound {
		t.Fatalf("%+v", arc)
	}
	adopt := fmt.Sprintf(`{"seed":9,"constraints":{"beats":2},"expectedHash":%q,"adopt":[1]}`, arc.Hash)
	type adoption struct {
		Proposals []struct{ Status, ProposalID string }
	}
	var first, second adoption
	h.operate("adopt-event-arc", adopt, &first)
	if len(first.Proposals) != 1 || first.Proposals[0].Status != "pending_review" {
		t.Fatalf("%+v", first)
	}
	if h.operate("adopt-event-arc", adopt, &second); second.Proposals[0].Status != "duplicate" {
		t.Errorf("a repeated call proposes again: %+v", second)
	}
	for input, want := range map[string]fault.Kind{
		fmt.Sprintf(`{"seed":4,"constraints":{"beats":2},"expectedHash":%q}`, arc.Hash):             fault.Conflict,
		fmt.Sprintf(`{"seed":9,"constraints":{"beats":2},"expectedHash":%q,"adopt":[3]}`, arc.Hash): fault.Invalid,
	} {
		_, err := h.app.Ops.Invoke(t.Context(), app.Operator(), op.Request{Operation: "adopt-event-arc",
			World: app.SampleWorld, Input: json.RawMessage(input)})
		if fault.KindOf(err) != want {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// TestAnArcOfEventsNamesNobodyHidden drafts arcs as the operator, who sees a person that players do not see: their
// quests are for players.
func TestAnArcOfEventsNamesNobodyHidden(t *testing.T) {
	h := open(t)
	named := func() map[string]string {
		people := map[string]string{}
		for seed := range 12 {
			var arc arcOfEvents
			h.operate("generate-event-arc", fmt.Sprintf(`{"seed":%d,"constraints":{"beats":5}}`, seed), &arc)
			for _, b := range arc.Beats {
				for _, who := range b.People {
					people[who.ID] = who.Name
				}
			}
		}
		return people
	}
	before := named()
	if len(before) < 2 {
		t.Fatalf("arcs name %v", before)
	}
	hidden := slices.Min(slices.Collect(maps.Keys(before)))
	h.operate("set_card_level", fmt.Sprintf(`{"name":"~%s","level":"gm"}`, hidden), &struct{}{})
	if after := named(); after[hidden] != "" || len(after) == 0 {
		t.Errorf("arcs name %v, also %s", after, before[hidden])
	}
}
