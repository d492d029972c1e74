package meaning

import (
	"slices"
	"strings"
)

// maxSenses is the number of senses of a word that count, the most frequent first. Rarer senses add more noise than
// they find.
const maxSenses = 3

// nearSenses is maxSenses for a choice among few words, which rules most wrong senses out.
const nearSenses = 8

// endings are the regular endings of each part of speech, with the endings of the base form (morphy, section 7 of
// WordNet's manual).
var endings = [partCount][][2]string{
	Noun: {{"s", ""}, {"ses", "s"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"}, {"men", "man"},
		{"ies", "y"}},
	Verb:      {{"s", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}},
	Adjective: {{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"}},
}

// Lemma returns the base form of a word as a part of speech: "go" for the verb "went". It returns "" if WordNet does
// not have the word as that part of speech. The word is in lower case; a compound has spaces.
func Lemma(word string, part Part) string {
	n := loadNetwork()
	if base, ok := n.forms[part][strings.ReplaceAll(word, " ", "_")]; ok {
		return strings.ReplaceAll(base, "_", " ")
	}
	if _, ok := n.has(word, part); ok {
		return word
	}
	for _, e := range endings[part] {
		stem, ok := strings.CutSuffix(word, e[0])
		if !ok || len(stem) < 2 {
			continue
		}
		if _, ok := n.has(stem+e[1], part); ok {
			return stem + e[1]
		}
		// A doubled consonant: "hopped" is a form of "hop".
		if short := stem[:len(stem)-1]; part == Verb && e[1] == "" && stem[len(stem)-1] == short[len(short)-1] {
			if _, ok := n.has(short, part); ok {
				return short
			}
		}
	}
	return ""
}

// Synonyms returns the words that share one of the three most frequent senses of a word, in any form, as a part of
// speech: the words of its most frequent sense first, each once, without the word itself.
func Synonyms(word string, part Part) []string {
	n, synsets := sensesOf(word, part)
	return n.membersOf(synsets[:min(len(synsets), maxSenses)], part, Lemma(word, part))
}

// Broader returns the words of the next broader senses of a word as a part of speech: "move" for the verb "walk".
// Their order is that of the word's senses.
func Broader(word string, part Part) []string {
	n, synsets := sensesOf(word, part)
	return n.membersOf(n.broaderOf(synsets[:min(len(synsets), maxSenses)]), part, Lemma(word, part))
}

// Canonical returns the word among known ones that is nearest in meaning to a word as a part of speech: the word's
// base form; else a synonym in one of its senses, the most frequent first; else a word of a broader sense, at most
// three steps up. The given number of senses counts. ok is false if there is none.
func Canonical(word string, part Part, senses int, known func(string) bool) (near string, ok bool) {
	lemma := Lemma(word, part)
	if lemma == "" || known(lemma) {
		return lemma, lemma != ""
	}
	n, synsets := sensesOf(word, part)
	synsets = synsets[:min(len(synsets), senses)]
	for range 4 {
		words := n.membersOf(synsets, part, lemma)
		if i := slices.IndexFunc(words, known); i >= 0 {
			return words[i], true
		}
		synsets = n.broaderOf(synsets)
	}
	return "", false
}

// maxBroader bounds the steps of Ancestor; nouns of WordNet are at most 19 steps below "entity".
const maxBroader = 20

// Ancestor returns the nearest word among known ones that is the base form of a word, a synonym in one of its senses, or
// a word of a broader sense, at any number of steps. Sense 0 is the most frequent one.
func Ancestor(word string, part Part, sense int, known func(string) bool) (ancestor string, ok bool) {
	lemma := Lemma(word, part)
	if lemma == "" || known(lemma) {
		return lemma, lemma != ""
	}
	n, synsets := sensesOf(word, part)
	synsets = synsets[min(len(synsets), sense):min(len(synsets), sense+1)]
	for range maxBroader {
		words := n.membersOf(synsets, part, lemma)
		if i := slices.IndexFunc(words, known); i >= 0 {
			return words[i], true
		}
		synsets = n.broaderOf(synsets)
	}
	return "", false
}

// Derived returns the words that are derived from a base form or that it is derived from, of any part of speech:
// "destruction" for "destroy".
func Derived(lemma string) []string {
	n := loadNetwork()
	return n.related(lemma, n.derived)
}

// Opposites returns the opposites of a base form, of any part of speech: "close" for "open".
func Opposites(lemma string) []string {
	n := loadNetwork()
	return n.related(lemma, n.opposite)
}

func (n *network) related(lemma string, l lists) (words []string) {
	if i, ok := n.number(lemma); ok {
		for _, w := range l.at(i) {
			words = append(words, n.word(w))
		}
	}
	return words
}

// sensesOf returns the synsets of a word in any form, the most frequent first.
func sensesOf(word string, part Part) (*network, []uint32) {
	n := loadNetwork()
	i, ok := n.number(Lemma(word, part))
	if !ok {
		return n, nil
	}
	return n, n.synsets[part].at(i)
}

// membersOf returns the words of synsets, each once, without one.
func (n *network) membersOf(synsets []uint32, part Part, without string) (words []string) {
	for _, s := range synsets {
		for _, m := range n.members[part].at(s) {
			if w := n.word(m); w != without && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// broaderOf returns the next broader synsets, each once.
func (n *network) broaderOf(synsets []uint32) (out []uint32) {
	for _, s := range synsets {
		for _, b := range n.broader.at(s) {
			if !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// isASenses is the number of senses of a word that IsA looks at.
const isASenses = 2

// IsA reports whether one of the two most frequent senses of a word, in any form, is a kind of another word's sense: a
// "messenger" is a "person", to "stroll" is to "travel". A word is of its own kind.
func IsA(word string, part Part, kind string) bool { return isA(word, part, kind, isASenses) }

// IsMainly reports whether the most frequent sense of a word, in any form, is a kind of another word's sense: "bunting"
// is a fabric, and a bird only besides.
func IsMainly(word string, part Part, kind string) bool { return isA(word, part, kind, 1) }

func isA(word string, part Part, kind string, senses int) bool {
	n, synsets := sensesOf(word, part)
	i, ok := n.number(kind)
	if !ok {
		return false
	}
	synsets = slices.Clone(synsets[:min(len(synsets), senses)])
	for at := 0; at < len(synsets); at++ {
		if slices.Contains(n.members[part].at(synsets[at]), i) {
			return true
		}
		for _, b := range n.broader.at(synsets[at]) {
			if !slices.Contains(synsets, b) {
				synsets = append(synsets, b)
			}
		}
	}
	return false
}

// ShareSense reports whether two base forms share one of their eight most frequent senses as a part of speech.
func ShareSense(a, b string, part Part) bool {
	_, one := sensesOf(a, part)
	_, other := sensesOf(b, part)
	other = other[:min(len(other), nearSenses)]
	return slices.ContainsFunc(one[:min(len(one), nearSenses)], func(s uint32) bool { return slices.Contains(other, s) })
}

// A Relative is a word that is related to another by its meaning.
type Relative struct {
	Word   string
	Weight float64 // how near it is, relative to the word itself at 1
}

// Weights of relatives. Of the judged queries, greater and smaller ones by a third give the same result within 0.02.
const (
	akinSame     = 0.9
	akinNarrower = 0.6
	akinSibling  = 0.4
	laterSense   = 0.8 // factor of each sense after the first
	maxSiblings  = 200 // synsets with the same broader one
)

// akinBroader are the weights of broader words by the steps that lead to them.
var akinBroader = [...]float64{0.6, 0.4, 0.25}

// Relatives returns the words that are related to a noun or verb: synonyms, narrower and broader words up to three
// steps, and words with the same broader word. Each has its greatest weight; the order is that of the relations.
func Relatives(word string) []Relative {
	var k kin
	for part := Noun; part <= Verb; part++ {
		n, synsets := sensesOf(word, part)
		k.lemma, k.factor = Lemma(word, part), 1
		for _, s := range synsets[:min(len(synsets), maxSenses)] {
			k.add(n, part, []uint32{s}, akinSame)
			k.add(n, part, n.narrower.at(s), akinNarrower)
			up := []uint32{s}
			for step, weight := range akinBroader {
				up = n.broaderOf(up)
				k.add(n, part, up, weight)
				for _, b := range up {
					if siblings := n.narrower.at(b); step == 0 {
						k.add(n, part, siblings[:min(len(siblings), maxSiblings)], akinSibling)
					}
				}
			}
			k.factor *= laterSense
		}
	}
	return k.list
}

// kin collects the relatives of a word.
type kin struct {
	lemma  string
	factor float64 // of the present sense
	list   []Relative
	at     map[string]int
}

func (k *kin) add(n *network, part Part, synsets []uint32, weight float64) {
	if k.at == nil {
		k.at = map[string]int{}
	}
	for _, w := range n.membersOf(synsets, part, k.lemma) {
		i, ok := k.at[w]
		if !ok {
			i = len(k.list)
			k.at[w] = i
			k.list = append(k.list, Relative{Word: w})
		}
		k.list[i].Weight = max(k.list[i].Weight, weight*k.factor)
	}
}

// maxKinds bounds the kinds of a word that Kinds calls back with.
const maxKinds = 64

// Kinds calls add with the numbers of a word's senses as a part of speech, the most frequent first and at most so many,
// and of all broader ones, each once. The steps that lead to a broader one are 0 for the word's own senses. The numbers
// stay the same as long as the data of the program do. It returns whether the word has a sense.
func Kinds(word string, part Part, senses int, add func(synset uint32, steps int)) bool {
	n, own := sensesOf(word, part)
	var list [maxKinds]uint32
	var steps [maxKinds]int
	count := copy(list[:], own[:min(len(own), senses)])
	for at := 0; at < count; at++ {
		add(list[at], steps[at])
		for _, b := range n.broader.at(list[at]) {
			if count < maxKinds && !slices.Contains(list[:count], b) {
				list[count], steps[count] = b, steps[at]+1
				count++
			}
		}
	}
	return count > 0
}
