package markup

import (
	"strings"
	"unicode/utf8"
)

// maxGlob is the longest pattern that MatchGlob looks at, in bytes: more than any
// name has.
const maxGlob = 4 * MaxNameLength

// MatchGlob tells whether a name fits a pattern such as "*+GM*" or "Games*". It
// compares keys, never letters: MatchGlob(p, n) == MatchGlob(p, string(KeyOf(n))),
// and "+gm" and "+GM" are one pattern. The pattern is split into parts at '+':
//
//   - A part without wildcards fits the one part of a name that has its key.
//   - A part that is only "*" fits any number of parts, also none; so does the
//     empty part before a leading '+' and after a trailing one.
//   - In any other part '*' fits any run of characters of one part's key and '?'
//     one letter or digit. A word that touches '*' fits the beginning (or end) of a
//     word, and the whole word of which it is the plural: "Games*" fits Games,
//     Games Night and Gamesmanship, but not Gamers.
//   - When the pattern begins with '*', other parts may come before; when it ends
//     with '*', other parts may follow: "Games*" fits Games+Butterfly too.
//   - When the pattern begins with "*+" or '+' and the '*' at its end touches a
//     word, that '*' stands for following parts only and not for more letters:
//     "*+GM*" fits every name that has a part with the key gm, and not X+GM Docs,
//     which is another card. "*+GM?*" and "*GM*" look into the part.
//
// A name that has '*' in it (*right) is fitted by a pattern that spells it. The
// blank pattern and one over 1,020 bytes fit nothing. The cost is at most the
// product of both lengths.
func MatchGlob(pattern, name string) bool {
	if strings.TrimSpace(pattern) == "" || len(pattern) > maxGlob {
		return false
	}
	return matchParts(compileGlob(pattern), KeyOf(name).Parts())
}

// globPart is one part of a pattern: any number of parts, or one part that fits
// one of the forms. A form is matched against the words of the part's key, each
// between two '_', so that "_game_*" fits the word game and "_game*" each word
// that begins so.
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
	exact := strings.ReplaceAll(bounded(PartKey(part)), "*", `\*`)
	if !strings.ContainsAny(part, "*?") {
		return globPart{forms: []string{exact}}
	}
	return globPart{forms: []string{globForm(part, pieces), globForm(part, plurals), exact}}
}

// bounded puts each word of a part's key between two '_'.
func bounded(key string) string {
	if key == "" {
		return ""
	}
	return "_" + strings.ReplaceAll(key, "_", "__") + "_"
}

// globForm keys the text between wildcards. As pieces, words that touch a
// wildcard stay as written and open; as plurals, one before '*' is a whole word.
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
		if rest[i] == '?' && edge(rest[:i], utf8.DecodeLastRuneInString, !cutLeft) {
			b.WriteByte('_')
		}
		b.WriteByte(rest[i])
		single := rest[i] == '?'
		rest, cutLeft = rest[i+1:], true
		if single && edge(rest, utf8.DecodeRuneInString, true) {
			b.WriteByte('_')
		}
	}
}

// edge tells whether a word ends where text meets a '?': the text's nearest
// character is no part of a word and no wildcard, or there is no text and
// atBound holds.
func edge(text string, nearest func(string) (rune, int), atBound bool) bool {
	if text == "" {
		return atBound
	}
	r, _ := nearest(text)
	return r != '?' && !inWord(r, true)
}

// globReading is how words that touch a wildcard are read.
type globReading int

const (
	pieces globReading = iota
	plurals
)

// globText keys the text between two wildcards; cutLeft and cutRight say that
// its first and last word are open on that side.
func globText(text string, cutLeft, cutRight bool, as globReading) string {
	words := strings.Split(PartKey(text), "_")
	if words[0] == "" {
		return ""
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	cutLeft = cutLeft && inWord(first, true)
	cutRight = cutRight && inWord(last, true)
	if as == pieces {
		keepPieces(words, text, cutLeft, cutRight)
	}
	form := bounded(strings.Join(words, "_"))
	if cutLeft {
		form = form[1:]
	}
	if cutRight {
		form = form[:len(form)-1]
	}
	return form
}

// keepPieces undoes the singular of the open words.
func keepPieces(words []string, text string, first, last bool) {
	raw := strings.Split(strings.TrimSuffix(string(appendWords(nil, prepared(text), asWritten)), "_"), "_")
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

// matchParts fits pattern parts to key parts, trying again from the last "any"
// only, which is enough because a later "any" can take up all that an earlier
// one would.
func matchParts(pattern []globPart, parts []string) bool {
	p, k := 0, 0
	retryP, retryK := -1, 0
	for k < len(parts) {
		switch {
		case p < len(pattern) && pattern[p].any:
			retryP, retryK = p+1, k
			p++
		case p < len(pattern) && pattern[p].fits(parts[k]):
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

func (g globPart) fits(key string) bool {
	words := bounded(key)
	for _, f := range g.forms {
		if fitsForm(f, words) {
			return true
		}
	}
	return false
}

// fitsForm matches one form: '*' any run, '?' one character, '\' the next as it is.
func fitsForm(form, s string) bool {
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
