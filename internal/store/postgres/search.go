package postgres

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/words"
)

// Search finds cards by their words, in an index of lexemes; a piece of a word stands for
// the words of the vocabulary that have it. Where words alone do not decide, the texts of
// what they find are looked at. What a hit scores follows from its own document: how
// often, and how prominently, it has what is asked for.
func (r *reader) Search(ctx context.Context, s canon.Sight, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	none := canon.SearchResult{Ranked: ranks(q)}
	q.Q = storable(q.Q)
	ask := words.Terms(q)
	sc, ok, err := r.scope(ctx, s)
	if !ok || len(ask) == 0 {
		return none, err
	}
	if r.writes == nil {
		select {
		case r.s.gate <- struct{}{}:
			defer func() { <-r.s.gate }()
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	p.Limit, p.Offset = max(p.Limit, 0), max(p.Offset, 0)
	at, err := r.indexState(ctx, sc.args[0].(int64))
	if err != nil {
		return none, err
	}
	f, err := r.finding(ctx, sc, at, ask, q)
	if err != nil {
		return none, err
	}
	if q.Filter.NotName != "" {
		return r.siftedSearch(ctx, f, q, p)
	}
	n, known := r.remembered(f, at)
	var hits []canon.Hit
	if !known && ranks(q) {
		if hits, n, known, err = r.ranked(ctx, f, p); err == nil && known {
			r.remember(f, at, n)
		}
	}
	if err == nil && !known {
		n, err = r.found(ctx, f, at)
	}
	total := capped(int(n))
	if err != nil || n == 0 {
		none.Total = total
		return none, err
	}
	out := canon.SearchResult{Total: total, Ranked: ranks(q) && !total.AtLeast, Hits: hits}
	switch {
	case !ranks(q):
		out.Hits, err = r.sorted(ctx, f, q, p)
	case total.AtLeast:
		out.Hits, err = r.latest(ctx, f, p)
	case hits == nil:
		out.Hits, _, _, err = r.ranked(ctx, f, p)
	}
	return out, err
}

func ranks(q canon.SearchQuery) bool {
	return q.Filter.Sort == "" || q.Filter.Sort == canon.SortRank
}

// hits selects columns of all that is found: of the alias x. Big documents, of which the
// index does not have every word, are asked by their texts.
func (f *finding) hits(columns string) string {
	big := f.rows(columns, "x.w = "+f.sc.w+" AND x.big AND "+f.inText)
	if f.never {
		return big
	}
	return f.indexed(columns, "NOT x.big AND "+f.find+f.andSpelt) + " UNION ALL " + big
}

// indexed selects what an index of words finds. The world's own index has all of its
// documents: + 0 keeps it from being thought of.
func (f *finding) indexed(columns, where string) string {
	return f.rows(columns, "x.w + 0 = "+f.sc.w+" AND "+where)
}

func (f *finding) rows(columns, where string) string {
	from := "lexemes x"
	if f.filter != "" {
		from += " JOIN cards c ON c.w = x.w AND c.id = x.card"
		where += " AND " + f.sc.living("c") + f.filter
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s AND %s", columns, from, where, f.sc.sees("x"))
}

// ranked gives a page of the hits with the best first, and how many there are, which an
// empty page does not tell. They are looked at once, and no more of them than are counted;
// only those that reach the page by their score are looked up as cards.
func (r *reader) ranked(ctx context.Context, f *finding, p canon.Page) (hits []canon.Hit, n int64, known bool, err error) {
	sc := f.sc.with()
	all := f.hits(fmt.Sprintf("x.card, %s AS named, %s AS score", f.named, f.score))
	hits, err = r.scored(ctx, sc, func(r row) { n, known = r.int(1), true },
		fmt.Sprintf(`WITH h AS MATERIALIZED (%s LIMIT %d) SELECT %s, o.score, (SELECT count(*) FROM h) FROM (SELECT * FROM h ORDER BY named, score DESC FETCH FIRST (%s) ROWS WITH TIES) o
			JOIN cards c ON c.w = %s AND c.id = o.card ORDER BY o.named, o.score DESC, c.key, c.id%s`,
			all, canon.CountCap+farAbove, cardColumns, sc.arg(int64(p.Limit)+int64(p.Offset)), sc.w, sc.page(p)))
	return hits, n, known, err
}

// sorted gives a page of the hits in the order of a listing.
func (r *reader) sorted(ctx context.Context, f *finding, q canon.SearchQuery, p canon.Page) ([]canon.Hit, error) {
	sc := f.sc.with()
	_, by := order(q.Filter.Sort)
	return r.scored(ctx, sc, nil, fmt.Sprintf("SELECT %s, 0::float8 FROM (%s) h JOIN cards c ON c.w = %s AND c.id = h.card ORDER BY %s%s",
		cardColumns, f.hits("x.card"), sc.w, qualify("c", by), sc.page(p)))
}

// fewNames is up to how many hits by name are put in order; more are met by walking.
const fewNames = 3000

// latest gives a page of more hits than are ranked: those whose name matches, then the
// others, each with the latest first. Where many match, they are met by walking the cards
// by time, of which few have to be looked at; those seen only by being named come after
// all of them, where nobody pages to.
func (r *reader) latest(ctx context.Context, f *finding, p canon.Page) ([]canon.Hit, error) {
	upTo := p.Limit + p.Offset
	byName := f.indexed("x.card", "NOT "+f.named+" AND "+f.nameFind+f.andNameSpelt)
	n, err := r.counted(ctx, f.sc, byName, fewNames+1)
	if err != nil {
		return nil, err
	}
	var list []canon.Hit
	switch {
	case n > fewNames:
		list, err = r.walk(ctx, f, f.name+f.andNameSpelt, upTo)
	case n > 0:
		sc := f.sc.with()
		list, err = r.scored(ctx, sc, nil, fmt.Sprintf("SELECT %s, 0::float8 FROM (%s) h JOIN cards c ON c.w = %s AND c.id = h.card ORDER BY c.updated DESC, c.key, c.id%s",
			cardColumns, byName, sc.w, sc.page(canon.Page{Limit: upTo})))
	}
	if rest := upTo - len(list); err == nil && rest > 0 {
		var more []canon.Hit
		more, err = r.walk(ctx, f, f.others(), rest)
		list = append(list, more...)
	}
	return list[min(p.Offset, len(list)):], err
}

// others is the condition that a document matches, and not by its name alone.
func (f *finding) others() string {
	small := "NOT x.big AND " + f.fits + f.andSpelt
	if f.never {
		small = "false"
	}
	return fmt.Sprintf("(%s OR x.big AND %s) AND NOT (%s%s)", small, f.inText, f.name, f.andNameSpelt)
}

// walk gives the latest cards whose documents fulfil a condition.
func (r *reader) walk(ctx context.Context, f *finding, where string, n int) ([]canon.Hit, error) {
	sc := f.sc.with()
	limit := sc.page(canon.Page{Limit: n})
	var arms []string
	for l := access.LevelUser; l <= sc.top; l++ {
		arms = append(arms, fmt.Sprintf("(SELECT %s FROM cards c CROSS JOIN LATERAL (SELECT FROM lexemes x WHERE x.w = c.w AND x.card = c.id AND NOT %s AND %s AND %s OFFSET 0) x WHERE c.w = %s AND c.level = %d AND c.trashed = 0%s ORDER BY c.updated DESC, c.key, c.id%s)",
			cardColumns, f.named, where, sc.sees("x"), sc.w, l, f.filter, limit))
	}
	if len(arms) == 0 {
		return nil, nil
	}
	return r.scored(ctx, sc, nil, "SELECT c.*, 0::float8 FROM ("+strings.Join(arms, " UNION ALL ")+") c ORDER BY c.updated DESC, c.key, c.id"+limit)
}

// scored runs a query of cards with a score. Rows are given to more from the score on.
func (r *reader) scored(ctx context.Context, sc *scope, more func(row), query string) (list []canon.Hit, err error) {
	var scores []float64
	query, args := sc.trimmed(query)
	cards, err := r.cardsAnd(ctx, sc.id, func(row row) {
		if scores = append(scores, row.float(0)); more != nil {
			more(row)
		}
	}, query, args...)
	for i, c := range cards {
		list = append(list, canon.Hit{Card: c, Score: scores[i]})
	}
	return list, err
}

// siftedSearch is Search where a glob leaves out names, which the database cannot tell. It
// looks at all hits, and reads the cards of the page. Above canon.CountCap they stay in
// the order of their scores, which are not told.
func (r *reader) siftedSearch(ctx context.Context, f *finding, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	type hit struct {
		rid   int64
		score float64
	}
	var all []hit
	score, by := f.score, "h.named, h.score DESC, c.key, c.id"
	if !ranks(q) {
		_, listed := order(q.Filter.Sort)
		score, by = "0::float8", qualify("c", listed)
	}
	hits := f.hits(fmt.Sprintf("x.card, %s AS named, %s AS score", f.named, score))
	query, args := f.sc.trimmed(fmt.Sprintf("SELECT c.rid, c.name, h.score FROM (%s) h JOIN cards c ON c.w = %s AND c.id = h.card ORDER BY %s", hits, f.sc.w, by))
	err := r.c.query(ctx, func(r row) error {
		if !markup.MatchGlob(q.Filter.NotName, r.text(1)) {
			all = append(all, hit{r.int(0), r.float(2)})
		}
		return nil
	}, query, args...)
	if err != nil {
		return canon.SearchResult{}, err
	}
	out := canon.SearchResult{Total: capped(len(all)), Ranked: ranks(q) && len(all) <= canon.CountCap}
	var rids []int64
	page := all[min(p.Offset, len(all)):]
	page = page[:min(p.Limit, len(page))]
	for _, h := range page {
		rids = append(rids, h.rid)
	}
	cards, err := r.cardsByRow(ctx, f.sc, rids)
	for i, c := range cards {
		h := canon.Hit{Card: c}
		if out.Ranked {
			h.Score = page[i].score
		}
		out.Hits = append(out.Hits, h)
	}
	return out, err
}
