package claim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/meaning"
)

var units = map[string]int{"no": 0, "zero": 0, "one": 1, "single": 1, "two": 2, "three": 3, "four": 4, "five": 5,
	"six": 6, "seven": 7,
	"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "thirteen": 13, "fourteen": 14,
	"fifteen": 15, "sixteen": 16, "seventeen": 17,
	"eighteen": 18, "nineteen": 19, "twenty": 20, "score": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
	"seventy": 70, "eighty": 80, "ninety": 90, "pair": 2, "couple": 2, "both": 2, "twin": 2, "brace": 2, "lone": 1,
	"sole":     1,
	"solitary": 1, "trio": 3, "quartet": 4, "quintet": 5, "sextet": 6, "septet": 7, "octet": 8}

// collectives are numbers after which "of" stands before what they count.
var collectives = wordSet("pair couple brace dozen score trio quartet quintet sextet septet octet hundred " +
	"thousand million")

// factors multiply the number that follows.
var factors = map[string]int{"twice": 2, "thrice": 3}

var powers = map[string]int{"hundred": 100, "thousand": 1000, "million": 1_000_000}

// numberAt reads a number in words or digits, and returns the index after it.
func numberAt(list []token, i int) (n, next int, ok bool) {
	total, part := 0, 0
	if f := factors[list[i].word]; f > 0 && i+1 < len(list) {
		n, next, ok = numberAt(list, i+1)
		return f * n, next, ok
	}
	start := i
	if hasRun(list[i:min(i+3, len(list))], "half a dozen") {
		return 6, i + 3, true
	}
	for ; i < len(list); i++ {
		w := list[i].word
		value, unit := units[w]
		power := powers[w]
		digits, err := strconv.Atoi(w)
		tens, ones, compound := strings.Cut(w, "-")
		switch {
		case compound && units[tens] >= 20 && units[ones] > 0:
			part += units[tens] + units[ones]
		case err == nil:
			part += digits
		case unit && (i == start || part%10 == 0 && part < 100 && value < 10 || part%100 == 0):
			part += value
		case power > 0 && i > start:
			part = max(part, 1) * power
			if power >= 1000 {
				total, part = total+part, 0
			}
		case power > 0 && i == start && i > 0 && articles[list[i-1].word]:
			part = power
		case i > start && i+1 < len(list) && (w == "times" || w == "score" || w == "dozen"):
			if w == "times" {
				if factor, after, ok := numberAt(list, i+1); ok {
					return (total + part) * factor, after, true
				}
				return total + part, i, true
			}
			part *= value
		case w == "and" && i > start && (part >= 100 || total > 0) && i+1 < len(list) && (units[list[i+1].word] > 0 ||
			strings.Contains(list[i+1].word, "-")):
		default:
			return total + part, i, i > start
		}
	}
	return total + part, i, i > start
}

// A count is a number of things: four "tower".
type count struct {
	n    int
	noun string
	at   int // the token of the number
	end  int // the token after the noun
}

// countsIn returns the numbers of things in a list of tokens: 4 towers in "the gate of four towers".
func countsIn(list []token) (out []count) {
	for i := 0; i < len(list); {
		n, next, ok := numberAt(list, i)
		if !ok {
			i++
			continue
		}
		if next+1 < len(list) && list[next].word == "of" {
			part := determiners[list[next+1].word] || list[next+1].word == "those" || list[next+1].word == "these"
			if collectives[list[next-1].word] || part {
				next++
			}
			if part {
				next++ // "half a dozen of the huts"
			}
		}
		if noun, end, ok := nounAfter(list, next, n != 1); ok {
			out = append(out, count{n, noun, i, end})
		}
		i = max(next, i+1)
	}
	return out
}

// nounAfter returns the noun of a phrase that begins at a token, at most three words on, with the longest run of nouns.
func nounAfter(list []token, from int, many bool) (noun string, end int, ok bool) {
	for i := from; i < len(list) && i < from+4 && !list[i].mark; i++ {
		w := list[i].word
		if prepositions[w] || beForms[w] || haveForms[w] || articles[w] || w == "and" {
			break
		}
		base := nounOf(w)
		plural := base != w
		if isNoun(w) && !isAdverb(w) && (many && (plural || plurals[w]) || !many && (i+1 == len(list) ||
			list[i+1].mark || !isNoun(list[i+1].word) || prepositions[list[i+1].word] || verbOf(list[i+1].word) != "")) {
			return base, i + 1, true
		}
	}
	return "", 0, false
}

// plurals are nouns whose plural is their singular.
var plurals = wordSet("people folk sheep fish deer cattle")

