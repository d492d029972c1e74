package words

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/stem"
)

// How is the way in which a piece of a search term fits a token.
type How uint8

// The values of How.
const (
	Equal  How = iota // the token is the text
	Inside            // the token contains the text
	Begins            // the token begins with the text
	Ends              // the token ends with the text
	Stem              // the text is the stem of the token
	Form              // as Stem, for a token that differs little from it: a narrower Shared, and few more letters
)

// Piece is a condition on one token.
type Piece struct {
	How      How
	Text     string
	Language string // the language of the stem
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
	case Stem, Form:
		return strings.HasPrefix(token, p.Shared()) && p.MayBeLong(len(token)) &&
			stem.Of(p.Language, token) == p.Text
	}
	return token == p.Text
}

// MayBeLong reports whether a token of a number of bytes may be a form of a Stem or Form.
func (p Piece) MayBeLong(bytes int) bool { return p.How == Stem || bytes <= len(p.Text)+formLetters }

// formLetters is the greatest number of bytes that a Form has more than its stem.
const formLetters = 6

// Term is one search term: pieces that consecutive tokens must fit.
type Term struct {
	Row     []Piece
	Literal string // as typed, for a case-sensitive search
}

// Terms returns the terms of a search, all of which a document must have.
func Terms(q canon.SearchQuery) []Term {
	var out []Term
	switch q.Mode {
	case canon.MatchPhrase:
		if row := exactPieces(List(q.Q)); len(row) > 0 {
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
	return distinctTerms(out)
}

// maxTerms is the maximum number of terms of one search. Each term costs time, and further terms of
// a longer text would not narrow the result noticeably.
const maxTerms = 64

func distinctTerms(list []Term) []Term {
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

func exactPieces(tokens []string) []Piece {
	row := make([]Piece, 0, min(len(tokens), maxTerms))
	for _, t := range tokens[:cap(row)] {
		row = append(row, Piece{How: Equal, Text: t})
	}
	return row
}

// wholeWord returns a term for each token of a word; a '*' at its end makes the last one a prefix.
func wholeWord(word string) []Term {
	literal := strings.TrimRight(word, "*")
	var out []Term
	for _, p := range exactPieces(List(word)) {
		out = append(out, Term{[]Piece{p}, literal})
	}
	if n := len(out); n > 0 && literal != word {
		out[n-1].Row[0].How = Begins
	}
	return out
}

// partOfWord returns the pieces that find a word inside a token, or across tokens. A word of fewer
// than three characters only matches the beginning of a token, since indexes cannot find shorter
// substrings.
func partOfWord(tokens []string) []Piece {
	row := exactPieces(tokens)
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
			if t.matchesAt(list[at:]) {
				return true
			}
		}
		return false
	})
}

func (t Term) matchesAt(list []string) bool {
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

// Spelt reports whether one of the columns contains the literal text of each term.
func Spelt(ask []Term, columns ...string) bool {
	return !slices.ContainsFunc(ask, func(t Term) bool {
		return !slices.ContainsFunc(columns, func(c string) bool { return strings.Contains(c, t.Literal) })
	})
}

// ColumnsOf returns the texts of a document that a query searches.
func ColumnsOf(q canon.SearchQuery, name, text string, fields json.RawMessage) (columns []string) {
	inName, inContent := q.SearchedColumns()
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
