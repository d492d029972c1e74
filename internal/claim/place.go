package claim

import (
	"fmt"
	"slices"

	"loregate/internal/meaning"
)

// hereWords tell that something is at the place of the text.
var hereWords = []string{"here", "hereabouts", "near you", "near me", "near us", "beside me", "beside you",
	"beside us", "next to me", "next to you", "with us", "behind you", "behind me",
	"at my side", "at your side", "in this place", "in this very place", "in this room", "over there",
	"in front of you", "before you", "right there", "close by", "among us", "in our midst", "across from you"}

// standing are verbs of being at a place.
var standing = wordSet("be stand sit lie lean wait rest stay kneel crouch hide live dwell linger loiter sleep " +
	"squat perch lurk pace work hover remain camp lodge drink eat watch")

// readHere reads that a person is here, or at another place.
func readHere(c *clause, w *World) (list []Claim) {
	here := slices.ContainsFunc(hereWords, func(p string) bool { return hasRun(c.tokens, p) }) || c.isAtOwn()
	for _, v := range c.verbs() {
		who, ok := c.subjectOf(w, v, Person)
		if m, shown := c.presented(w, v, here); shown && (!ok || who.entity == w.Listener) {
			if at, there := c.placeAfter(w, v); there && at != None {
				list = append(list, Claim{Predicate: Here, Subject: m.entity, Object: at, Denied: v.denied})
			} else if here || v.lemma == "be" || w.Speaker == None {
				list = append(list, Claim{Predicate: Here, Subject: m.entity, Object: w.Place, Denied: v.denied})
			}
			if ok {
				continue
			}
			who, ok = m, true
		}
		if m, met := c.objectOf(w, v, Person); met && ok && who.entity == w.Speaker && meeting[v.lemma] &&
			v.tense == progressive &&
			!v.was && !v.denied {
			list = append(list, Claim{Predicate: Here, Subject: m.entity, Object: w.Place})
		}
		if other := c.with(w, who); ok && who.entity == w.Speaker && w.Speaker != None && other != None && here &&
			v.tense == progressive && !v.was {
			list = append(list, Claim{Predicate: Here, Subject: other, Object: w.Place, Denied: v.denied})
		}
		if !ok || who.entity == w.Listener || who.entity == w.Speaker || c.order || v.passive ||
			v.lemma == "be" && v.tense == base {
			continue
		}
		if v.lemma == "be" && c.tellsOffice(w, v) {
			continue // "is the cook here"
		}
		if w.dead(who.entity) && resting[v.lemma] {
			continue // the dead lie where they are buried
		}
		if (v.lemma == "go" || v.lemma == "leave" || v.lemma == "head" || v.lemma == "ride") && v.perfect ||
			v.lemma == "be" && c.wordAfter(v.at) == "gone" {
			if at, ok := c.goalAfter(w, v); ok {
				list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: at, Denied: v.denied})
				continue
			}
		}
		was := v.tense == past || v.tense == participle || v.perfect
		at, there := c.placeAfter(w, v)
		switch {
		case there && (at != None || !here) && (standing[v.lemma] || was && (visiting[v.lemma])) && v.modal == "":
			list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: at, Denied: v.denied, Past: was})
		case here && (standing[v.lemma] || v.tense == present || v.tense == progressive) && v.modal == "":
			list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: w.Place, Denied: v.denied,
				Past: was})
		case here && was && visiting[v.lemma]:
			list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: w.Place, Past: true})
		case w.Speaker == None && v.lemma == "be" && !was && !v.denied && beside[c.wordAfter(v.at)]:
			list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: w.Place})
		case w.Speaker == None && len(c.named) > 1 && c.with(w, who) != None && !was && !absent[v.lemma]:
			list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: w.Place},
				Claim{Predicate: Here, Subject: c.with(w, who), Object: w.Place})
		case w.Speaker == None && !was && !lasting[v.lemma] && v.modal == "" && !v.denied && v.at-who.to <= 2 &&
			!absent[v.lemma]:
			list = append(list, Claim{Predicate: Here, Subject: who.entity, Object: w.Place})
		}
	}
	return list
}

// isAtOwn reports whether a clause names the place where it is said: "in this hall", "at my table".
func (c *clause) isAtOwn() bool {
	for i := 0; i+2 < len(c.tokens); i++ {
		if w := c.tokens[i+1].word; placing[c.tokens[i].word] && (w == "this" || w == "my" || w == "our") {
			if noun, _, ok := nounAfter(c.tokens, i+2, false); ok && isAny(noun, "structure", "room", "furniture",
				"area") {
				return true
			}
		}
	}
	return false
}