// notCounted are nouns whose numbers tell nothing of the canon: times, parts of a body, measures.
func notCounted(noun string) bool {
	return isAny(noun, "time period", "time unit", "body part", "linear unit", "time", "unit of measurement") ||
		slices.Contains([]string{"time", "word", "thing", "step", "year", "pace", "way", "side", "minute"}, noun)
}

// readNumber reads numbers of things.
func readNumber(s *statement, w *World) (list []Claim) {
	for _, c := range countsIn(s.tokens) {
		if isSum(s.tokens) {
			break
		}
		if c.n == 0 && !hasRun(s.tokens, "there are") && !hasRun(s.tokens, "there is") && !hasWord(s.tokens[max(0,
			c.at-2):c.at], wordSet("has have boasts")) || slices.ContainsFunc(s.named,
			func(m mention) bool { return m.from <= c.at && c.at < m.to }) {
			continue
		}
		claim := Claim{Predicate: Counts, Subject: None, Object: None, Word: c.noun, Number: c.n,
			Denied: c.at > 0 && s.tokens[c.at-1].word == "not", Bound: boundAt(s.tokens, c.at),
			Asked: s.asksFor(c)}
		if claim.Bound != 0 && hasWord(s.tokens[max(0, c.at-3):c.at], wordSet("no not")) { // "no fewer than four"
			claim.Denied = true
		}
		if s.tokens[c.at].word == "single" && hasWord(s.tokens[max(0, c.at-3):c.at], denials) { // "not a single grave"
			claim.Number = 0
		}
		list = append(list, claim)
	}
	return append(list, readTotals(s, w)...)
}

// asksFor reports whether a number of goods is asked for or offered: by an order, "bring me two coins", by a wish of
// the speaker, or as a price, "two coins, or a better question".
func (s *statement) asksFor(n count) bool {
	if !isGoods(n.noun) || n.at > 0 && (determiners[s.tokens[n.at-1].word] || s.tokens[n.at-1].word == "all") {
		return false
	}
	from := lastMark(s.tokens[:n.at])
	if n.at == 0 {
		return isPrice(s.tokens[n.end:])
	}
	c := clause{tokens: s.tokens[from:n.end]}
	return n.at > from && (isOrder(c) || slices.ContainsFunc(c.verbs(), func(v verb) bool {
		return v.first > 0 && (c.tokens[v.first-1].word == "i" && meaning.IsA(v.lemma, meaning.Verb, "desire") ||
			c.tokens[v.first-1].word == "that" && v.lemma == "be" && isMoney(n.noun))
	}))
}

// isPrice reports whether the words behind a number of goods leave it a price: they tell neither where the goods are
// nor more about them, and say only what the speaker and the listener do.
func isPrice(rest []token) bool {
	c := clause{tokens: rest}
	return !hasWord(rest, placing) && !hasWord(rest, describing) && !slices.ContainsFunc(c.verbs(), func(v verb) bool {
		before := rest[max(0, v.first-2):v.first]
		noun := v.tense == base && (hasWord(before, articles) || hasWord(before, wordSet("to"))) // "a better question"
		return !noun && (v.first == 0 || !dealers[rest[v.first-1].word])
	})
}

var (
	dealers    = wordSet("i you we")
	describing = wordSet("they them all each both which that who whose every")
)

// isGoods reports whether a noun stands for things that change hands.
func isGoods(noun string) bool {
	return isMoney(noun) || (isThing(noun) || isAny(noun, "food", "animal", "vegetable", "plant part")) && !isAny(noun,
		"structure", "room", "person")
}

func isMoney(noun string) bool { return isAny(noun, "money", "currency") }

// isSum reports whether a sentence tells a number by a sum: "twenty and another twenty", "one fewer than a score".
func isSum(list []token) bool {
	at := max(runAt(list, "fewer than"), runAt(list, "less than"))
	return hasWord(list, wordSet("another minus plus")) || hasWord(list, wordSet("less")) && at < 0 ||
		hasRun(list, "that makes") || hasRun(list, "which makes") || at > 0 && isNoun(list[at-1].word) &&
		units[list[at-1].word] == 0 && !denials[list[at-1].word]
}

// boundAt returns 1 for a number that is less than the one meant, "more than ten", and -1 for one that is more.
func boundAt(list []token, at int) int {
	before := list[max(0, at-2):at]
	switch {
	case hasRun(before, "more than"), at > 0 && list[at-1].word == "over":
		return 1
	case hasRun(before, "fewer than"), hasRun(before, "less than"), at > 0 && list[at-1].word == "under":
		return -1
	}
	return 0
}

