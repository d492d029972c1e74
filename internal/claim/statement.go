package claim

import (
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/meaning"
)

// A statement is a sentence, or the part of one, that asserts something. Its clauses are the runs of words between
// marks.
type statement struct {
	topic   string // the direction that the sentence before asks about
	asked   sky    // the weather that the sentence before asks about
	before  *Exit  // the exit that the sentence before is about
	text    string
	tokens  []token
	named   []mention // in tokens
	clauses []clause
}

// A clause is a run of words between marks.
type clause struct {
	tokens []token
	named  []mention
	order  bool // it asks for an act: its verb comes first
}

// hedges are words of a sentence that asserts nothing: it tells of what may be, is wished, feared or said.
var hedges = wordSet("might may could would perhaps maybe possibly probably supposedly allegedly reportedly seem " +
	"seems seemed imagine imagined dream dreams dreamt dreamed " +
	"wish wishes wished hope hopes hoped wonder wonders doubt doubts guess suppose afraid fear fears feared " +
	"dread whether legend legends tale tales song songs rumour rumours " +
	"rumor rumors gossip hearsay ballad ballads story stories pretend pretends")

// reported are verbs of speech. Their subject vouches for what follows, not the text.
var reported = wordSet("say says said saying tell tells told claim claims claimed heard swear swears swore " +
	"believe believes believed think thinks thought reckon reckons mutter mutters insist insists whisper " +
	"whispers whispered")

// vouched are verbs of speech by which a speaker claims what follows: "I tell you".
var vouched = wordSet("say tell swear claim insist bet wager")

// asides are phrases that neither assert nor hedge what they stand beside.
var asides = []string{"would you believe it", "would you credit it", "believe it or not", "would you believe",
	"you know", "you see", "mark my words", "i dare say", "if you please", "if you must know", "if i can still count"}

// hearsay are phrases of a sentence for which others vouch.
var hearsay = []string{"according to", "has it that", "have it that", "word has it", "there is talk", "talk that",
	"word is that", "word is", "they do say", "so they say", "by all accounts", "i hear", "i have heard", "so goes the",
	"the way i heard"}

// conditions are words that begin a part of a sentence that is not asserted.
var conditions = wordSet("if unless until till when whenever once before lest suppose supposing provided")

// comparisons begin a part of a sentence that compares.
var comparisons = []string{"as if", "as though", "like a", "like an", "like the", "like old", "like some", "like one",
	"as a", "used to"}

// reader reads the statements of a text and remembers whom pronouns mean.
type reader struct {
	world  *World
	names  *names
	person int
	thing  int
	place  int
	group  int
	topic  string // the direction of the last sentence, if that asks
	asked  sky    // the weather of the last sentence, if that asks
	exit   *Exit  // the exit that the last sentence was about
}

func newReader(w *World) *reader {
	return &reader{world: w, names: newNames(w), person: None, thing: None, place: None, group: None}
}

// statements returns the asserting sentences of a text.
func (r *reader) statements(text string) (list []statement) {
	for s := range meaning.Sentences(r.spoken(text)) {
		tokens := r.completed(tokensOf(s))
		st, ok := r.statement(s, tokens)
		st.topic, st.asked, st.before = r.topic, r.asked, r.exit
		if r.topic, r.asked = "", ""; ok {
			list = append(list, st)
		}
		if d := directionsIn(tokens, r.world); len(d) == 1 && isQuestion(tokens) {
			r.topic = d[0]
		}
		if x, ok := st.exitMeant(r.world); ok && !slices.ContainsFunc(tokens, isContainer) {
			r.exit = &x
		} else if len(tokens) > maxTopic {
			r.exit = nil
		}
		if isQuestion(tokens) && len(tokens) > 1 && len(tokens) <= maxTopic && isWeather(tokens[len(tokens)-2].word) {
			r.asked = skies[skyBase(tokens[len(tokens)-2].word)][0]
		}
	}
	return list
}

// isContainer reports whether a token is a noun for a thing that may be locked, too.
func isContainer(t token) bool {
	return isNoun(t.word) && isAny(nounOf(t.word), "container", "furniture")
}

// maxTopic is the greatest number of words and marks of a question that only names what it asks about: "any rain?".
const maxTopic = 4

