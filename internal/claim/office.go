package claim

import (
	"maps"
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
)

// An officePhrase is the name of an office in a statement: "the new steward of the town", or of its seat: "the
// stewardship of the town", "the post of steward".
type officePhrase struct {
	from, to int      // tokens [from, to), determiners included
	words    []string // the office and what it is of, in base form
	definite bool     // there is one such office
	seat     bool
	named    bool // it is also a name of a person in the canon: "the smith"
	bare     bool // without an article
	weak     bool // a noun for a person that may be an office
}

// readOffices reads that somebody has an office: "the smith is our steward", "the post of steward went to the smith",
// "they have made me judge".
func readOffices(s *statement, w *World) (list []Claim) {
	c := clause{tokens: s.tokens, named: s.named}
	for _, o := range c.officePhrases(w) {
		who, denied, ok := c.holderOf(w, o)
		if !ok || who == None || who == w.Listener {
			continue
		}
		claim := Claim{Predicate: Office, Subject: who, Object: None, Word: strings.Join(o.words, " "), Denied: denied}
		if o.definite || o.seat {
			claim.Number = 1
		}
		list = append(list, claim)
	}
	if hasWord(s.tokens, denials) {
		return list
	}
	for _, g := range s.named {
		if class := w.Entities[g.entity].Class; class == Group || class == Place {
			for _, who := range c.leadersOf(w, g) {
				word := "leader"
				if class == Place {
					word = "owner"
				}
				list = append(list, Claim{Predicate: Office, Subject: who, Object: g.entity, Word: word})
			}
		}
	}
	return list
}

// officePhrases returns the names of offices in a clause.
func (c *clause) officePhrases(w *World) (list []officePhrase) {
	for i := 0; i < len(c.tokens); i++ {
		if m, ok := c.mentionAt(i); ok && !m.pronoun {
			if w.Entities[m.entity].Class == Person && c.wordAt(m.to) != "'s" && w.hasOffice(c.tokens[m.to-1].word) {
				list = append(list, c.officeAt(w, m.to-1, m.to))
				list[len(list)-1].named = true
			}
			i = m.to - 1
			continue
		}
		head := c.officeHead(i)
		if head < 0 {
			continue
		}
		o := c.officeAt(w, i, head+1)
		if seat := holderNoun(c.tokens[head].word); seat != "" {
			if o.seat, o.words[0] = true, seat; seat == seatOfNext {
				o.words = o.words[1:]
			}
			if len(o.words) == 0 || !isOffice(o.words[0]) && seat == seatOfNext {
				continue
			}
		} else {
			o.weak = !w.hasOffice(c.tokens[head].word) && !o.isTitle(c, head)
		}
		list = append(list, o)
		i = o.to - 1
	}
	for i := range list {
		c.addOwner(w, &list[i])
	}
	return list
}

// addOwner adds the name of the place or group to an office of which a pronoun tells: "its master", "master here".
func (c *clause) addOwner(w *World, o *officePhrase) {
	add := func(e int) { o.words = append(o.words, contentOf(tokensOf(w.name(e)))...) }
	part := c.tokens[o.from:o.to]
	switch {
	case hasWord(part, hereThis) && w.Place != None:
		add(w.Place)
	case hasWord(part, theirs):
		for _, m := range slices.Backward(c.named) {
			if class := w.Entities[m.entity].Class; m.to <= o.to && (class == Group || class == Place) {
				add(m.entity)
				return
			}
		}
	}
}

// hasOffice reports whether a noun names an office, by its meaning or because somebody in the canon has it.
func (w *World) hasOffice(noun string) bool {
	if isOffice(noun) {
		return true
	}
	return isAny(noun, "person") && slices.ContainsFunc(w.Entities, func(e Entity) bool {
		return e.Class == Person && slices.ContainsFunc(officesOf(e), func(office string) bool {
			words := contentOf(tokensOf(office))
			return len(words) > 0 && words[0] == noun
		})
	})
}

