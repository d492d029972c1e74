package meaning

import (
	"cmp"
	_ "embed"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"loregate/internal/stem"
)

// glossFile has the definitions of WordNet as an inverted index. All numbers are little-endian uint32, unless said
// otherwise: the number of terms and of things; then tables, each of where its entries begin, the end, and the
// entries: the terms, sorted, which are stems of words; for each term the things that its words define, as uvarints of
// the differences between their numbers, the first one to -1. The number of names follows, and tables of the names,
// sorted; for each name its things, the most frequent sense first, as uvarints; for each thing its names, as uvarints;
// for each thing its terms, as uvarints of the differences between their numbers. A byte for each thing follows, the
// number of its terms. The file is read in place.
//
//go:embed data/glosses.bin
var glossFile string

// glossary is the file of definitions.
type glossary struct {
	things             int
	terms, postings    texts
	names, meant       texts // of all things, and the things of each name
	named, definitions texts // of each thing
	lengths            string
}

// texts is a table of texts.
type texts struct{ starts, all string }

func (t texts) size() int { return len(t.starts)/4 - 1 }

func (t texts) at(i int) string { return t.all[uint32At(t.starts, i):uint32At(t.starts, i+1)] }

var glosses = openGlossary(glossFile)

func openGlossary(f string) glossary {
	terms, things := int(uint32At(f, 0)), int(uint32At(f, 1))
	f = f[8:]
	cut := func(count int) (t texts) {
		t.starts, f = f[:4*(count+1)], f[4*(count+1):]
		end := uint32At(t.starts, count)
		t.all, f = f[:end], f[end:]
		return t
	}
	g := glossary{things: things}
	g.terms, g.postings = cut(terms), cut(terms)
	names := int(uint32At(f, 0))
	f = f[4:]
	g.names, g.meant = cut(names), cut(names)
	g.named, g.definitions = cut(things), cut(things)
	g.lengths = f
	return g
}

// uvarints returns the numbers in a text of uvarints.
func uvarints(list string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < len(list); i++ {
			n := int(list[i])
			for shift := 7; list[i] >= 0x80; shift += 7 {
				i++
				n += (int(list[i]) - 1) << shift
			}
			if !yield(n) {
				return
			}
		}
	}
}

// Define returns the stems of the words by which WordNet defines the two most frequent senses of a name as a noun and
// as a verb, and those of its synonyms and of broader words: "submerg" and "warship" for "submarine". The name is in
// lower case, in any form; it may be a compound with spaces.
func Define(name string) (stems []string) {
	var senses []int
	for part := Noun; part <= Verb; part++ {
		form := cmp.Or(Lemma(name, part), name) // the relations lack names
		i, ok := sort.Find(glosses.names.size(), func(i int) int { return cmp.Compare(form, glosses.names.at(i)) })
		if !ok {
			continue
		}
		for thing := range uvarints(glosses.meant.at(i)) {
			if !slices.Contains(senses, thing) {
				senses = append(senses, thing)
			}
		}
	}
	for _, thing := range senses {
		term := 0
		for step := range uvarints(glosses.definitions.at(thing)) {
			term += step
			if s := glosses.terms.at(term); !slices.Contains(stems, s) {
				stems = append(stems, s)
			}
		}
	}
	return stems
}

// A Described is a name of a thing or act that a text describes.
type Described struct {
	Name  string  // in lower case
	Score float64 // how well the description fits, from 0 to 1
}

// Constants of Describe. Of the judged queries over the fifth edition's SRD, values of leastCovered from 0.4 to 0.6 and
// of lengthShare from 0.3 to 0.6 give the same result within 0.01.
const (
	describedSynonym = 0.6 // weight of a synonym in a definition, relative to the word at 1
	leastCovered     = 0.4 // share of the description that a definition must have
	lengthShare      = 0.3 // influence of a definition's length, as in BM25
	usualLength      = 12
	maxDescribing    = 16   // words of a description that count
	frequentTerm     = 3000 // definitions with a term that is too frequent to stand for another word
)