// completed returns an answer without a verb as a whole sentence: "dead, these three days" is "he is dead", and "just
// north of here" is said of the place that was named before.
func (r *reader) completed(tokens []token) []token {
	if len(tokens) == 0 {
		return tokens
	}
	c := clause{tokens: tokens}
	switch {
	case (deadWords[tokens[0].word] || tokens[0].word == "alive" || tokens[0].word == "here") && r.person != None:
		return append([]token{{text: "he", word: "he"}, {text: "is", word: "is"}}, tokens...)
	case r.topic != "" && (openWords[tokens[0].word] || lockWords[tokens[0].word]):
		return append([]token{{text: "it", word: "it"}, {text: "is", word: "is"}}, tokens...)
	case r.place != None && len(directionsIn(tokens, r.world)) == 1 && !slices.ContainsFunc(c.verbs(),
		func(v verb) bool { return v.tense != base || v.first != v.at }):
		return append(append(tokensOf(r.world.name(r.place)), token{text: "is", word: "is"}), tokens...)
	}
	return tokens
}

// statement returns the asserting part of a sentence. A sentence that asserts nothing still tells whom the pronouns
// of the next one mean.
func (r *reader) statement(text string, tokens []token) (statement, bool) {
	tokens = cutTag(cutLead(cutNearly(cutAsides(tokens))))
	asserted := tokens
	if !asserts(r.withoutTitles(cutUnasserted(tokens))) {
		if asserted = assertedPart(tokens); asserted == nil {
			asserted = r.speech(tokens)
		}
	}
	st := statement{text: strings.TrimSpace(text), tokens: cutUnasserted(asserted)}
	st.named = r.resolve(st.tokens)
	if asserted == nil {
		r.resolve(tokens)
		return st, false
	}
	st.clauses = st.split(r.world)
	return st, len(st.tokens) > 0
}

// withoutTitles returns tokens without words of names that would be hedges: "the legend" is an event of the canon.
func (r *reader) withoutTitles(tokens []token) []token {
	if !hasWord(tokens, hedges) {
		return tokens
	}
	for _, m := range r.names.findMentions(tokens) {
		if r.world.Entities[m.entity].Class == Other {
			tokens = slices.Concat(tokens[:m.from], []token{{text: "it", word: "it"}}, tokens[m.to:])
			break
		}
	}
	return tokens
}

// cutAsides cuts asides out of a sentence.
func cutAsides(tokens []token) []token {
	for _, p := range asides {
		at := runAt(tokens, p)
		end := at + len(strings.Fields(p))
		if at < 0 || at > 0 && !tokens[at-1].mark || end < len(tokens) && !tokens[end].mark {
			continue
		}
		if at > 0 {
			tokens = slices.Concat(tokens[:at-1], tokens[end:])
		} else if end < len(tokens) {
			tokens = tokens[end+1:]
		}
	}
	return tokens
}

// cutNearly cuts out the words that "almost" and "nearly" take back: "almost dead".
func cutNearly(tokens []token) []token {
	for i, t := range tokens {
		if t.word == "almost" || t.word == "nearly" {
			end := min(skipDeterminers(tokens, i+1)+1, len(tokens))
			if tokens[end-1].mark {
				end--
			}
			return slices.Concat(tokens[:i], cutNearly(tokens[end:]))
		}
	}
	return tokens
}

// cutLead cuts off words that ask whether the listener knows a fact: "did you not know that the smith has it?".
func cutLead(tokens []token) []token {
	for i := 1; i < min(len(tokens), 6); i++ {
		if knowing[tokens[i].word] && isAuxiliary(tokens[0].word) && tokens[i].word != "to" &&
			hasWord(tokens[:i], wordSet("not nobody")) && hasWord(tokens[:i+2], wordSet("you")) {
			rest := tokens[i+1:]
			if len(rest) > 0 && rest[0].word == "you" {
				rest = rest[1:]
			}
			if len(rest) > 0 && rest[0].word == "that" {
				rest = rest[1:]
			}
			if n := len(rest); n > 2 && rest[n-1].word == "?" && !asking[rest[0].word] && rest[0].word != "if" &&
				rest[0].word != "whether" {
				return rest[:n-1]
			}
		}
	}
	return tokens
}

var knowing = wordSet("know hear heard see notice realise realize tell told remember")

