package command

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// parseClause parses one clause: first its verb, then its arguments.
func (p *parser) parseClause(words []word, h head, j joint) {
	at := Span{words[0].start, words[len(words)-1].end}
	if j.soft && j.words > 0 && isAbsolute(words) {
		p.addRemark(words)
		return
	}
	h.at, h.end, h.unclear = min(h.at, len(words)), min(h.end, len(words)), min(h.unclear, len(words)-1)
	if p.trade = ""; h.at < len(words) {
		p.trade = tradeVerbs[words[h.at].fold]
	}
	words, h = p.lookBack(cutBack(words, h), h)
	if p.parseOffer(words, h, at) {
		return
	}
	p.manner = p.readManner(words[h.at:])
	switch {
	case h.negated:
		p.addRemark(words)
		p.rememberName(words[h.end:])
		return
	case h.remark:
		if idiomOf(words).end == len(words) && p.parseIdiom(words, head{at: 0}, at) {
			return // after him
		}
		p.addRemark(words)
		p.rememberName(words)
		return
	case h.direction && h.at == 0 && compassName(words, nil) == len(words):
		p.addRemark(words) // north wind
		return
	case h.direction && idiomOf(words[h.at:]).end > 0 && p.parseIdiom(words, h, at):
		return // out of here
	case h.direction:
		rest, more := pickManner(words[h.at:])
		p.parseMove(nil, rest, Intent{Verb: Move, Modifiers: append(h.mods, more...), Confidence: 1}, at)
		return
	}
	if out := words[h.at:]; len(out) == 2 && out[0].fold == "look" && out[1].fold == "out" && len(p.out.Intents) > 0 {
		p.add(Intent{Verb: Look, Direction: "out", Confidence: h.usage.sure}, at) // go to the window and look out
		return
	}
	if words = cutFrequency(words, h); p.parseIdiom(words, h, at) {
		return
	}
	rest := words[h.end:]
	if !h.ok {
		if words[0].kind == quoted {
			p.add(Intent{Verb: Talk, Modifiers: append(h.mods, words[0].raw), Confidence: 0.8}, at)
			return
		}
		if p.parseGoal(words, h, at) {
			return
		}
		if u, n, ok := p.mendVerb(words, &h, j); ok {
			h.usage, h.end = u, h.at+n
			rest = words[h.end:]
			if u.typo != "" {
				p.manner.Verb = u.typo
			}
		} else {
			return
		}
	}
	if words[h.at].is(greetingClass) && len(rest) == 0 && h.usage.acts[alone] == Talk &&
		(len(p.out.Intents) == 0 || words[h.at].oneOf("thank", "thanks")) {
		p.thanks = &at
		return
	}
	rest, more := pickManner(rest)
	i := Intent{Confidence: h.usage.sure, Modifiers: append(h.mods, more...)}
	p.parseArguments(h.usage, words[h.at:h.end], rest, i, at)
}

// parseGoal parses a clause without a verb that tells where to go: "to the castle", "west". It
// reports whether it is one.
func (p *parser) parseGoal(words []word, h head, at Span) bool {
	rest := words[h.at:]
	if len(rest) == 0 {
		return false
	}
	if len(rest) == 1 {
		if d, _ := typoDirection(rest[0].fold); d != "" && rest[0].known.verb == nil {
			p.add(Intent{Verb: Move, Direction: d, Modifiers: h.mods, Confidence: mendedConfidence}, at)
			return true
		}
	}
	goal := slices.ContainsFunc(words[:h.at], func(w word) bool { return w.oneOf("to", "straight", "back") }) ||
		rest[0].is(numberClass) && len(rest) > 2 && rest[1].is(wayClass)
	switch rest[0].fold {
	case "into", "through", "onto", "towards", "toward", "across", "onward", "onwards", "forward", "to", "over", "along":
		goal = true
	case "out", "off", "back":
		goal = len(rest) > 1
	}
	if !goal || rest[len(rest)-1].kind != plainWord || rest[0].known == unknown {
		return false
	}
	p.parseMove(nil, rest, Intent{Verb: Move, Modifiers: h.mods, Confidence: goalConfidence}, at)
	return true
}