// OfficesIn returns words by which the holders of the offices that a text tells of are found: the offices, and what
// they may be called otherwise.
func OfficesIn(text string) (list []string) {
	add := func(noun string) {
		if !slices.Contains(list, noun) && len(list) < maxOffices {
			list = append(list, noun)
		}
	}
	for _, t := range tokensOf(text) {
		noun := nounOf(t.word)
		if seat := holderNoun(noun); seat != "" && seat != seatOfNext {
			noun = seat
		}
		if office := officeVerbs[verbOf(t.word)]; office != "" && !isNoun(t.word) {
			noun = office
		}
		if t.word == "belongs" || t.word == "mine" {
			noun = "owner"
		}
		if t.mark || meaning.IsFunctionWord(t.word) || notTitle[noun] || !isOffice(noun) && !isAny(noun, "person") {
			continue
		}
		add(noun)
		for _, f := range families {
			if f[noun] {
				for _, other := range slices.Sorted(maps.Keys(f)) {
					add(other)
				}
			}
		}
	}
	return list
}

// maxOffices is the number of words by which holders of offices are searched for.
const maxOffices = 16

// tellsOffice reports whether an office stands after a verb: "is the cook".
func (c *clause) tellsOffice(w *World, v verb) bool {
	return slices.ContainsFunc(c.officePhrases(w), func(o officePhrase) bool {
		return o.from > v.at && o.from <= v.at+2 && !o.seat && !o.weak
	})
}

// officeHead returns the last noun of an office whose name begins at a token, or -1.
func (c *clause) officeHead(i int) int {
	noun := func(k int) bool {
		w := c.tokens[k].word
		return !c.tokens[k].mark && isNoun(w) && nounOf(w) == w && !meaning.IsFunctionWord(w) && !isAdverb(w) &&
			!notTitle[w] && (kinOf(w) == "" || !isRelative(w)) && (isAny(w, "person") || isOffice(w) || holderNoun(w) != "")
	}
	if !noun(i) || c.wordAfter(i) == "'s" {
		return -1
	}
	for i+1 < len(c.tokens) && noun(i+1) {
		if _, named := c.mentionAt(i + 1); named {
			break
		}
		i++
	}
	if c.wordAfter(i) == "'s" {
		return -1
	}
	return i
}

// officeAt returns the phrase whose head noun stands before a token.
func (c *clause) officeAt(w *World, first, end int) officePhrase {
	o := officePhrase{from: first, to: end, words: []string{nounOf(c.tokens[end-1].word)}, definite: true,
		bare: true}
	for _, t := range c.tokens[first : end-1] {
		o.words = append(o.words, nounOf(t.word))
	}
	for o.from > 0 && !c.tokens[o.from-1].mark {
		word := c.tokens[o.from-1].word
		_, named := c.mentionAt(o.from - 1)
		owner := word == "'s" || o.from < first && c.tokens[o.from].word == "'s"
		compound := o.from == first && isNoun(word) && !articles[word] && !determiners[word]
		if !articles[word] && !determiners[word] && !owner && (named || isAuxiliary(word) || prepositions[word] ||
			meaning.IsFunctionWord(word) || isAdverb(word) || !compound && meaning.Lemma(word, meaning.Adjective) == "" ||
			verbOf(word) != "" && (!compound || verbOf(word) != word) && c.isVerbForm(o.from-1)) {
			break
		}
		if o.from--; word == "a" || word == "an" {
			o.definite = false
		}
		o.bare = o.bare && !articles[word] && !determiners[word]
		if (owner || compound) && isNoun(word) && !notTitle[word] {
			o.words = append(o.words, nounOf(word))
		}
	}
	for i := end; i < len(c.tokens) && len(o.words) < 6; i++ {
		t := c.tokens[i]
		m, named := c.mentionAt(i)
		if t.mark || isAuxiliary(t.word) && t.word != "'s" || t.word == "and" || t.word == "but" ||
			isRelativePronoun(t.word) || i == end && !officeTies[t.word] || verbOf(t.word) != "" &&
			(!isNoun(t.word) || t.word != nounOf(t.word) && c.wordAfter(i) == "to") || subjects[t.word] ||
			named && !possessives[t.word] && (m.pronoun || w.Entities[m.entity].Class == Person && c.wordAt(m.to) != "'s") {
			break
		}
		o.to = i + 1
		if isNoun(t.word) && !meaning.IsFunctionWord(t.word) && !isAdverb(t.word) && !determiners[t.word] {
			o.words = append(o.words, nounOf(t.word))
		}
	}
	return o
}

// officeTies are words between an office and what it is of.
var officeTies = wordSet("of at in for over to here")

