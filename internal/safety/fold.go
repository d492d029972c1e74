package safety

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Visible returns a text without invisible characters: format and control characters, the tag
// block, variation selectors. Compatibility characters are replaced by their equivalents (NFKC).
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r), r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff,
			r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164:
			return -1
		}
		return r
	}, norm.NFKC.String(s))
}

// lookAlikes maps letters of other scripts to the Latin letters that they resemble.
var lookAlikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ї': 'i', 'ј': 'j', 'к': 'k', 'м': 'm', 'н': 'h',
	'о': 'o', 'р': 'p', 'ѕ': 's', 'т': 't', 'у': 'y', 'х': 'x', 'ѵ': 'v', 'ԛ': 'q', 'ԝ': 'w',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x',
	'ı': 'i', 'ł': 'l', 'ø': 'o', 'đ': 'd', 'ß': 's',
}

// leet maps signs to the letters that they replace inside a word.
var leet = map[rune]rune{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '@': 'a', '$': 's',
	'!': 'i', '|': 'l', '€': 'e', '+': 't'}

// Fold returns a text's words in their simplest form: lower case, without accents, with look-alikes
// as Latin letters.
func Fold(s string) []string { return splitWords(foldLetters(Visible(s))) }

func foldLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		r = unicode.ToLower(r)
		if l, ok := lookAlikes[r]; ok {
			return l
		}
		return r
	}, norm.NFD.String(s))
}

func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' })
}

// wordForms returns the possible readings of a visible text as lists of words: the text as it is
// and, where they differ, versions with signs read as letters, with separate letters joined, and
// with repeated letters shortened.
func wordForms(seen string) [][]string {
	text := foldLetters(seen)
	list := [][]string{splitWords(text)}
	if read := readLeet(text); read != text {
		list = append(list, splitWords(read))
	}
	if joined := joinApart(list[len(list)-1]); joined != nil {
		list = append(list, joined)
	}
	if short := shortenTo(text, 1); short != text {
		list = append(list, splitWords(short))
	}
	return list
}

// readLeet reads signs as letters in words that also contain letters.
func readLeet(s string) string {
	if !strings.ContainsAny(s, "0134578@$!|€+") {
		return s
	}
	fields := strings.Fields(s)
	for i, f := range fields {
		if core := strings.TrimRight(f, "!?.,;:"); strings.ContainsFunc(core, unicode.IsLetter) {
			fields[i] = strings.Map(func(r rune) rune {
				if l, ok := leet[r]; ok {
					return l
				}
				return r
			}, core)
		}
	}
	return strings.Join(fields, " ")
}

// joinApart joins three or more consecutive single letters to one word. It returns nil if there are
// none.
func joinApart(list []string) []string {
	var out []string
	for i := 0; i < len(list); {
		run := i
		for run < len(list) && len([]rune(list[run])) == 1 {
			run++
		}
		if run-i >= 3 {
			out = append(out, strings.Join(list[i:run], ""))
			i = run
			continue
		}
		out = append(out, list[i])
		i++
	}
	if len(out) == len(list) {
		return nil
	}
	return out
}
