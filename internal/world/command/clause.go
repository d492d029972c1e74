package command

import (
	"slices"
	"strings"
)

// parseClause parses one clause: first its verb, then its arguments.
func (p *parser) parseClause(words []word) {
	at := Span{words[0].start, words[len(words)-1].end}
	words, mods := skipLead(words)
	if len(words) == 0 {
		p.addAmbiguity("verb", at, verbNames, true)
		return
	}
	if words[0].kind == quoted {
		p.add(Intent{Verb: Talk, Modifiers: append(mods, words[0].raw), Confidence: 0.8}, at)
		return
	}
	if d, sure, ok := p.bareDirection(words); ok {
		p.add(Intent{Verb: Move, Direction: d, Modifiers: mods, Confidence: sure}, at)
		return
	}
	m, ok := findVerb(words)
	if !ok {
		var options []string
		if m, options, ok = typoVerb(words[0].fold); !ok {
			if options == nil {
				options = verbNames
			}
			p.addAmbiguity("verb", Span{words[0].start, words[0].end}, options, true)
			return
		}
	}
	rest, more := pickManner(words[m.words:])
	p.parseArguments(m, words[:m.words], rest, Intent{Verb: m.verb, Confidence: m.sure,
		Modifiers: append(mods, more...)}, at)
}

// skipLead cuts off the words before the verb. It returns the adverbs of manner among them as
// modifiers.
func skipLead(words []word) (rest []word, mods []string) {
	for len(words) > 0 && words[0].kind == plainWord {
		if m, isVerb := findVerb(words); isVerb && (m.words > 1 || len(words) == 1 || !fillerWords[words[0].fold]) {
			break
		}
		switch {
		case mannerWords[words[0].fold]:
			mods = append(mods, words[0].fold)
		case !fillerWords[words[0].fold]:
			return words, mods
		}
		words = words[1:]
	}
	return words, mods
}

// pickManner takes the adverbs of manner out of the rest of a clause.
func pickManner(words []word) (rest []word, mods []string) {
	if !slices.ContainsFunc(words, func(w word) bool { return w.kind == plainWord && mannerWords[w.fold] }) {
		return words, nil
	}
	for _, w := range words {
		if w.kind == plainWord && mannerWords[w.fold] {
			mods = append(mods, w.fold)
			continue
		}
		rest = append(rest, w)
	}
	return rest, mods
}

// bareDirection parses a clause that consists of a direction only.
func (p *parser) bareDirection(words []word) (Direction, float64, bool) {
	if len(words) == 2 && words[0].fold == "back" && words[1].fold == "out" {
		return "out", 0.9, true
	}
	if len(words) != 1 {
		return "", 0, false
	}
	if d, ok := directionWords[words[0].fold]; ok {
		return d, 1, true
	}
	if _, isVerb := findVerb(words); isVerb {
		return "", 0, false
	}
	d, ok := typoDirection(words[0].fold)
	return d, 0.75, ok
}

// parseArguments parses the rest of a clause according to its verb.
func (p *parser) parseArguments(m verbMatch, said, rest []word, i Intent, at Span) {
	switch m.verb {
	case Move:
		p.parseMove(said, rest, i, at)
	case Inventory, Flee, Rest, Defend:
		p.parseBare(rest, i, at)
	case Talk:
		p.parseTalk(said, rest, i, at)
	case Look, Examine:
		p.parseLook(said, rest, i, at)
	default:
		p.parseHandling(said, rest, i, at)
	}
}

