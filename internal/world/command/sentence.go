package command

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// parseSentence parses a sentence: a question, words to somebody, or a chain of clauses.
func (p *parser) parseSentence(words []word, asked bool) {
	p.at, p.from, p.manner = -1, len(p.out.Intents), Manner{}
	if len(words) == 1 && words[0].kind == quoted {
		p.parseQuoted(words[0])
		return
	}
	words = goBack(cutAttention(cutPlan(cutRequest(words))))
	if len(words) == 0 {
		return
	}
	if rest, ok := p.parseQuestion(words, asked); ok {
		return
	} else {
		words = rest
	}
	if n := len(words); n > 3 && words[n-1].isName() && words[n-2].kind == comma &&
		!slices.ContainsFunc(words[:n-2], func(w word) bool { return w.kind == comma || w.isName() }) {
		words = slices.Concat(words[n-1:], words[n-2:n-1], words[:n-2]) // open the gate, Vera
	}
	if p.parseAddress(words) {
		return
	}
	words = moveAdjunct(cutAdjunct(cutUndertaking(cutMatrix(words))))
	words = cutInterjection(words)
	first, pending, started := len(p.out.Intents), -1, false
	for len(words) > 0 && !p.overflow {
		j := readJoint(words, started)
		started = true
		if words = words[j.words:]; len(words) == 0 {
			return
		}
		h := readHead(words)
		n := clauseEnd(words, h, p.moving)
		if j.event {
			n = eventEnd(words[:n], h)
		}
		began := len(p.out.Intents)
		switch {
		case pending >= 0:
			p.at, pending = pending, -1
		case j.first:
			p.at = min(first, began)
		case j.after:
			p.at = min(p.from, began)
		default:
			p.from = began
		}
		j.more = n < len(words)
		if j.words > 0 && n > 2 && words[n-1].fold == "first" && began > first {
			p.at = first
		}
		p.parseClause(words[:n], h, j)
		if j.soft && began == first+1 && len(p.out.Intents) > began && p.out.Intents[began].Verb == Move &&
			p.out.Intents[first].isBareLeave() {
			p.out.Intents = slices.Delete(p.out.Intents, first, began) // let's leave, I go up
		}
		p.at = -1
		if j.leadsBefore {
			pending = began
		}
		words = words[n:]
	}
}

// goBack adds the verb of a move that has none: back down the stairs.
func goBack(words []word) []word {
	if len(words) < 3 || words[0].fold != "back" || words[1].toward() == "" || !words[2].is(articleClass|prepositionClass) {
		return words
	}
	verb := word{raw: "go", fold: "go", start: words[0].start, end: words[0].start, known: lexicon()["go"]}
	return slices.Concat([]word{verb}, words)
}

// isBareLeave reports whether a move only tells that one leaves, and not where to.
func (i Intent) isBareLeave() bool {
	return i.Verb == Move && i.DirectObject == "" && len(i.Targets) == 0 && (i.Direction == "" || i.Direction == "out") &&
		slices.Contains([]string{"leave", "go", "move"}, i.manner.Verb) && i.manner.Object == "" && len(i.manner.Parts) == 0
}

// cutInterjection cuts off a "wait" in front of words that ask for no act: wait, I think that is wrong.
func cutInterjection(words []word) []word {
	if len(words) < 3 || !words[0].oneOf("wait", "hold", "stop") || words[1].kind != comma {
		return words
	}
	if h := readHead(words[2:]); words[2].is(subjectClass) && (!h.ok && !h.direction || h.remark) {
		return words[2:]
	}
	return words
}

// cutMatrix cuts off the words before what somebody is asked to do: I would be grateful if you went.
func cutMatrix(words []word) []word {
	courteous := false
	for i, w := range words {
		switch {
		case w.oneOf("would", "i'd", "it'd", "we'd", "appreciate", "grateful"):
			courteous = true
		case w.kind != plainWord:
			return words
		case courteous && i > 1 && i+2 < len(words) && w.fold == "if" && words[i+1].is(subjectClass):
			return words[i+1:]
		}
	}
	return words
}

