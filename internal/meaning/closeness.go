package meaning

import (
	"math"
	"slices"
)

// Weights of relations between two words, relative to equal words at 1. Word vectors give their cosine.
const (
	ofSynonym = 0.8
	ofDerived = 0.8
	ofBroader = 0.6
)

// Constants of the features of Closeness.
const (
	alreadyEqual = 0.7 // weight of a word that explains a different word although its equal is there
	priorWords   = 0.3 // weight of words that count as explained from the start
	maxTokens    = 64  // words of a text that count
	maxWords     = 128 // words of a text whose order counts
)

// Weights of a logistic model of closeness, fitted on the development pairs: see TestWeightsOfCloseness. Fitted without
// an author, it ranks the pairs of that author among all facts with an area under the curve of 0.955; without ofAligned
// it is 0.940. The last two are of sentences with a word that no synonym explains: another fact keeps the form of a
// sentence and exchanges words in it, and a paraphrase changes the form.
const (
	ofNothing   = -25.2
	ofExplained = 2.3   // how far the words that differ explain each other
	ofCosine    = 6.4   // cosine of the sentences' vectors
	ofDiffering = 18.6  // share of the words that differ: a paraphrase changes many
	ofOrdered   = -3.4  // share of the words that both have in the same order
	ofBegun     = -10.3 // share of the words at the beginning that both have
	ofAligned   = 20.8  // how near all words are to their nearest ones
)

// cosineShare is the weight of the cosine in relatedness, relative to the nearness of words, in a logistic model of the
// same pairs among mixed ones.
const cosineShare = 1.0 / 3

// Closeness estimates from 0 to 1 whether two sentences say the same. Words that both have prove little: "the well
// tastes of salt" and "the well is deep" share most of theirs. Therefore the words that differ count: for each, how
// near in meaning the nearest word of the other sentence is. Other numbers, a denial, an opposite and turned roles
// lower the result. Sentences without a known word have closeness 0, those of the same words in the same roles 1.
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
	if len(s.tokens) == 0 || len(o.tokens) == 0 {
		return 0, 0
	}
	m := s.compare(o)
	closeness = m.factor
	if m.explained < 1 {
		score := ofNothing + ofExplained*m.explained + ofCosine*m.cosine + ofDiffering*m.differing + ofOrdered*m.ordered +
			ofBegun*m.begun + ofAligned*m.aligned
		closeness /= 1 + math.Exp(-score)
	}
	return closeness, m.aligned + cosineShare*m.cosine
}

// comparison holds the features of two sentences from which their closeness follows.
type comparison struct{ explained, aligned, cosine, differing, ordered, begun, factor float64 }

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
	back := func(j, i int) float64 { return nearness[i][j] }
	one := explained(s.tokens, equal, equalOther, func(i, j int) float64 { return nearness[i][j] })
	other := explained(o.tokens, equalOther, equal, back)
	m.explained, m.cosine = (one+other)/2, float64(s.vector.Dot(o.vector))
	m.aligned = (aligned(s.tokens, len(o.tokens), func(i, j int) float64 { return nearness[i][j] }) +
		aligned(o.tokens, len(s.tokens), back)) / 2
	differing, all := sumWeights(s.tokens, equal)
	differingOther, allOther := sumWeights(o.tokens, equalOther)
	m.differing = (differing + differingOther) / (all + allOther)
	if m.explained < ofSynonym {
		m.ordered = float64(commonInOrder(s.words, o.words)) / float64(max(len(s.words), len(o.words)))
		m.begun = float64(commonAtStart(s.words, o.words)) / float64(min(len(s.words), len(o.words)))
	}
	return m
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

// aligned returns the mean nearness of the words to the nearest ones of another sentence.
func aligned(tokens []token, others int, nearness func(i, j int) float64) float64 {
	sum, all := 0.0, 0.0
	for i, t := range tokens {
		best := 0.0
		for j := range others {
			best = max(best, nearness(i, j))
		}
		sum += t.weight * best
		all += t.weight
	}
	return sum / all
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

// explained returns the part of the words without an equal that other words explain.
func explained(tokens []token, equal, equalOther []bool, nearness func(i, j int) float64) float64 {
	sum, all := priorWords, priorWords
	for i := range tokens {
		if equal[i] {
			continue
		}
		best := 0.0
		for j, taken := range equalOther {
			n := nearness(i, j)
			if taken {
				n *= alreadyEqual
			}
			best = max(best, n)
		}
		sum += tokens[i].weight * best
		all += tokens[i].weight
	}
	return sum / all
}
