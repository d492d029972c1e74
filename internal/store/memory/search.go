package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// term is one search term: conditions on consecutive tokens of one column. If literal is set, a
// column must also contain that text.
type term struct {
	row     []func(string) bool
	literal string
}

// parseTerms returns the terms of a search, all of which a document must have.
func parseTerms(q canon.SearchQuery) []term {
	var out []term
	switch q.Mode {
	case canon.MatchPhrase:
		var row []func(string) bool
		for _, t := range splitTokens(q.Q) {
			row = append(row, isToken(t))
		}
		if len(row) > 0 {
			out = append(out, term{row, strings.TrimSpace(q.Q)})
		}
	case canon.MatchStem:
		for _, word := range strings.Fields(q.Q) {
			for _, t := range splitTokens(word) {
				out = append(out, term{[]func(string) bool{hasStemOf(q.Language, t)}, strings.TrimRight(word, "*")})
			}
		}
	case canon.MatchWord:
		for _, word := range strings.Fields(q.Q) {
			out = append(out, wholeWord(word)...)
		}
	default:
		for _, word := range strings.Fields(q.Q) {
			if row := partOfWord(splitTokens(word)); row != nil {
				out = append(out, term{row, strings.TrimRight(word, "*")})
			}
		}
	}
	if !q.CaseSensitive {
		for i := range out {
			out[i].literal = ""
		}
	}
	return out
}

// wholeWord returns a term for each token of a word; a '*' at its end makes the last one a prefix.
func wholeWord(word string) []term {
	literal := strings.TrimRight(word, "*")
	var out []term
	for _, t := range splitTokens(word) {
		out = append(out, term{[]func(string) bool{isToken(t)}, literal})
	}
	if n := len(out); n > 0 && literal != word {
		out[n-1].row[0] = beginsWith(splitTokens(word)[n-1])
	}
	return out
}

// partOfWord returns the conditions that find a word inside a token, or across tokens.
func partOfWord(pieces []string) []func(string) bool {
	switch n := len(pieces); {
	case n == 0:
		return nil
	case n == 1 && utf8.RuneCountInString(pieces[0]) < 3:
		return []func(string) bool{beginsWith(pieces[0])}
	case n == 1:
		return []func(string) bool{containsText(pieces[0])}
	default:
		row := []func(string) bool{endsWith(pieces[0])}
		for _, p := range pieces[1 : n-1] {
			row = append(row, isToken(p))
		}
		return append(row, beginsWith(pieces[n-1]))
	}
}

// isIn reports whether any of the columns has a term.
func (t term) isIn(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return hasRow(splitTokens(c), t.row) }) &&
		slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, t.literal) })
}

// countMatches returns the number of occurrences of a term.
func (t term) countMatches(columns []string) (n int) {
	for _, c := range columns {
		text := splitTokens(c)
		for at := range text {
			if at+len(t.row) <= len(text) && fitsRow(text[at:], t.row) {
				n++
			}
		}
	}
	return n
}

func allIn(ask []term, columns ...string) bool {
	return !slices.ContainsFunc(ask, func(t term) bool { return !t.isIn(columns) })
}

func (r reader) Search(_ context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	if q.Mode == canon.MatchRelevance {
		return r.searchRelevant(s, q, p), nil
	}
	ask := parseTerms(q)
	if len(ask) == 0 {
		return canon.SearchResult{Ranked: isRankSort(q)}, nil
	}
	var hits []match
	for _, c := range r.filterCards(s, q.Filter) {
		d, ok := r.s.docs.get(cardKey{s.World, c.ID})
		if !ok || !s.View.Sees(d.label) {
			continue
		}
		columns := columnsOf(q, d, c)
		if !allIn(ask, columns...) {
			continue
		}
		m := match{Hit: canon.Hit{Card: c, Names: c.Names()}, named: s.View.Level < d.label.Level}
		for _, t := range ask {
			m.Score += float64(t.countMatches(columns))
		}
		hits = append(hits, m)
	}
	orderHits(hits, q.Filter.Sort)
	out := canon.SearchResult{Ranked: isRankSort(q)}
	cut, total := cutPage(hits, p)
	out.Total = total
	for _, h := range cut {
		out.Hits = append(out.Hits, h.Hit)
	}
	return out, nil
}