// assertedPart returns the part of a sentence, up to a colon or semicolon or behind "but", that asserts something
// although the whole does not: "they may think so, but he is dead". It returns nil if there is none. The weather of
// which a sentence complains is there: "will this rain never end".
func assertedPart(tokens []token) []token {
	for i, t := range tokens {
		shows := t.word == "this" || t.word == "such" || t.word == "that" && i > 0 && tokens[i-1].word == "to"
		if shows && i+1 < len(tokens) && isWeather(tokens[i+1].word) {
			return tokens[i : i+2]
		}
	}
	for i, t := range tokens {
		if i < 3 || i+3 >= len(tokens) || isQuestion(tokens) || t.word != ";" && t.word != ":" &&
			!(t.word == "but" && tokens[i-1].mark) {
			continue
		}
		if first := tokens[:i]; asserts(first) {
			return first
		}
		if rest := tokens[i+1:]; t.word != ":" && asserts(rest) && !tellsHearsay(tokens[:i]) {
			return rest
		}
	}
	return nil
}

// tellsHearsay reports whether others vouch for what a part of a sentence tells.
func tellsHearsay(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return reported[t.word] }) ||
		slices.ContainsFunc(hearsay, func(p string) bool { return hasRun(tokens, p) })
}

// cutTag cuts the question off a sentence that asserts something before it: "he is dead, isn't he?".
func cutTag(tokens []token) []token {
	if !isQuestion(tokens) || len(tokens) == 0 || isAuxiliary(tokens[0].word) || asking[tokens[0].word] {
		return tokens
	}
	for i := len(tokens) - 1; i > 1; i-- {
		if tokens[i].word == "," && len(tokens)-i <= maxTag {
			if w := tokens[i+1].word; isAuxiliary(w) || w == "right" || w == "eh" || w == "no" || w == "see" {
				return tokens[:i]
			}
			return tokens
		}
	}
	return tokens
}

// maxTag is the greatest number of words and marks of a question that follows an assertion.
const maxTag = 8

var asking = wordSet("who whom whose what which where when why how")

// asserts reports whether a sentence asserts anything.
func asserts(tokens []token) bool {
	if len(tokens) == 0 || slices.ContainsFunc(tokens[max(0, len(tokens)-3):],
		func(t token) bool { return t.word == "?" }) {
		return false
	}
	first := tokens[0].word
	if slices.ContainsFunc(hearsay, func(p string) bool { return hasRun(tokens, p) }) {
		return false
	}
	if conditions[first] && !isDirection(tokens) && !(pastConditions[first] && tellsPast(tokens)) ||
		slices.Contains([]string{"should", "were", "had"}, first) ||
		hasHedge(tokens) {
		return false
	}
	at := slices.IndexFunc(tokens, func(t token) bool { return reported[t.word] })
	if at >= 0 && vouched[tokens[at].word] && hasWord(tokens[max(0, at-3):at], wordSet("i")) {
		return true
	}
	if at > 0 && tokens[at-1].word == "to" && vouched[tokens[at].word] { // "sad to say"
		return true
	}
	return at < 0 || at > 0 && tokens[at-1].word == "not" && !hasRun(tokens, "they say")
}

// pastConditions are conditions that tell when something happened, before a verb in the past.
var pastConditions = wordSet("when once before until till")

// tellsPast reports whether the first part of a sentence has a verb in the past: "when the chapel burned, nobody died".
func tellsPast(tokens []token) bool {
	c := clause{tokens: tokens}
	if end := slices.IndexFunc(tokens, func(t token) bool { return t.mark }); end >= 0 {
		c.tokens = tokens[:end]
	}
	return slices.ContainsFunc(c.verbs(), func(v verb) bool { return v.was || v.tense == past })
}

// speech returns of a sentence that reports speech who speaks and when, or nil if it reports none. What is said is the
// speaker's claim and not the text's, but the speaker must be alive.
func (r *reader) speech(tokens []token) []token {
	at := slices.IndexFunc(tokens, func(t token) bool { return reported[t.word] })
	if at < 1 || at > 5 || hasWord(tokens, hedges) || conditions[tokens[0].word] || isQuestion(tokens) {
		return nil
	}
	if !slices.ContainsFunc(r.names.findMentions(tokens[:at]), func(m mention) bool {
		return r.world.Entities[m.entity].Class == Person
	}) {
		return nil
	}
	said := slices.Clone(tokens[:at+1])
	for _, t := range tokens[at+1:] {
		if recent[t.word] {
			said = append(said, t)
		}
	}
	return said
}

