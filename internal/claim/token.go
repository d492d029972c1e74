package claim

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/meaning"
)

// token is a word or a mark of a sentence.
type token struct {
	text  string // as written
	word  string // in lower case
	mark  bool
	upper bool // begins with a capital
}

// maxTokens bounds the tokens of a sentence that are read.
const maxTokens = 400

// contractions are endings of contracted words, with the words that they stand for.
var contractions = []struct{ end, word string }{
	{"n't", "not"}, {"'ve", "have"}, {"'ll", "will"}, {"'re", "are"}, {"'m", "am"}, {"'d", "would"},
}

// pronounsWithIs are the words after which 's is a verb and no possessive.
var pronounsWithIs = wordSet("he she it that there here who where i'm they this")

// tokensOf splits a sentence into words and marks. "isn't" gives "is" and "not", "butler's" gives "butler" and "'s".
func tokensOf(sentence string) (list []token) {
	sentence = strings.ReplaceAll(sentence, "’", "'")
	for len(sentence) > 0 && len(list) < maxTokens {
		r, size := utf8.DecodeRuneInString(sentence)
		if !isWordRune(r) {
			if !unicode.IsSpace(r) {
				list = append(list, token{text: sentence[:size], word: sentence[:size], mark: true})
			}
			sentence = sentence[size:]
			continue
		}
		end := strings.IndexFunc(sentence, func(r rune) bool { return !isWordRune(r) && r != '\'' && r != '-' })
		if end < 0 {
			end = len(sentence)
		}
		word := strings.TrimRight(sentence[:end], "'-")
		list = appendWord(list, word)
		n := len(list)
		if n > 2 && list[n-3].word == "'s" && sinceAdverbs[list[n-2].word] && verbOf(list[n-1].word) != "" {
			list[n-3].word = "has"
			if strings.HasSuffix(list[n-1].word, "ing") {
				list[n-3].word = "is"
			}
		}
		if n > 1 && list[n-2].word == "'s" && perfects[list[n-1].word] {
			list[n-2].word = "has"
		} else if n > 1 && list[n-2].word == "'s" && predicates[list[n-1].word] {
			list[n-2].word = "is"
		}
		sentence = sentence[end:]
	}
	return withPlainVerbs(list)
}

// turns are phrases that mean what one verb in the past does, the longer ones first.
var turns = []struct{ phrase, verb string }{
	{"met his end", "died"}, {"met her end", "died"}, {"met their end", "died"}, {"lost his life", "died"},
	{"lost her life", "died"}, {"lost their lives", "died"}, {"passed away", "died"}, {"breathed his last", "died"},
	{"breathed her last", "died"}, {"gave up the ghost", "died"}, {"went up in flames", "burned"},
	{"came upon", "found"}, {"come upon", "found"}, {"given up", "left"},
	{"set down", "written"}, {"put to paper", "written"}, {"put on paper", "written"},
	{"gave up", "left"}, {"moved out of", "left"}, {"walked out of", "left"},
}

// withPlainVerbs returns tokens with verbs in place of turns.
func withPlainVerbs(list []token) []token {
	for _, t := range turns {
		if at := runAt(list, t.phrase); at >= 0 {
			list = slices.Replace(list, at, at+len(strings.Fields(t.phrase)), token{text: t.verb, word: t.verb})
		}
	}
	return list
}

// sinceAdverbs are adverbs after which 's and a verb stand for has or is: "the smith's just come".
var sinceAdverbs = wordSet("just already never always only since also even now")

// perfects are words before which 's stands for has.
var perfects = wordSet("got been had gone taken kept lost found given")

// predicates are words before which 's stands for is.
var predicates = wordSet("a an the my your our not here there dead alive in at on never always")

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

func appendWord(list []token, text string) []token {
	lower := strings.ToLower(text)
	for _, c := range contractions {
		if stem, ok := strings.CutSuffix(lower, c.end); ok && stem != "" {
			switch stem {
			case "ca":
				stem = "can"
			case "wo":
				stem = "will"
			}
			return append(list, newToken(text, stem), token{text: c.word, word: c.word})
		}
	}
	if stem, ok := strings.CutSuffix(lower, "'s"); ok && stem != "" {
		after := token{text: "'s", word: "'s"}
		if pronounsWithIs[stem] {
			after = token{text: "is", word: "is"}
		}
		return append(list, newToken(text[:len(text)-2], stem), after)
	}
	return append(list, newToken(text, lower))
}

func newToken(text, lower string) token {
	r, _ := utf8.DecodeRuneInString(text)
	return token{text: text, word: lower, upper: unicode.IsUpper(r)}
}

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// nounOf returns the base form of a noun: "tower" for "towers", or the word itself.
func nounOf(word string) string {
	if base := meaning.Lemma(word, meaning.Noun); base != "" {
		return base
	}
	return word
}

// verbOf returns the base form of a verb, or "" if the word is none.
func verbOf(word string) string { return meaning.Lemma(word, meaning.Verb) }

// hasRun reports whether the words of a phrase follow one another in a list of tokens.
func hasRun(list []token, phrase string) bool { return runAt(list, phrase) >= 0 }

// runAt returns the index at which the words of a phrase begin, or -1.
func runAt(list []token, phrase string) int {
	for i := range list {
		if startsWith(list[i:], phrase) {
			return i
		}
	}
	return -1
}

// startsWith reports whether tokens begin with the words of a phrase.
func startsWith(list []token, phrase string) bool {
	for _, t := range list {
		rest, ok := strings.CutPrefix(phrase, t.word)
		if !ok || rest == "" {
			return ok
		}
		if rest[0] != ' ' {
			return false
		}
		phrase = rest[1:]
	}
	return false
}

// hasWord returns whether a token is one of a set of words.
func hasWord(list []token, set map[string]bool) bool {
	return slices.ContainsFunc(list, func(t token) bool { return set[t.word] })
}
