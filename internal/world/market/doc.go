// Package market has the trade of a world: commodities, the stock of sellers, prices that follow from
// stock, and advice for game masters about trades and prices.
//
// Its invariant: a price depends only on the commodity, the stock of one seller and the bargain. To buy
// and to sell back never gains anything. Advice changes nothing.
//
// A commodity is a card of type Commodity. A seller is a place, a character or any other card with links
// "stocks" to commodities and to the money in its till. Package play carries out the trades.
package market
