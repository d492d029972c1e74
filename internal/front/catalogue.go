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
	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/stem"
)

// catalogue holds the words of operations. The zero value is ready for use.
type catalogue struct{ entries sync.Map } // *op.Operation -> *entry

// entry holds the words of an operation's texts, the phrases that tell what it is for, and the direction
// of the sum of their vectors.
type entry struct {
	words   []word
	phrases []phrase
	center  meaning.Vector
}

// word is a word of an operation. Its weight depends on the text that it is in.
type word struct {
	text, stem string
	weight     float64
	vector     meaning.Vector
}

type phrase struct {
	text   string
	words  []word
	vector meaning.Vector
}

// hit is an operation that a search has found.
type hit struct {
	o     *op.Operation
	asked string // the phrases of Spec.Asked that are nearest to the words, nearest first
	score float64
	known float64 // the share of the asked words that the operation has or is near to, by their rarity
	close float64 // closeness of the phrase that is nearest in meaning
}

// The parts of a score. lengthPart is the part of a word's score that depends on the number of words
// of an operation, as b of BM25: a long description shares words by chance. The best operation by
// words has the score 1 for them. The second nearest phrase counts by secondPart. synonymPart is how
// near a word is that WordNet gives for an asked one, kinPart that of a word that it relates to it more loosely;
// of word vectors, angles with a cosine below
// minCosine tell nothing. Tuned on half of the phrases of all operations, each left out of the
// catalogue while it was asked for.
const (
	lengthPart  = 0.3
	synonymPart = 0.2
	minCosine   = 0.4
	phrasePart  = 1.6
	meaningPart = 0.8
	secondPart  = 0.3
	centerPart  = 3
	kinPart     = 0.7
	readPart    = 0.15 // for an operation that reads and a question, and for another and an order
)

// An operation is found that knows minShare of a text, or has a phrase as close as minMeaning.
const (
	minShare   = 0.1
	minMeaning = 0.6
)

// rankParts ranks operations by a text and by each of its sentences, which may ask for the same in other words or
// say why: an operation has the score of the text and that of the sentence that it fits best. A question must have
// words that an operation knows; unknown reports whether one has not, so that it is about the world and not about
// its tools.
func (k *catalogue) rankParts(all []*op.Operation, text string) (found []hit, unknown bool) {
	known := func(part string) []hit {
		hits := k.rank(all, part)
		if isQuestion(part) {
			hits = slicesx.Filter(hits, func(h hit) bool { return h.known >= minKnown })
			unknown = unknown || len(hits) == 0
		}
		return hits
	}
	found = known(text)
	sentences := slices.Collect(meaning.Sentences(text))
	if len(sentences) < 2 {
		return found, unknown
	}
	best := map[*op.Operation]hit{}
	for _, s := range sentences {
		for _, h := range known(s) {
			if h.score > best[h.o].score {
				best[h.o] = h
			}
		}
	}
	for i, h := range found {
		found[i].score += best[h.o].score
		delete(best, h.o)
	}
	found = slices.AppendSeq(found, maps.Values(best))
	sortHits(found)
	return found, unknown
}

func sortHits(hits []hit) {
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.o.Name, b.o.Name))
	})
}

// someName finds names inside a sentence.
var someName = lazyregexp.New(`([^.!?\s]\s+)\p{Lu}\p{Ll}+(?:[ -]\p{Lu}\p{Ll}+)*`)

// withoutNames returns a text with "somebody" in the place of names, which tell nothing about the operation: as a
// word, Wren is a bird. A title, of which every word has a capital, has no names.
func withoutNames(text string) string {
	if !slices.ContainsFunc(strings.Fields(text), func(w string) bool { return unicode.IsLower([]rune(w)[0]) }) {
		return text
	}
	return someName.ReplaceAllString(text, "${1}somebody")
}

