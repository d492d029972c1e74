package sentence

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// accountWords completes the report: each content word of a text stands in the words of a phrase, in an assumption or
// among the words that are not understood. It compares the text with the report itself, so that no rule of the grammar
// and no step of the composition can drop a word unseen.
func (r *reader) accountWords(out *Reading) {
	said := map[string]bool{}
	add := func(words string) {
		for _, w := range strings.FieldsFunc(words, func(c rune) bool { return strings.ContainsRune(` ,;"`, c) }) {
			said[w] = true
		}
	}
	for _, p := range out.Phrases {
		add(p.Words)
		add(p.Assumed)
	}
	for text, tokens := range r.texts {
		unknown := &out.Unknown
		if text == fromText {
			unknown = &out.Unread
		}
		for _, words := range *unknown {
			add(words)
		}
		r.tokens = tokens
		var idle []string
		for i, t := range tokens {
			switch {
			case text == fromTitle, isMark(t.text), said[t.text], t.written != "" && said[strings.Fields(t.written)[0]]:
				continue
			case !r.isContent(i):
				continue
			case r.isIdle(t.text):
				idle = append(idle, t.text)
			default:
				*unknown = appendWords(*unknown, t.text)
			}
			said[t.text] = true
		}
		if len(idle) > 0 {
			out.Phrases = append(out.Phrases, Phrase{Words: strings.Join(idle, ", "), Became: "nothing",
				Assumed: "a scene shows no acts and manners"})
		}
	}
}

// grammar are the classes of words that only join others.
var grammar = []class{isRelation, isInverse, isWithin, isElsewhere, isWithout, isMade, isPlain, isVague, isNumber}

// isContent reports whether a word has a meaning of its own at its position.
func (r *reader) isContent(at int) bool {
	word := r.wordAt(at)
	list, _ := r.findSenses(word)
	switch {
	case meaning.IsFunctionWord(word), units[word] > 0, slices.Contains(paces, word),
		hasSense(list, grammar...) && !r.isNamed(at, list):
		return false
	}
	for from := max(at-r.longest, 0); from <= at; from++ {
		list, n, _ := r.match(from)
		if from+n > at && n > 1 && hasSense(list, grammar...) && !hasSense(list, isElsewhere) {
			return false // "at the foot of"
		}
		if _, n := r.matchRegion(from); from+n > at {
			return false
		}
	}
	return true
}

// isNamed reports whether the word before shows that a word which else joins others is a noun: "the time", "old
// stands".
func (r *reader) isNamed(at int, list []sense) bool {
	word, before := r.wordAt(at), r.wordAt(at-1)
	if at == 0 || r.nounFollows(at+1) || !hasNoun(list) && !isWordAs(word, meaning.Noun) {
		return false
	}
	if slices.Contains([]string{"a", "an", "the", "its", "their"}, before) {
		return hasNoun(list) || !isWordAs(word, meaning.Adjective) && !isWordAs(word, meaning.Adverb)
	}
	opens, _, _ := r.match(at - 1)
	return !hasNoun(opens) && (hasSense(opens, isMaterial, isSize, isNumber) || opens == nil &&
		isWordAs(before, meaning.Adjective) && !isWordAs(before, meaning.Noun)) && !hasSense(list, isRelation, isNumber, isVague)
}

// isIdle reports whether a word is a verb or an adverb, and no noun or adjective.
func (r *reader) isIdle(word string) bool {
	if list, _ := r.findSenses(word); list != nil {
		return false
	}
	if _, ok := r.verbs[meaning.Lemma(word, meaning.Verb)]; ok {
		return true
	}
	verb, adverb := isWordAs(word, meaning.Verb), isWordAs(word, meaning.Adverb)
	return (verb || adverb) && (isParticiple(word) || !isWordAs(word, meaning.Noun) && !isWordAs(word, meaning.Adjective))
}

// maxUnknown bounds the words that a reading lists as not understood. The last entry tells of more.
const maxUnknown = 200

// moreUnknown is the last entry of a list of words that is full.
const moreUnknown = "more words"

func appendWords(list []string, words string) []string {
	switch {
	case words == "" || slices.Contains(list, words) || len(list) > maxUnknown:
		return list
	case len(list) == maxUnknown:
		return append(list, moreUnknown)
	}
	return append(list, words)
}

func (r *reader) addUnknown(words string) { r.unknown = appendWords(r.unknown, words) }
