package front

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/meaning"
	"loregate/internal/op"
	"loregate/internal/stem"
)

// catalogue holds the words of operations. The zero value is ready for use.
type catalogue struct{ entries sync.Map } // *op.Operation -> *entry

// entry holds the stems of an operation's texts with their weights, and the phrases that tell what it
// is for.
type entry struct {
	weights map[string]float64
	phrases []phrase
}

type phrase struct {
	text   string
	stems  []string
	vector meaning.Vector
}

// hit is an operation that a search has found.
type hit struct {
	o     *op.Operation
	asked string // the phrase of Spec.Asked that is nearest to the words; "" if another text is nearer
	score float64
}

// The parts of a score. lengthPart is the part of a word's score that depends on the number of words
// of an operation, as b of BM25: a long description shares words by chance. The best operation by
// words has the score 1 for them. synonymPart is the weight of a word that WordNet gives for an asked
// one. Tuned on the development tasks of judgetest.
const (
	lengthPart  = 0.3
	synonymPart = 0.2
	phrasePart  = 0.6
	meaningPart = 1.6
	readPart    = 0.15 // for an operation that reads and a question, and for another and an order
)

// minMeaning is the closeness of a phrase that finds an operation without any common word.
const minMeaning = 0.6

// rank returns the operations that fit a text, best first: by words, each of which counts the more,
// the fewer operations have it, and by the phrase that is nearest in words and meaning. The name of
// an operation finds it first.
func (k *catalogue) rank(all []*op.Operation, text string) []hit {
	entries, in, mean := make([]*entry, len(all)), map[string]int{}, 0.0
	for i, o := range all {
		entries[i] = k.entryOf(o)
		for w := range entries[i].weights {
			in[w]++
		}
		mean += float64(len(entries[i].weights)) / float64(len(all))
	}
	rarity := func(w string) float64 { return math.Log(1 + float64(len(all))/float64(max(in[w], 1))) }
	asked := askedStems(text)
	order := slices.Sorted(maps.Keys(asked)) // sums are the same in every run
	vector := meaning.VectorOf(text, nil)
	var hits []hit
	best := 0.0
	byWords := make([]float64, len(all))
	for i, e := range entries {
		for _, w := range order {
			byWords[i] += asked[w] * e.weights[w] * rarity(w)
		}
		byWords[i] /= 1 - lengthPart + lengthPart*float64(len(e.weights))/mean
		best = max(best, byWords[i])
	}
	for i, o := range all {
		h := hit{o: o, score: byWords[i] / max(best, 1)}
		near, closeness := 0.0, 0.0
		for _, p := range entries[i].phrases {
			c := float64(vector.Dot(p.vector))
			fit := phrasePart*p.share(asked, rarity) + meaningPart*max(c, 0)
			if fit > near {
				near, closeness, h.asked = fit, c, ""
				if slices.Contains(o.Asked, p.text) {
					h.asked = p.text
				}
			}
		}
		switch {
		case plain(o.Name) == plain(text):
			h.score = math.MaxFloat64
		case h.score == 0 && closeness < minMeaning:
			continue
		}
		if (o.Effect == access.Read) == isQuestion(text) {
			near += readPart
		}
		h.score += near
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return hits
}

// share returns the part of a phrase that has been asked for, by the rarity of its words.
func (p phrase) share(asked map[string]float64, rarity func(string) float64) float64 {
	common, all := 0.0, 1.0
	for _, w := range p.stems {
		common += asked[w] * rarity(w)
		all += rarity(w)
	}
	return common / all
}

// isQuestion reports whether a text asks for knowledge: it begins with a word of grammar or has a
// question mark, as in "who is there".
func isQuestion(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	return strings.Contains(text, "?") || slices.Contains(questionWords, first)
}

var questionWords = []string{"who", "whom", "whose", "what", "which", "where", "when", "why", "how", "is", "are", "was",
	"were", "has", "have", "had", "do", "does", "did"}

// plain returns a name without separators and case.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// entryOf returns the words of an operation with their weights: name and title most, then the first
// sentence of the description and the phrases in which people ask for it, the rest, and the fields.
func (k *catalogue) entryOf(o *op.Operation) *entry {
	if e, ok := k.entries.Load(o); ok {
		return e.(*entry)
	}
	e := &entry{weights: map[string]float64{}}
	add := func(text string, weight float64) {
		for _, w := range stems(text) {
			e.weights[w] = max(e.weights[w], weight)
		}
	}
	first, rest, _ := strings.Cut(o.Doc, ". ")
	add(o.Name, 3)
	add(o.Title, 3)
	add(first, 2)
	add(rest, 1)
	for _, text := range append([]string{o.Title, first}, o.Asked...) {
		add(text, 2)
		e.phrases = append(e.phrases, phrase{text, stems(text), meaning.VectorOf(text, nil)})
	}
	for name, p := range o.In.Properties {
		add(name, 1)
		add(p.Description, 0.5)
	}
	k.entries.Store(o, e)
	return e
}

// askedStems returns the stems of the words of a text, with the weight 1, and of their synonyms.
func askedStems(text string) map[string]float64 {
	asked := map[string]float64{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), isSeparator) {
		if meaning.IsFunctionWord(w) {
			continue
		}
		for _, part := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective} {
			for _, near := range meaning.Synonyms(w, part) {
				for _, s := range stems(near) {
					asked[s] = synonymPart
				}
			}
		}
	}
	for _, s := range stems(text) {
		asked[s] = 1
	}
	return asked
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stems returns the stems of the words of a text, each once.
func stems(text string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), isSeparator) {
		if len(w) < 2 || meaning.IsFunctionWord(w) {
			continue
		}
		if s := stem.Of("english", w); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
