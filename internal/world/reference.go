package world

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
)

// Grades of how a typed name matches a card, worst first.
const (
	fitNone  = iota
	fitSlip  // every word is one of the name's, with at most one wrong letter
	fitWords // every word is one of the name's
	fitTail  // the last words of the name: "hound" for Salt Hound
	fitName  // the name or an alias
)

// namesOf returns the names that a card can be called by: the last part of its name, and its
// aliases.
func namesOf(t cardAt) []string {
	var f struct {
		Aliases []string `json:"aliases"`
	}
	fieldsOf(t.Fields, &f)
	return append([]string{t.title()}, f.Aliases...)
}

// rateFit returns the grade of the match between a typed name and a card.
func rateFit(typed string, t cardAt) int {
	want := bareWords(typed)
	if len(want) == 0 {
		return fitNone
	}
	best := fitNone
	for _, name := range namesOf(t) {
		best = max(best, fitWordsOf(want, bareWords(name)))
	}
	return best
}

func fitWordsOf(want, have []string) int {
	switch {
	case slices.Equal(want, have):
		return fitName
	case len(want) < len(have) && slices.Equal(want, have[len(have)-len(want):]):
		return fitTail
	case hasAllWords(want, have, func(a, b string) bool { return a == b }):
		return fitWords
	case hasAllWords(want, have, isSimilar):
		return fitSlip
	}
	return fitNone
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
	return a == b || a == b+"s" || b == a+"s" || a == strings.TrimSuffix(b, "y")+"ies"
}

// isSimilar reports whether two words are equal, one is the plural of the other, or, for words of
// four letters or more, they differ by one typo.
func isSimilar(a, b string) bool {
	return isSameOrPlural(a, b) || utf8.RuneCountInString(a) >= 4 && utf8.RuneCountInString(b) >= 4 && oneSlip(a, b)
}

// bareWords returns the folded words of a name without articles.
func bareWords(name string) []string {
	var out []string
	for _, w := range lex(name) {
		if w.kind == plainWord && !articles[w.fold] {
			out = append(out, w.fold)
		}
	}
	return out
}

// findMatches returns the cards that a typed name matches best, in their order.
func findMatches(typed string, among []cardAt) []cardAt {
	best, out := fitNone, []cardAt(nil)
	for _, t := range among {
		f := rateFit(typed, t)
		if f == fitNone || f < best || slices.ContainsFunc(out, func(o cardAt) bool { return o.ID == t.ID }) {
			continue
		}
		if f > best {
			best, out = f, nil
		}
		out = append(out, t)
	}
	return out
}

// splitCount splits "3 coins" and "all coins" into the number and the name; -1 means all.
func splitCount(name string) (n int64, what string) {
	first, rest, ok := strings.Cut(strings.TrimSpace(name), " ")
	if fold := foldWord(first); fold == "all" || fold == "every" || fold == "everything" {
		return -1, strings.TrimPrefix(strings.TrimSpace(rest), "the ")
	}
	if v, err := strconv.ParseInt(first, 10, 32); err == nil && v > 0 && ok {
		return v, rest
	}
	if v := slices.Index(numberWords, foldWord(first)); v > 0 && ok {
		return int64(v), rest
	}
	return 1, name
}

var numberWords = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// joinNames joins names as used in a sentence: "a, b and c".
func joinNames(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// titlesOf returns the titles of cards.
func titlesOf(things []cardAt) []string {
	out := make([]string, len(things))
	for i, t := range things {
		out[i] = t.title()
	}
	return out
}

// title returns the last part of a card's name.
func (t cardAt) title() string {
	parts := markup.Parts(t.Name)
	if len(parts) == 0 {
		return ""
	}
	return markup.Clean(parts[len(parts)-1])
}
