package command

import "slices"

// cutBack drops the "back" behind the recipient of a gift, or behind the gift: give Oda back her lamp, give Oda her
// lamp back.
func cutBack(words []word, h head) []word {
	if !h.ok || h.usage.acts[withObject] != Give {
		return words
	}
	for i := h.end + 1; i+1 < len(words); i++ {
		if words[i].fold == "back" && !words[i-1].oneOf("the", "a", "an", "my", "your", "his", "its", "their", "our") &&
			!words[i+1].is(prepositionClass) {
			return slices.Delete(slices.Clone(words), i, i+1)
		}
	}
	if last := len(words) - 1; last > h.end+1 && words[last].fold == "back" {
		if _, to := recipientFirst(words[h.end+1 : last]); to != nil {
			return words[:last]
		}
	}
	return words
}

// lookBack adds the thing that was named before to a look without one: lift the canvas and have a peek underneath.
func (p *parser) lookBack(words []word, h head) ([]word, head) {
	if !h.ok || h.negated || p.lastNamed == "" || h.end < len(words)-1 || len(words)-h.at < 2 ||
		h.usage.acts[alone] != Look && h.usage.acts[alone] != Examine ||
		!words[len(words)-1].oneOf("under", "underneath", "beneath", "behind", "inside") {
		return words, h
	}
	look := word{kind: plainWord, raw: "look", fold: "look", known: lexicon()["look"],
		start: words[h.at].start, end: words[h.at].end}
	h.usage = look.known.verb
	words = slices.Concat(words[:h.at], []word{look, words[len(words)-1]}, lex(p.lastNamed))
	h.end = h.at + 1
	return words, h
}

// parseOffer parses an offer to do something for somebody, which is said: offer to help her, offer her help, offer to
// sing for the crew. It reports whether the clause is one.
func (p *parser) parseOffer(words []word, h head, at Span) bool {
	n := slices.IndexFunc(words[:min(h.at+1, len(words))], func(w word) bool { return baseOf(w) == "offer" })
	if h.negated || n < 0 {
		return false
	}
	rest := words[n+1:]
	if len(rest) < 2 {
		return false
	}
	var who []word
	said := "is there something I can do for you"
	if rest[0].fold == "to" && startsBase(rest[1:]) {
		deed := rest[1:]
		from := slices.IndexFunc(deed, func(w word) bool { return w.fold == "for" })
		switch {
		case deed[0].oneOf("help", "assist", "aid", "serve"):
			end := slices.IndexFunc(deed, func(w word) bool { return w.is(prepositionClass) })
			if end < 0 {
				end = len(deed)
			}
			who = deed[1:end]
		case from > 0 && from+1 < len(deed):
			who, said = deed[from+1:], "shall I "+joinAll(deed[:from])+" for you"
		default:
			said = "shall I " + joinAll(deed)
		}
	} else if who = offeredTo(rest); who == nil {
		return false
	}
	p.add(Intent{Verb: Talk, DirectObject: p.resolvePerson(who), Modifiers: append(h.mods, said), Confidence: 0.8}, at)
	return true
}

// offeredTo returns whom help is offered to: her help, my help to Oda, Oda a hand. It is nil if no help is offered.
func offeredTo(rest []word) []word {
	isHelp := func(w word) bool { return w.oneOf("help", "assistance", "aid", "hand", "services", "support") }
	n := slices.IndexFunc(rest, isHelp)
	if n < 0 {
		return nil
	}
	who := rest[:n]
	if n+2 < len(rest) && rest[n+1].fold == "to" {
		who = rest[n+2:]
	}
	for len(who) > 0 && who[len(who)-1].oneOf("my", "our", "a", "some", "any") {
		who = who[:len(who)-1]
	}
	if len(who) == 0 && n+1 < len(rest) {
		return nil
	}
	if who == nil {
		who = []word{}
	}
	return who
}
