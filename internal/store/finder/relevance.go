package finder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/words"
)

// Bounds and weights of a search by relevance. The weights come from the judged queries of the
// development half, see docs/judgement.md. The words of the best hit count as 1.
const (
	rankedHead   = 200  // best hits that names can move
	maxNear      = 50   // cards with a similar name that are ranked without a common word
	nearEnough   = 0.35 // least likeness of such a name
	isName       = 0.75 // likeness of a name from which a query names it and does not describe it
	nameShare    = 1.0  // score of the whole query as a name
	synonymShare = 0.7  // score of a name that means the same as the whole query
	pairWeight   = 1.5  // weight of an attribute with its number, relative to a word
	sideShare    = 0.3  // factor of a side card whose card is found too
	maxByMeaning = 50   // cards near in meaning that are ranked without a common word
	// least score of such a card: two standard deviations above the mean
	leastByMeaning = 2.0 / 4
	// factor of scores by meaning if the query has an attribute with its number: vectors hardly tell numbers apart
	numberByMeaning = 0.3
)

// searchRelevant answers a query by relevance: any of the words, weighted, in any form, and names
// that resemble the whole query.
func (f SnapshotFinder) searchRelevant(ctx context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	out := canon.SearchResult{Ranked: true}
	asked := words.Ask(q.Q)
	if len(asked.Words) == 0 {
		return out, nil
	}
	a, err := f.newFinding(ctx, s, q.Filter)
	if err != nil {
		return out, err
	}
	a.listed = q.Listed
	a.level = q.Level
	a.keepNamed(q, asked)
	p.Offset, p.Limit = max(p.Offset, 0), max(p.Limit, 0)
	var ranking search.Ranking
	var near map[search.ID]float64
	if err := a.withIndex(func(x *search.Index) (err error) {
		if near, err = a.nearNames(x, q.Q); err != nil {
			return err
		}
		ask := a.rankQuery(q.Language, asked)
		nearest := 0.0
		for id, score := range near {
			ask.Also = append(ask.Also, id)
			nearest = max(nearest, score)
		}
		if nearest < isName {
			ask.Words = append(ask.Words, explain(q.Language, asked)...)
		}
		for _, c := range q.Near[:min(len(q.Near), maxByMeaning)] {
			if id := search.ID(c.ID); c.Score >= leastByMeaning && near[id] == 0 {
				ask.Also = append(ask.Also, id)
			}
		}
		ask.Limit = max(rankedHead, p.Offset+p.Limit)
		ranking, err = x.Rank(ctx, ask)
		return err
	}); err != nil {
		return out, err
	}
	fusion := fusion{near: near, meant: meantBy(q.Near, asked), synonyms: synonymsOf(q.Language, markup.Fold(q.Q)),
		isSide: sideTest(q.Language, asked, ranking)}
	items := fusion.fuseHits(ranking)
	out.Cut = asked.Cut
	for _, word := range asked.Words {
		if by, ok := ranking.Mended[word]; ok && !(isPaired(word, asked.Pairs) && len(by) > 0) {
			out.Mended = append(out.Mended, canon.Mending{Word: word, By: by})
			for _, w := range by {
				out.Terms = append(out.Terms, strings.Trim(w, "*"))
			}
			continue
		}
		out.Terms = append(out.Terms, words.Beginning(q.Language, word))
	}
	total := ranking.Total
	for _, h := range ranking.Also {
		if h.Score == 0 {
			total++
		}
	}
	out.Total = canon.Total{Count: total + len(a.named)}
	for _, n := range a.named {
		items = append(items, itemOf(n))
	}
	out.Hits, err = a.readHits(cutPage(items, p))
	return out, err
}

// isPaired reports whether a word stands beside a number of the query. It may be known only as the
// name of a field with a number, as in "level 3".
func isPaired(word string, pairs []string) bool {
	return slices.ContainsFunc(pairs, func(p string) bool { return strings.HasPrefix(p, canon.AttributePair(word, "")) })
}

// keepNamed keeps those cards visible only by name that have any of the words and all phrases.
func (a *finding) keepNamed(q canon.SearchQuery, asked words.Asked) {
	var terms []words.Term
	for _, w := range asked.Words {
		terms = append(terms, words.Term{Row: []words.Piece{words.FormPiece(q.Language, w)}})
	}
	a.named = slices.DeleteFunc(a.named, func(n Named) bool {
		if n.Doc == nil || a.level != 0 && n.Card.Label.Level != a.level {
			return true
		}
		columns := []string{n.Doc.Name, n.Doc.Text, canon.FieldText(n.Card.Fields), attributesOf(&n.Card, n.Tags)}
		return !slices.ContainsFunc(terms, func(t words.Term) bool { return t.In(columns...) }) ||
			!words.AllIn(asked.Phrases, columns...)
	})
}

// rankQuery returns the query of the index, restricted by the filter.
func (a *finding) rankQuery(language string, asked words.Asked) search.RankQuery {
	q := a.indexQuery(nil)
	if a.level != 0 {
		rest := q.Keep
		q.Keep = func(b []byte) bool {
			return access.Level(readRow(b).fixed[atLevel]) == a.level && (rest == nil || rest(b))
		}
	}
	ask := search.RankQuery{Phrases: asked.Phrases, Level: q.Level, Marks: q.Marks, Among: q.Among, Keep: q.Keep}
	for _, w := range asked.Words {
		ask.Words = append(ask.Words, search.RankWord{Text: w, Mendable: true, Language: language,
			Variants: variantsOf(language, w), Instead: func() []search.RankWord { return insteadOf(language, w) }})
	}
	for _, pair := range asked.Pairs {
		ask.Words = append(ask.Words, search.RankWord{Text: pair,
			Variants: []search.Variant{{Piece: words.Piece{Text: pair}, Weight: pairWeight}}})
	}
	return ask
}