// rank returns the operations that fit a text, best first: by words, each of which counts the more,
// the fewer operations have it, and by the phrases that are nearest in words and meaning. The name of
// an operation finds it first.
func (k *catalogue) rank(all []*op.Operation, text string) []hit {
	entries, in, mean := make([]*entry, len(all)), map[string]int{}, 0.0
	for i, o := range all {
		entries[i] = k.entryOf(o)
		for _, s := range stemsOf(entries[i].words) {
			in[s]++
		}
		mean += float64(len(entries[i].words)) / float64(len(all))
	}
	text = withoutNames(text)
	rarity := func(stem string) float64 { return math.Log(1 + float64(len(all))/float64(max(in[stem], 1))) }
	q := newQuery(text, rarity)
	hits := make([]hit, len(all))
	byWords, best := make([]float64, len(all)), 0.0
	for i, e := range entries {
		hits[i].o = all[i]
		byWords[i], hits[i].known = q.match(e.words)
		byWords[i] /= 1 - lengthPart + lengthPart*float64(len(e.words))/mean
		best = max(best, byWords[i])
	}
	question := isQuestion(text)
	for i := range hits {
		h := &hits[i]
		h.score = byWords[i] / max(best, 1)
		fits := make([]float64, len(entries[i].phrases))
		for j, p := range entries[i].phrases {
			closeness := max(float64(q.vector.Dot(p.vector)), 0)
			h.close = max(h.close, closeness)
			fits[j] = phrasePart*q.overlap(p.words, rarity) + meaningPart*closeness
		}
		h.asked = nearestPhrases(h.o, entries[i].phrases, fits)
		slices.SortFunc(fits, func(a, b float64) int { return cmp.Compare(b, a) })
		h.score += fits[0] + secondPart*fits[1] + centerPart*max(float64(q.vector.Dot(entries[i].center)), 0)
		if (h.o.Effect == access.Read) == question {
			h.score += readPart
		}
		if plain(h.o.Name) == plain(text) {
			h.score, h.known = math.MaxFloat64, 1
		}
	}
	hits = slicesx.Filter(hits, func(h hit) bool { return h.known >= minShare || h.close >= minMeaning })
	sortHits(hits)
	return hits
}

// askedPhrases is the number of ways to ask for an operation that an answer gives at most; each fits at
// least askedShare as well as the best one.
const (
	askedPhrases = 3
	askedShare   = 0.5
)

// nearestPhrases returns the ways to ask for an operation that fit a text best.
func nearestPhrases(o *op.Operation, phrases []phrase, fits []float64) string {
	order := make([]int, 0, len(phrases))
	for i, p := range phrases {
		if fits[i] > 0 && slices.Contains(o.Asked, p.text) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fits[b], fits[a]) })
	order = order[:min(len(order), askedPhrases)]
	order = slicesx.Filter(order, func(i int) bool { return fits[i] >= askedShare*fits[order[0]] })
	return strings.Join(slicesx.Map(order, func(i int) string { return phrases[i].text }), "; ")
}

// query is a text that operations are compared with.
type query struct {
	words  []word // their weight is their rarity
	kin    []map[string]float64
	vector meaning.Vector
	near   []map[string]float64 // nearness of each word to words of operations, as far as it was computed
}

func newQuery(text string, rarity func(stem string) float64) *query {
	q := &query{words: wordsOf(text, 1), vector: meaning.VectorOf(text, nil)}
	for i, w := range q.words {
		q.words[i].weight = rarity(w.stem)
		q.kin, q.near = append(q.kin, kinOf(w.text)), append(q.near, map[string]float64{})
	}
	return q
}

// kinOf returns the stems of words that WordNet relates to a word, and how nearly.
func kinOf(word string) map[string]float64 {
	kin := map[string]float64{}
	add := func(near string, weight float64) {
		s := stem.Of("en", near)
		kin[s] = max(kin[s], weight)
	}
	for _, part := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective} {
		for _, near := range meaning.Synonyms(word, part) {
			add(near, synonymPart)
		}
		for _, near := range meaning.Derived(meaning.Lemma(word, part)) {
			add(near, kinPart)
		}
	}
	for _, near := range meaning.Relatives(word) {
		add(near.Word, kinPart*near.Weight)
	}
	return kin
}