// cutAdjunct cuts off the words that tell how or when something is done, in front of the one who does it: without a
// sound I go north.
func cutAdjunct(words []word) []word {
	if len(words) < 4 {
		return words
	}
	if _, f := readVerbForm(words[0].fold, words[0].known); f != ingForm && !strings.HasSuffix(words[0].fold, "ing") &&
		!words[0].oneOf("without", "with", "in", "once", "as", "for", "on", "at", "against", "despite",
			"since", "because", "instead", "rather") {
		return words
	}
	at := 0
	for i, w := range words {
		switch {
		case w.kind != plainWord:
			return words
		case at == 0 && i > 1 && w.oneOf("i", "we", "i'll", "we'll"):
			at = i
		}
	}
	if at == 0 {
		return words
	}
	if h := readHead(words[at:]); !h.ok && !h.direction || h.negated || h.remark || h.form != baseForm {
		return words
	}
	return words[at:]
}

// parseQuoted parses a command that is quoted as a whole: a plain order is done, other words are
// said.
func (p *parser) parseQuoted(w word) {
	if inner := lex(w.raw); len(inner) <= 2 {
		if h := readHead(inner); len(inner) > 0 && (h.ok && h.usage.core || inner[0].toward() != "") {
			p.parseSentence(inner, false)
			return
		}
	}
	p.add(Intent{Verb: Talk, Modifiers: []string{w.raw}, Confidence: 0.8}, Span{w.start, w.end})
}

// joint is the words between two clauses.
type joint struct {
	words       int
	more        bool // more clauses follow in the sentence
	soft        bool // a comma only: what follows may be a remark
	after       bool // this clause is done before the clause in front of it
	event       bool // this clause only tells when the clause behind it is done
	leadsBefore bool // this clause is done after the clause behind it
	first       bool // this clause is done before all others
}

// readJoint reads the words that join a clause to the one in front of it.
func readJoint(words []word, started bool) joint {
	j := joint{soft: true}
	for j.words < len(words) {
		w := words[j.words]
		rest := words[j.words+1:]
		switch {
		case w.kind == comma || w.kind == colon:
		case w.kind != plainWord:
			return j
		case w.is(jointClass) || w.oneOf("finally", "lastly", "afterwards", "afterward", "next", "last"):
			j.soft = j.soft && !w.is(jointClass)
			if w.fold == "but" && len(rest) > 0 && rest[0].fold == "first" {
				j.first = true
			}
		case w.oneOf("after", "before") && len(rest) > 0 && (rest[0].oneOf("that", "this")):
			j.first = j.first || w.fold == "before"
			j.words++
		default:
			return readOrder(words, j, started)
		}
		j.words++
	}
	return j
}

// readOrder reads an order word at the beginning of a clause: after, before, once, when.
func readOrder(words []word, j joint, started bool) joint {
	rest := words[j.words:]
	n := 0
	switch rest[0].fold {
	case "after", "once", "having":
		n = 1
	case "when", "whenever":
		if slices.ContainsFunc(rest, func(w word) bool { return w.oneOf("done", "finished") }) {
			n = 1
		}
	case "before":
		n = 1
	case "prior":
		if len(rest) > 1 && rest[1].fold == "to" {
			n = 2
		}
	case "as":
		if len(rest) > 2 && rest[1].fold == "soon" && rest[2].fold == "as" {
			n = 3
		}
	}
	if n == 0 || !startsEvent(rest[n:]) {
		return j
	}
	leading := !started || j.words > 0 && words[j.words-1].kind == comma
	j.event = leading
	if rest[0].oneOf("before", "prior") {
		j.leadsBefore = leading
	} else {
		j.after = !leading
	}
	j.words += n
	return j
}

// startsEvent reports whether words tell an act: leaving, you drop the sword, I am done resting.
func startsEvent(words []word) bool {
	if len(words) == 0 {
		return false
	}
	if words[0].is(subjectClass) && len(words) > 1 {
		return true
	}
	e, f := readVerbForm(words[0].fold, words[0].known)
	return e != nil && (f == ingForm || f == pastForm) && e.verb != nil
}

