package command

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/meaning"
)

// Prose is a text, taken apart so that names can be found in it.
type Prose struct {
	sentences []sentence
	forms     map[string]bool // all words and their base forms; nil: not listed
}

type sentence struct {
	text  string
	words []word
}

// Mention is a place in a text that has a name.
type Mention struct {
	Sentence string
	Noun     string // the word of the text that the name's noun is
	Phrase   string // the sentence from the words before the noun on, with a capital letter and without its full stop
	Plural   bool   // the text has the noun in the plural
	Denied   bool   // the text tells that there is none: no bell, without a bell
}

// Nearness is the likeness of the words of a text and those of a name.
type Nearness int

// The kinds of nearness, the nearest first.
const (
	SameWords  Nearness = iota // in any form: plural, singular
	Synonyms                   // the noun is a synonym, or a narrower word: "fishwife" for woman
	Misspelled                 // words of four letters or more have one wrong letter
)

// ReadProse takes a text apart. Its cost is linear in the length of the text.
func ReadProse(text string) Prose {
	var out []sentence
	for s := range meaning.Sentences(text) {
		words := lex(s)
		if !slices.ContainsFunc(words, func(w word) bool { return w.kind == quoted }) {
			out = append(out, sentence{s, words})
			continue
		}
		var all []word
		for _, w := range words {
			if w.kind == quoted {
				for _, in := range lex(w.raw) {
					in.start, in.end = in.start+w.start+1, in.end+w.start+1
					all = append(all, in)
				}
			} else {
				all = append(all, w)
			}
		}
		out = append(out, sentence{s, all})
	}
	return Prose{sentences: out}
}

// Indexed returns the text with a list of its words, which makes it cheaper to find out that it has none of many names.
func (p Prose) Indexed() Prose {
	p.forms = map[string]bool{}
	for _, s := range p.sentences {
		for _, w := range s.words {
			for part := range strings.SplitSeq(w.fold, "-") {
				for _, f := range formsOf(part) {
					p.forms[f] = true
				}
			}
			p.forms[w.fold] = true
		}
	}
	return p
}

// formsOf returns a word and the base forms that isSameNoun may compare.
func formsOf(w string) []string {
	w = strings.TrimSuffix(w, "'s")
	return []string{w, nounOf(w), strings.TrimSuffix(w, "s"), strings.TrimSuffix(w, "ies") + "y"}
}

// mayHave reports whether the text may have a word in any form.
func (p Prose) mayHave(want string) bool {
	return p.forms == nil || slices.ContainsFunc(formsOf(want), func(f string) bool { return p.forms[f] })
}

// maxNameWords bounds the words of a name that is looked for in a text.
const maxNameWords = 10

// ProperNames returns the names of several words in a text: the words with capital letters that stand together, without
// the first one of a sentence.
func (p Prose) ProperNames() (names []string) {
	for _, s := range p.sentences {
		from := 1
		for i := 1; i <= len(s.words); i++ {
			if i < len(s.words) && s.words[i].kind == plainWord && unicode.IsUpper([]rune(s.words[i].raw)[0]) {
				continue
			}
			if i-from > 1 {
				names = append(names, joinAll(s.words[from:i]))
			}
			from = i + 1
		}
	}
	return names
}

// Find returns the first sentence of a text that has all words of a name, as near as the argument allows.
func (p Prose) Find(name string, near Nearness) (Mention, bool) {
	want := wordsOfName(name)
	if len(want) == 0 || len(want) > maxNameWords ||
		near == SameWords && slices.ContainsFunc(want, func(w string) bool { return !p.mayHave(w) }) {
		return Mention{}, false
	}
	head := HeadOf(name)
	headAt := slices.IndexFunc(want, func(w string) bool { return nounOf(w) == head })
	if headAt < 0 {
		headAt = len(want) - 1
	}
	match := wordMatch{near: near, head: head}
	if near == Synonyms {
		match.synonyms = meaning.Synonyms(head, meaning.Noun)
	}
	for _, s := range p.sentences {
		if m, ok := s.findWords(want, headAt, match); ok {
			return m, true
		}
	}
	return Mention{}, false
}