// mendVerb returns the verb that the unclear word of a clause is a typo of. If there is none, it
// asks for the verb, or takes the clause for a remark.
func (p *parser) mendVerb(words []word, h *head, j joint) (u *usage, n int, ok bool) {
	if h.unclear < 0 {
		p.addRemark(words)
		return nil, 0, false
	}
	h.at = h.unclear
	w := words[h.at]
	rest := words[h.at+1:]
	var options []string
	if w.kind == plainWord && w.known.class&^speltClass == 0 && w.known.verb == nil {
		if u, n, options = typoVerb(words[h.at:]); u != nil {
			return u, n, true
		}
	}
	if p.repeatAct(words, j) {
		return nil, 0, false
	}
	order := w.known == unknown && startsArgument(rest) && !slices.ContainsFunc(words[:h.at], func(w word) bool {
		return w.is(subjectClass | beClass)
	})
	if len(options) > 1 && (!j.soft || !j.more) || order || !j.soft && w.known.class&^speltClass == 0 {
		if len(options) == 0 {
			options = verbNames
		}
		p.addAmbiguity("verb", Span{w.start, w.end}, options, true)
		p.out.Ambiguities[len(p.out.Ambiguities)-1].clause = Span{words[0].start, words[len(words)-1].end}
		p.rememberName(rest)
		return nil, 0, false
	}
	p.addRemark(words)
	p.unclear = p.unclear || !tells(words)
	p.rememberName(words)
	return nil, 0, false
}

// tells reports whether words without a verb of an act tell something: the moon is full.
func tells(words []word) bool {
	for i, w := range words {
		if i > 0 && w.is(beClass) && !words[i-1].is(subjectClass) {
			return true
		}
	}
	return idiomSets()["meta"][words[len(words)-1].fold]
}

// repeatAct does the last act with another thing: take the lamp, then the rope.
func (p *parser) repeatAct(words []word, j joint) bool {
	n := len(p.out.Intents)
	if n == 0 || j.words == 0 || !words[0].is(articleClass) || p.at >= 0 || p.out.Intents[n-1].DirectObject == "" ||
		slices.ContainsFunc(words, func(w word) bool { return w.is(beClass | subjectClass) }) {
		return false
	}
	again := p.out.Intents[n-1]
	object, targets := splitObject(words)
	if len(again.Targets) == 0 || len(targets) == 0 {
		object, targets = words, nil
	}
	again.DirectObject, again.Targets = p.resolveNoun(object), p.resolveNouns(targets)
	p.add(again, Span{words[0].start, words[len(words)-1].end})
	return true
}

// rememberName keeps the thing that is named in a clause without an act, since "it" may mean it.
func (p *parser) rememberName(words []word) {
	for i, w := range words {
		if w.is(articleClass) && i+1 < len(words) && words[i+1].known.class == 0 {
			n := i + 1
			for n < len(words) && words[n].kind == plainWord && words[n].known.class&grammarClasses == 0 &&
				(n == i+1 || words[n].known.verb == nil || words[n].known.verb.noun) {
				n++
			}
			p.lastNamed = joinWords(words[i:n])
			return
		}
	}
}

// pickManner takes the adverbs of manner and the courtesies out of the rest of a clause.
func pickManner(words []word) (rest []word, mods []string) {
	for len(words) > 0 && words[len(words)-1].is(articleClass) && !words[len(words)-1].is(pronounClass) &&
		words[len(words)-1].fold != "her" {
		words = words[:len(words)-1]
	}
	if n := len(words); n > 1 && words[n-1].known == unknown && isAdverb(words[n-1].fold) &&
		!words[n-2].is(articleClass) {
		mods, words = append(mods, words[n-1].fold), words[:n-1]
	} else if n > 2 && isOnlyAdverb(words[n-1]) {
		mods, words = append(mods, words[n-1].fold), words[:n-1]
	}
	isTaken := func(w word) bool {
		return w.is(mannerClass|courtesyClass) || w.oneOf("times", "first", "only", "together", "last", "hard", "fast", "loud")
	}
	if !slices.ContainsFunc(words, isTaken) {
		return words, mods
	}
	for i, w := range words {
		switch {
		case w.is(courtesyClass), w.oneOf("first", "only", "together", "last", "hard", "fast", "loud") && isTail(words, i),
			i+1 < len(words) && w.oneOf("very", "quite", "as", "so", "really") &&
				(words[i+1].is(mannerClass) || words[i+1].oneOf("hard", "fast", "loud") && isTail(words, i+1)):
		case w.oneOf("times") && i > 0 && slices.Contains(numberWords, words[i-1].fold):
			rest = rest[:len(rest)-1] // knock three times
		case w.is(mannerClass):
			mods = append(mods, w.fold)
		default:
			rest = append(rest, w)
		}
	}
	return rest, mods
}

