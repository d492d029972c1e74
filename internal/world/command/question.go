package command

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

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
	if n := len(words); asked && n > 3 && words[n-2].kind == comma && (w.is(whClass) || words[1].fold == "you") &&
		(idiomSets()["being"][words[n-1].fold] || words[n-1].raw != words[n-1].fold) {
		p.add(Intent{Verb: Talk, DirectObject: words[n-1].raw, Modifiers: []string{joinWords(words[:n-2])},
			Confidence: 0.8}, at)
		return nil, true
	}
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
	case w.oneOf("may", "might", "could", "can") && second.oneOf("my", "our") && len(words) > 4 && startsBase(words[3:]):
		return words[3:], false // can my ranger grab the torch
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
	case asked && w.oneOf("does", "did", "is", "are", "was", "were") && len(words) > 2:
	case asked && w.oneOf("want", "need") && second.oneOf("me", "us"):
		p.addRemark(words)
		return nil, true
	case w.oneOf("any", "anyone", "anybody", "anything", "someone", "somebody", "something") && asked,
		w.is(beClass) && second.oneOf("anyone", "anybody", "anything", "someone", "something"):
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

// isWhoDoes reports whether a question asks who does something: who's singing.
func isWhoDoes(words []word) bool {
	if !words[0].oneOf("who", "who's") || len(words) < 2 {
		return false
	}
	next := words[1]
	if next.is(beClass) && len(words) > 2 {
		next = words[2]
	}
	return strings.HasSuffix(next.fold, "ing") && next.fold != "standing" && next.fold != "sitting"
}

func hasFold(words []word, fold string) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.fold == fold })
}

// isOwning reports whether a question is about the asker's possessions.
func isOwning(words []word) bool {
	me, owns, counted := false, false, words[0].fold == "how" && len(words) > 1 && words[1].oneOf("many", "much")
	for _, w := range words {
		if idiomSets()["bag"][w.fold] && me {
			return true
		}
		switch w.fold {
		case "i", "we", "my", "i'm", "i've", "me":
			me = true
		case "have", "carry", "carrying", "got", "hold", "holding", "own", "pockets", "inventory", "bag", "backpack", "pack",
			"possession", "hands", "wearing", "purse", "pouch", "satchel", "gear":
			if me {
				return true
			}
		case "left":
			owns = true
			if counted {
				return true
			}
		case "collected", "gathered", "looted":
			owns = true
		default:
			if verb := meaning.Lemma(w.fold, meaning.Verb); me && w.known.class&grammarClasses == 0 &&
				strings.HasSuffix(w.fold, "ing") &&
				slices.ContainsFunc([]string{"carry", "hold", "wear", "own"}, func(kind string) bool {
					return meaning.IsA(verb, meaning.Verb, kind)
				}) {
				return true // what am I lugging around
			}
		}
	}
	return me && owns
}

// asksWay reports whether a question is about the ways of a place: which way can I go, where does this road lead, what
// lies to the north.
func asksWay(words []word) bool {
	first, last := words[0], words[len(words)-1]
	switch {
	case first.fold == "which":
		return len(words) > 1 && words[1].is(wayClass)
	case first.fold == "where":
		return len(words) > 3 && words[1].oneOf("does", "do") && words[2].is(articleClass) &&
			last.oneOf("lead", "go", "end", "come", "run")
	case first.oneOf("what", "what's", "who"):
		return isCompass(last.known.toward) && len(words) > 2 && !words[1].is(subjectClass&^beClass)
	}
	return false
}

// asksPerception reports whether a question asks what the asker perceives: what can I make out, do I hear anything.
func asksPerception(words []word) bool {
	me := slices.IndexFunc(words, func(w word) bool { return w.oneOf("i", "we") })
	if me < 1 || me > 2 || me+1 == len(words) || !words[0].oneOf("what", "do", "can", "who", "anything", "how") ||
		words[0].fold == "how" && !words[1].oneOf("much", "far") {
		return false
	}
	return words[me+1].oneOf("see", "hear", "smell", "notice", "spot", "recognise", "recognize", "find") ||
		words[me+1].fold == "make" && hasFold(words, "out")
}

