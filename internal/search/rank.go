package search

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"

	"loregate/internal/markup"
	"loregate/internal/store/words"
)

// RankQuery selects the documents that have any of the words, and orders them by relevance.
type RankQuery struct {
	Words []RankWord
	// Phrases are terms that every hit must have.
	Phrases []words.Term
	Level   int // the highest level visible to the caller
	// Marks, Among and Keep restrict the hits as in a Query.
	Marks [][]string
	Among []ID
	Keep  func(row []byte) bool
	// Also are documents to score even if they are not among the best.
	Also  []ID
	Limit int
}

// RankWord is a word of a query. Its best variant counts in each document.
type RankWord struct {
	Text     string // as a token
	Variants []Variant
	// Mendable allows other words that are spelt alike instead of a word that no document has.
	Mendable bool
	// Instead returns words that count if no document has the variants. It may be nil.
	Instead  func() []RankWord
	Language string // of the stems of words that are spelt alike
}

// Variant is a form in which a word of a query is searched.
type Variant struct {
	Piece  words.Piece
	Weight float64 // relative to the word itself at 1
	Named  bool    // only in names
}

// Ranking is the result of a RankQuery.
type Ranking struct {
	Hits  []Hit // best first
	Also  []Hit // those of RankQuery.Also that exist and pass the filters; Score is 0 without a word
	Total int   // number of all hits
	// Mended are the words that no document has, with the words that were searched instead.
	Mended map[string][]string
}

// The constants of BM25F (Robertson, Zaragoza and Taylor 2004), with k1 as in bm25K1: occurrences in
// the name, in the text and among the attributes are weighted before they are saturated together. A
// name's length counts relative to a usual one. Judged queries over the fifth edition's SRD give the
// same result within 0.01 for name weights from 2 to 4, attributes from 1.25 to 2 and b from 0.5 to 0.6.
const (
	rankName     = 3.0
	rankNameB    = 0.6
	usualName    = 3.0
	rankAttr     = 1.5
	rankTextB    = 0.5
	maxRankWords = 64
	scoreScale   = 1 << 20 // scores are summed up as integers, so that their order never matters
)

// rankedDicts are the dictionaries that a RankQuery searches, namedDicts those for a variant only in names.
var rankedDicts, namedDicts = []int{ofAll, ofFields, ofAttributes}, []int{ofNames}

// Rank runs a RankQuery.
func (x *Index) Rank(ctx context.Context, q RankQuery) (Ranking, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	q.Words = q.Words[:min(len(q.Words), maxRankWords)]
	r := ranker{searcher: searcher{ctx: ctx, q: Query{Marks: q.Marks, Among: q.Among, Keep: q.Keep}}, ask: q}
	for n, l := range x.levels {
		if n <= q.Level {
			r.docs += l.docs
			r.tokens += l.tokens
			for _, p := range l.parts {
				r.parts = append(r.parts, searchedPart{part: p, level: n})
			}
		}
	}
	defer r.releaseTallies()
	r.mean = max(1, float64(r.tokens)/float64(max(r.docs, 1)))
	r.top = topHeap{most: q.Limit}
	if err := r.openWords(); err != nil {
		return Ranking{}, err
	}
	for i := range r.parts {
		if err := r.rankPart(&r.parts[i]); err != nil {
			return Ranking{}, err
		}
	}
	sort.Sort(sort.Reverse(&r.top))
	out := Ranking{Total: r.total, Also: r.also, Mended: r.mended}
	for _, c := range r.top.list {
		out.Hits = append(out.Hits, hitOf(c))
	}
	return out, nil
}

// ranker is the state of one running RankQuery.
type ranker struct {
	searcher
	ask    RankQuery
	mean   float64
	words  []openWord
	also   []Hit
	mended map[string][]string
	stems  stems
}

// openWord is a word of the query with the weights of its variants.
type openWord struct {
	variants []openVariant
}

// openVariant is a variant of a word with the terms that fit it in each part.
type openVariant struct {
	weight float64 // with the inverse document frequency
	terms  [][]dictTerm
}

// openWords finds the terms of all words, and mends the words that no document has.
func (r *ranker) openWords() error {
	for _, w := range r.ask.Words {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if r.openWord(w.Variants) || w.Instead != nil && r.openInstead(w) {
			continue
		}
		if w.Mendable {
			if o := r.openMended(w); len(o.variants) > 0 {
				r.words = append(r.words, o)
			}
		}
	}
	return nil
}

// openWord opens a word, and reports whether some document has it.
func (r *ranker) openWord(list []Variant) bool {
	o := r.openVariants(list)
	if len(o.variants) > 0 {
		r.words = append(r.words, o)
	}
	return len(o.variants) > 0
}

// openInstead opens the words that count instead of another, and reports whether there are any.
func (r *ranker) openInstead(w RankWord) (any bool) {
	for _, other := range w.Instead() {
		if len(r.words) < maxRankWords && r.openWord(other.Variants) {
			any = true
		}
	}
	return any
}