// isTail reports whether a word ends the object of a clause, and is no part of a name: the first one.
func isTail(words []word, i int) bool {
	return (i == 0 || !words[i-1].is(articleClass) || words[i-1].oneOf("very", "so")) &&
		(i+1 == len(words) || words[i+1].is(prepositionClass))
}

// withParticle returns the usage of a verb with a particle after its object: "put it down".
func withParticle(said, rest []word) (*usage, []word) {
	e, _ := readVerbForm(said[0].fold, said[0].known)
	if e == nil || len(said) > 1 || len(e.phrases) == 0 {
		return nil, rest
	}
	for i := 1; i < len(rest); i++ {
		if !rest[i].is(particleClass) || i+1 < len(rest) && !rest[i+1].is(prepositionClass) && rest[i+1].kind == plainWord {
			continue
		}
		for _, h := range e.phrases[rest[i].fold] {
			if len(h.words) == 2 && !h.usage.lead {
				from := i
				if from > 1 && rest[from-1].fold == "back" {
					from-- // pick it back up
				}
				return h.usage, slices.Delete(slices.Clone(rest), from, i+1)
			}
		}
	}
	return nil, rest
}

// lightVerb returns the usage of the noun after a verb that means nothing by itself.
func lightVerb(said, rest []word) (u *usage, left []word) {
	if len(said) > 1 || len(rest) < 2 {
		return nil, rest
	}
	e, _ := readVerbForm(said[0].fold, said[0].known)
	if e == nil || e.class&carrierClass == 0 {
		return nil, rest
	}
	for i := 0; i < len(rest); i++ {
		if rest[i].fold != "a" && rest[i].fold != "an" && rest[i].fold != "some" && rest[i].fold != "another" {
			continue
		}
		for n := i + 1; n < len(rest) && n <= i+3; n++ {
			if rest[n].kind != plainWord {
				break
			}
			after := rest[n+1:]
			of := len(after) > 1 && after[0].fold == "of"
			if len(after) > 0 && !of && !after[0].is(prepositionClass|particleClass) && after[0].kind == plainWord {
				continue
			}
			if u := deedOf(rest[n], i > 0 && isNobody(rest[i-1])); u != nil {
				if of {
					after = after[1:] // an inspection of the altar
				}
				return u, slices.Concat(rest[:i:i], after)
			}
		}
		return nil, rest
	}
	return nil, rest
}

// deedOf returns the usage of the verb that a noun of an act belongs to: look, inspection. It is nil if there is none.
// It may be an act upon a thing if one is named: give the handle a pull.
func deedOf(noun word, handled bool) *usage {
	if noun.is(lightClass) && noun.known.verb != nil {
		return noun.known.verb
	}
	if !isDeed(noun.fold) {
		return nil
	}
	for _, verb := range append([]string{noun.fold}, meaning.Derived(noun.fold)...) {
		if u := lookUp(lexicon(), verb).verb; u != nil && (u.core || u.listed) &&
			(slices.Contains(deeds, u.acts[withObject]) ||
				handled && u.acts[withObject] == Use) {
			return u
		}
	}
	return nil
}

// deeds are the acts that a noun of an act may mean. The others are acts upon a thing, and the noun may be the thing.
var deeds = []Verb{Look, Examine, Talk, Attack, Move, Flee, Defend, Rest}

