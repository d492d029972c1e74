package claim

import (
	"slices"

	"loregate/internal/meaning"
)

// deadWords say of a person that they are dead.
var (
	deadWords = wordSet("dead deceased lifeless slain murdered killed drowned hanged buried departed")
	liveWords = wordSet("alive living well breathing")
	killing   = wordSet("kill murder slay bury drown hang execute behead assassinate strangle poison slaughter " +
		"entomb inter")
	dying = wordSet("die perish expire decease drown starve succumb")
)

func isKilling(lemma string) bool { return killing[lemma] || meaning.IsA(lemma, meaning.Verb, "kill") }

// readDead reads that a person is dead or alive.
func readDead(c *clause, w *World) (list []Claim) {
	add := func(m mention, denied bool) {
		list = append(list, Claim{Predicate: Dead, Subject: m.entity, Object: None, Denied: denied})
	}
	for i := range c.tokens {
		if noun, e, ok := c.corpseAt(w, i); ok {
			list = append(list, Claim{Predicate: Dead, Subject: e, Object: None, Word: noun})
		}
	}
	if m, ok := c.isNoMore(w); ok {
		add(m, false)
	}
	for _, m := range c.named {
		late := m.from > 0 && c.tokens[m.from-1].word == "late"
		buried := m.to+1 < len(c.tokens) && c.tokens[m.to].word == "'s" && lastRites[c.tokens[m.to+1].word]
		if m.to+2 < len(c.tokens) && c.tokens[m.to].word == "'s" && c.tokens[m.to+1].word == "body" {
			v := verbOf(c.tokens[m.to+2].word)
			buried = v == "hang" || v == "lie" || v == "float" || v == "swing"
		}
		if w.Entities[m.entity].Class == Person && (late || buried) && !m.pronoun {
			add(m, false)
		}
	}
	if m, ok := c.subjectIfAny(w, []string{"in good health", "in fine health", "full of life", "hale and hearty"}); ok {
		add(m, true)
	}
	for _, v := range c.verbs() {
		who, ok := c.subjectOf(w, v, Person)
		whom, hasObject := c.objectOf(w, v, Person)
		after := c.complement(v)
		switch {
		case c.order || v.modal == "will" || v.modal == "shall" || v.tense == progressive && v.lemma != "breathe":
		case ok && dying[v.lemma] && v.tense != base && v.tense != present && !v.passive:
			add(who, v.denied)
		case ok && (isKilling(v.lemma) || (v.lemma == "find" || v.lemma == "leave") && hasWord(after, deadWords)) &&
			v.passive:
			add(who, v.denied)
		case hasObject && isKilling(v.lemma) && !v.passive && v.tense != base && c.isDirectObject(v, whom):
			add(whom, v.denied)
		case hasObject && (v.lemma == "find" || v.lemma == "see" || v.lemma == "leave") &&
			hasWord(c.tokens[whom.to:min(whom.to+2, len(c.tokens))], deadWords):
			add(whom, v.denied)
		case ok && (v.lemma == "be" || v.lemma == "lie" || v.lemma == "fall" || v.lemma == "lay") && hasWord(after,
			deadWords):
			add(who, v.denied)
		case ok && (v.lemma == "be" || v.lemma == "stay" || v.lemma == "remain") && hasWord(after, liveWords), ok &&
			v.lemma == "live" && isAlone(after):
			if v.tense != past {
				add(who, !v.denied)
			}
		case ok && v.lemma == "breathe":
			add(who, !v.denied)
		case !ok && !v.denied && (dying[v.lemma] && (v.perfect || v.tense == past) || isKilling(v.lemma) &&
			v.passive || v.lemma == "be" && hasWord(after, deadWords)):
			if noun, ok := c.somebodyBefore(v.first); ok {
				list = append(list, Claim{Predicate: Dead, Subject: None, Object: None, Word: noun})
			}
		}
	}
	return list
}

// endings of life in other words.
var ends = []string{"passed on", "in the ground", "is no more", "no longer with us", "among the living", "in his grave",
	"in her grave", "laid to rest", "throat cut"}

// lastRites are what only the dead have.
var lastRites = wordSet("funeral grave burial corpse wake tomb ghost widow widower remains")

// subjectIfAny returns the first person of a clause that has one of several phrases.
func (c *clause) subjectIfAny(w *World, phrases []string) (mention, bool) {
	if c.order || hasWord(c.tokens, denials) || !slices.ContainsFunc(phrases,
		func(p string) bool { return hasRun(c.tokens, p) }) {
		return mention{}, false
	}
	for _, m := range c.named {
		if w.Entities[m.entity].Class == Person && m.entity != w.Speaker && m.entity != w.Listener {
			return m, true
		}
	}
	return mention{}, false
}