// isTitle reports whether a noun for a person is used as a title: without an article, or with the one that it belongs
// to: "is abbot of the temple", "is the warden of the bridge".
func (o *officePhrase) isTitle(c *clause, head int) bool {
	of := c.wordAfter(head) == "of" || c.wordAfter(head) == "at" || c.wordAfter(head) == "in" ||
		c.wordAfter(head) == "here"
	return o.bare || o.definite && of
}

// seatOfNext stands for the office that the next noun names: "the post of steward".
const seatOfNext = "@"

var (
	seatNouns = wordSet("office post position title rank role job")
	leadSeats = wordSet("command charge leadership control rule helm lead")
)

// holderNoun returns the noun of somebody who has a seat: "steward" for "stewardship". It is "" for other nouns.
func holderNoun(noun string) string {
	switch {
	case seatNouns[noun]:
		return seatOfNext
	case leadSeats[noun]:
		return "leader"
	}
	for _, end := range []string{"ship", "cy", "ate"} {
		stem, ok := strings.CutSuffix(noun, end)
		for _, holder := range []string{stem, stem + "t"} {
			if ok && isAny(holder, "person") {
				return holder
			}
		}
	}
	return ""
}

// Ties between the holder of an office and the office, in base forms without articles and adverbs.
var (
	appoints = `(?:make|appoint|name|elect|crown|create|ordain|call|dub|choose|install|proclaim|declare|nominate|` +
		`hire|promote|raise)`
	holderFirst = lazyregexp.New(`^(?:(?:be|become|remain|stay|turn)|(?:be )?(?:serve|act|work|double|function|` +
		`officiate|employ|engage|rule|reign|retain|keep|stand|know|come in)(?: \w+){0,2} as|be ` + appoints +
		`(?: as| to be)?|take over as|,)$`)
	holderOfSeat = lazyregexp.New(`^(?:be in|be at|have|hold|get|take|take over|take up|occupy|fill|receive|` +
		`inherit|assume|accept|exercise|be (?:give|grant|hand|offer|award|appoint to|raise to|elect to)|` +
		`(?:succeed|rise|come) to)$`)
	officeFirst = lazyregexp.New(`^(?:be|,)$`)
	seatFirst   = lazyregexp.New(`^(?:(?:belong|go|pass|fall|come|descend|revert|be (?:give|hand|grant|award|leave|` +
		`assign|entrust))(?: \w+)? to|be (?:in|hold by|fill by)|(?:lie|rest|be) with|be)$`)
	dutyAs      = lazyregexp.New(`^(?:'s )?\w+ as$`)
	officeGiven = lazyregexp.New(`^(?:as|for|to be|)$`)
	appointing  = lazyregexp.New(`^` + appoints + `$`)
)

// holderOf returns the person who a clause says has an office, and whether it denies that.
func (c *clause) holderOf(w *World, o officePhrase) (who int, denied, ok bool) {
	if who := c.speakerAt(w, o); who != None && !o.weak {
		return who, false, true
	}
	isHolder := func(m mention) bool {
		return w.Entities[m.entity].Class == Person && (m.to <= o.from || m.from >= o.to) &&
			!(o.named && m.pronoun && m.entity != w.Speaker && m.from > 0 && !c.tokens[m.from-1].mark)
	}
	for _, m := range slices.Backward(c.named) {
		if !isHolder(m) || m.to > o.from {
			continue
		}
		if m.pronoun && possessives[c.tokens[m.from].word] || c.wordAt(m.to) == "'s" {
			if dutyAs.MatchString(c.tie(m.to, o.from)) {
				return m.entity, false, true // "it is my duty as cook"
			}
			break
		}
		if at, ok := c.predicateAt(o); ok && !o.weak {
			if !c.isSubject(m, o, at) {
				continue
			}
			return m.entity, hasWord(c.tokens[max(0, m.to):o.from], denials) || hasWord(c.tokens[max(0, m.from-2):m.from],
				denials), true
		}
		given := m.from > 0 && officeGiven.MatchString(c.tie(m.to, o.from)) && (appointing.MatchString(
			baseOf(c.wordBefore(m.from))) || m.to < o.from && leading[baseOf(c.wordBefore(m.from))])
		if given || !o.weak && c.holdsOffice(m, o) {
			return m.entity, hasWord(c.tokens[max(0, m.from-2):o.from], denials), true
		}
		break
	}
	if o.weak {
		return None, false, false
	}
	for _, m := range c.named {
		if isHolder(m) && m.from >= o.to && c.presents(o, m) {
			return m.entity, hasWord(withoutInserts(c.tokens[max(0, o.from-2):m.from]), denials), true
		}
	}
	for _, m := range c.named {
		whose := m.pronoun && possessives[c.tokens[m.from].word] || c.wordAt(m.to) == "'s"
		if _, owns := c.mentionAt(m.to); !isHolder(m) || m.from < o.to || owns && whose { // "my butler"
			continue
		}
		between := clause{tokens: withoutInserts(c.tokens[o.to:m.from])}
		tie := between.tie(0, len(between.tokens))
		ends := m.to == len(c.tokens) || c.tokens[m.to].mark
		switch {
		case o.from > 0 && (c.tokens[o.from-1].word == "as" || c.tokens[o.from-1].word == "being") && (o.from == 1 ||
			c.tokens[o.from-2].mark) && !whose,
			o.seat && seatFirst.MatchString(tie) && !c.isPast(o.to, m.from, false),
			!o.seat && !whose && o.definite && tie == ", who be" && !c.isPast(o.to, m.from, true),
			(!o.named || len(o.words) > 1) && tie == "" && (o.from == 0 || c.tokens[o.from-1].mark) && c.endsWithBe(m.to),
			!o.seat && !o.named && !whose && (o.from == 0 || c.tokens[o.from-1].mark) && (tie == "be" || ends && o.definite) &&
				officeFirst.MatchString(tie) && !c.isPast(o.to, m.from, true):
			return m.entity, hasWord(c.tokens[max(0, o.from-2):m.from], denials), true
		}
		break
	}
	return None, false, false
}