// parseArguments parses the rest of a clause according to its verb.
func (p *parser) parseArguments(u *usage, said, rest []word, i Intent, at Span) {
	rest = cutExceptions(rest)
	if said[0].oneOf("leave", "leaving", "let") && len(said) == 1 && len(rest) > 1 {
		switch last := rest[len(rest)-1]; {
		case last.fold == "be", last.fold == "alone":
			p.addRemark(rest)
			return
		case slices.ContainsFunc(rest, func(w word) bool { return w.oneOf("here", "on", "in", "there", "under", "with") }),
			isWareAt(rest):
			u = usageAs(Drop)
		}
	}
	if len(said) == 2 && said[0].oneOf("dig", "digging") && said[1].fold == "in" && len(rest) > 0 && rest[0].is(articleClass) {
		u = usageAs(Use) // dig in the sand
	}
	u = sensedUsage(u, said, rest)
	verb := verbOf(u, rest)
	purpose := purposeOf(verb, rest)
	if purpose > 0 && isWay(said, rest[:purpose]) {
		rest, purpose = rest[:purpose], 0 // take the western way to see the market
	}
	if purpose > 0 {
		i.Verb = verb
		p.parsePurpose(rest, purpose, i, at)
		return
	}
	if d, used := readDirection(rest); (verb == Use || verb == Take) && d != "" && used == len(rest) ||
		(verb == Take || verb == Use || verb == Move) && isWay(said, rest) {
		i.Verb = Move
		p.parseMove(said, rest, i, at)
		return
	}
	if other, left := lightVerb(said, rest); other != nil {
		u, rest = other, left
	} else if other, left := withParticle(said, rest); other != nil {
		u, rest = other, left
	}
	if i.Verb == "" {
		i.Verb = verbOf(u, rest)
	}
	if (i.Verb == Look || i.Verb == Examine) && len(rest) > 0 {
		if own, n := findUsage(rest); own != nil && own.core && own.acts[alone] == Inventory && n == len(rest) {
			i.Verb = Inventory
		}
	}
	switch i.Verb {
	case Move:
		if d, _ := readDirection(rest); said[0].oneOf("explore", "exploring", "explores") && len(rest) > 0 && d == "" {
			i.Verb = Examine // explore the stalls
			p.parseLook(said, rest, i, at)
			return
		}
		if thing := goesRound(rest); thing != nil {
			i.Verb = Use // walk right round it
			p.parseHandling(said, thing, i, at)
			return
		}
		p.parseMove(said, rest, i, at)
	case Inventory:
		p.add(i, at)
	case Flee:
		p.parseFlight(rest, i, at)
	case Rest, Defend:
		p.parseBare(rest, i, at)
	case Talk:
		p.parseTalk(said, rest, i, at)
	case Look, Examine:
		p.parseLook(said, rest, i, at)
	default:
		p.parseHandling(said, rest, i, at)
	}
}

// purposeOf returns the place of the "to" that begins the purpose of a thing: use the sword to attack.
// It is 0 if there is none.
func purposeOf(v Verb, rest []word) int {
	if v != Use && v != Take && v != Move {
		return 0
	}
	for i := 1; i+1 < len(rest); i++ {
		if rest[i].fold == "to" && startsBase(rest[i+1:]) && rest[i+1].raw == rest[i+1].fold {
			return i
		}
	}
	return 0
}

// parsePurpose parses an act with the purpose that begins at a place of its arguments. What a thing
// is used for is the act, and the thing is its instrument.
func (p *parser) parsePurpose(rest []word, at int, i Intent, span Span) {
	to := rest[at+1:]
	h := readHead(to)
	if i.Verb != Use || !h.ok {
		p.parseArguments(usageAs(i.Verb), []word{{known: unknown}}, rest[:at], i, span)
		return
	}
	began := len(p.out.Intents)
	tool := p.resolveNoun(rest[:at])
	with := word{kind: plainWord, raw: "with", fold: "with", known: lexicon()["with"]}
	p.parseArguments(h.usage, to[h.at:h.end], slices.Concat(to[h.end:], []word{with}, rest[:at]),
		Intent{Modifiers: i.Modifiers, Confidence: min(i.Confidence, h.usage.sure)}, span)
	if len(p.out.Intents) > began && tool != "" {
		p.lastNamed = tool
	}
}