// parseMove parses a destination: a direction, "back", or the name of a place.
func (p *parser) parseMove(said, rest []word, i Intent, at Span) {
	head := said[0].fold
	for len(rest) > 0 && rest[0].kind == plainWord &&
		(rest[0].fold == "to" || rest[0].fold == "toward" || rest[0].fold == "towards" ||
			rest[0].fold == "the" || rest[0].fold == "straight" || rest[0].fold == "for") {
		rest = rest[1:]
	}
	if len(said) > 1 && said[len(said)-1].fold == "back" || head == "return" || len(rest) > 0 && rest[0].fold == "back" {
		if len(rest) > 0 && rest[0].fold == "back" {
			rest = rest[1:]
		}
		i.Modifiers = append(i.Modifiers, "back")
	}
	if len(rest) > 0 && rest[0].kind == plainWord {
		if d, ok := directionWords[rest[0].fold]; ok {
			rest, i.Direction = rest[1:], d
		} else if d, ok := typoDirection(rest[0].fold); ok && len(rest) == 1 {
			rest, i.Direction, i.Confidence = nil, d, min(i.Confidence, 0.75)
		}
	}
	if i.Direction == "" && len(said) > 1 && (said[1].fold == "in" || said[1].fold == "into") {
		i.Direction = "in"
	}
	if i.Direction == "" && (head == "leave" || head == "exit" || len(said) > 1 && said[1].fold == "out") &&
		len(rest) == 0 {
		i.Direction = "out"
	}
	object, targets := splitObject(rest)
	i.DirectObject, i.Targets = p.resolveNoun(object, at), p.resolveNouns(targets, at)
	if i.DirectObject == "" && len(i.Targets) > 0 {
		i.DirectObject, i.Targets = i.Targets[0], i.Targets[1:]
	}
	if i.Direction == "" && i.DirectObject == "" && !slices.Contains(i.Modifiers, "back") {
		p.addAmbiguity("direction", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
	}
	p.add(i, at)
}

// parseBare parses an act that needs no object but may have one.
func (p *parser) parseBare(rest []word, i Intent, at Span) {
	if i.Verb != Inventory && len(rest) > 0 {
		if d, ok := directionWords[rest[0].fold]; ok && len(rest) == 1 {
			i.Direction = d
			p.add(i, at)
			return
		}
		object, targets := splitObject(rest)
		i.DirectObject, i.Targets = p.resolveNoun(object, at), p.resolveNouns(targets, at)
	}
	p.add(i, at)
}

// parseTalk parses the person spoken to, and the words said or the topic asked about.
func (p *parser) parseTalk(said, rest []word, i Intent, at Span) {
	var speech []string
	kept := rest[:0:0]
	for _, w := range rest {
		if w.kind == quoted {
			speech = append(speech, w.raw)
			continue
		}
		kept = append(kept, w)
	}
	groups := groupByPreposition(kept)
	saying := said[0].fold == "say" || said[0].fold == "shout" || said[0].fold == "whisper" || said[0].fold == "answer"
	for n, g := range groups {
		text := joinWords(g.words)
		switch {
		case g.by == "about" || g.by == "for":
			speech = append(speech, strings.TrimSpace(g.by+" "+text))
		case n == 0 && g.by == "" && saying && len(said) == 1:
			speech = append(speech, text)
		case i.DirectObject == "":
			i.DirectObject = p.resolveNoun(g.words, at)
		default:
			i.Targets = append(i.Targets, text)
		}
	}
	i.Modifiers = append(i.Modifiers, speech...)
	if i.DirectObject == "" && len(speech) == 0 {
		p.addAmbiguity("target", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
	}
	p.add(i, at)
}

// parseLook parses the object looked at. No object means the place itself.
func (p *parser) parseLook(said, rest []word, i Intent, at Span) {
	if len(rest) == 1 && rest[0].kind == plainWord {
		if d, ok := directionWords[rest[0].fold]; ok {
			i.Direction = d
			p.add(i, at)
			return
		}
	}
	groups := groupByPreposition(rest)
	for n, g := range groups {
		if g.by == "" || n == 0 || i.DirectObject == "" {
			for k, object := range splitList(g.words) {
				if k == 0 && i.DirectObject == "" {
					i.DirectObject = p.resolveNoun(object, at)
					continue
				}
				if name := p.resolveNoun(object, at); name != "" {
					i.Targets = append(i.Targets, name)
				}
			}
			continue
		}
		if name := p.resolveNoun(g.words, at); name != "" {
			i.Targets = append(i.Targets, name)
		}
	}
	if len(said) > 1 && i.Verb == Examine {
		i.Modifiers = append(i.Modifiers, said[1].fold)
	}
	if i.DirectObject == "" && i.Verb == Examine {
		i.Verb = Look
	}
	p.add(i, at)
}

// parseHandling parses an act on things: the object, and the target or instrument. Several objects
// joined by "and" become several acts.
func (p *parser) parseHandling(said, rest []word, i Intent, at Span) {
	rest = dropParticle(said, rest)
	object, targets := splitObject(rest)
	i.Targets = p.resolveNouns(targets, at)
	if i.Verb == Give && len(targets) == 0 {
		object, i.Targets = recipientFirst(object)
	}
	objects := splitList(object)
	if len(objects) == 0 {
		p.addAmbiguity("object", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
		p.add(i, at)
		return
	}
	if i.Verb == Give && len(i.Targets) == 0 {
		p.addAmbiguity("target", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
	}
	for _, o := range objects {
		one := i
		one.Targets, one.Modifiers = slices.Clone(i.Targets), slices.Clone(i.Modifiers)
		if one.DirectObject = p.resolveNoun(o, at); one.DirectObject == "" {
			continue
		}
		p.add(one, at)
	}
}

// dropParticle removes the second part of a verb that comes after its object: "up" in "pick it up".
func dropParticle(said, rest []word) []word {
	if len(rest) < 2 || len(said) > 1 {
		return rest
	}
	last := rest[len(rest)-1].fold
	if last == "up" && said[0].fold == "pick" || last == "down" && (said[0].fold == "put" || said[0].fold == "set") ||
		last == "on" && (said[0].fold == "turn" || said[0].fold == "put") || last == "away" && said[0].fold == "throw" ||
		last == "over" && said[0].fold == "hand" {
		return rest[:len(rest)-1]
	}
	return rest
}

// recipientFirst parses "give her the lamp" and "give Oda the lamp": an article or a possessive
// after the first word separates the recipient from the object.
func recipientFirst(words []word) (object []word, targets []string) {
	for n := 1; n < len(words); n++ {
		if articles[words[n].fold] && words[n].kind == plainWord {
			return words[n:], []string{joinWords(words[:n])}
		}
	}
	return words, nil
}
