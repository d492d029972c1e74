package claim

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// tense is the form of a verb.
type tense int

const (
	base tense = iota
	present
	past
	participle // after have or be: had gone, was taken
	progressive
)

// verb is a verb of a clause.
type verb struct {
	at      int // its token
	first   int // the token of its first auxiliary, or at
	last    int // the token of its last auxiliary
	lemma   string
	tense   tense
	passive bool
	perfect bool
	was     bool   // an auxiliary is in the past
	modal   string // will, can, must or shall
	denied  bool
}

var (
	beForms   = wordSet("is are am was were be been being 's")
	haveForms = wordSet("has have had having")
	doForms   = wordSet("do does did")
	modals    = wordSet("will shall can must cannot should")
	denials   = wordSet("not never no nobody none nothing neither nor hardly without nowhere n't")
)

// verbs returns the verbs of a clause, from left to right. Words inside mentions are none.
func (c *clause) verbs() (list []verb) {
	for i := 0; i < len(c.tokens); i++ {
		if m, ok := c.mentionAt(i); ok && !m.pronoun {
			i = m.to - 1
			continue
		}
		if v, ok := c.verbAt(i); ok {
			list = append(list, v)
			i = v.at
		}
	}
	return list
}

// verbAt returns the verb whose first auxiliary, or which itself, is a token.
func (c *clause) verbAt(i int) (v verb, ok bool) {
	v = verb{first: i, at: i}
	w := c.tokens[i].word
	be := false
	for isAuxiliary(w) && i+1 < len(c.tokens) {
		switch {
		case beForms[w]:
			be = true
			v.was = v.was || w == "was" || w == "were"
		case haveForms[w]:
			v.perfect = true
		case modals[w]:
			v.modal = strings.TrimSuffix(w, "not")
			v.denied = v.denied || w == "cannot"
		}
		next := i + 1
		for next < len(c.tokens) && (denials[c.tokens[next].word] || isAdverb(c.tokens[next].word)) {
			v.denied = v.denied || denials[c.tokens[next].word]
			next++
		}
		if next == len(c.tokens) || c.tokens[next].mark || !(isAuxiliary(c.tokens[next].word) || c.isVerbForm(next)) {
			return c.auxiliaryAsVerb(v, i), true
		}
		v.last = i
		i, w = next, c.tokens[next].word
	}
	if isAuxiliary(w) {
		return c.auxiliaryAsVerb(v, i), true
	}
	if !c.isVerbForm(i) {
		return v, false
	}
	v.at, v.lemma = i, verbOf(w)
	if be && v.lemma == w && !sameForms[w] {
		return c.auxiliaryAsVerb(v, v.last), true // "is fast asleep", "have been cook"
	}
	switch {
	case strings.HasSuffix(w, "ing") && v.lemma != w:
		v.tense = progressive
	case be:
		v.tense, v.passive = participle, true
	case v.perfect:
		v.tense = participle
	case v.lemma == w:
		v.tense = base
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		v.tense = present
	default:
		v.tense = past
	}
	return v, true
}

// sameForms are verbs whose participle is their base form.
var sameForms = wordSet("put set cut shut hit hurt let cast burst beset rid shed spread split come become run overcome")

// auxiliaryAsVerb returns the verb to be, have or do that stands without another verb.
func (c *clause) auxiliaryAsVerb(v verb, i int) verb {
	w := c.tokens[i].word
	v.at, v.tense = i, present
	switch {
	case beForms[w]:
		v.lemma = "be"
		if w == "was" || w == "were" {
			v.tense = past
		} else if w == "be" && i > 0 && c.tokens[i-1].word == "to" {
			v.tense = base
		}
	case haveForms[w]:
		v.lemma = "have"
		v.perfect = false
		if w == "had" {
			v.tense = past
		}
	case doForms[w]:
		v.lemma = "do"
	default:
		v.lemma = strings.TrimSuffix(w, "not")
	}
	return v
}

func isAuxiliary(w string) bool { return beForms[w] || haveForms[w] || doForms[w] || modals[w] }

// adverbs stand between an auxiliary and its verb.
var adverbs = wordSet("just now still already always never ever only also even then here quite very once often " +
	"long all both soon again at last right")

func isAdverb(w string) bool {
	return adverbs[w] || strings.HasSuffix(w, "ly") && meaning.Lemma(w, meaning.Adverb) != ""
}

