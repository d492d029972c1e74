// Package words says what a text search asks of texts: how a text falls into tokens, and
// what of a query each token must fit. Stores find by it with indexes of their own.
//
// Its invariant: it is canon.SearchQuery's definition as code, and knows no store.
package words

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/stem"
)

// How says how a piece of a search fits a token.
type How uint8

// The ways.
const (
	Equal  How = iota // the token is the text
	Inside            // the text lies inside the token
	Begins            // the token begins with it
	Ends              // the token ends with it
	Stem              // the token has it for its stem
)

// Piece is what one token must fit.
type Piece struct {
	How      How
	Text     string
	Language string // that the stem is of
}

// Fits reports whether a token fits.
func (p Piece) Fits(token string) bool {
	switch p.How {
	case Inside:
		return strings.Contains(token, p.Text)
	case Begins:
		return strings.HasPrefix(token, p.Text)
	case Ends:
		return strings.HasSuffix(token, p.Text)
	case Stem:
		return strings.HasPrefix(token, p.Shared()) && stem.Of(p.Language, token) == p.Text
	}
	return token == p.Text
}

// Term is one thing that a search asks for: pieces that fit tokens in a row.
type Term struct {
	Row     []Piece
	Literal string // as typed, for a case-sensitive search
}

// Terms are what a search asks for, all of them.
func Terms(q canon.SearchQuery) []Term {
	var out []Term
	switch q.Mode {
	case canon.MatchPhrase:
		if row := exactly(List(q.Q)); len(row) > 0 {
			out = append(out, Term{row, strings.TrimSpace(q.Q)})
		}
	case canon.MatchStem:
		out = ofStem(q.Language, q.Q)
	case canon.MatchWord:
		for word := range strings.FieldsSeq(q.Q) {
			out = append(out, wholeWord(word)...)
		}
	default:
		for word := range strings.FieldsSeq(q.Q) {
			if row := partOfWord(List(word)); row != nil {
				out = append(out, Term{row, strings.TrimRight(word, "*")})
			}
		}
	}
	return distinct(out)
}

// maxTerms bounds what one search asks for: the rest of a longer text narrows nothing
// that a person would notice, and each term costs.
const maxTerms = 64

func distinct(list []Term) []Term {
	var out []Term
	for _, t := range list {
		if len(out) == maxTerms {
			break
		}
		same := func(o Term) bool { return o.Literal == t.Literal && slices.Equal(o.Row, t.Row) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, t)
		}
	}
	return out
}

func exactly(tokens []string) []Piece {
	row := make([]Piece, 0, min(len(tokens), maxTerms))
	for _, t := range tokens[:cap(row)] {
		row = append(row, Piece{How: Equal, Text: t})
	}
	return row
}

// wholeWord asks for each token of a word; a '*' at its end makes the last one a prefix.
func wholeWord(word string) []Term {
	literal := strings.TrimRight(word, "*")
	var out []Term
	for _, p := range exactly(List(word)) {
		out = append(out, Term{[]Piece{p}, literal})
	}
	if n := len(out); n > 0 && literal != word {
		out[n-1].Row[0].How = Begins
	}
	return out
}

// partOfWord asks for the pieces of a word inside a token, or across tokens. Under three
// characters there is nothing to find the inside of a word by: then it is a beginning.
func partOfWord(tokens []string) []Piece {
	row := exactly(tokens)
	switch n := len(row); {
	case n == 0:
		return nil
	case n == 1 && utf8.RuneCountInString(row[0].Text) < 3:
		row[0].How = Begins
	case n == 1:
		row[0].How = Inside
	default:
		row[0].How, row[n-1].How = Ends, Begins
	}
	return row
}

// In reports whether one of the columns has a term.
func (t Term) In(columns ...string) bool {
	return slices.ContainsFunc(columns, func(c string) bool {
		list := List(c)
		for at := 0; at+len(t.Row) <= len(list); at++ {
			if t.at(list[at:]) {
				return true
			}
		}
		return false
	})
}

func (t Term) at(list []string) bool {
	for i, p := range t.Row {
		if !p.Fits(list[i]) {
			return false
		}
	}
	return true
}

// AllIn reports whether each term is in one of the columns.
func AllIn(ask []Term, columns ...string) bool {
	return !slices.ContainsFunc(ask, func(t Term) bool { return !t.In(columns...) })
}

// Spelt reports whether each term stands in one of the columns letter by letter.
func Spelt(ask []Term, columns ...string) bool {
	return !slices.ContainsFunc(ask, func(t Term) bool {
		return !slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, t.Literal) })
	})
}

// ColumnsOf are the texts of a document that a query looks into.
func ColumnsOf(q canon.SearchQuery, name, text string, fields json.RawMessage) (columns []string) {
	inName, inContent := q.LooksInto()
	if inName {
		columns = append(columns, name)
	}
	if inContent {
		columns = append(columns, text)
	}
	if q.InFields {
		columns = append(columns, canon.FieldText(fields))
	}
	return columns
}
