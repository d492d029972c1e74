package command

import (
	"strings"
)

// SentenceAbout returns the first sentence of a text that mentions a name, or "" if none does.
func SentenceAbout(text, name string) string {
	want := BareWords(name)
	if len(want) == 0 {
		return ""
	}
	for _, s := range splitSentences(text) {
		if hasAllWords(want, BareWords(s), isSameOrPlural) {
			return s
		}
	}
	return ""
}

// splitSentences splits a text after its full stops, question and exclamation marks, and at line
// ends.
func splitSentences(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		from := 0
		for i, r := range line {
			if end := i + 1; (r == '.' || r == '!' || r == '?') && (end == len(line) || line[end] == ' ') {
				out = append(out, strings.TrimSpace(line[from:end]))
				from = end
			}
		}
		if rest := strings.TrimSpace(line[from:]); rest != "" {
			out = append(out, rest)
		}
	}
	return out
}

// DirectionOf returns the direction that a word means, such as "n" or "northward".
func DirectionOf(word string) (Direction, bool) {
	d, ok := directionWords[foldWord(word)]
	return d, ok
}

// MeansHere reports whether a name means the place itself.
func MeansHere(name string) bool {
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
