package meaning

import (
	"cmp"
	"math"
	"slices"
)

// Weights of relations between two words, relative to equal words at 1. Word vectors give their cosine.
const (
	ofSynonym = 0.8
	ofDerived = 0.8
	ofBroader = 0.6
)

// Bounds of a comparison.
const (
	minTokens = 2   // a lone word, as "Ask." or a heading, would be near to each text with it
	maxTokens = 64  // words of a text that count
	maxWords  = 128 // words of a text whose order counts
)

// Weights of a logistic model of closeness. TestWeightsOfCloseness fits them on the development pairs and, with little
// weight, on pairs of others, which keep the weights from following the manner of a few authors. Fitted without an
// author, the model ranks that author's pairs with an area under the curve of 0.965, and without the pairs of others
// 0.963. ofOrdered and ofBegun are of the form of sentences: another fact keeps the form and exchanges words in it, and
// a paraphrase changes the form.
const (
	ofNothing   = -25.6
	ofCosine    = 6.8  // cosine of the sentences' vectors
	ofDiffering = 19.6 // share of the words that differ: a paraphrase changes many
	ofOrdered   = -3.7 // share of the words that both have in the same order
	ofBegun     = -8.7 // share of the words at the beginning that both have
	ofAligned   = 22.7 // how near the words of the sentences are to each other, one to one
)

// cosineShare is the weight of the cosine in relatedness, relative to the nearness of words, in a logistic model of
// pairs of others: paraphrases in other words among random pairs.
const cosineShare = 0.45

// Closeness estimates from 0 to 1 whether two sentences say the same. Words that both have prove little: "the well
// tastes of salt" and "the well is deep" share most of theirs. Therefore it counts how near in meaning the words of one
// sentence are to those of the other, each to one, and how many differ. Other numbers, a denial, an opposite and turned
// roles lower the result. Sentences without two words that count have closeness 0, others of the same words in the same
// roles 1.
func Closeness(a, b string) float64 { return Prepare(a).Closeness(Prepare(b)) }

// A Sentence is a text prepared for comparisons. It never changes.
type Sentence struct {
	tokens []token
	words  []string // all of them, also those that are no tokens
	frame  frame
	vector Vector
}

// token is a word of a sentence.
type token struct {
	isThing    bool    // it is a noun or a name
	components string  // of its vector; "" if unknown
	length     float64 // of its vector
	weight     float64
	bases      []string // the word and its base forms
	related    []near
	opposites  []string
}

// near is a word that WordNet relates to a token.
type near struct {
	word   string
	weight float64
}

// Prepare returns a sentence for comparisons: the first maxTokens of its words.
func Prepare(text string) Sentence {
	s := Sentence{frame: frameOf(text), vector: VectorOf(text, nil)}
	for word := range Words(text) {
		s.words = append(s.words, word)
		if !functionWords[word] {
			s.tokens = append(s.tokens, newToken(word))
		}
		if len(s.words) == maxWords || len(s.tokens) == maxTokens {
			break
		}
	}
	return s
}

func newToken(word string) token {
	t := token{bases: []string{word}}
	t.components, t.weight = vectors.findWord(word)
	known := false
	t.length = math.Sqrt(float64(dotOf(t.components, t.components)))
	for part := range partCount {
		base := Lemma(word, part)
		if base == "" {
			continue
		}
		known, t.isThing = true, t.isThing || part == Noun
		if base != word {
			t.bases = append(t.bases, base)
		}
		t.relate(Synonyms(base, part), ofSynonym)
		t.relate(Derived(base), ofDerived)
		t.opposites = append(t.opposites, Opposites(base)...)
		t.relate(Broader(base, part), ofBroader)
	}
	t.isThing = t.isThing || !known
	return t
}

func (t *token) relate(words []string, weight float64) {
	for _, w := range words {
		t.related = append(t.related, near{w, weight})
	}
}

// nearness returns how near two words are in meaning, 1 for forms of the same word.
func (t *token) nearness(o *token) float64 {
	for _, base := range t.bases {
		if slices.Contains(o.bases, base) {
			return 1
		}
	}
	nearest := max(t.relationTo(o), o.relationTo(t))
	if t.components != "" && o.components != "" {
		nearest = max(nearest, float64(dotOf(t.components, o.components))/(t.length*o.length))
	}
	return nearest
}

