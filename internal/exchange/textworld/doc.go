// Package textworld imports worlds of text games: CircleMUD and tbaMUD, batch files of Evennia, and
// stories in Twee.
//
// Its invariant: a room has the exits that it has in its game, and hidden doors are for the GM. Parts
// that are not imported, such as scripts, are counted and named.
package textworld
