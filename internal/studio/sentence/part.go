package sentence

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// regions are the nouns of regions of a landmark, with the relation of a thing that is there; the second relation is
// that of things in all such regions.
var regions = map[string][2]string{
	"corner": {"in the corner of", "in the corner of"}, "end": {"at the end of", "at each end of"},
	"head": {"at the end of", ""}, "middle": {inMiddle, inMiddle}, "center": {inMiddle, inMiddle},
	"centre": {inMiddle, inMiddle}, "heart": {inMiddle, ""}, "midst": {inMiddle, ""},
	"side":  {"beside", "on both sides of"},
	"flank": {"beside", "on both sides of"}, "edge": {"beside", "around"}, "outskirts": {"beside", ""},
	"perimeter": {"around", ""}, "back": {"at the back of", ""}, "rear": {"at the back of", ""},
	"front": {"at the front of", ""}, "foot": {"at the foot of", ""}, "bottom": {"under", ""}, "top": {"on", ""},
	"base": {"at the foot of", ""}, "length": {"along", ""}, "summit": {"on", ""}, "crest": {"on", ""},
}

// onSide is the relation of "on the side of": things of walls are on their landmark, others beside it.
const onSide = "on the side of"

// qualifiers stand between a preposition and the noun of a region.
var qualifiers = append([]string{"the", "a", "an", "its", "their", "each", "every",
	"either", "both", "one", "all", "two",
	"four", "several", "different", "various", "long", "short", "dark", "lower", "upper", "farthest", "furthest", "outer"},
	quantifiers...)

// matchRegion returns the relation of "in the far corner of", "on each side" and their like, and the number of its
// words.
func (r *reader) matchRegion(at int) (s sense, n int) {
	word := r.wordAt(at)
	if !slices.Contains([]string{"in", "on", "at", "to", "along",
		"around", "near", "by", "down", "from", "against"}, word) {
		return sense{}, 0
	}
	if n := r.otherRegion(at); n > 0 {
		return sense{class: isWithin, name: r.region.name}, n
	}
	next, all := at+1, false
	for ; next < at+5 && slices.Contains(qualifiers, r.wordAt(next)); next++ {
		if _, ok := regions[r.wordAt(next)]; ok && (r.wordAt(next+1) == "of" ||
			!slices.Contains(qualifiers, r.wordAt(next+1)) &&
				!r.isRegion(r.wordAt(next+1))) {
			break
		}
		all = all || slices.Contains([]string{"each", "every", "either", "both", "all", "four"}, r.wordAt(next))
	}
	if next == at+1 || !r.isRegion(r.wordAt(next)) {
		return sense{}, 0
	}
	noun, plural := r.wordAt(next), false
	if _, ok := regions[noun]; !ok {
		noun, plural = strings.TrimSuffix(noun, "s"), true
	}
	next++
	pair := regions[noun]
	name := pair[0]
	switch {
	case word == "in" && noun == "side":
		name = "in"
	case word == "on" && noun == "side" && !plural && r.wordAt(next-2) == "the" && r.wordAt(next) == "of":
		name = onSide
	case (word == "along" || word == "around" || word == "against") && !strings.HasPrefix(name, "at the "):
		name = word
	case noun == "side" && slices.Contains([]string{"all", "every"}, r.wordAt(next-2)):
		name = "around"
	case (all || plural && noun != "corner") && pair[1] != "":
		name = pair[1]
	}
	region := ""
	if name == word {
		region = r.wordAt(next - 1)
	}
	if r.wordAt(next) == "of" {
		return sense{class: isRelation, name: name, region: region}, next + 1 - at
	}
	if noun == "summit" || noun == "crest" || noun == "heart" ||
		r.nounFollows(next) && !r.isFunction(next) && !r.isVerbAhead(next) { // "at the front door"
		return sense{}, 0
	}
	return sense{class: isWithin, name: name, region: region}, next - at
}

// otherRegion returns the number of words of "in the other" and its like, which mean a region like the last one.
func (r *reader) otherRegion(at int) int {
	if r.region.name == "" || !slices.Contains([]string{"in", "on", "at"}, r.wordAt(at)) {
		return 0
	}
	n := 2
	if r.wordAt(at+1) == "the" {
		n = 3
	}
	word, next := r.wordAt(at+n-1), r.wordAt(at+n)
	if word != "other" && word != "another" || next != "" && !isMark(next) && next != "and" && !r.isFunction(at+n) {
		return 0
	}
	return n
}

