package lore

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// doc is a fact prepared for search. It never changes.
type doc struct {
	card  canon.Card
	kind  string   // type of the fact
	text  string   // plain text, for snippets
	names []string // folded: the name, its last part, aliases

	sum [32]byte // of embedText

	inName, inBody   map[string]int // count by term
	nameLen, bodyLen int
}

// Weights of BM25F (Robertson, Zaragoza and Taylor 2004). A term in a name counts as much as
// nameWeight terms in the text. k1 and b are the customary 1.2 and 0.75. Names are all short,
// so their length has less weight.
const (
	nameWeight = 4.0
	bm25K1     = 1.2
	bodyB      = 0.75
	nameB      = 0.4
)

func newDoc(c canon.Card, kind, text, language string) *doc {
	d := &doc{card: c, kind: kind, text: text, inName: map[string]int{}, inBody: map[string]int{}}
	names := append([]string{c.Name, markup.Tag(c.Name)}, c.Aliases()...)
	for _, n := range names {
		if n = strings.Join(foldedWords(n), " "); n != "" && !slices.Contains(d.names, n) {
			d.names = append(d.names, n)
		}
	}
	for _, n := range append(names[:1:1], names[2:]...) {
		for _, t := range termsOf(language, n) {
			d.inName[t]++
			d.nameLen++
		}
	}
	for _, t := range termsOf(language, text+"\n"+canon.FieldText(c.Fields, fieldFact)) {
		d.inBody[t]++
		d.bodyLen++
	}
	d.sum = textHash(d.embedText())
	return d
}

// posting is an entry of a term: a fact that contains it, and its BM25F weight there.
type posting struct {
	doc    int32
	weight float32
}

// index is the search index over the facts that one level sees. All its statistics are computed
// from those facts only. It never changes.
type index struct {
	language   string
	docs       []*doc
	terms      map[string][]posting
	termsByRun map[string][]int32 // positions in vocab by run of three characters
	vocab      []string           // all terms, in order
	docsByName map[string][]int32 // facts by folded name
	namesByRun map[string][]int32 // positions in names by run of three characters
	names      []nameEntry
}

// nameEntry is one name of a fact.
type nameEntry struct {
	doc  int32
	runs int
}

// newIndex returns an index of facts in a language. docs must be sorted by id.
func newIndex(language string, docs []*doc) *index {
	x := &index{language: language, docs: docs, terms: map[string][]posting{}, termsByRun: map[string][]int32{},
		docsByName: map[string][]int32{}, namesByRun: map[string][]int32{}}
	var nameAvg, bodyAvg float64
	for _, d := range docs {
		nameAvg += float64(d.nameLen) / float64(len(docs))
		bodyAvg += float64(d.bodyLen) / float64(len(docs))
	}
	for i, d := range docs {
		x.addPostings(int32(i), d, max(nameAvg, 1), max(bodyAvg, 1))
		for _, n := range d.names {
			x.docsByName[n] = append(x.docsByName[n], int32(i))
			runs := trigrams(n)
			for _, g := range runs {
				x.namesByRun[g] = append(x.namesByRun[g], int32(len(x.names)))
			}
			x.names = append(x.names, nameEntry{int32(i), len(runs)})
		}
	}
	for t := range x.terms {
		x.vocab = append(x.vocab, t)
	}
	slices.Sort(x.vocab)
	for i, t := range x.vocab {
		for _, g := range trigrams(t) {
			x.termsByRun[g] = append(x.termsByRun[g], int32(i))
		}
	}
	return x
}

func (x *index) addPostings(i int32, d *doc, nameAvg, bodyAvg float64) {
	inName := nameWeight / (1 - nameB + nameB*float64(d.nameLen)/nameAvg)
	inBody := 1 / (1 - bodyB + bodyB*float64(d.bodyLen)/bodyAvg)
	for t, n := range d.inBody {
		w := float64(n)*inBody + float64(d.inName[t])*inName
		x.terms[t] = append(x.terms[t], posting{i, float32(w)})
	}
	for t, n := range d.inName {
		if d.inBody[t] == 0 {
			x.terms[t] = append(x.terms[t], posting{i, float32(float64(n) * inName)})
		}
	}
}