// asksState reports whether a question is about the state of a thing that is there: is the chest locked, how sharp is
// this blade, does the door have a lock.
func asksState(words []word) bool { return thingAsked(words) != "" }

// thingAsked returns the thing that a question of its state is about, or "".
func thingAsked(words []word) string {
	at := 1
	switch {
	case words[0].fold == "how" && len(words) > 3 && words[2].oneOf("is", "are"):
		at = 3
	case !words[0].oneOf("is", "are", "does", "do", "has", "have"):
		return ""
	}
	if at >= len(words) || !words[at].oneOf("the", "this", "that", "these", "those") {
		return ""
	}
	end := at + 1
	for end < len(words) && words[end].kind == plainWord && !words[end].is(grammarClasses) && (end == at+1 ||
		meaning.Lemma(words[end].fold, meaning.Noun) == words[end].fold && words[end].known.verb == nil) {
		end++
	}
	if end == at+1 || words[0].fold != "how" && end == len(words) {
		return ""
	}
	noun := words[end-1].fold
	is := func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) }
	if idiomSets()["meta"][noun] || idiomSets()["being"][noun] || is("person") || !is("physical entity") {
		return ""
	}
	return joinWords(words[at:end])
}

// answer adds the look, examination or inventory that answers a question. It asks back if none does.
func (p *parser) answer(words []word, at Span) {
	i := Intent{Confidence: answerConfidence}
	w := words[0].fold
	last := len(words) - 1
	switch {
	case slices.ContainsFunc(words, func(w word) bool {
		return w.oneOf("your", "yours", "yet") || idiomSets()["meta"][w.fold]
	}),
		w == "how" && hasFold(words, "you"), w == "who" && hasFold(words, "you"):
		p.addRemark(words)
		return
	case hasFold(words, "here") && isOwning(words) && hasFold(words, "got"):
		i.Verb = Look // what have we got here
	case isOwning(words):
		i.Verb = Inventory
	case asksWay(words), asksPerception(words):
		i.Verb = Look
	case asksState(words):
		i.Verb, i.DirectObject = Examine, thingAsked(words)
	case w == "what" && last > 2 && words[1].oneOf("does", "do", "did") && words[2].is(articleClass) &&
		words[last].oneOf("say", "read", "contain", "mean", "show", "depict") && !idiomSets()["being"][words[last-1].fold]:
		i.Verb, i.DirectObject = Examine, joinWords(words[2:last])
	case w == "what" && last > 1 && words[last].oneOf("hear", "smell", "feel", "find") && words[last-1].oneOf("i", "we"),
		hasFold(words, "going") && words[last].fold == "on", hasFold(words, "like") &&
			words[last].oneOf("outside", "inside", "here"),
		words[last].fold == "happening",
		w == "where" && words[last].oneOf("exits", "exit", "doors", "door"),
		(w == "what" || w == "which") && words[last].oneOf("this", "here") && slices.ContainsFunc(words, func(w word) bool {
			return idiomSets()["scene"][w.fold]
		}):
		i.Verb = Look
	case hasFold(words, "look") && (w == "what" || w == "how") && idiomSets()["scene"][words[len(words)-2].fold],
		hasFold(words, "look") && w == "what" && len(words) > 3 && idiomSets()["scene"][words[len(words)-3].fold]:
		i.Verb = Look // what does this room look like
	case words[0].oneOf("where", "where's", "who", "who's") || slices.ContainsFunc(words, func(w word) bool {
		return w.oneOf("here", "there", "see", "around", "nearby", "interesting")
	}):
		if (w == "where" || w == "where's") && !hasFold(words, "i") && !hasFold(words, "we") ||
			w == "who" && len(words) > 1 && !words[1].is(beClass) && words[1].fold != "else" || isWhoDoes(words) {
			p.addRemark(words)
			return
		}
		i.Verb = Look
	case w == "any" && last > 0 && (len(words) < 5 || words[2].is(prepositionClass)) && !hasFold(words, "news"),
		w == "anything" && last > 1 && words[1].is(prepositionClass):
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
