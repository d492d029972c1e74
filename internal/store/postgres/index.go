package postgres

import (
	"context"
	"strconv"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/store/words"
)

const (
	// maxLexeme is the longest token, in bytes, that is kept as a lexeme: PostgreSQL takes
	// 2046, and a mark goes before it.
	maxLexeme = 2040
	// maxVector bounds a document's lexemes with their positions, well below the 1 MiB
	// at which PostgreSQL refuses them.
	maxVector = 900 << 10
	// maxPlaces is how many places of a token in a column count for its rank.
	maxPlaces = 8
	// maxPlace is the last place that PostgreSQL tells from later ones.
	maxPlace = 16383
)

// Marks of lexemes, which no token has: a token of the name, and one of the name alone.
const (
	ofName   = "="
	onlyName = "-"
)

// Index replaces what is searchable of a card.
func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	w, err := t.worldNumber(ctx, c.World)
	if err != nil {
		return err
	}
	t.countIndexed(w)
	if doc == nil {
		t.c.later("DELETE FROM docs WHERE w = $1 AND card = $2", w, uuidOf(c.ID))
		t.c.later("DELETE FROM lexemes WHERE w = $1 AND card = $2", w, uuidOf(c.ID))
		return nil
	}
	level, label, err := t.labelNumbers(ctx, w, c.Label)
	if err != nil {
		return err
	}
	v := vector{at: make(map[string]int)}
	fname, fbody := v.column(doc.Name, 'A'), v.column(doc.Text, 'D')
	t.c.later(`INSERT INTO docs (w, card, level, label, name, body, fname, fbody) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (w, card) DO UPDATE SET level = $3, label = $4, name = $5, body = $6, fname = $7, fbody = $8`,
		w, uuidOf(c.ID), level, label, doc.Name, doc.Text, fname, fbody)
	t.c.later(`INSERT INTO lexemes (w, card, level, label, big, words) VALUES ($1, $2, $3, $4, $5, $6::tsvector)
		ON CONFLICT (w, card) DO UPDATE SET level = $3, label = $4, big = $5, words = $6::tsvector`,
		w, uuidOf(c.ID), level, label, v.big, v.text())
	t.spell(w, v.lexeme)
	return nil
}

// vector gathers a document's lexemes in the order of their first places.
type vector struct {
	at     map[string]int // index in lexemes
	lexeme []lexeme
	place  int
	size   int
	big    bool // some tokens are left out
}

type lexeme struct {
	token  string
	places []byte // "1A,7D"
	counts map[byte]int
}

// column takes in a text's tokens with a weight, and gives them between blanks.
func (v *vector) column(text string, weight byte) string {
	var b strings.Builder
	b.WriteByte(' ')
	for token := range words.Tokens(storable(text)) {
		b.Write(token)
		b.WriteByte(' ')
		v.place = min(v.place+1, maxPlace)
		v.add(token, weight)
	}
	return b.String()
}

func (v *vector) add(token []byte, weight byte) {
	if len(token) > maxLexeme || v.size > maxVector {
		v.big = true
		return
	}
	i, known := v.at[string(token)]
	if !known {
		i = len(v.lexeme)
		v.at[string(token)] = i
		v.lexeme = append(v.lexeme, lexeme{token: string(token), counts: make(map[byte]int, 2)})
		v.size += len(token) + 8
	}
	l := &v.lexeme[i]
	l.counts[weight]++
	if weight == 'A' && l.counts[weight] == 1 {
		v.size += 2 * (len(token) + 8) // with its marks
	}
	if l.counts[weight] > maxPlaces {
		return
	}
	if len(l.places) > 0 {
		l.places = append(l.places, ',')
	}
	l.places = append(strconv.AppendInt(l.places, int64(v.place), 10), weight)
	v.size += 2
}

// text writes the vector as PostgreSQL reads it. Tokens are letters and numbers, in
// which nothing has a meaning between quotes.
func (v *vector) text() string {
	var b strings.Builder
	for _, l := range v.lexeme {
		b.WriteByte('\'')
		b.WriteString(l.token)
		b.WriteString("':")
		b.Write(l.places)
		b.WriteByte(' ')
		if l.counts['A'] > 0 {
			b.WriteString("'" + ofName + l.token + "' ")
			if l.counts['D'] == 0 {
				b.WriteString("'" + onlyName + l.token + "' ")
			}
		}
	}
	return b.String()
}