// findWords returns the mention of words in a sentence; headAt is the place of the noun among them.
func (s sentence) findWords(want []string, headAt int, match wordMatch) (m Mention, ok bool) {
	first := len(s.words)
	for i, w := range want {
		same := match
		if i != headAt && match.near == Synonyms {
			same.near = SameWords
		}
		at := slices.IndexFunc(s.words, func(o word) bool { return o.kind == plainWord && same.fits(w, o.fold) })
		if at < 0 {
			return m, false
		}
		if i == headAt {
			m.Noun = s.words[at].raw
			m.Plural, m.Phrase = isPlural(s.words[at].fold), s.phraseFrom(at)
		}
		first = min(first, at)
	}
	m.Sentence, m.Denied = s.text, isDenied(s.words[:first])
	return m, true
}

// IsPlural reports whether the noun of a name is in the plural.
func IsPlural(name string) bool {
	all := Namings(name)
	if len(all) == 0 {
		return false
	}
	words := BareWords(all[len(all)-1].Name)
	return len(words) > 0 && isPlural(words[len(words)-1])
}

// isPlural reports whether a noun, or the last part of one with hyphens, is in the plural.
func isPlural(noun string) bool {
	if l := nounOf(noun); l != noun && !strings.Contains(noun, "-") {
		return true
	}
	_, tail, ok := strings.Cut(noun, "-")
	return ok && isPlural(tail)
}

// phraseFrom returns a sentence from the words before a noun on: from the article, the number or the quality before it.
func (s sentence) phraseFrom(at int) string {
	for at > 0 && s.words[at-1].kind == plainWord && !s.words[at-1].is(prepositionClass|jointClass|beClass) {
		if at--; s.words[at].is(articleClass | numberClass) {
			break
		}
	}
	text := []rune(s.text)
	if s.words[at].start >= len(text) {
		return s.text
	}
	rest := strings.TrimRight(string(text[s.words[at].start:]), ".!? ")
	r, n := utf8.DecodeRuneInString(rest)
	return string(unicode.ToUpper(r)) + rest[n:]
}

// isDenied reports whether the words in front of a noun tell that there is none: no, without a, not one.
func isDenied(before []word) bool {
	for n, w := range slices.Backward(before) {
		switch {
		case len(before)-n > 3 || w.kind != plainWord:
			return false
		case w.oneOf("no", "without", "neither", "nor"):
			return true
		case w.oneOf("not", "never"):
			return n+1 < len(before) && before[n+1].oneOf("a", "an", "any", "one")
		case w.is(prepositionClass | jointClass | subjectClass&^articleClass):
			return false
		}
	}
	return false
}

// wordMatch compares words of a name with words of a text.
type wordMatch struct {
	near     Nearness
	head     string
	synonyms []string // of the head
}

func (m wordMatch) fits(want, have string) bool {
	if isSameNoun(want, have) {
		return true
	}
	switch m.near {
	case Synonyms:
		have = nounOf(have)
		return slices.Contains(m.synonyms, have) || len(m.head) > 2 && len(have) > 2 && !slices.Contains(tooBroad, m.head) &&
			meaning.Lemma(have, meaning.Noun) != "" && meaning.IsMainly(have, meaning.Noun, m.head)
	case Misspelled:
		return isSimilar(want, have) && meaning.Lemma(have, meaning.Noun) != "" && !lookUp(lexicon(), have).isGrammar()
	}
	return false
}

// tooBroad are nouns of which nearly every other one is a kind.
var tooBroad = strings.Fields("thing object entity place item matter stuff person something way part one")

// isSameNoun reports whether two words are equal but for the plural, the owner's s and parts joined by hyphens.
func isSameNoun(want, have string) bool {
	if isSameOrPlural(want, have) || want == "" || have == "" {
		return want == have || isSameOrPlural(want, have)
	}
	if strings.HasPrefix(have, want[:1]) && (nounOf(want) == nounOf(have) || strings.TrimSuffix(have, "'s") == want) {
		return true
	}
	if strings.Contains(have, "-") {
		return slices.ContainsFunc(strings.Split(have, "-"), func(part string) bool { return isSameNoun(want, part) })
	}
	return false
}

// wordsOfName returns the words of a name that a text must have: without articles, small words and the hyphens in them.
func wordsOfName(name string) []string {
	var out []string
	for _, w := range lex(name) {
		if w.kind != plainWord || w.is(articleClass) || w.is(prepositionClass) || w.is(whClass) || w.fold == "of" {
			continue
		}
		out = append(out, strings.Split(w.fold, "-")...)
	}
	return out
}