// nearness returns how near the word i is to a word of an operation: 1 for forms of the same word.
func (q *query) nearness(i int, w *word) float64 {
	if w.stem == q.words[i].stem {
		return 1
	}
	if n, ok := q.near[i][w.text]; ok {
		return n
	}
	n := max(q.kin[i][w.stem], (float64(q.words[i].vector.Dot(w.vector))-minCosine)/(1-minCosine))
	q.near[i][w.text] = n
	return n
}

// match returns the sum of the query's words in an operation's, and the share of the query that they
// are.
func (q *query) match(words []word) (sum, known float64) {
	all := 0.0
	for i := range q.words {
		best, nearest := 0.0, 0.0
		for j := range words {
			n := q.nearness(i, &words[j])
			best, nearest = max(best, n*words[j].weight), max(nearest, n)
		}
		sum += q.words[i].weight * best
		known += q.words[i].weight * nearest
		all += q.words[i].weight
	}
	return sum, known / max(all, 1)
}

// overlap returns the part of the query that is in a phrase, and the part of the phrase that is in the
// query, in the mean, by the rarity of their words.
func (q *query) overlap(words []word, rarity func(stem string) float64) float64 {
	inPhrase, allAsked, inQuery, allWords := 0.0, 1.0, 0.0, 1.0
	found := make([]float64, len(words))
	for i := range q.words {
		best := 0.0
		for j := range words {
			n := q.nearness(i, &words[j])
			best, found[j] = max(best, n), max(found[j], n)
		}
		inPhrase += q.words[i].weight * best
		allAsked += q.words[i].weight
	}
	for j, w := range words {
		r := rarity(w.stem)
		inQuery += r * found[j]
		allWords += r
	}
	return (inPhrase/allAsked + inQuery/allWords) / 2
}

// isQuestion reports whether a text asks for knowledge: it begins with a word of grammar or has a
// question mark, as in "who is there". "Have her walk" and "do it" are orders.
func isQuestion(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	return strings.Contains(text, "?") || slices.Contains(questionWords, first)
}

var questionWords = []string{"who", "whom", "whose", "what", "which", "where", "when", "why", "how", "is", "are",
	"was",
	"were", "has", "had", "does", "did"}

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
	e := &entry{}
	add := func(text string, weight float64) {
		for _, w := range wordsOf(text, weight) {
			at := slices.IndexFunc(e.words, func(have word) bool { return have.text == w.text })
			if at < 0 {
				e.words = append(e.words, w)
				continue
			}
			e.words[at].weight = max(e.words[at].weight, weight)
		}
	}
	first, rest, _ := strings.Cut(o.Doc, ". ")
	add(o.Name, 3)
	add(o.Title, 3)
	add(first, 2)
	add(rest, 1)
	for _, text := range append([]string{o.Title, first}, o.Asked...) {
		add(text, 2)
		e.phrases = append(e.phrases, phrase{text, wordsOf(text, 1), meaning.VectorOf(text, nil)})
	}
	for _, name := range o.In().PropertyOrder {
		add(name, 1)
		add(o.In().Properties[name].Description, 0.5)
	}
	e.center = centerOf(e.phrases)
	k.entries.Store(o, e)
	return e
}

// centerOf returns the direction of the sum of the phrases' vectors.
func centerOf(phrases []phrase) meaning.Vector {
	texts := slicesx.Map(phrases, func(p phrase) string { return p.text })
	return meaning.VectorOf(strings.Join(texts, ". "), nil)
}

// wordsOf returns the words of a text that carry meaning, each once.
func wordsOf(text string, weight float64) (list []word) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), isSeparator) {
		if len(w) < 2 || meaning.IsFunctionWord(w) ||
			slices.ContainsFunc(list, func(have word) bool { return have.text == w }) {
			continue
		}
		list = append(list, word{w, stem.Of("en", w), weight, meaning.VectorOf(w, nil)})
	}
	return list
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stemsOf returns the stems of words, each once.
func stemsOf(words []word) (list []string) {
	for _, w := range words {
		if !slices.Contains(list, w.stem) {
			list = append(list, w.stem)
		}
	}
	return list
}