// agrees reports whether a number that the canon tells is the one that a claim tells.
func (c Claim) agrees(known int) bool {
	switch c.Bound {
	case 1:
		return (known > c.Number) != c.Denied
	case -1:
		return (known < c.Number) != c.Denied
	}
	return (known == c.Number) != c.Denied
}

// readAges reads how old somebody is: "the boy is fifteen".
func readAges(s *statement, w *World) (list []Claim) {
	for _, m := range s.named {
		if m.to+1 >= len(s.tokens) || w.Entities[m.entity].Class != Person || !beForms[s.tokens[m.to].word] {
			continue
		}
		n, next, ok := numberAt(s.tokens, m.to+1)
		if ok && n > 1 && (next == len(s.tokens) || s.tokens[next].mark || s.tokens[next].word == "and" ||
			s.tokens[next].word == "years") {
			list = append(list, Claim{Predicate: Counts, Subject: m.entity, Object: None, Word: "year", Number: n})
		}
	}
	return list
}

// judgeAge compares an age with the one that a card tells: "a boy of ten", "ten years old".
func judgeAge(c Claim, w *World) (Truth, string) {
	told := tokensOf(w.Entities[c.Subject].Text)
	for i := range told {
		n, next, ok := numberAt(told, i)
		if !ok || !(i > 1 && (told[i-1].word == "of" && isAny(nounOf(told[i-2].word), "person") ||
			told[i-1].word == "aged") || hasRun(told[next:min(next+2, len(told))], "years old")) {
			continue
		}
		if n == c.Number {
			return True, ""
		}
		return False, fmt.Sprintf("%s is %d years old", w.name(c.Subject), n)
	}
	return Unsure, ""
}

// readTotals reads numbers that stand behind what they count, or count people without a noun: "the pillars number ten",
// "we are nine", "twenty of us", "the household is twelve strong".
func readTotals(s *statement, w *World) (list []Claim) {
	add := func(n int, noun string) {
		list = append(list, Claim{Predicate: Counts, Subject: None, Object: None, Word: noun, Number: n})
	}
	if isSum(s.tokens) {
		return nil
	}
	for i := range s.tokens {
		n, next, ok := numberAt(s.tokens, i)
		if !ok || n < 2 || i == 0 || hasWord(s.tokens[:i], denials) {
			continue
		}
		after := s.tokens[next:min(next+2, len(s.tokens))]
		ends := len(after) == 0 || after[0].mark || hasRun(after, "in number") || hasRun(after, "in all") ||
			hasRun(after, "in the")
		verb := s.tokens[i-1].word
		of := s.tokens[next:min(next+3, len(s.tokens))]
		switch noun := s.nounBefore(i - 1); {
		case len(of) == 3 && hasRun(of, "of us") && isNoun(of[2].word) && nounOf(of[2].word) != of[2].word:
			add(n, nounOf(of[2].word)) // "six of us servants"
		case s.tokens[0].word == "of" && s.pluralBefore(i) != "" && !prepositions[verb]:
			add(n, s.pluralBefore(i)) // "of the huts nine still stand"
		case hasRun(after, "of them") && s.pluralBefore(i) != "":
			add(n, s.pluralBefore(i))
		case isGroupOf(s, w, i) && ends:
			add(n, "member") // "a guard of one hundred"
		case hasRun(after, "of us") || hasRun(after, "of them") || len(after) > 0 && after[0].word == "strong":
			add(n, "member")
		case ends && beForms[verb] && i > 1 && (s.tokens[i-2].word == "we" || s.tokens[i-2].word == "they"):
			add(n, "member")
		case ends && noun != "" && (beForms[verb] || verbOf(verb) == "number"):
			add(n, noun)
		}
	}
	return list
}

// isGroupOf reports whether a group and "of" stand before a token.
func isGroupOf(s *statement, w *World, i int) bool {
	return i > 1 && s.tokens[i-1].word == "of" && slices.ContainsFunc(s.named, func(m mention) bool {
		return m.to == i-1 && w.Entities[m.entity].Class == Group
	})
}

// pluralBefore returns the last plural noun before a token, in base form, or "".
func (s *statement) pluralBefore(i int) string {
	for i--; i >= 0; i-- {
		if w := s.tokens[i].word; isNoun(w) && nounOf(w) != w && !meaning.IsFunctionWord(w) && !beForms[w] {
			return nounOf(w)
		}
	}
	return ""
}

// nounBefore returns the plural noun that stands directly before a token, in base form, or "".
func (s *statement) nounBefore(i int) string {
	if i < 1 {
		return ""
	}
	w := s.tokens[i-1].word
	if base := nounOf(w); base != w && isNoun(w) {
		return base
	}
	return ""
}

