package proposal_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

// hiddenRow is a proposal that concerns something hidden: a reference to it, its name in a text, or
// a text that was used before in a hidden place. A gate ("" for none) must give the same bytes
// whether or not the hidden things exist.
type hiddenRow struct {
	what, tool string
	gate       proposal.Gate
	in         fields
}

func hiddenRows(t *testing.T, s *scene) []hiddenRow {
	at := func(place, text string) fields {
		return fields{"locationId": ids[place], "layerType": "ambient", "text": text}
	}
	says := func(npc, player, text string) fields {
		return fields{"npcId": ids[npc], "playerId": ids[player], "draftText": text}
	}
	event := func(scope string, payload fields) fields {
		return fields{"type": "NPC.Tick", "payload": payload, "scope": scope}
	}
	asks := func(id string) fields { return fields{"id": "a", "text": "Go there.", "locationId": ids[id]} }
	act := func(player string) fields {
		return fields{"playerId": ids[player], "actionEnvelope": fields{"frames": []fields{{"verb": "look"}}}}
	}
	change := func(name string) fields {
		return fields{"op": fields{"name": "write_card", "arguments": fields{"name": name, "content": "<p>Dry.</p>"}},
			"reason": "It was asked for."}
	}
	cites := func(in fields, ref string) fields {
		p, err := s.prompts.Get("ambience", "")
		if err != nil {
			t.Fatal(err)
		}
		in["provenance"] = fields{"templateId": "ambience", "templateVersion": p.Metadata.Version, "templateHash": p.Hash(),
			"contextRefs": []string{ref}, "contextHash": contextHash(t, 1)}
		return in
	}
	beyond := func(place, name string) fields {
		return fields{"locationId": ids[place], "direction": "west", "name": name, "text": "Reeds nod across the mud.",
			"terrain": "riverbank", "wayBack": "east"}
	}
	end := fields{"locationId": ids["@quay"], "layerId": hiddenLayer, "reason": "The fog has lifted."}
	inv := proposal.GateInvariant
	return []hiddenRow{
		{"a hidden place", "propose-ambience", inv, at("@cellar", "Fog.")},
		{"somebody hidden who is said to come", "propose-ambience", inv, at("@quay", "Veil arrives.")},
		{"somebody hidden who is said to be dead", "propose-ambience", inv, at("@quay", "Veil is dead.")},
		{"a way where a hidden one leads", "propose-ambience", inv, at("@quay", "A passage leads west.")},
		{"a text said where it is hidden", "propose-ambience", "", at("@quay", hiddenText)},
		{"somebody hidden who speaks", "propose-npc-dialogue", inv, says("@veil", "@wren", "Well?")},
		{"somebody hidden who is spoken to", "propose-npc-dialogue", inv, says("@gudrun", "@ghost", "Well?")},
		{"a way that a line tells of", "propose-npc-dialogue", inv, says("@gudrun", "@wren", "A passage leads west.")},
		{"somebody hidden who is said to come, in a line", "propose-npc-dialogue", inv,
			says("@gudrun", "@wren", "Veil arrives.")},
		{"somebody hidden who gives a quest", "propose-quest", inv, seed(fields{"giverId": ids["@veil"]})},
		{"a hidden faction", "propose-quest", inv, seed(fields{"factions": []string{ids["@choir"]}})},
		{"a hidden faction by its code", "propose-quest", inv, seed(fields{"factions": []string{"faction-choir"}})},
		{"a hidden place to go", "propose-quest", inv, seed(fields{"objectives": []fields{asks("@cellar")}})},
		{"a quest of a hidden card's name", "propose-quest", "",
			seed(fields{"title": "The Drowned Cellar", "hook": "Of this there is a card already."})},
		{"a hidden place that something happened to", "enqueue-world-event", inv, event("loc:"+ids["@cellar"], fields{})},
		{"a hidden player that something happened to", "enqueue-world-event", inv, event("player:"+ids["@ghost"], fields{})},
		{"somebody hidden in an event", "enqueue-world-event", inv, event("global:world", fields{"npcId": ids["@veil"]})},
		{"a place beyond a hidden one", "propose-place", inv, beyond("@cellar", "Silt Landing")},
		{
			"a place of a hidden card's name, where a hidden way leads",
			"propose-place",
			"",
			beyond("@quay", "The Drowned Cellar"),
		},
		{"an event that was told where it is hidden", "enqueue-world-event", "",
			event("loc:"+ids["@quay"], fields{"text": hiddenText})},
		{"a hidden layer that is to end", "propose-layer-end", inv, end},
		{"an act of a hidden player", "propose-action", inv, act("@ghost")},
		{"a change of a hidden card's name", "propose-canon-change", "", change("The Drowned Cellar")},
		{"a context that was read by a higher role", "propose-ambience", proposal.GateReplay,
			cites(at("@market", "Canvas snaps overhead."), secretRef)},
	}
}

