package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/store/sqlite/sqlitetest"
)

func (a actor) Relate(source, typ, target, more string) string {
	a.s.t.Helper()
	if more != "" {
		more = ", " + more
	}
	return a.Call("relationship_create", `{"source_id": "`+source+`", "target_id": "`+target+`", "type": "`+typ+`"`+more+
		`}`).Text("id")
}

func TestRelationshipsHaveTwoSides(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		ann, bo, cy := gm.Make("npc", "Ann", `"revealed": true`), gm.Make("npc", "Bo", `"revealed": true`),
			gm.Make("npc", "Cy", "")
		gm.Relate(ann, "parent of", bo, `"tone": "friendly", "strength": 9`)
		gm.Relate(bo, "Enemy_of", ann, "")
		gm.Relate(ann, "ally of", cy, "")
		hidden := gm.Relate(ann, "fears", bo, `"secret": true`)
		ada.Call("entity_get", `{"entity_id": "`+bo+`"}`).WantEach("relationships", "type",
			"child of, enemy of").Want("relationships.0.entity.name", "Ann").
			Want("relationships.0.strength", 9).WantNo("relationships.0.known_to", "more_relationships")
		gm.Call("entity_get", `{"entity_id": "`+ann+`"}`).WantEach("relationships", "type",
			"ally of, enemy of, fears, parent of")
		for _, again := range []string{`"source_id": "` + bo + `", "target_id": "` + ann + `", "type": "child of"`,
			`"source_id": "` + ann + `", "target_id": "` + bo + `", "type": "enemy of"`} {
			gm.WantFault("CONFLICT", "relationship_create", `{`+again+`}`)
		}
		gm.WantFault("INVALID_PARAMS", "relationship_create", `{"source_id": "`+ann+`", "target_id": "`+ann+
			`", "type": "ally of"}`)
		if shown := gm.WantFault("INVALID_PARAMS", "relationship_create", `{"source_id": "`+ann+`", "target_id": "`+bo+
			`", "type": "parent off"}`); !strings.Contains(shown, "parent of") {
			t.Error(shown)
		}
		gm.WantFault("INVALID_PARAMS", "relationship_create", `{"source_id": "`+ann+`", "target_id": "`+bo+
			`", "type": "owns", "strength": 11}`)
		gm.Call("reveal", `{"items": [{"relationship_id": "`+hidden+`"}], "to": ["ada"]}`)
		ada.Call("entity_get", `{"entity_id": "`+bo+`"}`).Has("feared by")
		s.As("ben").Call("entity_get", `{"entity_id": "`+bo+`"}`).Lacks("feared")
		gm.Call("unreveal", `{"items": [{"relationship_id": "`+hidden+`"}], "to": ["ada"]}`).Want("items.0.known_to", "gm")
		gm.Call("relationship_delete", `{"relationship_id": "`+hidden+`"}`).Want("deleted", true)
		gm.WantFault("NOT_FOUND", "relationship_delete", `{"relationship_id": "`+hidden+`"}`)
	})
}

func TestACampaignAddsTypes(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	ann, bo := gm.Make("npc", "Ann", `"revealed": true`), gm.Make("npc", "Bo", `"revealed": true`)
	gm.Call("relationship_type_create", `{"name": "Blackmails", "inverse": "blackmailed_by"}`).Want("name",
		"blackmails").Want("inverse", "blackmailed by")
	gm.WantFault("CONFLICT", "relationship_type_create", `{"name": "blackmailed by", "symmetric": true}`)
	gm.WantFault("INVALID_PARAMS", "relationship_type_create", `{"name": "haunts"}`)
	ada.Call("relationship_types", `{}`).Lacks("blackmail")
	gm.Call("relationship_types", `{}`).Has("blackmailed by")
	gm.Relate(bo, "blackmailed by", ann, "")
	ada.Call("entity_get", `{"entity_id": "`+ann+`"}`).WantEach("relationships", "type", "blackmails")
}

func TestAMapHandlesCyclesAndStopsAt200Nodes(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		var ring []string
		for i := range 6 {
			ring = append(ring, gm.Make("npc", fmt.Sprintf("Ring %d", i), fmt.Sprintf(`"revealed": %t`, i != 3)))
		}
		for i, id := range ring {
			gm.Relate(id, "knows of", ring[(i+1)%6], "")
		}
		at := func(a actor, depth string) optest.Answer {
			return a.Call("relationship_map", `{"entity_id": "`+ring[0]+`", "depth": `+depth+`}`)
		}
		at(gm, "1").WantEach("nodes", "name", "Ring 0, Ring 1, Ring 5").Want("relationships.#", 2).Want("truncated", false)
		at(gm, "4").Want("reached", 6).Want("relationships.#", 6)
		at(ada, "4").WantEach("nodes", "name", "Ring 0, Ring 1, Ring 5, Ring 2, Ring 4").Want("relationships.#",
			4).Lacks("Ring 3")
		ada.WantFault("NOT_FOUND", "relationship_map", `{"entity_id": "`+ring[3]+`"}`)
		ada.WantFault("INVALID_PARAMS", "relationship_map", `{"entity_id": "`+ring[0]+`", "depth": 5}`)
	})
}

// A map that is cut to fit continues where it stopped, and no relationship is lost.
func TestALongMapComesInParts(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	hub := gm.Make("faction", "Hub", "")
	for i := range 210 {
		gm.Relate(hub, "leads", gm.Make("npc", fmt.Sprintf("Spoke %03d", i), ""), "")
	}
	input := `{"entity_id": "` + hub + `", "depth": 2`
	whole := gm.Call("relationship_map", input+`}`).Want("reached", 200).Want("truncated", true).Want("nodes.#",
		200).Want("relationships.#", 199)
	nodes, edges := 0, map[string]bool{}
	for offset := "0"; offset != ""; {
		a := gm.Call("relationship_map", input+`, "offset": `+offset+`}`, atMost(16_000))
		if len(a.Raw) > 16_000 {
			t.Fatalf("%d bytes", len(a.Raw))
		}
		n, _ := a.At("nodes.#")
		nodes += int(n.(float64))
		m, _ := a.At("relationships.#")
		for i := range int(m.(float64)) {
			edges[a.Text("relationships."+jsonOf(i)+".id")] = true
		}
		offset = ""
		if next, ok := a.At("next.arguments.offset"); ok {
			offset = jsonOf(next)
		}
	}
	if nodes != 200 || len(edges) != 199 {
		t.Errorf("%d nodes and %d relationships by parts of %d bytes", nodes, len(edges), len(whole.Raw))
	}
}

// If many callers create the same relationship at once, by either of its names, one succeeds and
// the others get a conflict.
func TestConcurrentCallsCreateOneRelationship(t *testing.T) {
	s := newSceneOn(t, sqlitetest.Open(t))
	gm := s.As("gm")
	ann, bo := gm.Make("npc", "Ann", ""), gm.Make("npc", "Bo", "")
	inputs := []string{`{"source_id": "` + ann + `", "target_id": "` + bo + `", "type": "parent of"}`, `{"source_id": "` +
		bo + `", "target_id": "` + ann + `", "type": "child of"}`}
	var made, told int
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			_, err := s.ops.Invoke(t.Context(), gm.caller, op.Request{Operation: "relationship_create",
				Input: json.RawMessage(in(inputs[i%2]))})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, fault.Conflict):
				told++
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if made != 1 || told != 7 {
		t.Errorf("%d made it, %d were told", made, told)
	}
	gm.Call("entity_get", `{"entity_id": "`+bo+`"}`).WantEach("relationships", "type", "child of")
}
