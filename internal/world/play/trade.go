package play

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/market"
)

// linkHaggled is the kind of the links from a player to a seller whose attributes are a bargain.
const linkHaggled = "haggled"

// bargain is the result of haggling. It counts for one trade.
type bargain struct {
	Percent int64 `json:"percent"`
	Until   int64 `json:"until"` // the player's clock until which the seller does not haggle again
}

// haggleAgain is the time after which a seller haggles with a player again.
const haggleAgain = world.Hour

// tradeIntent returns the act of a command that asks for prices or haggles. ok is false if it is no such
// command, or nobody trades at the player's place and the words may mean something else.
func (r sentenceReader) tradeIntent(text string) (i command.Intent, ok bool, err error) {
	if i, ok = command.ReadTrade(text); !ok {
		return i, false, nil
	}
	if q, asks := command.ReadQuestion(text); asks && i.DirectObject != "" && q.Kind != command.AskedCost {
		return i, false, nil // what do they sell here
	}
	if !r.stands || len(strings.Fields(i.DirectObject)) > 6 {
		return i, false, nil
	}
	wares, err := r.listWares()
	if i.Verb == command.Price && i.DirectObject != "" &&
		!slices.ContainsFunc(wares, func(w market.Ware) bool { return rateFit(i.DirectObject, w.Card) > command.FitNone }) {
		return i, false, err
	}
	return i, len(wares) > 0 || i.Verb == command.Price && i.DirectObject == "", err
}

// listWares returns the wares of the sellers at the player's place.
func (s *turn) listWares() ([]market.Ware, error) {
	sellers, err := market.SellersAt(s.ctx, s.AsOf, s.place)
	if err != nil {
		return nil, err
	}
	sellers = slices.DeleteFunc(sellers, func(t world.Card) bool { return t.IsType(world.TypePlayer) })
	return market.WaresOf(s.ctx, s.AsOf, sellers)
}

// pickWare returns the only ware that a name means, of the seller that the intent names if it names one.
func (s *turn) pickWare(wares []market.Ware, name, missing string) (w market.Ware, err error) {
	if len(wares) == 0 {
		return w, cannot("no_trade", "Nobody here trades in anything.")
	}
	if len(s.intent.Targets) > 0 && !slices.Contains(stallWords, command.HeadOf(s.intent.Targets[0])) {
		sellers := slicesx.Map(wares, func(w market.Ware) world.Card { return w.Seller })
		seller, err := s.findOne(s.intent.Targets[0], sellers, "There is no %q here to trade with.")
		if err != nil {
			return w, err
		}
		wares = slicesx.Filter(wares, func(w market.Ware) bool { return w.Seller.ID == seller.ID })
	}
	t, err := s.findOne(name, slicesx.Map(wares, func(w market.Ware) world.Card { return w.Card }), missing)
	if err != nil {
		return w, err
	}
	offers := slicesx.Filter(wares, func(w market.Ware) bool { return w.Card.ID == t.ID })
	if len(offers) > 1 {
		names := slicesx.Map(offers, func(w market.Ware) string { return w.Seller.Title() })
		return w, cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(names, "or"))
	}
	return offers[0], nil
}

// stallWords are nouns for where goods are sold: all who sell at the place are meant.
var stallWords = strings.Fields("stall shop market counter store booth")

