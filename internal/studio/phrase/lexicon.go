package phrase

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed lexicon.txt
var lexiconText string

// classes holds the value of a phrase in each of its classes.
type classes map[string]string

// lexicon holds phrases by their folded words.
type lexicon struct {
	phrases map[string]classes
	longest map[string]int // words of the longest phrase by its first word
}

// words parses the vocabulary at its first use. A faulty line fails the test of the vocabulary.
var words = sync.OnceValue(func() *lexicon {
	lex := &lexicon{phrases: map[string]classes{}, longest: map[string]int{}}
	for line := range strings.Lines(lexiconText) {
		head, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		class, value, _ := strings.Cut(head, " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for phrase := range strings.SplitSeq(list, ",") {
			parts := strings.Fields(fold(phrase))
			key := strings.Join(parts, " ")
			if lex.phrases[key] == nil {
				lex.phrases[key] = classes{}
			}
			lex.phrases[key][class] = value
			lex.longest[parts[0]] = max(lex.longest[parts[0]], len(parts))
		}
	}
	return lex
})

// valuesOf lists the values of a class in the order of the vocabulary.
func valuesOf(class string) (values []string) {
	for line := range strings.Lines(lexiconText) {
		head, _, ok := strings.Cut(line, ":")
		if c, value, _ := strings.Cut(head, " "); ok && c == class {
			values = append(values, value)
		}
	}
	return values
}

// fold lowers the case of a text and removes accents.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '’':
			return '\''
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(strings.ReplaceAll(s, "ß", "ss")))
}

// parseNumber parses a number in digits.
func parseNumber(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64) // the tokenizer passes digits only
	return n
}
