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
	n, err := r.total(ctx, "SELECT 1"+f.from, sc.args...)
	if err != nil || n.Count == 0 {
		none.Total = n
		return none, err
	}
	out := canon.SearchResult{Total: n, Ranked: ranks(q) && !n.AtLeast}
	if ranks(q) && n.AtLeast {
		out.Hits, err = r.latest(ctx, f, p)
	} else {
		out.Hits, err = r.hits(ctx, f, q, p)
	}
	return out, err
}

// hits gives a page of the hits that are ranked, or sorted as a listing.
func (r *reader) hits(ctx context.Context, f *finding, q canon.SearchQuery, p canon.Page) ([]canon.Hit, error) {
	sc := f.sc.with()
	return r.scored(ctx, sc, fmt.Sprintf(`WITH hits AS MATERIALIZED (SELECT c.rid, c.key, c.id, c.updated, c.created, c.sort, %s AS named, %s AS score%s)
		SELECT %s, o.score FROM (SELECT * FROM hits c ORDER BY %s%s) o JOIN cards c ON c.rid = o.rid ORDER BY %s`,
		f.named, f.score(ranks(q)), f.from, cardColumns, f.order(q, "c"), sc.page(p), f.order(q, "o")))
}

// latest gives a page of more hits than are ranked: those whose name matches, then the
// others, each with the latest first. The others are met by walking the cards by time, of
// which few have to be looked at, for many match; those seen only by being named come
// after all of them, where nobody pages to.
func (r *reader) latest(ctx context.Context, f *finding, p canon.Page) ([]canon.Hit, error) {
	upTo := canon.Page{Limit: max(p.Limit, 0) + max(p.Offset, 0)}
	sc := f.sc.with()
	list, err := r.scored(ctx, sc, fmt.Sprintf("SELECT %s, 0::float8%s AND NOT %s AND %s ORDER BY c.updated DESC, c.key, c.id%s",
		cardColumns, f.from, f.named, f.byName, sc.page(upTo)))
	if err != nil {
		return nil, err
	}
	if rest := upTo.Limit - len(list); rest > 0 {
		sc := f.sc.with()
		arms := make([]string, 0, 3)
		for l := access.LevelUser; l <= sc.top; l++ {
			arms = append(arms, fmt.Sprintf("(SELECT %s, d.level AS dlevel FROM cards c CROSS JOIN LATERAL (SELECT d.level FROM docs d WHERE d.w = c.w AND d.card = c.id AND %s AND NOT %s AND NOT %s AND %s OFFSET 0) d WHERE c.w = %s AND c.level = %d AND c.trashed = 0%s ORDER BY c.updated DESC, c.key, c.id%s)",
				cardColumns, f.match, f.byName, f.named, sc.sees("d"), sc.w, l, f.filter, sc.page(canon.Page{Limit: rest})))
		}
		more, err := r.scored(ctx, sc, "SELECT * FROM ("+strings.Join(arms, " UNION ALL ")+") c ORDER BY c.updated DESC, c.key, c.id"+sc.page(canon.Page{Limit: rest}))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	for i := range list {
		list[i].Score = 0
	}
	return list[min(max(p.Offset, 0), len(list)):], nil
}

// scored runs a query of cards with a score.
func (r *reader) scored(ctx context.Context, sc *scope, query string) (list []canon.Hit, err error) {
	var scores []float64
	cards, err := r.cardsAnd(ctx, sc.id, func(r row) { scores = append(scores, r.float(0)) }, query, sc.args...)
	for i, c := range cards {
		list = append(list, canon.Hit{Card: c, Score: scores[i]})
	}
	return list, err
}

func ranks(q canon.SearchQuery) bool {
	return q.Filter.Sort == "" || q.Filter.Sort == canon.SortRank
}

// finding is one search as SQL, on the aliases d of docs and c of cards.
type finding struct {
	sc     *scope
	from   string // of all hits, with all conditions
	match  string // that a document has all that is asked for
	filter string // that its card passes, after other conditions
	named  string // that a hit is in sight only by naming the subject
	byName string // that the name alone matches
	rank   string // of a hit
}

func newFinding(sc *scope, ask []words.Term, q canon.SearchQuery) *finding {
	f := &finding{sc: sc, named: "(d.level > " + digits(max(sc.top, 0)) + ")", filter: sc.filter(q.Filter)}
	var match, whole, long, inName, rank []string
	for _, t := range ask {
		x := sc.term(t, q)
		inName = append(inName, x.name)
		if query, ok := lexemes(t, q); ok {
			whole, long = append(whole, query), append(long, x.match)
			continue
		}
		match, rank = append(match, x.match), append(rank, x.rank)
		if q.CaseSensitive {
			match = append(match, sc.literal(t.Literal, q))
		}
	}
	if len(whole) > 0 {
		query := sc.arg(strings.Join(whole, " & "))
		match = append(match, fmt.Sprintf("(d.words @@ %s::tsquery OR d.big AND %s)", query, strings.Join(long, " AND ")))
		rank = append(rank, fmt.Sprintf("ts_rank(d.words, %s::tsquery, 1)", query))
	}
	if q.CaseSensitive {
		for _, t := range ask {
			if _, ok := lexemes(t, q); ok {
				match = append(match, sc.literal(t.Literal, q))
			}
		}
	}
	f.match = strings.Join(match, " AND ")
	f.byName = "(" + strings.Join(inName, " AND ") + ")"
	f.rank = "(" + strings.Join(rank, " + ") + " + 1e-9)"
	// + 0: the world's own index has all of its documents, and is kept from being thought of.
	f.from = fmt.Sprintf(" FROM docs d JOIN cards c ON c.w = d.w AND c.id = d.card WHERE d.w + 0 = %s AND %s AND %s AND %s%s",
		sc.w, f.match, sc.sees("d"), sc.living("c"), f.filter)
	return f
}

// score is above zero for what is ranked.
func (f *finding) score(ranked bool) string {
	if !ranked {
		return "0::float8"
	}
	return fmt.Sprintf("CASE WHEN %s THEN 0 ELSE %s END::float8", f.named, f.rank)
}

// order is that of hits by what is kept of them.
func (f *finding) order(q canon.SearchQuery, alias string) string {
	if !ranks(q) {
		_, by := order(q.Filter.Sort)
		return qualify(alias, by)
	}
	return fmt.Sprintf("%[1]s.named, %[1]s.score DESC, %[1]s.key, %[1]s.id", alias)
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
	return asked{match: "(" + strings.Join(arms, " OR ") + ")", name: "d.fname LIKE " + like, rank: strings.Join(counts, " + ")}
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
// looks at all hits, and reads the cards of the page. Above canon.CountCap they stay in
// the order of their scores, which are not told.
func (r *reader) siftedSearch(ctx context.Context, sc *scope, ask []words.Term, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	f := newFinding(sc, ask, q)
	type hit struct {
		rid   int64
		score float64
	}
	var all []hit
	at := sc.with()
	err := r.c.query(ctx, func(r row) error {
		if !markup.MatchGlob(q.Filter.NotName, r.text(1)) {
			all = append(all, hit{r.int(0), r.float(2)})
		}
		return nil
	}, fmt.Sprintf(`WITH hits AS MATERIALIZED (SELECT c.rid, c.name, c.key, c.id, c.updated, c.created, c.sort, %s AS named, %s AS score%s)
		SELECT c.rid, c.name, c.score FROM hits c ORDER BY %s`, f.named, f.score(ranks(q)), f.from, f.order(q, "c")), at.args...)
	if err != nil {
		return canon.SearchResult{}, err
	}
	out := canon.SearchResult{Total: capped(len(all)), Ranked: ranks(q) && len(all) <= canon.CountCap}
	var rids []int64
	page := all[min(max(p.Offset, 0), len(all)):]
	page = page[:min(max(p.Limit, 0), len(page))]
	for _, h := range page {
		rids = append(rids, h.rid)
	}
	cards, err := r.cardsByRow(ctx, sc, rids)
	for i, c := range cards {
		h := canon.Hit{Card: c}
		if out.Ranked {
			h.Score = page[i].score
		}
		out.Hits = append(out.Hits, h)
	}
	return out, err
}
