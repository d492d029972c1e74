package market

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/world"
)

type anomaliesIn struct {
	Range rangeIn `json:"range,omitzero" jsonschema:"By default the last seven days."`
}

type rangeIn struct {
	From string `json:"from,omitzero" maxlen:"64" jsonschema:"A time such as 2026-01-31T18:00:00Z."`
	To   string `json:"to,omitzero" maxlen:"64" jsonschema:"A later time; by default now."`
}

type anomaliesOut struct {
	From      time.Time       `json:"from"`
	To        time.Time       `json:"to"`
	Trades    int             `json:"trades" jsonschema:"Trades that were looked at."`
	Truncated bool            `json:"truncated,omitempty" jsonschema:"Earlier trades in the range were not looked at."`
	Prices    []priceAnomaly  `json:"prices" jsonschema:"Trades at a price far from the others of this commodity, place and direction."`
	Volumes   []volumeAnomaly `json:"volumes" jsonschema:"Hours with far more or fewer units than others with trades."`
	Wash      []washTrade     `json:"wash" jsonschema:"Units that the same players sold and bought back."`
}

type priceAnomaly struct {
	EventID   uuid.UUID `json:"eventId"`
	At        time.Time `json:"at"`
	Commodity named     `json:"commodity"`
	Place     named     `json:"place"`
	Player    named     `json:"player"`
	Score
	Why string `json:"why"`
}

type volumeAnomaly struct {
	Hour      time.Time `json:"hour"`
	Commodity named     `json:"commodity"`
	Place     named     `json:"place"`
	Score
	Why string `json:"why"`
}

type washTrade struct {
	Commodity named   `json:"commodity"`
	Seller    named   `json:"seller"`
	Players   []named `json:"players" jsonschema:"One or two players."`
	Units     int64   `json:"units" jsonschema:"Units that went in a circle."`
	Gross     int64   `json:"gross" jsonschema:"All units that these players traded with the seller."`
	Why       string  `json:"why"`
}

func (s *Service) detectAnomalies() *op.Operation {
	return op.Define(op.Spec{
		Name: "detect-anomalies", Title: "Find unusual trades",
		Asked: []string{
			"is somebody cheating on the market", "strange prices lately", "suspicious trades", "who trades in circles",
			"unusual sales", "somebody exploits the shop", "wash trades", "odd purchases in the last week",
			"check the economy for outliers",
		},
		Doc: "Find trades at unusual prices, hours with unusual volume, and units that the same players sold and bought " +
			"back. A value is unusual if its robust score, from median and median absolute deviation, is beyond 3.5; fewer " +
			"than five values give no score. Advice: it changes nothing.",
		Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleGM, Route: "POST /api/world/anomalies",
		Examples: []op.Example{{Title: "The last seven days", Input: `{}`},
			{Title: "One day", Input: `{"range": {"from": "2026-01-31T00:00:00Z", "to": "2026-02-01T00:00:00Z"}}`}},
	}, s.findAnomalies)
}

func (s *Service) findAnomalies(ctx context.Context, c *op.Call, in anomaliesIn) (out anomaliesOut, err error) {
	if out.To, err = parseTime("range.to", in.Range.To, s.cfg.Now().UTC()); err != nil {
		return out, err
	}
	if out.From, err = parseTime("range.from", in.Range.From, out.To.Add(-defaultRange)); err != nil {
		return out, err
	}
	if !out.From.Before(out.To) {
		return out, fault.BadField("range.from", "must be earlier than range.to")
	}
	err = s.cfg.Canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		m := s.cfg.World.Current(snap)
		trades, more, err := readTrades(ctx, m, out.From, out.To)
		if err != nil {
			return err
		}
		out.Trades, out.Truncated = len(trades), more
		return out.fill(namer{ctx, m}, trades)
	})
	return out, err
}

