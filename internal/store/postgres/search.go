package postgres

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/words"
)

// Search finds cards by their words. Whole words are found in the index of lexemes, all
// else in the tokens of name and body by runs of three characters. What a hit scores
// follows from its own document: how often, and how prominently, it has what is asked for.
func (r *reader) Search(ctx context.Context, s canon.Sight, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	none := canon.SearchResult{Ranked: ranks(q)}
	q.Q = storable(q.Q)
	ask := words.Terms(q)
	sc, ok, err := r.scope(ctx, s)
	if !ok || len(ask) == 0 {
		return none, err
	}
	if q.Filter.NotName != "" {
		return r.siftedSearch(ctx, sc, ask, q, p)
	}
	f := newFinding(sc, ask, q)
	out, err := r.found(ctx, f, q, p)
	if err != nil || !out.Total.AtLeast && (len(out.Hits) > 0 || p.Offset <= 0) {
		return out, err
	}
	return r.foundMany(ctx, f, q, p)
}

// found answers a search of up to canon.CountCap hits; of more it says so.
func (r *reader) found(ctx context.Context, f *finding, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	n := 0
	var scores []float64
	sc := f.sc.with()
	cards, err := r.cardsAnd(ctx, sc.id, func(r row) { n, scores = int(r.int(0)), append(scores, r.float(1)) },
		fmt.Sprintf(`WITH hits AS MATERIALIZED (SELECT c.rid, c.key, c.id, c.updated, c.created, c.sort, %s AS named, %s AS score%s LIMIT %d)
		SELECT %s, (SELECT count(*) FROM hits), o.score FROM (SELECT * FROM hits c ORDER BY %s%s) o JOIN cards c ON c.rid = o.rid ORDER BY %s`,
			f.named, f.score(ranks(q)), f.from, canon.CountCap+1, cardColumns, f.orderFound(q, "c"), sc.page(p), f.orderFound(q, "o")), sc.args...)
	out := canon.SearchResult{Total: capped(n), Ranked: ranks(q)}
	for i, c := range cards {
		out.Hits = append(out.Hits, canon.Hit{Card: c, Score: scores[i]})
	}
	return out, err
}

// orderFound orders hits by what was kept of them.
func (f *finding) orderFound(q canon.SearchQuery, alias string) string {
	if !ranks(q) {
		_, by := order(q.Filter.Sort)
		return qualify(alias, by)
	}
	return fmt.Sprintf("%[1]s.named, %[1]s.score DESC, %[1]s.key, %[1]s.id", alias)
}

// foundMany answers a search however many hits it has: unranked above canon.CountCap.
func (r *reader) foundMany(ctx context.Context, f *finding, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	n, err := r.total(ctx, "SELECT 1"+f.from, f.sc.args...)
	if err != nil {
		return canon.SearchResult{}, err
	}
	out := canon.SearchResult{Total: n, Ranked: ranks(q) && !n.AtLeast}
	var scores []float64
	sc := f.sc.with()
	cards, err := r.cardsAnd(ctx, sc.id, func(r row) { scores = append(scores, r.float(0)) },
		fmt.Sprintf("SELECT %s, %s%s ORDER BY %s%s", cardColumns, f.score(out.Ranked), f.from, f.order(q, out.Ranked), sc.page(p)), sc.args...)
	for i, c := range cards {
		out.Hits = append(out.Hits, canon.Hit{Card: c, Score: scores[i]})
	}
	return out, err
}

func ranks(q canon.SearchQuery) bool {
	return q.Filter.Sort == "" || q.Filter.Sort == canon.SortRank
}

// finding is one search as SQL, on the aliases d of docs and c of cards.
type finding struct {
	sc     *scope
	from   string // with all conditions
	named  string // that a hit is in sight only by naming the subject
	byName string // that the name alone matches
	rank   string // of a hit
}

func newFinding(sc *scope, ask []words.Term, q canon.SearchQuery) *finding {
	f := &finding{sc: sc, named: "(d.level > " + digits(max(sc.top, 0)) + ")"}
	var match, inName, rank []string
	for _, t := range ask {
		x := sc.term(t, q)
		match = append(match, x.match)
		inName = append(inName, x.name)
		rank = append(rank, x.rank)
	}
	if q.CaseSensitive {
		for _, t := range ask {
			match = append(match, sc.literal(t.Literal, q))
		}
	}
	f.from = fmt.Sprintf(" FROM docs d JOIN cards c ON c.w = d.w AND c.id = d.card WHERE d.w + 0 = %s AND %s AND %s AND %s%s", // + 0: not by the world's index, which has all of its documents
		sc.w, strings.Join(match, " AND "), sc.sees("d"), sc.living("c"), sc.filter(q.Filter))
	f.byName = "(" + strings.Join(inName, " AND ") + ")"
	f.rank = "(" + strings.Join(rank, " + ") + " + 1e-9)"
	return f
}

// score is above zero for what is ranked.
func (f *finding) score(ranked bool) string {
	if !ranked {
		return "0::float8"
	}
	return fmt.Sprintf("CASE WHEN %s THEN 0 ELSE %s END::float8", f.named, f.rank)
}

