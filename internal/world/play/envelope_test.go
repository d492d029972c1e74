package play_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

// A player who is spoken to does not answer by itself, even if its card has answers.
func TestNobodyAnswersForAPlayer(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	s.Edit("Tam", canon.Edit{Fields: json.RawMessage(`{"says":["I am Tam."],"topics":{"weather":"It will rain."}}`)})
	for text, want := range map[string]string{"talk to Tam": "You turn to Tam.",
		"say nice weather to Tam": "You say to Tam: “nice weather”", "ask Tam about the weather": ""} {
		got := p.Does(text)
		n := got.At("narration").(string)
		if strings.Contains(n, "rain") || strings.Contains(n, "I am Tam") || strings.Contains(n, "hears you out") ||
			want != "" && n != want {
			t.Errorf("%s: %s", text, n)
		}
	}
	for _, text := range []string{"talk to Tam", "say nice weather to Tam"} {
		if got := q.Call("get_player", `{"id":"`+q.ID.String()+`"}`); strings.Contains(got.Raw, text) {
			t.Error("a talk changed the other player")
		}
	}
}

// Codenames are accepted wherever ids are. A hidden card is treated as an absent one.
func TestCodenamesStandForIDs(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	s.Edit("Mira", canon.Edit{Codename: new("mira")})
	p.Call("get_player", `{"id":"mira"}`).Is("player.id", p.ID.String())
	p.Call("send_command", `{"id":"mira","text":"look"}`).Is("results.0.outcome", "done")
	u := s.As("user")
	u.Call("get-player-context", `{"playerId":"mira"}`).Is("item.player.id", p.ID.String())
	u.Call("get-recent-events", `{"scope":"player","scopeId":"mira"}`).Is("items.#", 1)
	u.Call("parse-command", `{"text":"look at the hound","playerId":"mira"}`).Is("ambiguities.#", 0)
	absent := p.Fails("not_found", "get_player", `{"id":"nobody"}`)
	q := s.Joins("Tam")
	for _, id := range []string{"loc-cellar", "loc-quay", q.ID.String(), "tam", "", ":", "~" + p.ID.String()} {
		if got := p.Fails("not_found", "get_player", `{"id":"`+id+`"}`); got != absent {
			t.Errorf("%q: %s", id, got)
		}
	}
}

// The answer of parse-command is a valid envelope of propose-action without changes.
func TestProposeActionAcceptsParseCommandOutput(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	s.Joins("Tam")
	shape := op.ShapeOf[play.ProposedAct]()
	issues := func(text string) []proposal.Issue {
		t.Helper()
		parsed := s.As("user").Call("parse-command", `{"text":`+asJSON(text)+`,"playerId":"`+p.ID.String()+`"}`)
		var a play.ProposedAct
		if err := shape.Decode(json.RawMessage(`{"playerId":"`+p.ID.String()+`","actionEnvelope":`+parsed.Raw+`}`),
			&a); err != nil {
			t.Fatalf("%q: %v\n%s", text, err, parsed.Raw)
		}
		var f proposal.Finding
		err := s.Canon.Read(t.Context(), s.Grant("gm"), func(snap *canon.Snapshot) (err error) {
			f, err = a.Check(t.Context(), proposal.State{Snapshot: snap})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Issues) == 0 {
			s.Change(func(plan *canon.Plan) error {
				_, err := a.Plan(t.Context(), plan, access.NewLabel(access.LevelUser))
				if err != nil && fault.KindOf(err) != fault.Rule {
					return err
				}
				return nil
			})
		}
		return f.Issues
	}
	for text, want := range map[string]string{
		"go north": "", "look at the hound": "", "say " + strings.Repeat("long words ", 40) + " to Tam": "",
		"tkae the lamp": "", "rest": "",
		"go north then take the key": "actionEnvelope.intents", "frobnicate": "actionEnvelope.needsClarification",
		"":                        "actionEnvelope.needsClarification",
		strings.Repeat("n. ", 60): "actionEnvelope.intents", "take it": "actionEnvelope.needsClarification",
	} {
		got := issues(text)
		if (want == "") != (len(got) == 0) || want != "" && got[0].Field != want {
			t.Errorf("%.40q: %+v, want %q", text, got, want)
		}
	}
}

func asJSON(s string) string { b, _ := json.Marshal(s); return string(b) }
