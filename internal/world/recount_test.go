package world_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// Events are described in words, as far as the reader may see the cards that they mention.
func TestRecentEventTexts(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	q.Does("n")
	p.Does("n. take key. say good evening to Oda. give key to Tam. look at the well. attack Oda")
	u := s.As("user")
	got := u.Call("get-recent-events", `{"scope":"location","scopeId":"loc-square","limit":6}`)
	got.Is("items.0.text", "Mira strikes Oda Tarn.", "items.1.text", "Mira looks at the well.", "items.2.text",
		"Mira gives Iron Key to Tam.", "items.4.text", "Mira takes Iron Key.",
		"items.5.text", "Mira goes north to Square.", "items.2.payload.verb", "give", "items.2.payload.target.name", "Tam")
	got.Is("items.3.text", "Mira speaks to Oda Tarn.")
	gms := s.As("gm").Call("get-recent-events", `{"scope":"location","scopeId":"loc-square","limit":6}`)
	if said, _ := gms.At("items.3.text").(string); !strings.HasPrefix(said, "Mira says to Oda Tarn: “good evening”") ||
		!strings.Contains(said, "Oda Tarn says: “") {
		t.Errorf("%q", said)
	}
	u.Call("get-recent-events", `{"scope":"player","scopeId":"`+p.ID.String()+`","limit":1}`).Is("items.0.text",
		"Mira strikes Oda Tarn.")
	if ctx := u.Call("get-location-context", `{"locationId":"loc-square"}`); strings.Contains(ctx.Raw, "payload") {
		t.Errorf("contexts stay short: %s", ctx.Raw)
	}
	gm := access.NewLabel(access.LevelGM)
	s.Change(func(p *canon.Plan) error {
		c, err := p.Card("Iron Key")
		if err == nil {
			_, err = p.SetLabel(c, gm)
		}
		return err
	})
	hidden := u.Call("get-recent-events", `{"scope":"location","scopeId":"loc-square"}`)
	if strings.Contains(hidden.Raw, "Iron Key") || strings.Contains(hidden.Raw, s.IDOf("Iron Key").String()) {
		t.Errorf("tells of what is hidden now: %s", hidden.Raw)
	}
	hidden.Is("items.2.text", nil, "items.2.payload", nil, "items.0.text", "Mira strikes Oda Tarn.")
	s.As("gm").Call("get-recent-events", `{"scope":"location","scopeId":"loc-square"}`).Is("items.2.text",
		"Mira gives Iron Key to Tam.")
}

// Long payloads are left out, and an answer stays within the size that clients accept.
func TestRecentEventsAreBounded(t *testing.T) {
	s := worldtest.New(t)
	for i := range 100 {
		s.Change(func(p *canon.Plan) error {
			payload := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", []int{30, 1500, 100_000}[i%3]))
			return p.Event(canon.Event{Type: string(world.NPCTick), Scope: string(world.LocationScope(s.IDOf("Quay"))),
				Payload: json.RawMessage(payload)})
		})
	}
	got := s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay","limit":100}`)
	if len(got.Raw) > 64<<10 {
		t.Errorf("%d bytes", len(got.Raw))
	}
	got.Is("items.#", 100, "items.0.payload.text", strings.Repeat("x", 30), "items.1.payloadTruncated", true)
}
