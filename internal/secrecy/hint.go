package secrecy

import (
	"slices"
	"strings"
	"unicode"
)

// MayHoldMark reports whether a text may have an exact mark. Most texts have none of the signs with which marks
// begin, so that they need not be read.
func MayHoldMark(text string, form Form) bool {
	if form == HTML {
		return (strings.ContainsAny(text, "<[&") || holdsWide(text))
	}
	for i := 0; i < len(text); i++ {
		if !markSigns[text[i]] {
			continue
		}
		if form == Plain || begins(text, i) {
			return true
		}
	}
	return false
}

// holdsWide reports whether a text has a byte order mark or a wide bracket.
func holdsWide(text string) bool {
	return strings.Contains(text, "\ufeff") || strings.Contains(text, "［")
}

// markSigns are the signs with which marks begin.
var markSigns = signSet("%<[:>!?=/{`~#-&\xef\x00")

// begins reports whether an exact mark may begin at a sign of a Markdown text.
func begins(text string, at int) bool {
	rest := text[at:min(len(text), at+maxBegin)]
	if at > 0 && text[at-1] == rest[0] && strings.IndexByte("`~#", rest[0]) >= 0 {
		return false // its run has been judged
	}
	twice := len(rest) > 1 && rest[0] == rest[1]
	switch rest[0] {
	case '%', ':', '=', '/', '!', '?':
		return twice
	case '{':
		return strings.HasPrefix(rest, "{{<") || strings.HasPrefix(rest, "{%")
	case '>':
		return strings.HasPrefix(rest, ">!")
	case '<':
		return len(rest) > 1 && strings.IndexByte(" =\n", rest[1]) < 0
	case '[':
		word, after, closed := strings.Cut(rest[1:], "]")
		if !closed || strings.HasPrefix(after, ":") || strings.IndexAny(word, "!/") == 0 {
			return true
		}
		if end := strings.IndexAny(word, "=:|"); end >= 0 {
			isAttribute := word[end] == '='
			word = strings.TrimSpace(word[:end])
			if i := strings.LastIndexByte(word, ' '); isAttribute && i > 0 && isExact(word[:i]) {
				return true
			}
		}
		word = strings.TrimSpace(word)
		return isExact(word) || slices.Contains(marks().Forum, strings.ToLower(word))
	case '`', '~':
		line, _, _ := strings.Cut(rest, "\n")
		info := strings.TrimLeft(line, "`~")
		return len(line)-len(info) >= 3 && info != "" && (secretLanguage(info) != "" || FindWord(info, false) != "")
	case '#':
		words, _, _ := strings.Cut(strings.TrimLeft(rest, "#"), "\n")
		if before := text[strings.LastIndexAny(text[:at], "\n\r")+1 : at]; strings.ContainsFunc(before, unicode.IsLetter) {
			words, _, _ = strings.Cut(words, " ") // it is a tag; a heading begins its line
		}
		return isExact(words) || FindWord(words, false) != ""
	case '-':
		return isUnderline(text, at)
	}
	return true
}

// maxBegin is the number of bytes in which the beginning of a mark is judged.
const maxBegin = 256

// isUnderline reports whether a line of dashes makes a heading of the line above it, which has a secret word.
func isUnderline(text string, at int) bool {
	from := strings.LastIndexByte(text[:at], '\n')
	if from < 0 {
		return false
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	if strings.Trim(line, "- \t") != "" || strings.Trim(text[from+1:at], " \t>-*+") != "" {
		return false
	}
	above := text[strings.LastIndex(text[:from], "\n\n")+1 : from]
	return len(above) > maxBegin || isExact(above) || FindWord(above, false) != ""
}
