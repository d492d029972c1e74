package claim

import (
	"fmt"
	"slices"

	"loregate/internal/meaning"
)

// holding are verbs whose subject has their object about them.
var holding = wordSet("have hold carry keep own possess wear bear wield clutch clasp grip grasp brandish tote " +
	"pocket cradle cling guard weigh get retain sport")

// readHolds reads who has a thing: "the butler has the sapphire", "it is with the butler", "it belongs to the butler".
func readHolds(c *clause, w *World) (list []Claim) {
	add := func(who, thing int, denied bool) {
		list = append(list, Claim{Predicate: Holds, Subject: who, Object: thing, Denied: denied})
	}
	for _, v := range c.verbs() {
		if who, thing, ok := c.keptThing(w, v); ok {
			add(who, thing, v.denied && v.lemma != "leave")
		}
		if c.order {
			continue
		}
		thing, ok := c.objectOf(w, v, Thing)
		who, known := c.subjectOf(w, v, Person)
		if known && !ok && holding[v.lemma] && v.tense != past && v.first == who.to && len(c.named) > 1 &&
			c.named[0].to <= who.from && w.Entities[c.named[0].entity].Class == Thing { // "the bell I carry myself"
			add(who.entity, c.named[0].entity, v.denied)
		}
		if known && ok && v.denied && (v.lemma == "part" || v.lemma == "separate") &&
			c.wordBefore(thing.from) == "with" {
			add(who.entity, thing.entity, false) // "never parts with the bell"
		}
		holds := holding[v.lemma] || w.Speaker == None && v.tense == present && !isMental(v.lemma)
		if ok && known && holds && v.tense != past && v.modal == "" && !v.passive && thing.from-v.at <= 5 &&
			c.isHeldDirectly(v, thing) {
			add(who.entity, thing.entity, v.denied || c.deniesAt(thing.from))
		}
		if claim, ok := readWith(c, w, v); ok {
			list = append(list, claim)
		}
	}
	return list
}

// isHeldDirectly reports whether a thing is the direct object of a verb: "has the bell", "has got hold of the bell".
func (c *clause) isHeldDirectly(v verb, thing mention) bool {
	between := c.tokens[v.at:thing.from]
	return c.tokens[v.at].word != "had" && (!c.hasPrepositionBetween(v.at, thing.from) || hasRun(between, "hold of") ||
		holding[v.lemma] && hasRun(between, "on to") ||
		!holding[v.lemma] && c.wordBefore(thing.from) == "with" && len(between) <= 4)
}

// isPerceiving reports whether a verb tells of perception.
func isPerceiving(lemma string) bool {
	return slices.ContainsFunc([]string{"perceive", "look", "watch"}, func(kind string) bool {
		return meaning.IsA(lemma, meaning.Verb, kind)
	})
}

// isMental reports whether a verb tells of perception, wish, thought or speech, which need no touch.
func isMental(lemma string) bool {
	return isPerceiving(lemma) || slices.ContainsFunc([]string{"desire", "think", "communicate", "search", "need", "lack",
		"like", "fear"}, func(kind string) bool { return meaning.IsA(lemma, meaning.Verb, kind) })
}

// keptThing returns a thing of a clause and the person about whom it is: "the bell hangs from the groom's belt", "this
// bell in my hand".
func (c *clause) keptThing(w *World, v verb) (who, thing int, ok bool) {
	if v.tense == past || c.order && !isMental(v.lemma) {
		return None, None, false
	}
	thing = None
	for _, m := range c.named {
		if w.Entities[m.entity].Class == Thing {
			thing = m.entity
		}
		whose := m.to < len(c.tokens) && c.tokens[m.to].word == "'s" || m.pronoun && possessives[c.tokens[m.from].word]
		if w.Entities[m.entity].Class == Person && whose && thing != None &&
			(prepositions[c.wordBefore(m.from)] || v.lemma == "leave" && v.denied) &&
			hasWord(c.tokens[m.to:min(m.to+3, len(c.tokens))], keeping) {
			return m.entity, thing, true
		}
	}
	return None, None, false
}

// hasPrepositionBetween reports whether a preposition stands between two tokens: "keeps away from the bell".
func (c *clause) hasPrepositionBetween(from, to int) bool {
	for _, t := range c.tokens[from+1 : to] {
		if prepositions[t.word] {
			return true
		}
	}
	return false
}

// deniesAt reports whether "no" stands before a mention.
func (c *clause) deniesAt(at int) bool { return at > 0 && c.tokens[at-1].word == "no" }

