package command

import (
	"strings"
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
	end := func(at int) {
		if at > from {
			out = append(out, chunk{by, words[from:at:at]})
		}
	}
	for i, w := range words {
		if w.kind == plainWord && prepositions[w.fold] {
			end(i)
			by, from = w.fold, i+1
		}
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
		if w.kind == comma || w.kind == plainWord && (w.fold == "and" || w.fold == "&") {
			end(i)
			from = i + 1
		}
	}
	end(len(words))
	return out
}

// resolveNoun returns the name that words form, without articles. A pronoun resolves to the last
// named object.
func (p *parser) resolveNoun(words []word, at Span) string {
	for len(words) > 1 && words[0].kind == plainWord && articles[words[0].fold] {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	if len(words) == 1 && words[0].kind == plainWord && (pronouns[words[0].fold] || words[0].fold == "her") {
		if p.lastNamed == "" {
			p.addAmbiguity("pronoun", Span{words[0].start, words[0].end}, nil, true)
		}
		return p.lastNamed
	}
	return joinWords(words)
}

func (p *parser) resolveNouns(groups []chunk, at Span) []string {
	var out []string
	for _, g := range groups {
		if name := p.resolveNoun(g.words, at); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// joinWords joins words as typed, without articles at the beginning.
func joinWords(words []word) string {
	for len(words) > 1 && words[0].kind == plainWord && articles[words[0].fold] {
		words = words[1:]
	}
	if len(words) == 1 && words[0].kind != comma && words[0].kind != stop {
		return words[0].raw
	}
	var b strings.Builder
	for _, w := range words {
		if w.kind == comma || w.kind == stop {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.raw)
	}
	return b.String()
}
