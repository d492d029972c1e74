package command

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/markup"
)

// wordKind distinguishes words from the marks between them.
type wordKind uint8

const (
	plainWord wordKind = iota
	quoted             // speech between quotation marks, as one word
	comma
	colon
	stop // mark that ends a sentence
)

// word is a token of a command. fold is its text in lower case without accents.
type word struct {
	kind  wordKind
	raw   string
	fold  string
	start int // in characters
	end   int
	known *entry // never nil
}

// unknown is the entry of words that the parser does not know.
var unknown = &entry{}

// number is the entry of words that begin with a digit.
var number = &entry{class: numberClass}

// is reports whether a word belongs to one of some classes.
func (w word) is(c class) bool { return w.kind == plainWord && w.known.class&c != 0 }

// oneOf reports whether a word is one of some folded words.
func (w word) oneOf(folds ...string) bool {
	return w.kind == plainWord && slices.Contains(folds, w.fold)
}

// lex splits a command into words. Control, format and unknown characters separate words. It passes
// over the text once, and the words are slices of it.
func lex(text string) []word {
	l, words := lexer{rest: text}, lexicon()
	out := make([]word, 0, len(text)/5+1) // a word has about five letters
	for l.rest != "" {
		from, start := l.rest, l.at
		r := l.next()
		switch {
		case isWordRune(r):
			l.skipWord(r)
			raw := from[:len(from)-len(l.rest)]
			fold := foldWord(raw)
			if len(raw) == 1 {
				fold = l.skipShortDirection(fold)
			}
			out = append(out, word{plainWord, raw, fold, start, l.at, lookUp(words, fold)})
		case closingQuote(r) != 0:
			if said := strings.TrimSpace(l.readUntil(closingQuote(r))); said != "" {
				out = append(out, word{quoted, said, "", start, l.at, unknown})
			}
		case r == '&' || r == '+':
			out = append(out, word{plainWord, "and", "and", start, l.at, lookUp(words, "and")})
		case r == ',':
			out = append(out, word{comma, ",", ",", start, l.at, unknown})
		case r == ':':
			out = append(out, word{colon, ":", ":", start, l.at, unknown})
		case strings.ContainsRune(".;!?\n—–", r) || r == '-' && len(out) > 0 && strings.HasPrefix(l.rest, "-") ||
			r == '-' && strings.HasPrefix(l.rest, " ") && len(out) > 0:
			out = append(out, word{stop, string(r), ".", start, l.at, unknown})
		}
	}
	return joinIgnition(joinPairs(out))
}

// joinPairs reads "as well as", "along with" and "together with" as "and", but not behind the first word: sing along with
// her.
func joinPairs(words []word) []word {
	for i := 1; i+1 < len(words); i++ {
		w, n := &words[i], 0
		switch {
		case w.fold == "" || w.fold[0] != 'a' && w.fold[0] != 't':
		case i == 1 && w.fold == "along" && words[i+1].fold == "with":
			words = slices.Delete(words, i, i+1)
		case w.oneOf("along", "together") && words[i+1].fold == "with":
			n = 1
		case w.fold == "as" && i+2 < len(words) && words[i+1].fold == "well" && words[i+2].fold == "as":
			n = 2
		}
		if n > 0 {
			words[i].fold, words[i].raw, words[i].known = "and", "and", lexicon()["and"]
			words = slices.Delete(words, i+1, i+1+n)
		}
	}
	return words
}

// lexer is a position in a text.
type lexer struct {
	rest string
	at   int // characters read
}

func lookUp(words map[string]*entry, fold string) *entry {
	if e := words[fold]; e != nil {
		return e
	}
	if fold != "" && fold[0] >= '0' && fold[0] <= '9' { // a lone accent folds to nothing
		return number
	}
	return unknown
}

// joinIgnition makes one verb of "set fire to the piano" and "set the piano alight".
func joinIgnition(words []word) []word {
	i := slices.IndexFunc(words, func(w word) bool { return w.oneOf("set", "setting") })
	if i < 0 || i+2 >= len(words) {
		return words
	}
	from, to := 0, 0
	for n := i + 1; n < min(len(words), i+8) && to == 0 && words[n].kind == plainWord && !words[n].is(jointClass); n++ {
		next := word{known: unknown}
		if n+1 < len(words) {
			next = words[n+1]
		}
		switch {
		case n > i+1 && words[n].oneOf("alight", "ablaze", "aflame", "afire"):
			from, to = n, n+1
		case words[n].oneOf("fire") && n == i+1 && next.fold == "to", n > i+1 && words[n].fold == "on" && next.fold == "fire":
			from, to = n, n+2
		}
	}
	if to == 0 {
		return words
	}
	words[i].fold, words[i].known = "ignite", lexicon()["ignite"]
	return slices.Delete(words, from, to)
}

// skipShortDirection reads the rest of "s.e." after its first letter, and returns the folded word.
func (l *lexer) skipShortDirection(first string) string {
	if (first != "n" && first != "s") || len(l.rest) < 3 || l.rest[0] != '.' || l.rest[2] != '.' {
		return first
	}
	if second := l.rest[1] | 0x20; second == 'e' || second == 'w' {
		if r, _ := utf8.DecodeRuneInString(l.rest[3:]); !isWordRune(r) {
			l.rest, l.at = l.rest[3:], l.at+3
			return first + string(rune(second))
		}
	}
	return first
}

// next reads one character.
func (l *lexer) next() rune {
	r, n := utf8.DecodeRuneInString(l.rest)
	l.rest, l.at = l.rest[n:], l.at+1
	return r
}

// skipWord reads to the end of a word after its first character. An apostrophe or hyphen inside it belongs to it, and
// so does the point of a number: fisher's, half-bridge, 1.2.
func (l *lexer) skipWord(last rune) {
	for {
		r, n := utf8.DecodeRuneInString(l.rest)
		next, _ := utf8.DecodeRuneInString(l.rest[n:])
		isPart := isWordRune(r) || (r == '\'' || r == '’' || r == '-') && isWordRune(next) ||
			r == '.' && unicode.IsDigit(last) && unicode.IsDigit(next)
		if n == 0 || !isPart {
			return
		}
		l.rest, l.at, last = l.rest[n:], l.at+1, r
	}
}

// readUntil reads past the next mark and returns the text before it. Without a mark it returns the
// rest of the text.
func (l *lexer) readUntil(mark rune) string {
	said, rest, _ := strings.Cut(l.rest, string(mark))
	l.at += utf8.RuneCountInString(l.rest[:len(l.rest)-len(rest)])
	l.rest = rest
	return strings.ToValidUTF8(said, "\uFFFD")
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func closingQuote(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '“', '„':
		return '”'
	case '«':
		return '»'
	}
	return 0
}

func foldWord(s string) string {
	if isFolded(s) {
		return s
	}
	return strings.ReplaceAll(markup.Fold(s), "’", "'")
}

// isFolded reports whether a word is folded already. Most words are, and folding is expensive.
func isFolded(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] >= 'A' && s[i] <= 'Z' {
			return false
		}
	}
	return true
}
