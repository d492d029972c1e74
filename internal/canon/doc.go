// Package canon is the only door to the canon of every world: cards, links, layers and the commits
// that change them.
//
// Its invariant: callers read only through a Grant, which shows only the data that it opens. Every
// change is a commit, which is validated, atomic, attributed, ordered and chained by hash. The
// store's queries leave hidden rows out before they count, order or cut anything. The few methods
// without a Grant are for wiring code and say so.
//
// The presentation of cards is left to the surfaces. The storage of rows is left to the stores,
// behind the ports in ports.go.
package canon
