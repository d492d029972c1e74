package command

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// verbOfFragment returns the verb that a text without a verb asks for, by its nouns and prepositions: two coins for the
// beggar, a stone through the window, onto the roof. It is "" if they tell none.
func verbOfFragment(text string) Verb {
	words := lex(text)
	for len(words) > 1 && (words[0].kind != plainWord || words[0].is(fillerClass|courtesyClass) &&
		words[0].toward() == "" && !words[0].is(prepositionClass)) {
		words = words[1:]
	}
	if end := slices.IndexFunc(words, func(w word) bool { return w.kind != plainWord }); end > 0 {
		words = words[:end]
	}
	if len(words) < 2 {
		return ""
	}
	if startsWay(words) || words[0].oneOf("to", "onto", "on", "after", "off") {
		return verbOfWay(words)
	}
	at := slices.IndexFunc(words, func(w word) bool { return w.is(prepositionClass) || w.oneOf("off", "of") })
	if at < 1 || at+1 == len(words) || slices.ContainsFunc(words, func(w word) bool {
		return w.is(subjectClass|auxiliaryClass|negationClass) && !w.is(articleClass)
	}) {
		return ""
	}
	return verbOfNouns(words[at-1].fold, words[at].fold, words[len(words)-1].fold)
}

// verbOfWay returns the verb of a fragment that begins with a way: over the wall is a move, over the wall with the sack
// is a throw.
func verbOfWay(words []word) Verb {
	if slices.ContainsFunc(words, func(w word) bool { return w.is(beClass | auxiliaryClass) }) {
		return ""
	}
	if with := slices.IndexFunc(words, func(w word) bool { return w.fold == "with" }); with > 0 && with+1 < len(words) &&
		words[with+1].is(articleClass) {
		return Throw
	}
	noun := words[len(words)-1].fold
	if idiomSets()["being"][noun] || isKind(noun, "location", "structure", "way", "area", "person", "animal",
		"geological formation", "vehicle", "body of water") {
		return Move
	}
	return ""
}

// verbOfNouns returns the verb of a thing, a preposition and another noun.
func verbOfNouns(thing, preposition, other string) Verb {
	sets := idiomSets()
	isThing := sets["ware"][thing] || sets["coin"][thing] || sets["weapon"][thing] ||
		isKind(thing, "artifact", "food", "money", "plant part", "substance", "document", "matter")
	isBeing := sets["being"][other] || isKind(other, "person", "animal")
	switch {
	case preposition == "of" && isKind(thing, "taste", "drink", "swallow") || slices.Contains([]string{"sip", "bite",
		"swig", "gulp", "puff"}, thing):
		return Use
	case sets["blow"][thing] && (preposition == "to" || preposition == "in" || preposition == "across"):
		return Attack
	case !isThing:
		return ""
	case (preposition == "for" || preposition == "to") && isBeing:
		return Give
	case preposition == "at" || preposition == "through" || preposition == "across":
		return Throw
	case preposition == "off" || preposition == "from":
		return Take
	case slices.Contains([]string{"on", "onto", "in", "into", "under"}, preposition) && !isBeing:
		return Drop
	}
	return ""
}

// isKind reports whether a noun, or its singular, is of one of several kinds.
func isKind(noun string, kinds ...string) bool {
	noun = strings.TrimSuffix(noun, "'s")
	return slices.ContainsFunc(kinds, func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) })
}