// permitted are subjects of those whom "may" permits something.
var permitted = wordSet("you anyone anybody everyone everybody all")

// maxPreempted is the greatest number of words between "before" and "could": "before the boy could".
const maxPreempted = 5

var preempting = wordSet("before")

// hasHedge reports whether a sentence has a hedge. "You may" permits, "I would swear" and "you would find" assert, and
// "before he could" tells when.
func hasHedge(tokens []token) bool {
	for i, t := range tokens {
		if t.word == "would" && i > 0 && i+1 < len(tokens) && (tokens[i-1].word == "i" && vouched[tokens[i+1].word] ||
			tokens[i-1].word == "you" && finding[tokens[i+1].word]) {
			continue
		}
		if t.word == "could" && hasWord(tokens[max(0, i-maxPreempted):i], preempting) {
			continue
		}
		if hedges[t.word] && !(t.word == "may" && i > 0 && (permitted[tokens[i-1].word] || t.upper)) {
			return true
		}
	}
	return false
}

// finding are verbs of those who find a thing as a text says: "you would find three".
var finding = wordSet("find see count get")

func isQuestion(tokens []token) bool {
	return slices.ContainsFunc(tokens[max(0, len(tokens)-3):], func(t token) bool { return t.word == "?" })
}

// isDirection reports whether a sentence tells the way in the form of a condition: "if you want the mill, go east".
func isDirection(tokens []token) bool {
	for i, t := range tokens {
		if t.word == "you" && i+1 < len(tokens) && wayWishes[tokens[i+1].word] {
			return true
		}
	}
	return false
}

var wayWishes = wordSet("want need seek look wish mean like go head are 're walk leave step turn ride climb descend " +
	"follow take cross pass")

// cutUnasserted cuts comparisons and conditions off a sentence.
func cutUnasserted(tokens []token) []token {
	for i := 1; i < len(tokens); i++ {
		if tokens[i-1].mark && conditions[tokens[i].word] {
			return tokens[:i-1]
		}
		if tokens[i].word == "as" && (hasRun(tokens[i+1:min(i+5, len(tokens))], "as if") || hasRun(tokens[i+1:min(i+5,
			len(tokens))], "as though")) {
			return cutUnasserted(withoutPart(tokens, i)) // "as cold as if"
		}
		for _, c := range comparisons {
			if runAt(tokens[i:min(i+2, len(tokens))], c) == 0 && !subjects[tokens[i-1].word] {
				return cutUnasserted(withoutPart(tokens, i))
			}
		}
	}
	return tokens
}

// withoutPart returns tokens without those from one on up to the next mark.
func withoutPart(tokens []token, from int) []token {
	for i := from; i < len(tokens); i++ {
		if t := tokens[i]; t.mark && t.word != "'" || t.word == "and" && hasWord(tokens[i:min(i+5, len(tokens))], beForms) {
			return slices.Concat(tokens[:from], tokens[i:])
		}
	}
	return tokens[:from]
}

var subjects = wordSet("i you he she we they")

// split returns the runs of words between marks. A clause without a subject gets that of the clauses before it.
func (s *statement) split(w *World) (list []clause) {
	from := 0
	cut := func(to int) {
		if to > from {
			c := clause{tokens: s.tokens[from:to]}
			for _, m := range s.named {
				if m.from >= from && m.to <= to {
					m.from, m.to = m.from-from, m.to-from
					c.named = append(c.named, m)
				}
			}
			c.order = isOrder(c)
			list = append(list, c.withSubject(w, list))
		}
		from = to + 1
	}
	for i, t := range s.tokens {
		if t.mark && t.word != "'" {
			cut(i)
		}
	}
	cut(len(s.tokens))
	return list
}

