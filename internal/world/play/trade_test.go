package play_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/world"
	"loregate/internal/world/market"
	"loregate/internal/world/worldtest"
)

// addMarket adds a baker at the quay, a fishwife at the square, and a secret ware of the baker's.
func addMarket(s *worldtest.Scene) {
	commodity := func(name, fields string, label *access.Label) {
		s.Card(canon.NewCard{Name: name, Type: market.TypeCommodity, Fields: json.RawMessage(fields), Label: label})
	}
	commodity("Rye Loaf", `{"basePrice":4,"currency":"Copper Coin","unit":"loaf","elasticity":1,
		"aliases":["loaf","loaves"]}`, nil)
	commodity("Smoked Eel", `{"basePrice":2,"currency":"Copper Coin","unit":"eel"}`, nil)
	gm := access.NewLabel(access.LevelGM)
	commodity("Ghost Salt", `{"basePrice":1,"currency":"Copper Coin"}`, &gm)
	for name, place := range map[string]string{"Gil Thrupp": "Quay", "Fenella": "Square"} {
		s.Card(canon.NewCard{Name: name, Type: "Character"})
		s.Link(world.LinkAt, name, place, `{}`)
	}
	s.Link(market.LinkStocks, "Gil Thrupp", "Rye Loaf", `{"quantity":4,"usual":4}`)
	s.Link(market.LinkStocks, "Gil Thrupp", "Copper Coin", `{"quantity":6}`)
	s.Link(market.LinkStocks, "Gil Thrupp", "Ghost Salt", `{"quantity":9}`)
	s.Link(market.LinkStocks, "Fenella", "Smoked Eel", `{"quantity":1}`)
}

// pay gives a player coins.
func pay(s *worldtest.Scene, name string, n int) {
	s.Link(world.LinkHolds, name, "Copper Coin", fmt.Sprintf(`{"quantity":%d}`, n))
}

func TestBuyAndSell(t *testing.T) {
	s, d := newDicey(t)
	addMarket(s)
	p := s.Joins("Mira")
	p.Does("buy a loaf").Is("results.0.reason", "poor", "results.0.text", "That comes to 4 copper coins, and you have 0.",
		"events.#", 0)
	pay(s, "Mira", 20)
	p.Does("how much is the loaf?").Is("results.0.verb", "price", "events.0.payload.trade", nil, "results.0.text",
		"Rye Loaf at Gil Thrupp: 4 copper coins a loaf, and 4 to be had.")
	first := p.Does("buy two loaves from Gil", worldtest.Keyed("k"))
	first.Is("results.0.verb", "buy", "events.0.type", "Player.Trade", "events.0.payload.trade.total", 9,
		"results.0.text", "You buy Rye Loaf (2) from Gil Thrupp for 9 copper coins.")
	if again := p.Does("buy two loaves from Gil", worldtest.Keyed("k")); again.Raw != first.Raw {
		t.Errorf("%s\n%s", first.Raw, again.Raw)
	}
	p.Does("i").Is("results.0.text", "You carry Copper Coin (11) and Rye Loaf (2).")
	p.Does("wares").Is("results.0.text", "Rye Loaf at Gil Thrupp: 6 copper coins a loaf, and 2 to be had.")
	p.Does("buy 3 loaves").Is("results.0.reason", "too_few")
	p.Does("buy ghost salt").Is("results.0.reason", "absent")
	p.Does("buy an eel").Is("results.0.reason", "absent")
	p.Does("sell a loaf to gil").Is("results.0.text", "You sell Rye Loaf to Gil Thrupp for 2 copper coins.")
	p.Does("sell copper coin").Is("results.0.reason", "unwanted")
	p.Does("haggle with Gil over the loaf").Is("results.0.text", "Gil Thrupp sighs, and will do better on the next trade.",
		"events.0.payload.check.seed", "5eed")
	p.Does("haggle").Is("results.0.reason", "settled")
	if want := "persuasion medium 0 0"; len(d.checks) != 1 || d.checks[0] != want {
		t.Errorf("%q", d.checks)
	}
	p.Does("buy loaf").Is("events.0.payload.trade.total", 5, "events.0.payload.trade.bargain", 10) // of 5, rounded up
	p.Does("n then buy the eel").Is("results.1.outcome", "done")
	p.Does("buy eel").Is("results.0.text", "Smoked Eel is sold out.")
	p.Does("sell loaf").Is("results.0.reason", "unwanted")
	p.Does("sell the eel").Is("results.0.text", "You sell Smoked Eel to Fenella for 1 copper coin.")
}

func TestWithoutATraderNothingIsTraded(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("n")
	p.Does("buy the iron key").Is("results.0.reason", "no_trade", "events.#", 0)
	p.Does("take iron key")
	p.Does("sell iron key").Is("results.0.reason", "no_trade", "events.#", 0)
	for _, text := range []string{"what is for sale?", "wares", "how much"} {
		p.Does(text).Is("results.0.verb", "price", "results.0.text", "Nobody here has anything to sell.")
	}
}