// planBuy buys units of a ware.
func (s *turn) planBuy() error {
	n, name := command.SplitCount(s.intent.DirectObject)
	wares, err := s.listWares()
	if err != nil {
		return err
	}
	w, err := s.pickWare(wares, name, "Nobody here sells any %q.")
	if no, ok := errors.AsType[*impossible](err); ok && no.reason == "absent" {
		if r, err := s.resolveHere(name); err != nil || r.isMentioned() && !r.mention.Denied {
			s.label = s.label.Meet(r.text.label)
			return cmpErr(err, cannot("unsold", "Nobody here would sell you any %s.", markup.Clean(r.name)))
		}
	}
	if err != nil {
		return err
	}
	if n < 0 {
		n = max(min(w.Quantity, market.MaxTrade), 1)
	}
	switch title := w.Card.Title(); {
	case w.Quantity == 0:
		return cannot("sold_out", "%s is sold out.", title)
	case n > w.Quantity:
		return cannot("too_few", "There are only %d of %s.", w.Quantity, title)
	case n > market.MaxTrade:
		return cannot("too_many", "That is more than anybody could carry off at once.")
	}
	deal, l, err := s.readBargain(w.Seller)
	if err != nil {
		return err
	}
	cost := w.CostOf(n, deal.Percent)
	purse, err := s.readHeld(s.player.ID, w.Money.ID)
	if err != nil {
		return err
	}
	if purse < cost {
		return cannot("poor", "That comes to %s, and you have %d.", countMoney(w.Money.Title(), cost), purse)
	}
	if err := s.exchangeGoods(w, n, -cost); err != nil {
		return err
	}
	return s.finishTrade(w, n, cost, deal, l)
}

// planSell sells units of a commodity that the player has to somebody who trades in it.
func (s *turn) planSell() error {
	n, name := command.SplitCount(s.intent.DirectObject)
	wares, err := s.listWares()
	if err != nil {
		return err
	}
	own, err := s.HeldItems(s.ctx, s.player.ID)
	if err != nil {
		return err
	}
	if len(wares) == 0 {
		return cannot("no_trade", "Nobody here trades in anything.")
	}
	t, err := s.findOne(name, slicesx.Map(own, func(h world.Held) world.Card { return h.Card }), "You have no %q.")
	if err != nil {
		return err
	}
	wares = slicesx.Filter(wares, func(w market.Ware) bool { return w.Card.ID == t.ID })
	if len(wares) == 0 {
		return cannot("unwanted", "Nobody here buys %s.", t.Title())
	}
	w, err := s.pickWare(wares, t.Title(), "Nobody here buys any %q.")
	if err != nil {
		return err
	}
	has, err := s.readHeld(s.player.ID, t.ID)
	if err != nil {
		return err
	}
	if n < 0 {
		n = min(has, market.MaxTrade)
	}
	switch {
	case n > has:
		return cannot("too_few", "There are only %d of %s.", has, t.Title())
	case n > market.MaxTrade:
		return cannot("too_many", "That is more than anybody would take at once.")
	}
	deal, l, err := s.readBargain(w.Seller)
	if err != nil {
		return err
	}
	paid := w.PaidFor(n, deal.Percent)
	switch {
	case paid == 0:
		return cannot("worthless", "%s would give nothing for %s.", w.Seller.Title(), t.Title())
	case paid > market.StockOf(w.Till).Quantity:
		return cannot("seller_poor", "%s cannot pay as much as %s.", w.Seller.Title(), countMoney(w.Money.Title(), paid))
	}
	if err := s.exchangeGoods(w, -n, paid); err != nil {
		return err
	}
	return s.finishTrade(w, n, paid, deal, l)
}

// exchangeGoods plans that the player gets n units of a ware and an amount of money from its seller. A
// negative number goes the other way. The plan rests on all four quantities: if two players buy the last
// unit, one of them is told that it is sold out.
func (s *turn) exchangeGoods(w market.Ware, n, money int64) error {
	s.narrowLabel(w.Card, w.Seller, w.Money)
	at, ok, err := s.FindAtLink(s.ctx, w.Seller.ID)
	if err != nil {
		return err
	}
	if ok {
		s.plan.DependOnLink(at)
	}
	if err := s.addToHolder(world.Held{ID: w.Card.ID}, n, s.player.ID); err != nil {
		return err
	}
	if err := s.addToHolder(world.Held{ID: w.Money.ID}, money, s.player.ID); err != nil {
		return err
	}
	if err := s.addToStock(w.Link, -n); err != nil {
		return err
	}
	return s.addToStock(w.Till, -money)
}

func (s *turn) addToStock(l canon.Link, n int64) error {
	s.plan.DependOnLink(l)
	l.Attrs = mergeAttrs(l.Attrs, quantityAttrs(market.StockOf(l).Quantity+n))
	_, err := s.plan.Link(l)
	return err
}