// readWith reads that a thing is with a person, whether the thing is the subject or the object of the verb.
func readWith(c *clause, w *World, v verb) (Claim, bool) {
	thing, ok := c.subjectOf(w, v, Thing)
	if !ok {
		thing, ok = c.objectOf(w, v, Thing)
	}
	who, known := c.objectOf(w, v, Person)
	if !ok || !known || who.from <= thing.to-1 && thing.from > v.at {
		return Claim{}, false
	}
	before := c.wordBefore(who.from)
	near := before == "with" && withVerbs[v.lemma] || before == "to" && v.lemma == "belong" ||
		(before == "on" || before == "of" || before == "in") && (v.lemma == "be" || v.lemma == "find" ||
			v.lemma == "lie") && c.inHand(who) ||
		before == "by" && v.passive && holding[v.lemma]
	if !near || v.tense == past && v.lemma != "belong" {
		return Claim{}, false
	}
	return Claim{Predicate: Holds, Subject: who.entity, Object: thing.entity, Denied: v.denied}, true
}

// withVerbs are verbs after which a thing with a person is held by the person.
var withVerbs = wordSet("be lie rest stay remain find see travel sit keep stand go")

// inHand reports whether a mention is that of a holder: "in the butler's hands", "in the keeping of the butler".
func (c *clause) inHand(who mention) bool {
	for i, t := range c.tokens {
		if (i > who.to && i <= who.to+2 || i < who.from && i >= who.from-5) && keeping[t.word] {
			return true
		}
	}
	return false
}

var keeping = wordSet("hand hands pocket pockets keeping possession custody care belt bag purse grip grasp arms " +
	"fist satchel cloak coat sleeve side")

// giving are verbs whose subject parts with their object.
var giving = wordSet("give hand pass lend sell present offer deliver entrust bestow slip return donate " +
	"trade swap exchange barter loan grant surrender transfer award bequeath gift")

// readGives reads that a thing changes hands: "I give you the boot", "take the map from me", "the bell is yours".
func readGives(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		who, known := c.subjectOf(w, v, Person)
		thing, ok := c.objectOf(w, v, Thing)
		ok = ok && c.isGivenDirectly(v, thing)
		switch {
		case v.lemma == "bring" && known && ok && who.entity == w.Speaker && hasWord(c.tokens[v.at:], wordSet("you")),
			w.Speaker != None && ok && (v.lemma == "take" || v.lemma == "have" || v.lemma == "keep") && (v.modal == "can" ||
				v.modal == "may" || v.modal == "must") && v.first > 0 && c.tokens[v.first-1].word == "you":
			list = append(list, Claim{Predicate: Gives, Subject: w.Speaker, Object: thing.entity, Denied: v.denied})
		case v.lemma == "be" && c.isYours(w, v) != None && w.Speaker != None:
			list = append(list, Claim{Predicate: Gives, Subject: w.Speaker, Object: c.isYours(w, v), Denied: v.denied})
		case ok && giving[v.lemma] && v.at > 1 && hasRun(c.tokens[v.at-2:v.at], "let me") && w.Speaker != None:
			list = append(list, Claim{Predicate: Gives, Subject: w.Speaker, Object: thing.entity})
		case known && ok && giving[v.lemma] && !c.order && !v.passive && v.modal != "can" && v.modal != "must" &&
			v.modal != "should":
			list = append(list, Claim{Predicate: Gives, Subject: who.entity, Object: thing.entity, Denied: v.denied})
		case ok && c.order && !hasWord(c.tokens[:v.at], denying) && (accepting[v.lemma] || v.lemma == "keep" &&
			thing.to == len(c.tokens)) && w.Speaker != None:
			list = append(list, Claim{Predicate: Gives, Subject: w.Speaker, Object: thing.entity})
		}
	}
	return list
}

// isGivenDirectly reports whether a thing itself is handed over by a verb, and not another thing that stands to it in
// the relation of a preposition: "keep your hands off the bell", "I offer you a penny for the bell".
func (c *clause) isGivenDirectly(v verb, thing mention) bool {
	from := thing.from
	if c.wordBefore(from) == "'s" {
		from -= 2
	}
	before, between := c.wordBefore(from), c.tokens[v.at:thing.from]
	return before != "off" && !prepositions[before] || hasRun(between, "one of") ||
		before == "over" && c.tokens[v.at+1].word == "over"
}

// accepting are verbs by which somebody is asked to take a thing.
var accepting = wordSet("take have accept wear")

