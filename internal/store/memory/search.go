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

// term is one thing a search asks for: fitting tokens in a row of one column and, where
// literal is set, that text in a column as well.
type term struct {
	row     []func(string) bool
	literal string
}

// terms are what a search asks for, all of them.
func terms(q canon.SearchQuery) []term {
	var out []term
	switch q.Mode {
	case canon.MatchPhrase:
		var row []func(string) bool
		for _, t := range tokens(q.Q) {
			row = append(row, is(t))
		}
		if len(row) > 0 {
			out = append(out, term{row, strings.TrimSpace(q.Q)})
		}
	case canon.MatchStem:
		for _, word := range strings.Fields(q.Q) {
			for _, t := range tokens(word) {
				out = append(out, term{[]func(string) bool{hasStemOf(q.Language, t)}, strings.TrimRight(word, "*")})
			}
		}
	case canon.MatchWord:
		for _, word := range strings.Fields(q.Q) {
			out = append(out, wholeWord(word)...)
		}
	default:
		for _, word := range strings.Fields(q.Q) {
			if row := partOfWord(tokens(word)); row != nil {
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

// wholeWord asks for each token of a word; a '*' at its end makes the last one a prefix.
func wholeWord(word string) []term {
	literal := strings.TrimRight(word, "*")
	var out []term
	for _, t := range tokens(word) {
		out = append(out, term{[]func(string) bool{is(t)}, literal})
	}
	if n := len(out); n > 0 && literal != word {
		out[n-1].row[0] = beginsWith(tokens(word)[n-1])
	}
	return out
}

// partOfWord asks for the pieces of a word inside a token, or across tokens.
func partOfWord(pieces []string) []func(string) bool {
	switch n := len(pieces); {
	case n == 0:
		return nil
	case n == 1 && utf8.RuneCountInString(pieces[0]) < 3:
		return []func(string) bool{beginsWith(pieces[0])}
	case n == 1:
		return []func(string) bool{contains(pieces[0])}
	default:
		row := []func(string) bool{endsWith(pieces[0])}
		for _, p := range pieces[1 : n-1] {
			row = append(row, is(p))
		}
		return append(row, beginsWith(pieces[n-1]))
	}
}

// in reports whether any of the columns answers a term.
func (t term) in(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return inRow(tokens(c), t.row) }) &&
		slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, t.literal) })
}

// score counts the places that answer a term: what a reader would call often.
func (t term) score(columns []string) (n int) {
	for _, c := range columns {
		text := tokens(c)
		for at := range text {
			if at+len(t.row) <= len(text) && fits(text[at:], t.row) {
				n++
			}
		}
	}
	return n
}

func allIn(ask []term, columns ...string) bool {
	for _, t := range ask {
		if !t.in(columns) {
			return false
		}
	}
	return true
}

func (r reader) Search(_ context.Context, s canon.Visibility, q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	ask := terms(q)
	if len(ask) == 0 {
		return canon.SearchResult{Ranked: ranks(q)}, nil
	}
	var hits []match
	for _, c := range r.filtered(s, q.Filter) {
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
			m.Score += float64(t.score(columns))
		}
		hits = append(hits, m)
	}
	order(hits, q.Filter.Sort)
	out := canon.SearchResult{Ranked: ranks(q)}
	cut, total := page(hits, p)
	out.Total = total
	for _, h := range cut {
		out.Hits = append(out.Hits, h.Hit)
	}
	return out, nil
}

// match is a hit with what it is ordered by.
type match struct {
	canon.Hit
	named bool // seen only by being named
}

func ranks(q canon.SearchQuery) bool {
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

// order puts hits, sorted by key and id, in order, and takes the scores of those that
// are not ranked away.
func order(hits []match, by canon.Sort) {
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

// byRelevance goes by score, and puts what is seen only by being named last, in its order.
func byRelevance(a, b match) int {
	return cmp.Or(no(a.named)-no(b.named), cmp.Compare(b.Score, a.Score))
}

// no is 1 for true: false sorts before true.
func no(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r reader) CompleteNames(_ context.Context, s canon.Visibility, prefix string, n int) ([]string, error) {
	var out []string
	for _, c := range r.living(s) {
		if len(out) < n && strings.HasPrefix(markup.Fold(c.Name), markup.Fold(prefix)) && !slices.Contains(out, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out, nil
}

func (r reader) NearCards(_ context.Context, s canon.Visibility, text string, f canon.Filter, n int) ([]canon.Hit, error) {
	var out []canon.Hit
	like := canon.LikenessTo(text)
	for _, c := range r.filtered(s, f) {
		if score := like.OfCard(c); score >= canon.NearFloor {
			out = append(out, canon.Hit{Card: c, Names: c.Names(), Score: score})
		}
	}
	slices.SortStableFunc(out, func(a, b canon.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(max(n, 0), len(out))], nil
}

// NearNames holds names to resemble one another when a third of the letters of the
// shorter, and at least one, may differ.
func (r reader) NearNames(_ context.Context, s canon.Visibility, name string, n int) ([]string, error) {
	type near struct {
		name     string
		distance int
	}
	asked := []rune(markup.Fold(name))
	var found []near
	for _, c := range r.living(s) {
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
