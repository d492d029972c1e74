package claim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/meaning"
)

// contentOf returns the base forms of the words of a text that carry meaning.
func contentOf(list []token) (words []string) {
	for _, t := range list {
		if t.mark || meaning.IsFunctionWord(t.word) || notTold[t.word] {
			continue
		}
		if base := baseOf(t.word); !slices.Contains(words, base) {
			words = append(words, base)
		}
	}
	return words
}

// notTold are words that tell nothing of an event.
var notTold = wordSet("not never no nobody sir yes here now then ever once today")

// baseOf returns the base form of a word as a verb or a noun.
func baseOf(word string) string {
	if v := verbOf(word); v != "" {
		return v
	}
	return nounOf(word)
}

// akin reports whether two words in base form mean nearly the same.
func akin(a, b string) bool {
	if a == b {
		return true
	}
	return meaning.ShareSense(a, b, meaning.Verb) || meaning.ShareSense(a, b, meaning.Noun) ||
		slices.Contains(meaning.Derived(a), b)
}

// shared returns the words of one list that are akin to a word of another.
func shared(words, others []string) (list []string) {
	for _, a := range words {
		if slices.ContainsFunc(others, func(b string) bool { return akin(a, b) }) {
			list = append(list, a)
		}
	}
	return list
}

// factsOf returns what a card tells: each sentence of its text, and the texts of its fields, all with its name.
func factsOf(e Entity) (list [][]token) {
	for s := range meaning.Sentences(e.Text) {
		list = append(list, tokensOf(e.Name+". "+s))
	}
	var fields strings.Builder
	for _, k := range sortedKeys(e.Fields) {
		if s, ok := e.Fields[k].(string); ok {
			fields.WriteString(". " + s)
		}
	}
	return append(list, tokensOf(e.Name+fields.String()))
}

// isAbout reports whether words may be about what a sentence of a card tells: they share a word with the card's name,
// or two with the sentence.
func isAbout(words []string, e Entity, told []token) bool {
	return len(shared(words, contentOf(tokensOf(e.Name)))) > 0 || len(shared(words, contentOf(told))) >= 2
}

// factsAbout returns the facts that a text may be about, those that share most words with it first.
func factsAbout(said []token, w *World) (list []int) {
	words := contentOf(said)
	score := map[int]int{}
	for i, e := range w.Entities {
		if e.Class != Other && e.Class != Group {
			continue
		}
		for _, told := range factsOf(e) {
			if isAbout(words, e, told) {
				score[i] = max(score[i], len(shared(words, contentOf(told))))
			}
		}
		if score[i] > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return score[b] - score[a] })
	return list
}

// readPast reads that something happened: a clause in the past about somebody or something that the canon has.
func readPast(s *statement, w *World) (list []Claim) {
	for _, c := range s.clauses {
		if c.lacksSubject() {
			continue
		}
		from := 0 // behind the verb before
		for _, v := range c.verbs() {
			lead := c.tokens[min(from, v.first):v.first]
			from = v.at + 1
			told := v.tense == past || v.tense == participle && (v.perfect || v.passive && v.was)
			if !told || feelings[v.lemma] || reported[c.tokens[v.at].word] || v.lemma == "have" && v.perfect ||
				v.first == 0 || v.modal != "" || v.lemma == "be" && len(s.named) == 0 {
				continue
			}
			denied := v.denied || hasWord(lead, wordSet("never nobody none neither")) || hasRun(lead, "not one") ||
				hasRun(lead, "not a")
			list = append(list, Claim{Predicate: Happened, Subject: None, Object: s.meant(w), Word: v.lemma, Denied: denied})
		}
	}
	if len(list) == 0 && len(yearsIn(s.tokens)) > 0 { // "the letter is from 1312"
		list = append(list, Claim{Predicate: Happened, Subject: None, Object: None, Word: "be"})
	}
	return list
}

// lacksSubject reports whether a clause denies something of no subject: "never been filled and never gone out".
func (c *clause) lacksSubject() bool {
	if len(c.tokens) < 2 || c.tokens[0].word != "never" && c.tokens[0].word != "not" {
		return false
	}
	v, ok := c.verbAt(1)
	return ok && !isAuxiliary(c.tokens[v.at].word)
}