// fill adds the anomalies of trades.
func (o *anomaliesOut) fill(n namer, trades []Trade) error {
	o.Prices, o.Volumes, o.Wash = []priceAnomaly{}, []volumeAnomaly{}, []washTrade{}
	for _, a := range cut(FindPriceAnomalies(trades), maxAnomalies) {
		names, err := n.all(a.Commodity, a.Place, a.Player)
		if err != nil {
			return err
		}
		verb := "paid"
		if a.Units < 0 {
			verb = "got"
		}
		o.Prices = append(o.Prices, priceAnomaly{a.Event, a.At, names[0], names[1], names[2], a.Score,
			fmt.Sprintf("%s %s %s a unit of %s at %s; half of such trades are within %s of %s.", names[2].Name, verb,
				formatNumber(a.Value), names[0].Name, names[1].Name, formatNumber(a.MAD), formatNumber(a.Median))})
	}
	for _, a := range cut(FindVolumeAnomalies(trades), maxAnomalies) {
		names, err := n.all(a.Commodity, a.Place)
		if err != nil {
			return err
		}
		o.Volumes = append(o.Volumes, volumeAnomaly{a.Hour, names[0], names[1], a.Score,
			fmt.Sprintf("%s units of %s were traded at %s in this hour; half of the hours are within %s of %s.",
				formatNumber(a.Value), names[0].Name, names[1].Name, formatNumber(a.MAD), formatNumber(a.Median))})
	}
	for _, w := range cut(FindWashTrades(trades), maxAnomalies) {
		ids := slices.Compact([]canon.CardID{w.Players[0], w.Players[1]})
		names, err := n.all(append([]canon.CardID{w.Commodity, w.Seller}, ids...)...)
		if err != nil {
			return err
		}
		who := world.JoinNames(slicesx.Map(names[2:], func(t named) string { return t.Name }), "and")
		o.Wash = append(o.Wash, washTrade{names[0], names[1], names[2:], w.Units, w.Gross,
			fmt.Sprintf("%d units of %s were sold to %s and bought back by %s, who traded %d units there in all.", w.Units,
				names[0].Name, names[1].Name, who, w.Gross)})
	}
	return nil
}

type suggestIn struct {
	CommodityID string `json:"commodityId" minlen:"1" maxlen:"100" jsonschema:"Id, codename or name of the commodity."`
}

type suggestOut struct {
	Commodity   named        `json:"commodity"`
	BasePrice   int64        `json:"basePrice"`
	Suggestions []suggestion `json:"suggestions" jsonschema:"One for each seller that stocks it."`
}

type suggestion struct {
	Seller    named   `json:"seller"`
	Price     int64   `json:"price" jsonschema:"List price today."`
	Suggested int64   `json:"suggested" jsonschema:"List price after one step, at most 15 percent away. set-stock sets it."`
	Percent   float64 `json:"percent" jsonschema:"Sum of the terms, from -15 to 15."`
	Terms     []Term  `json:"terms" jsonschema:"The parts of the sum, with their reasons."`
}

func (s *Service) suggestPrices() *op.Operation {
	return op.Define(op.Spec{
		Name: "suggest-price-adjustments", Title: "Suggest prices of a commodity",
		Asked: []string{
			"what should bread cost now", "is the price of salt right", "adjust prices to supply and demand",
			"make eel dearer since it runs out", "fair price at each shop", "new price for a ware",
			"balance what merchants ask", "how should the price move",
		},
		Doc: "Suggest the next list price of a commodity at each seller, from its stock, from the units that players " +
			"bought and sold in the last seven days, and from the prices one exit away. A step is at most 15 percent. " +
			"Advice: it changes nothing; set-stock sets a price.",
		Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleGM, Target: "commodityId",
		Route:    "POST /api/world/prices",
		Examples: []op.Example{{Title: "A loaf", Input: `{"commodityId": "ware-ninepenny-loaf"}`}},
	}, s.suggest)
}

