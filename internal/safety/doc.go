// Package safety judges text by a versioned policy: which categories it falls into, and whether a
// world with a given profile blocks, flags or allows them.
//
// Its invariant: the same policy and text give the same judgement, anywhere and offline. The caller
// acts on the judgement and may also ask another moderator (see Moderator).
//
// A policy is a file, named by its version ("policy/1.0"), that never changes once it is published.
// Its terms are matched on words, after Fold. Each term is a sequence of words, where a|b is either
// word, word* is a prefix, and ... is up to four words. Its patterns are RE2 and are matched on the
// text before it is split into words, without invisible characters.
package safety
