package command

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loregate/internal/meaning"
)

// Fit is the grade of the match between a typed name and a name.
type Fit int

// The grades, worst first.
const (
	FitNone  Fit = iota
	FitSlip      // every word is one of the name's, with at most one wrong letter
	FitForms     // every word is one of the name's, in the singular or the plural
	fitWords     // every word is one of the name's
	fitTail      // the last words of the name: "hound" for Salt Hound
	FitName      // the name or an alias
)

// Rate returns the grade of the best match between a typed name and the names of a thing.
func Rate(typed string, names []string) Fit {
	best, want := FitNone, BareWords(typed)
	if len(want) == 0 {
		return best
	}
	for _, name := range names {
		best = max(best, fitWordsOf(want, BareWords(name)))
	}
	return best
}

func fitWordsOf(want, have []string) Fit {
	switch {
	case slices.Equal(want, have):
		return FitName
	case len(want) < len(have) && slices.Equal(want, have[len(have)-len(want):]):
		return fitTail
	case hasAllWords(want, have, func(a, b string) bool { return a == b }):
		return fitWords
	case hasAllWords(want, have, isSameNoun):
		return FitForms
	case hasAllWords(want, have, isSimilar):
		return FitSlip
	}
	return FitNone
}

func hasAllWords(want, have []string, same func(a, b string) bool) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return same(w, h) }) {
			return false
		}
	}
	return true
}

// isSameOrPlural reports whether two words are equal or one is the plural of the other.
func isSameOrPlural(a, b string) bool {
	return a == b || isPluralOf(a, b) || isPluralOf(b, a)
}

// isPluralOf reports whether a word is the plural of another by its ending: nets, boxes, lilies, loaves.
func isPluralOf(many, one string) bool {
	if many == one+"s" {
		return true
	}
	stem, ok := strings.CutSuffix(many, "es")
	switch {
	case !ok:
		return false
	case strings.HasSuffix(stem, "i"):
		return stem[:len(stem)-1]+"y" == one
	case strings.HasSuffix(stem, "v"):
		return stem[:len(stem)-1]+"f" == one || stem[:len(stem)-1]+"fe" == one
	}
	return stem == one && slices.ContainsFunc([]string{"x", "s", "z", "ch", "sh"},
		func(end string) bool { return strings.HasSuffix(stem, end) })
}

// isSimilar reports whether a typed word and another one are equal, one is the plural of the other, or, for words of
// four letters or more, the typed one is no English word and has one typo. It may be in the singular or drawn out:
// barell for barrels, craaab.
func isSimilar(typed, b string) bool {
	if isSameOrPlural(typed, b) {
		return true
	}
	if utf8.RuneCountInString(typed) < 3 || utf8.RuneCountInString(b) < 4 || isEnglish(typed) {
		return false
	}
	if short := shorten(typed); short != typed && isSameOrPlural(short, b) {
		return true
	}
	if single(typed) == single(b) || single(typed) == single(nounOf(b)) {
		return true
	}
	return oneSlip(typed, b) || oneSlip(typed, nounOf(b))
}

// single returns a word with each doubled letter once: barell and barrel are one.
func single(word string) string {
	return string(slices.Compact([]rune(word)))
}

// shorten returns a word without letters that stand three times or more in a row: craaab, pleeease.
func shorten(word string) string {
	runes := []rune(word)
	out := make([]rune, 0, len(runes))
	for i, r := range runes {
		isLong := i > 0 && runes[i-1] == r && (i > 1 && runes[i-2] == r || i+1 < len(runes) && runes[i+1] == r)
		if !isLong {
			out = append(out, r)
		}
	}
	return string(out)
}

// isEnglish reports whether a word is one of English or its grammar.
func isEnglish(w string) bool {
	return lookUp(lexicon(), w) != unknown ||
		slices.ContainsFunc([]meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective},
			func(p meaning.Part) bool { return meaning.Lemma(w, p) != "" })
}

// BareWords returns the folded words of a name without articles.
func BareWords(name string) []string {
	var out []string
	for _, w := range lex(name) {
		if !w.is(articleClass) && w.kind == plainWord {
			out = append(out, w.fold)
		}
	}
	return out
}

// SplitCount splits "3 coins" and "all coins" into the number and the name; -1 means all.
func SplitCount(name string) (n int64, what string) {
	first, rest, ok := strings.Cut(strings.TrimSpace(name), " ")
	if fold := foldWord(first); fold == "all" || fold == "every" || fold == "everything" {
		return -1, strings.TrimPrefix(strings.TrimSpace(rest), "the ")
	}
	if v, err := strconv.ParseInt(first, 10, 32); err == nil && v > 0 && ok {
		return v, rest
	}
	if v := slices.Index(numberWords, foldWord(first)); v > 0 && ok {
		if of, found := strings.CutPrefix(rest, "of "); found { // one of his drawings
			words := trimArticles(lex(of))
			if n := len(words); n > 0 && v == 1 {
				words[n-1].raw = cmp.Or(meaning.Lemma(words[n-1].fold, meaning.Noun), words[n-1].raw)
			}
			rest = joinWords(words)
		}
		return int64(v), rest
	}
	return 1, name
}

var numberWords = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// NameIn returns a name as it stands in a text, in its number and its case: "nets" for net. A capital at the beginning
// of a sentence becomes a small letter if the word is a common one. It is "" if the words do not stand there side by
// side.
func NameIn(text, name string) string {
	want := BareWords(name)
	for sentence := range meaning.Sentences(text) {
		words := lex(sentence)
		for i := 0; i+len(want) <= len(words) && len(want) > 0; i++ {
			if slices.EqualFunc(words[i:i+len(want)], want, func(w word, wanted string) bool {
				return w.kind == plainWord && isSameOrPlural(w.fold, wanted)
			}) {
				found := joinAll(words[i : i+len(want)])
				if i == 0 && meaning.Lemma(words[0].fold, meaning.Noun) != "" {
					found = strings.ToLower(found[:1]) + found[1:]
				}
				return found
			}
		}
	}
	return ""
}

// IsMass reports whether a name is that of a stuff, which has no article: bunting, water.
func IsMass(name string) bool {
	noun := name[strings.LastIndexByte(name, ' ')+1:]
	return !meaning.IsMainly(noun, meaning.Noun, "food") && slices.ContainsFunc([]string{"fabric", "liquid", "substance"},
		func(kind string) bool { return meaning.IsMainly(noun, meaning.Noun, kind) })
}

// DirectionOf returns the direction that a word means, such as "n" or "northward".
func DirectionOf(word string) (Direction, bool) {
	e := lookUp(lexicon(), foldWord(word))
	return e.toward, e.toward != "" && !e.adjacent
}

// MeansHere reports whether a name means the place itself.
func MeansHere(name string) bool {
	if words := BareWords(name); len(words) == 1 && slices.ContainsFunc([]string{"around", "surroundings", "everything"},
		func(w string) bool { return isSimilar(words[0], w) }) {
		return true
	}
	switch strings.Join(BareWords(name), " ") {
	case "here", "around", "place", "room", "surroundings", "everything", "area":
		return true
	}
	return false
}

// Mentions reports whether a text contains all words of a name.
func Mentions(text, name string) bool {
	want := BareWords(name)
	return len(want) > 0 && hasAllWords(want, BareWords(text), func(a, b string) bool { return a == b })
}
