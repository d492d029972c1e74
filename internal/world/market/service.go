package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/world"
)

// Config configures a Service. World and Canon are required.
type Config struct {
	World *world.World
	Canon *canon.Canon     // that of World
	Now   func() time.Time // time.Now when nil
}

// Service implements the operations for game masters. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(c Config) (*Service, error) {
	if c.World == nil || c.Canon == nil {
		return nil, errors.New("market: World and Canon are needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{c}, nil
}

// Surface returns the part of the surface world that this package declares.
func (s *Service) Surface() op.Surface {
	return op.Surface{Name: world.Surface,
		Operations: []*op.Operation{s.setStock(), s.detectAnomalies(), s.suggestPrices()}}
}

// onWorld names the surface of the operations.
var onWorld = []string{world.Surface}

type stockIn struct {
	SellerID    string `json:"sellerId" minlen:"1" maxlen:"100" jsonschema:"Id or codename of the place, character or thing that sells."`
	CommodityID string `json:"commodityId" minlen:"1" maxlen:"100" jsonschema:"Id or codename of the commodity, or of the money in the till."`
	Quantity    int64  `json:"quantity" min:"0" max:"1000000" numeric:"string" jsonschema:"Units in stock afterwards."`
	Usual       *int64 `json:"usual,omitzero" min:"0" max:"1000000" numeric:"string" jsonschema:"Stock at which the price is the list price; by default unchanged, and at first the quantity. 0: the price does not follow the stock."`
	Price       *int64 `json:"price,omitzero" min:"0" max:"1000000" numeric:"string" jsonschema:"List price of a unit; by default unchanged. 0: the base price of the commodity."`
	DryRun      bool   `json:"dry_run,omitzero" jsonschema:"Only check."`
}

type stockOut struct {
	Quantity int64      `json:"quantity"`
	Usual    int64      `json:"usual"`
	Price    int64      `json:"price" jsonschema:"List price of a unit; 0 for money."`
	EventID  *uuid.UUID `json:"eventId,omitempty" jsonschema:"The event Market.Stocked."`
}

// stocking is the payload of Market.Stocked.
type stocking struct {
	Target   world.ObjectRef   `json:"target"`  // the seller
	Objects  []world.ObjectRef `json:"objects"` // the commodity, with its quantity
	Usual    int64             `json:"usual"`
	Price    int64             `json:"price"`
	OldPrice int64             `json:"oldPrice"`
}

func (s *Service) setStock() *op.Operation {
	return op.Define(op.Spec{
		Name: "set-stock", Title: "Set stock and price of a seller",
		Asked: []string{
			"fill the shelves of a shop", "let a merchant sell bread", "change the price of a ware",
			"put goods on a market stall", "restock the baker", "a shop gets new wares", "give a trader coins",
			"make something for sale", "raise what the smith asks for a nail",
		},
		Doc: "Set how much of a commodity a seller has, its usual stock and its list price. A commodity is a card of type " +
			"Commodity. The first call makes the seller sell it. Players learn of it only where they can buy.",
		Surfaces: onWorld, Effect: access.Write, MinRole: access.RoleGM, Target: "sellerId", Route: "POST /api/world/stock",
		Examples: []op.Example{{Title: "A dozen loaves",
			Input: `{"sellerId": "char-thrupp", "commodityId": "ware-ninepenny-loaf", "quantity": 12, "dry_run": true}`}},
	}, s.stock)
}

func (s *Service) stock(ctx context.Context, c *op.Call, in stockIn) (out stockOut, err error) {
	receipt, err := s.cfg.Canon.Update(ctx, c.Grant, func(p *canon.Plan) (err error) {
		out, err = s.planStock(ctx, p, in)
		return err
	})
	if err != nil || receipt.DryRun {
		return out, err
	}
	c.Reply.Replayed, out.EventID = receipt.Replayed, &receipt.Change
	err = s.cfg.Canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error { // a repeated call has the same answer
		events, _, err := snap.Events(ctx, canon.EventQuery{ID: receipt.Change, Page: canon.Page{Limit: 1}})
		if len(events) > 0 {
			var e stocking
			world.DecodeFields(events[0].Payload, &e)
			out.Quantity, out.Usual, out.Price = e.Objects[0].Quantity, e.Usual, e.Price
		}
		return err
	})
	return out, err
}