func (t *token) relationTo(o *token) (weight float64) {
	for _, n := range t.related {
		if n.weight > weight && slices.Contains(o.bases, n.word) {
			weight = n.weight
		}
	}
	return weight
}

// Closeness is the function Closeness for prepared sentences.
func (s Sentence) Closeness(o Sentence) float64 {
	closeness, _ := s.Compare(o)
	return closeness
}

// Compare returns the closeness of two sentences, and how related they are: sentences about one matter are more related
// than others, also if they say different things about it. Relatedness is for comparisons with that of other sentences.
func (s Sentence) Compare(o Sentence) (closeness, relatedness float64) {
	if min(len(s.tokens), len(o.tokens)) < minTokens {
		return 0, 0
	}
	m := s.compare(o)
	closeness = m.factor
	if m.differing > 0 {
		score := ofNothing + ofCosine*m.cosine + ofDiffering*m.differing + ofOrdered*m.ordered + ofBegun*m.begun +
			ofAligned*m.aligned
		closeness /= 1 + math.Exp(-score)
	}
	return closeness, m.aligned + cosineShare*m.cosine
}

// comparison holds the features of two sentences from which their closeness follows.
type comparison struct{ cosine, differing, ordered, begun, aligned, factor float64 }

func (s Sentence) compare(o Sentence) (m comparison) {
	nearness := make([][]float64, len(s.tokens))
	equal, equalOther := make([]bool, len(s.tokens)), make([]bool, len(o.tokens))
	for i := range s.tokens {
		nearness[i] = make([]float64, len(o.tokens))
		for j := range o.tokens {
			nearness[i][j] = s.tokens[i].nearness(&o.tokens[j])
			if nearness[i][j] == 1 {
				equal[i], equalOther[j] = true, true
			}
		}
	}
	m.factor = s.contrast(o, equal, equalOther, nearness)
	differing, all := sumWeights(s.tokens, equal)
	differingOther, allOther := sumWeights(o.tokens, equalOther)
	m.cosine = float64(s.vector.Dot(o.vector))
	m.differing = (differing + differingOther) / (all + allOther)
	m.ordered = float64(commonInOrder(s.words, o.words)) / float64(max(len(s.words), len(o.words)))
	m.begun = float64(commonAtStart(s.words, o.words)) / float64(min(len(s.words), len(o.words)))
	for _, p := range align(nearness) {
		m.aligned += p.nearness * (s.tokens[p.one].weight/all + o.tokens[p.other].weight/allOther) / 2
	}
	return m
}

// wordPair is a word of one sentence that stands for a word of another.
type wordPair struct {
	one, other int
	nearness   float64
}

// align pairs the words of two sentences, each at most once, the nearest first. The result is the same in both
// directions.
func align(nearness [][]float64) (list []wordPair) {
	for i, row := range nearness {
		for j, n := range row {
			if n > 0 {
				list = append(list, wordPair{i, j, n})
			}
		}
	}
	slices.SortFunc(list, func(p, q wordPair) int {
		return cmp.Or(cmp.Compare(q.nearness, p.nearness), cmp.Compare(p.one+p.other, q.one+q.other),
			cmp.Compare(max(q.one, q.other), max(p.one, p.other)))
	})
	one, other := make([]bool, len(nearness)), make([]bool, len(nearness[0]))
	return slices.DeleteFunc(list, func(p wordPair) bool {
		if one[p.one] || other[p.other] {
			return true
		}
		one[p.one], other[p.other] = true, true
		return false
	})
}

// commonInOrder returns the length of the longest common subsequence of two lists.
func commonInOrder(a, b []string) int {
	longest := make([]int, len(b)+1) // of the words of a so far, and each beginning of b
	for _, word := range a {
		before := 0
		for j, other := range b {
			above := longest[j+1]
			if word == other {
				longest[j+1] = before + 1
			} else {
				longest[j+1] = max(above, longest[j])
			}
			before = above
		}
	}
	return longest[len(b)]
}

func commonAtStart(a, b []string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sumWeights returns the weights of the words without an equal, and of all words.
func sumWeights(tokens []token, equal []bool) (differing, all float64) {
	for i, t := range tokens {
		all += t.weight
		if !equal[i] {
			differing += t.weight
		}
	}
	return differing, all
}
