package finder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/words"
)

// Bounds and weights of a search by relevance. The weights come from the judged queries of the
// development half, see docs/judgement.md.
const (
	rankedHead = 200  // best hits that names can move
	maxNear    = 50   // cards with a similar name that are ranked without a common word
	nearEnough = 0.35 // least likeness of such a name
	nameShare  = 1.0  // the share of a name in a score, relative to the words at 1
	sideShare  = 0.3  // the factor of a side card whose card is found too
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
	a.keepNamed(q, asked)
	p.Offset, p.Limit = max(p.Offset, 0), max(p.Limit, 0)
	var ranking search.Ranking
	var near map[search.ID]float64
	if err := a.withIndex(func(x *search.Index) (err error) {
		if near, err = a.nearNames(x, q.Q); err != nil {
			return err
		}
		ask := a.rankQuery(q.Language, asked)
		for id := range near {
			ask.Also = append(ask.Also, id)
		}
		ask.Limit = max(rankedHead, p.Offset+p.Limit)
		ranking, err = x.Rank(ctx, ask)
		return err
	}); err != nil {
		return out, err
	}
	items := fuseHits(ranking, near, a.sideOf(q.Language, asked, ranking))
	for _, word := range asked.Words {
		if by, ok := ranking.Mended[word]; ok {
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

// keepNamed keeps those cards visible only by name that have any of the words and all phrases.
func (a *finding) keepNamed(q canon.SearchQuery, asked words.Asked) {
	var terms []words.Term
	for _, w := range asked.Words {
		terms = append(terms, words.Term{Row: []words.Piece{words.StemPiece(q.Language, w)}})
	}
	a.named = slices.DeleteFunc(a.named, func(n Named) bool {
		if n.Doc == nil {
			return true
		}
		columns := []string{n.Doc.Name, n.Doc.Text, canon.AttributeText(n.Card.Type, n.Card.Fields)}
		return !slices.ContainsFunc(terms, func(t words.Term) bool { return t.In(columns...) }) ||
			!words.AllIn(asked.Phrases, columns...)
	})
}

// rankQuery returns the query of the index, restricted by the filter.
func (a *finding) rankQuery(language string, asked words.Asked) search.RankQuery {
	q := a.indexQuery(nil)
	ask := search.RankQuery{Phrases: asked.Phrases, Level: q.Level, Marks: q.Marks, Among: q.Among, Keep: q.Keep}
	for _, w := range asked.Words {
		ask.Words = append(ask.Words, search.RankWord{Text: w, Mendable: true, Language: language,
			Variants: []search.Variant{{Piece: words.StemPiece(language, w), Weight: 1}}})
	}
	for _, pair := range asked.Pairs {
		ask.Words = append(ask.Words, search.RankWord{Text: pair,
			Variants: []search.Variant{{Piece: words.Piece{Text: pair}, Weight: 1}}})
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

// fuseHits orders hits by their words and names together. Hits beyond the head follow in the order
// of their words. A side card never stands before the card above it.
func fuseHits(r search.Ranking, near map[search.ID]float64, isSide func(row []byte) bool) []item {
	most := 0.0
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
		score := h.Score / max(most, 1e-9)
		if like, ok := near[h.ID]; ok {
			score += nameShare * like
		}
		if in[search.ID(readRow(h.Row).parentID())] && isSide(h.Row) {
			score *= sideShare
		}
		items = append(items, item{canon.CardID(h.ID), h.Row, score})
	}
	slices.SortFunc(items, func(x, y item) int { return cmp.Or(cmp.Compare(y.score, x.score), compareKeys(x.row, y.row)) })
	items = parentsFirst(items, isSide)
	for _, h := range r.Hits[min(len(r.Hits), rankedHead):] {
		if !in[h.ID] {
			items = append(items, item{canon.CardID(h.ID), h.Row, min(h.Score/max(most, 1e-9), items[len(items)-1].score)})
		}
	}
	return items
}

// sideOf returns a function that reports whether a card was found only by the words of the card
// above it: its own part of the name has none. A list of tags is always one.
func (a *finding) sideOf(language string, asked words.Asked, r search.Ranking) func(row []byte) bool {
	var terms []words.Term
	add := func(p words.Piece) { terms = append(terms, words.Term{Row: []words.Piece{p}}) }
	for _, w := range asked.Words {
		add(words.StemPiece(language, w))
		for _, by := range r.Mended[w] {
			add(words.StemPiece(language, by))
		}
	}
	return func(b []byte) bool {
		r := readRow(b)
		own := markup.Tag(r.ownName())
		return canon.HoldsTags(markup.Key(r.key)) || !slices.ContainsFunc(terms, func(t words.Term) bool { return t.In(own) })
	}
}

// parentsFirst moves each card before the first of its side cards.
func parentsFirst(items []item, isSide func(row []byte) bool) []item {
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
		if parent, ok := at[readRow(items[i].row).parentID()]; ok && isSide(items[i].row) {
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