// parseFlight parses a direction or the danger of a flight.
func (p *parser) parseFlight(rest []word, i Intent, at Span) {
	r := readRoute(rest)
	if len(r.toward) > 0 {
		i.Direction = r.toward[0]
	}
	i.DirectObject, i.Targets = p.resolveNoun(r.name), p.resolveNouns(r.more)
	p.add(i, at)
}

// verbOf returns the act of a verb with its arguments.
func verbOf(u *usage, rest []word) Verb {
	way := alone
	if len(rest) > 0 {
		way = withObject
		if rest[0].is(prepositionClass) || len(rest) > 1 && rest[0].oneOf("next", "close") && rest[1].fold == "to" ||
			len(rest) > 2 && rest[0].is(particleClass) && rest[1].is(prepositionClass) {
			way = beforePreposition // up beside the stranger
		}
		for i, w := range rest[1:] {
			if way == withObject && i+2 < len(rest) {
				switch w.fold {
				case "at", "toward", "towards":
					way = withObjectAt
				case "to":
					way = withObjectTo
				}
			}
		}
	}
	v := u.act(way)
	if v == "" {
		for _, way := range [...]int{withObject, beforePreposition, alone} {
			if v = u.acts[way]; v != "" {
				break
			}
		}
	}
	return v
}

// cutExceptions drops the things that are excepted: all but the map.
func cutExceptions(rest []word) []word {
	for i, w := range rest {
		if i > 0 && rest[i-1].oneOf("everything", "anything", "all") && w.oneOf("that", "which") {
			return rest[:i] // everything that is not nailed down
		}
		if i > 0 && (w.oneOf("except", "but", "excluding", "including", "save", "besides", "apart") ||
			w.fold == "other" && i+1 < len(rest) && rest[i+1].fold == "than") {
			return rest[:i]
		}
	}
	return rest
}

// isWay reports whether a thing that is taken or used leads somewhere: "take the stairs down".
func isWay(said, rest []word) bool {
	switch said[0].fold {
	case "take", "use", "follow", "try", "taking", "using", "takes", "uses":
	default:
		return false
	}
	way, toward := false, false
	for _, w := range rest {
		if w.kind != plainWord || w.is(jointClass) || w.oneOf("with", "from") {
			return false
		}
		way = way || w.is(wayClass) || w.is(numberClass)
		toward = toward || w.known.toward != ""
	}
	return toward && (way || len(rest) == 1) || len(rest) == 2 && rest[1].fold == "stairs" ||
		len(rest) > 1 && rest[0].fold == "the" && said[0].oneOf("take", "taking", "takes") && isRoad(rest)
}

// goesRound returns the thing that a move leads round, to nowhere: all the way round it. It is nil if there is none.
func goesRound(rest []word) []word {
	for len(rest) > 0 && rest[0].oneOf("all", "the", "way", "right", "once", "twice", "slowly") {
		rest = rest[1:]
	}
	for len(rest) > 2 && rest[len(rest)-1].oneOf("once", "twice", "again", "slowly") {
		rest = rest[:len(rest)-1]
	}
	if len(rest) < 2 || !rest[0].oneOf("round", "around") || !rest[1].is(articleClass|pronounClass) ||
		slices.ContainsFunc(rest, func(w word) bool { return w.oneOf("to", "towards", "into", "corner", "bend", "back") }) {
		return nil
	}
	return rest[1:]
}

