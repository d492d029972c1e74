// Package phrase parses sentences of English, German, French and Spanish into calls of the studio's
// tools. Its vocabulary is data: the file lexicon.txt.
//
// Its invariant: each act comes from a word of the sentence, and each word that asks for more than
// the tools can do is in Asks or Ignored of the reading. It knows no canon: the caller finds the
// names of places, and checks the acts like any other untrusted plan.
package phrase
