package phrase

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// makeKinds are the kinds of English verbs, in WordNet, that ask for a place to be built.
var makeKinds = []string{"make", "show", "see", "get", "like", "want"}

// putKinds are the kinds of English verbs that ask for an object to be added.
var putKinds = []string{"put", "make", "attach", "suspend", "add", "get"}

// isVerbOf reports whether an English word is the base form of a verb of one of the kinds, and not of one that
// destroys.
func isVerbOf(word string, kinds []string) bool {
	return meaning.Lemma(word, meaning.Verb) == word && !meaning.IsA(word, meaning.Verb, "destroy") &&
		slices.ContainsFunc(kinds, func(kind string) bool { return meaning.IsA(word, meaning.Verb, kind) })
}

// isNounLike reports whether a word of English names a thing or a quality of one.
func isNounLike(word string) bool {
	return meaning.Lemma(word, meaning.Noun) != "" || meaning.Lemma(word, meaning.Adjective) != ""
}

// isEnglish reports whether a word is one of English.
func isEnglish(word string) bool {
	return isNounLike(word) || meaning.Lemma(word, meaning.Verb) != "" || meaning.Lemma(word, meaning.Adverb) != "" ||
		meaning.IsFunctionWord(word)
}

// readUnknown adds the act of a clause whose verb the vocabulary lacks, if its other words leave only one: "plonk a
// cone
// down at 1, 2, 0", "use stone for Wall". It reports whether it did.
func (r *Reading) readUnknown(in []token) bool {
	i := firstContent(in)
	if i >= len(in) || isStatement(in) {
		return false
	}
	rest := in[i:]
	switch {
	case isSurface(rest):
		r.readTexture("paint", rest)
	case hasFormat(rest) && (rest[0].kind == kindWord && rest[0].is == nil || namesFormat(rest[:1])):
		r.readExport(dropVerb(rest))
	case anyPicture(rest) && rest[0].is == nil:
		r.readRender(rest)
	case !anyNamed(rest) && isToEngine(rest):
		r.readImport(rest)
	case rest[0].kind == kindWord && rest[0].is == nil && isNewObject(rest) && (isVerbOf(rest[0].low, putKinds) ||
		hasPosition(rest)):
		r.readObject(dropVerb(rest))
	case placeAfterLead(rest) > 0:
		r.readScene(rest[placeAfterLead(rest):])
	default:
		return false
	}
	r.Unsure = true
	return true
}

// dropVerb removes an unknown verb from the start.
func dropVerb(in []token) []token {
	if in[0].kind == kindWord && in[0].is == nil && formats[in[0].low] == "" {
		return in[1:]
	}
	return in
}

// isStatement reports whether a clause tells something about others: "they start at …".
func isStatement(in []token) bool {
	return slices.ContainsFunc(in[:min(3, len(in))], func(t token) bool {
		return slices.Contains(strangers, t.low)
	})
}

// isInventory reports whether a question is about the objects of the scene: "which objects start with Wall", "how
// many cubes
// are there".
func isInventory(in []token) bool {
	i := firstContent(in)
	if i >= len(in) {
		return false
	}
	about := slices.ContainsFunc(in, func(t token) bool {
		return t.has("object") || t.has("scenery") || objectType(t) != "" || strings.HasPrefix(t.low, "thing")
	})
	return about && (in[i].has("asks") || anyHas(in, "prefix"))
}

// strangers are subjects of clauses that ask for nothing.
var strangers = strings.Fields("they he she he's she's they're there who there's")

// isSurface reports whether a clause names one object and one material: "use stone for Wall", "Roof should be wooden".
func isSurface(in []token) bool {
	materials, names := 0, 0
	for i, t := range in {
		switch {
		case t.kind == kindQuote || t.kind == kindWord && isCapital(t.text) && (t.is == nil || t.has("word") &&
			len(t.is) == 1) &&
			(i > 0 || len(in) > 2 && (in[1].kind == kindMark || !isVerbOf(t.low, putKinds))):
			if i == 0 || !isCapital(in[i-1].text) {
				names++
			}
		case t.has("material"):
			materials++
		case t.kind == kindName, t.has("article") && (i+1 == len(in) || !in[i+1].has("material") &&
			in[i+1].is["noun"] != "texture"):
			return false
		case t.isNumber() && !(i+1 < len(in) && in[i+1].has("pixels")):
			return false
		}
	}
	return materials == 1 && names == 1
}