func (s *Service) suggest(ctx context.Context, c *op.Call, in suggestIn) (out suggestOut, err error) {
	err = s.cfg.Canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		m := s.cfg.World.Current(snap)
		t, err := findNamed(ctx, m, "commodityId", in.CommodityID)
		if err != nil {
			return err
		}
		good, ok := CommodityOf(t)
		if !ok {
			return fault.BadField("commodityId", "is no commodity; name a card of type %s with basePrice and currency",
				TypeCommodity)
		}
		out = suggestOut{Commodity: named{t.ID, t.Title()}, BasePrice: good.BasePrice, Suggestions: []suggestion{}}
		wares, err := sellersOf(ctx, m, t)
		if err != nil {
			return err
		}
		now := s.cfg.Now()
		trades, _, err := readTrades(ctx, m, now.Add(-defaultRange), now)
		if err != nil {
			return err
		}
		near, err := neighborsOf(ctx, m, wares)
		if err != nil {
			return err
		}
		for i, w := range wares {
			out.Suggestions = append(out.Suggestions, suggestPrice(w, trades, near[i]))
		}
		return nil
	})
	return out, err
}

// sellersOf returns a commodity as each of its sellers has it.
func sellersOf(ctx context.Context, m *world.AsOf, t world.Card) ([]Ware, error) {
	links, err := m.ReadLinks(ctx, canon.LinkQuery{To: t.ID, Kinds: []string{LinkStocks}}, maxSuggestion)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	sellers, err := m.CardsByID(ctx, slicesx.Map(links, func(l canon.Link) canon.CardID { return l.From }))
	if err != nil {
		return nil, err
	}
	wares, err := WaresOf(ctx, m, sellers)
	return slicesx.Filter(wares, func(w Ware) bool { return w.Card.ID == t.ID }), err
}

// neighborsOf returns for each ware the list prices of the others one exit away from its seller.
func neighborsOf(ctx context.Context, m *world.AsOf, wares []Ware) ([][]int64, error) {
	at := make([]canon.CardID, len(wares))
	for i, w := range wares {
		at[i] = w.Seller.ID
		if l, ok, err := m.FindAtLink(ctx, w.Seller.ID); err != nil {
			return nil, err
		} else if ok {
			at[i] = l.To
		}
	}
	out := make([][]int64, len(wares))
	for i := range wares {
		place, _, err := m.CardByID(ctx, at[i])
		if err != nil {
			return nil, err
		}
		exits, err := m.Exits(ctx, place)
		if err != nil {
			return nil, err
		}
		for j, o := range wares {
			near := i != j && (at[i] == at[j] ||
				slices.ContainsFunc(exits, func(e world.Exit) bool { return e.To != nil && *e.To == at[j] }))
			if near {
				out[i] = append(out[i], o.ListPrice())
			}
		}
	}
	return out, nil
}

// suggestPrice returns the next list price of a ware.
func suggestPrice(w Ware, trades []Trade, near []int64) suggestion {
	at := w.ListPrice()
	out := suggestion{Seller: named{w.Seller.ID, w.Seller.Title()}, Price: at, Terms: []Term{}}
	add := func(share float64, most float64, format string, args ...any) {
		p := most * min(max(share, -1), 1)
		out.Terms = append(out.Terms, Term{p, fmt.Sprintf(format, args...)})
		out.Percent += p
	}
	if w.Usual > 0 {
		add(float64(w.Usual-w.Quantity)/float64(w.Usual), maxStockTerm,
			"%d in stock, %d is usual; an empty shelf gives +%d, twice the usual -%d", w.Quantity, w.Usual, maxStockTerm,
			maxStockTerm)
	}
	bought, sold := sumUnits(trades, w)
	add(float64(bought-sold)/float64(max(w.Usual, 1)), maxFlowTerm,
		"players bought %d and sold %d in seven days; a net of the usual stock gives %d", bought, sold, maxFlowTerm)
	if len(near) > 0 {
		sum := int64(0)
		for _, p := range near {
			sum += p
		}
		mean := float64(sum) / float64(len(near))
		add((mean-float64(at))/float64(at), maxNeighborTerm,
			"%d sellers nearby ask %s on average, and this one %d; twice its price gives %d", len(near), formatNumber(mean), at,
			maxNeighborTerm)
	}
	out.Percent = min(max(out.Percent, -maxStep), maxStep)
	if out.Suggested = stepPrice(at, out.Percent); out.Suggested == at && out.Percent != 0 {
		out.Terms = append(out.Terms, Term{0, fmt.Sprintf("no whole price is within the step; it stays at %d", at)})
	}
	return out
}
