package safety

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxWindow is the most neighbouring sentences that are weighed together.
const maxWindow = 3

// Numbers of words between which the weights of a text are divided by the square root of their number. Fewer words
// would say too much, and the sum of more would grow with the length of a text.
const (
	fewWords  = 8
	manyWords = 64
)

// Share returns the factor of the sum of weights in a text with a number of words.
func Share(words int) float64 {
	n := float64(max(words, fewWords))
	return 1 / math.Max(math.Sqrt(n), n/math.Sqrt(manyWords))
}

// A wordID names a word, in all its forms, or a set of a policy, in the scales.
type wordID int32

// noWord is the second word of a single word.
const noWord wordID = -1

// Scales weigh the words of a text by category. They are linear classifiers: the score of neighbouring sentences is
// a bias plus the weights of their different words and pairs of words, times Share of the number of words.
// A category applies if the greatest score is above 0.
type scales struct {
	names   []string             // of each word
	ids     map[string]wordID    // by name
	classes map[classID]wordID   // of words and sets
	weights map[[2]wordID][]load // of words and pairs
	bias    []float64            // by category; 0 where it is not weighed
	doubts  []doubt              // by category
	spoken  []bool               // by category: whether quoted speech in a narration counts
}

// A doubt is the score of a category below which the terms of another, or of itself, do not count.
type doubt struct {
	by    int
	below float64
}

// A load is the weight of a word or pair in a category.
type load struct {
	category int
	weight   float64
}

// scaleFile is the part of a policy's file for scales: the forms of each word; for each category its bias, doubt and
// weights; the categories for which quoted speech in a narration counts. A pair is two words with a space between them;
// @name stands for a set.
type scaleFile struct {
	Forms map[string]string  `json:"forms"`
	Bias  map[string]float64 `json:"bias"`
	Doubt map[string]struct {
		By    string  `json:"by"`
		Below float64 `json:"below"`
	} `json:"doubt"`
	Spoken []string                      `json:"spoken"`
	Weight map[string]map[string]float64 `json:"weight"`
}

func (p *Policy) loadScales(f scaleFile, sets map[string][]string) error {
	s := &scales{ids: map[string]wordID{}, classes: map[classID]wordID{}, weights: map[[2]wordID][]load{},
		bias: make([]float64, len(p.categories)), doubts: make([]doubt, len(p.categories)),
		spoken: make([]bool, len(p.categories))}
	for _, name := range sortedKeys(f.Forms) {
		if err := s.addWord(p.words, name, strings.Fields(f.Forms[name])); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(sets) {
		if err := s.addWord(p.words, "@"+name, sets[name]); err != nil {
			return err
		}
	}
	for i, c := range p.categories {
		s.bias[i], s.doubts[i], s.spoken[i] = f.Bias[c.Name], doubt{i, math.Inf(-1)}, slices.Contains(f.Spoken, c.Name)
		if d, ok := f.Doubt[c.Name]; ok {
			by := slices.IndexFunc(p.categories, func(c category) bool { return c.Name == d.By })
			if by < 0 {
				return fmt.Errorf("%s is doubted by %q, which is no category", c.Name, d.By)
			}
			s.doubts[i] = doubt{by, d.Below}
		}
		for feature, w := range f.Weight[c.Name] {
			if err := s.addWeight(feature, load{i, w}); err != nil {
				return err
			}
		}
	}
	p.scales = s
	return nil
}

func (s *scales) addWord(v *vocabulary, name string, forms []string) error {
	if len(forms) == 0 {
		return fmt.Errorf("the word %q has no form", name)
	}
	class, err := v.class(forms)
	if err != nil {
		return err
	}
	s.ids[name], s.classes[class] = wordID(len(s.names)), wordID(len(s.names))
	s.names = append(s.names, name)
	return nil
}

func (s *scales) addWeight(feature string, l load) error {
	one, two, isPair := strings.Cut(feature, " ")
	key := [2]wordID{s.ids[one], noWord}
	_, known := s.ids[one]
	if isPair {
		id, ok := s.ids[two]
		key[1], known = id, known && ok
	}
	if !known {
		return fmt.Errorf("the word %q has no forms", feature)
	}
	s.weights[key] = append(s.weights[key], l)
	return nil
}

// visitPairs calls visit for every word of a lattice, and for every pair of neighbours in a sentence.
func (s *scales) visitPairs(l lattice, visit func(sentence int, pair [2]wordID)) {
	sentence := 0
	for i, edges := range l.edges {
		if l.ends[i] {
			sentence++
			continue
		}
		for _, e := range edges {
			one, ok := s.classes[e.class]
			if !ok {
				continue
			}
			visit(sentence, [2]wordID{one, noWord})
			if next := i + e.span; next < len(l.edges) && !l.ends[next] {
				for _, f := range l.edges[next] {
					if two, ok := s.classes[f.class]; ok {
						visit(sentence, [2]wordID{one, two})
					}
				}
			}
		}
	}
}

// countWords returns the number of words of each sentence.
func (l lattice) countWords() []int {
	counts := make([]int, 1)
	for _, end := range l.ends {
		if end {
			counts = append(counts, 0)
		} else {
			counts[len(counts)-1]++
		}
	}
	return counts
}

// weigh returns the greatest score of neighbouring sentences for each category. quoted marks speech in a narration.
func (s *scales) weigh(l lattice, quoted []bool) []float64 {
	scores := s.weighAll(l)
	if !slices.Contains(quoted, true) {
		return scores
	}
	for category, score := range s.weighAll(l.without(quoted)) {
		if !s.spoken[category] {
			scores[category] = score
		}
	}
	return scores
}

func (s *scales) weighAll(l lattice) []float64 {
	counts := l.countWords()
	pairs := make([][][2]wordID, len(counts))
	s.visitPairs(l, func(sentence int, pair [2]wordID) {
		if len(s.weights[pair]) > 0 {
			pairs[sentence] = append(pairs[sentence], pair)
		}
	})
	scores := slices.Repeat([]float64{math.Inf(-1)}, len(s.bias))
	seen, sums := map[[2]wordID]bool{}, make([]float64, len(s.bias))
	for from := range pairs {
		clear(seen)
		clear(sums)
		words := 0
		for to := from; to < min(from+maxWindow, len(pairs)); to++ {
			words += counts[to]
			for _, pair := range pairs[to] {
				if seen[pair] {
					continue
				}
				seen[pair] = true
				for _, w := range s.weights[pair] {
					sums[w.category] += w.weight
				}
			}
			for category, sum := range sums {
				if words > 0 {
					scores[category] = max(scores[category], s.bias[category]+sum*Share(words))
				}
			}
		}
	}
	return scores
}

// Features returns the different words and pairs of a text that scales can weigh, sorted, and the number of all its words.
func (p *Policy) Features(text string) (features []string, words int) {
	l := p.words.lattice(readTokens(Visible(text), p.words))
	p.scales.visitPairs(l, func(_ int, pair [2]wordID) {
		name := p.scales.names[pair[0]]
		if pair[1] != noWord {
			name += " " + p.scales.names[pair[1]]
		}
		features = append(features, name)
	})
	for _, n := range l.countWords() {
		words += n
	}
	slices.Sort(features)
	return slices.Compact(features), words
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Words returns the words of a text as they are written, in their simplest form.
func Words(text string) (list []string) {
	for _, t := range readTokens(Visible(text), newVocabulary()) {
		if !t.end {
			list = append(list, t.readings[0].word)
		}
	}
	return list
}
