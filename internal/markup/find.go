package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match is a byte range of the searched text. It never splits a character.
type Match struct{ Start, End int }

// FindMode selects how a query is compared with text.
type FindMode string

const (
	// Substring finds the query anywhere.
	Substring FindMode = "substring"
	// WholeWord finds the query only where no letter or digit adjoins it. In scripts that put no
	// spaces between words, letters may adjoin it.
	WholeWord FindMode = "whole_word"
	// Phrase finds the words of the query in sequence as whole words, with any spaces and
	// punctuation between them.
	Phrase FindMode = "phrase"
)

// FindOptions configure a search. The zero value finds substrings in any case.
type FindOptions struct {
	Mode          FindMode // "" is Substring
	CaseSensitive bool     // letters and accents must be the same
	FoldAccents   bool     // ignore accents, see Fold; has no effect with CaseSensitive
	Limit         int      // maximum number of matches; 0: 1,000
}

// maxQuery is the maximum length of a query, in bytes. It limits the cost of phrases, which is at
// most query times text.
const maxQuery = 1000

// FindAll returns the non-overlapping matches of query in plain text, in order. A blank query and a
// query over 1,000 bytes have no matches.
func FindAll(text, query string, o FindOptions) []Match {
	if strings.TrimSpace(query) == "" || len(query) > maxQuery || len(text) > 1<<30 {
		return nil
	}
	return findIn(foldText(text, o), query, o)
}

func findIn(f foldedText, query string, o FindOptions) []Match {
	query = foldText(query, o).text
	if o.Limit <= 0 {
		o.Limit = 1000
	}
	first, rest := query, []string(nil)
	if o.Mode == Phrase {
		words := strings.FieldsFunc(query, func(r rune) bool { return !isWordRune(r) })
		if len(words) > 0 {
			first, rest = words[0], words[1:]
		}
	}
	if first == "" {
		return nil
	}
	var out []Match
	for at := 0; len(out) < o.Limit; {
		i := strings.Index(f.text[at:], first)
		if i < 0 {
			break
		}
		start := at + i
		end, ok := f.endOf(start, first, rest, o)
		if !ok {
			_, size := utf8.DecodeRuneInString(f.text[start:])
			at = start + size
			continue
		}
		out = append(out, f.toMatch(start, end))
		at = end
	}
	return out
}

// endOf returns the end of the match that begins at start. ok is false if none begins there.
func (f foldedText) endOf(start int, first string, rest []string, o FindOptions) (end int, ok bool) {
	end = start + len(first)
	if o.Mode != WholeWord && o.Mode != Phrase {
		return end, true
	}
	if !isBound(f.text, start) || !isBound(f.text, end) {
		return 0, false
	}
	for _, word := range rest {
		next := strings.IndexFunc(f.text[end:], isWordRune)
		if next < 1 || !strings.HasPrefix(f.text[end+next:], word) {
			return 0, false
		}
		end += next + len(word)
		if !isBound(f.text, end) {
			return 0, false
		}
	}
	return end, true
}

// isBound reports whether offset i is a word boundary. That is so next to any character that is not
// part of a word, and between letters of a script that puts no spaces between words.
func isBound(text string, i int) bool {
	if i == 0 || i == len(text) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	if !isWordRune(before) || !isWordRune(after) {
		return true
	}
	return !unicode.IsMark(after) && (unicode.In(before, unspaced...) || unicode.In(after, unspaced...))
}

// unspaced lists the scripts that put no spaces between words or, as Korean, between words and
// their endings. The prolonged sound mark belongs to no script and is listed separately.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
	unicode.Yi,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Tai_Le, unicode.New_Tai_Lue,
	unicode.Tai_Tham, unicode.Tai_Viet,
	unicode.Javanese, unicode.Balinese, unicode.Sundanese,
	{R16: []unicode.Range16{{Lo: 'ー', Hi: 'ー', Stride: 1}}}}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}
