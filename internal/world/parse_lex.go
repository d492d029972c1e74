package world

import (
	"strings"
	"unicode"

	"loregate/internal/markup"
)

// wordKind tells words from what stands between them.
type wordKind uint8

const (
	plainWord wordKind = iota
	quoted             // speech between quotation marks, one word
	comma
	stop // ends a sentence
)

// word is a token of a command. Its fold is lower case without accents.
type word struct {
	kind  wordKind
	raw   string
	fold  string
	start int // in characters
	end   int
}

// lex splits a command into words. Control, format and unknown characters separate words.
func lex(text string) []word {
	runes := []rune(text)
	var out []word
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case wordRune(r):
			j := i + 1
			for j < len(runes) && (wordRune(runes[j]) || joiner(runes, j)) {
				j++
			}
			raw := string(runes[i:j])
			out = append(out, word{plainWord, raw, foldWord(raw), i, j})
			i = j
		case closingQuote(r) != 0:
			j := i + 1
			for j < len(runes) && runes[j] != closingQuote(r) {
				j++
			}
			if said := strings.TrimSpace(string(runes[i+1 : j])); said != "" {
				out = append(out, word{quoted, said, "", i, min(j+1, len(runes))})
			}
			i = min(j+1, len(runes))
		case r == ',':
			out = append(out, word{comma, ",", ",", i, i + 1})
			i++
		case strings.ContainsRune(".;!?\n", r):
			out = append(out, word{stop, ".", ".", i, i + 1})
			i++
		default:
			i++
		}
	}
	return out
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// joiner reports whether a mark stands inside a word: fisher's, half-bridge.
func joiner(runes []rune, i int) bool {
	return (runes[i] == '\'' || runes[i] == '’' || runes[i] == '-') && i+1 < len(runes) && wordRune(runes[i+1])
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
	if folded(s) {
		return s
	}
	return strings.ReplaceAll(markup.Fold(s), "’", "'")
}

// folded reports whether a word is folded as it stands: most are, and folding is dear.
func folded(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] >= 'A' && s[i] <= 'Z' {
			return false
		}
	}
	return true
}

// clauseEnd is how many words the first clause takes, with the joint that ends it.
func clauseEnd(words []word, ways bool) int {
	ways = ways || moves(words)
	for i := range words {
		w := words[i]
		switch {
		case w.kind == stop:
			return i + 1
		case isThen(words[i:]) > 0:
			return i + isThen(words[i:])
		case (w.kind == comma || w.fold == "and" || w.fold == "&") && i > 0 && begins(words[i+1:], ways):
			return i + 1
		}
	}
	return len(words)
}

// isThen is how many words of a joint such as "and then" stand first; 0 for none.
func isThen(words []word) int {
	n := 0
	for n < len(words) && (words[n].kind == comma || words[n].fold == "and") {
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

// begins reports whether a clause of its own starts here, after a comma or an "and". A
// bare direction does where one moves.
func begins(words []word, ways bool) bool {
	words = trimJoints(words)
	for len(words) > 1 && (words[0].kind == plainWord) && (fillers[words[0].fold] || manner[words[0].fold]) {
		words = words[1:]
	}
	if len(words) == 0 || words[0].kind != plainWord {
		return false
	}
	if _, ok := lookVerb(words); ok {
		return true
	}
	if _, ok := directionWords[words[0].fold]; ok {
		return ways
	}
	return false
}

// moves reports whether a clause says to go somewhere.
func moves(words []word) bool {
	for len(words) > 0 && (words[0].kind != plainWord || fillers[words[0].fold] || manner[words[0].fold]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	if _, ok := directionWords[words[0].fold]; ok {
		return true
	}
	v, ok := lookVerb(words)
	return ok && v.verb == VerbMove
}

// trimJoints cuts what only joins clauses off both ends.
func trimJoints(words []word) []word {
	joint := func(w word) bool {
		return w.kind == comma || w.kind == stop || w.kind == plainWord && (w.fold == "and" || w.fold == "then" || w.fold == "&" ||
			w.fold == "afterwards" || w.fold == "afterward" || w.fold == "finally")
	}
	for len(words) > 0 && joint(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && joint(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if n := len(words); n > 1 && words[n-1].fold == "next" {
		words = words[:n-1]
	}
	if n := len(words); n > 2 && words[n-2].fold == "after" && words[n-1].fold == "that" {
		words = words[:n-2]
	}
	return words
}