// meant returns the person, thing or place that the first pronoun of a sentence stands for, unless that is the speaker
// or the listener, or None.
func (s *statement) meant(w *World) int {
	for _, m := range s.named {
		if m.pronoun && m.entity != w.Speaker && m.entity != w.Listener && isMeant[s.tokens[m.from].word] {
			return m.entity
		}
	}
	return None
}

var isMeant = wordSet("he she him her it them")

// withMeant returns the words of a claim's sentence with a name in place of its pronoun.
func (c Claim) withMeant(w *World) []token {
	said := tokensOf(c.Text)
	at := slices.IndexFunc(said, func(t token) bool { return isMeant[t.word] })
	if c.Object == None || at < 0 {
		return said
	}
	return slices.Replace(said, at, at+1, tokensOf(w.name(c.Object))...)
}

// feelings are verbs that tell of no event.
var feelings = wordSet("like love hate want know fear think trust believe need miss bear")

// judgePast compares an event of the past with what the canon tells of it.
func judgePast(c Claim, w *World) (Truth, string) {
	said := c.withMeant(w)
	about := factsAbout(said, w)
	for _, e := range mentioned(c, w) {
		if w.Entities[e].Class != Other && e != w.Speaker && !slices.Contains(about, e) {
			about = append(about, e)
		}
	}
	if truth, source, ok := judgeOrder(said, w); ok {
		return truth, source
	}
	for _, e := range mentioned(c, w) {
		if w.dead(e) && otherDeathOrder(c, said, w.Entities[e]) {
			return False, fmt.Sprintf("%s died %v", w.name(e), w.Entities[e].Fields["died"])
		}
	}
	best := 0.0
	words := contentOf(said)
	var all []string // the words of all facts
	for _, e := range about {
		for _, told := range factsOf(w.Entities[e]) {
			if isAbout(words, w.Entities[e], told) && contradicts(c, said, w, e, told) {
				return False, fmt.Sprintf("%s: %s", w.name(e), first(sentencesOf(w.Entities[e].Text)))
			}
			known := contentOf(told)
			all = append(all, known...)
			best = max(best, float64(len(shared(words, known)))/float64(max(len(words), 1)))
		}
	}
	known := slices.ContainsFunc(mentioned(c, w), func(e int) bool { return e != w.Speaker && e != w.Listener }) ||
		w.Speaker != None && (hasWord(said, wordSet("once this these")) || c.tellsOwnDeed(said))
	switch {
	case eventOf(c.Word) == "death" && known && slices.ContainsFunc(mannerIn(said), func(m string) bool {
		return len(shared([]string{m}, all)) == 0
	}):
		return Unsure, ""
	case best >= 0.6, !known:
		return True, ""
	}
	return Unsure, ""
}

// tellsOwnDeed reports whether a speaker tells that they did something to something: "I caught a pike on Sunday".
func (c Claim) tellsOwnDeed(said []token) bool {
	for i, t := range said {
		if verbOf(t.word) == c.Word && i > 0 && (said[i-1].word == "i" || said[i-1].word == "we") && t.word != c.Word &&
			!isMental(c.Word) && c.Word != "be" && !c.Denied {
			return slices.ContainsFunc(said[i+1:], func(t token) bool { return articles[t.word] || units[t.word] > 0 })
		}
	}
	return false
}

// mannerIn returns the nouns behind a verb of death by which a text tells of what or where somebody died.
func mannerIn(said []token) (nouns []string) {
	at := slices.IndexFunc(said, func(t token) bool { return eventOf(verbOf(t.word)) == "death" })
	for i := at + 1; at >= 0 && i < min(at+9, len(said)); i++ {
		w := said[i].word
		if said[i].mark || subjects[w] || w == "and" {
			break
		}
		if isNoun(w) && !meaning.IsFunctionWord(w) && !isAdverb(w) && !isAny(nounOf(w), "time period", "time unit") {
			nouns = append(nouns, baseOf(w))
		}
	}
	return nouns
}