// ranked is a fact and its score for a query; a greater score is better.
type ranked struct {
	doc   int32
	score float64
}

// term is a word of a query and its weight.
type term struct {
	text   string
	weight float64
}

// rankByWords ranks facts by the terms that they contain.
func (x *index) rankByWords(terms []term) []ranked {
	scores := map[int32]float64{}
	for _, t := range terms {
		list := x.terms[t.text]
		idf := math.Log(1 + (float64(len(x.docs)-len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			w := float64(p.weight)
			scores[p.doc] += t.weight * idf * w / (bm25K1 + w)
		}
	}
	return x.topRanked(scores)
}

// topRanked returns the first fusedDepth facts ordered by score, and by id for equal scores.
func (x *index) topRanked(scores map[int32]float64) []ranked {
	list := make([]ranked, 0, len(scores))
	for d, s := range scores {
		list = append(list, ranked{d, s})
	}
	slices.SortFunc(list,
		func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	return list[:min(len(list), fusedDepth)]
}

// rankByName returns the facts that have the folded query as a name.
func (x *index) rankByName(folded string) []ranked {
	scores := map[int32]float64{}
	for _, d := range x.docsByName[folded] {
		scores[d] = 1
	}
	return x.topRanked(scores)
}

// rankByLikeName ranks facts by the similarity of one of their names to the query: twice the number
// of common runs of three characters, divided by the total number of runs (Dice coefficient).
func (x *index) rankByLikeName(folded string) []ranked {
	runs := trigrams(folded)
	both := map[int32]int{}
	for _, g := range runs {
		for _, n := range x.namesByRun[g] {
			both[n]++
		}
	}
	scores := map[int32]float64{}
	for n, shared := range both {
		name := x.names[n]
		if alike := 2 * float64(shared) / float64(len(runs)+name.runs); alike >= minNameLikeness {
			scores[name.doc] = max(scores[name.doc], alike)
		}
	}
	return x.topRanked(scores)
}

// minNameLikeness is the least similarity of a name to a query that counts. The judged queries give
// about the same results for values between 0.45 and 0.8; lower values admit names that are similar
// by chance.
const minNameLikeness = 0.5

// correctTerms replaces each term that no fact contains by the terms that it may be a typo of.
// Terms that some fact contains stay.
func (x *index) correctTerms(terms []string) (out []term, changed bool) {
	for _, t := range terms {
		if len(x.terms[t]) > 0 {
			out = append(out, term{t, 1})
			continue
		}
		for _, c := range x.slipsOf(t) {
			out = append(out, c)
			changed = true
		}
	}
	return out, changed
}

// slipsOf returns the known terms nearest to an unknown one: within one wrong letter, and one more
// for each eight letters of the term. Terms of fewer than four letters have none.
func (x *index) slipsOf(t string) []term {
	r := []rune(t)
	if len(r) < 4 {
		return nil
	}
	allowed := 1 + len(r)/8
	runs := trigrams(t)
	both := map[int32]int{}
	for _, g := range runs {
		for _, v := range x.termsByRun[g] {
			both[v]++
		}
	}
	var found []term
	for v := range both {
		c := []rune(x.vocab[v])
		if len(c)-len(r) > allowed || len(r)-len(c) > allowed {
			continue
		}
		if d := markup.Slips(r, c, allowed); d <= allowed {
			found = append(found, term{x.vocab[v], 1 / float64(1+d)})
		}
	}
	slices.SortFunc(found, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.text, b.text))
	})
	return found[:min(len(found), maxCorrections)]
}

// maxCorrections bounds the corrections of one word.
const maxCorrections = 3
