package sentence

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// accountWords completes the report: each content word of a text stands in the words of a phrase, in an assumption or
// among the words that are not understood, and so does each name of several words. It compares the text with the report
// itself, so that no rule of the grammar and no step of the composition can drop a word unseen.
func (r *reader) accountWords(out *Reading) {
	a := account{words: map[string]bool{}}
	for _, p := range out.Phrases {
		if p.own {
			a.add(p.Words)
		}
		for i, quoted := range strings.Split(p.Assumed, `"`) {
			if i%2 == 1 {
				a.add(quoted)
			}
		}
	}
	for text, tokens := range r.texts {
		unknown := &out.Unknown
		if text == fromText {
			unknown = &out.Unread
		}
		for _, words := range *unknown {
			a.add(words)
		}
		if text == fromTitle {
			continue // a name describes nothing
		}
		r.tokens, r.spent = tokens, r.joints[text]
		var idle, split []string
		for i, t := range tokens {
			word := cmp.Or(t.written, t.text)
			switch {
			case isMark(t.text), a.words[strings.Fields(word)[0]], !r.isContent(i):
			case r.isIdle(t.text):
				idle = append(idle, word)
				a.add(word)
			default:
				*unknown = appendWords(*unknown, word)
				a.add(word)
			}
			if name := r.nameAt(i); name != "" && !a.hasInRow(name) && !isHeld(out, word) {
				split = append(split, name)
			}
		}
		if len(idle) > 0 {
			out.Phrases = append(out.Phrases, Phrase{Words: strings.Join(idle, ", "), Became: "nothing",
				Assumed: "a scene shows no acts and manners"})
		}
		if len(split) > 0 {
			out.Phrases = append(out.Phrases, Phrase{Words: strings.Join(split, ", "), Became: "its words one by one",
				Assumed: "no name of one thing"})
		}
	}
}

// isHeld reports whether something is in or on the thing that a noun names: "a vase of flowers".
func isHeld(out *Reading, noun string) bool {
	return slices.ContainsFunc(out.Phrases, func(p Phrase) bool {
		return p.Relation == "in "+noun || p.Relation == "on "+noun
	})
}

// account is what a report names.
type account struct {
	words map[string]bool
	all   []string
}

func (a *account) add(words string) {
	list := strings.FieldsFunc(words, func(c rune) bool { return strings.ContainsRune(` ,;"`, c) })
	for _, w := range list {
		a.words[w] = true
	}
	a.all = append(a.all, " "+strings.Join(list, " ")+" ")
}

// hasInRow reports whether one entry of the report has the words in a row.
func (a *account) hasInRow(words string) bool {
	return slices.ContainsFunc(a.all, func(text string) bool { return strings.Contains(text, " "+words+" ") })
}

// nameAt returns the two nouns in a row, or with "of" or "and" between them, that begin at a position and may be one
// name: "block of ice", "mortar and pestle", "stained glass".
func (r *reader) nameAt(at int) string {
	last, joint := at+1, r.wordAt(at+1)
	if joint == "of" || joint == "and" {
		last++
	}
	list, _ := r.findSenses(r.singularAt(last))
	noVerb := last == at+1 && hasNoun(list) && !r.spent[last] // "food stands"
	if !r.isNameWord(at) && !(last == at+1 && isParticiple(r.wordAt(at))) || !r.isNameWord(last) && !noVerb ||
		r.tokens[at].possessive {
		return ""
	}
	if joint == "and" && isWordAs(r.singularAt(at)+" and "+r.singularAt(last), meaning.Noun) {
		return r.span(at, last+1-at)
	}
	if joint == "and" && (strings.HasSuffix(r.wordAt(at), "s") || strings.HasSuffix(r.wordAt(last), "s")) {
		return ""
	}
	return r.span(at, last+1-at)
}

// singularAt returns the base form of the noun at a position.
func (r *reader) singularAt(at int) string { return meaning.Lemma(r.wordAt(at), meaning.Noun) }

// isNameWord reports whether a word may be part of a name.
func (r *reader) isNameWord(at int) bool {
	word := r.wordAt(at)
	list, _ := r.findSenses(word)
	gerund := strings.HasSuffix(word, "ing") && isWordAs(word, meaning.Noun)
	joins := r.spent[at] && !gerund && r.wordAt(at+1) != "of" && (!hasNoun(list) || hasSense(list, isPlain))
	if word == "" || isMark(word) || joins {
		return false
	}
	return hasNoun(list) || !hasSense(list, grammar...) && r.isContent(at) && isWordAs(word, meaning.Noun)
}

// grammar are the classes of words that only join others.
var grammar = []class{isRelation, isInverse, isWithin, isElsewhere, isWithout, isMade, isPlain, isVague, isNumber}

// isContent reports whether a word has a meaning of its own at its position: it is no word of grammar, or it is one
// that may be a noun and that the reader did not use to join others.
func (r *reader) isContent(at int) bool {
	word := r.wordAt(at)
	list, _ := r.findSenses(word)
	before, _ := r.findSenses(r.wordAt(at - 1))
	switch {
	case meaning.IsFunctionWord(word), slices.Contains(empty, word),
		(units[word] > 0 || slices.Contains(paces, word)) && hasSense(before, isNumber, isVague):
		return false
	case hasSense(list, grammar...) && !r.isNamed(at, list):
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

// empty are nouns that name nothing.
var empty = []string{"thing", "things", "something", "anything", "nothing", "everything", "kind", "kinds", "sort",
	"sorts", "type", "types", "way", "ways", "lot", "lots", "bit", "bits", "couple", "need"}

// isNamed reports whether a word that else joins others can only be a noun at its position: behind an article, or as
// no other part of speech.
func (r *reader) isNamed(at int, list []sense) bool {
	word := r.wordAt(at)
	if hasSense(list, isNumber, isVague) || r.nounFollows(at+1) || !hasNoun(list) && !isWordAs(word, meaning.Noun) {
		return false
	}
	article := slices.Contains([]string{"a", "an", "the", "its", "their"}, r.wordAt(at-1))
	return article && hasNoun(list) || !isWordAs(word, meaning.Adjective) && !isWordAs(word, meaning.Adverb) &&
		(article || !r.spent[at])
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
