// Package markup knows what is written on a card: names and the keys that
// identify them, [[links]] and {{nests}}, item lists, and text as HTML,
// Markdown and plain words, with the edits that a patch makes to them.
//
// Its one invariant: every function is pure and total. Any string is an
// acceptable input (any length, broken UTF-8, hostile nesting); the same input
// gives the same bytes; cost grows no faster than the limits documented on each
// function; and what is wiki syntax in the input is never rewritten unless the
// function exists to rewrite it.
//
// It leaves to others: who may see what a link or a nest leads to, whether a
// card of a name exists, and what a nest shows. It holds no state and does no
// input or output.
package markup