// judgeNumber compares a number with the numbers that the canon tells of the same things: of entities in the text, of
// the place, and of facts.
func judgeNumber(c Claim, w *World) (Truth, string) {
	if c.Subject != None {
		return judgeAge(c, w)
	}
	said := tokensOf(c.Text)
	if c.Number == 1 && len(strings.Fields(c.Text)) == 2 {
		return True, "" // "One pen." tells of a pen, and not of how many there are
	}
	about := append(mentioned(c, w), factsAbout(said, w)...)
	if w.Place != None {
		about = append(about, w.Place)
	}
	for i, e := range w.Entities { // the stone huts, or a group of families
		if e.Class == Group && !isAny(c.Word, "person") || e.Class == Group && hasWord(said, wordSet("we us our")) ||
			e.Class == Place && slices.Contains(contentOf(tokensOf(e.Name)), c.Word) {
			about = append(about, i)
		}
	}
	source := ""
	for _, e := range about {
		if n, ok := deadIn(w.Entities[e]); ok && (isAny(c.Word, "person", "people") &&
			hasWord(said, fatal) || c.Word == "life") {
			if c.agrees(n) {
				return True, ""
			}
			source = fmt.Sprintf("%s: %d dead", w.name(e), n)
		}
		for _, known := range countsOf(w.Entities[e]) {
			if !sameNoun(known.noun, c.Word) && !(known.noun == "member" && isAny(c.Word, "person", "people", "soul") &&
				c.Number != 1 && len(shared(contentOf(said), contentOf(tokensOf(w.name(e))))) > 0) {
				continue
			}
			if c.agrees(known.n) {
				return True, ""
			}
			source = fmt.Sprintf("%s: %d %s", w.name(e), known.n, known.noun)
		}
	}
	switch {
	case source != "":
		return False, source
	case c.isKnownNear(w):
		return True, ""
	case c.Asked || notCounted(c.Word) || c.Number < 2 || w.Speaker == None && isAny(c.Word, "animal"):
		return True, ""
	}
	return Unsure, ""
}

// isKnownNear reports whether a place nearby, or a group that the speaker leads, has as many.
func (c Claim) isKnownNear(w *World) bool {
	return slices.ContainsFunc(w.Entities, func(e Entity) bool {
		leads := e.Class == Group && w.Speaker != None && isNamed(w.Entities[w.Speaker], leaderOf(e)) &&
			isAny(c.Word, "person")
		return (leads || e.Class == Place && e.Near) && slices.ContainsFunc(countsOf(e), func(known count) bool {
			return (sameNoun(known.noun, c.Word) || leads && known.noun == "member") && c.agrees(known.n)
		})
	})
}

var fatal = wordSet("dead death died die killed perished burned burnt drowned slain murdered fell")

// deadIn returns the number of those who died in an event, as far as its fields or text tell.
func deadIn(e Entity) (int, bool) {
	if n, ok := e.Fields["dead"].(float64); ok {
		return int(n), true
	}
	list := tokensOf(e.Text)
	for i, t := range list {
		if fatal[t.word] && hasWord(list[max(0, i-3):i], wordSet("nobody none")) {
			return 0, true
		}
	}
	return 0, false
}

// sameNoun reports whether two nouns count the same things: equal ones, or synonyms.
func sameNoun(a, b string) bool {
	return a == b || slices.Contains(meaning.Synonyms(a, meaning.Noun), b) ||
		isAny(a, "person") && isAny(b, "person") && (b == "man" || b == "people" || b == "soul" || a == "man" ||
			a == "people")
}

// countsOf returns the numbers of things that an entity's fields and text tell.
func countsOf(e Entity) (list []count) {
	for _, name := range sortedKeys(e.Fields) {
		if n, ok := e.Fields[name].(float64); ok && n == float64(int(n)) {
			list = append(list, count{n: int(n), noun: nounOf(strings.ToLower(lastWord(name)))})
		}
	}
	return append(list, countsIn(tokensOf(e.Text))...)
}

func lastWord(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '_' || r == '-' })
	if len(words) == 0 {
		return s
	}
	return words[len(words)-1]
}

func sortedKeys(m map[string]any) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// mentioned returns the entities that the sentence of a claim names.
func mentioned(c Claim, w *World) (list []int) {
	for _, m := range newNames(w).findMentions(tokensOf(c.Text)) {
		if !slices.Contains(list, m.entity) {
			list = append(list, m.entity)
		}
	}
	if c.Predicate == Happened && c.Object != None && !slices.Contains(list, c.Object) {
		list = append(list, c.Object)
	}
	if w.Speaker != None {
		list = append(list, w.Speaker)
	}
	return list
}