// endsWithBe reports whether a form of to be stands at a token and ends its part of the sentence: "warden of this town
// I am".
func (c *clause) endsWithBe(at int) bool {
	return beForms[c.wordAt(at)] && (at+1 == len(c.tokens) || c.tokens[at+1].mark)
}

// predicateAt returns the form of to be, or "as", before an office: "being the warden".
func (c *clause) predicateAt(o officePhrase) (at int, ok bool) {
	at = o.from - 1
	for at > 0 && isAdverb(c.tokens[at].word) {
		at--
	}
	if at < 0 || o.seat {
		return 0, false
	}
	w := c.tokens[at].word
	return at, w == "as" || beForms[w] && w != "was" && w != "were" && !c.isPast(max(0, at-2), at, false)
}

// isSubject reports whether a person before an office is the subject of the verb at a token, as far as one can tell: no
// other verb and no other part of the sentence begins between them.
func (c *clause) isSubject(m mention, o officePhrase, at int) bool {
	before := c.wordBefore(m.from)
	if at < m.to || at-m.to > 12 || m.from > 0 && prepositions[before] && before != "to" || c.isPast(m.to, o.from, true) ||
		o.named && m.pronoun && m.from > 0 && !c.tokens[m.from-1].mark {
		return false
	}
	between := withoutInserts(c.tokens[m.to:at])
	shares := c.tokens[at-1].word == "and" // "my brother came into money and is master now"
	if w := c.tokens[at].word; !shares && w != "as" && w != "being" && (slices.ContainsFunc(between, isFiniteVerb) ||
		hasWord(between, comma)) {
		return false
	}
	return !hasWord(between, beForms) && !hasWord(between, breaks) &&
		!slices.ContainsFunc(between, func(t token) bool { return subjects[t.word] })
}

// withoutInserts returns tokens without what stands between two commas.
func withoutInserts(list []token) []token {
	isComma := func(t token) bool { return t.word == "," }
	from := slices.IndexFunc(list, isComma)
	if from < 0 {
		return list
	}
	end := slices.IndexFunc(list[from+1:], isComma)
	if end < 0 {
		return list
	}
	return slices.Concat(list[:from], withoutInserts(list[from+end+2:]))
}

// isFiniteVerb reports whether a token is a verb, and hardly a noun.
func isFiniteVerb(t token) bool {
	v := verbOf(t.word)
	return v != "" && !isAuxiliary(t.word) && !notLexical[t.word] && (!isNoun(t.word) || v != t.word &&
		nounOf(t.word) == t.word)
}