// with returns the person that "and" joins to a subject before it, or None.
func (c *clause) with(w *World, who mention) int {
	for _, m := range c.named {
		if m.to < who.from && who.from-m.to <= 2 && c.tokens[m.to].word == "and" &&
			w.Entities[m.entity].Class == Person {
			return m.entity
		}
	}
	return None
}

var resting = wordSet("lie rest sleep")

// beside are prepositions of a place in a scene.
var beside = wordSet("among by near beside behind at")

// absent are verbs whose subject need not be in view.
var absent = wordSet("lead rule command own govern love hate know remember hail reign belong live dwell watch " +
	"come arrive enter")

// visiting are verbs that tell in the past that somebody was at a place.
var visiting = wordSet("be spend pass stay sleep visit come stop rest wander sit stand wait hide live")

// presented returns the person that a verb presents after itself: "here stands the milk man", "that is Barrymore".
func (c *clause) presented(w *World, v verb, here bool) (mention, bool) {
	m, ok := c.objectOf(w, v, Person)
	if !ok || c.hasPrepositionBetween(v.at, m.from) || m.from-v.at > 3 {
		return mention{}, false
	}
	if hasWord(c.tokens[v.at:m.from], asking) || hasWord(c.tokens[v.at:m.from], wordSet("all")) || c.wordAt(m.to) == "'s" {
		return mention{}, false // "that is what Wat is"
	}
	shown := here && v.first <= 2 && standing[v.lemma] || v.lemma == "be" && v.tense == present &&
		(c.tokens[0].word == "that" || c.tokens[0].word == "this" || w.Speaker == None && v.first > 0 &&
			(c.tokens[v.first-1].word == "there" || v.first <= 2 && c.tokens[v.first-1].word == "it"))
	found := (v.lemma == "find" || v.lemma == "see" || v.lemma == "meet") && v.tense == base
	first := w.Speaker == None && (v.first > 1 && locating[c.tokens[0].word] || v.first == 0 && v.tense == present) &&
		standing[v.lemma] && v.lemma != "be"
	return m, shown || found || first
}

// wordAfter returns the word after a token, or "".
func (c *clause) wordAfter(i int) string {
	if i+1 < len(c.tokens) {
		return c.tokens[i+1].word
	}
	return ""
}

// goalAfter returns the place to which a clause says that somebody has gone.
func (c *clause) goalAfter(w *World, v verb) (int, bool) {
	for _, m := range c.named {
		if before := c.wordBefore(m.from); m.from > v.at && w.Entities[m.entity].Class == Place && (before == "to" ||
			before == "into" || before == "for") {
			return m.entity, true
		}
	}
	return None, false
}

// placeAfter returns the place that a preposition names after a verb. "This place" is the place of the text.
func (c *clause) placeAfter(w *World, v verb) (int, bool) {
	for _, m := range c.named {
		if m.from > v.at && w.Entities[m.entity].Class == Place && placing[c.wordBefore(m.from)] {
			return m.entity, true
		}
	}
	if i := v.at + 1; i+1 < len(c.tokens) && placing[c.tokens[i].word] && c.tokens[i+1].word != "me" {
		if noun, _, ok := nounAfter(c.tokens, skipDeterminers(c.tokens, i+1), false); ok && isAny(noun, "structure",
			"location", "area", "room", "land") || c.tokens[i+1].upper {
			return None, true
		}
	}
	for _, noun := range []string{"this place", "this town", "this village", "this house", "this room"} {
		if at := runAt(c.tokens, noun); at > v.at && w.Place != None {
			return w.Place, true
		}
	}
	return None, false
}

var placing = wordSet("at in on inside outside near by within over through under upon")

// locating are words that begin a phrase of place in front of a verb whose subject follows it.
var locating = wordSet("at in on inside outside near by within over through under upon against between beneath among " +
	"amid behind beside below above along around across beyond underneath opposite atop there here")

// judgeHere judges whether somebody is at a place, or comes there.
func judgeHere(c Claim, w *World) (Truth, string) {
	at, placed := w.At[c.Subject]
	if c.Object == None && c.Subject != None && placed && !c.Past && !w.dead(c.Subject) {
		return True, "" // at a place that the canon does not have, or not by this name
	}
	if c.Subject == None { // a person whom the canon does not have
		return New, ""
	}
	switch {
	case w.dead(c.Subject) && !c.Denied && !c.Past:
		return False, w.name(c.Subject) + " is dead"
	case c.Past && placed && w.isWithin(at, c.Object):
		return True, ""
	case c.Past || !placed || c.Object == None:
		return Unsure, ""
	case w.isWithin(at, c.Object) != c.Denied:
		return True, ""
	}
	return False, fmt.Sprintf("%s is at %s", w.name(c.Subject), w.name(at))
}

// coming are verbs of arrival.
var (
	coming  = wordSet("arrive join enter appear emerge approach return land")
	inwards = wordSet("in into inside through up over towards toward here there back home")
)