// events are kinds of past events, with their verbs.
var events = func() map[string]string {
	m := map[string]string{}
	for kind, verbs := range map[string]string{
		"death":  "die perish expire succumb drown starve kill murder slay poison strangle behead hang execute",
		"burial": "bury inter entomb lay lie rest",
		"leave":  "leave abandon desert forsake flee vacate evacuate empty quit",
		"defeat": "fall take capture surrender conquer storm seize yield",
		"escape": "escape break flee",
		"write":  "write date pen compose",
		"find":   "find discover",
		"build":  "build rebuild erect put raise",
		"burn":   "burn",
	} {
		for _, v := range strings.Fields(verbs) {
			m[v] = kind
		}
	}
	return m
}()

// eventOf returns the kind of event that a verb tells of, or "".
func eventOf(lemma string) string { return events[lemma] }

// sameEvent reports whether two verbs tell of the same kind of event.
func sameEvent(a, b string) bool { return akin(a, b) || events[a] != "" && events[a] == events[b] }

func sentencesOf(text string) []string { return slices.Collect(meaning.Sentences(text)) }

// contradicts reports whether a claim about the past and a sentence of a card cannot both be true.
func contradicts(c Claim, said []token, w *World, e int, told []token) bool {
	words, known := contentOf(said), contentOf(told)
	common := len(shared(words, known))
	same := slices.ContainsFunc(known, func(k string) bool { return sameEvent(c.Word, k) })
	named := len(shared(words, contentOf(tokensOf(w.Entities[e].Name)))) > 0
	about := same && (named || common >= 2)
	years := yearsIn(saidAbout(said, c.Word))
	switch {
	case (same || common >= 2 || named && originating[c.Word]) && (differ(years, yearsIn(told)) ||
		differ(daysIn(said), daysIn(told))),
		(named || common >= 2) && otherLength(said, told),
		about && !c.Denied && events[c.Word] == "death" && deniesVerb(told, c.Word) && len(ordersIn(said, false)) == 0,
		about && otherSubstance(said, told),
		about && isRecent(said) && (len(yearsIn(told)) > 0 || hasWord(told, wordSet("centuries century ages ancient"))),
		same && (common >= 2 || named && events[c.Word] != "") && c.Denied && !deniesVerb(told, c.Word) &&
			!deniesDetail(said, told, c.Word),
		about && !c.Denied && otherPlace(said, told, c.Word, w),
		about && otherAgent(said, told, c.Word, w),
		about && otherOrder(said, told),
		named && without(said, told):
		return true
	}
	fields := w.Entities[e].Fields
	if n, ok := fields["dead"].(float64); ok && n == 0 && named && events[c.Word] == "death" && !c.Denied {
		return true
	}
	if by := doerOf(w.Entities[e], c.Word); by != "" {
		who := subjectIn(c, w)
		return who != None && !isNamed(w.Entities[who], by) || who == None && w.isOtherPerson(agentAfterBy(said, c.Word), by)
	}
	if (same || named) && !c.Denied && otherDeath(said, told, c.Word) {
		return true
	}
	cause, ok := fields["cause"].(string)
	if ok && same && named && !c.Denied {
		all := contentOf(tokensOf(w.Entities[e].Name + ". " + w.Entities[e].Text + ". " + cause))
		if who := agentIn(said, c.Word); len(who) > 0 && len(shared(who, all)) == 0 {
			return true
		}
	}
	other := causeIn(said)
	return ok && len(other) > 0 && len(shared(other, contentOf(tokensOf(cause)))) == 0
}

// deniesDetail reports whether a denial is of a place or another detail that a sentence of a card does not tell: "he
// was never found on the moor".
func deniesDetail(said, told []token, lemma string) bool {
	at := slices.IndexFunc(said, func(t token) bool { return verbOf(t.word) == lemma })
	if at < 0 {
		return false
	}
	rest := said[at+1:]
	if end := slices.IndexFunc(rest, func(t token) bool { return t.mark }); end >= 0 {
		rest = rest[:end]
	}
	from := slices.IndexFunc(rest, func(t token) bool { return prepositions[t.word] })
	if from < 0 {
		return false
	}
	detail := contentOf(rest[from:])
	return len(detail) > 0 && len(shared(detail, contentOf(told))) == 0
}