// parseAddress parses words to somebody: "robot, go north". It reports whether there are any.
func (p *parser) parseAddress(words []word) bool {
	greeting := greets(words)
	if len(words) > 3 && (words[0].is(greetingClass) || words[0].fold == "cheers") && words[2].kind == comma &&
		words[1].oneOf("everyone", "everybody", "all", "folks") {
		p.add(Intent{Verb: Talk, DirectObject: "everyone", Modifiers: []string{joinAll(words)}, Confidence: 0.8},
			Span{words[0].start, words[len(words)-1].end})
		return true // cheers everyone, to the tide!
	}
	for len(words) > 3 && (words[0].is(fillerClass|courtesyClass) &&
		!words[0].oneOf("let", "lets", "let's", "lemme", "try") &&
		words[0].toward() == "" || words[0].kind == comma) {
		words = words[1:]
	}
	if len(words) > 3 && words[1].isName() && words[2].kind == comma &&
		words[0].oneOf("master", "mistress", "captain", "mother", "father", "old", "dear", "good") {
		p.addAddress(words, 2)
		return true // Master Wilkin, when does the tide turn?
	}
	if at := addressesYou(words); at > 0 {
		p.addAddress(words, at)
		return true
	}
	at := slices.IndexFunc(words, func(w word) bool { return w.kind == comma || w.kind == colon })
	if at < 1 || at > 4 || at == len(words)-1 || slices.ContainsFunc(words[:at], func(w word) bool {
		return w.kind != plainWord || w.known.class&(grammarClasses&^(articleClass|numberClass)|mannerClass) != 0 ||
			w.toward() != ""
	}) {
		return false
	}
	last := words[at-1]
	if isAddressee(words[:at]) {
		p.addAddress(words, at)
		return true
	}
	if last.is(titleClass|remarkClass) || strings.HasSuffix(last.fold, "ly") || words[0].oneOf("any", "the") {
		return false
	}
	if v := words[0].known.verb; v != nil && (!v.noun || at > 1 || len(words[0].known.phrases) > 0 && v.core) {
		return false
	}
	if words[at].kind == colon && (words[0].known != unknown || words[0].raw == words[0].fold) {
		return false
	}
	if !startsClause(words[at+1:], true, true) && !words[at+1].is(fillerClass|subjectClass|auxiliaryClass|negationClass) {
		if at+2 != len(words) || words[at+1].known.verb == nil {
			return false
		}
	}
	if _, f := readVerbForm(words[0].fold, words[0].known); f == ingForm || f == pastForm && at > 1 ||
		isNobody(last) && !greeting {
		return false
	}
	if words[at+1].is(subjectClass) && !words[at+1].is(auxiliaryClass) && words[at+1].fold != "you" {
		return false
	}
	p.addAddress(words, at)
	return true
}

// greets reports whether words begin with a greeting and a comma: good evening, master.
func greets(words []word) bool {
	u, n := findUsage(words)
	return u != nil && n < len(words) && words[n].kind == comma && u.acts[alone] == Talk
}

// isNobody reports whether a word means no being and nothing that is spoken to like one: onward, way, missile.
func isNobody(w word) bool {
	noun := cmp.Or(meaning.Lemma(w.fold, meaning.Noun), w.fold)
	if w.raw != w.fold || isBeing(noun) ||
		isKind(noun, "person", "animal", "spiritual being", "imaginary being", "social group", "machine",
			"vehicle") {
		return false
	}
	for _, part := range []meaning.Part{meaning.Noun, meaning.Verb, meaning.Adjective, meaning.Adverb} {
		if meaning.Lemma(w.fold, part) != "" {
			return true
		}
	}
	return false
}

// addAddress adds the words to somebody who is named in front of a comma.
func (p *parser) addAddress(words []word, at int) {
	p.lastMet = joinWords(words[:at])
	p.add(Intent{Verb: Talk, DirectObject: p.lastMet, Modifiers: []string{joinWords(words[at+1:])}, Confidence: 0.8},
		Span{min(words[0].start, words[at+1].start), max(words[at-1].end, words[len(words)-1].end)})
}

// isAddressee reports whether words name somebody, even if they may be verbs.
func isAddressee(words []word) bool {
	last := words[len(words)-1]
	if len(words) > 2 || last.is(pronounClass) || len(words) == 2 && last.is(titleClass) ||
		last.oneOf("duck", "fly", "bat", "bug", "her", "hunter") ||
		len(words) == 2 && words[0].known.verb != nil {
		return false
	}
	sets := idiomSets()
	return sets["being"][last.fold] || len(words) == 1 && (isBeing(last.fold) || sets["name"][last.fold] || last.isName())
}

