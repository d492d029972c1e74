package world

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// Events are described in words, as far as the reader may see the cards that they mention.
func TestRecentEventTexts(t *testing.T) {
	s := newScene(t)
	p, q := s.joins("Mira"), s.joins("Tam")
	q.does("n")
	p.does("n. take key. say good evening to Oda. give key to Tam. look at the well. attack Oda")
	u := s.as("user")
	got := u.call("get-recent-events", `{"scope":"location","scopeId":"loc-square","limit":6}`)
	got.is("items.0.text", "Mira strikes Oda Tarn.", "items.1.text", "Mira looks at the well.", "items.2.text",
		"Mira gives Iron Key to Tam.", "items.4.text", "Mira takes Iron Key.",
		"items.5.text", "Mira goes north to Square.", "items.2.payload.verb", "give", "items.2.payload.target.name", "Tam")
	if said, _ := got.at("items.3.text").(string); !strings.HasPrefix(said, "Mira says to Oda Tarn: “good evening”") ||
		!strings.Contains(said, "Oda Tarn says: “") {
		t.Errorf("%q", said)
	}
	u.call("get-recent-events", `{"scope":"player","scopeId":"`+p.id.String()+`","limit":1}`).is("items.0.text",
		"Mira strikes Oda Tarn.")
	if ctx := u.call("get-location-context", `{"locationId":"loc-square"}`); strings.Contains(ctx.Raw, "payload") {
		t.Errorf("contexts stay short: %s", ctx.Raw)
	}
	gm := access.NewLabel(access.LevelGM)
	s.change(func(p *canon.Plan) error {
		c, err := p.Card("Iron Key")
		if err == nil {
			_, err = p.SetLabel(c, gm)
		}
		return err
	})
	hidden := u.call("get-recent-events", `{"scope":"location","scopeId":"loc-square"}`)
	if strings.Contains(hidden.Raw, "Iron Key") || strings.Contains(hidden.Raw, s.idOf("Iron Key").String()) {
		t.Errorf("tells of what is hidden now: %s", hidden.Raw)
	}
	hidden.is("items.2.text", nil, "items.2.payload", nil, "items.0.text", "Mira strikes Oda Tarn.")
	s.as("gm").call("get-recent-events", `{"scope":"location","scopeId":"loc-square"}`).is("items.2.text",
		"Mira gives Iron Key to Tam.")
}

// Long payloads are left out, and an answer stays within the size that clients accept.
func TestRecentEventsAreBounded(t *testing.T) {
	s := newScene(t)
	for i := range 100 {
		s.change(func(p *canon.Plan) error {
			payload := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", []int{30, 1500, 100_000}[i%3]))
			return p.Event(canon.Event{Type: string(NPCTick), Scope: string(LocationScope(s.idOf("Quay"))),
				Payload: json.RawMessage(payload)})
		})
	}
	got := s.as("user").call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":100}`)
	if len(got.Raw) > 64<<10 {
		t.Errorf("%d bytes", len(got.Raw))
	}
	got.is("items.#", 100, "items.0.payload.text", strings.Repeat("x", 30), "items.1.payloadTruncated", true)
}

// A player who is spoken to does not answer by itself, even if its card has answers.
func TestNobodyAnswersForAPlayer(t *testing.T) {
	s := newScene(t)
	p, q := s.joins("Mira"), s.joins("Tam")
	s.edit("Tam", canon.Edit{Fields: json.RawMessage(`{"says":["I am Tam."],"topics":{"weather":"It will rain."}}`)})
	for text, want := range map[string]string{"talk to Tam": "You turn to Tam.",
		"say nice weather to Tam": "You say to Tam: “nice weather”", "ask Tam about the weather": ""} {
		got := p.does(text)
		n := got.at("narration").(string)
		if strings.Contains(n, "rain") || strings.Contains(n, "I am Tam") || strings.Contains(n, "hears you out") ||
			want != "" && n != want {
			t.Errorf("%s: %s", text, n)
		}
	}
	for _, text := range []string{"talk to Tam", "say nice weather to Tam"} {
		if got := q.call("get_player", `{"id":"`+q.id.String()+`"}`); strings.Contains(got.Raw, text) {
			t.Error("a talk changed the other player")
		}
	}
}

// Codenames are accepted wherever ids are. A hidden card is treated as an absent one.
func TestCodenamesStandForIDs(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	s.edit("Mira", canon.Edit{Codename: ptr("mira")})
	p.call("get_player", `{"id":"mira"}`).is("player.id", p.id.String())
	p.call("send_command", `{"id":"mira","text":"look"}`).is("results.0.outcome", "done")
	u := s.as("user")
	u.call("get-player-context", `{"playerId":"mira"}`).is("item.player.id", p.id.String())
	u.call("get-recent-events", `{"scope":"player","scopeId":"mira"}`).is("items.#", 1)
	u.call("parse-command", `{"text":"look at the hound","playerId":"mira"}`).is("ambiguities.#", 0)
	absent := p.fails("not_found", "get_player", `{"id":"nobody"}`)
	q := s.joins("Tam")
	for _, id := range []string{"loc-cellar", "loc-quay", q.id.String(), "tam", "", ":", "~" + p.id.String()} {
		if got := p.fails("not_found", "get_player", `{"id":"`+id+`"}`); got != absent {
			t.Errorf("%q: %s", id, got)
		}
	}
}

// The answer of parse-command is a valid envelope of propose-action without changes.
func TestProposeActionAcceptsParseCommandOutput(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	s.joins("Tam")
	shape, err := op.ShapeOf[proposedAct]()
	if err != nil {
		t.Fatal(err)
	}
	issues := func(text string) []proposal.Issue {
		t.Helper()
		parsed := s.as("user").call("parse-command", `{"text":`+asJSON(text)+`,"playerId":"`+p.id.String()+`"}`)
		var a proposedAct
		if err := shape.Decode(json.RawMessage(`{"playerId":"`+p.id.String()+`","actionEnvelope":`+parsed.Raw+`}`),
			&a); err != nil {
			t.Fatalf("%q: %v\n%s", text, err, parsed.Raw)
		}
		var f proposal.Finding
		err := s.canon.Read(t.Context(), s.grant("gm"), func(snap *canon.Snapshot) (err error) {
			f, err = a.Check(t.Context(), proposal.State{Snapshot: snap})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Issues) == 0 {
			s.change(func(plan *canon.Plan) error {
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
