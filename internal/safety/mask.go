package safety

import (
	"strings"
	"unicode"
)

// signLetters maps signs to the letters that they replace inside a word: one or two readings.
var signLetters = map[rune]string{'0': "o", '1': "il", '3': "e", '4': "a", '5': "s", '6': "g", '7': "t", '8': "b", '9': "g",
	'@': "a", '$': "s", '!': "il", '|': "li", '€': "e", '+': "t", '(': "c", '£': "l", '#': "h"}

// readMasked returns the readings of a field in which signs stand for letters, signs part letters, or
// letters are repeated.
func readMasked(field, core string) []string {
	var list []string
	if trimmed := strings.Trim(field, ".,;:?\"')]}“”…"); strings.ContainsAny(trimmed, "013456789@$!|€+(£#") {
		if strings.HasSuffix(trimmed, "!") && !strings.HasSuffix(strings.TrimRight(trimmed, "!"), "!") {
			trimmed = strings.TrimRight(trimmed, "!")
		}
		list = appendSigns(list, trimmed)
	}
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, core)
	if letters != core && len(core)-len(letters) <= len(letters) && letters != "" {
		list = append(list, letters)
	}
	for _, w := range append([]string{letters}, list...) {
		if once, twice := shortenTo(w, 1), shortenTo(w, 2); once != w {
			if list = append(list, once); twice != once {
				list = append(list, twice)
			}
		}
	}
	return list
}

// appendSigns appends the readings of a word with signs for letters. A word needs a letter and no other sign.
func appendSigns(list []string, word string) []string {
	if !strings.ContainsFunc(word, unicode.IsLetter) {
		return list
	}
	for which := range 2 {
		read := strings.Map(func(r rune) rune {
			if l, ok := signLetters[r]; ok {
				return rune(l[min(which, len(l)-1)])
			}
			if unicode.IsLetter(r) {
				return r
			}
			return -1
		}, word)
		list = append(list, read)
	}
	return list
}

// shortenTo replaces three or more of the same letter by n of it.
func shortenTo(s string, n int) string {
	var b strings.Builder
	runes := []rune(s)
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && runes[end] == runes[i] {
			end++
		}
		count := end - i
		if count >= 3 && unicode.IsLetter(runes[i]) {
			count = n
		}
		b.WriteString(strings.Repeat(string(runes[i]), count))
		i = end
	}
	return b.String()
}

// unmaskSigns returns a text for patterns: with Latin letters instead of look-alikes, and without the spaces
// between letters and digits that are written apart.
func unmaskSigns(seen string) string {
	s := strings.Map(func(r rune) rune {
		if l, ok := lookAlikes[r]; ok {
			return l
		}
		return r
	}, seen)
	joined := joinApartRuns(s)
	if joined == s {
		return s
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(joined, string(runMark), "")), " ")
}