// readGifts reads that the speaker gives a thing in a sentence with another verb, or with none: "here, the bell, a
// present", "I press the bell into your palm".
func readGifts(s *statement, w *World) (list []Claim) {
	if w.Speaker == None || hasWord(s.tokens, denials) {
		return nil
	}
	for _, m := range s.named {
		if w.Entities[m.entity].Class != Thing || m.pronoun {
			continue
		}
		before, after := s.tokens[:m.from], s.tokens[m.to:]
		shown := len(before) > 0 && len(before) <= 5 && before[0].word == "here" && (len(before) > 1 &&
			(before[1].mark || beForms[before[1].word]))
		put := slices.ContainsFunc(before, func(t token) bool { return putting[verbOf(t.word)] }) &&
			hasWord(before, wordSet("i")) && (hasRun(after, "your hand") || hasRun(after, "your hands") ||
			hasRun(after, "your palm") || hasRun(after, "your pocket") || hasRun(after, "your fingers"))
		goes := hasRun(after[:min(len(after), 4)], "goes to you") || hasRun(after[:min(len(after), 5)], "belongs to you") ||
			hasRun(before, "there you go") || hasRun(before, "there you are") ||
			hasRun(before, "here you are") || hasRun(before, "present of")
		if shown || put || goes || hasWord(s.tokens, gifts) && hasWord(s.tokens, wordSet("my me i mine")) {
			list = append(list, Claim{Predicate: Gives, Subject: w.Speaker, Object: m.entity})
		}
	}
	return list
}

var (
	putting = wordSet("put press push thrust drop lay place slip tuck toss fold close")
	gifts   = wordSet("gift compliments souvenir keepsake")
)

// taking are verbs by which somebody comes to have a thing.
var taking = wordSet("find pick pocket receive discover grab gain acquire get obtain take win")

// readFinds reads that a thing is given to the listener or lies there to be taken, though the canon does not have it.
func readFinds(c *clause, w *World) (list []Claim) {
	add := func(noun string) {
		list = append(list, Claim{Predicate: Gives, Subject: None, Object: None, Word: noun})
	}
	if hasRun(c.tokens, "for the taking") || (hasRun(c.tokens, "is yours") || hasRun(c.tokens, "is now yours")) &&
		len(c.named) < 2 {
		add("thing")
	}
	for _, v := range c.verbs() {
		subject := ""
		if v.first > 0 {
			subject = c.tokens[v.first-1].word
		}
		noun, ok := c.thingAfter(v)
		switch {
		case !ok || v.denied || v.passive:
		case subject == "you" && taking[v.lemma] && v.modal == "" && v.tense != past,
			giving[v.lemma] && !c.order && hasRun(c.tokens[v.at:], v.wordIn(c)+" you"),
			c.order && (v.lemma == "take" || v.lemma == "have") && hasWord(c.tokens[v.at:min(v.at+2, len(c.tokens))],
				wordSet(""+
					"this these")):
			add(noun)
		}
	}
	return list
}

func (v verb) wordIn(c *clause) string { return c.tokens[v.at].word }

// thingAfter returns the noun of a thing that follows a verb: "ring" in "find a silver ring". The thing is none that
// the canon has.
func (c *clause) thingAfter(v verb) (string, bool) {
	head := ""
	for i := v.at + 1; i < len(c.tokens); i++ {
		w := c.tokens[i].word
		if _, known := c.mentionAt(i); w == "it" && !known {
			return "thing", true
		}
		if m, ok := c.mentionAt(i); ok && !m.pronoun || prepositions[w] || w == "and" {
			break
		}
		if isNoun(w) && !determiners[w] && units[w] == 0 {
			head = nounOf(w)
		}
	}
	return head, isThing(head)
}

// isThing reports whether a noun stands for a thing that can be carried or built.
func isThing(noun string) bool {
	return noun != "" && isAny(noun, "artifact", "jewel", "jewelry", "money")
}

// isYours returns the thing of which a clause says that it is the listener's, or None.
func (c *clause) isYours(w *World, v verb) int {
	m, ok := c.subjectOf(w, v, Thing)
	if !ok || !hasWord(c.complement(v), wordSet("yours")) && !hasRun(c.tokens[v.at:], "for you") {
		return None
	}
	return m.entity
}

// judgeHolds judges who holds a thing. Whoever gives a thing must have had it, and a text does not move it.
func judgeHolds(c Claim, w *World) (Truth, string) {
	if c.Object == None {
		return New, ""
	}
	holder, held := w.Holder[c.Object]
	place, lies := w.At[c.Object]
	switch {
	case held && holder == c.Subject:
		if c.Denied {
			return False, fmt.Sprintf("%s has %s", w.name(holder), w.name(c.Object))
		}
		if c.Predicate == Gives {
			return Unsure, ""
		}
		return True, ""
	case c.Denied:
		return True, ""
	case held:
		return False, fmt.Sprintf("%s has %s", w.name(holder), w.name(c.Object))
	case lies:
		return False, fmt.Sprintf("%s is at %s", w.name(c.Object), w.name(place))
	}
	return Unsure, ""
}