// nounLeads are words after which a form of a verb is a noun or adjective.
var nounLeads = wordSet("a an the my your his her its our their this that these those no some any every each of " +
	"in on at with from by for under over into 's two three four five six seven eight nine ten")

// isVerbForm reports whether a token can be a verb where it stands.
func (c *clause) isVerbForm(i int) bool {
	w := c.tokens[i].word
	inverted := i > 0 && inversions[c.tokens[i-1].word] && strings.HasSuffix(w, "s") && c.namesPersonAfter(i)
	relative := i > 0 && c.tokens[i-1].word == "that" && verbOf(w) != w && !isNoun(w) // "it was a flood that broke it"
	if c.tokens[i].mark || verbOf(w) == "" || notLexical[w] || i > 0 && nounLeads[c.tokens[i-1].word] &&
		!c.endsMention(i) && !inverted && !relative {
		return false
	}
	return !(c.tokens[i].upper && i > 0)
}

// namesPersonAfter reports whether a mention follows a token, or a determiner and a mention, or the token is the second
// of the clause: "and in walks the groom".
func (c *clause) namesPersonAfter(i int) bool {
	at := skipDeterminers(c.tokens, i+1)
	return i == 1 || slices.ContainsFunc(c.named, func(m mention) bool { return m.from == at && !m.pronoun })
}

// inversions are words that may stand before a verb whose subject follows: "in walks the groom".
var inversions = wordSet("in up out down over on")

// endsMention reports whether a mention ends before a token.
func (c *clause) endsMention(i int) bool {
	for _, m := range c.named {
		if m.to == i {
			return true
		}
	}
	return false
}

// notLexical are words that WordNet has as verbs and that are something else nearly always.
var notLexical = wordSet("over out up down in on off as at by to for so well still like near here there then now " +
	"but and or while round about outside inside " +
	"i he she it we you they who one two back even better best first last way north south east west this that with")

func (c *clause) mentionAt(i int) (mention, bool) {
	for _, m := range c.named {
		if m.from <= i && i < m.to {
			return m, true
		}
	}
	return mention{}, false
}

// subjectOf returns the mention that is the subject of a verb: the nearest one before it, unless it belongs to another.
func (c *clause) subjectOf(w *World, v verb, class Class) (mention, bool) {
	for k := len(c.named) - 1; k >= 0; k-- {
		m := c.named[k]
		if m.to > v.first || w.Entities[m.entity].Class != class || objectForms[c.tokens[m.from].word] && m.pronoun {
			continue
		}
		if m.from > 0 && m.pronoun && possessives[c.tokens[m.from].word] && c.tokens[m.from-1].word == "and" {
			continue // "the groom and his dog"
		}
		if m.to < len(c.tokens) && c.tokens[m.to].word == "'s" && m.to < v.first-1 || m.pronoun &&
			possessives[c.tokens[m.from].word] {
			return mention{}, false
		}
		if m.from > 0 && prepositions[c.wordBefore(m.from)] && (k == 0 || !c.joins(c.named[k-1], m)) {
			continue
		}
		return m, true
	}
	return mention{}, false
}

// wordBefore returns the word before a token, without determiners.
func (c *clause) wordBefore(i int) string {
	for i--; i >= 0; i-- {
		if w := c.tokens[i].word; !determiners[w] && !articles[w] {
			return w
		}
	}
	return ""
}

// joins reports whether a new part of the sentence begins between two mentions.
func (c *clause) joins(a, b mention) bool {
	for _, t := range c.tokens[min(a.to, b.from):b.from] {
		if t.word == "and" || t.word == "but" || t.word == "while" || t.word == "because" {
			return true
		}
	}
	return false
}

var (
	objectForms  = wordSet("me him")
	possessives  = wordSet("my your his her its our their")
	prepositions = wordSet("of in on at with from by for to beside behind under over near into about toward " +
		"towards around against through")
)

// objectOf returns the first mention of a class after a verb in its clause.
func (c *clause) objectOf(w *World, v verb, class Class) (mention, bool) {
	for _, m := range c.named {
		if m.from > v.at && w.Entities[m.entity].Class == class && !(m.pronoun &&
			possessives[c.tokens[m.from].word] && c.tokens[m.from].word != "her") {
			return m, true
		}
	}
	return mention{}, false
}
