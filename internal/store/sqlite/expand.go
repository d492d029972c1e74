package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"loregate/internal/canon"
)

const (
	// maxTokens is how many words a piece of a word stands for at most, the most
	// frequent ones: each costs a look-up in the index, some 20 µs, and a little with every hit.
	maxTokens = 100
	// maxCandidates bounds how many words are compared for that.
	maxCandidates = 2000
)

// lookup is a partition as one search sees it.
type lookup struct {
	partition
	r   *reader
	gen int64
}

// lookups gives the partitions of the levels in sight that were ever written to.
func (r *reader) lookups(ctx context.Context, sc scope) (list []lookup, err error) {
	if r.writes != nil {
		if err := r.writes.settle(ctx); err != nil {
			return nil, err
		}
	}
	if sc.top == 0 {
		return nil, nil
	}
	err = r.c.query(ctx, func(row row) error {
		list = append(list, lookup{partition{row.int(0)}, r, row.int(1)})
		return nil
	}, "SELECT part, gen FROM parts WHERE part > ?1 AND part <= ?2 ORDER BY part", sc.w*4, sc.w*4+int64(sc.top))
	return list, err
}

// expression is a search in the words of one partition.
type expression struct {
	full  string // the whole as an FTS5 query; "" where nothing can match
	rare  string // those terms that few enough cards have to rank by; "" for none
	name  string // all terms in the name
	exact int    // how many cards match, where it is one word in any column; else -1
	most  int    // no more cards than this match; -1 where that is not known
	cut   bool   // some words that a piece of a word stands for were left out
	many  bool   // it is one term, and more than canon.CountCap cards have it
}

// expression writes a search for a partition.
func (l lookup) expression(ctx context.Context, ask []term, q canon.SearchQuery) (e expression, err error) {
	e.exact, e.most = -1, -1
	var full, rare, name []string
	wide := false
	for _, t := range ask {
		prefix := ""
		if q.InName && !q.InContent {
			prefix = mark
		}
		x, err := l.term(ctx, t, prefix, len(ask) == 1 && bare(q))
		if err != nil || x.query == "" {
			return expression{}, err
		}
		e.cut = e.cut || x.cut
		full = append(full, x.query)
		if x.sum >= 0 && x.sum <= canon.CountCap {
			rare = append(rare, x.rank)
			wide = wide || x.rank != x.query
			if e.most < 0 || x.sum < e.most {
				e.most = x.sum
			}
		}
		if len(ask) == 1 {
			e.many = x.max > canon.CountCap && (prefix != "" || !q.InContent || q.InName)
			if x.sure && (q.InName || !q.InContent) {
				e.exact = x.max
			}
		}
		name = append(name, markedAs(x.any, prefix))
	}
	e.full = strings.Join(full, " AND ")
	if e.rare = strings.Join(rare, " AND "); wide {
		e.rare = strings.Join(rare, " OR ")
	}
	e.name = strings.Join(name, " AND ")
	if q.InContent && !q.InName {
		e.full, e.name = "{body} : ("+e.full+")", "("+e.name+") AND {body} : ("+e.full+")"
		if e.rare != "" {
			e.rare = "{body} : (" + e.rare + ")"
		}
	}
	return e, nil
}

// bare reports whether nothing narrows a search but its words, and nothing orders it anew.
func bare(q canon.SearchQuery) bool {
	return !q.CaseSensitive && ranks(q) && !q.Filter.Narrows()
}

// markedAs turns a query for words anywhere into one for words in names.
func markedAs(query, prefix string) string {
	if prefix != "" {
		return query
	}
	// Every string of the query is one token in quotes, opened after a blank, a bracket
	// or nothing.
	var b strings.Builder
	inside := false
	for _, r := range query {
		b.WriteRune(r)
		if r == '"' {
			if inside = !inside; inside {
				b.WriteString(mark)
			}
		}
	}
	return b.String()
}

// written is a term as an FTS5 query.
type written struct {
	query string
	any   string // query, or more than it: words that those it was cut to stand for
	rank  string // what to rank by, all of query or its most telling part
	sum   int    // no more cards than this have it; -1 where that is not known
	max   int    // at least this many cards have it
	sure  bool   // max is exactly how many have it
	cut   bool
}