// presents reports whether a form of to be stands between an office at the beginning of a part of a sentence and a
// person: "the keeper is, and for years has been, our milk man".
func (c *clause) presents(o officePhrase, m mention) bool {
	if o.seat || o.named && len(o.words) < 2 || !o.definite || o.from > 0 && !c.tokens[o.from-1].mark ||
		m.from-o.to > 12 || m.pronoun && possessives[c.tokens[m.from].word] || c.wordAt(m.to) == "'s" {
		return false
	}
	between := withoutInserts(c.tokens[o.to:m.from])
	if c.isPast(o.to, m.from, true) || !hasWord(between, beForms) {
		return false
	}
	return !slices.ContainsFunc(between, func(t token) bool {
		return prepositions[t.word] || isFiniteVerb(t) && t.word != "called" && t.word != "named"
	})
}

// leading are verbs of those who have a leader, before "as".
var leading = wordSet("have follow accept recognize acknowledge want")

// holdsOffice reports whether the words between a person and an office tie them together.
func (c *clause) holdsOffice(m mention, o officePhrase) bool {
	tie := c.tie(m.to, o.from)
	switch {
	case o.seat:
		return holderOfSeat.MatchString(tie)
	case tie == ",":
		return o.definite && (o.to == len(c.tokens) || c.tokens[o.to].mark) && (o.to-o.from > 1 || len(o.words) > 1) &&
			!o.named && c.wordBefore(m.from) != ","
	}
	return holderFirst.MatchString(tie) && !c.isPast(m.to, o.from, tie == "be")
}

// isPast reports whether the verb between two tokens tells of the past: "was the cook", but not "was made cook".
func (c *clause) isPast(from, to int, being bool) bool {
	part := c.tokens[from:to]
	return hasWord(part, modals) || hasWord(part, unreal) || being && hasWord(part, wasForms)
}

var (
	unreal   = wordSet("would could might")
	wasForms = wordSet("was were")
	breaks   = wordSet("but while because that who ; :")
	comma    = wordSet(",")
	hereThis = wordSet("this")
	theirs   = wordSet("its their")
)

