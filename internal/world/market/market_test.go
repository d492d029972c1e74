package market_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/market"
	"loregate/internal/world/worldtest"
)

// To buy units and to sell them back gains nothing, at any price, stock and bargain.
func TestNoGainByBuyingAndSellingBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		w := market.Ware{Commodity: market.Commodity{BasePrice: 1 + r.Int64N(market.MaxPrice), Elasticity: 5 * r.Float64()},
			Stock: market.Stock{Quantity: 1 + r.Int64N(300), Usual: r.Int64N(300)}}
		n := 1 + r.Int64N(w.Quantity)
		cost := w.CostOf(n, market.Bargain)
		after := w
		after.Quantity -= n
		if paid := after.PaidFor(n, market.Bargain); paid > cost || cost <= 0 {
			t.Fatalf("%+v: %d units cost %d and give %d", w.Stock, n, cost, paid)
		}
		if first, then := w.CostOf(1, 0), after.CostOf(1, 0); w.Quantity > n && then < first {
			t.Fatalf("%+v: the price falls from %d to %d as the stock does", w.Stock, first, then)
		}
	}
	full := market.Ware{Commodity: market.Commodity{BasePrice: market.MaxPrice, Elasticity: 5},
		Stock: market.Stock{Quantity: market.MaxStock, Usual: market.MaxStock}}
	if c := full.CostOf(market.MaxTrade, 0); c < market.MaxPrice*market.MaxTrade {
		t.Errorf("the cost overflows: %d", c)
	}
}

func TestScores(t *testing.T) {
	scores := market.ScoreAll([]float64{10, 11, 9, 10, 12, 40})
	if got := fmt.Sprintf("%.1f %.1f %.2f", scores[5].Median, scores[5].MAD, scores[5].Z); got != "10.5 1.0 19.90" {
		t.Error(got)
	}
	if scores[4].IsAnomaly() || !scores[5].IsAnomaly() {
		t.Errorf("%+v", scores)
	}
	if same := market.ScoreAll([]float64{5, 5, 5, 5, 5, 5, 5, 5, 60}); same[8].Z < 3.5 || same[0].IsAnomaly() {
		t.Errorf("%+v", same) // the median deviation is 0
	}
	if market.ScoreAll([]float64{1, 2, 3, 900}) != nil {
		t.Error("four values are too few for a score")
	}
}

func TestWashTrades(t *testing.T) {
	id := func(n byte) canon.CardID { return canon.CardID{n} }
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	trade := func(player byte, units int64) market.Trade {
		return market.Trade{At: start, Player: id(player), Seller: id(8), Place: id(9), Commodity: id(7), Units: units,
			Total: 1}
	}
	circle := market.FindWashTrades([]market.Trade{trade(2, -3), trade(1, 3), trade(1, -3), trade(2, 3), trade(3, -9)})
	if len(circle) != 1 || circle[0].Units != 6 || circle[0].Gross != 12 ||
		circle[0].Players != [2]canon.CardID{id(1), id(2)} {
		t.Errorf("%+v", circle)
	}
	alone := market.FindWashTrades([]market.Trade{trade(1, -5), trade(1, 5)})
	if len(alone) != 1 || alone[0].Units != 5 {
		t.Errorf("%+v", alone)
	}
	for name, honest := range map[string][]market.Trade{
		"one way":     {trade(1, -9), trade(2, 9)},
		"mostly else": {trade(1, -4), trade(1, 4), trade(1, 40)},
		"few":         {trade(1, -3), trade(1, 3)},
	} {
		if got := market.FindWashTrades(honest); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// newScene is the town with a baker at the quay and one at the square, and a service for game masters.
func newScene(t *testing.T) *worldtest.Scene {
	var s *worldtest.Scene
	s = worldtest.New(t, func(set *worldtest.Setup) {
		set.More = func(w *world.World, c *canon.Canon) op.Surface {
			service, err := market.New(market.Config{World: w, Canon: c, Now: func() time.Time { return s.Now }})
			if err != nil {
				t.Fatal(err)
			}
			return service.Surface()
		}
	})
	s.Card(canon.NewCard{Name: "Rye Loaf", Type: market.TypeCommodity, Codename: "ware-loaf",
		Fields: json.RawMessage(`{"basePrice":10,"currency":"Copper Coin","elasticity":1,"aliases":["loaf","loaves"]}`)})
	for name, place := range map[string]string{"Gil": "Quay", "Fen": "Square"} {
		s.Card(canon.NewCard{Name: name, Type: "Character", Codename: strings.ToLower(name)})
		s.Link(world.LinkAt, name, place, `{}`)
	}
	return s
}

func TestStockAndAdvice(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	gm.Call("set-stock", `{"sellerId":"gil","commodityId":"ware-loaf","quantity":100}`).Is("usual", 100, "price", 10)
	gm.Call("set-stock", `{"sellerId":"gil","commodityId":"Copper Coin","quantity":500}`).Is("quantity", 500, "price", 0)
	first := gm.Call("set-stock", `{"sellerId":"fen","commodityId":"ware-loaf","quantity":5,"usual":10,"price":20}`)
	first.Is("price", 20, "quantity", 5)
	for _, no := range []struct{ operation, input, code, about string }{
		{"set-stock", `{"sellerId":"gil","commodityId":"Iron Key","quantity":5,"price":2}`, "validation_error",
			"commodityId"},
		{"set-stock", `{"sellerId":"gil","commodityId":"gil","quantity":5}`, "validation_error", "commodityId"},
		{"set-stock", `{"sellerId":"nobody","commodityId":"ware-loaf","quantity":5}`, "validation_error", "sellerId"},
		{"suggest-price-adjustments", `{"commodityId":"iron-key"}`, "validation_error", "commodityId"},
		{"detect-anomalies", `{"range":{"from":"yesterday"}}`, "validation_error", "range.from"},
	} {
		if shown := gm.Fails(no.code, no.operation, no.input); !strings.Contains(shown, no.about) {
			t.Errorf("%s: %s", no.input, shown)
		}
		s.As("user").Fails("permission_denied", no.operation, no.input)
	}

	p := s.Joins("Mira")
	s.Link(world.LinkHolds, "Mira", "Copper Coin", `{"quantity":900}`)
	for range 7 {
		p.Does("buy a loaf")
		s.Pass(time.Hour)
	}
	p.Does("buy 30 loaves")
	for range 3 {
		p.Does("sell 8 loaves")
		p.Does("buy 8 loaves")
	}
	got := gm.Call("detect-anomalies", `{}`)
	got.Is("trades", 14, "volumes.#", 1, "volumes.0.value", 78, "wash.#", 1, "wash.0.units", 24, "prices.#", 0)
	gm.Call("detect-anomalies", `{"range":{"from":"2020-01-01T00:00:00Z","to":"2020-02-01T00:00:00Z"}}`).Is("trades", 0)

	got = gm.Call("suggest-price-adjustments", `{"commodityId":"ware-loaf"}`)
	got.Is("basePrice", 10, "suggestions.#", 2, "suggestions.0.seller.name", "Fen", "suggestions.0.price", 20,
		"suggestions.0.suggested", 20, "suggestions.1.price", 10, "suggestions.1.suggested", 11,
		"suggestions.1.terms.#", 3)
	recent := func() string {
		return worldtest.Uncited(gm.Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay"}`).Raw)
	}
	before := recent()
	gm.Call("suggest-price-adjustments", `{"commodityId":"ware-loaf"}`)
	if recent() != before {
		t.Error("advice changed something")
	}
}
