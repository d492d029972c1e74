package market

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/slicesx"
	"loregate/internal/world"
)

// TypeCommodity is the type of the cards of commodities.
const TypeCommodity = "Commodity"

// LinkStocks is the kind of the links from a seller to a commodity, and to the money in its till. Its
// attributes are a Stock.
const LinkStocks = "stocks"

// Commodity holds the fields of a commodity's card.
type Commodity struct {
	BasePrice int64  `json:"basePrice"` // of a unit, in pieces of the currency; from 1 to MaxPrice
	Currency  string `json:"currency"`  // id, codename or name of the card of the money
	Unit      string `json:"unit"`      // "loaf", "pound"
	// Elasticity is the percentage by which the price rises if the stock is a percent below the usual, from 0 to 5.
	Elasticity float64 `json:"elasticity"`
}

// Bounds of prices, quantities and trades. Products of them fit into 63 bits.
const (
	MaxPrice      = 1_000_000
	MaxStock      = 1_000_000
	MaxTrade      = 1000 // units in one trade
	maxElasticity = 5
)

// CommodityOf returns the commodity of a card. It returns false if the card has no price in a currency.
func CommodityOf(t world.Card) (c Commodity, ok bool) {
	if !t.IsType(TypeCommodity) {
		return c, false
	}
	world.DecodeFields(t.Fields, &c)
	c.Elasticity = min(max(c.Elasticity, 0), maxElasticity)
	return c, c.BasePrice > 0 && c.BasePrice <= MaxPrice && c.Currency != ""
}

// Stock holds the attributes of a link "stocks".
type Stock struct {
	Quantity int64 `json:"quantity"`
	// Usual is the quantity at which the price is Price. If it is 0, the price does not follow the stock.
	Usual int64 `json:"usual,omitempty"`
	Price int64 `json:"price,omitempty"` // of a unit; 0: the base price of the commodity
}

// StockOf returns the attributes of a link, each within its bounds.
func StockOf(l canon.Link) (s Stock) {
	world.DecodeFields(l.Attrs, &s)
	s.Quantity = max(s.Quantity, 0)
	s.Usual, s.Price = min(max(s.Usual, 0), MaxStock), min(max(s.Price, 0), MaxPrice)
	return s
}

// Attrs returns the stock as attributes of a link.
func (s Stock) Attrs() json.RawMessage {
	b, _ := json.Marshal(s) // numbers always encode
	return b
}

// Ware is a commodity that a seller stocks.
type Ware struct {
	Card   world.Card
	Seller world.Card
	Commodity
	Stock
	Link  canon.Link
	Money world.Card
	Till  canon.Link // of the money; its quantity may be 0
}

// maxWares bounds the links "stocks" that are read at once.
const maxWares = 500

// SellersAt returns the cards at a place that may trade: the place itself and the cards at it.
func SellersAt(ctx context.Context, m *world.AsOf, place world.Card) ([]world.Card, error) {
	here, err := m.CardsHere(ctx, place.ID)
	return append([]world.Card{place}, here...), err
}

// WaresOf returns the wares of sellers, by seller and name, as their reader sees them.
func WaresOf(ctx context.Context, m *world.AsOf, sellers []world.Card) ([]Ware, error) {
	ids := slicesx.Map(sellers, func(t world.Card) canon.CardID { return t.ID })
	links, err := m.ReadLinks(ctx, canon.LinkQuery{Froms: ids, Kinds: []string{LinkStocks}}, maxWares)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	cards, err := m.CardsByID(ctx, slicesx.Map(links, func(l canon.Link) canon.CardID { return l.To }))
	if err != nil {
		return nil, err
	}
	money := map[string]world.Card{}
	var out []Ware
	for _, l := range links {
		w := Ware{Link: l, Stock: StockOf(l), Card: cardOf(cards, l.To), Seller: cardOf(sellers, l.From)}
		var ok bool
		if w.Commodity, ok = CommodityOf(w.Card); !ok {
			continue
		}
		if w.Money, ok = money[w.Currency]; !ok {
			if w.Money, _, err = m.FindNamed(ctx, w.Currency); err != nil {
				return nil, err
			}
			money[w.Currency] = w.Money
		}
		if w.Money.ID.IsZero() || w.Money.ID == w.Card.ID {
			continue
		}
		w.Till = tillOf(links, w.Seller.ID, w.Money.ID)
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Ware) int {
		return cmp.Or(cmp.Compare(a.Seller.Title(), b.Seller.Title()), cmp.Compare(a.Card.Title(), b.Card.Title()),
			slices.Compare(a.Card.ID[:], b.Card.ID[:]))
	})
	return out, nil
}

// cardOf returns the card with an id, or a zero card.
func cardOf(among []world.Card, id canon.CardID) world.Card {
	if i := slices.IndexFunc(among, func(t world.Card) bool { return t.ID == id }); i >= 0 {
		return among[i]
	}
	return world.Card{}
}

// tillOf returns the link to the money of a seller, which may not exist yet.
func tillOf(links []canon.Link, seller, money canon.CardID) canon.Link {
	if i := slices.IndexFunc(links, func(l canon.Link) bool { return l.From == seller && l.To == money }); i >= 0 {
		return links[i]
	}
	return newStockLink(seller, money)
}

func newStockLink(seller, thing canon.CardID) canon.Link {
	return canon.Link{ID: canon.LinkIDOf(LinkStocks, seller.String(), thing.String()), Kind: LinkStocks, From: seller,
		To: thing}
}