func (s *Service) planStock(ctx context.Context, p *canon.Plan, in stockIn) (out stockOut, err error) {
	m := s.cfg.World.Current(p.Snapshot)
	seller, err := findNamed(ctx, m, "sellerId", in.SellerID)
	if err != nil {
		return out, err
	}
	thing, err := findNamed(ctx, m, "commodityId", in.CommodityID)
	if err != nil {
		return out, err
	}
	good, isCommodity := CommodityOf(thing)
	switch {
	case thing.ID == seller.ID:
		return out, fault.BadField("commodityId", "is the seller; name a card of type Commodity")
	case !isCommodity && (in.Usual != nil || in.Price != nil):
		return out, fault.BadField("commodityId", "has no price in a currency; give a card of type %s the fields "+
			"basePrice and currency, or leave out usual and price for money", TypeCommodity)
	}
	links, err := m.ReadLinks(ctx, canon.LinkQuery{From: seller.ID, To: thing.ID, Kinds: []string{LinkStocks}}, 1)
	if err != nil {
		return out, err
	}
	l, had := newStockLink(seller.ID, thing.ID), StockOf(canon.Link{})
	if len(links) > 0 {
		l = links[0]
		had = StockOf(l)
	}
	set := Stock{in.Quantity, had.Usual, had.Price}
	if in.Usual != nil {
		set.Usual = *in.Usual
	} else if len(links) == 0 && isCommodity {
		set.Usual = in.Quantity
	}
	if in.Price != nil {
		set.Price = *in.Price
	}
	p.DependOnLink(l)
	l.Attrs, l.Label = set.Attrs(), seller.Label.Meet(thing.Label)
	if _, err := p.Link(l); err != nil {
		return out, err
	}
	old, now := Ware{Commodity: good, Stock: had}, Ware{Commodity: good, Stock: set}
	out = stockOut{Quantity: set.Quantity, Usual: set.Usual, Price: now.ListPrice()}
	payload, err := json.Marshal(stocking{world.NewObjectRef(seller, 0),
		[]world.ObjectRef{world.NewObjectRef(thing, set.Quantity)}, set.Usual, out.Price, old.ListPrice()})
	if err != nil {
		return out, err
	}
	return out, p.Event(canon.Event{Type: string(world.MarketStocked), Scope: string(world.GlobalScope), Payload: payload,
		Label: access.NewLabel(access.LevelGM), Version: 1, Actor: canon.EventActor{Kind: "system"}})
}

// findNamed returns the card that a member of an input names.
func findNamed(ctx context.Context, m *world.AsOf, field, ref string) (world.Card, error) {
	t, ok, err := m.FindNamed(ctx, ref)
	if err == nil && !ok {
		err = fault.BadField(field, "names no card; give the id, codename or name of one")
	}
	return t, err
}

// Bounds of the trades that one answer is about.
const (
	tradePage     = 500
	maxTrades     = 20_000
	defaultRange  = 7 * 24 * time.Hour
	maxAnomalies  = 100 // of each kind
	maxSuggestion = 100 // sellers
)

// readTrades returns the trades since a time that the reader sees, oldest first. more reports that there are
// earlier ones that were not read.
func readTrades(ctx context.Context, m *world.AsOf, from, to time.Time) (out []Trade, more bool, err error) {
	before := canon.Seq(0)
	for {
		page, _, err := m.Events(ctx, canon.EventQuery{Types: []string{string(world.PlayerTrade)}, AsOf: before,
			Page: canon.Page{Limit: tradePage, Uncounted: true}})
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			if e.At.Before(from) {
				slices.Reverse(out)
				return out, false, nil
			}
			if t, ok := tradeOf(e); ok && !e.At.After(to) {
				out = append(out, t)
			}
		}
		if more = len(out) >= maxTrades; len(page) < tradePage || more || page[len(page)-1].Seq <= 1 {
			slices.Reverse(out)
			return out, more, nil
		}
		before = page[len(page)-1].Seq - 1
	}
}

func tradeOf(e canon.StoredEvent) (Trade, bool) {
	var d world.Action
	world.DecodeFields(e.Payload, &d)
	_, place, ok := world.ParseScope(e.Scope)
	if !ok || d.Trade == nil || d.Target == nil || len(d.Objects) == 0 {
		return Trade{}, false
	}
	units := d.Objects[0].Quantity
	if d.Verb == "sell" {
		units = -units
	}
	return Trade{e.ID, e.At, d.PlayerID, d.Target.ID, place, d.Objects[0].ID, units, d.Trade.Total}, true
}

// named is a card in an answer.
type named struct {
	ID   canon.CardID `json:"id"`
	Name string       `json:"name"`
}

// namer gives the names of cards for an answer.
type namer struct {
	ctx context.Context
	m   *world.AsOf
}

func (n namer) named(id canon.CardID) (named, error) {
	t, ok, err := n.m.CardByID(n.ctx, id)
	if !ok {
		return named{ID: id, Name: "a card that is gone"}, err
	}
	return named{id, t.Title()}, err
}

func (n namer) all(ids ...canon.CardID) (list []named, err error) {
	for _, id := range ids {
		one, err := n.named(id)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// formatNumber formats a number with at most two decimals.
func formatNumber(x float64) string { return fmt.Sprintf("%.4g", x) }

func parseTime(field, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.BadField(field, "must be a time such as 2026-01-31T18:00:00Z")
	}
	return t, nil
}

func cut[T any](list []T, n int) []T {
	if list == nil {
		return []T{}
	}
	return list[:min(len(list), n)]
}

// sumUnits returns the units that players bought and sold of a commodity at a seller.
func sumUnits(trades []Trade, w Ware) (bought, sold int64) {
	for _, t := range trades {
		switch {
		case t.Seller != w.Seller.ID || t.Commodity != w.Card.ID:
		case t.Units > 0:
			bought += t.Units
		default:
			sold -= t.Units
		}
	}
	return bought, sold
}