// withSubject returns a clause with the subject of the clauses before it, if it begins with a finite verb: "I took the
// bell, and have it here", "old Wat, wild as ever, just stepped in". A participle before "by" gets a form of to be,
// too: "the lord, felled by a blade".
func (c clause) withSubject(w *World, before []clause) clause {
	at := 0
	for at < len(c.tokens) && (conjunctions[c.tokens[at].word] || isAdverb(c.tokens[at].word)) {
		at++
	}
	if at == len(c.tokens) {
		return c
	}
	v, ok := c.verbAt(at)
	word, joined := c.tokens[at].word, c.tokens[0].word == "and"
	if !ok || !isAuxiliary(word) && v.tense != past && v.tense != present || beForms[word] && !joined {
		return c
	}
	for _, from := range slices.Backward(before) {
		m, found := from.firstPerson(w)
		if from.order || !found && len(from.verbs()) > 0 {
			return c
		}
		if !found {
			continue
		}
		if len(from.verbs()) > 0 && !isAuxiliary(word) && (isNoun(word) || v.tense == present && !joined) {
			return c
		}
		lead := slices.Clone(from.tokens[m.from:m.to])
		if v.tense == past && at+1 < len(c.tokens) && c.tokens[at+1].word == "by" {
			lead = append(lead, token{text: "was", word: "was"})
		}
		shift := len(lead) - at
		whole := clause{tokens: append(lead, c.tokens[at:]...), named: []mention{{to: m.to - m.from, entity: m.entity,
			pronoun: m.pronoun}}}
		for _, n := range c.named {
			n.from, n.to = n.from+shift, n.to+shift
			whole.named = append(whole.named, n)
		}
		return whole
	}
	return c
}

var conjunctions = wordSet("and but then so")

// firstPerson returns the person with whom a clause begins.
func (c *clause) firstPerson(w *World) (mention, bool) {
	if len(c.named) == 0 {
		return mention{}, false
	}
	m := c.named[0]
	leads := !slices.ContainsFunc(c.tokens[:m.from], func(t token) bool {
		return !determiners[t.word] && !articles[t.word] && !conjunctions[t.word] && !isAdverb(t.word)
	})
	return m, leads && w.Entities[m.entity].Class == Person && c.wordAt(m.to) != "'s" && !(m.pronoun &&
		(possessives[c.tokens[m.from].word] || objectForms[c.tokens[m.from].word]))
}

// isOrder reports whether a clause begins with a verb in its base form.
func isOrder(c clause) bool {
	at := 0
	for at < len(c.tokens) && orderLeads[c.tokens[at].word] {
		at++
	}
	if at == len(c.tokens) || len(c.named) > 0 && c.named[0].from == at {
		return false
	}
	w := c.tokens[at].word
	return !notVerbs[w] && verbOf(w) == w && (orders[w] || !isNoun(w) && meaning.Lemma(w, meaning.Adjective) == "")
}

var (
	orderLeads = wordSet("here please and then so just now do not never always come")
	orders     = wordSet("take keep have go ask look find bring tell mind hand give follow watch wait open close " +
		"try hold see walk leave climb buy get pay lend sell")
	notVerbs = wordSet("is are was were has had does did will shall can must")
)

// resolve returns the mentions in tokens, pronouns among them, and remembers the last ones.
func (r *reader) resolve(tokens []token) (all []mention) {
	found := r.names.findMentions(tokens)
	for i := 0; i < len(tokens); i++ {
		if len(found) > 0 && found[0].from == i {
			m := found[0]
			found = found[1:]
			if !r.isPossessor(tokens, m) || r.person == None {
				r.remember(m.entity)
			}
			all = append(all, m)
			i = m.to - 1
			continue
		}
		if e, end := r.relativeAt(tokens, i); e != None {
			all = append(all, mention{from: i, to: end, entity: e})
			i = end - 1
			continue
		}
		if r.thing != None && meansThing(tokens, i) {
			all = append(all, mention{from: i, to: i + 1, entity: r.thing, pronoun: true})
			continue
		}
		if e := r.pronoun(tokens[i].word); e != None || i > 0 && (tokens[i].word == "who" ||
			tokens[i].word == "that" && isCleft(tokens[:i])) && r.relative(tokens, i, all, found) != None {
			if e == None {
				e = r.relative(tokens, i, all, found)
			}
			all = append(all, mention{from: i, to: i + 1, entity: e, pronoun: true})
		}
	}
	return all
}

// meansThing reports whether a word stands for the thing that was named before: "the bell, which I carry", "the bell?
// He has that".
func meansThing(tokens []token, i int) bool {
	switch tokens[i].word {
	case "which":
		return i > 0 && tokens[i-1].word == ","
	case "that", "this":
		return i > 0 && verbOf(tokens[i-1].word) != "" && (i+1 == len(tokens) || tokens[i+1].mark)
	}
	return false
}

