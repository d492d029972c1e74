package markup

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxGlob is the maximum length of a pattern, in bytes. It is more than any name has.
const maxGlob = 4 * MaxNameLength

// MatchGlob reports whether a name matches a pattern such as "*+GM*" or "Games*". It compares keys,
// not letters: MatchGlob(p, n) == MatchGlob(p, string(KeyOf(n))), and "+gm" and "+GM" are the same
// pattern. The pattern is split into parts at '+':
//
//   - A part without wildcards matches the one part of a name that has its key.
//   - A part that is only "*" matches any number of parts, including none. So does the
//     empty part before a leading '+' and after a trailing one.
//   - In any other part '*' matches any run of characters of one part's key and '?' one
//     letter or digit. A word next to '*' matches the beginning (or end) of a word, and
//     the singular of that word as a whole: "Games*" matches Games, Games Night and
//     Gamesmanship, but not Gamers.
//   - If the pattern begins with '*', other parts may come before; if it ends with '*',
//     other parts may follow: "Games*" matches Games+Butterfly too.
//   - If the pattern begins with "*+" or '+' and the '*' at its end touches a word, that
//     '*' matches only further parts and not further letters: "*+GM*" matches every name
//     that has a part with the key gm, but not X+GM Docs, which is another card.
//     "*+GM?*" and "*GM*" match inside the part.
//
// A name that contains '*' (*right) is matched by a pattern with the same text. The blank pattern
// and patterns over 1,020 bytes match nothing. The cost is at most the product of both lengths.
func MatchGlob(pattern, name string) bool {
	if strings.TrimSpace(pattern) == "" || len(pattern) > maxGlob {
		return false
	}
	return matchParts(compileGlob(pattern), KeyOf(name).Parts())
}

// globPart is one part of a pattern. It matches any number of parts, or one part that matches one
// of the forms. A form is compared with the words of the part's key, each between two '_'. So
// "_game_*" matches the word game, and "_game*" each word that begins with game.
type globPart struct {
	any   bool
	forms []string
}

func compileGlob(pattern string) []globPart {
	raw := Parts(pattern)
	floating := raw[0] == "" || raw[0] == "*"
	open := strings.HasPrefix(raw[0], "*")
	closed := !strings.HasSuffix(raw[len(raw)-1], "*")
	last := len(raw) - 1
	if floating && last > 0 {
		if bare := strings.TrimRight(raw[last], "*"); bare != "" && !strings.HasSuffix(bare, "?") {
			raw[last] = bare
		}
	}
	parts := make([]globPart, 0, len(raw)+2)
	if open {
		parts = append(parts, globPart{any: true})
	}
	for _, p := range raw {
		parts = append(parts, compilePart(p))
	}
	if !closed {
		parts = append(parts, globPart{any: true})
	}
	return parts
}

func compilePart(part string) globPart {
	if strings.Trim(part, "*") == "" {
		return globPart{any: true}
	}
	exact := strings.ReplaceAll(boundWords(PartKey(part)), "*", `\*`)
	if !strings.ContainsAny(part, "*?") {
		return globPart{forms: []string{exact}}
	}
	return globPart{forms: []string{globForm(part, pieces), globForm(part, plurals), exact}}
}

// boundWords puts each word of a part's key between two '_'.
func boundWords(key string) string {
	if key == "" {
		return ""
	}
	return "_" + strings.ReplaceAll(key, "_", "__") + "_"
}

// globForm returns the form of a part: the keys of the texts between its wildcards. With pieces,
// words next to a wildcard stay as written and unbounded. With plurals, a word before '*' is a
// whole word.
func globForm(part string, as globReading) string {
	var b strings.Builder
	rest, cutLeft := part, false
	for {
		i := strings.IndexAny(rest, "*?")
		if i < 0 {
			b.WriteString(globText(rest, cutLeft, false, as))
			return b.String()
		}
		b.WriteString(globText(rest[:i], cutLeft, as == pieces || rest[i] == '?', as))
		if rest[i] == '?' && endsAtWord(rest[:i], utf8.DecodeLastRuneInString, !cutLeft) {
			b.WriteByte('_')
		}
		b.WriteByte(rest[i])
		single := rest[i] == '?'
		rest, cutLeft = rest[i+1:], true
		if single && endsAtWord(rest, utf8.DecodeRuneInString, true) {
			b.WriteByte('_')
		}
	}
}

// endsAtWord reports whether a word ends where text meets a '?'. That is so if the nearest
// character of the text is neither part of a word nor a wildcard. If there is no text, the result
// is atBound.
func endsAtWord(text string, nearest func(string) (rune, int), atBound bool) bool {
	if text == "" {
		return atBound
	}
	r, _ := nearest(text)
	return r != '?' && !isInWord(r, true)
}

// globReading selects how words next to a wildcard are read.
type globReading int

const (
	pieces globReading = iota
	plurals
)

// globText returns the key of the text between two wildcards. cutLeft and cutRight leave its first
// and last word unbounded on that side.
func globText(text string, cutLeft, cutRight bool, as globReading) string {
	words := strings.Split(PartKey(text), "_")
	if words[0] == "" {
		return ""
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	cutLeft = cutLeft && isInWord(first, true)
	cutRight = cutRight && isInWord(last, true)
	if as == pieces {
		keepPieces(words, text, cutLeft, cutRight)
	}
	form := boundWords(strings.Join(words, "_"))
	if cutLeft {
		form = form[1:]
	}
	if cutRight {
		form = form[:len(form)-1]
	}
	return form
}

// keepPieces restores the unbounded words as written, before they were made singular.
func keepPieces(words []string, text string, first, last bool) {
	raw := strings.Split(strings.TrimSuffix(string(appendWords(nil, prepareName(text), asWritten)), "_"), "_")
	if len(raw) != len(words) {
		return
	}
	if first {
		words[0] = raw[0]
	}
	if last {
		words[len(words)-1] = raw[len(raw)-1]
	}
}

// matchParts matches pattern parts with key parts. It backtracks only to the last "any". That is
// enough, because a later "any" can absorb all parts that an earlier one would.
func matchParts(pattern []globPart, parts []string) bool {
	p, k := 0, 0
	retryP, retryK := -1, 0
	for k < len(parts) {
		switch {
		case p < len(pattern) && pattern[p].any:
			retryP, retryK = p+1, k
			p++
		case p < len(pattern) && pattern[p].isMatch(parts[k]):
			p++
			k++
		case retryP >= 0:
			retryK++
			p, k = retryP, retryK
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p].any {
		p++
	}
	return p == len(pattern)
}

func (g globPart) isMatch(key string) bool {
	words := boundWords(key)
	return slices.ContainsFunc(g.forms, func(f string) bool { return isFormMatch(f, words) })
}

// isFormMatch reports whether s matches a form: '*' is any run, '?' one character, '\' escapes the
// next character.
func isFormMatch(form, s string) bool {
	p, i := 0, 0
	retryP, retryI := -1, 0
	for i < len(s) {
		_, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(form) && form[p] == '*':
			retryP, retryI = p+1, i
			p++
			continue
		case p < len(form) && form[p] == '?' && s[i] != '_':
			p++
			i += n
			continue
		case p+1 < len(form) && form[p] == '\\' && form[p+1] == s[i]:
			p += 2
			i++
			continue
		case p < len(form) && form[p] == s[i]:
			p++
			i++
			continue
		case retryP < 0:
			return false
		}
		_, n = utf8.DecodeRuneInString(s[retryI:])
		retryI += n
		p, i = retryP, retryI
	}
	return strings.Trim(form[p:], "*") == ""
}