// term writes a term. One that is all that is asked for, and is itself a word of more
// than canon.CountCap cards, is cut to that word: nothing more would be counted.
func (l lookup) term(ctx context.Context, t term, prefix string, alone bool) (x written, err error) {
	defer func() { x.any = cmp.Or(x.any, x.query) }()
	firsts, cut, err := l.firsts(ctx, t.row[0], prefix)
	if err != nil || len(firsts) == 0 {
		return written{}, err
	}
	x = written{cut: cut, sum: -1}
	if alone && len(t.row) == 1 && len(firsts) > 1 && slices.Contains(firsts, t.row[0].text) {
		n, err := l.frequency(ctx, prefix+t.row[0].text)
		if err != nil {
			return written{}, err
		}
		if n > canon.CountCap {
			word := anyOf([]string{t.row[0].text}, prefix, "")
			return written{query: word, any: anyOf(firsts, prefix, ""), rank: word, sum: n, max: n, cut: true}, nil
		}
	}
	if len(t.row) > 1 {
		return l.row(ctx, x, t, firsts, prefix)
	}
	if t.row[0].how == begins {
		// A prefix of one or two letters stands for too many words to name them.
		x.query = "(" + quote(prefix+t.row[0].text) + " *)"
		x.rank = x.query
		return x, nil
	}
	x.query = anyOf(firsts, prefix, "")
	x.rank = x.query
	x.sum = 0
	seen := make([]frequent, len(firsts))
	for i, token := range firsts {
		n, err := l.frequency(ctx, prefix+token)
		if err != nil {
			return written{}, err
		}
		seen[i] = frequent{token, n}
		if token == t.row[0].text {
			seen[i].n = math.MaxInt // the word itself is ranked by before those it is inside of
		}
		x.sum += n
		x.max = max(x.max, n)
	}
	if len(firsts) > maxRanked {
		slices.SortFunc(seen, byFrequency)
		firsts = firsts[:0]
		for _, f := range seen[:maxRanked] {
			firsts = append(firsts, f.token)
		}
		x.rank = anyOf(firsts, prefix, "")
	}
	x.sure = len(seen) == 1
	return x, nil
}

// maxEnds and maxStarts are how many words the first and the last piece of a row stand for
// at most: there is a look-up for each pair. FTS5 has prefixes too, but merges all words
// of one anew for each alternative, which takes seconds.
const (
	maxEnds   = 32
	maxStarts = 12
)

// row writes a term of several tokens: any that the first piece stands for, the middle as
// it is, any that the last piece stands for.
func (l lookup) row(ctx context.Context, x written, t term, firsts []string, prefix string) (written, error) {
	last := len(t.row) - 1
	middle := ""
	for _, p := range t.row[1:last] {
		middle += " + " + quote(prefix+p.text)
	}
	lasts := []string{t.row[last].text}
	if t.row[last].how == begins {
		var err error
		if lasts, err = l.starting(ctx, lasts[0]); err != nil {
			return written{}, err
		}
		if firsts, x.cut, err = l.mostFrequent(ctx, firsts, prefix, maxEnds, x.cut); err != nil {
			return written{}, err
		}
		if lasts, x.cut, err = l.mostFrequent(ctx, lasts, prefix, maxStarts, x.cut); err != nil {
			return written{}, err
		}
	}
	if len(firsts) == 0 || len(lasts) == 0 {
		return written{}, nil
	}
	rows := make([]string, len(lasts))
	for i, token := range lasts {
		rows[i] = anyOf(firsts, prefix, middle+" + "+quote(prefix+token))
	}
	x.query = "(" + strings.Join(rows, " OR ") + ")"
	x.rank = x.query
	return l.bound(ctx, x, t, prefix)
}

// starting gives the tokens that begin with a text.
func (l lookup) starting(ctx context.Context, text string) (list []string, err error) {
	err = l.r.c.query(ctx, func(row row) error { list = append(list, row.text(0)); return nil },
		"SELECT token FROM tokens WHERE part = ?1 AND token >= ?2 AND token < ?3 ORDER BY token LIMIT ?4", l.n, text, text+"\U0010ffff", maxCandidates)
	return list, err
}

// maxRanked is how many of the words that a piece of a word stands for take part in its
// rank: FTS5 looks at each of them for each hit.
const maxRanked = 8