// isNoMore returns the person of whom a clause says in other words that they are dead.
func (c *clause) isNoMore(w *World) (mention, bool) {
	if c.order || hasWord(c.tokens, denials) && !hasRun(c.tokens, "no longer") && !hasRun(c.tokens, "no more") ||
		!slices.ContainsFunc(ends, func(p string) bool { return hasRun(c.tokens, p) }) {
		return mention{}, false
	}
	for _, m := range c.named {
		if w.Entities[m.entity].Class == Person && m.entity != w.Speaker && m.entity != w.Listener {
			return m, true
		}
	}
	return mention{}, false
}

// corpseAt returns the person whose corpse begins at a token: an entity, or a noun such as "duke" in "the body of the
// duke".
func (c *clause) corpseAt(w *World, i int) (noun string, entity int, ok bool) {
	if t := c.tokens[i].word; t != "corpse" && t != "body" || i+2 >= len(c.tokens) || c.tokens[i+1].word != "of" {
		return "", None, false
	}
	for _, m := range c.named {
		if m.from > i && m.from <= i+3 {
			return "", m.entity, w.Entities[m.entity].Class == Person
		}
	}
	end := i + 2
	for end < len(c.tokens) && !prepositions[c.tokens[end].word] && (end == i+2 || verbOf(c.tokens[end].word) == "") {
		end++
	}
	part := clause{tokens: c.tokens[i+2 : end]}
	noun, ok = part.somebodyBefore(len(part.tokens))
	return noun, None, ok
}

// complement returns the next tokens after a verb, up to a mention or a preposition.
func (c *clause) complement(v verb) []token {
	end := v.at + 1
	for end < len(c.tokens) && end <= v.at+4 && !prepositions[c.tokens[end].word] {
		if m, ok := c.mentionAt(end); ok && !m.pronoun {
			break
		}
		end++
	}
	return c.tokens[v.at+1 : end]
}

// isAlone reports whether no more than adverbs follow: "he lives" and not "he lives in a hut".
func isAlone(after []token) bool {
	for _, t := range after {
		if !isAdverb(t.word) && t.word != "on" {
			return false
		}
	}
	return true
}

// isDirectObject reports whether a mention follows a verb without a preposition between.
func (c *clause) isDirectObject(v verb, m mention) bool {
	return !c.hasPrepositionBetween(v.at, m.from)
}

// judgeDead judges whether a person is dead. The death of somebody whom the canon shows at a place is false; that of
// somebody whom the canon does not have is new.
func judgeDead(c Claim, w *World) (Truth, string) {
	if c.Subject == None {
		return New, ""
	}
	dead := w.dead(c.Subject)
	_, placed := w.At[c.Subject]
	switch {
	case c.Subject == w.Listener:
		return True, ""
	case dead && c.Denied:
		return False, w.name(c.Subject) + " is dead"
	case dead, placed && c.Denied:
		return True, ""
	case placed:
		return False, w.name(c.Subject) + " is alive"
	}
	return Unsure, ""
}

// lasting are verbs that also tell of the dead.
var lasting = wordSet("be have lie rest sleep remain belong mean own deserve haunt walk")

// meeting are verbs that tell that their object was alive and there.
var meeting = wordSet("meet see speak talk visit miss hear greet ask follow serve dine eat drink pass watch")

// recent are words for a time that only the living have seen.
var recent = wordSet("now today tonight yesterday just ago breakfast lunch dinner supper tomorrow recently lately " +
	"minute moment hour")

// recentTimes are phrases for such a time.
var recentTimes = []string{"last night", "this afternoon", "the other day", "this morning", "this evening", "this week",
	"last week", "this noon", "in the morning", "in the evening", "every week", "a week", "very morning", "very evening"}

// whereabouts are words by which somebody is alive: "he is upstairs".
var whereabouts = wordSet("upstairs downstairs outside inside here away home abroad asleep awake busy hungry waiting")

// readActs reads that a person does something now or a short time ago, or that somebody has met them.
func readActs(c *clause, w *World) (list []Claim) {
	timed := hasWord(c.tokens, recent) || slices.ContainsFunc(recentTimes, func(p string) bool {
		return hasRun(c.tokens, p)
	})
	for _, v := range c.verbs() {
		who, ok := c.subjectOf(w, v, Person)
		now := v.tense == present || v.tense == progressive || v.modal == "will" || timed && (v.tense == past ||
			v.tense == participle)
		if ok && !v.passive && !v.denied && !c.order && now && (!lasting[v.lemma] || timed && v.lemma != "be" ||
			v.lemma == "walk" && w.Speaker == None) &&
			!isKilling(v.lemma) && !dying[v.lemma] {
			list = append(list, Claim{Predicate: Acts, Subject: who.entity, Object: None})
		}
		if ok && v.lemma == "be" && v.tense == present && !v.denied && whereabouts[c.wordAfter(v.at)] {
			list = append(list, Claim{Predicate: Acts, Subject: who.entity, Object: None})
		}
		if whom, ok := c.objectOf(w, v, Person); ok && (meeting[v.lemma] || v.lemma == "have" && timed &&
			c.wordBefore(whom.from) == "with") && !v.denied && !c.order && (timed ||
			v.tense == present) {
			list = append(list, Claim{Predicate: Acts, Subject: whom.entity, Object: None})
		}
	}
	return list
}
