// Package meaning compares words and texts by meaning, in English, without a model or a network: by word vectors and
// by the relations and definitions of WordNet. The data are part of the program; scripts/meaning.sh makes them again.
//
// Its invariant: every result depends only on the arguments and on the data of the program. No text that is passed in
// is kept.
//
// Vectors of texts of different versions of the data must not be compared; Model names the version. What a closeness
// implies is up to the caller: "was poisoned by" is close to "was cured by".
package meaning
