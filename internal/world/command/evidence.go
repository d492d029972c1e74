package command

import (
	"slices"

	"loregate/internal/meaning"
)

// evidence is what the words of a text tell about the way in which it was read.
type evidence struct {
	Parsed
	words  []word // without the marks between them
	names  []string
	least  float64 // confidence of the least certain act
	commas bool
	marks  bool // other marks before the end
	idiom  bool // an idiom begins at one of the first words
	start  start
	unread int // words with a meaning of their own that stand in no name
}

// start is the kind of the first word of a text.
type start int

const (
	startVerb start = iota // or a direction
	startSubject
	startQuestion
	startOther
)

// idiomStarts is the number of words at one of which an idiom may begin.
const idiomStarts = 4

func (p Parsed) collectEvidence() *evidence {
	e := &evidence{Parsed: p, least: 1}
	all := lex(p.RawText)
	for i, w := range all {
		switch w.kind {
		case plainWord:
			e.words = append(e.words, w)
		case comma:
			e.commas = true
		case quoted:
		default:
			e.marks = e.marks || i+1 < len(all)
		}
	}
	read := map[string]bool{}
	for _, i := range p.Intents {
		e.least = min(e.least, i.Confidence)
		if i.DirectObject != "" {
			e.names = append(e.names, i.DirectObject)
		}
		e.names = append(e.names, i.Targets...)
		for _, text := range i.Modifiers {
			addWords(read, lex(text))
		}
	}
	for _, name := range e.names {
		addWords(read, trimArticles(lex(name)))
	}
	for i := range min(idiomStarts, len(e.words)) {
		e.idiom = e.idiom || idiomOf(e.words[i:]).end > 0
	}
	e.countUnread(read)
	e.readStart()
	return e
}

func addWords(set map[string]bool, words []word) {
	for _, w := range words {
		set[w.fold] = true
	}
}

func (e *evidence) countUnread(read map[string]bool) {
	for _, w := range e.words {
		if w.is(grammarClasses|mannerClass|courtesyClass|titleClass|routeClass|wayClass) || w.toward() != "" ||
			w.fold == "i" || read[w.fold] {
			continue
		}
		e.unread++
	}
}

func (e *evidence) readStart() {
	words := e.words
	for len(words) > 1 && words[0].is(courtesyClass|fillerClass|mannerClass) && words[0].toward() == "" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	w := words[0]
	verb, f := readVerbForm(w.fold, w.known)
	isVerb := verb != nil && verb.verb != nil
	switch {
	case w.is(subjectClass):
		e.start = startSubject
	case w.is(whClass | beClass | auxiliaryClass):
		e.start = startQuestion
	case !(isVerb && f == baseForm) && w.toward() == "":
		e.start = startOther
	}
}

// asks reports whether a question of a kind has to be answered first.
func (e *evidence) asks(kind string) bool {
	return slices.ContainsFunc(e.Ambiguities, func(a Ambiguity) bool { return a.Critical && a.Kind == kind })
}

// hasClass reports whether a word belongs to one of some classes.
func (e *evidence) hasClass(c class) bool {
	return slices.ContainsFunc(e.words, func(w word) bool { return w.is(c) })
}

// isPart reports whether a name looks like a part of a sentence: it has words of grammar, or a verb among others.
func isPart(name string) bool {
	words := trimArticles(lex(name))
	return slices.ContainsFunc(words, func(w word) bool {
		return w.kind != plainWord ||
			w.is(grammarClasses&^numberClass) && !w.oneOf("of", "and", "with", "all", "everything") ||
			len(words) > 1 && isOnlyVerb(w.fold)
	})
}

// isOnlyVerb reports whether a word is a verb and nothing else.
func isOnlyVerb(word string) bool {
	return meaning.Lemma(word, meaning.Verb) != "" && meaning.Lemma(word, meaning.Noun) == "" &&
		meaning.Lemma(word, meaning.Adjective) == ""
}

// lacksNoun reports whether the last word of a name is a word, and no noun.
func lacksNoun(name string) bool {
	words := trimArticles(lex(name))
	if len(words) == 0 {
		return false
	}
	head := headOf(words).fold
	return meaning.Lemma(head, meaning.Noun) == "" && (meaning.Lemma(head, meaning.Verb) != "" ||
		meaning.Lemma(head, meaning.Adjective) != "" || meaning.Lemma(head, meaning.Adverb) != "")
}

// beginsStrangely reports whether the object of an act has several words, and the first one is no word: teh gate.
func (i Intent) beginsStrangely() bool {
	words := trimArticles(lex(i.DirectObject))
	if len(words) < 2 || words[0].kind != plainWord || words[0].known != unknown || words[0].raw != words[0].fold {
		return false
	}
	for _, part := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective, meaning.Adverb} {
		if meaning.Lemma(words[0].fold, part) != "" {
			return false
		}
	}
	return true
}

// meetsThing reports whether somebody is spoken to, fought or feared who is no living being: kill the lights.
func (i Intent) meetsThing() bool {
	words := trimArticles(lex(i.DirectObject))
	if !slices.Contains([]Verb{Talk, Attack, Flee, Defend}, i.Verb) || len(words) == 0 {
		return false
	}
	head := headOf(words)
	noun := head.fold
	if head.is(pronounClass|numberClass) || head.kind != plainWord || meaning.Lemma(noun, meaning.Noun) == "" ||
		head.raw != noun {
		return false
	}
	return !isBeing(noun) && !isKind(noun, "person", "animal", "spiritual being", "social group", "imaginary being") &&
		!isKind(noun, "body part") && !idiomSets()["body"][noun]
}

// refersBack reports whether a command of several parts has a pronoun that may stand for more than one thing: several
// are named before the last act, or none.
func (p Parsed) refersBack() bool {
	words := lex(p.RawText)
	if len(words) < referring || !hasPronoun(words) {
		return false
	}
	var named []string
	for n, i := range p.Intents {
		named = append(named, i.DirectObject)
		if n+1 < len(p.Intents) {
			named = append(named, i.Targets...)
		}
	}
	slices.Sort(named)
	return len(slices.Compact(named)) != 1 || named[0] == ""
}

// referring is the number of words of a command from which on a pronoun may stand for more than one thing.
const referring = 7

// breaksOff reports whether a command ends before a name: tie the rope to the.
func breaksOff(text string) bool {
	words := lex(text)
	return len(words) > 0 && (words[len(words)-1].oneOf("to", "with", "a", "an", "the"))
}
