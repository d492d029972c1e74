package command

import (
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
	stop // mark that ends a sentence
)

// word is a token of a command. fold is its text in lower case without accents.
type word struct {
	kind  wordKind
	raw   string
	fold  string
	start int // in characters
	end   int
}

// lex splits a command into words. Control, format and unknown characters separate words. It passes
// over the text once, and the words are slices of it.
func lex(text string) []word {
	l := lexer{rest: text}
	out := make([]word, 0, len(text)/5+1) // a word has about five letters
	for l.rest != "" {
		from, start := l.rest, l.at
		r := l.next()
		switch {
		case isWordRune(r):
			l.skipWord()
			raw := from[:len(from)-len(l.rest)]
			out = append(out, word{plainWord, raw, foldWord(raw), start, l.at})
		case closingQuote(r) != 0:
			if said := strings.TrimSpace(l.readUntil(closingQuote(r))); said != "" {
				out = append(out, word{quoted, said, "", start, l.at})
			}
		case r == ',':
			out = append(out, word{comma, ",", ",", start, l.at})
		case strings.ContainsRune(".;!?\n", r):
			out = append(out, word{stop, ".", ".", start, l.at})
		}
	}
	return out
}

// lexer is a position in a text.
type lexer struct {
	rest string
	at   int // characters read
}

// next reads one character.
func (l *lexer) next() rune {
	r, n := utf8.DecodeRuneInString(l.rest)
	l.rest, l.at = l.rest[n:], l.at+1
	return r
}

// skipWord reads to the end of a word. An apostrophe or hyphen inside it belongs to it: fisher's,
// half-bridge.
func (l *lexer) skipWord() {
	for {
		r, n := utf8.DecodeRuneInString(l.rest)
		if r == '\'' || r == '’' || r == '-' {
			r, _ = utf8.DecodeRuneInString(l.rest[n:])
		}
		if n == 0 || !isWordRune(r) {
			return
		}
		l.rest, l.at = l.rest[n:], l.at+1
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

// clauseEnd returns the number of words of the first clause, including the joint that ends it.
func clauseEnd(words []word, ways bool) int {
	ways = ways || isMove(words)
	for i := 0; i < len(words); i++ {
		w := words[i]
		then := thenLength(words[i:])
		switch {
		case w.kind == stop:
			return i + 1
		case then > 0:
			return i + then
		case i == 0 || w.kind != comma && w.fold != "and" && w.fold != "&":
			continue
		case isClauseStart(words[i+1:], ways):
			return i + 1
		}
		for i+1 < len(words) && isListJoint(words[i+1]) { // no clause begins after these joints
			i++
		}
	}
	return len(words)
}

// isListJoint reports whether a word separates the entries of a list.
func isListJoint(w word) bool { return w.kind == comma || w.fold == "and" }

// thenLength returns the number of words of a joint such as "and then" at the beginning of words,
// or 0 if there is none.
func thenLength(words []word) int {
	n := 0
	for n < len(words) && isListJoint(words[n]) {
		n++
	}
	if n == len(words) {
		return 0
	}
	switch words[n].fold {
	case "then", "afterwards", "afterward", "next", "finally":
		return n + 1
	case "after":
		if n+1 < len(words) && (words[n+1].fold == "that" || words[n+1].fold == "this") {
			return n + 2
		}
	}
	return 0
}

// isClauseStart reports whether a new clause starts here, after a comma or an "and". A bare
// direction starts one only after a move.
func isClauseStart(words []word, ways bool) bool {
	words = trimJoints(words)
	for len(words) > 1 && (words[0].kind == plainWord) && (fillerWords[words[0].fold] || mannerWords[words[0].fold]) {
		words = words[1:]
	}
	if len(words) == 0 || words[0].kind != plainWord {
		return false
	}
	if _, ok := findVerb(words); ok {
		return true
	}
	if _, ok := directionWords[words[0].fold]; ok {
		return ways
	}
	return false
}

// trimTail removes joints from the end.
func trimTail(words []word) []word {
	for len(words) > 0 && words[len(words)-1].isJoint() {
		words = words[:len(words)-1]
	}
	return words
}

// isJoint reports whether a word only joins clauses.
func (w word) isJoint() bool {
	return w.kind == comma || w.kind == stop || w.kind == plainWord &&
		(w.fold == "and" || w.fold == "then" || w.fold == "&" ||
			w.fold == "afterwards" || w.fold == "afterward" || w.fold == "finally")
}

// isMove reports whether a clause is a command to go somewhere.
func isMove(words []word) bool {
	for len(words) > 0 && (words[0].kind != plainWord || fillerWords[words[0].fold] || mannerWords[words[0].fold]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	if _, ok := directionWords[words[0].fold]; ok {
		return true
	}
	v, ok := findVerb(words)
	return ok && v.verb == Move
}

// trimJoints removes joints from both ends.
func trimJoints(words []word) []word {
	for len(words) > 0 && words[0].isJoint() {
		words = words[1:]
	}
	words = trimTail(words)
	if n := len(words); n > 1 && words[n-1].fold == "next" {
		words = words[:n-1]
	}
	if n := len(words); n > 2 && words[n-2].fold == "after" && words[n-1].fold == "that" {
		words = words[:n-2]
	}
	return words
}