// isName reports whether a word is unknown and begins with a capital, as names do.
func (w word) isName() bool {
	return w.kind == plainWord && w.known == unknown && w.raw != w.fold && len(w.fold) > 2 &&
		!strings.HasSuffix(w.fold, "ly") && !idiomSets()["ware"][w.fold]
}

// toward returns the direction that a word means by itself, or "".
func (w word) toward() Direction {
	if w.kind != plainWord || w.known.adjacent {
		return ""
	}
	return w.known.toward
}

// clauseEnd returns the number of words of the clause whose head was read.
func clauseEnd(words []word, h head, moving bool) int {
	from := 1
	if h.ok {
		from = max(1, h.end)
	}
	ways := h.ok && h.usage.acts[alone] == Move || h.direction || moving
	speech := h.ok && verbHas(words[h.at:h.end], tellingClass)
	loose, target := !h.ok && !h.direction, false // target: a preposition was read
	for i := from; i < len(words); i++ {
		w, rest := words[i], words[i+1:]
		sure := target || i == h.end // no list goes on here
		switch {
		case w.kind == comma:
			if loose || !speech && startsClause(rest, ways, sure) || isTag(rest) || isAbsolute(rest) {
				return i
			}
		case w.kind == colon && loose && len(rest) > 1 && rest[0].is(subjectClass) && !rest[0].is(pronounClass) &&
			startsClause(rest, ways, sure):
			return i // I'm not dying for this: I run
		case w.kind == colon || w.kind != plainWord:
		case w.fold == "and" && i > h.end && repeatsTarget(words[h.end:i], rest):
			return i
		case w.is(jointClass):
			if speech && w.fold != "then" && !isGreeting(words[h.at:i]) {
				continue
			}
			if w.fold == "then" || loose && w.fold != "so" || startsClause(rest, ways, sure || w.fold != "and") {
				if w.fold == "so" && len(rest) > 0 && !rest[0].is(subjectClass) || w.fold == "while" {
					continue
				}
				return i
			}
		case speech:
		case w.oneOf("at", "with", "to"):
			target = true
		case w.oneOf("before", "after", "once", "when", "while", "prior"):
			if startsEvent(rest) || w.fold == "after" && len(rest) > 0 && rest[0].fold == "that" ||
				w.fold == "prior" && len(rest) > 1 && startsEvent(rest[1:]) {
				return i
			}
		case w.is(breakClass):
			if len(rest) > 0 {
				return i
			}
		}
	}
	return len(words)
}

// repeatsTarget reports whether words behind an "and" are another thing with a target of the same kind: give the corn
// to the pig and the milk to the cat.
func repeatsTarget(before, behind []word) bool {
	if len(behind) < 4 || !behind[0].is(articleClass) {
		return false
	}
	end := slices.IndexFunc(behind, func(w word) bool { return w.kind != plainWord || w.is(jointClass) })
	if end < 0 {
		end = len(behind)
	}
	_, one := splitObject(before)
	object, other := splitObject(behind[:end])
	return len(one) == 1 && len(other) == 1 && len(object) > 0 && one[0].by == other[0].by
}

// eventEnd returns where a clause such as "before going north" ends if no comma ends it: in front of
// the next verb.
func eventEnd(words []word, h head) int {
	for i := h.end + 1; h.ok && i < len(words); i++ {
		if u, _ := findUsage(words[i:]); u != nil && u.core && !u.noun && !words[i-1].is(articleClass|prepositionClass) &&
			words[i].toward() == "" {
			return i
		}
	}
	return len(words)
}

// isGreeting reports whether the words said before an "and" are a greeting: say hello and leave.
func isGreeting(said []word) bool {
	return len(said) > 1 && said[0].is(sayingClass) &&
		(said[1].known.verb != nil && said[1].known.verb.acts[alone] == Talk || said[1].is(fillerClass))
}

