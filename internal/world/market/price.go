package market

import "math"

// Parts of the price, in percent.
const (
	lowestPrice  = 50  // of Price, however much there is
	highestPrice = 200 // of Price, however little there is
	paidShare    = 50  // of its price that a seller pays for a unit
)

// Bargain is the percentage that a player has haggled for: off a price to pay, on a price to get.
const Bargain = 10

// price is a price as a fraction.
type price struct{ num, den int64 }

// priceAt returns the price of a unit when the seller has a quantity:
// Price × (1 + elasticity × (usual − quantity) / usual), between half of Price and twice Price.
func (w Ware) priceAt(quantity int64) price {
	at := w.ListPrice()
	if w.Usual == 0 {
		return price{at, 1}
	}
	permille := int64(math.Round(w.Elasticity * 1000))
	den := 1000 * w.Usual
	num := den + permille*(w.Usual-min(quantity, MaxStock))
	return price{at * min(max(num, den/100*lowestPrice), den/100*highestPrice), den}
}

// ListPrice returns the price of a unit at the usual stock.
func (w Ware) ListPrice() int64 {
	if w.Price > 0 {
		return w.Price
	}
	return w.BasePrice
}

// CostOf returns the cost of buying n units, from 1 to the quantity in stock. Each unit raises the price
// of the next, so that it is all the same whether units are bought at once or one by one, but for
// rounding, which favours the seller.
func (w Ware) CostOf(n int64, bargain int64) (total int64) {
	for i := range n {
		p := w.priceAt(w.Quantity - i)
		total += max(ceilDiv(p.num*(100-bargain), p.den*100), 1)
	}
	return total
}

// PaidFor returns the money that the seller pays for n units.
func (w Ware) PaidFor(n int64, bargain int64) (total int64) {
	for i := range n {
		p := w.priceAt(w.Quantity + i + 1)
		total += p.num * paidShare / 100 * (100 + bargain) / 100 / p.den
	}
	return total
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
