// Package surface has the parts that surfaces on the canon share: operations that read or commit,
// pages of lists, and times and long texts in answers.
//
// Its invariant: an answer is built from a snapshot through the caller's view, also the answer to a
// repeated call. The operations themselves and the forms of their answers are left to the surfaces.
package surface
