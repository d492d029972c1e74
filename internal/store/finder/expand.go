package finder

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/search"
	"loregate/internal/slicesx"
	"loregate/internal/store/words"
)

// Bounds and weights of the words that are searched beside a word of a query.
const (
	relatedWeight = 0.25
	maxRelated    = 16
	// Of the judged queries, weights from 0.6 to 1 give the same result within 0.02.
	looseWeight = 0.8
	sameFrom    = 0.6 // weight of a relative that means the same
	headShare   = 0.7 // weight of the last word of a name, relative to the name
	maxLoose    = 64
	// Of the judged queries over the SRD, weights from 1 to 2 give the same result within 0.01.
	describedWeight = 1.5
	maxDescribed    = 100
	leastDescribed  = 2 // number of words of a query that may describe a name
	mostDescribed   = 4
	// Weights of words that explain others, and bounds of their use. Of the judged queries, weights greater or smaller by
	// a third give the same result within 0.01.
	definedWeight = 0.2 // a word that defines a word of the query
	absentWeight  = 0.4 // the same if no card has that word
	partWeight    = 0.5 // a part of a compound that no card has
	maxDefining   = 8
	mostDefined   = 3 // number of words of a query that are explained
	leastPart     = 3 // letters of a part of a compound
	// meaningLanguage is the language that package meaning knows.
	meaningLanguage = "en"
)

// variantsOf returns the forms in which a word is searched: the word itself, and words that share one
// of its usual senses or are derived from it. Words that no visible card has find nothing.
func variantsOf(language, word string) []search.Variant {
	list := []search.Variant{{Piece: words.FormPiece(language, word), Weight: 1}}
	if language != meaningLanguage {
		return list
	}
	for _, w := range relatedTo(word) {
		piece := words.FormPiece(language, w)
		if !slices.ContainsFunc(list, func(v search.Variant) bool { return v.Piece == piece }) && len(list) <= maxRelated {
			list = append(list, search.Variant{Piece: piece, Weight: relatedWeight})
		}
	}
	return list
}

// looseVariantsOf returns the names that a word may stand for, if no name has the word: those of related things. Of a
// name of several words, the last one counts.
func looseVariantsOf(language, word string) (list []search.Variant) {
	if language != meaningLanguage {
		return nil
	}
	for _, r := range meaning.Relatives(word) {
		w := r.Word
		if i := strings.LastIndexAny(w, " -"); i >= 0 {
			w, r.Weight = w[i+1:], r.Weight*headShare
		}
		if len(words.List(w)) != 1 {
			continue
		}
		piece := words.FormPiece(language, w)
		if i := slices.IndexFunc(list, func(v search.Variant) bool { return v.Piece == piece }); i >= 0 {
			list[i].Weight = max(list[i].Weight, r.Weight*looseWeight)
			continue
		}
		list = append(list, search.Variant{Piece: piece, Weight: looseWeight * r.Weight, Named: true})
		if len(list) == maxLoose {
			break
		}
	}
	return list
}

// insteadOf returns the words that are searched instead of one that no visible card has: names of related things, the
// words that define it, and its parts.
func insteadOf(language, word string) (list []search.RankWord) {
	if language != meaningLanguage {
		return nil
	}
	list = append(list, search.RankWord{Variants: looseVariantsOf(language, word)})
	list = append(list, definitionOf(language, word, absentWeight)...)
	for at := leastPart; at <= len(word)-leastPart; at++ {
		one, other := word[:at], word[at:]
		if meaning.Lemma(other, meaning.Noun) == "" && meaning.Lemma(other, meaning.Verb) == "" {
			continue
		}
		if meaning.Lemma(one, meaning.Noun) != "" {
			list = append(list, partOf(language, one), partOf(language, other))
		} else if slices.Contains(prefixes, one) {
			list = append(list, partOf(language, other))
		}
	}
	return list
}

// prefixes are beginnings of words that WordNet does not have as nouns.
var prefixes = []string{"anti", "inter", "non", "over", "under"}