// finishTrade plans the event of a trade, which uses up the player's bargain.
func (s *turn) finishTrade(w market.Ware, n, total int64, deal bargain, l canon.Link) error {
	s.aimAt(w.Seller)
	s.action.Objects = []world.ObjectRef{world.NewObjectRef(w.Card, n)}
	s.action.Trade = &world.Trade{Total: total, ListPrice: w.ListPrice(), Bargain: deal.Percent,
		Money: world.NewObjectRef(w.Money, total)}
	if deal.Percent > 0 {
		deal.Percent = 0
		if err := s.linkBargain(l, deal); err != nil {
			return err
		}
	}
	return s.finishTurn(world.PlayerTrade)
}

// readHeld returns how many of a thing a holder has.
func (s *turn) readHeld(holder, thing canon.CardID) (int64, error) {
	links, err := s.ReadLinks(s.ctx, canon.LinkQuery{From: holder, To: thing, Kinds: []string{world.LinkHolds}}, 1)
	if err != nil || len(links) == 0 {
		return 0, err
	}
	return world.QuantityOf(links[0]), nil
}

// readBargain returns what the player has haggled for with a seller.
func (s *turn) readBargain(seller world.Card) (b bargain, l canon.Link, err error) {
	l = canon.Link{ID: canon.LinkIDOf(linkHaggled, s.player.ID.String(), seller.ID.String()), Kind: linkHaggled,
		From: s.player.ID, To: seller.ID}
	links, err := s.ReadLinks(s.ctx, canon.LinkQuery{From: l.From, To: l.To, Kinds: []string{linkHaggled}}, 1)
	if err == nil && len(links) > 0 {
		l = links[0]
		world.DecodeFields(l.Attrs, &b)
	}
	if b.Until <= s.presence.Clock {
		b = bargain{}
	}
	b.Percent = min(max(b.Percent, 0), market.Bargain)
	return b, l, err
}

func (s *turn) linkBargain(l canon.Link, b bargain) (err error) {
	s.plan.DependOnLink(l)
	if l.Attrs, err = json.Marshal(b); err != nil {
		return err
	}
	_, err = s.plan.Link(l)
	return err
}

// planHaggle haggles with a seller. A success lowers the next price to pay, or raises the next price to
// get.
func (s *turn) planHaggle() error {
	wares, err := s.listWares()
	if err != nil {
		return err
	}
	if name := s.intent.DirectObject; name != "" {
		w, err := s.pickWare(wares, name, "Nobody here sells any %q.")
		if err != nil {
			return err
		}
		wares = []market.Ware{w}
	}
	sellers := slicesx.Map(wares, func(w market.Ware) world.Card { return w.Seller })
	sellers = slices.CompactFunc(sellers, func(a, b world.Card) bool { return a.ID == b.ID })
	sellers = slicesx.Filter(sellers, world.IsAlive)
	if len(s.intent.Targets) > 0 && len(sellers) > 0 {
		seller, err := s.findOne(s.intent.Targets[0], sellers, "There is no %q here to haggle with.")
		if err != nil {
			return err
		}
		sellers = []world.Card{seller}
	}
	switch {
	case len(sellers) == 0 || s.settle == nil:
		return cannot("fixed_price", "The prices here are as they are.")
	case len(sellers) > 1:
		return cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(sellers), "or"))
	}
	seller := sellers[0]
	deal, l, err := s.readBargain(seller)
	if err != nil {
		return err
	}
	if deal.Until > 0 {
		return cannot("settled", "%s has said the last word on prices for now.", seller.Title())
	}
	s.narrowLabel(seller)
	s.aimAt(seller)
	success, err := s.settleWith(approaches["haggle"], &seller, "haggle")
	if err != nil {
		return err
	}
	if deal.Until = s.presence.Clock + haggleAgain; success {
		deal.Percent = market.Bargain
	}
	if err := s.linkBargain(l, deal); err != nil {
		return err
	}
	return s.finishTurn(world.PlayerAct)
}

