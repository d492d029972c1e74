// Package archive is the card wiki: reading, searching, listing, history, rendering and queries of
// cards, and the operations that write them.
//
// Its invariant: everything is read through one canon.Snapshot of the call's grant. A card that the
// caller may not see is therefore absent from every answer, count, order and rendering. The one
// exception is a name whose level follows from the world's name rules alone (see checkNameRules).
// Visibility is decided by package canon, text is handled by markup, and calls are carried by the
// transports.
package archive