// originating are verbs that tell when something began or happened, whichever verb the canon tells it by.
var originating = wordSet("be date write set compose pen draw happen occur begin start originate stem come take")

// saidAbout returns the part of a sentence with a verb, if another part has a year too.
func saidAbout(said []token, lemma string) []token {
	from, dated := 0, 0
	var found []token
	for i := 0; i <= len(said); i++ {
		if i < len(said) && !said[i].mark {
			continue
		}
		part := said[from:i]
		if from = i + 1; len(yearsIn(part)) == 0 {
			continue
		}
		if dated++; hasVerb(part, lemma) {
			found = part
		}
	}
	if dated > 1 && found != nil {
		return found
	}
	return said
}

// isRecent reports whether a text tells of a time in the last years.
func isRecent(said []token) bool {
	return slices.ContainsFunc([]string{"last year", "last week", "last month", "last winter", "last summer", "this year",
		"a year ago", "last night", "this morning"}, func(p string) bool { return hasRun(said, p) }) ||
		hasWord(said, wordSet("yesterday")) || hasRun(said, "few years ago") || hasRun(said, "last spring") ||
		hasRun(said, "last autumn") || slices.ContainsFunc(agosIn(said), func(hours float64) bool {
		return hours < maxRecent
	})
}

// maxRecent is the greatest age in hours of what somebody may have seen.
const maxRecent = 60 * 8766

// agosIn returns how long ago a text tells that something happened, in hours: "ten years ago".
func agosIn(list []token) (ages []float64) {
	for i, t := range list {
		length := hours[strings.TrimSuffix(t.word, "s")]
		for back := i - 1; length > 0 && back >= max(0, i-3) && i+1 < len(list) && list[i+1].word == "ago"; back-- {
			if n, next, ok := numberAt(list, back); ok && next == i {
				ages = append(ages, float64(n)*length)
				break
			}
		}
	}
	return ages
}

// without reports whether a text says that something went without a thing which, as the other tells, was with it.
func without(said, told []token) bool {
	at := slices.IndexFunc(said, func(t token) bool { return t.word == "without" })
	if at < 0 {
		return false
	}
	with := slices.IndexFunc(told, func(t token) bool { return t.word == "with" })
	lacked, had := contentOf(said[at+1:min(at+7, len(said))]), contentOf(told[with+1:])
	return with >= 0 && (len(shared(lacked, had)) > 0 || slices.ContainsFunc(lacked, func(a string) bool {
		return slices.ContainsFunc(had, func(b string) bool { return isThing(a) && isAny(a, b) })
	}))
}

// otherAgent reports whether two texts name different people who did the same.
func otherAgent(said, told []token, lemma string, w *World) bool {
	a, b := agentOf(said, lemma, w), agentOf(told, lemma, w)
	return a != None && b != None && a != b
}

// agentOf returns the person who did what a verb tells: its subject, or the person after "by".
func agentOf(list []token, lemma string, w *World) int {
	c := clause{tokens: list, named: newNames(w).findMentions(list)}
	for _, v := range c.verbs() {
		if !sameEvent(v.lemma, lemma) {
			continue
		}
		if v.passive {
			for _, m := range c.named {
				if m.from > v.at && w.Entities[m.entity].Class == Person && c.wordBefore(m.from) == "by" && !m.pronoun {
					return m.entity
				}
			}
		} else if m, ok := c.subjectOf(w, v, Person); ok && v.tense == past {
			return m.entity
		}
	}
	return None
}

// yearsIn returns the years in a text, in figures or words.
func yearsIn(list []token) (years []string) {
	for i := 0; i < len(list); i++ {
		n, next, ok := numberAt(list, i)
		if !ok {
			continue
		}
		counts := next < len(list) && isNoun(list[next].word) && nounOf(list[next].word) != list[next].word
		if n >= 100 && n < 3000 && !counts && list[next-1].word != "hundred" && !articles[list[max(0, i-1)].word] {
			years = append(years, strconv.Itoa(n))
		}
		i = next - 1
	}
	return years
}

