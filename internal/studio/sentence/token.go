package sentence

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
)

// token is a word or a mark.
type token struct {
	text       string
	written    string // if it is two words there
	possessive bool
}

var tokenForm = lazyregexp.New(`\p{L}[\p{L}'’]*(?:-\p{L}[\p{L}'’]*)*|[0-9]+(?:\.[0-9]+)?|[.;:!?,()\n]`)

// maxTokens bounds the words of a text that are read.
const maxTokens = 4000

// splitWords returns the words and marks of a text. A compound with a hyphen that the vocabulary
// lacks becomes several words. Whole is false if the text has more words than are read.
func (v *vocabulary) splitWords(text string) (out []token, whole bool) {
	list := tokenForm.FindAllString(strings.ToLower(text), maxTokens+1)
	for _, w := range list[:min(len(list), maxTokens)] {
		w = strings.ReplaceAll(w, "’", "'")
		t := token{text: w}
		if base, ok := strings.CutSuffix(w, "'s"); ok && v.senses[w] == nil {
			t = token{text: base, possessive: true}
		} else if base, ok := strings.CutSuffix(w, "s'"); ok {
			t = token{text: base + "s", possessive: true}
		}
		if list, _ := v.findSenses(t.text); list == nil && strings.Contains(w, "-") && !isParticiple(t.text) &&
			!isLikeness(t.text) &&
			!isWordAs(t.text, meaning.Noun) {
			for _, piece := range strings.Split(t.text, "-") {
				out = append(out, token{text: piece})
			}
			continue
		}
		if k := len(out) - 1; k >= 0 && !out[k].possessive && v.isCompound(out[k].text, t.text) {
			t.text, t.written = out[k].text+t.text, out[k].text+" "+t.text
			out = out[:k]
		}
		out = append(out, t)
	}
	return out, len(list) <= maxTokens
}

// isCompound reports whether two nouns are written as one elsewhere: "scare crow".
func (v *vocabulary) isCompound(first, second string) bool {
	joined := first + second
	for _, word := range []string{first, second} {
		list, _ := v.findSenses(word)
		if hasSense(list, isPlain, isRelation) && (word == second || isWordAs(word, meaning.Verb)) {
			return false // "the hall stands", "shields hang over"
		}
	}
	if len(first) < 3 || len(second) < 4 || isMark(first) {
		return false
	}
	if list, _ := v.findSenses(first + " " + second); list != nil {
		return false
	}
	if list, _ := v.findSenses(second); hasNoun(list) {
		return false
	}
	list, _ := v.findSenses(joined)
	return hasNoun(list) || list == nil && isWordAs(joined, meaning.Noun) && isWordAs(first, meaning.Noun) &&
		isWordAs(second, meaning.Noun) && !meaning.IsFunctionWord(first)
}

func isMark(s string) bool { return len(s) == 1 && strings.Contains(".;:!?,()\n", s) }

// match returns the senses of the longest entry at a position, and its number of words.
func (r *reader) match(at int) (list []sense, n int, plural bool) {
	var words []string
	for i := at; i < len(r.tokens) && i < at+r.longest && !isMark(r.tokens[i].text); i++ {
		words = append(words, r.tokens[i].text)
		if found, many := r.findSenses(strings.Join(words, " ")); found != nil {
			list, n, plural = found, len(words), many
		}
		if r.tokens[i].possessive {
			break
		}
	}
	if n == 0 && at < len(r.tokens) {
		if v, err := strconv.ParseFloat(r.tokens[at].text, 64); err == nil {
			return []sense{{class: isNumber, value: v}}, 1, false
		}
	}
	return list, n, plural
}

func (r *reader) span(from, n int) string {
	var words []string
	for _, t := range r.tokens[from : from+n] {
		words = append(words, cmp.Or(t.written, t.text))
	}
	return strings.Join(words, " ")
}

func (r *reader) wordAt(i int) string {
	if i >= 0 && i < len(r.tokens) {
		return r.tokens[i].text
	}
	return ""
}

// senseOf returns the first sense of one of the classes.
func senseOf(list []sense, classes ...class) (sense, bool) {
	for _, c := range classes {
		for _, s := range list {
			if s.class == c {
				return s, true
			}
		}
	}
	return sense{}, false
}

func hasSense(list []sense, classes ...class) bool {
	_, ok := senseOf(list, classes...)
	return ok
}

func hasNoun(list []sense) bool { return hasSense(list, isThing, isSetting, isSurface) }

func isWordAs(word string, part meaning.Part) bool { return meaning.Lemma(word, part) != "" }

// isFunction reports whether a word opens another phrase: an article, a number or a pronoun.
func (r *reader) isFunction(at int) bool {
	word := r.wordAt(at)
	list, _, _ := r.match(at)
	return slices.Contains(determiners, word) && word != "that" || slices.Contains(pronouns, word) ||
		hasSense(list, isNumber, isVague)
}