// anyPicture reports whether tokens name a picture.
func anyPicture(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return t.isVerb("render") })
}

// anyNamed reports whether tokens name a place.
func anyNamed(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return t.kind == kindName })
}

// hasPosition reports whether tokens hold coordinates.
func hasPosition(in []token) bool {
	for i := range in {
		if v, _ := readVector(in, i, 3); len(v) > 1 {
			return true
		}
	}
	return false
}

// isNewObject reports whether tokens are about an object that is not there: "stand a cone at 0, 0, 1".
func isNewObject(in []token) bool {
	head, at := headNoun(in[1:])
	return objectType(head) != "" && slices.ContainsFunc(in[1:at+1], func(t token) bool {
		return t.has("article") || t.isNumber()
	})
}

// placeAfterLead returns the index of the name or description of a place that the words before it ask to build or to
// see: "whip up a quick version of Mosswell". It is -1 if there is none.
func placeAfterLead(in []token) int {
	at := slices.IndexFunc(in, func(t token) bool { return t.kind == kindName })
	if at < 0 {
		at = slices.IndexFunc(in, func(t token) bool { return t.has("article") || t.isNumber() })
		if at < 0 || at+1 >= len(in) || in[at+1].kind != kindWord || in[at+1].has("vague") {
			return -1
		}
	}
	lead := in[:at]
	if len(lead) == 0 || len(lead) > 6 || lead[0].kind != kindWord || lead[0].is == nil &&
		!isVerbOf(lead[0].low, makeKinds) ||
		lead[0].is != nil && !lead[0].hasAny("do", "prep") && !lead[0].isVerb("light") {
		return -1
	}
	if slices.ContainsFunc(lead[1:], func(t token) bool {
		return t.kind != kindWord || t.is == nil && !isNounLike(t.low) || t.hasAny("verb", "not")
	}) {
		return -1
	}
	return at
}

// isCausative reports whether a clause has a thing act: "make the barrels explode". No tool does that.
func isCausative(in []token) bool {
	i := 0
	for i < len(in) && in[i].has("lead") {
		i++
	}
	if i+1 < len(in) && in[i].kind == kindWord && in[i].is == nil && in[i+1].has("det") && !isEnglish(in[i].low) {
		return true // "fais exploser les tonneaux"
	}
	if i+1 < len(in) && (in[i].low == "everyone" || in[i].low == "everybody") {
		return true
	}
	if i >= len(in) || !in[i].has("det") || in[i].has("article") {
		return false
	}
	for k := i + 2; k < len(in) && in[k].kind == kindWord && !in[k].hasAny("prep", "and", "with"); k++ {
		w := in[k].low
		if k+1 == len(in) && strings.HasSuffix(w, "er") && meaning.Lemma(w, meaning.Noun) == "" &&
			meaning.Lemma(w, meaning.Adjective) != "" {
			return true // "make the sea calmer"
		}
		if in[k].has("do") && k+1 == len(in) || k+1 < len(in) && in[k+1].has("det") && meaning.Lemma(w, meaning.Verb) == w {
			return true // "make the lighthouse blink", "make the guards chase the players"
		}
		if in[k].is == nil && meaning.Lemma(w, meaning.Verb) == w && (meaning.Lemma(w, meaning.Noun) == "" ||
			k+1 == len(in) && !meaning.IsA(w, meaning.Noun, "physical entity")) {
			return true
		}
	}
	return false
}

// dropParts removes the words for a part of something: "piece of" of "a flat piece of land".
func dropParts(in []token) (out []token) {
	for i := 0; i < len(in); i++ {
		if in[i].has("part") && i+2 < len(in) && in[i+1].has("of") && in[i+2].hasAny("noun", "material") {
			i++
			continue
		}
		if in[i].has("of") && i > 0 && in[i-1].has("unit") && i+1 < len(in) && in[i+1].is["noun"] == "terrain" {
			continue // "80 by 80 metres of land"
		}
		out = append(out, in[i])
	}
	return out
}

// hasTrace reports whether a clause that was not understood has a word that a tool takes, so that it may ask for an
// act.
func hasTrace(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool {
		return t.kind != kindWord && t.kind != kindMark || t.isNumber() || t.hasAny("material", "style", "noun", "object") ||
			t.has("word") && !t.hasAny("prep", "and") ||
			formats[t.low] != "" || t.isVerb("render") || t.isVerb("export")
	})
}