var months = wordSet("january february march april may june july august september october november december " +
	"christmas easter spring summer autumn winter midsummer midwinter")

// daysIn returns the months and seasons in a text. "May" and "march" need a capital.
func daysIn(list []token) (days []string) {
	for i, t := range list {
		if months[t.word] && (t.upper || t.word == "spring" || t.word == "summer" || t.word == "autumn" ||
			t.word == "winter") && i > 0 {
			days = append(days, t.word)
		}
	}
	return days
}

// differ reports whether two lists have values, and none in common.
func differ(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// hours are the lengths of units of time.
var hours = map[string]float64{"minute": 1.0 / 60, "hour": 1, "afternoon": 6, "morning": 6, "evening": 5, "night": 10,
	"day": 24, "week": 168, "fortnight": 336, "month": 730, "year": 8766,
	"decade": 87660, "centurie": 876600, "century": 876600, "summer": 2190, "winter": 2190, "autumn": 2190}

// lengthsIn returns the lengths of time in a text, in hours: "in an afternoon", "forty days".
func lengthsIn(list []token) (lengths []float64) {
	for i, t := range list {
		length := hours[strings.TrimSuffix(t.word, "s")]
		if length == 0 || i == 0 || i+1 < len(list) && intervals[list[i+1].word] && !hasWord(
			list[max(0, i-4):i], wordSet("for")) { // "for three days before"
			continue
		}
		for back := i - 1; back >= max(0, i-4); back-- {
			if n, next, ok := numberAt(list, back); ok && (next == i || next == i-1 && isAdjective(list[next].word)) {
				lengths = append(lengths, float64(n)*length)
				break
			} else if articles[list[back].word] && list[back].word != "the" && back > 0 &&
				(spanning[list[back-1].word] || enduring[verbOf(list[back-1].word)]) {
				lengths = append(lengths, length)
				break
			}
		}
	}
	return lengths
}

func isAdjective(word string) bool { return meaning.Lemma(word, meaning.Adjective) != "" }

// otherSubstance reports whether two texts tell of different materials: "built of stone", "built of timber".
func otherSubstance(said, told []token) bool {
	a, b := substancesIn(said), substancesIn(told)
	return len(a) > 0 && len(b) > 0 && len(shared(a, b)) == 0
}

// substancesIn returns the materials that a text names after "in", "of" or "from".
func substancesIn(list []token) (nouns []string) {
	for i := 1; i < len(list); i++ {
		noun := nounOf(list[i].word)
		if w := list[i-1].word; (w == "in" || w == "of" || w == "from" || w == "with") && isAny(noun, "building material") {
			nouns = append(nouns, noun)
		}
	}
	return nouns
}

// spanning are prepositions before the time that something takes.
var spanning = wordSet("in for within after over")

// enduring are verbs before the time that something lasts.
var enduring = wordSet("last take endure continue hold")

// intervals are words behind a length of time that is no duration: "three days later".
var intervals = wordSet("ago after before later earlier since old")

// otherLength reports whether two texts tell of different lengths of time.
func otherLength(said, told []token) bool {
	a, b := lengthsIn(said), lengthsIn(told)
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(x float64) bool {
		return slices.ContainsFunc(b, func(y float64) bool { return x <= 1.5*y && y <= 1.5*x })
	})
}

// otherDeath reports whether two texts tell of different deaths: "died of a fever", "was killed by robbers".
func otherDeath(said, told []token, lemma string) bool {
	if !dying[lemma] && !isKilling(lemma) {
		return false
	}
	of := func(list []token) (words []string) {
		for i, t := range list {
			if v := verbOf(t.word); (dying[v] || v != "" && isKilling(v)) && i+1 < len(list) && (list[i+1].word == "of" ||
				list[i+1].word == "from" || list[i+1].word == "by") {
				return contentOf(list[i+2 : min(i+6, len(list))])
			}
		}
		return nil
	}
	a, b := of(said), of(told)
	if len(b) == 0 {
		return false
	}
	manner := !mannerless[lemma]
	return len(a) > 0 && len(shared(a, b)) == 0 || len(a) == 0 && manner && !hasVerb(told, lemma)
}