func (r *reader) isRegion(word string) bool {
	_, one := regions[word]
	_, many := regions[strings.TrimSuffix(word, "s")]
	return one || many
}

// matchWith returns the relation of a participle and the "with" that belongs to it, with at most five words between:
// "covered wall to wall with". The number of words includes the "with".
func (r *reader) matchWith(at int) (s sense, n int) {
	word := r.wordAt(at)
	if !isParticiple(word) || slices.Contains(building, word) {
		return sense{}, 0
	}
	for next := at + 1; next < at+7; next++ {
		by := r.wordAt(next)
		if by == "with" || by == "by" && next > at+1 {
			list, _ := r.findSenses(word + " " + by)
			s, ok := senseOf(list, isInverse)
			if !ok && by == "with" {
				s, ok = sense{class: isInverse, name: "on"}, true
			}
			if ok {
				return s, next + 1 - at
			}
			return sense{}, 0
		}
		if list, _, _ := r.match(next); by == "" || isMark(by) || slices.Contains(determiners, by) || by == "and" ||
			hasSense(list, isNumber, isVague, isRelation, isMade) && by != "in" && by != "on" || hasSense(list, isThing) {
			return sense{}, 0
		}
	}
	return sense{}, 0
}

// building are participles whose "with" names a material or a means.
var building = []string{"built", "made", "constructed", "crafted", "painted", "lit", "lighted", "illuminated", "heated",
	"warmed", "associated", "filed", "connected", "mixed", "combined", "compared", "related", "concerned", "involved"}

// matchVerb returns the relation of a verb in any of its forms: "adorned the walls".
func (r *reader) matchVerb(at int) (sense, bool) {
	word := r.wordAt(at)
	s, ok := r.verbs[meaning.Lemma(word, meaning.Verb)]
	if !ok {
		return sense{}, false
	}
	next := r.wordAt(at + 1)
	opens := slices.Contains(determiners, next) || slices.Contains(pronouns, next) || next == "each" || next == "every"
	switch {
	case strings.HasSuffix(word, "ing"):
		return s, !isMark(next) && !slices.Contains(prepositions, next)
	case isParticiple(word):
		return s, opens && !slices.Contains(copulas, r.wordAt(at-1))
	}
	return s, opens || !isWordAs(word, meaning.Noun) && r.nounFollows(at+1)
}

// leading are verbs of ways, and flowing those of waters and of things that move: "a stream flows into the lake".
var (
	leading = []string{"lead", "wind", "climb", "open", "ascend"}
	flowing = []string{"flow", "run", "cascade", "empty", "pour", "spill", "drain", "tumble", "plunge", "continue",
		"descend",
		"go", "twist", "snake", "curve", "stretch", "extend"}
)

// flows reports whether a thing is a way or a water.
func (r *reader) flows(m *mention) bool {
	s := r.Settings[m.name]
	return m.class == isSetting && (s.Way != "" || s.River || m.name == "corridor") ||
		m.class == isThing && slices.Contains([]string{"waterfall", "stream", "stair", "spiral_stair", "ladder", "bridge",
			"aisle", "roof_stack"}, m.name)
}

// hangs are verbs of things that hang: "a lamp dangles down from the beam".
var hangs = []string{"hang", "dangle", "swing", "descend", "drop", "droop", "suspend", "sag", "drape", "string"}

// matchHang returns the number of words from "hangs" to "from".
func (r *reader) matchHang(at int) int {
	if !slices.Contains(hangs, meaning.Lemma(r.wordAt(at), meaning.Verb)) {
		return 0
	}
	for next := at + 1; next < at+4; next++ {
		switch word := r.wordAt(next); {
		case word == "from":
			return next + 1 - at
		case word == "" || isMark(word) || !isWordAs(word, meaning.Adverb):
			return 0
		}
	}
	return 0
}

// matchLead returns the number of words from "leads" to "to".
func (r *reader) matchLead(at int) int {
	lemma := meaning.Lemma(r.wordAt(at), meaning.Verb)
	flows := slices.Contains(flowing, lemma) && r.last != nil && r.flows(r.last)
	if r.wordAt(at) == "open" || !slices.Contains(leading, lemma) && !flows {
		return 0
	}
	for next := at + 1; next < at+7; next++ {
		word := r.wordAt(next)
		if word == "to" || word == "into" || word == "onto" || word == "toward" || word == "towards" {
			return next + 1 - at
		}
		if isMark(word) || word == "" || word == "and" || word == "from" || slices.Contains(pronouns, word) {
			return 0
		}
	}
	return 0
}
