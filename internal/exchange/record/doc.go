// Package record helps to import collections of records, such as JSON files of a game's rules or of
// a text world: it reads files within limits, reports broken records with their lines, gives every
// card a name of its own, and assigns directions to exits.
//
// Its invariant: a record never updates a card that came from elsewhere. A record that was imported
// before keeps its card and that card's name.
package record
