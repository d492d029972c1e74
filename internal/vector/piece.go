package vector

import (
	"crypto/sha256"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/meaning"
)

// Bounds of the pieces of a card's text, in characters. Of judged queries, pieces of some 350 characters found more
// than whole texts did.
const (
	usualPiece = 350
	maxPiece   = 700
	maxPieces  = 6
	maxNames   = 300
)

// key identifies the vectors of a card's texts in a file.
type key [sha256.Size]byte

// keyOf returns a hash of a card's id, names and content. Equal texts of two cards have two keys.
func keyOf(c *canon.Card) key {
	return sha256.Sum256([]byte(strings.Join(append([]string{string(c.ID[:]), string(c.Content[:]), c.Name},
		c.Aliases()...), "\x00")))
}

// piecesOf returns the texts of a card that are embedded: pieces of its text at the ends of sentences, each behind the
// names of the card.
func piecesOf(c *canon.Card, text string) (pieces []string) {
	names := markup.Clip(strings.Join(append([]string{c.Name}, c.Aliases()...), "; "), maxNames)
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			pieces = append(pieces, names+"\n"+b.String())
		}
		b.Reset()
	}
	for s := range meaning.Sentences(text) {
		if b.Len() > 0 && b.Len()+len(s) > usualPiece {
			flush()
		}
		if len(pieces) == maxPieces {
			return pieces
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(markup.Clip(s, maxPiece))
	}
	if flush(); len(pieces) == 0 {
		return []string{names}
	}
	return pieces
}