// openMended finds the terms of the words that are searched instead of a word that no document has:
// those that begin with it, else those that it may be a misspelling of.
func (r *ranker) openMended(w RankWord) openWord {
	if r.mended == nil {
		r.mended = map[string][]string{}
	}
	if utf8.RuneCountInString(w.Text) >= leastPrefix {
		begins := words.Piece{How: words.Begins, Text: w.Text}
		if o := r.openVariants([]Variant{{Piece: begins, Weight: 1}}); len(o.variants) > 0 {
			r.mended[w.Text] = []string{w.Text + "*"}
			return o
		}
	}
	var list []Variant
	r.mended[w.Text] = r.mend(w.Text)
	for _, m := range r.mended[w.Text] {
		list = append(list, Variant{Piece: words.FormPiece(w.Language, m), Weight: 1})
	}
	return r.openVariants(list)
}

// leastPrefix is the least number of letters of a word that may be the beginning of others.
const leastPrefix = 3

// openVariants returns the variants that some living document has.
func (r *ranker) openVariants(list []Variant) (o openWord) {
	for _, v := range list {
		var found openVariant
		var freq [dictionaries]int
		dicts := rankedDicts
		if v.Named {
			dicts = namedDicts
		}
		for i := range r.parts {
			p := r.parts[i].part
			for _, dict := range dicts {
				for _, term := range p.dicts[dict].fittingTerms(v.Piece, &r.stems) {
					if n := p.docFreq(dict, term); n > 0 {
						freq[dict] += n
						if found.terms == nil {
							found.terms = make([][]dictTerm, len(r.parts))
						}
						found.terms[i] = append(found.terms[i], dictTerm{dict, term})
					}
				}
			}
		}
		if n := min(slices.Max(freq[:]), r.docs); n > 0 {
			found.weight = v.Weight * math.Log(1+(float64(r.docs-n)+0.5)/(float64(n)+0.5))
			o.variants = append(o.variants, found)
		}
	}
	return o
}

// rankPart scores the documents of a part.
func (r *ranker) rankPart(p *searchedPart) error {
	sum, err := r.borrowTally(p.n)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(r.parts, func(o searchedPart) bool { return o.part == p.part })
	for _, w := range r.words {
		if err := r.addScores(p.part, w, at, sum.counts); err != nil {
			return err
		}
	}
	allowed, err := r.allowedDocs(p)
	if err != nil {
		return err
	}
	worst, _ := r.top.minScore()
	least := uint32(min(worst*scoreScale, math.MaxUint32))
	for doc, score := range sum.counts {
		if score == 0 || p.isDead(uint32(doc)) || allowed != nil && !isSet(allowed, uint32(doc)) ||
			r.q.Keep != nil && !r.q.Keep(p.docRow(uint32(doc))) {
			continue
		}
		r.total++
		if score >= least && r.top.offer(candidate{score: float64(score) / scoreScale, part: p, doc: uint32(doc)}) {
			worst, _ := r.top.minScore()
			least = uint32(worst * scoreScale)
		}
	}
	for _, id := range r.ask.Also {
		doc, ok := p.findDoc(id)
		if ok && !p.isDead(doc) && (allowed == nil || isSet(allowed, doc)) && (r.q.Keep == nil || r.q.Keep(p.docRow(doc))) {
			r.also = append(r.also, hitOf(candidate{score: float64(sum.counts[doc]) / scoreScale, part: p, doc: doc}))
		}
	}
	return nil
}

func hitOf(c candidate) Hit {
	return Hit{ID: c.part.docID(c.doc), Level: c.part.level, Score: c.score, Row: bytes.Clone(c.part.docRow(c.doc))}
}

// rankCursor walks a posting list of a variant.
type rankCursor struct {
	list
	dict    int
	variant int
}

// addScores adds the score of a word in each document of the nth part to sum.
func (r *ranker) addScores(p *part, w openWord, n int, sum []uint32) error {
	var cursors []rankCursor
	for v := range w.variants {
		for _, at := range w.variants[v].terms[n] {
			c := rankCursor{list: p.dicts[at.dict].openList(at.term), dict: at.dict, variant: v}
			if c.next() {
				cursors = append(cursors, c)
			}
		}
	}
	if len(cursors) == 1 {
		return r.addList(p, &cursors[0], w.variants[cursors[0].variant].weight, sum)
	}
	weights := make([]float64, len(w.variants))
	for steps := 1; len(cursors) > 0; steps++ {
		if steps%checkEvery == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		doc := end
		for i := range cursors {
			doc = min(doc, cursors[i].last.doc)
		}
		clear(weights)
		for i := 0; i < len(cursors); {
			c := &cursors[i]
			if c.last.doc != doc {
				i++
				continue
			}
			weights[c.variant] += r.weightOf(p, c.dict, c.last)
			if c.next() {
				i++
			} else {
				cursors = slices.Delete(cursors, i, i+1)
			}
		}
		best := 0.0
		for v, weight := range weights {
			best = max(best, w.variants[v].weight*weight/(weight+bm25K1))
		}
		sum[doc] += uint32(best*scoreScale) + 1
	}
	return nil
}

