package market_test

import (
	"fmt"

	"loregate/internal/world/market"
)

func ExampleWare_CostOf() {
	w := market.Ware{Commodity: market.Commodity{BasePrice: 9, Elasticity: 1}, Stock: market.Stock{Quantity: 6, Usual: 12}}
	fmt.Println(w.CostOf(1, 0), w.CostOf(2, 0), w.CostOf(1, market.Bargain), w.PaidFor(1, 0))
	// Output: 14 29 13 6
}