// mannerless are verbs of death and burial that do not tell how somebody died.
var mannerless = wordSet("die perish expire bury inter entomb")

func hasVerb(list []token, lemma string) bool {
	return slices.ContainsFunc(list, func(t token) bool { return verbOf(t.word) == lemma })
}

// agentIn returns the words of the subject of an act in the past, directly before its verb.
func agentIn(list []token, lemma string) []string {
	for i, t := range list {
		if verbOf(t.word) != lemma || i == 0 || t.word == lemma || i+1 == len(list) || list[i+1].mark ||
			!isAuxiliary(list[i-1].word) && (prepositions[list[i+1].word] || orderWords[list[i+1].word] != 0) {
			continue // "fell in the siege"
		}
		if lowSubjects[list[i-1].word] {
			return nil
		}
		from := i
		for from > 0 && !list[from-1].mark && i-from < 4 && !prepositions[list[from-1].word] &&
			!isAuxiliary(list[from-1].word) && !conditions[list[from-1].word] {
			from--
		}
		if isAuxiliary(list[i-1].word) {
			if list[i+1].word == "by" || i+2 < len(list) && list[i+2].word == "by" {
				return contentOf(list[i+2 : min(i+5, len(list))])
			}
			return nil
		}
		return contentOf(list[from:i])
	}
	return nil
}

// deniesVerb reports whether a text denies a verb: "nobody died".
func deniesVerb(list []token, lemma string) bool {
	for i, t := range list {
		if sameEvent(baseOf(t.word), lemma) && hasWord(list[max(0, i-4):i], denials) {
			return true
		}
	}
	return false
}

// otherPlace reports whether two texts tell of the same act at different places: "buried at sea", "buried in the tomb".
func otherPlace(said, told []token, lemma string, w *World) bool {
	a, b := placesAfter(said, lemma), placesAfter(told, lemma)
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(p place) bool {
		return slices.ContainsFunc(b, func(o place) bool { return p.isLike(o) || p.isPartOf(o, w) })
	})
}

// isPartOf reports whether the canon tells of one place or thing at another: of the tomb in the graveyard.
func (p place) isPartOf(o place, w *World) bool {
	return slices.ContainsFunc(w.Entities, func(e Entity) bool {
		return e.Class == Place && len(shared([]string{o.noun}, contentOf(tokensOf(e.Name)))) > 0 &&
			slices.Contains(contentOf(tokensOf(e.Text)), p.noun)
	})
}

// A place is the noun of a place or thing in, at or from which something happened, with the words before it.
type place struct {
	noun  string
	words []string
}

// isLike reports whether two places may be the same: their nouns are akin, and so are the words before them.
func (p place) isLike(o place) bool {
	one, other := append(p.words, p.noun), append(o.words, o.noun)
	common := len(shared(one, other))
	return common > 1 || common == 1 && (len(one) == 1 || len(other) == 1 || !akin(p.noun, o.noun))
}

// placesAfter returns the places after "at", "in", "on" or "out of" behind a verb, without times.
func placesAfter(list []token, lemma string) (found []place) {
	for i, t := range list {
		v := verbOf(t.word)
		if v == "" || !sameEvent(v, lemma) || isNoun(t.word) && strings.HasSuffix(t.word, "s") && eventOf(v) != "burial" ||
			isNoun(t.word) && v == t.word {
			continue
		}
		for k := i + 1; k+1 < len(list) && k < i+12; k++ {
			if w := list[k].word; w == "." || w == ";" || w == "and" || w == "but" {
				break
			}
			if !placing[list[k].word] && list[k].word != "from" && !(list[k].word == "of" && list[k-1].word == "out") {
				continue
			}
			if list[k].word == "by" {
				continue
			}
			if p, ok := placeAt(list, skipDeterminers(list, k+1)); ok && !isAny(p.noun, "time period", "time", "time unit") &&
				!months[p.noun] && !times[p.noun] {
				found = append(found, p)
			}
		}
	}
	return found
}