// readArrives reads that somebody comes to the place of the text.
func readArrives(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		recent := v.tense == present || v.perfect || v.tense == progressive || v.tense == past && hasWord(c.tokens,
			justNow)
		if c.order || v.denied || v.passive || v.modal != "" || !recent || !c.isArrival(v) {
			continue
		}
		who, ok := c.subjectOf(w, v, Person)
		if !ok && v.first > 0 && (inwards[c.tokens[v.first-1].word] || c.isInverted(v)) {
			who, ok = c.objectOf(w, v, Person)
		}
		if ok {
			if who.entity != w.Listener && who.entity != w.Speaker {
				list = append(list, Claim{Predicate: Arrives, Subject: who.entity, Object: w.Place})
			}
			continue
		}
		if noun, ok := c.somebodyBefore(v.first); ok && (coming[v.lemma] || isSomebody(noun)) {
			list = append(list, Claim{Predicate: Arrives, Subject: None, Object: w.Place, Word: noun})
		}
	}
	return list
}

var justNow = wordSet("just ago now")

// isArrival reports whether a verb tells of coming to where the text is.
func (c *clause) isArrival(v verb) bool {
	if coming[v.lemma] {
		return true
	}
	after := c.tokens[v.at+1 : min(v.at+3, len(c.tokens))]
	if v.lemma == "be" {
		return v.tense == present && len(after) > 0 && (after[0].word == "back" || hasRun(c.tokens[v.at:], "way in") ||
			hasRun(c.tokens[v.at:], "way here"))
	}
	if v.lemma == "come" && (v.tense == progressive && len(after) == 0 || v.perfect && len(after) == 2 &&
		after[0].word == "to" && verbOf(after[1].word) == after[1].word) {
		return true
	}
	before := c.tokens[max(0, v.first-1):v.first]
	return (v.lemma == "come" || v.lemma == "burst" || meaning.IsA(v.lemma, meaning.Verb, "travel")) &&
		(hasWord(after, inwards) || hasWord(before, inwards) || c.isInverted(v))
}

// isInverted reports whether a clause begins with a phrase of place, and the subject of a verb follows it: "through the
// smoke comes the groom".
func (c *clause) isInverted(v verb) bool {
	return v.first > 1 && (prepositions[c.tokens[0].word] || inversions[c.tokens[0].word]) && slices.ContainsFunc(c.named,
		func(m mention) bool { return m.from > v.at && m.from-v.at <= 3 }) || v.first > 2 && c.tokens[0].word == "out"
}

// headBefore returns the head noun of the phrase before a token: "stranger" in "a stranger in a red coat arrives".
func (c *clause) headBefore(end int) (string, bool) {
	for i := end - 1; i >= 0; i-- {
		if w := c.tokens[i].word; prepositions[w] && w != "of" || w == "and" {
			end = i
		}
	}
	head := ""
	for i := 0; i < end; i++ {
		if c.tokens[i].word == "of" && head != "" && !isGroup(head) {
			break
		}
		if isNoun(c.tokens[i].word) && !isAdverb(c.tokens[i].word) {
			head = nounOf(c.tokens[i].word)
		}
	}
	return head, head != ""
}

// somebodyBefore returns the noun or name of somebody whom the canon does not have, before a token.
func (c *clause) somebodyBefore(end int) (string, bool) {
	noun, ok := c.headBefore(end)
	if ok && lowSubjects[noun] {
		return "", false
	}
	if ok && isSomebody(noun) {
		return noun, true
	}
	// A lone word with a capital and no article is a name, unless it is one of a substance or of weather.
	if end != 1 || !c.tokens[0].upper || c.tokens[0].mark || len(c.named) > 0 && c.named[0].from == 0 ||
		lowSubjects[c.tokens[0].word] {
		return "", false
	}
	if ok && noun == c.tokens[0].word && !notSomebody[noun] && isAny(noun, "artifact", "animal", "plant") {
		return noun, true
	}
	return c.tokens[0].word, !ok && verbOf(c.tokens[0].word) == ""
}

var lowSubjects = wordSet("it that which who he she they you we i this those these there somebody someone nobody " +
	"everyone everybody nothing something everything one none all both here where")

func isGroup(noun string) bool { return meaning.IsA(noun, meaning.Noun, "social group") }

// isSomebody reports whether a noun stands for a person, a group of them or a being of legend.
func isSomebody(noun string) bool {
	return !notSomebody[noun] && isAny(noun, "person", "social group", "imaginary being")
}

// isAny reports whether a noun is of one of several kinds.
func isAny(noun string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) })
}

// notSomebody are nouns that mean a person in a sense that is not meant.
var notSomebody = wordSet("star one light draft draught party company evening night day sea world land wave case " +
	"shower summer hand sun moon wind")