// relative returns the person that "who" means: the one whom a sentence brings forward ("it is I who lead"), the one
// who is named behind ("the one who leads is the smith"), or the last one ("the smith, who has it").
func (r *reader) relative(tokens []token, at int, before, behind []mention) int {
	cleft := isCleft(tokens[:at])
	if !cleft && !relatives[tokens[at-1].word] {
		return r.person
	}
	named := cleft || hasWord(tokens[max(0, at-4):at], beForms)
	for i := len(before) - 1; i >= 0 && named; i-- {
		if m := before[i]; r.world.Entities[m.entity].Class == Person && !(m.pronoun && possessives[tokens[m.from].word]) {
			return m.entity
		}
	}
	for _, m := range behind {
		if r.world.Entities[m.entity].Class == Person && hasWord(tokens[max(0, m.from-2):m.from], beForms) {
			return m.entity
		}
	}
	return r.person
}

// relatives are nouns before "who" that stand for a person named elsewhere: "I am the one who leads".
var relatives = wordSet("one man woman person fellow lady gentleman")

// isCleft reports whether the words before "who" bring somebody forward: "it is the smith".
func isCleft(before []token) bool {
	for i := max(0, len(before)-14); i+2 < len(before); i++ {
		if before[i].word == "it" && beForms[before[i+1].word] {
			return true
		}
	}
	return false
}

// isPossessor reports whether a mention stands before 's: "the butler's keys".
func (r *reader) isPossessor(tokens []token, m mention) bool {
	return m.to < len(tokens) && tokens[m.to].word == "'s"
}

func (r *reader) remember(e int) {
	switch r.world.Entities[e].Class {
	case Person:
		r.person = e
	case Thing:
		r.thing = e
	case Place:
		r.place = e
	case Group:
		r.group = e
	}
}

// pronoun returns the entity that a pronoun means, or None.
func (r *reader) pronoun(word string) int {
	switch word {
	case "i", "me", "my", "mine", "myself":
		return r.world.Speaker
	case "you", "your", "yours":
		return r.world.Listener
	case "he", "she", "him", "her", "his", "hers", "himself", "herself":
		return r.person
	case "it":
		return r.thing
	case "them", "em":
		return r.group
	}
	return None
}

// spoken returns a text without its quotations. A text that begins with words of its speaker, and tells that they are,
// keeps them: "Indeed," said the smith, "it is here."
func (r *reader) spoken(text string) string {
	told, quoted := splitQuotes(text)
	if r.world.Speaker == None || quoted == "" || !strings.ContainsAny(firstRune(text), openQuotes) {
		return told
	}
	tokens := tokensOf(told)
	named := r.names.findMentions(tokens)
	for i, t := range tokens {
		if !reported[t.word] && !meaning.IsA(verbOf(t.word), meaning.Verb, "communicate") {
			continue
		}
		at := skipDeterminers(tokens, i+1) // "said she", "said the smith", "she said"
		if at < len(tokens) && speaking[tokens[at].word] || i > 0 && speaking[tokens[i-1].word] ||
			slices.ContainsFunc(named, func(m mention) bool {
				return m.entity == r.world.Speaker && (m.from == at || m.from == i+1 || m.to == i)
			}) {
			return quoted + ". " + told
		}
	}
	return told
}

// speaking are the pronouns of somebody who speaks.
var speaking = wordSet("i he she")

const openQuotes = "“\"«"

func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// splitQuotes returns a text without its quotations, and those, without marks.
func splitQuotes(text string) (told, quoted string) {
	var parts [2]strings.Builder
	open, from := 0, 0
	for at, r := range text {
		if open == 0 && strings.ContainsRune(openQuotes, r) || open == 1 && strings.ContainsRune("”\"»", r) {
			parts[open].WriteString(text[from:at] + " ")
			open, from = 1-open, at+utf8.RuneLen(r)
		}
	}
	if open == 1 && strings.Count(text, `"`) == 1 { // a lone mark, such as inches
		return text, ""
	}
	if open == 0 {
		parts[0].WriteString(text[from:])
	}
	return parts[0].String(), strings.TrimRight(parts[1].String(), " ,")
}
