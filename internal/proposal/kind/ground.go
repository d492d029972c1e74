package kind

import (
	"strings"
	"unicode"

	"loregate/internal/meaning"
)

// groundedKinds are the kinds of nouns that a narration may use only if its sources do: it may add a sound or a smell to
// a scene, but nobody and nothing.
var groundedKinds = []string{
	"person",
	"animal",
	"imaginary being",
	"spiritual being",
	"artifact",
	"money",
	"treasure",
}

// determiners stand before nouns, also before words that may be verbs elsewhere.
var determiners = map[string]bool{"a": true, "an": true, "the": true, "another": true, "some": true, "two": true,
	"three": true, "many": true, "several": true}

// findUngrounded returns the first word of a text that names somebody or something which its sources do not name, or "".
func findUngrounded(text, sources string) string {
	known := map[string]bool{}
	for _, w := range nounWords(sources) {
		known[w], known[meaning.Lemma(w, meaning.Noun)] = true, true
	}
	before := ""
	for _, w := range nounWords(text) {
		noun := meaning.Lemma(w, meaning.Noun)
		plain := meaning.Lemma(w, meaning.Verb) == "" || determiners[before]
		if noun != "" && !known[w] && !known[noun] && plain && meaning.Lemma(w, meaning.Adjective) == "" &&
			isGroundedKind(noun) {
			return w
		}
		before = w
	}
	return ""
}

func isGroundedKind(noun string) bool {
	for _, k := range groundedKinds {
		if meaning.IsA(noun, meaning.Noun, k) {
			return true
		}
	}
	return false
}

// nounWords returns the words of a text in lower case.
func nounWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
}
