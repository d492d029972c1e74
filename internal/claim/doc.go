// Package claim reads the claims of a text and judges them against a part of a canon.
//
// A claim is a triple: a subject, a predicate and an object, such as (butler, holds, sapphire). Read finds the claims
// of a text. Questions, hearsay, wishes, fears, conditions, comparisons and quotations claim nothing. Check compares
// claims with the World that its caller has read from the canon: the caller decides through whose eyes.
//
// Its invariant: all functions are pure, the same text and World give the same verdicts, and the time is bounded by
// the length of the text and the size of the World. It reads English, by the words and relations of package meaning.
package claim