// Describe returns the names of the things that words describe best, by the definitions of WordNet: "minotaur" for
// "bull", "headed", "man". The words are in lower case. The names are those of at most limit things, the best first.
func Describe(words []string, limit int) (list []Described) {
	t := describeTallies.Get().(*describeTally)
	defer describeTallies.Put(t)
	defer t.clear()
	all := 0.0
	var asked []describingWord
	for _, w := range words[:min(len(words), maxDescribing)] {
		asked = append(asked, newDescribingWord(w))
		all += asked[len(asked)-1].weight
	}
	slices.SortStableFunc(asked, func(a, b describingWord) int { return cmp.Compare(b.weight, a.weight) })
	left := all
	for _, w := range asked {
		t.addWord(w, left > leastCovered*all)
		left -= w.weight
	}
	for _, d := range t.best(all, limit) {
		for name := range uvarints(glosses.named.at(int(d.thing))) {
			list = append(list, Described{glosses.names.at(name), d.score})
		}
	}
	return list
}

// describeTally is the state of a running Describe.
type describeTally struct {
	total []float32 // of each thing, the weights of the words that describe it
	word  []float32 // of each thing, the weight of the present word
	found []uint32  // things with a total
	of    []uint32  // things with a weight of the present word
}

var describeTallies = sync.Pool{New: func() any {
	return &describeTally{total: make([]float32, glosses.things), word: make([]float32, glosses.things)}
}}

func (t *describeTally) clear() {
	for _, i := range t.found {
		t.total[i] = 0
	}
	t.found = t.found[:0]
}

// describingWord is a word of a description, with its terms.
type describingWord struct {
	weight float64 // the greatest of its terms
	terms  []weightedTerm
}

type weightedTerm struct {
	term   int
	weight float32
}

func newDescribingWord(word string) (w describingWord) {
	w.weight = math.Log(float64(glosses.things)) // if it is in no definition
	if i, ok := glosses.findTerm(stem.Of("en", word)); ok {
		w.weight = glosses.weightOf(i)
		w.terms = append(w.terms, weightedTerm{i, float32(w.weight)})
	}
	for _, term := range relatedStems(word) {
		if i, ok := glosses.findTerm(term); ok && glosses.frequencyOf(i) < frequentTerm {
			w.terms = append(w.terms, weightedTerm{i, float32(describedSynonym * min(w.weight, glosses.weightOf(i)))})
		}
	}
	return w
}

// addWord adds the weight of a word to each thing that it describes. Things that no word before described are left out
// if the weights of the words left are too small for them.
func (t *describeTally) addWord(w describingWord, mayBeNew bool) {
	for _, term := range w.terms {
		t.addTerm(term, mayBeNew)
	}
	for _, i := range t.of {
		if t.total[i] == 0 {
			t.found = append(t.found, i)
		}
		t.total[i] += t.word[i]
		t.word[i] = 0
	}
	t.of = t.of[:0]
}

// addTerm notes for each thing that a term describes the greatest weight of such terms.
func (t *describeTally) addTerm(w weightedTerm, mayBeNew bool) {
	at := -1
	for step := range uvarints(glosses.postings.at(w.term)) {
		switch at += step; {
		case !mayBeNew && t.total[at] == 0:
		case t.word[at] == 0:
			t.of = append(t.of, uint32(at))
			t.word[at] = w.weight
		case t.word[at] < w.weight:
			t.word[at] = w.weight
		}
	}
}

// relatedStems returns the stems of single words that may stand for a word in a definition.
func relatedStems(word string) (list []string) {
	for part := range partCount {
		for _, w := range Synonyms(word, part) {
			if s := stem.Of("en", w); !strings.Contains(w, " ") && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

func (g glossary) findTerm(term string) (int, bool) {
	return sort.Find(g.terms.size(), func(i int) int { return cmp.Compare(term, g.terms.at(i)) })
}

// frequencyOf returns the number of things that a term describes.
func (g glossary) frequencyOf(term int) (n int) {
	list := g.postings.at(term)
	for i := range len(list) {
		if list[i] < 0x80 {
			n++
		}
	}
	return n
}

// weightOf returns the inverse document frequency of a term.
func (g glossary) weightOf(term int) float64 {
	return math.Log(float64(g.things) / float64(g.frequencyOf(term)))
}

// scored is a thing with its score.
type scored struct {
	thing uint32
	score float64
}

// best returns the things with the greatest scores. all is the total of a thing that all words describe.
func (t *describeTally) best(all float64, limit int) (list []scored) {
	for _, i := range t.found {
		covered := min(1, (float64(t.total[i])/all-leastCovered)/(1-leastCovered)) // a sum of rounded numbers
		if covered <= 0 {
			continue
		}
		length := 1 - lengthShare + lengthShare*float64(glosses.lengths[i])/usualLength
		list = append(list, scored{i, covered * covered / max(1, length)})
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.thing, b.thing))
	})
	return list[:min(len(list), limit)]
}