// anyOf is the query for any of some tokens, each with the rest of its row.
func anyOf(tokens []string, prefix, rest string) string {
	quoted := make([]string, len(tokens))
	for i, token := range tokens {
		quoted[i] = quote(prefix+token) + rest
	}
	return "(" + strings.Join(quoted, " OR ") + ")"
}

type frequent struct {
	token string
	n     int
}

func byFrequency(a, b frequent) int {
	return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.token, b.token))
}

// bound finds how many cards have a row of tokens at most: as many as have its rarest
// whole one.
func (l lookup) bound(ctx context.Context, x written, t term, prefix string) (written, error) {
	for _, p := range t.row {
		if p.how != equal {
			continue
		}
		n, err := l.frequency(ctx, prefix+p.text)
		if err != nil {
			return written{}, err
		}
		if x.sum < 0 || n < x.sum {
			x.sum = n
		}
	}
	return x, nil
}

// firsts gives the tokens that the first piece of a term stands for.
func (l lookup) firsts(ctx context.Context, p piece, prefix string) (list []string, cut bool, err error) {
	var run string
	switch p.how {
	case equal, begins:
		return []string{p.text}, false, nil
	case inside:
		run = p.text
	case ends:
		run = p.text + nameEnd
	}
	err = l.r.c.query(ctx, func(row row) error { list = append(list, row.text(0)); return nil },
		"SELECT t.token FROM "+l.tokens()+" v CROSS JOIN tokens t ON t.id = v.rowid WHERE v."+l.tokens()+" MATCH ?1 LIMIT ?2", quote(run), maxCandidates)
	if err != nil {
		return nil, false, err
	}
	return l.mostFrequent(ctx, list, prefix, maxTokens, false)
}

// mostFrequent gives those of a list of tokens that most cards have, most at the most, and
// whether any were left out now or before.
func (l lookup) mostFrequent(ctx context.Context, list []string, prefix string, most int, before bool) ([]string, bool, error) {
	if len(list) <= most {
		return list, before, nil
	}
	counted := make([]frequent, 0, len(list))
	for _, token := range list {
		n, err := l.frequency(ctx, prefix+token)
		if err != nil {
			return nil, false, err
		}
		if n > 0 {
			counted = append(counted, frequent{token, n})
		}
	}
	slices.SortFunc(counted, byFrequency)
	kept := make([]string, min(most, len(counted)))
	for i := range kept {
		kept[i] = counted[i].token
	}
	return kept, before || len(counted) > most, nil
}

// countCache remembers how many cards of a partition have a term, and when that was
// counted. A later count differs by no more than the cards indexed since.
type countCache struct {
	mu sync.Mutex // guards counts
	m  map[counted]count
}

type counted struct {
	part int64
	term string
}

type count struct {
	n   int
	gen int64
}

// maxCounts bounds the cache, to some 20 MB.
const maxCounts = 200_000

// frequency is how many cards have a term: exact, except that any number above
// canon.CountCap says no more than that it is above.
func (l lookup) frequency(ctx context.Context, term string) (int, error) {
	key := counted{l.n, term}
	cache := &l.r.s.known.counts
	if l.r.writes == nil {
		cache.mu.Lock()
		c, ok := cache.m[key]
		cache.mu.Unlock()
		if ok && (c.gen == l.gen || c.gen < l.gen && int64(c.n)-(l.gen-c.gen) > canon.CountCap) {
			return c.n, nil
		}
	}
	n, err := l.r.c.number(ctx, "SELECT doc FROM "+l.terms()+" WHERE term = ?1", term)
	if err == nil && l.r.writes == nil {
		cache.put(key, count{int(n), l.gen})
	}
	return int(n), err
}

func (c *countCache) put(k counted, v count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxCounts {
		c.m = make(map[counted]count)
	}
	c.m[k] = v
}

// matches counts what an expression finds, to one more than canon.CountCap.
func (l lookup) matches(ctx context.Context, e expression) (int, error) {
	switch {
	case e.full == "":
		return 0, nil
	case e.many:
		return canon.CountCap + 1, nil
	case e.exact >= 0:
		return e.exact, nil
	}
	n, err := l.r.c.number(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT rowid FROM %s WHERE %[1]s MATCH ?1 LIMIT %d)", l.text(), canon.CountCap+1), e.full)
	return int(n), err
}