// Somebody who is elsewhere learns neither price nor stock, and nobody below game master learns figures from
// the record.
func TestPricesAreKnownOnlyWhereOneIs(t *testing.T) {
	s := worldtest.New(t)
	addMarket(s)
	p, other := s.Joins("Mira"), s.Joins("Tam")
	pay(s, "Mira", 20)
	p.Does("buy 2 loaves")
	other.Does("n")
	for _, text := range []string{"how much is the rye loaf", "buy rye loaf", "sell rye loaf",
		"haggle over the rye loaf"} {
		if got := other.Does(text).Raw; strings.Contains(got, "copper coin") || strings.Contains(got, "Gil") {
			t.Errorf("%s: %s", text, got)
		}
	}
	recent := `{"scope":"location","scopeId":"loc-quay"}`
	if got := s.As("user").Call("get-recent-events", recent).Raw; !strings.Contains(got, "buys Rye Loaf (2)") ||
		strings.Contains(got, "listPrice") {
		t.Error(got)
	}
	if got := s.As("gm").Call("get-recent-events", recent).Raw; !strings.Contains(got, `"listPrice":4`) {
		t.Error(got)
	}
}

func TestTwoBuyersOfTheLastUnit(t *testing.T) {
	s := worldtest.New(t)
	addMarket(s)
	var players []worldtest.Player
	for i := range 4 {
		name := fmt.Sprintf("Buyer%d", i)
		players = append(players, s.Joins(name))
		pay(s, name, 10)
		players[i].Does("n")
	}
	var wg sync.WaitGroup
	got := make([]string, len(players))
	for i, p := range players {
		wg.Go(func() {
			b, _ := json.Marshal(map[string]string{"id": p.ID.String(), "text": "buy the eel"})
			a, err := p.Invoke(op.Request{Operation: "send_command", Input: b})
			if err != nil {
				t.Error(err)
				return
			}
			raw, _ := op.Encode(a.Output)
			got[i] = string(raw)
		})
	}
	wg.Wait()
	all := strings.Join(got, "\n")
	if strings.Count(all, `"outcome":"done"`) != 1 || strings.Count(all, "sold_out") != 3 {
		t.Error(all)
	}
}

// Random trades neither make nor lose a thing or a coin, no quantity is negative, and nobody gains by them:
// what a player has is worth no more afterwards, by the highest price that anybody pays.
func TestTradesKeepTheirSums(t *testing.T) {
	for seed := range uint64(raceenabled.Share(3, 3)) {
		s, d := newDicey(t)
		addMarket(s)
		r := rand.New(rand.NewPCG(seed, 9))
		players := []worldtest.Player{s.Joins("Ann"), s.Joins("Bo")}
		pay(s, "Ann", 30)
		pay(s, "Bo", 12)
		before := countAll(s)
		texts := []string{"buy loaf", "buy 2 loaves", "sell loaf", "sell 2 loaves", "sell all loaves", "buy all loaves",
			"haggle", "n then buy eel then s", "give loaf to bo", "drop loaf", "take loaf", "buy 9 loaves"}
		coins := map[string]int64{"Ann": 30, "Bo": 12}
		for n := range 120 {
			d.succeed = r.IntN(2) == 0
			text := texts[r.IntN(len(texts))]
			players[r.IntN(2)].Does(text)
			now := countAll(s)
			for name, q := range before.sums {
				if now.sums[name] != q {
					t.Fatalf("seed %d, command %d %q: there were %d of %s, and are %d", seed, n, text, q, name, now.sums[name])
				}
			}
			if now.least < 0 {
				t.Fatalf("seed %d, command %d %q: a quantity is %d", seed, n, text, now.least)
			}
			if total := now.held["Ann"] + now.held["Bo"]; total > coins["Ann"]+coins["Bo"] {
				t.Fatalf("seed %d, command %d %q: the players have %d coins, and had %d", seed, n, text, total, 42)
			}
		}
	}
}

// tally has the quantities of a world: of each thing over all holders, the coins of each player, and the least.
type tally struct {
	sums  map[string]int64
	held  map[string]int64
	least int64
}

func countAll(s *worldtest.Scene) tally {
	out := tally{sums: map[string]int64{}, held: map[string]int64{}}
	err := s.Canon.Read(s.T.Context(), s.Admin, func(snap *canon.Snapshot) error {
		kinds := []string{world.LinkHolds, market.LinkStocks}
		for l, err := range snap.AllLinks(s.T.Context(), canon.LinkQuery{Kinds: kinds}) {
			if err != nil {
				return err
			}
			from, _, err := snap.ByID(s.T.Context(), l.From)
			if err != nil {
				return err
			}
			to, _, err := snap.ByID(s.T.Context(), l.To)
			if err != nil {
				return err
			}
			var a struct{ Quantity int64 }
			world.DecodeFields(l.Attrs, &a)
			out.sums[to.Name] += a.Quantity
			out.least = min(out.least, a.Quantity)
			if from.Type == world.TypePlayer && to.Name == "Copper Coin" {
				out.held[from.Name] += a.Quantity
			}
		}
		return nil
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return out
}