func partOf(language, word string) search.RankWord {
	return search.RankWord{Variants: []search.Variant{{Piece: words.FormPiece(language, word), Weight: partWeight}}}
}

// definitionOf returns the words that define a name.
func definitionOf(language, name string, weight float64) (list []search.RankWord) {
	own := words.FormPiece(language, name)
	for _, stem := range meaning.Define(name) {
		if piece := (words.Piece{How: words.Form, Text: stem, Language: language}); piece != own {
			list = append(list, search.RankWord{Variants: []search.Variant{{Piece: piece, Weight: weight}}})
		}
	}
	return list[:min(len(list), maxDefining)]
}

// explain returns words that are searched beside those of a query: the names that it describes or is a form of, and the
// words that define it.
func explain(language string, asked words.Asked) (list []search.RankWord) {
	if language != meaningLanguage || len(asked.Words) > mostDescribed {
		return nil
	}
	list = append(list, search.RankWord{Variants: describedBy(language, asked)})
	if len(asked.Words) > mostDefined {
		return list
	}
	if len(asked.Words) > 1 {
		list = append(list, definitionOf(language, strings.Join(asked.Words, " "), absentWeight)...)
	}
	for _, w := range asked.Words {
		list = append(list, definitionOf(language, w, definedWeight)...)
	}
	return list
}

// describedBy returns the names of the things that the words of a query describe: "pegasus" for "flying horse". Names
// that no visible card has find nothing. A number describes nothing.
func describedBy(language string, asked words.Asked) (list []search.Variant) {
	if language != meaningLanguage || len(asked.Words) < leastDescribed || len(asked.Words) > mostDescribed ||
		len(asked.Pairs) > 0 {
		return nil
	}
	known := map[words.Piece]bool{}
	add := func(name string, weight float64) {
		if strings.Contains(name, " ") || len(words.List(name)) != 1 || slices.Contains(asked.Words, name) {
			return
		}
		if piece := words.FormPiece(language, name); !known[piece] {
			known[piece] = true
			list = append(list, search.Variant{Piece: piece, Weight: weight, Named: true})
		}
	}
	last := len(asked.Words) - 1
	bases := slicesx.Map(asked.Words, func(w string) string { return cmp.Or(meaning.Lemma(w, meaning.Verb), w) })
	bases[last] = asked.Words[last]
	for _, parts := range [][]string{asked.Words, bases} {
		for _, joint := range []string{"", "-", " "} {
			compound := strings.Join(parts, joint)
			add(compound, 1)
			for _, w := range meaning.Synonyms(compound, meaning.Noun) {
				add(w, 1)
			}
		}
	}
	for _, d := range meaning.Describe(asked.Words, maxDescribed) {
		add(d.Name, describedWeight*d.Score)
	}
	return list
}

// relatedTo returns the single words that are synonyms of a word or derived from it, synonyms first.
func relatedTo(word string) (list []string) {
	var derived []string
	for part := meaning.Noun; part <= meaning.Adverb; part++ {
		base := meaning.Lemma(word, part)
		if base == "" {
			continue
		}
		list = append(list, base)
		list = append(list, meaning.Synonyms(base, part)...)
		derived = append(derived, meaning.Derived(base)...)
	}
	return slices.DeleteFunc(append(list, derived...), func(w string) bool { return len(words.List(w)) != 1 })
}

// synonymsOf returns the folded names that mean nearly the same as a text of up to three words, each with its nearness
// from 0 to 1.
func synonymsOf(language, text string) map[string]float64 {
	if language != meaningLanguage || strings.Count(text, " ") > 2 {
		return nil
	}
	names := map[string]float64{}
	for _, r := range meaning.Relatives(text) {
		names[markup.Fold(r.Word)] = min(1, r.Weight/sameFrom)
	}
	for part := meaning.Adjective; part <= meaning.Adverb; part++ {
		for _, w := range meaning.Synonyms(text, part) {
			names[markup.Fold(w)] = 1
		}
	}
	return names
}
