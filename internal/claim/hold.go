package claim

import (
	"fmt"
)

// holding are verbs whose subject has their object about them.
var holding = wordSet("have hold carry keep own possess wear bear wield clutch clasp grip grasp brandish tote " +
	"pocket cradle cling guard weigh get retain sport")

// handling are verbs that tell, of a scene in view, that a person has a thing in hand.
var handling = wordSet("turn polish swing lift raise shake toss twirl finger stroke tap drum fondle rub wipe " +
	"clean sharpen hug twist roll fiddle play lean read show lay set put tuck")

// readHolds reads who has a thing: "the butler has the sapphire", "it is with the butler", "it belongs to the butler".
func readHolds(c *clause, w *World) (list []Claim) {
	if c.order {
		return nil
	}
	for _, v := range c.verbs() {
		thing, ok := c.objectOf(w, v, Thing)
		who, known := c.subjectOf(w, v, Person)
		within := handling[v.lemma] && w.Speaker == None && v.tense == present
		if ok && known && (holding[v.lemma] || within) && v.tense != past && !v.passive && thing.from-v.at <= 5 &&
			!(v.lemma == "have" && c.tokens[v.at].word == "had") && !c.hasPrepositionBetween(v.at, thing.from) {
			list = append(list, Claim{Predicate: Holds, Subject: who.entity, Object: thing.entity, Denied: v.denied ||
				c.deniesAt(thing.from)})
		}
		if claim, ok := readWith(c, w, v); ok {
			list = append(list, claim)
		}
	}
	return list
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
	"fist satchel cloak coat sleeve")

// giving are verbs whose subject parts with their object.
var giving = wordSet("give hand pass lend sell present offer deliver entrust bestow slip return donate")

// readGives reads that a thing changes hands: "I give you the boot", "take the map from me", "the bell is yours".
func readGives(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		who, known := c.subjectOf(w, v, Person)
		thing, ok := c.objectOf(w, v, Thing)
		switch {
		case known && ok && giving[v.lemma] && !c.order && !v.passive && v.modal == "":
			list = append(list, Claim{Predicate: Gives, Subject: who.entity, Object: thing.entity, Denied: v.denied})
		case ok && c.order && (v.lemma == "take" || v.lemma == "have" || v.lemma == "keep" || v.lemma == "accept") &&
			w.Speaker != None:
			list = append(list, Claim{Predicate: Gives, Subject: w.Speaker, Object: thing.entity, Denied: v.denied})
		}
	}
	return list
}

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
		if isNoun(w) && !determiners[w] {
			head = nounOf(w)
		}
	}
	return head, isThing(head)
}

// isThing reports whether a noun stands for a thing that can be carried or built.
func isThing(noun string) bool {
	return noun != "" && isAny(noun, "artifact", "jewel", "jewelry", "money")
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