func (f *finding) order(q canon.SearchQuery, ranked bool) string {
	if !ranks(q) {
		_, by := order(q.Filter.Sort)
		return qualify("c", by)
	}
	if ranked {
		return fmt.Sprintf("%s, %s DESC, c.key, c.id", f.named, f.score(true))
	}
	return fmt.Sprintf("%s, CASE WHEN %[1]s THEN NULL ELSE %s END DESC NULLS LAST, CASE WHEN %[1]s THEN NULL ELSE c.updated END DESC NULLS LAST, c.key, c.id", f.named, f.byName)
}

// asked is a term as SQL.
type asked struct{ match, name, rank string }

// columns are those that a query looks into.
func columns(q canon.SearchQuery) []string {
	switch {
	case q.InName == q.InContent:
		return []string{"d.fname", "d.fbody"}
	case q.InName:
		return []string{"d.fname"}
	}
	return []string{"d.fbody"}
}

// term writes a term.
func (sc *scope) term(t words.Term, q canon.SearchQuery) asked {
	bare := pattern(t)
	text := sc.arg(bare) // of tokens and blanks, in which LIKE finds nothing to interpret
	like := "'%' || " + text + " || '%'"
	var arms, counts []string
	for _, column := range columns(q) {
		arms = append(arms, column+" LIKE "+like)
		// How often the text stands in the column, more in a name than in a body.
		weight := 1
		if column == "d.fname" {
			weight = 10
		}
		counts = append(counts, fmt.Sprintf("%d * ln(1 + (length(%s) - length(replace(%[2]s, %s, '')))::float8 / %d)", weight, column, text, max(1, len([]rune(bare)))))
	}
	x := asked{match: "(" + strings.Join(arms, " OR ") + ")", name: "d.fname LIKE " + like, rank: strings.Join(counts, " + ")}
	if query, ok := lexemes(t, q); ok {
		arg := sc.arg(query)
		x.match = fmt.Sprintf("(d.words @@ %s::tsquery OR d.big AND %s)", arg, x.match)
		x.rank = fmt.Sprintf("ts_rank(d.words, %s::tsquery, 1)", arg)
	}
	return x
}

// pattern is what of a column's tokens, each between blanks, a term stands for.
func pattern(t words.Term) string {
	var b strings.Builder
	for i, p := range t.Row {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i == 0 && (p.How == words.Equal || p.How == words.Begins) {
			b.WriteByte(' ')
		}
		b.WriteString(p.Text)
		if i == len(t.Row)-1 && (p.How == words.Equal || p.How == words.Ends) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// lexemes writes a term of one whole word, or its beginning, as a query for lexemes.
func lexemes(t words.Term, q canon.SearchQuery) (string, bool) {
	if len(t.Row) != 1 {
		return "", false
	}
	p := t.Row[0]
	if p.How != words.Equal && p.How != words.Begins || len(p.Text) > maxLexeme {
		return "", false
	}
	marks := ""
	if p.How == words.Begins {
		marks = "*"
	}
	if q.InName != q.InContent {
		if q.InName {
			marks += "A"
		} else {
			marks += "D"
		}
	}
	if marks != "" {
		marks = ":" + marks
	}
	return "'" + p.Text + "'" + marks, true
}

// literal is the condition that a text stands in a column letter by letter.
func (sc *scope) literal(text string, q canon.SearchQuery) string {
	arg := sc.arg(text)
	var arms []string
	for _, column := range columns(q) {
		arms = append(arms, fmt.Sprintf("strpos(%s, %s) > 0", strings.Replace(column, "d.f", "d.", 1), arg))
	}
	return "(" + strings.Join(arms, " OR ") + ")"
}

// siftedSearch is Search where a glob leaves out names, which the database cannot tell. It
// looks at all hits, and reads the cards of the page.
func (r *reader) siftedSearch(ctx context.Context, sc *scope, ask []words.Term, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	f := newFinding(sc, ask, q)
	n, err := r.sift(ctx, f, q, "c.rid", nil)
	if err != nil {
		return canon.SearchResult{}, err
	}
	out := canon.SearchResult{Total: capped(n), Ranked: ranks(q) && n <= canon.CountCap}
	var rids []int64
	var scores []float64
	at, offset, limit := 0, max(p.Offset, 0), max(p.Limit, 0)
	if _, err = r.sift(ctx, f, q, f.order(q, out.Ranked), func(rid int64, score float64) {
		if at++; at > offset && len(rids) < limit {
			rids, scores = append(rids, rid), append(scores, score)
		}
	}); err != nil {
		return canon.SearchResult{}, err
	}
	cards, err := r.cardsByRow(ctx, sc, rids)
	for i, c := range cards {
		if !out.Ranked {
			scores[i] = 0
		}
		out.Hits = append(out.Hits, canon.Hit{Card: c, Score: scores[i]})
	}
	return out, err
}

// sift counts the hits that a glob leaves, and gives each to f in an order.
func (r *reader) sift(ctx context.Context, f *finding, q canon.SearchQuery, by string, each func(rid int64, score float64)) (n int, err error) {
	err = r.c.query(ctx, func(r row) error {
		if markup.MatchGlob(q.Filter.NotName, r.text(1)) {
			return nil
		}
		n++
		if each != nil {
			each(r.int(0), r.float(2))
		}
		return nil
	}, fmt.Sprintf("SELECT c.rid, c.name, %s%s ORDER BY %s", f.score(true), f.from, by), f.sc.args...)
	return n, err
}
