package intent

import (
	"strings"
	"unicode"

	"loregate/internal/meaning"
)

// maxTokens bounds the words and marks of an utterance that are read. The first act is hardly ever behind them.
const maxTokens = 40

// token is a word or a mark of an utterance. Base forms are empty for words of grammar, and for those that WordNet does
// not have as that part of speech.
type token struct {
	text       string // in lower case
	verb, noun string // base forms
	isMark     bool
}

// marks are the marks that are tokens. Other characters only separate words.
const marks = ".,;:!?\"“”()*—–[]/"

// readTokens splits an utterance into its first maxTokens tokens.
func readTokens(text string) []token {
	text = strings.ToLower(text)
	list := make([]token, 0, min(len(text)/4+1, maxTokens)) // a word has about four letters
	start := -1                                             // of the word that is being read
	for i, r := range text {
		isPart := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’' || r == '-' && start >= 0
		switch {
		case isPart && start < 0:
			start = i
		case !isPart:
			if start >= 0 {
				list = appendWord(list, text[start:i])
				start = -1
			}
			if strings.ContainsRune(marks, r) {
				list = append(list, token{text: text[i : i+len(string(r))], isMark: true})
			}
		}
		if len(list) >= maxTokens {
			return list[:maxTokens]
		}
	}
	if start >= 0 {
		list = appendWord(list, text[start:])
	}
	return list
}

func appendWord(list []token, text string) []token {
	text = strings.ReplaceAll(text, "’", "'")
	w := strings.Trim(text, "'-")
	if w == "" {
		return list
	}
	t := token{text: w}
	if !grammar[w] {
		t.verb, t.noun = meaning.Lemma(w, meaning.Verb), meaning.Lemma(w, meaning.Noun)
	}
	if t.verb == "" && strings.HasSuffix(text, "in'") { // headin'
		t.verb = meaning.Lemma(w+"g", meaning.Verb)
	}
	return append(list, t)
}

// grammar are words that are no act, even if WordNet has them as verbs or nouns.
var grammar = setOf(`a an the this that these those my your his her its our their i we you he she it they me us him them
	i'm i'll i'd i've we'll we're we'd you're you'll he's she's it's that's there's let's lets
	and or but so then if as at by for from in into of off on onto out over to up with without under about
	am is are was were be been being do does did don't doesn't didn't have has had will would can could should
	shall may might must not no can't won't cannot isn't aren't
	what who where when why how which whose there here very too just please
	now again back down away through along across around toward towards behind before after until while
	want wanna gonna going gotta try like let could maybe some any all one two more than every each`)

// prepositions may stand between a verb and the thing it is done to.
var prepositions = setOf(`at by for from in into of off on onto out over to up with without under about against upon
	down away through along across around toward towards behind before after inside beneath between back`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