// nearNames returns the cards whose names resemble a text most, with the likeness.
func (a *finding) nearNames(x *search.Index, text string) (map[search.ID]float64, error) {
	if len(text) > 4*markup.MaxNameLength {
		return nil, nil
	}
	marks := canon.Trigrams(text)
	for i, run := range marks {
		marks[i] = runMark + run
	}
	hits, err := x.Alike(a.ctx, search.Likes{Marks: marks, MinShared: int(nearEnough * float64(len(marks))),
		Level: int(a.visibility.View.Level), Limit: maxCompared, Keep: a.rowFilterTyped()})
	like := canon.LikenessTo(text)
	scores := map[search.ID]float64{}
	for _, h := range hits {
		if score := likenessOf(like, h.Row); score >= nearEnough {
			h.Score = score
			scores[h.ID] = score
		}
	}
	if len(scores) > maxNear {
		hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return scores[h.ID] == 0 })
		slices.SortFunc(hits, func(x, y search.Hit) int {
			return cmp.Or(cmp.Compare(scores[y.ID], scores[x.ID]), compareKeys(x.Row, y.Row))
		})
		for _, h := range hits[maxNear:] {
			delete(scores, h.ID)
		}
	}
	return scores, err
}

// likenessOf returns the greatest likeness of a card's names.
func likenessOf(like canon.Likeness, b []byte) (most float64) {
	for _, name := range readRow(b).nameList() {
		most = max(most, like.Of(name))
	}
	return most
}

// meantBy returns the scores of cards by meaning.
func meantBy(near []canon.NearCard, asked words.Asked) map[search.ID]float64 {
	factor := 1.0
	if len(asked.Pairs) > 0 {
		factor = numberByMeaning
	}
	scores := make(map[search.ID]float64, len(near))
	for _, c := range near {
		scores[search.ID(c.ID)] = factor * c.Score
	}
	return scores
}

// fusion is the data by which hits are ordered beside their words.
type fusion struct {
	near     map[search.ID]float64 // likeness of names to the query
	meant    map[search.ID]float64 // scores by meaning
	synonyms map[string]float64    // folded names that mean nearly the same as the query, with their nearness
	isSide   func(row []byte) bool
}

// fuseHits orders hits by their words and names together. Hits beyond the head follow in the order
// of their words. A side card never stands before the card above it.
func (f fusion) fuseHits(r search.Ranking) []item {
	most := 1e-9
	if len(r.Hits) > 0 {
		most = r.Hits[0].Score
	}
	head := slices.Clone(r.Hits[:min(len(r.Hits), rankedHead)])
	in := map[search.ID]bool{}
	for _, h := range head {
		in[h.ID] = true
	}
	for _, h := range r.Also {
		if !in[h.ID] {
			in[h.ID] = true
			head = append(head, h)
		}
	}
	items := make([]item, 0, len(head)+len(r.Hits))
	for _, h := range head {
		score := h.Score/most + f.nameScore(h) + f.meant[h.ID]
		if in[search.ID(readRow(h.Row).parentID())] && f.isSide(h.Row) {
			score *= sideShare
		}
		items = append(items, item{canon.CardID(h.ID), h.Row, score})
	}
	slices.SortFunc(items, func(x, y item) int { return cmp.Or(cmp.Compare(y.score, x.score), compareKeys(x.row, y.row)) })
	items = f.parentsFirst(items)
	for _, h := range r.Hits[min(len(r.Hits), rankedHead):] {
		if !in[h.ID] {
			items = append(items, item{canon.CardID(h.ID), h.Row, min(h.Score/most, items[len(items)-1].score)})
		}
	}
	return items
}

// nameScore returns the part of a card's score that comes from its names.
func (f fusion) nameScore(h search.Hit) float64 {
	score := nameShare * max(0, f.near[h.ID]-nearEnough) / (1 - nearEnough)
	if len(f.synonyms) == 0 || score >= synonymShare {
		return score
	}
	for _, n := range readRow(h.Row).nameList() {
		score = max(score, synonymShare*f.synonyms[markup.Fold(n)])
	}
	return score
}

// sideTest returns a function that reports whether a card was found only by the words of the card
// above it: its own part of the name has none.
func sideTest(language string, asked words.Asked, r search.Ranking) func(row []byte) bool {
	var terms []words.Term
	add := func(p words.Piece) { terms = append(terms, words.Term{Row: []words.Piece{p}}) }
	for _, w := range asked.Words {
		add(words.FormPiece(language, w))
		for _, by := range r.Mended[w] {
			if start, ok := strings.CutSuffix(by, "*"); ok {
				add(words.Piece{How: words.Begins, Text: start})
			} else {
				add(words.FormPiece(language, by))
			}
		}
	}
	return func(b []byte) bool {
		own := markup.Tag(readRow(b).ownName())
		return !slices.ContainsFunc(terms, func(t words.Term) bool { return t.In(own) })
	}
}

// parentsFirst moves each card before the first of its side cards.
func (f fusion) parentsFirst(items []item) []item {
	at := make(map[canon.CardID]int, len(items))
	for i, x := range items {
		at[x.id] = i
	}
	out := make([]item, 0, len(items))
	done := make([]bool, len(items))
	var add func(i int, score float64)
	add = func(i int, score float64) {
		if done[i] {
			return
		}
		done[i] = true
		if parent, ok := at[readRow(items[i].row).parentID()]; ok && f.isSide(items[i].row) {
			add(parent, max(score, items[i].score))
		}
		items[i].score = max(score, items[i].score)
		out = append(out, items[i])
	}
	for i := range items {
		add(i, 0)
	}
	return out
}