// parseBare parses an act that needs no object but may have one.
func (p *parser) parseBare(rest []word, i Intent, at Span) {
	if len(rest) > 0 {
		if d, used := readDirection(rest); d != "" && used == len(rest) && i.Verb != Rest {
			i.Direction = d
			p.add(i, at)
			return
		}
		object, targets := splitObject(rest)
		if i.Verb == Rest {
			i.Modifiers = append(i.Modifiers, joinWords(rest))
		} else {
			i.DirectObject, i.Targets = p.resolveNoun(object), p.resolveNouns(targets)
		}
	}
	if i.DirectObject == "" && len(i.Targets) > 0 && i.Verb != Defend {
		i.DirectObject, i.Targets = i.Targets[0], i.Targets[1:]
	}
	p.add(i, at)
}

// parseTalk parses the person spoken to, and the words said or the topic asked about.
func (p *parser) parseTalk(said, rest []word, i Intent, at Span) {
	var speech []string
	for n, w := range rest {
		told := n > 0 && w.fold == "that" && verbHas(said, tellingClass)
		if w.kind == colon || told && n+1 < len(rest) {
			speech = append(speech, joinAll(rest[n+1:]))
			rest = rest[:n]
			break
		}
	}
	kept := rest[:0:0]
	for _, w := range rest {
		if w.kind == quoted {
			speech = append(speech, w.raw)
			continue
		}
		kept = append(kept, w)
	}
	if n := slices.IndexFunc(kept, asksOn); n > 1 && verbHas(said, tellingClass) &&
		slices.ContainsFunc(kept[:n], func(w word) bool { return w.is(prepositionClass) && !w.oneOf("to", "about", "of", "for") }) {
		speech, kept = append(speech, joinAll(kept[n:])), kept[:n] // the man with the fish why he will not sell it
	}
	saying := verbHas(said, sayingClass)
	var met [][]word
	for n, g := range groupByPreposition(kept) {
		switch text := joinWords(g.words); {
		case met != nil && g.by == "to" && !saying && len(met) == 1 && isNobody(met[0][len(met[0])-1]):
			speech = append(speech, joinWords(met[0]))
			met = splitList(g.words) // explain the plan to the crew
		case g.by == "about" || g.by == "for" || g.by == "of" || g.by == "over" || g.by == "that" ||
			g.by == "to" && met != nil && !saying:
			speech = append(speech, strings.TrimSpace(g.by+" "+text))
		case n == 0 && g.by == "" && saying && len(said) == 1:
			speech = append(speech, joinAll(g.words))
		case met == nil:
			name, told := cutSpeech(g.words, verbHas(said, tellingClass))
			met = splitList(name)
			if told != "" {
				speech = append(speech, told)
			}
		default:
			i.Targets = append(i.Targets, text)
		}
	}
	i.Modifiers = append(i.Modifiers, speech...)
	if len(met) == 0 && len(speech) == 0 && verbHas(said, partnerClass) {
		p.addAmbiguity("target", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
	}
	if len(met) == 0 {
		p.add(i, at)
		return
	}
	for _, name := range met {
		one := i
		one.Targets, one.Modifiers = slices.Clone(i.Targets), slices.Clone(i.Modifiers)
		one.DirectObject = p.resolvePerson(name)
		p.add(one, at)
	}
}

// asksOn reports whether a word begins a question behind a name, and no part of the name.
func asksOn(w word) bool {
	return w.oneOf("what", "what's", "why", "when", "where", "how", "if", "whether", "wether")
}

// cutSpeech divides "smith that the bandit is here" and "jailer to open the cell" into the name
// and the words.
func cutSpeech(words []word, tells bool) (name []word, told string) {
	if len(words) > 1 && (words[0].is(whClass) || words[0].oneOf("if", "whether")) {
		return nil, joinWords(words)
	}
	for i := 1; i < len(words); i++ {
		if w := words[i]; w.fold == "that" || w.is(whClass) || w.oneOf("wether", "wheter") || w.is(subjectClass) && !w.is(pronounClass|articleClass) ||
			w.fold == "if" || w.kind == comma && tells || w.oneOf("a", "an") &&
			(isBeing(words[i-1].fold) || words[i-1].isName()) {
			return words[:i], joinWords(words[i:])
		}
	}
	return words, ""
}

// parseLook parses the object looked at. No object means the place itself.
func (p *parser) parseLook(said, rest []word, i Intent, at Span) {
	if len(rest) == 0 && len(said) == 2 && said[1].toward() != "" {
		rest = said[1:] // look up
	}
	if d, used := readDirection(rest); d != "" && used == len(rest) {
		i.Direction = d
		p.add(i, at)
		return
	}
	if len(rest) > 1 && rest[0].toward() != "" && !isCompass(rest[0].toward()) && rest[1].is(prepositionClass) {
		rest = rest[1:] // look down at the can
	}
	if n := len(rest); n > 0 && n < 3 && rest[n-1].oneOf("me", "myself", "us") && (n == 2 && isAround(rest) ||
		n == 1 && len(said) == 2 && said[1].oneOf("around", "about", "round")) {
		rest = nil // look around me
	}
	if asksReason(rest) && len(p.out.Intents) > 0 {
		p.addRemark(rest) // open the piano and see why the keys are dead
		return
	}
	asked := len(rest) > 0 && rest[0].is(whClass)
	if rest = cutQuestion(rest); asked && p.lastNamed != "" && (len(rest) == 0 || len(rest) == 1 && rest[0].fold == "there") {
		i.DirectObject, i.Verb, rest = p.lastNamed, Examine, nil // lift the lid and see what is in there
	}
	var more []string // other things to look at
	groups := groupByPreposition(rest)
	for n, g := range groups {
		if g.by == "" || n == 0 || i.DirectObject == "" {
			for k, object := range splitList(g.words) {
				if k == 0 && i.DirectObject == "" {
					i.DirectObject = p.resolveNoun(object)
					continue
				}
				if object[0].is(whClass) {
					continue // look around the room, what's in here?
				}
				if name := p.resolveNoun(object); name != "" {
					more = append(more, name)
				}
			}
			continue
		}
		if name := p.resolveNoun(g.words); name != "" {
			i.Targets = append(i.Targets, name)
		}
	}
	last := said[len(said)-1]
	if len(said) > 1 && i.Verb == Examine {
		i.Modifiers = append(i.Modifiers, said[1].fold)
	}
	if i.DirectObject == "" && len(i.Targets) == 0 && len(p.out.Ambiguities) == 0 {
		if len(rest) > 0 && !isAround(rest) || last.is(prepositionClass) && last.fold != "around" ||
			i.Verb == Examine && !said[0].oneOf("examine", "x") {
			p.addAmbiguity("object", at, nil, true)
			i.Confidence = min(i.Confidence, 0.4)
		} else if i.Verb == Examine {
			i.Verb = Look
		}
	}
	p.add(i, at)
	for _, name := range more {
		one := i
		one.DirectObject, one.Targets, one.Modifiers = name, slices.Clone(i.Targets), slices.Clone(i.Modifiers)
		p.add(one, at)
	}
}

// asksReason reports whether the words after a look are a question that no look answers: why the keys are dead.
func asksReason(rest []word) bool {
	return len(rest) > 2 && rest[0].oneOf("why", "how", "if", "whether", "when") && rest[1].kind == plainWord
}

// isAround reports whether the words after a look mean the place itself.
func isAround(rest []word) bool {
	return !slices.ContainsFunc(rest, func(w word) bool {
		switch w.fold {
		case "around", "about", "round", "here", "all", "there", "over", "me", "myself", "us":
			return false
		}
		return true
	})
}

// cutQuestion drops the words of a question before a name: see what's in the cupboard.
func cutQuestion(rest []word) []word {
	if len(rest) == 0 || !rest[0].is(whClass) {
		return rest
	}
	for len(rest) > 0 && rest[0].is(whClass|beClass|prepositionClass|subjectClass) {
		rest = rest[1:]
	}
	return rest
}

// parseHandling parses an act on things: the object, and the target or instrument. Several objects
// joined by "and" become several acts.
func (p *parser) parseHandling(said, rest []word, i Intent, at Span) {
	if i.Verb == Use && len(said) == 1 && len(rest) > 2 && rest[0].oneOf("up", "down", "off", "out", "open") && rest[1].is(articleClass) {
		rest = rest[1:] // prise up a floorboard
	}
	object, targets := splitObject(p.keepName(i.Verb, said, rest))
	tool := len(rest) > 0 && rest[0].oneOf("with", "using")
	if e, _ := readVerbForm(said[0].fold, said[0].known); e != nil && e.verb != nil &&
		(e.verb.with || !e.verb.core && e.verb.acts[beforePreposition] == Use) {
		tool = false
	}
	if n := len(object); n > 1 && len(object[n-1].fold) < 3 && isCompass(object[n-1].toward()) &&
		(i.Verb == Use || i.Verb == Attack) {
		i.Direction, object = object[n-1].toward(), object[:n-1]
	}
	if i.Verb == Give && !slices.ContainsFunc(targets, func(c chunk) bool { return c.by == "to" }) {
		var to []word
		if object, to = recipientFirst(object); to != nil {
			targets = append([]chunk{{"to", to}}, targets...)
		}
	}
	if i.Verb == Give {
		targets = dropPlaces(targets)
	}
	objects := splitList(object)
	if len(objects) == 0 {
		i.Targets = p.resolveNouns(targets)
		if (i.Verb == Use || i.Verb == Attack) && !tool && len(i.Targets) > 0 {
			i.DirectObject, i.Targets = i.Targets[0], i.Targets[1:]
			p.add(i, at)
			return
		}
		p.addAmbiguity("object", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
		p.add(i, at)
		return
	}
	if i.Verb == Give && len(targets) == 0 && !said[0].oneOf("pay", "sell", "show", "trade") {
		p.addAmbiguity("target", at, nil, true)
		i.Confidence = min(i.Confidence, 0.4)
	}
	if slices.ContainsFunc(object, func(w word) bool { return w.fold == "or" }) {
		p.addAmbiguity("object", at, nil, true)
	}
	first := true
	for _, o := range objects {
		one := i
		one.Modifiers = slices.Clone(i.Modifiers)
		one.DirectObject = p.resolveNoun(o)
		if first {
			if p.lastNamed == "" {
				p.lastNamed = one.DirectObject // the pot with a slice in it
			}
			i.Targets = p.resolveNouns(targets)
			first = false
		}
		if one.DirectObject == "" {
			one.Confidence = min(one.Confidence, 0.4)
		}
		one.Targets = slices.Clone(i.Targets)
		p.add(one, at)
	}
}

// dropPlaces drops the places of a recipient: to the man in the bed.
func dropPlaces(targets []chunk) []chunk {
	for i, c := range targets {
		if c.by == "to" {
			return targets[:i+1]
		}
	}
	return targets
}

// keepName returns the rest of a clause in which "to" and "for" inside a title do not divide: the
// ticket to LIGHT.
func (p *parser) keepName(v Verb, said, rest []word) []word {
	if len(rest) < 3 || !rest[0].is(articleClass) {
		return rest
	}
	last := len(rest)
	if v == Give || v == Throw { // their last "to" or "at" is for the goal
		for last--; last > 0 && rest[last].fold != "to" && rest[last].fold != "at"; last-- {
		}
	}
	for i := 2; i < last && i+1 < len(rest); i++ {
		next := rest[i+1]
		if rest[i].fold == "to" && next.kind == plainWord && next.raw != next.fold && !next.is(articleClass) {
			rest = slices.Clone(rest)
			rest[i].known = unknown
		}
	}
	return rest
}

// recipientFirst parses "give her the lamp" and "give Oda the lamp": an article, a number or a
// possessive after the first word separates the recipient from the object.
func recipientFirst(words []word) (object, to []word) {
	for n := 1; n < len(words); n++ {
		w := words[n]
		if w.kind != plainWord {
			return words, nil
		}
		if w.is(articleClass|numberClass) || w.raw[0] >= '0' && w.raw[0] <= '9' || w.oneOf("it", "them") ||
			w.oneOf("his", "her", "its", "their", "our") && n+1 < len(words) {
			return words[n:], words[:n]
		}
	}
	if len(words) == 2 && words[0].is(pronounClass) && words[1].kind == plainWord {
		return words[1:], words[:1]
	}
	return words, nil
}