// planPrice asks for the price of a ware, or of all wares here. The event has no figures: the narration
// reads them as of the event.
func (s *turn) planPrice() error {
	wares, err := s.listWares()
	if err != nil {
		return err
	}
	if name := s.intent.DirectObject; name != "" {
		w, err := s.pickWare(wares, name, "Nobody here sells any %q.")
		if err != nil {
			return err
		}
		s.aimAt(w.Seller)
		s.narrowLabel(w.Seller)
		s.action.Objects = []world.ObjectRef{world.NewObjectRef(w.Card, 0)}
	}
	return s.finishTurn(world.PlayerLook)
}

// tellPrices narrates the prices of the wares at a place, or of the ware that the act is about.
func (m narrator) tellPrices(ctx context.Context, d world.Action, place world.Card) (string, error) {
	s := &turn{AsOf: m.AsOf, ctx: ctx, place: place, player: world.Card{ID: d.PlayerID},
		presence: world.Presence{Clock: d.Clock - d.DurationMs}}
	wares, err := s.listWares()
	if err != nil {
		return "", err
	}
	var parts []string
	for _, w := range wares {
		if len(d.Objects) > 0 && w.Card.ID != d.Objects[0].ID || d.Target != nil && w.Seller.ID != d.Target.ID {
			continue
		}
		deal, _, err := s.readBargain(w.Seller)
		if err != nil {
			return "", err
		}
		parts = append(parts, describeOffer(w, deal))
	}
	if len(parts) == 0 {
		fare, err := (&answerer{turn: s, m: m}).tellFare("")
		return cmp.Or(fare, "Nobody here has anything to sell."), err
	}
	return strings.Join(parts, "\n"), nil
}

// describeOffer describes an offer to the player to whom it is made.
func describeOffer(w market.Ware, deal bargain) string {
	unit := ""
	if w.Unit != "" {
		unit = " a " + w.Unit
	}
	if w.Quantity == 0 {
		return w.Card.Title() + " at " + w.Seller.Title() + ": sold out."
	}
	text := w.Card.Title() + " at " + w.Seller.Title() + ": " + countMoney(
		w.Money.Title(),
		w.CostOf(1, deal.Percent),
	) + unit
	return text + ", and " + strconv.FormatInt(w.Quantity, 10) + " to be had."
}

// countMoney writes an amount of money as a person says it: "2 sound pennies", "1 crown of salt". The name of the money
// is in English; the first word before "of", or else the last one, has its plural.
func countMoney(name string, n int64) string {
	name = strings.ToLower(name)
	if n == 1 {
		return "1 " + name
	}
	head, rest := name, ""
	if at := strings.Index(name, " of "); at > 0 {
		head, rest = name[:at], name[at:]
	}
	switch {
	case strings.HasSuffix(head, "y") && !strings.ContainsAny(head[max(len(head)-2, 0):len(head)-1], "aeiou"):
		head = head[:len(head)-1] + "ies"
	case strings.HasSuffix(head, "s"), strings.HasSuffix(head, "x"), strings.HasSuffix(head, "ch"),
		strings.HasSuffix(head, "sh"):
		head += "es"
	default:
		head += "s"
	}
	return strconv.FormatInt(n, 10) + " " + head + rest
}

// tellTrade narrates a trade.
func tellTrade(d world.Action) string {
	does, link := "buy", " from "
	if d.Verb == command.Sell {
		does, link = "sell", " to "
	}
	text := "You " + does + " " + d.ObjectNames()
	if d.Target != nil {
		text += link + d.Target.Name
	}
	if d.Trade != nil {
		text += " for " + countMoney(d.Trade.Money.Name, d.Trade.Money.Quantity)
	}
	return text + "."
}

// tellHaggling narrates the end of haggling.
func tellHaggling(d world.Action) string {
	if d.Target == nil {
		return ""
	}
	if d.Effect == "managed" {
		return d.Target.Name + " sighs, and will do better on the next trade."
	}
	return d.Target.Name + " will not move on the price."
}
