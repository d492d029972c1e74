package command

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// chunk is a part of a clause after a preposition. by is "" for the first part.
type chunk struct {
	by    string
	words []word
}

// groupByPreposition divides the rest of a clause at its prepositions. "of" does not divide, since
// it is usually part of a name ("Church of the Low Door").
func groupByPreposition(words []word) []chunk {
	var out []chunk
	by, from := "", 0
	apart := true // the word in front is no preposition
	end := func(at int) {
		if at > from {
			if c := (chunk{by, words[from:at:at]}); !isTime(c) {
				out = append(out, c)
			}
		}
	}
	for i, w := range words {
		if !w.is(prepositionClass) {
			apart = apart || w.fold != "of" && w.fold != "front" && w.fold != "next"
			continue
		}
		if end(i); apart || w.fold != "to" {
			by = w.fold
		}
		from, apart = i+1, false
	}
	end(len(words))
	return out
}

// splitObject divides the rest of a clause into the object and everything else.
func splitObject(words []word) (object []word, targets []chunk) {
	for _, g := range groupByPreposition(words) {
		if g.by == "" && object == nil {
			object = g.words
			continue
		}
		targets = append(targets, g)
	}
	return object, targets
}

// splitList divides a list of things at "and" and commas.
func splitList(words []word) [][]word {
	var out [][]word
	from := 0
	end := func(at int) {
		if at > from {
			out = append(out, words[from:at:at])
		}
	}
	for i, w := range words {
		if w.kind == comma || w.kind == plainWord && w.oneOf("and", "&") {
			end(i)
			from = i + 1
		}
	}
	end(len(words))
	return out
}

// resolveNoun returns the name that words form, without articles. A pronoun resolves to the last
// named object; without one, the name is "" and an ambiguity is added.
func (p *parser) resolveNoun(words []word) string {
	words = trimArticles(words)
	if len(words) == 0 {
		return ""
	}
	if len(words) == 2 && words[0].oneOf("it", "them") && words[1].fold == "back" {
		words = words[:1] // put it back down
	}
	if len(words) == 1 && words[0].is(pronounClass) || words[0].fold == "her" && len(words) == 1 {
		if words[0].fold == "there" {
			return ""
		}
		person := words[0].oneOf("him", "her")
		if person && p.lastMet != "" {
			return p.lastMet
		}
		if p.keepPronouns && (person || p.lastNamed == "") {
			return words[0].raw
		}
		if p.lastNamed == "" {
			p.addAmbiguity("pronoun", Span{words[0].start, words[0].end}, nil, true)
		}
		return p.lastNamed
	}
	return joinWords(words)
}

// resolvePerson is resolveNoun for somebody spoken to.
func (p *parser) resolvePerson(words []word) string {
	name := p.resolveNoun(words)
	if name != "" {
		p.lastMet = name
	}
	return name
}

// resolveNouns returns the names of targets. A person that a pronoun means stays as typed if nobody
// was named.
func (p *parser) resolveNouns(groups []chunk) []string {
	var out []string
	for _, g := range groups {
		words := trimArticles(g.words)
		if len(words) == 1 && words[0].oneOf("her", "him", "them") && p.lastMet == "" && g.by == "to" {
			out = append(out, words[0].raw)
			continue
		}
		for _, entry := range splitList(words) {
			if name := p.resolveNoun(entry); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// isTime reports whether a part of a clause tells the time or the person that an act is for: for a while, for me.
func isTime(g chunk) bool {
	if len(g.words) == 0 || g.by == "until" || g.by == "till" || g.by == "during" {
		return true
	}
	last := g.words[len(g.words)-1]
	return (last.oneOf("me", "us", "once", "care", "hurry", "way", "caution", "speed") || last.isPeriod()) &&
		slices.Contains([]string{"for", "with", "in", "on", "at", "by"}, g.by)
}

// isPeriod reports whether a word measures time: while, hours, night.
func (w word) isPeriod() bool {
	noun := meaning.Lemma(w.fold, meaning.Noun)
	return w.oneOf("while", "moment", "bit") ||
		isKind(noun, "time unit", "time period", "clock time") && !isKind(noun, "object")
}

// trimArticles removes the articles in front of a name.
func trimArticles(words []word) []word {
	for len(words) > 1 && (words[0].is(articleClass) || words[0].fold == "of") {
		words = words[1:]
	}
	if len(words) == 1 && words[0].is(articleClass) && !words[0].is(pronounClass) && words[0].fold != "her" {
		return nil
	}
	return words
}

// joinWords joins words as typed, without articles at the beginning.
func joinWords(words []word) string { return joinAll(trimArticles(words)) }

// joinAll joins words as typed.
func joinAll(words []word) string {
	if len(words) == 0 {
		return ""
	}
	if len(words) == 1 && words[0].kind != comma && words[0].kind != colon {
		return words[0].raw
	}
	var b strings.Builder
	for _, w := range words {
		if w.kind == comma || w.kind == colon {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.raw)
	}
	return b.String()
}

// isOnlyAdverb reports whether a word is an adverb of WordNet, and nothing else that the parser knows: aloud.
func isOnlyAdverb(w word) bool {
	if w.kind != plainWord || w.known != unknown || meaning.Lemma(w.fold, meaning.Adverb) == "" {
		return false
	}
	for _, part := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective} {
		if meaning.Lemma(w.fold, part) != "" {
			return false
		}
	}
	return true
}

// cutFrequency cuts out how often something is done: knock three times on the door. A move is repeated.
func cutFrequency(words []word, h head) []word {
	if h.ok && h.usage.acts[alone] == Move {
		return words
	}
	for i, w := range words {
		if i > 0 && i+1 < len(words) && w.is(numberClass) && words[i+1].fold == "times" {
			return slices.Concat(words[:i:i], words[i+2:])
		}
	}
	return words
}

// isRoad reports whether words name a road or path, and nothing else.
func isRoad(words []word) bool {
	last := words[len(words)-1]
	return !slices.ContainsFunc(words, func(w word) bool { return w.is(prepositionClass | jointClass) }) &&
		(meaning.IsMainly(last.fold, meaning.Noun, "road") || meaning.IsMainly(last.fold, meaning.Noun, "path"))
}
