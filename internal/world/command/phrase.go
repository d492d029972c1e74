package command

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// Naming is one way to read a noun phrase: words that may be a name, and which of the things of that name is meant.
type Naming struct {
	Name  string
	Which int  // 1 for the first thing of the name, 2 for the second one, -1 for the last one; 0 if the phrase does not tell
	All   bool // all things of the name are meant
}

// Namings returns the ways to read a noun phrase, the closest to its words first: the words as typed; the name behind
// "called"; the words without the owner and without words that take a part ("Tamsin's boots", "one of the boats");
// without an ordinal ("the second clerk") or a quantity ("both clerks"); without forms of address ("Mr Brack"); and
// without the words behind the noun ("the man with the turbot"). Each way goes on from the one before.
func Namings(phrase string) []Naming {
	words := strings.Fields(phrase)
	for len(words) > 0 && isBefore(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 && slices.Contains(courtesies, bare(words[len(words)-1])) {
		words = words[:len(words)-1]
	}
	var out []Naming
	add := func(n Naming) {
		if n.Name != "" && !slices.ContainsFunc(out, func(o Naming) bool { return o.Name == n.Name }) {
			out = append(out, n)
		}
	}
	n := Naming{Name: strings.Join(words, " ")}
	add(n)
	for len(words) > 1 && lookUp(lexicon(), bare(words[0])).class&prepositionClass != 0 {
		words = words[1:]
	}
	if at := indexOf(words, calledWords); at > 0 && at+1 < len(words) {
		add(Naming{Name: strings.Join(words[at+1:], " ")})
		words = words[:at]
	}
	words = cutOwner(words)
	words, n.Which, n.All = cutOrder(words)
	n.Name = strings.Join(words, " ")
	add(n)
	for len(words) > 1 && slices.Contains(addressWords, bare(words[0])) {
		words = words[1:]
	}
	n.Name = strings.Join(words, " ")
	add(n)
	if at := indexOf(words, behindWords); at > 0 {
		n.Name = strings.Join(words[:at], " ")
		add(n)
		if at+1 < len(words) && bare(words[at]) == "of" && isMeasure(bare(words[at-1])) {
			n.Name = strings.Join(words[at+1:], " ")
			add(n)
		}
	}
	return out
}

// isMeasure reports whether a noun measures others: a pot of eel, a bunch of samphire.
func isMeasure(noun string) bool {
	return isKind(noun, "container", "containerful", "quantity", "collection")
}

// cutOwner returns a name without its owner, without the words that take a part of it, and without words at its end
// that name nothing: Tamsin's boots, one of the boats, the nets back. Of an owner alone, as in "Jory's", it returns
// the owner.
func cutOwner(words []string) []string {
	if n := len(words); n > 0 {
		words = slices.Clone(words)
		words[n-1] = strings.TrimSuffix(strings.TrimSuffix(words[n-1], "'s"), "’s")
	}
	for n := len(words) - 2; n >= 0; n-- {
		if w := strings.ToLower(words[n]); strings.HasSuffix(w, "'s") || strings.HasSuffix(w, "’s") ||
			w == "of" && (n == 0 || slices.Contains(partWords, strings.ToLower(words[n-1]))) {
			words = words[n+1:]
			break
		}
	}
	for len(words) > 1 && slices.Contains(endWords, strings.ToLower(words[len(words)-1])) {
		words = words[:len(words)-1]
	}
	for len(words) > 1 && isBefore(words[0]) {
		words = words[1:]
	}
	return words
}

// cutOrder returns a name without the words that tell which or how many of several things are meant.
func cutOrder(words []string) (rest []string, which int, all bool) {
	for len(words) > 1 {
		w := bare(words[0])
		at := slices.Index(ordinals, w)
		switch {
		case at >= 0:
			which = at/2 + 1
		case w == "last":
			which = -1
		case slices.Contains(allWords, w), slices.Contains(numberWords, w):
			all = true
		case !slices.Contains(otherWords, w) && !isBefore(words[0]):
			return words, which, all
		}
		words = words[1:]
	}
	return words, which, all
}

// isBefore reports whether a word stands in front of names and is no part of them.
func isBefore(w string) bool { return lookUp(lexicon(), bare(w)).class&articleClass != 0 }

func bare(w string) string { return strings.Trim(foldWord(w), ".,;:!?\"“”") }

func indexOf(words, among []string) int {
	return slices.IndexFunc(words, func(w string) bool { return slices.Contains(among, bare(w)) })
}

var (
	partWords = strings.Fields("one some any each few couple piece bit part half rest sip swig drop mouthful bite crumb both all most many first second third")
	endWords  = strings.Fields(
		"please pls plz back here there too again now yet still over away off together really hard very " +
			"instead either also first lol haha ha",
	)
	allWords   = strings.Fields("all both every several many")
	otherWords = strings.Fields("other another next nearest same one single")
	ordinals   = strings.Fields(
		"first 1st second 2nd third 3rd fourth 4th fifth 5th sixth 6th seventh 7th eighth 8th ninth 9th " +
			"tenth 10th eleventh 11th twelfth 12th",
	)
	courtesies   = strings.Fields("please thanks")
	calledWords  = strings.Fields("called named")
	addressWords = strings.Fields(
		"mr mrs miss ms mister missus mistress dr doctor sir madam madame monsieur mademoiselle signor signora lord lady dame master " +
			"captain sergeant professor sister brother father mother aunt uncle granny old young good dear poor",
	)
	behindWords = strings.Fields("who that which whose with without in on at by from of behind under near beside before " +
		"over above below through across around beneath next like together as so because while when until till down up " +
		"into onto toward towards along against than labelled labeled marked inscribed entitled titled")
)

// HeadOf returns the base form of the noun of a name: "boy" of "the ferryman's boy", "writer" of "letter-writer",
// "man" of "man with the turbot". It is the last word if WordNet has none of them.
func HeadOf(name string) string {
	all := Namings(name)
	if len(all) == 0 {
		return ""
	}
	words := BareWords(all[len(all)-1].Name)
	if len(words) == 0 {
		return ""
	}
	return nounOf(words[len(words)-1])
}

// nounOf returns the base form of a noun, or of the last part of a word with hyphens that is none.
func nounOf(word string) string {
	if l := meaning.Lemma(word, meaning.Noun); l != "" {
		return l
	}
	if _, tail, ok := strings.Cut(word, "-"); ok {
		return nounOf(tail)
	}
	if stem, ok := strings.CutSuffix(word, "men"); ok { // ferrywomen, watermen
		return stem + "man"
	}
	return word
}

// IsQuality reports whether a word tells the quality of a noun behind it: old, sleeping, tired.
func IsQuality(word string) bool {
	return meaning.Lemma(word, meaning.Adjective) != "" ||
		(strings.HasSuffix(word, "ing") || strings.HasSuffix(word, "ed")) && meaning.Lemma(word, meaning.Verb) != ""
}

// stuffs are the kinds of the materials that things are made of.
var stuffs = []string{"material", "substance", "metal", "precious metal", "rock"}

// IsLooseQuality reports whether a word tells a quality that may be anybody's opinion: little, new, lovely. A colour, a
// material and a place in an order are none, since they tell things apart.
func IsLooseQuality(word string) bool {
	material := strings.TrimSuffix(word, "en") // wooden, golden
	return IsQuality(word) && !slices.Contains(ordinals, word) && word != "last" &&
		!isKind(word, "color") && !isKind(word, stuffs...) && !isKind(material, stuffs...)
}

// HasNumber reports whether a name has a number, as Room Nine does.
func HasNumber(name string) bool {
	return slices.ContainsFunc(lex(name), func(w word) bool { return w.is(numberClass) })
}

// Pronoun is a pronoun in its base form.
type Pronoun string

// The pronouns that stand for a man, a woman, a thing and several of either.
const (
	NoPronoun Pronoun = ""
	He        Pronoun = "he"
	She       Pronoun = "she"
	It        Pronoun = "it"
	They      Pronoun = "they"
)

// PronounOf returns the pronoun that a name is, or NoPronoun.
func PronounOf(name string) Pronoun {
	switch bare(strings.TrimSpace(name)) {
	case "he", "him":
		return He
	case "she", "her":
		return She
	case "it", "this", "that", "one", "this one", "that one":
		return It
	case "they", "them", "these", "those", "ones":
		return They
	}
	return NoPronoun
}

// joinNames joins the words of names into one word each, the longest name first. Names of one word, and of words that
// the grammar takes for nothing else than names, need no joining.
func joinNames(words []word, names []string) []word {
	var all [][]word
	for _, name := range names {
		list := lex(name)
		for len(list) > 0 && list[0].is(articleClass) {
			list = list[1:]
		}
		if len(list) > 1 && slices.ContainsFunc(list, func(w word) bool {
			return w.known.verb != nil || w.known.toward != "" || w.is(grammarClasses)
		}) {
			all = append(all, list)
		}
	}
	slices.SortStableFunc(all, func(a, b []word) int { return len(b) - len(a) })
	for _, name := range all {
		for i := 0; i+len(name) <= len(words); i++ {
			part := words[i : i+len(name)]
			if !slices.EqualFunc(part, name, func(a, b word) bool { return a.kind == b.kind && a.fold == b.fold }) {
				continue
			}
			one := word{plainWord, joinAll(part), joinFolds(part), part[0].start, part[len(part)-1].end, unknown}
			words = slices.Replace(words, i, i+len(name), one)
		}
	}
	return words
}

func joinFolds(words []word) string {
	folds := make([]string, len(words))
	for i, w := range words {
		folds[i] = w.fold
	}
	return strings.Join(folds, " ")
}

// MeansAll reports whether a name means all who are there: everyone, all of them, the others.
func MeansAll(name string) bool { return slices.Contains(allNames, strings.Join(BareWords(name), " ")) }

// MeansCrowd reports whether a noun means all who are there, unless it means something else: the crowd, the people.
func MeansCrowd(name string) bool {
	return slices.Contains(crowdNames, strings.Join(BareWords(name), " "))
}

// MeansSelf reports whether a name means the one who types it: me, myself, yourself.
func MeansSelf(name string) bool {
	return slices.Contains(selfNames, strings.Join(BareWords(name), " "))
}

var (
	allNames = []string{"everyone", "everybody", "all", "all of them", "all of you", "them all", "both of them", "others",
		"everyone else", "everybody else", "everyone here", "everybody here", "people here", "anyone", "anybody", "someone",
		"somebody", "anyone here", "anybody here", "someone here", "somebody here", "us", "you all", "anyone else", "anybody else",
		"someone else", "somebody else", "them both", "whole room"}
	crowdNames = []string{"people", "folk", "folks", "crowd", "company", "bystanders", "onlookers", "patrons", "customers"}
	selfNames  = []string{"me", "myself", "self", "yourself", "ourselves", "i", "my self"}
)