// isTag reports whether words after a comma only end a sentence: please, thank you, will you.
func isTag(words []word) bool {
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	return words[len(words)-1].is(titleClass) && !words[0].is(articleClass) ||
		!slices.ContainsFunc(words, func(w word) bool {
			return !w.is(fillerClass|auxiliaryClass|subjectClass|mannerClass|courtesyClass|titleClass) &&
				!w.oneOf("thank", "thanks")
		})
}

// verbHas reports whether the verb of a clause belongs to a class.
func verbHas(said []word, c class) bool {
	e, _ := readVerbForm(said[0].fold, said[0].known)
	return e != nil && e.class&c != 0
}

// startsClause reports whether a clause starts here, after a comma or an "and". A bare direction
// starts one only after a move. sure is false after an "and" that may continue a list.
func startsClause(words []word, ways, sure bool) bool {
	words = trimJoints(words)
	for len(words) > 1 && words[0].is(fillerClass|mannerClass|auxiliaryClass|negationClass|subjectClass) {
		if words[0].is(subjectClass|negationClass) && !words[0].is(pronounClass) || words[0].is(auxiliaryClass) {
			return true
		}
		if words[0].is(pronounClass) || words[0].is(articleClass) {
			return words[0].is(subjectClass) && words[0].fold != "it" && words[0].fold != "there"
		}
		words = words[1:]
	}
	if len(words) == 0 || words[0].kind != plainWord || words[0].is(articleClass) {
		return false
	}
	if words[0].toward() != "" {
		return ways
	}
	return startsWithVerb(words, sure) || words[0].is(subordinateClass|negationClass|quitClass) && len(words) > 1
}

// startsWithVerb reports whether words begin with a verb, and not with a name of a list. sure tells
// that no list is continued.
func startsWithVerb(words []word, sure bool) bool {
	if len(words) == 0 || words[0].kind != plainWord {
		return false
	}
	if (len(words) == 1 || words[1].isJoint()) && IsGesture(words[0].fold) && !isKind(words[0].fold, "artifact", "plant") {
		return true // and yawn, but not: the sword and bow
	}
	u, n := findUsage(words)
	if u == nil {
		if len(words) > 1 && words[0].known == unknown && words[1].is(articleClass) && words[0].fold != "including" {
			return true // an unknown verb, or a misspelt one
		}
		e, f := readVerbForm(words[0].fold, words[0].known)
		return e != nil && f == ingForm && e.verb != nil && len(words) > 1 && words[0].fold != "including"
	}
	if n == len(words) && u.acts[alone] == "" && !looksSomewhere(words[:n]) || n == 1 && len(words) > 1 && words[1].fold == "of" &&
		meaning.Lemma(words[0].fold, meaning.Noun) != "" {
		return false // and a slice of the apple
	}
	if !u.noun || n > 1 || sure && n == len(words) {
		return u.isAct() || u.control
	}
	return n < len(words) && (words[n].fold == "back" || words[n].toward() != "" ||
		words[n].is(articleClass|pronounClass|numberClass|prepositionClass))
}

// looksSomewhere reports whether a verb phrase is a look in a direction: look up.
func looksSomewhere(said []word) bool {
	return len(said) == 2 && said[0].oneOf("look", "gaze", "glance", "peer", "stare") && said[1].toward() != ""
}

// IsGesture reports whether a verb is an act on nothing that always succeeds.
func IsGesture(verb string) bool { return idiomSets()["gesture"][verb] }

// findUsage returns the longest verb phrase at the beginning of words, and its number of words.
func findUsage(words []word) (*usage, int) { return findPhrase(words[0].known, words) }

// hasPhrase reports whether words begin with a phrase. The first word is known to fit.
func hasPhrase(words []word, phrase []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	for i := len(phrase) - 1; i > 0; i-- {
		if words[i].kind != plainWord || words[i].fold != phrase[i] {
			return false
		}
	}
	return true
}

// trimJoints removes joints from both ends.
func trimJoints(words []word) []word {
	for len(words) > 0 && words[0].isJoint() {
		words = words[1:]
	}
	for len(words) > 0 && words[len(words)-1].isJoint() {
		words = words[:len(words)-1]
	}
	return words
}

// isJoint reports whether a word only joins clauses.
func (w word) isJoint() bool {
	return w.kind == comma || w.kind == stop || w.kind == colon || w.is(jointClass) && w.fold != "but" && w.fold != "while"
}