// addList is addScores for a word with a single list, whose cursor is at its first entry.
func (r *ranker) addList(p *part, c *rankCursor, most float64, sum []uint32) error {
	for steps := 1; ; steps++ {
		if steps%checkEvery == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		weight := r.weightOf(p, c.dict, c.last)
		sum[c.last.doc] += uint32(most*weight/(weight+bm25K1)*scoreScale) + 1
		if !c.next() {
			return nil
		}
	}
}

// weightOf returns the weight of a term in a document, before saturation.
func (r *ranker) weightOf(p *part, dict int, e entry) float64 {
	switch dict {
	case ofAttributes:
		return rankAttr
	case ofFields:
		return float64(e.text)
	case ofNames:
		return r.nameWeight(p, e.doc, e.text)
	}
	weight := 0.0
	if e.inName > 0 {
		weight = r.nameWeight(p, e.doc, e.inName)
	}
	if e.text > 0 {
		weight += float64(e.text) / (1 - rankTextB + rankTextB*float64(p.docLength(e.doc))/r.mean)
	}
	return weight
}

// nameWeight returns the weight of a term that the name of a document has n times.
func (r *ranker) nameWeight(p *part, doc, n uint32) float64 {
	return rankName * float64(n) / (1 - rankNameB + rankNameB*float64(p.nameLength(doc))/usualName)
}

// allowedDocs returns the set of documents that have the marks, ids and phrases of the query, or
// nil if there are no such conditions.
func (r *ranker) allowedDocs(p *searchedPart) (allowed []uint64, err error) {
	both := func(s source) {
		has := make([]uint64, (p.n+63)/64)
		for s.next() {
			has[s.last.doc/64] |= 1 << (s.last.doc % 64)
		}
		if allowed == nil {
			allowed = has
			return
		}
		for i := range allowed {
			allowed[i] &= has[i]
		}
	}
	for _, any := range r.ask.Marks {
		s, err := r.markSource(p, any)
		if err != nil {
			return nil, err
		}
		both(s)
	}
	if r.ask.Among != nil {
		both(r.amongSource(p.part))
	}
	for _, t := range r.ask.Phrases {
		s, err := r.termSource(p.part, t)
		if err != nil {
			return nil, err
		}
		both(s)
	}
	return allowed, nil
}

// maxMended is the number of words that are searched instead of a misspelt one.
const maxMended = 3

// mend returns the words of living documents that a word may be a misspelling of: those with the
// fewest wrong letters, at most one, and one more for each eight letters of the word. Words of names
// come first, then the more frequent ones. A word of fewer than four letters, or with a digit, has
// none.
func (r *ranker) mend(word string) []string {
	letters := []rune(word)
	if len(letters) < 4 || len(letters) > 40 || bytes.ContainsAny([]byte(word), "0123456789") {
		return nil
	}
	type mended struct {
		slips, named, freq int
	}
	known := map[string]mended{}
	allowed := 1 + len(letters)/8
	var buffer []rune
	check := func(p *part, dict, term int) {
		d := &p.dicts[dict]
		text := d.termText(term)
		if n := utf8.RuneCount(text); n < len(letters)-allowed || n > len(letters)+allowed ||
			bytes.ContainsFunc(text, isPrivate) {
			return
		}
		buffer = buffer[:0]
		for _, c := range string(text) {
			buffer = append(buffer, c)
		}
		slips := markup.Slips(letters, buffer, allowed)
		if slips > allowed {
			return
		}
		freq := p.docFreq(dict, term)
		if freq == 0 {
			return
		}
		m := known[string(text)]
		m.slips, m.freq = slips, m.freq+freq
		if at, ok := p.dicts[ofNames].findTerm(string(text)); ok && p.docFreq(ofNames, at) > 0 {
			m.named = 1
		}
		known[string(text)] = m
	}
	for i := range r.parts {
		p := r.parts[i].part
		for _, dict := range rankedDicts {
			for _, term := range p.dicts[dict].termsAlike(letters) {
				check(p, dict, term)
			}
		}
	}
	var list []string
	for text := range known {
		list = append(list, text)
	}
	slices.SortFunc(list, func(a, b string) int {
		x, y := known[a], known[b]
		return cmp.Or(x.slips-y.slips, y.named-x.named, y.freq-x.freq, cmp.Compare(a, b))
	})
	for i, text := range list {
		if i == maxMended || known[text].slips > known[list[0]].slips {
			return list[:i]
		}
	}
	return list
}

// isPrivate reports whether a character is in no word, but joins the parts of an attribute.
func isPrivate(r rune) bool { return unicode.Is(unicode.Co, r) }

// termsAlike returns the terms that begin with the first letter of a word or that have the end of
// the word without its first letters, each once and rising: candidates for words spelt alike.
func (d *dictionary) termsAlike(word []rune) []int {
	first := string(word[:1])
	var terms []int
	for i := d.seek(first); i < d.size() && bytes.HasPrefix(d.termText(i), []byte(first)); i++ {
		terms = append(terms, i)
	}
	// A wrong first letter leaves the others.
	terms = append(terms, d.termsContaining([]byte(string(word[2:])+"\n"))...)
	slices.Sort(terms)
	return slices.Compact(terms)
}
