package sqlite

import (
	"loregate/internal/canon"
	"loregate/internal/store/words"
)

const (
	equal  = words.Equal
	inside = words.Inside
	begins = words.Begins
	ends   = words.Ends
)

type piece struct {
	how  words.How
	text string
}

// term is a term with its pieces as the index is asked for them.
type term struct {
	words.Term
	row []piece
}

// terms are what a search asks for, all of them.
func terms(q canon.SearchQuery) []term {
	q.Q = plain(q.Q)
	list := words.Terms(q)
	out := make([]term, len(list))
	for i, t := range list {
		out[i].Term = t
		for _, p := range t.Row {
			out[i].row = append(out[i].row, piece{p.How, p.Text})
		}
	}
	return out
}

func wordsOf(ask []term) []words.Term {
	out := make([]words.Term, len(ask))
	for i, t := range ask {
		out[i] = t.Term
	}
	return out
}

func allIn(ask []term, columns ...string) bool { return words.AllIn(wordsOf(ask), columns...) }

func spelt(ask []term, columns ...string) bool { return words.Spelt(wordsOf(ask), columns...) }

func columnsOf(q canon.SearchQuery, name, text string) []string {
	return words.ColumnsOf(q, name, text)
}