// match is a hit with its sort criteria.
type match struct {
	canon.Hit
	named bool // visible only because the label names the caller
}

func isRankSort(q canon.SearchQuery) bool {
	return q.Filter.Sort == "" || q.Filter.Sort == canon.SortRank
}

func columnsOf(q canon.SearchQuery, d doc, c canon.Card) []string {
	var columns []string
	if q.InName || !q.InContent && !q.InFields {
		columns = append(columns, d.Name)
	}
	if q.InContent || !q.InName && !q.InFields {
		columns = append(columns, d.Text)
	}
	if q.InFields {
		columns = append(columns, canon.FieldText(c.Fields))
	}
	return columns
}

// orderHits sorts hits that are already sorted by key and id, and clears the scores that take no
// part in the order.
func orderHits(hits []match, by canon.Sort) {
	for i := range hits {
		if hits[i].named || by != "" && by != canon.SortRank {
			hits[i].Score = 0
		}
	}
	switch by {
	case canon.SortName:
	case canon.SortUpdated:
		slices.SortStableFunc(hits, func(a, b match) int { return b.Card.UpdatedAt.Compare(a.Card.UpdatedAt) })
	case canon.SortCreated:
		slices.SortStableFunc(hits, func(a, b match) int { return b.Card.CreatedAt.Compare(a.Card.CreatedAt) })
	case canon.SortField:
		slices.SortStableFunc(hits, func(a, b match) int { return cmp.Compare(a.Card.SortValue(), b.Card.SortValue()) })
	default:
		slices.SortStableFunc(hits, byRelevance)
	}
}

// byRelevance compares by score. Hits that are visible only because the label names the caller come
// last and keep their order.
func byRelevance(a, b match) int {
	return cmp.Or(boolToInt(a.named)-boolToInt(b.named), cmp.Compare(b.Score, a.Score))
}

// boolToInt returns 1 for true and 0 for false, so that false sorts before true.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r reader) CompleteNames(_ context.Context, s canon.Visibility, prefix string, n int) ([]string, error) {
	var out []string
	for _, c := range r.listedCards(s) {
		if len(out) < n && strings.HasPrefix(markup.Fold(c.Name), markup.Fold(prefix)) && !slices.Contains(out, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out, nil
}

func (r reader) NearCards(_ context.Context, s canon.Visibility, text string, f canon.Filter,
	n int) ([]canon.Hit, error) {
	var out []canon.Hit
	like := canon.LikenessTo(text)
	for _, c := range r.filterCards(s, f) {
		if score := like.OfCard(c); score >= canon.NearFloor {
			out = append(out, canon.Hit{Card: c, Names: c.Names(), Score: score})
		}
	}
	slices.SortStableFunc(out, func(a, b canon.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(max(n, 0), len(out))], nil
}

// NearNames treats names as similar if at most a third of the letters of the shorter name differ;
// one letter may always differ.
func (r reader) NearNames(_ context.Context, s canon.Visibility, name string, n int) ([]string, error) {
	type near struct {
		name     string
		distance int
	}
	asked := []rune(markup.Fold(name))
	var found []near
	for _, c := range r.listedCards(s) {
		letters := []rune(markup.Fold(c.Name))
		d := markup.Distance(asked, letters)
		same := slices.ContainsFunc(found, func(f near) bool { return f.name == c.Name })
		if d <= max(1, min(len(asked), len(letters))/3) && !same {
			found = append(found, near{c.Name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, f := range found[:min(max(n, 0), len(found))] {
		out = append(out, f.name)
	}
	return out, nil
}
