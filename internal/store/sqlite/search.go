package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/canon"
)

// Search finds cards by their words. Each partition in sight is asked for itself, and the
// answers are merged; what is in sight only by naming the subject follows, by name, found
// in its own text without help of any partition.
func (r *reader) Search(ctx context.Context, s canon.Sight, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	none := canon.SearchResult{Ranked: ranks(q)}
	sc, ok, err := r.scope(ctx, s)
	ask := terms(q)
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
	f, err := r.finding(ctx, sc, ask, q)
	if err != nil {
		return none, err
	}
	if f.named, err = f.byNaming(ctx); err != nil {
		return none, err
	}
	p.Offset, p.Limit = max(p.Offset, 0), max(p.Limit, 0)
	switch {
	case !ranks(q):
		return f.sorted(ctx, p)
	case q.CaseSensitive:
		return f.asTyped(ctx, p)
	}
	return f.plain(ctx, p)
}

func ranks(q canon.SearchQuery) bool {
	return q.Filter.Sort == "" || q.Filter.Sort == canon.SortRank
}

// finding is one search under way.
type finding struct {
	r      *reader
	sc     scope
	ask    []term
	q      canon.SearchQuery
	filter *listing
	kinds  *listing // the filter as docs have it, where it asks for types alone; else nil
	parts  []part
	cut    bool
	named  []canon.Card
}

type part struct {
	lookup
	expression
}

func (r *reader) finding(ctx context.Context, sc scope, ask []term, q canon.SearchQuery) (*finding, error) {
	f := &finding{r: r, sc: sc, ask: ask, q: q}
	var err error
	if f.filter, err = r.filter(ctx, sc, q.Filter); err != nil {
		return nil, err
	}
	if onlyTypes(q.Filter) {
		f.kinds = &listing{}
		f.kinds.typed("d.kind", q.Filter)
	}
	list, err := r.lookups(ctx, sc)
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		e, err := l.expression(ctx, ask, q)
		if err != nil {
			return nil, err
		}
		f.cut = f.cut || e.cut
		if e.full != "" {
			f.parts = append(f.parts, part{l, e})
		}
	}
	return f, nil
}

// onlyTypes reports whether a filter narrows to types and by nothing else.
func onlyTypes(f canon.Filter) bool {
	typed := f.Type != "" || len(f.Types) > 0
	f.Type, f.Types = "", nil
	return typed && !f.Narrows()
}

// hit is a document found.
type hit struct {
	doc   int64
	score float64
	card  *canon.Card // where it was read already
}

// plain answers a search by rank whose hits are what the words and the filter give.
func (f *finding) plain(ctx context.Context, p canon.Page) (canon.SearchResult, error) {
	n, err := f.bound(ctx)
	if err != nil {
		return canon.SearchResult{}, err
	}
	var hits []hit
	ranked := n <= f.most() && f.rankable()
	if ranked {
		if hits, err = f.scored(ctx); err == nil {
			n = len(hits)
			err = f.orderTies(ctx, hits, p)
		}
	} else {
		hits, err = f.recent(ctx, p.Offset+p.Limit)
	}
	if err != nil {
		return canon.SearchResult{}, err
	}
	return f.result(ctx, hits, n, ranked, p)
}

// most is how many hits are ranked at most.
func (f *finding) most() int { return min(cmp.Or(f.q.RankCap, canon.CountCap), canon.CountCap) }

// bound is how many cards match: more than canon.CountCap, or exactly, or, where all of
// them will be ranked and so be counted anyway, no less than there are.
func (f *finding) bound(ctx context.Context) (n int, err error) {
	if f.rankable() {
		for _, p := range f.parts {
			if p.most < 0 {
				n = canon.CountCap + 1
				break
			}
			n += p.most
		}
		if n <= f.most() {
			return n, nil
		}
	}
	n = 0
	for _, part := range f.parts {
		m, err := f.matches(ctx, part)
		if n += m; err != nil || n > canon.CountCap {
			return n, err
		}
	}
	return n, nil
}

