package finder

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/search"
	"loregate/internal/store/words"
)

// Bounds and weights of the words that are searched beside a word of a query.
const (
	relatedWeight = 0.25
	maxRelated    = 16
	// Of the judged queries over the SRD, weights from 1 to 2 give the same result within 0.01.
	describedWeight = 1.5
	maxDescribed    = 100
	leastDescribed  = 2 // words of a query that may describe a name
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

// describedBy returns the names of the things that the words of a query describe: "pegasus" for "flying horse". Names
// that no visible card has find nothing. A number describes nothing.
func describedBy(language string, asked words.Asked) (list []search.Variant) {
	if language != meaningLanguage || len(asked.Words) < leastDescribed || len(asked.Pairs) > 0 {
		return nil
	}
	add := func(name string, weight float64) {
		if len(words.List(name)) != 1 || slices.Contains(asked.Words, name) {
			return
		}
		piece := words.FormPiece(language, name)
		if !slices.ContainsFunc(list, func(v search.Variant) bool { return v.Piece == piece }) {
			list = append(list, search.Variant{Piece: piece, Weight: weight, Named: true})
		}
	}
	for _, joint := range []string{"", "-", " "} {
		compound := strings.Join(asked.Words, joint)
		add(compound, 1)
		for _, w := range meaning.Synonyms(compound, meaning.Noun) {
			add(w, 1)
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

// synonymsOf returns the names that mean the same as a text of up to three words, or one kind of it.
func synonymsOf(language, text string) (list []string) {
	if language != meaningLanguage || strings.Count(text, " ") > 2 {
		return nil
	}
	for part := meaning.Noun; part <= meaning.Adverb; part++ {
		list = append(list, meaning.Synonyms(text, part)...)
		list = append(list, meaning.Narrower(text, part)...)
	}
	return list
}
