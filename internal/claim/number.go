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
	"seventy": 70, "eighty": 80, "ninety": 90, "pair": 2, "couple": 2}

var powers = map[string]int{"hundred": 100, "thousand": 1000, "million": 1_000_000}

// numberAt reads a number in words or digits, and returns the index after it.
func numberAt(list []token, i int) (n, next int, ok bool) {
	total, part := 0, 0
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
		case w == "and" && i > start && (part >= 100 || total > 0) && i+1 < len(list) && units[list[i+1].word] > 0:
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
		if w := list[next-1].word; (w == "pair" || w == "couple") && next < len(list) && list[next].word == "of" {
			next++
		}
		if next < len(list) && list[next].word == "of" && next+1 < len(list) && determiners[list[next+1].word] {
			next += 2
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
		if prepositions[w] || beForms[w] || haveForms[w] || w == "and" {
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
		if c.n == 0 && !hasRun(s.tokens, "there are") && !hasRun(s.tokens, "there is") && !hasWord(s.tokens[max(0,
			c.at-2):c.at], wordSet("has have boasts")) || slices.ContainsFunc(s.named,
			func(m mention) bool { return m.from <= c.at && c.at < m.to }) {
			continue
		}
		list = append(list, Claim{Predicate: Counts, Subject: None, Object: None, Word: c.noun, Number: c.n,
			Denied: c.at > 0 && s.tokens[c.at-1].word == "not"})
	}
	return append(list, readTotals(s, w)...)
}

// readTotals reads numbers that stand behind what they count, or count people without a noun: "the pillars number ten",
// "we are nine", "twenty of us", "the household is twelve strong".
func readTotals(s *statement, w *World) (list []Claim) {
	add := func(n int, noun string) {
		list = append(list, Claim{Predicate: Counts, Subject: None, Object: None, Word: noun, Number: n})
	}
	if hasWord(s.tokens, denials) && !hasRun(s.tokens, "no more") {
		return nil
	}
	for i := range s.tokens {
		n, next, ok := numberAt(s.tokens, i)
		if !ok || n < 2 || i == 0 {
			continue
		}
		after := s.tokens[next:min(next+2, len(s.tokens))]
		ends := len(after) == 0 || after[0].mark || hasRun(after, "in number") || hasRun(after, "in all") ||
			hasRun(after, "in the")
		verb := s.tokens[i-1].word
		switch noun := s.nounBefore(i - 1); {
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

// judgeNumber compares a number with the numbers that the canon tells of the same things: of entities in the text, of the
// place, and of facts.
func judgeNumber(c Claim, w *World) (Truth, string) {
	said := tokensOf(c.Text)
	about := append(mentioned(c, w), factsAbout(said, w)...)
	if w.Place != None {
		about = append(about, w.Place)
	}
	source := ""
	for _, e := range about {
		if n, ok := deadIn(w.Entities[e]); ok && (isAny(c.Word, "person", "people") &&
			hasWord(said, fatal) || c.Word == "life") {
			if n == c.Number != c.Denied {
				return True, ""
			}
			source = fmt.Sprintf("%s: %d dead", w.name(e), n)
		}
		for _, known := range countsOf(w.Entities[e]) {
			if !sameNoun(known.noun, c.Word) && !(known.noun == "member" && isAny(c.Word, "person", "people", "soul") &&
				len(shared(contentOf(said), contentOf(tokensOf(w.name(e))))) > 0) {
				continue
			}
			if known.n == c.Number != c.Denied {
				return True, ""
			}
			source = fmt.Sprintf("%s: %d %s", w.name(e), known.n, known.noun)
		}
	}
	switch {
	case source != "":
		return False, source
	case notCounted(c.Word) || c.Number < 2 || w.Speaker == None && isAny(c.Word, "animal"):
		return True, ""
	}
	return Unsure, ""
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
	if w.Speaker != None {
		list = append(list, w.Speaker)
	}
	return list
}