// matches counts a partition's hits that pass the filter, to one more than canon.CountCap.
func (f *finding) matches(ctx context.Context, p part) (int, error) {
	if len(f.filter.where) == 0 {
		return p.matches(ctx, p.expression)
	}
	from, args := f.sieved(p, p.full)
	n, err := f.r.c.number(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT 1%s LIMIT %d)", from, canon.CountCap+1), args...)
	return int(n), err
}

// rankable reports whether every partition has a term to rank by.
func (f *finding) rankable() bool {
	return !slices.ContainsFunc(f.parts, func(p part) bool { return p.rare == "" && p.common() })
}

// common reports whether ranking by the whole expression would walk lists longer than
// canon.CountCap. Prefixes and rows, whose numbers are not known, are ranked as they are.
func (e expression) common() bool { return e.many }

// unscored is the score of a hit by words that no rank is made of.
const unscored = 1e-9

// scored gives all hits with their scores, best first, then the latest.
func (f *finding) scored(ctx context.Context) ([]hit, error) {
	var hits []hit
	for _, p := range f.parts {
		rank := p.full
		if p.rare != "" {
			rank = p.rare
		}
		from, args := f.sieved(p, p.full)
		if rank == p.full {
			if err := f.r.c.query(ctx, func(row row) error {
				hits = append(hits, hit{doc: row.int(0), score: max(-row.float(1), unscored)})
				return nil
			}, fmt.Sprintf("SELECT f.rowid, bm25(%s, 10.0, 1.0)%s", p.text(), from), args...); err != nil {
				return nil, err
			}
			continue
		}
		at := map[int64]int{}
		if err := f.r.c.query(ctx, func(row row) error {
			at[row.int(0)] = len(hits)
			hits = append(hits, hit{doc: row.int(0), score: unscored})
			return nil
		}, "SELECT f.rowid"+from, args...); err != nil {
			return nil, err
		}
		if err := f.rank(ctx, p, rank, at, hits); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.doc, a.doc)) })
	return hits, nil
}

// rank scores those hits of a partition that have what is ranked by; at is the place of
// each. What is ranked by may be said of many more documents, whose scores cost most: they
// are sieved before.
func (f *finding) rank(ctx context.Context, p part, by string, at map[int64]int, hits []hit) error {
	docs, err := json.Marshal(slices.Collect(maps.Keys(at)))
	if err != nil || len(at) == 0 {
		return err
	}
	return f.r.c.query(ctx, func(row row) error {
		hits[at[row.int(0)]].score = max(-row.float(1), unscored)
		return nil
	}, fmt.Sprintf("SELECT rowid, bm25(%s, 10.0, 1.0) FROM %[1]s WHERE %[1]s MATCH ?1 AND +rowid IN (SELECT value FROM json_each(?2))", p.text()), by, string(docs))
}

// orderTies puts hits of one score in order of key and id, as far as a page shows them.
func (f *finding) orderTies(ctx context.Context, hits []hit, p canon.Page) error {
	for at := 0; at < len(hits) && at < p.Offset+p.Limit; {
		end := at + 1
		for end < len(hits) && hits[end].score == hits[at].score {
			end++
		}
		if end > p.Offset && end-at > 1 {
			if err := f.orderByKey(ctx, hits[at:end]); err != nil {
				return err
			}
		}
		at = end
	}
	return nil
}

func (f *finding) orderByKey(ctx context.Context, hits []hit) error {
	type position struct {
		key string
		id  []byte
	}
	places := make(map[int64]position, len(hits))
	for _, h := range hits {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := f.r.c.one(context.Background(), func(r row) error {
			places[h.doc] = position{r.text(0), r.bytes(1)}
			return nil
		}, "SELECT c.key, c.id FROM docs d CROSS JOIN cards c ON c.w = d.w AND c.id = d.card WHERE d.doc = ?1", h.doc); err != nil {
			return err
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(places[a.doc].key, places[b.doc].key), bytes.Compare(places[a.doc].id, places[b.doc].id))
	})
	return nil
}