// hiddenLayer is the id of a layer over the quay that only a game master sees.
const hiddenLayer = "01900000-0000-7000-8000-0000000000aa"

const hiddenText = "Below the third step somebody keeps count of those who pass."

// hide adds content that only a game master sees: an exit, accepted texts, and proposals that count
// against limits.
func (s *scene) hide() {
	gm, approver := s.as("gm", access.RoleGM), s.approver(access.RoleGM)
	keeper := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	_, err := s.canon.Update(s.t.Context(), s.grant(keeper,
		access.Request{Operation: "hide", Effect: access.Write, World: s.world}), func(p *canon.Plan) error {
		_, err := p.Link(canon.Link{Kind: "exit", From: idOf("quay"), To: idOf("cellar"),
			Attrs: json.RawMessage(`{"direction":"west"}`), Label: access.NewLabel(access.LevelGM)})
		if err != nil {
			return err
		}
		_, err = p.Layer(canon.Layer{ID: canon.LayerID(uuid.MustParse(hiddenLayer)), Card: idOf("quay"), Kind: "ambient",
			Text: "Fog that nobody else sees.", Label: access.NewLabel(access.LevelGM)})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, scope := range []string{"loc:" + ids["@quay"], "loc:" + ids["@market"]} {
		r := gm.propose("enqueue-world-event", fields{"type": "NPC.Tick",
			"payload": fields{"npcId": ids["@veil"], "text": hiddenText}, "scope": scope})
		if _, err := call[proposal.Result](approver, "approve-proposal",
			fields{"proposalId": r.ProposalID, "expectedHash": approver.get(r.ProposalID).ExpectedHash}); err != nil {
			s.t.Fatal(err)
		}
	}
	if r := gm.propose("propose-ambience", fields{"locationId": ids["@cellar"], "layerType": "ambient",
		"text": hiddenText}); r.Status != proposal.Accepted {
		s.t.Fatalf("%+v", r.Rejection)
	}
}

var chance = regexp.MustCompile(
	`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|"expectedHash":"[0-9a-f]+"`,
)

// answered returns everything that an author is told: the answer, and the proposal as read
// afterwards.
func answered(t *testing.T, a actor, row hiddenRow) (result proposal.Result, told string) {
	t.Helper()
	result = a.propose(row.tool, row.in)
	after, err := call[json.RawMessage](a, "get-proposal", fields{"proposalId": result.ProposalID})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return result, chance.ReplaceAllStringFunc(string(b)+"\n"+string(after), func(id string) string {
		for _, known := range ids {
			if id == known {
				return id
			}
		}
		return "…"
	})
}

// A proposal that concerns something hidden is refused, accepted or kept waiting exactly like one
// that concerns something absent, byte for byte, for every kind and every gate.
func TestHiddenIsAnsweredAsAbsent(t *testing.T) {
	limits := withLimits(proposal.Limits{WorldMinute: 6})
	full, bare := newSceneOn(t, memory.New(), limits), newSceneOn(t, memory.New(), limits)
	bare.open = true
	full.settle("main", "")
	bare.settle("main", "")
	full.hide()
	ada, bob := full.as("ada", access.RoleUser), bare.as("ada", access.RoleUser)
	kinds := map[string]bool{}
	for _, row := range hiddenRows(t, full) {
		got, one := answered(t, ada, row)
		_, two := answered(t, bob, row)
		if one != two {
			t.Errorf("%s: where it is hidden\n%s\nand where it is absent\n%s", row.what, one, two)
		}
		if gate := gateOf(got); gate != row.gate {
			t.Errorf("%s is answered by the gate %q: %+v", row.what, gate, got.Rejection)
		}
		kinds[row.tool] = true
	}
	for _, o := range full.service.Operations() {
		if strings.HasPrefix(o.Name, "propose-") && !kinds[o.Name] {
			t.Errorf("%s is not tried", o.Name)
		}
	}
}

func gateOf(r proposal.Result) proposal.Gate {
	if r.Rejection == nil {
		return ""
	}
	return r.Rejection.Gate
}

// A context that a higher role read is refused like one that was never read.
func TestContextOfHigherRoleIsRefused(t *testing.T) {
	s := newSceneOn(t, memory.New())
	s.settle("main", "")
	p, err := s.prompts.Get("ambience", "")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, ref := range []string{secretRef, "sealed-context-of-the-cellars"} {
		in := ambience("Canvas snaps overhead.")
		in["provenance"] = fields{"templateId": "ambience", "templateVersion": p.Metadata.Version, "templateHash": p.Hash(),
			"contextRefs": []string{ref}, "contextHash": contextHash(t, 1)}
		r := s.as("ada", access.RoleUser).propose("propose-ambience", in)
		b, err := json.Marshal(r)
		if err != nil || gateOf(r) != proposal.GateReplay {
			t.Fatalf("%+v, %v", r, err)
		}
		told = append(told, chance.ReplaceAllString(string(b), "…"))
	}
	if told[0] != told[1] {
		t.Errorf("of a higher role:\n%s\nof nobody:\n%s", told[0], told[1])
	}
}

// A text accepted in a hidden place is no duplicate when the place becomes visible, since the text
// itself is still hidden.
func TestTextOfOnceHiddenPlaceIsNoDuplicate(t *testing.T) {
	s := newSceneOn(t, memory.New())
	s.settle("main", "")
	in := fields{"locationId": ids["@cellar"], "layerType": "ambient", "text": hiddenText}
	if r := s.as("gm", access.RoleGM).propose("propose-ambience", in); r.Status != proposal.Accepted {
		t.Fatalf("%+v", r.Rejection)
	}
	s.by("reveal", s.world, func(p *canon.Plan) error {
		c, _, err := p.Has("The Drowned Cellar")
		if err == nil {
			_, err = p.SetLabel(c, access.NewLabel(access.LevelUser))
		}
		return err
	})
	if r := s.as("ada", access.RoleUser).propose("propose-ambience", in); r.Status != proposal.Accepted {
		t.Errorf("it is %s: %+v", r.Status, r.Rejection)
	}
}

// All faults of a payload and of the members beside it are listed at once.
func TestAllPayloadFaultsAreListed(t *testing.T) {
	s := newSceneOn(t, memory.New())
	s.settle("main", "")
	in := fields{"locationId": "the quay", "layerType": "mood", "txt": "Fog.", "purpose": "fun",
		"provenance": fields{"contextRefs": []string{"a", "b", "c", "d", "e", "f", "g"}}}
	r := s.as("ada", access.RoleUser).propose("propose-ambience", in)
	var got []string
	for _, i := range r.Issues {
		got = append(got, i.Field)
	}
	slices.Sort(got)
	if want := []string{"layerType", "locationId", "provenance.contextRefs", "purpose", "text", "txt"}; !slices.Equal(got,
		want) || gateOf(r) != proposal.GateSchema {
		t.Errorf("listed are %v, want %v", got, want)
	}
}
