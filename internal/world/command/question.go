package command

import "slices"

// parseQuestion parses a sentence that asks something. It reports whether it is one. A request in
// the form of a question is none: rest is the request.
func (p *parser) parseQuestion(words []word, asked bool) (rest []word, ok bool) {
	if u, n := findUsage(words); u != nil && u.core && n > 2 {
		return words, false // what am I carrying
	} else if u != nil && u.lead {
		return words, false
	}
	at := Span{words[0].start, words[len(words)-1].end}
	w := words[0]
	second := word{known: unknown}
	if len(words) > 1 {
		second = words[1]
	}
	switch {
	case w.oneOf("when", "whenever", "while") && !asked:
		return words, false
	case w.is(whClass) && len(words) > 1 || w.is(whClass) && asked:
		if w.oneOf("what", "who") && second.is(subjectClass) && !asked && second.fold != "is" && !isOwning(words) {
			return words, false // what I want is to …
		}
	case w.oneOf("could", "can", "would", "will", "won't", "couldn't", "can't", "wouldn't") && second.fold == "you":
		return words[2:], false
	case w.fold == "do" && second.fold == "you" && len(words) > 3 && words[2].oneOf("mind", "think"):
		return words[3:], false
	case w.oneOf("may", "might", "could") && second.oneOf("i", "we"):
		return words[1:], false
	case w.oneOf("could", "can", "may", "shall", "might") && second.is(subjectClass):
		if h := readHead(words[1:]); h.ok && (w.fold == "shall" || hasFold(words, "please") ||
			slices.Contains([]Verb{Look, Examine, Inventory}, h.usage.acts[withObject])) {
			return words[1:], false
		}
	case w.oneOf("would", "could", "is", "will") && second.fold == "it" && requestAt(words) > 0:
		return words[requestAt(words):], false
	case (w.is(beClass) || w.is(auxiliaryClass) && w.known.verb == nil || w.oneOf("do", "have")) &&
		(second.is(subjectClass|articleClass|pronounClass) || second.fold == "there") && !w.is(subjectClass) &&
		(asked || w.is(beClass) || second.is(subjectClass) && w.fold != "have"):
		if w.fold == "do" && !asked && !second.is(subjectClass) || second.fold == "me" {
			return words, false
		}
	default:
		return words, false
	}
	p.answer(words, at)
	return nil, true
}

// requestAt returns where the request begins in "would it be possible to open the door", or 0.
func requestAt(words []word) int {
	for i := 2; i+1 < len(words); i++ {
		if words[i].fold == "to" && startsBase(words[i+1:]) || words[i].fold == "if" && words[i+1].is(subjectClass) {
			return i + 1
		}
	}
	return 0
}

func hasFold(words []word, fold string) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.fold == fold })
}

// isOwning reports whether a question is about the asker's possessions.
func isOwning(words []word) bool {
	me := false
	for _, w := range words {
		switch w.fold {
		case "i", "we", "my", "i'm", "i've", "me":
			me = true
		case "have", "carry", "carrying", "got", "hold", "holding", "own", "pockets", "inventory", "bag", "backpack", "pack",
			"possession", "hands", "wearing", "left":
			if me {
				return true
			}
		}
	}
	return false
}

// answer adds the look, examination or inventory that answers a question. It asks back if none does.
func (p *parser) answer(words []word, at Span) {
	i := Intent{Confidence: 0.8}
	w := words[0].fold
	switch {
	case isOwning(words):
		i.Verb = Inventory
	case hasFold(words, "look") && (w == "what" || w == "how") && idiomSets()["scene"][words[len(words)-2].fold],
		hasFold(words, "look") && w == "what" && len(words) > 3 && idiomSets()["scene"][words[len(words)-3].fold]:
		i.Verb = Look // what does this room look like
	case words[0].oneOf("where", "where's", "who", "who's") || slices.ContainsFunc(words, func(w word) bool {
		return w.oneOf("here", "there", "see", "around")
	}):
		if (w == "where" || w == "where's") && !hasFold(words, "i") && !hasFold(words, "we") ||
			w == "who" && len(words) > 1 && !words[1].is(beClass) {
			p.addRemark(words)
			return
		}
		i.Verb = Look
	case (w == "what" || w == "what's" || w == "whats") && (len(words) > 1 && words[1].is(beClass) || w != "what"):
		rest := words[1:]
		if w == "what" {
			rest = words[2:]
		}
		if len(rest) == 0 || len(rest) > 8 || rest[0].known.class != 0 && !rest[0].is(articleClass|prepositionClass) {
			p.addRemark(words)
			return
		}
		i.Verb = Examine
		if rest[0].is(prepositionClass) {
			rest = rest[1:]
		}
		i.DirectObject = joinWords(rest)
		if i.DirectObject == "" || idiomSets()["scene"][rest[len(rest)-1].fold] {
			i.Verb = Look
		}
	default:
		p.addRemark(words)
		return
	}
	p.add(i, at)
}