// recent gives the first hits in the order of name match, then recency.
func (f *finding) recent(ctx context.Context, n int) ([]hit, error) {
	inName, err := f.latest(ctx, n, func(p part) string { return p.name })
	if err != nil || len(inName) >= n {
		return inName, err
	}
	skip := make(map[int64]struct{}, len(inName))
	for _, h := range inName {
		skip[h.doc] = struct{}{}
	}
	all, err := f.latest(ctx, n, func(p part) string { return p.full })
	for _, h := range all {
		if _, ok := skip[h.doc]; !ok {
			inName = append(inName, h)
		}
	}
	return inName[:min(n, len(inName))], err
}

func (f *finding) latest(ctx context.Context, n int, query func(part) string) (hits []hit, err error) {
	for _, p := range f.parts {
		from, args := f.sieved(p, query(p))
		if err := f.r.c.query(ctx, func(row row) error {
			hits = append(hits, hit{doc: row.int(0)})
			return nil
		}, fmt.Sprintf("SELECT f.rowid%s ORDER BY f.rowid DESC LIMIT %d", from, n), args...); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(b.doc, a.doc) })
	return hits[:min(n, len(hits))], nil
}

// result reads the cards of a page out of ordered hits, of which there are n in all, and
// lets those seen by naming follow.
func (f *finding) result(ctx context.Context, hits []hit, n int, ranked bool, p canon.Page) (canon.SearchResult, error) {
	out := canon.SearchResult{Ranked: ranked, Total: capped(n + len(f.named))}
	out.Total.AtLeast = out.Total.AtLeast || f.cut
	for _, h := range hits[min(p.Offset, len(hits)):min(p.Offset+p.Limit, len(hits))] {
		if h.card == nil {
			c, ok, err := first(f.r.cards(ctx, f.sc.id, "SELECT "+cardColumns+
				" FROM docs d CROSS JOIN cards c ON c.w = d.w AND c.id = d.card WHERE d.doc = ?1", h.doc))
			if err != nil {
				return canon.SearchResult{}, err
			}
			if !ok {
				continue
			}
			h.card = &c
		}
		out.Hits = append(out.Hits, canon.Hit{Card: *h.card, Score: h.score})
	}
	// Where more than CountCap hits come first, n is not their number; then nobody pages
	// to what follows them.
	if n <= canon.CountCap {
		for i, c := range f.named {
			if at := n + i; at >= p.Offset && at < p.Offset+p.Limit {
				out.Hits = append(out.Hits, canon.Hit{Card: c})
			}
		}
	}
	return out, nil
}