// tie returns the base forms of the words between two tokens, without articles, adverbs and denials.
func (c *clause) tie(from, to int) string {
	var words []string
	for _, t := range c.tokens[min(from, to):to] {
		switch w := t.word; {
		case beForms[w]:
			words = append(words, "be")
		case haveForms[w]:
			words = append(words, "have")
		case articles[w] || determiners[w] || doForms[w] || modals[w] || denials[w] || isAdverb(w) && w != "in":
		default:
			words = append(words, baseOf(w))
		}
	}
	if len(words) > 1 && words[0] == "have" && (words[1] == "be" || verbOf(words[1]) != "") {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// wordAt returns a word, or "" behind the end.
func (c *clause) wordAt(i int) string { return c.wordAfter(i - 1) }

// speakerAt returns the speaker where the words before an office present them: "you are speaking to the warden".
func (c *clause) speakerAt(w *World, o officePhrase) int {
	if o.from == 0 {
		if hasRun(c.tokens, "that is me") || hasRun(c.tokens, "that would be me") {
			return w.Speaker
		}
		return None
	}
	i := o.from - 1
	before := ""
	if i > 0 {
		before = c.tokens[i-1].word
	}
	switch word := c.tokens[i].word; {
	case (word == "to" || word == "with") && i > 2 && addressing[verbOf(before)] && hasWord(c.tokens[i-3:i],
		wordSet("you")),
		word == "am" && (i == 0 || before != "i" && before != "not"),
		word == "is" && i > 1 && before == "me" && c.tokens[i-2].word == "but",
		word == "you" && before == "before" && hasWord(c.tokens[:i], wordSet("see behold have")),
		word == "before" && verbOf(before) == "stand" && c.tokens[0].word == "you":
		return w.Speaker
	}
	return None
}

var addressing = wordSet("speak talk")

// officeVerbs are verbs of those who have an office, with its noun.
var officeVerbs = map[string]string{"lead": "leader", "command": "leader", "head": "leader", "rule": "ruler",
	"govern": "governor", "own": "owner", "captain": "leader", "possess": "owner", "direct": "leader", "boss": "leader",
	"oversee": "leader", "run": "keeper", "keep": "keeper", "manage": "keeper", "tend": "keeper", "look": "keeper",
	"preside": "leader"}

// particles of verbs of those who have an office.
var officeParticles = map[string]string{"look": "after", "preside": "over"}

// readOffice reads an office that a verb tells: "the smith commands the guard", "the guard is led by the smith".
func readOffice(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		office := officeVerbs[v.lemma]
		if office == "" || v.modal != "" || officeParticles[v.lemma] != "" && c.wordAfter(v.at) != officeParticles[v.lemma] {
			continue
		}
		if m, ok := c.objectOf(w, v, Person); ok && c.wordBefore(m.from) == "by" && !v.was {
			for _, of := range c.named {
				if class := w.Entities[of.entity].Class; of.to <= v.first && (class == Group || class == Place) {
					list = append(list, Claim{Predicate: Office, Subject: m.entity, Object: of.entity,
						Word: office, Denied: v.denied})
				}
			}
			continue
		}
		who, ok := c.subjectOf(w, v, Person)
		if !ok || c.order || v.tense == past || v.passive || who.entity == w.Listener {
			continue
		}
		for _, m := range c.named {
			if class := w.Entities[m.entity].Class; m.from > v.at && (class == Group || class == Place) &&
				!(m.to < len(c.tokens) && c.tokens[m.to].word == "'s") &&
				(officeParticles[v.lemma] != "" || !c.hasPrepositionBetween(v.at, m.from)) {
				list = append(list, Claim{Predicate: Office, Subject: who.entity, Object: m.entity,
					Word: office, Denied: v.denied})
				break
			}
		}
	}
	return list
}

// Ties between those who are led, or a place, and their leader or owner.
var (
	ledBy = lazyregexp.New(`^(?:(?:, )?(?:be )?(?:lead|command|head|run|rule) by|` +
		`(?:be )?under (?:(?:command|leadership|order|rule|control) of)?|follow|obey|` +
		`(?:answer|report|swear|listen|kneel) (?:\w+ )?to|take order from|serve(?: under)?|` +
		`have (?:\w+ )?(?:leader|captain|commander|chief|chieftain|head|master|owner)(?: ,)?)$`)
	ownedBy = lazyregexp.New(`^(?:(?:belong|go|pass|fall) to|be (?:property|house|home|estate) of|be own by)$`)
	leadsOf = []string{"in command of", "in charge of", "at the head of", "at the helm of", "gives the orders in",
		"gives orders to", "gives the orders to"}
)

// leadersOf returns the people who a clause says lead a group, or own a place.
func (c *clause) leadersOf(w *World, group mention) (list []int) {
	owned := w.Entities[group.entity].Class == Place
	for _, m := range c.named {
		whose := m.pronoun && possessives[c.tokens[m.from].word] || c.wordAt(m.to) == "'s"
		mine := c.tokens[m.from].word == "mine"
		if w.Entities[m.entity].Class != Person || m.entity == w.Listener {
			continue
		}
		if c.wordBefore(group.from) == "of" && m.from >= group.to {
			continue // the office passes, and not the place
		}
		if m.from < group.to {
			if !owned && !whose && slices.ContainsFunc(leadsOf, func(p string) bool {
				return hasRun(c.tokens[m.to:max(group.from, m.to)], p)
			}) {
				list = append(list, m.entity)
			}
			continue
		}
		tie := c.tie(group.to, m.from)
		after := c.tokens[m.to:min(m.to+4, len(c.tokens))]
		leads := slices.ContainsFunc(after, func(t token) bool { return isLeading(nounOf(t.word)) })
		switch {
		case owned && (ownedBy.MatchString(tie) && !whose || tie == "be" && mine):
			list = append(list, m.entity)
		case owned:
		case whose:
			if tie == "be under" || tie == "under" || tie == "obey" || tie == "follow" {
				list = append(list, m.entity)
			}
		case ledBy.MatchString(strings.TrimSpace(tie)), tie == "be under", tie == "have" && leads,
			strings.HasPrefix(tie, "'s ") && strings.HasSuffix(tie, " be") && len(strings.Fields(tie)) == 3 &&
				isLeading(strings.Fields(tie)[1]):
			list = append(list, m.entity)
		}
	}
	return list
}

var notTitle = wordSet("old young good bad new years sir man woman boy girl guest friend soul fool stranger one " +
	"rock own")

// isOffice reports whether a noun names an office or a trade.
func isOffice(noun string) bool {
	return !notTitle[noun] && isAny(noun, "leader", "official", "ruler", "head", "worker", "servant", "master",
		"owner", "skilled worker", "clergyman", "professional", "aristocrat", "keeper", "medical practitioner")
}
