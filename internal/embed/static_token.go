package embed

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// findRows returns the rows of the known tokens of a text.
func (m *Model) findRows(text string) (rows []uint32) {
	for _, word := range splitWords(m.normalize(text)) {
		if m.Kind == Words {
			if row, ok := m.tokens[word]; ok {
				rows = append(rows, row)
			}
			continue
		}
		rows = append(rows, m.piecesOf(word)...)
	}
	return rows
}

// normalize returns a text in the form of the tokens.
func (m *Model) normalize(text string) string {
	if m.Lowercase {
		text = strings.ToLower(text)
	}
	if m.Accents {
		return norm.NFC.String(text)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

// splitWords splits a text at white space and control characters. Punctuation marks and characters of Chinese are words
// of their own, as in the basic tokenizer of BERT.
func splitWords(text string) (list []string) {
	start := -1
	flush := func(end int) {
		if start >= 0 {
			list = append(list, text[start:end])
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar:
			flush(i)
		case isPunctuation(r) || unicode.Is(unicode.Han, r):
			flush(i)
			list = append(list, string(r))
		case start < 0:
			start = i
		}
	}
	flush(len(text))
	return list
}

func isPunctuation(r rune) bool {
	return r > ' ' && r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x7f || unicode.IsPunct(r)
}

// maxWord is the length of the longest word that has pieces, in characters, as in BERT.
const maxWord = 100

// piecesOf returns the rows of the longest pieces that make a word, from its beginning; none if there are none for all
// of it.
func (m *Model) piecesOf(word string) (rows []uint32) {
	letters := []rune(word)
	if len(letters) > maxWord {
		return nil
	}
	for at := 0; at < len(letters); {
		end, row := len(letters), uint32(0)
		for ; end > at; end-- {
			piece := string(letters[at:end])
			if at > 0 {
				piece = m.Prefix + piece
			}
			var ok bool
			if row, ok = m.tokens[piece]; ok && piece != m.Unknown {
				break
			}
		}
		if end == at {
			return nil
		}
		rows, at = append(rows, row), end
	}
	return rows
}
