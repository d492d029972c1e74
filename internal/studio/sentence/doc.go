// Package sentence turns sentences into scenes in the language of package spec. Its vocabulary and
// its grammar are English; the vocabulary is data: data/words.yaml, with the parts that the words
// name in data/parts.yaml.
//
// Its invariant: the same words and seed give the same scene, and each word that names a thing is in
// the reading: as a part of the scene, or as not understood. Numbers hold: eight houses are eight.
//
// A word that the vocabulary lacks is looked up in WordNet: the nearest word of the same sense, or
// of a broader one, stands for it, and the reading lists that as assumed. Nothing else is guessed.
package sentence
