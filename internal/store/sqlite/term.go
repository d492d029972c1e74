package sqlite

import (
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
)

// how says how a piece of a search fits a token.
type how uint8

const (
	equal how = iota
	inside
	begins
	ends
)

type piece struct {
	how  how
	text string
}

func (p piece) fits(token string) bool {
	switch p.how {
	case inside:
		return strings.Contains(token, p.text)
	case begins:
		return strings.HasPrefix(token, p.text)
	case ends:
		return strings.HasSuffix(token, p.text)
	}
	return token == p.text
}

// term is one thing that a search asks for: pieces that fit tokens in a row.
type term struct {
	row     []piece
	literal string // as typed, for a case-sensitive search
}

// terms are what a search asks for, all of them.
func terms(q canon.SearchQuery) []term {
	var out []term
	switch q.Mode {
	case canon.MatchPhrase:
		if row := exactly(tokenList(q.Q)); len(row) > 0 {
			out = append(out, term{row, strings.TrimSpace(q.Q)})
		}
	case canon.MatchWord:
		for word := range strings.FieldsSeq(q.Q) {
			out = append(out, wholeWord(word)...)
		}
	default:
		for word := range strings.FieldsSeq(q.Q) {
			if row := partOfWord(tokenList(word)); row != nil {
				out = append(out, term{row, strings.TrimRight(word, "*")})
			}
		}
	}
	return distinct(out)
}

// maxTerms bounds what one search asks for: the rest of a longer text narrows nothing
// that a person would notice, and each term costs.
const maxTerms = 64

func distinct(list []term) []term {
	var out []term
	for _, t := range list {
		if len(out) == maxTerms {
			break
		}
		same := func(o term) bool { return o.literal == t.literal && slices.Equal(o.row, t.row) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, t)
		}
	}
	return out
}

func exactly(tokens []string) []piece {
	row := make([]piece, 0, min(len(tokens), maxTerms))
	for _, t := range tokens[:cap(row)] {
		row = append(row, piece{equal, t})
	}
	return row
}

// wholeWord asks for each token of a word; a '*' at its end makes the last one a prefix.
func wholeWord(word string) []term {
	literal := strings.TrimRight(word, "*")
	var out []term
	for _, p := range exactly(tokenList(word)) {
		out = append(out, term{[]piece{p}, literal})
	}
	if n := len(out); n > 0 && literal != word {
		out[n-1].row[0].how = begins
	}
	return out
}

// partOfWord asks for the pieces of a word inside a token, or across tokens. Under three
// characters there is nothing to find the inside of a word by: then it is a beginning.
func partOfWord(tokens []string) []piece {
	row := exactly(tokens)
	switch n := len(row); {
	case n == 0:
		return nil
	case n == 1 && utf8.RuneCountInString(row[0].text) < 3:
		row[0].how = begins
	case n == 1:
		row[0].how = inside
	default:
		row[0].how, row[n-1].how = ends, begins
	}
	return row
}

// in reports whether one of the columns has a term.
func (t term) in(columns ...string) bool {
	return slices.ContainsFunc(columns, func(c string) bool {
		list := tokenList(c)
		for at := 0; at+len(t.row) <= len(list); at++ {
			if t.at(list[at:]) {
				return true
			}
		}
		return false
	})
}

func (t term) at(list []string) bool {
	for i, p := range t.row {
		if !p.fits(list[i]) {
			return false
		}
	}
	return true
}

func allIn(ask []term, columns ...string) bool {
	return !slices.ContainsFunc(ask, func(t term) bool { return !t.in(columns...) })
}

// spelt reports whether each term stands in one of the columns letter by letter.
func spelt(ask []term, columns ...string) bool {
	return !slices.ContainsFunc(ask, func(t term) bool {
		return !slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, t.literal) })
	})
}

func columnsOf(q canon.SearchQuery, name, text string) []string {
	switch {
	case q.InName == q.InContent:
		return []string{name, text}
	case q.InName:
		return []string{name}
	}
	return []string{text}
}
