package meaning

import (
	"slices"
	"strings"
)

// Factors of the closeness of two sentences that cannot say the same, although their words are near, and bounds of
// their use. They were set on half of the development pairs of one author, and judged on the other half. A factor is
// below what paraphrases in other words reach: their closeness is 0.4 to 0.7.
const (
	ofOtherNumber = 0.25 // both have numbers, and different ones
	ofDenial      = 0.25 // one denies and the other does not, or another word
	ofOpposite    = 0.4  // one has the opposite of a word of the other
	ofOtherRoles  = 0.25 // the same words in other roles
	leastCommon   = 0.4  // share of words that must be equal
	leastOrdered  = 0.6  // the same for a comparison of roles
	matching      = 0.8  // nearness of words that count as the same in a comparison of roles
	mostBlocks    = 2    // a paraphrase moves one block of words, as in "at night she sings"
)

var (
	denials = wordSet("not no never nobody none nothing neither nor nowhere without cannot only except instead hardly " +
		"scarcely fail fails failed")
	beForms = wordSet("is are was were be been being")
	numbers = wordSet("half quarter twice thrice two three four five six seven eight nine ten eleven twelve thirteen " +
		"fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety " +
		"hundred thousand dozen second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
)

// converses are pairs of words that tell the same relation from its two ends, beside the opposites of WordNet: who pays
// and who receives.
var converses = func() map[string][]string {
	m := map[string][]string{}
	for pair := range strings.SplitSeq("pay receive, pay take, give take, send receive, grant receive, award receive, give receive, "+
		"give get, bring receive, supply buy, teach learn, inherit leave, inherit bequeath, "+
		"follow precede, before after, above below, over under, above under, over below, "+
		"uphill downhill, upstream downstream, ahead behind, employ work, hire work, own belong, "+
		"fear frighten, like please, contain in, mother child, father child, mother son, father son, "+
		"mother daughter, father daughter, parent son, parent daughter, aunt nephew, aunt niece, "+
		"uncle nephew, uncle niece, husband wife, grandmother grandson, grandfather grandson, "+
		"grandmother granddaughter, grandfather granddaughter, grandparent grandchild, "+
		"ancestor descendant, predecessor successor, master servant, master apprentice, master pupil, "+
		"teacher pupil, teacher student, landlord tenant, lord vassal, host guest, creditor debtor, "+
		"employer employee, beat lose, defeat lose, rule obey, north south, east west, "+
		"northern southern, eastern western, most few, many few", ", ") {
		one, other, _ := strings.Cut(pair, " ")
		m[one], m[other] = append(m[one], other), append(m[other], one)
	}
	return m
}()

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// frame holds the numbers of a sentence, its denials and its form.
type frame struct {
	numbers []string
	denials int
	denied  []string // the words behind the denials
	passive bool
	agent   int  // words before the last "by"
	fronted bool // a phrase before a comma
}

// denialReplacer makes "not" of the end of a contraction, which Words cuts off.
var denialReplacer = strings.NewReplacer("n't", " not", "n’t", " not")

func frameOf(text string) (f frame) {
	be, denies, count := false, false, 0
	for word := range Words(denialReplacer.Replace(text)) {
		if word == "by" {
			f.agent = count
		}
		if !functionWords[word] {
			count++
		}
		if denies && word == "but" { // "no one but her"
			f.denials--
			denies = false
		}
		if denies && !functionWords[word] && !denials[word] {
			f.denied, denies = append(f.denied, word), false
		}
		if numbers[word] {
			f.numbers = append(f.numbers, strings.Replace(word, "dozen", "twelve", 1))
		}
		if denials[word] {
			f.denials++
			denies = true
		}
		be = be || beForms[word]
	}
	f.passive = be && strings.Contains(text, " by ")
	f.fronted = strings.Contains(text, ",")
	slices.Sort(f.numbers)
	return f
}

// contrast returns the factor for two sentences, and marks converse words in turned roles as equal. Sentences with few
// words in common have none: they show no contrast.
func (s Sentence) contrast(o Sentence, equal, equalOther []bool, nearness [][]float64) float64 {
	common := min(shareOf(equal), shareOf(equalOther))
	if common < leastCommon {
		return 1
	}
	factor := 1.0
	if len(s.frame.numbers) > 0 && len(o.frame.numbers) > 0 && !slices.Equal(s.frame.numbers, o.frame.numbers) {
		factor = min(factor, ofOtherNumber)
	}
	if s.frame.denials%2 != o.frame.denials%2 || s.deniesOther(o) {
		factor = min(factor, ofDenial)
	}
	switch at, other, ok := s.findOpposites(o, equal, equalOther); {
	case ok && s.turnsAround(o, at, other): // the relation is the same
		equal[at], equalOther[other] = true, true
	case ok:
		factor = min(factor, ofOpposite)
	case common >= leastOrdered && s.turnsRoles(o, nearness):
		factor = min(factor, ofOtherRoles)
	}
	return factor
}

// turnsAround reports whether two words that both have stand around a relation in one sentence, and the other way round
// around the converse relation in the other: "the clans pay tribute to Orm", "Orm receives tribute from the clans".
func (s Sentence) turnsAround(o Sentence, at, other int) bool {
	first, last, ok := s.endsOf(o, at)
	firstOther, lastOther, okOther := o.endsOf(s, other)
	return ok && okOther && !sharesBase(first, firstOther) &&
		(sharesBase(first, lastOther) || sharesBase(last, firstOther))
}

// endsOf returns the two ends of a relation: the first and the last word that another sentence has too. A relation
// before both, as in "below the hall is the cellar", begins with the last one.
func (s Sentence) endsOf(o Sentence, relation int) (first, last token, ok bool) {
	from, to := -1, -1
	for i, t := range s.tokens {
		if i != relation && t.isThing && slices.ContainsFunc(o.tokens, func(u token) bool { return sharesBase(t, u) }) {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	if from < 0 || from == to {
		return first, last, false
	}
	first, last = s.tokens[from], s.tokens[to]
	if relation < from {
		first, last = last, first
	}
	return first, last, true
}

// deniesOther reports whether both deny as often, but other words, which both have.
func (s Sentence) deniesOther(o Sentence) bool {
	if len(s.frame.denied) != 1 || len(o.frame.denied) != 1 {
		return false
	}
	one, other := newToken(s.frame.denied[0]), newToken(o.frame.denied[0])
	has := func(list []token, t token) bool {
		return slices.ContainsFunc(list, func(u token) bool { return sharesBase(t, u) })
	}
	return !sharesBase(one, other) && has(o.tokens, one) && has(s.tokens, other)
}

func shareOf(equal []bool) float64 {
	n := 0
	for _, e := range equal {
		if e {
			n++
		}
	}
	return float64(n) / float64(len(equal))
}

// turnsRoles reports whether the words that both have stand in an order that no paraphrase makes. A paraphrase moves
// one block, or makes the sentence passive.
func (s Sentence) turnsRoles(o Sentence, nearness [][]float64) bool {
	most := mostBlocks
	switch {
	case s.frame.passive && !o.frame.passive:
		return o.turnsPassive(s)
	case o.frame.passive && !s.frame.passive:
		return s.turnsPassive(o)
	case s.frame.fronted != o.frame.fronted:
		most++
	}
	return blocksOf(matches(nearness, len(o.tokens), false)) > most &&
		blocksOf(matches(nearness, len(o.tokens), true)) > most
}

// turnsPassive reports whether the first word of a sentence that a passive one has is not its agent.
func (s Sentence) turnsPassive(passive Sentence) bool {
	if s.frame.fronted {
		return false
	}
	for _, t := range s.tokens {
		first := -1
		for j, u := range passive.tokens {
			if sharesBase(t, u) {
				first = j
			}
		}
		if first >= 0 {
			return first < passive.frame.agent
		}
	}
	return false
}

// matches returns, for each word of the first sentence that the other has, its place in the other: the first free one,
// or the last.
func matches(nearness [][]float64, size int, last bool) (at []int) {
	taken := make([]bool, size)
	for _, row := range nearness {
		best := -1
		for j, n := range row {
			if !taken[j] && n >= matching && (best < 0 || n > row[best] || last && n == row[best]) {
				best = j
			}
		}
		if best >= 0 {
			taken[best] = true
			at = append(at, best)
		}
	}
	return at
}

// blocksOf returns the number of blocks of words that keep their order and stay together.
func blocksOf(at []int) int {
	order := slices.Sorted(slices.Values(at))
	blocks := min(len(at), 1)
	for i := 1; i < len(at); i++ {
		before, _ := slices.BinarySearch(order, at[i-1])
		now, _ := slices.BinarySearch(order, at[i])
		if now != before+1 {
			blocks++
		}
	}
	return blocks
}

func sharesBase(a, b token) bool {
	return slices.ContainsFunc(a.bases, func(w string) bool { return slices.Contains(b.bases, w) })
}

// findOpposites returns the first words without an equal that are opposites or converses of each other.
func (s Sentence) findOpposites(o Sentence, equal, equalOther []bool) (at, other int, ok bool) {
	for i, t := range s.tokens {
		for j, u := range o.tokens {
			if !equal[i] && !equalOther[j] && (t.opposes(u) || u.opposes(t)) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

func (t token) opposes(u token) bool {
	return slices.ContainsFunc(t.opposites, func(w string) bool { return slices.Contains(u.bases, w) }) ||
		slices.ContainsFunc(t.bases, func(w string) bool {
			return slices.ContainsFunc(converses[w], func(c string) bool { return slices.Contains(u.bases, c) })
		})
}
