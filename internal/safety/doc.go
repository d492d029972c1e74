// Package safety judges text by a versioned policy: which categories it falls into, and whether a
// world with a given profile blocks, flags or allows them.
//
// Its invariant: the same policy and text give the same judgement, anywhere and offline, in time that
// is linear in the text. The caller acts on the judgement and may also ask another moderator (see
// Moderator).
//
// A policy is a file, named by its version ("policy/1.1"), that never changes once it is published.
// Its terms are matched on words, after Fold. A term is a sequence of words in which
//
//	a|b     is either word
//	word*   is a word that begins so
//	a+b     is a phrase, where one word can stand
//	@name   is a word or phrase of a set of the policy
//	?word   may be absent
//	...     is up to four words, and ...N up to N words
//
// From format 2 on, a policy reads a word in every way in which it may be masked (signs for letters, letters
// written apart, hidden, swapped or repeated), and matches terms within a sentence. It ignores the words
// of its harmless phrases. A sentence with a word of its fiction list, and speech in quotation marks
// inside a narration, is fiction unless it has a word of its real list: there the outside_fiction terms of a
// category do not count.
//
// A policy of format 3 also has scales, which weigh the words of neighbouring sentences by category: linear
// classifiers, fitted by scripts/moderation. They find what no term says, and doubt terms in sentences whose words
// speak against the category.
//
// A policy may extend an earlier one: it has all that its file leaves out. From 1.6 on, a policy has patterns of the
// marks of hidden text (class="secret", [!secret], {{< secret >}}). The marks are not judged, the hidden text is.
//
// Patterns are RE2 and are matched on the text before it is split into words, without invisible
// characters, and from format 2 on also without masks.
package safety
