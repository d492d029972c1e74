package command

import (
	"slices"

	"loregate/internal/meaning"
)

// A Manner is a clause as it was typed: its verb, which the verb of an Intent does not keep, and the things after each
// preposition. "open" and "break" are both Use.
type Manner struct {
	Verb   string // base form; "" if the clause has none
	Object string // the thing in front of all prepositions, without articles
	Parts  []Part
}

// Part is a preposition or particle of a clause, and the thing after it; "" if there is none, as in "hold it up".
type Part struct{ By, Name string }

// maxParts bounds the parts of a Manner.
const maxParts = 8

// Manner returns the clause that the act was read from. It is zero if the act does not come from Parse.
func (i Intent) Manner() Manner { return i.manner }

// Clause returns the text of the clause that the act was read from. It is "" if the act does not come from Parse.
func (i Intent) Clause() string { return i.clause }

// WithNames returns an act on other things: object in place of its direct object, and targets[n] in place of its nth
// target, which is left out if that is "".
func (i Intent) WithNames(object string, targets []string) Intent {
	m := Manner{Verb: i.manner.Verb, Object: i.manner.Object}
	if m.Object == i.DirectObject {
		m.Object = object
	}
	for _, p := range i.manner.Parts {
		for n, name := range i.Targets {
			if p.Name == name {
				p.Name = targets[n]
			}
		}
		if p.Name == i.DirectObject {
			p.Name = object
		}
		if p.Name != "" && p.Name != m.Object {
			m.Parts = append(m.Parts, p)
		}
	}
	i.manner, i.DirectObject = m, object
	i.Targets = slices.DeleteFunc(slices.Clone(targets), func(name string) bool { return name == "" || name == object })
	return i
}

// ReadManner reads a phrase that begins with a verb. Pronouns stay as they are typed.
func ReadManner(phrase string) Manner {
	words := lex(phrase)
	if end := slices.IndexFunc(words, func(w word) bool { return w.kind == stop }); end >= 0 {
		words = words[:end]
	}
	return (&parser{}).readManner(words)
}

// readManner reads a clause from its verb on.
func (p *parser) readManner(words []word) (m Manner) {
	if len(words) == 0 || words[0].kind != plainWord {
		return m
	}
	m.Verb = baseOf(words[0])
	rest, _ := pickManner(words[1:])
	if thing := goesRound(rest); thing != nil {
		rest = rest[slices.IndexFunc(rest, func(w word) bool { return w.oneOf("round", "around") }):]
	}
	for from := 0; from <= len(rest) && len(m.Parts) < maxParts; {
		end := from
		for end < len(rest) && !(dividesManner(rest[end]) && !inTitle(rest, end)) {
			end++
		}
		name := p.mannerName(rest[from:end])
		switch n := len(m.Parts); {
		case n == 0:
			m.Object = name
		case name != "" || m.Parts[n-1].Name == "":
			m.Parts[n-1].Name = name
		}
		if end == len(rest) {
			break
		}
		by, used := readPreposition(rest[end:])
		m.Parts = append(m.Parts, Part{By: by})
		from = end + used
	}
	return m
}

// baseOf returns the base form of a verb.
func baseOf(w word) string {
	if e, _ := readVerbForm(w.fold, w.known); e != nil && e.text != "" {
		return e.text
	}
	if lemma := meaning.Lemma(w.fold, meaning.Verb); lemma != "" {
		return lemma
	}
	return w.fold
}

// dividesManner reports whether a word stands between the things of a clause.
func dividesManner(w word) bool {
	return w.is(prepositionClass|particleClass) && !w.oneOf("of", "that")
}

// inTitle reports whether a preposition is a part of a title: the words around it begin with capitals, as it does.
func inTitle(words []word, at int) bool {
	isCapital := func(i int) bool {
		return i >= 0 && i < len(words) && words[i].kind == plainWord && words[i].raw != words[i].fold
	}
	return isCapital(at) && (isCapital(at-1) || isCapital(at+1))
}

// readPreposition returns the preposition that words begin with, and its number of words: out of, on top of, in front
// of.
func readPreposition(words []word) (by string, used int) {
	for _, long := range [...]struct {
		words []string
		by    string
	}{{[]string{"on", "top", "of"}, "on"}, {[]string{"in", "front", "of"}, "before"},
		{[]string{"out", "of"}, "out of"}, {[]string{"off", "of"}, "off"}, {[]string{"out", "from"}, "from"},
		{[]string{"up", "to"}, "up to"},
		{[]string{"inside", "of"}, "inside"}, {[]string{"next", "to"}, "beside"}, {[]string{"down", "from"}, "from"}} {
		if words[0].fold == long.words[0] && hasPhrase(words, long.words) {
			return long.by, len(long.words)
		}
	}
	return words[0].fold, 1
}

// mannerName returns the name that words form. A pronoun is the thing or person that was named before.
func (p *parser) mannerName(words []word) string {
	words = trimArticles(trimJoints(words))
	if len(words) == 1 && words[0].is(pronounClass) {
		switch {
		case words[0].oneOf("him", "her", "he", "she") && p.lastMet != "":
			return p.lastMet
		case p.lastNamed != "":
			return p.lastNamed
		}
	}
	return joinWords(words)
}