// byNaming gives the cards that are in sight only by naming the subject and match, by
// key. They are few: those shared with one person.
func (f *finding) byNaming(ctx context.Context) ([]canon.Card, error) {
	if f.sc.subject == "" {
		return nil, nil
	}
	type shared struct {
		card       cardRow
		name, text string
	}
	var found []shared
	err := f.r.c.query(ctx, func(row row) error {
		c, err := scanCard(row)
		s := shared{c, row.text(cardWidth), row.text(cardWidth + 1)}
		columns := columnsOf(f.q, s.name, s.text)
		if err == nil && allIn(f.ask, columns...) && (!f.q.CaseSensitive || spelt(f.ask, columns...)) {
			found = append(found, s)
		}
		return err
	}, fmt.Sprintf(`SELECT %s, x.name, x.text FROM docs d INDEXED BY docs_named CROSS JOIN doc_texts x ON x.doc = d.doc
		CROSS JOIN cards c ON c.w = d.w AND c.id = d.card
		WHERE d.label > 0 AND d.label IN %s AND d.w = ?1 AND d.part & 3 > %d AND c.trashed = 0 AND %s%s ORDER BY c.key, c.id`,
		cardColumns, named, f.sc.top, f.sc.sees("c"), f.filter.condition()), f.sc.args(f.filter.args...)...)
	if err != nil {
		return nil, err
	}
	list := make([]canon.Card, len(found))
	for i, s := range found {
		if list[i], err = f.r.finish(ctx, f.sc.id, s.card); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// sieved is the FROM of a partition's hits for a query that pass the filter, and its
// arguments. Types stand in docs, which spares looking at the cards.
func (f *finding) sieved(p part, query string) (from string, args []any) {
	filter, from := f.filter, " FROM %s f WHERE f.%[1]s MATCH ?%d%s"
	switch {
	case f.kinds != nil:
		filter, from = f.kinds, " FROM %s f CROSS JOIN docs d ON d.doc = f.rowid WHERE f.%[1]s MATCH ?%d%s"
	case len(f.filter.where) > 0:
		n := len(filter.args)
		return f.joined(p, fmt.Sprintf("?%d", n+3)), f.sc.args(append(filter.args[:n:n], query)...)
	}
	n := len(filter.args)
	return fmt.Sprintf(from, p.text(), n+3, filter.condition()), f.sc.args(append(filter.args[:n:n], query)...)
}

// joined is the FROM of a partition's hits with their cards, through the filter.
func (f *finding) joined(p part, match string) string {
	return fmt.Sprintf(` FROM %s f CROSS JOIN docs d ON d.doc = f.rowid CROSS JOIN cards c ON c.w = d.w AND c.id = d.card
		WHERE f.%[1]s MATCH %s AND c.trashed = 0 AND %s%s`, p.text(), match, f.sc.sees("c"), f.filter.condition())
}

// verified reports whether a hit is spelt as typed, in the text that was indexed.
func (f *finding) verified(ctx context.Context, doc int64, c canon.Card) (bool, error) {
	if !f.q.CaseSensitive {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	d, _, err := f.r.document(context.Background(), doc, nil, c)
	return spelt(f.ask, columnsOf(f.q, d.Name, d.Text)...), err
}

// asTyped answers a search whose hits must be spelt as typed. It looks at canon.CountCap
// hits and no further.
func (f *finding) asTyped(ctx context.Context, p canon.Page) (canon.SearchResult, error) {
	pass := map[int64]*canon.Card{}
	for _, part := range f.parts {
		if err := f.pass(ctx, part, pass); err != nil {
			return canon.SearchResult{}, err
		}
	}
	n := len(pass)
	ranked := n <= canon.CountCap && f.rankable()
	var hits []hit
	var err error
	if ranked {
		hits, err = f.scored(ctx)
	} else {
		hits, err = f.byName(ctx, pass)
	}
	if err != nil {
		return canon.SearchResult{}, err
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { _, ok := pass[h.doc]; return !ok })
	if ranked {
		if err := f.orderTies(ctx, hits, p); err != nil {
			return canon.SearchResult{}, err
		}
	}
	return f.result(ctx, hits, n, ranked, p)
}

// pass gathers a partition's hits that pass, the latest first.
func (f *finding) pass(ctx context.Context, p part, pass map[int64]*canon.Card) error {
	l := f.filter
	n := len(l.args)
	order := fmt.Sprintf(" ORDER BY f.rowid DESC LIMIT %d", canon.CountCap+1-min(len(pass), canon.CountCap))
	type read struct {
		doc  int64
		card cardRow
	}
	var found []read
	err := f.r.c.query(ctx, func(row row) error {
		c, err := scanCard(row)
		found = append(found, read{row.int(cardWidth), c})
		return err
	}, "SELECT "+cardColumns+", f.rowid"+f.joined(p, fmt.Sprintf("?%d", n+3))+order, f.sc.args(append(l.args[:n:n], p.full)...)...)
	if err != nil {
		return err
	}
	f.cut = f.cut || len(found) > canon.CountCap
	for _, x := range found {
		c, err := f.r.finish(ctx, f.sc.id, x.card)
		if err != nil {
			return err
		}
		ok, err := f.verified(ctx, x.doc, c)
		if err != nil {
			return err
		}
		if ok {
			pass[x.doc] = &c
		}
	}
	return nil
}

// byName orders what passed by name match, then recency.
func (f *finding) byName(ctx context.Context, pass map[int64]*canon.Card) ([]hit, error) {
	inName, err := f.latest(ctx, canon.CountCap, func(p part) string { return p.name })
	if err != nil {
		return nil, err
	}
	first := map[int64]int{}
	for _, h := range inName {
		first[h.doc] = 1
	}
	hits := make([]hit, 0, len(pass))
	for doc, c := range pass {
		hits = append(hits, hit{doc: doc, card: c})
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(first[b.doc]-first[a.doc], cmp.Compare(b.doc, a.doc)) })
	return hits, nil
}

// sorted answers a search in the order of a listing.
func (f *finding) sorted(ctx context.Context, p canon.Page) (canon.SearchResult, error) {
	columns, order := orders(f.q.Filter.Sort)
	args := slices.Clone(f.filter.args)
	var arms []string
	for _, part := range f.parts {
		args = append(args, part.full)
		arms = append(arms, "SELECT "+columns+", d.doc"+f.joined(part, fmt.Sprintf("?%d", len(args)+2)))
	}
	var hits []place
	if len(arms) > 0 {
		if err := f.r.c.query(ctx, func(row row) error { hits = append(hits, place{row.int(0), row.int(1)}); return nil },
			"SELECT rid, doc FROM ("+strings.Join(arms, " UNION ALL ")+") ORDER BY "+order, f.sc.args(args...)...); err != nil {
			return canon.SearchResult{}, err
		}
	}
	cards, n, err := f.spelled(ctx, hits, p)
	if err != nil {
		return canon.SearchResult{}, err
	}
	if cards = append(cards, f.named...); len(f.named) > 0 {
		slices.SortStableFunc(cards, comparing(f.q.Filter.Sort))
	}
	out := canon.SearchResult{Total: capped(n + len(f.named))}
	out.Total.AtLeast = out.Total.AtLeast || f.cut
	for _, c := range cards[min(p.Offset, len(cards)):min(p.Offset+p.Limit, len(cards))] {
		out.Hits = append(out.Hits, canon.Hit{Card: c})
	}
	return out, nil
}

// place is a card's row and its document's.
type place struct{ rid, doc int64 }

// spelled reads the cards of sorted hits as far as a page needs them, and counts them. For
// a case-sensitive search those are the ones spelt as typed, of the first canon.CountCap.
func (f *finding) spelled(ctx context.Context, hits []place, p canon.Page) (cards []canon.Card, n int, err error) {
	n = len(hits)
	upTo := p.Offset + p.Limit // nothing named that is to be shown comes later than this
	if f.q.CaseSensitive {
		upTo = canon.CountCap
		f.cut = f.cut || n > upTo
	}
	for _, h := range hits[:min(n, upTo)] {
		list, err := f.r.cardsByRow(ctx, f.sc.id, []int64{h.rid})
		if err != nil {
			return nil, 0, err
		}
		for _, c := range list {
			ok, err := f.verified(ctx, h.doc, c)
			if err != nil {
				return nil, 0, err
			}
			if ok {
				cards = append(cards, c)
			}
		}
	}
	if f.q.CaseSensitive {
		n = len(cards)
	}
	return cards, n, nil
}

// comparing orders cards as a listing does.
func comparing(s canon.Sort) func(a, b canon.Card) int {
	return func(a, b canon.Card) int {
		at := 0
		switch s {
		case canon.SortUpdated:
			at = b.UpdatedAt.Compare(a.UpdatedAt)
		case canon.SortCreated:
			at = b.CreatedAt.Compare(a.CreatedAt)
		case canon.SortField:
			at = cmp.Compare(a.SortValue(), b.SortValue())
		}
		return cmp.Or(at, cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
	}
}
