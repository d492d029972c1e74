// Package markup parses and edits the text of cards: names and the keys that identify them,
// [[links]] and {{nests}}, item lists, conversion between HTML, Markdown and plain text, and the
// edits of patches.
//
// Its one invariant: every function is pure and total. It accepts any string (any length, invalid
// UTF-8, hostile nesting). The same input gives the same bytes. The cost grows no faster than the
// limits documented on each function. Wiki syntax in the input is never rewritten unless that is
// the purpose of the function.
//
// The package does not decide who may see the target of a link or nest, whether a card of a name
// exists, or which text a nest shows. It holds no state and does no I/O.
package markup
