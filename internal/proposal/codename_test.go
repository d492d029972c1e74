package proposal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

// coded sets codenames for the cards of the scene.
func coded(s *scene, keys ...string) {
	s.t.Helper()
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	_, err := s.canon.Update(s.t.Context(), s.grant(keeper,
		access.Request{Operation: "code", Effect: access.Write, World: s.world}), func(p *canon.Plan) error {
		for _, k := range keys {
			c, ok, err := p.ByID(s.t.Context(), idOf(k))
			if err != nil || !ok {
				return err
			}
			code := "the-" + k
			if _, err := p.Update(c, canon.Edit{Codename: &code}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// A codename in a proposal is replaced by the id that it means at the time of proposing. A hidden
// codename is treated like an unknown one.
func TestProposalsTakeCodenames(t *testing.T) {
	s := newSceneOn(t, memory.New())
	s.settle("main", "")
	coded(s, "quay", "gudrun", "wren", "cellar", "veil", "ghost", "market")
	ada := s.as("ada", access.RoleUser)
	for tool, in := range map[string]fields{
		"propose-ambience":     {"locationId": "the-quay", "layerType": "ambient", "text": "Ropes creak."},
		"propose-npc-dialogue": {"npcId": "the-gudrun", "playerId": "the-wren", "draftText": "You are early."},
		"propose-action":       {"playerId": "the-wren", "actionEnvelope": fields{"frames": []fields{{"verb": "look"}}}},
		"enqueue-world-event":  {"type": "NPC.Tick", "payload": fields{"npcId": "the-gudrun"}, "scope": "loc:the-quay"},
		"propose-quest": seed(fields{"giverId": "the-gudrun",
			"objectives": []fields{{"id": "a", "text": "Go.", "locationId": "the-market"}, {"id": "b", "text": "Ask.", "talk": "the-gudrun"}}}),
	} {
		r := ada.propose(tool, in)
		if r.Status != proposal.Accepted && r.Status != proposal.Pending {
			t.Errorf("%s is %s: %+v", tool, r.Status, r.Rejection)
			continue
		}
		kept, err := call[json.RawMessage](ada, "get-proposal", fields{"proposalId": r.ProposalID})
		if err != nil || strings.Contains(string(kept), `"the-`) || strings.Contains(string(kept), `:the-`) {
			t.Errorf("%s is kept as %s, %v", tool, kept, err)
		}
	}
	again := ada.propose("propose-ambience", fields{"locationId": ids["@quay"], "layerType": "ambient",
		"text": "Ropes creak."})
	if again.Status != proposal.Duplicate {
		t.Errorf("the same by its id is %s", again.Status)
	}
	for _, row := range []struct {
		tool   string
		hidden fields
		absent string
	}{
		{"propose-ambience", fields{"locationId": "the-cellar", "layerType": "ambient", "text": "Drip."}, "the-celler"},
		{"propose-npc-dialogue", fields{"npcId": "the-veil", "playerId": "the-wren", "draftText": "Well?"}, "the-vael"},
		{"propose-action", fields{"playerId": "the-ghost", "actionEnvelope": fields{"frames": []fields{{"verb": "look"}}}},
			"the-ghast"},
	} {
		one := ada.propose(row.tool, row.hidden)
		b, _ := json.Marshal(row.hidden)
		var other fields
		for hidden, absent := range map[string]string{"the-cellar": "the-celler", "the-veil": "the-vael",
			"the-ghost": "the-ghast"} {
			b = []byte(strings.ReplaceAll(string(b), hidden, absent))
		}
		_ = json.Unmarshal(b, &other)
		two := ada.propose(row.tool, other)
		if gateOf(one) != proposal.GateInvariant || gateOf(two) != proposal.GateInvariant ||
			one.Rejection.Message != two.Rejection.Message {
			t.Errorf("%s: hidden %+v, absent %+v", row.tool, one.Rejection, two.Rejection)
		}
	}
}

// A line that no player would hear is refused, and its author is told how to mend it.
func TestLineHeardByNoPlayerIsRefused(t *testing.T) {
	s := newSceneOn(t, memory.New())
	s.settle("main", "")
	gm, ada := s.as("gm", access.RoleGM), s.as("ada", access.RoleUser)
	before, _ := s.heads()
	for npc, player := range map[string]string{"@veil": "@wren", "@gudrun": "@ghost"} {
		in := fields{"npcId": ids[npc], "playerId": ids[player], "draftText": "Well?"}
		r := gm.propose("propose-npc-dialogue", in)
		if gateOf(r) != proposal.GateInvariant || !strings.Contains(r.Rejection.Message, "reveal it") {
			t.Errorf("%s to %s is %s: %+v", npc, player, r.Status, r.Rejection)
		}
		r = ada.propose("propose-npc-dialogue", in)
		if gateOf(r) != proposal.GateInvariant || strings.Contains(r.Rejection.Message, "reveal") ||
			!strings.Contains(r.Rejection.Message, "there is no ") {
			t.Errorf("a user is told of %s to %s: %+v", npc, player, r.Rejection)
		}
	}
	if after, _ := s.heads(); after != before {
		t.Error("something was recorded")
	}
	if r := gm.propose("propose-npc-dialogue", fields{"npcId": ids["@gudrun"], "playerId": ids["@wren"],
		"draftText": "Well?"}); r.Status != proposal.Accepted {
		t.Errorf("%+v", r.Rejection)
	}
}