var times = wordSet("day days time winter year end night age")

// placeAt returns the place whose words begin at a token: "Princetown prison".
func placeAt(list []token, i int) (p place, ok bool) {
	for ; i < len(list) && !list[i].mark && len(p.words) < 4; i++ {
		w := list[i].word
		if prepositions[w] || isAuxiliary(w) || meaning.IsFunctionWord(w) || isAdverb(w) || !isNoun(w) && verbOf(w) != "" ||
			strings.Trim(w, "0123456789") == "" {
			break
		}
		p.words = append(p.words, baseOf(w))
	}
	if len(p.words) == 0 {
		return p, false
	}
	p.noun = nounOf(p.words[len(p.words)-1])
	p.words = p.words[:len(p.words)-1]
	return p, true
}

func skipDeterminers(list []token, i int) int {
	for i < len(list) && (articles[list[i].word] || determiners[list[i].word]) {
		i++
	}
	return i
}

// doerOf returns who did an act, by a field such as found_by.
func doerOf(e Entity, lemma string) string {
	for _, k := range sortedKeys(e.Fields) {
		if verb, ok := strings.CutSuffix(k, "_by"); ok && verbOf(verb) == lemma {
			by, _ := e.Fields[k].(string)
			return by
		}
	}
	return ""
}

// agentAfterBy returns the noun of somebody by whom a text tells that an act was done: "found by a shepherd". It is ""
// if there is none.
func agentAfterBy(said []token, lemma string) string {
	at := slices.IndexFunc(said, func(t token) bool { return verbOf(t.word) == lemma })
	for i := at + 1; at >= 0 && i+2 < len(said); i++ {
		if said[i].word == "by" && articles[said[i+1].word] {
			c := clause{tokens: said[i+1 : min(i+4, len(said))]}
			noun, _ := c.headBefore(len(c.tokens))
			return noun
		}
	}
	return ""
}

// isOtherPerson reports whether a noun is of a person, and of none that is told on the card of a name.
func (w *World) isOtherPerson(noun, name string) bool {
	return noun != "" && isSomebody(noun) && slices.ContainsFunc(w.Entities, func(e Entity) bool {
		return isNamed(e, name) && !tells(e, noun)
	})
}

// subjectIn returns the person who did what a claim tells.
func subjectIn(c Claim, w *World) int {
	r := newReader(w)
	for _, s := range r.statements(c.Text) {
		all := clause{tokens: s.tokens, named: s.named}
		for _, v := range all.verbs() {
			if v.lemma == c.Word && v.passive {
				for _, m := range all.named {
					if m.from > v.at && w.Entities[m.entity].Class == Person && all.wordBefore(m.from) == "by" &&
						!possessives[all.tokens[m.from].word] {
						return m.entity
					}
				}
			}
			if v.lemma == c.Word && !v.passive {
				if m, ok := all.subjectOf(w, v, Person); ok {
					return m.entity
				}
			}
		}
	}
	return None
}

// causeIn returns the words of the cause that a text names: after "because" or "of", or between "it was" and "that".
func causeIn(list []token) []string {
	if at := runAt(list, "it was"); at >= 0 && at+2 < len(list) && !prepositions[list[at+2].word] {
		for i := at; i < len(list); i++ {
			if list[i].word == "that" || list[i].word == "who" {
				return contentOf(list[at+2 : i])
			}
		}
	}
	for i, t := range list {
		if i > 0 && t.word == "to" && verbOf(list[i-1].word) == "fall" {
			return contentOf(list[i+1 : min(i+5, len(list))]) // "fell to treachery"
		}
		if t.word == "because" || hasRun(list[i:min(i+2, len(list))], "due to") {
			rest := list[i+1:]
			if end := slices.IndexFunc(rest, func(t token) bool { return t.mark }); end >= 0 {
				rest = rest[:end]
			}
			return contentOf(rest)
		}
	}
	return nil
}
