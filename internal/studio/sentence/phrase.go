package sentence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// nounPhrase is an article or a number, adjectives and nouns: "eight small stone houses".
type nounPhrase struct {
	sense
	known    bool
	words    string // without articles
	noun     string // with the nouns before it, and the part of it that is meant
	head     string
	plural   bool
	number   float64
	vague    string // the words of an inexact number
	definite bool
	owned    bool // "its", "their"
	material string
	scale    float64
	height   float64
	features map[string]int
	pattern  string
	names    []string // nouns that only qualify the head
	strange  []string // adjectives that are not understood
	shown    string   // the word of the vocabulary for a noun that it lacks
	assumed  []string
	notes    []string // of words without effect
}

// isBare reports whether nothing stands before the nouns that makes a phrase of them.
func (p *nounPhrase) isBare() bool { return p.number == 0 && !p.definite && p.words == p.noun }

// determiners open a noun phrase.
var determiners = []string{"the", "this", "that", "these", "those", "its", "it's", "his", "her", "their", "my", "your",
	"our", "whose", "a", "an"}

var ownings = []string{"its", "it's", "their", "whose"}

// quantifiers are plain words within a noun phrase.
var quantifiers = []string{"all", "both", "each", "every", "some", "any", "other", "such", "same", "very", "rather",
	"quite", "more", "most", "of", "own", "new", "another", "main", "certain", "well-kept", "left", "right", "north",
	"south", "east", "west", "northern", "southern", "eastern", "western", "back", "front", "center", "centre",
	"middle", "top", "bottom", "side", "opposite", "opposing", "far", "near", "outer", "inner", "inside", "outside"}

// finishes follow a material that is only on the surface: "a gold plated table".
var finishes = []string{"plated", "colored", "coloured", "trimmed", "rimmed", "framed", "hued", "tinted", "tipped",
	"encrusted", "covered", "lined", "clad"}

// phraseReader reads one noun phrase.
type phraseReader struct {
	*reader
	nounPhrase
	from, at, end int
	kept          []string // words up to at
	ended         int      // words up to end
	nouns         []nounAt
	begun         bool
	light         sense
}

// nounAt is a noun of the phrase.
type nounAt struct {
	words      string
	list       []sense
	plural     bool
	possessive bool
}

// maxPhrase bounds the words of one noun phrase.
const maxPhrase = 30

// parsePhrase reads the noun phrase at a position, and returns the position behind it.
func (r *reader) parsePhrase(at int) (p nounPhrase, next int, ok bool) {
	b := phraseReader{reader: r, from: at, at: at}
	for b.at < len(r.tokens) && b.at < at+maxPhrase && b.step() {
		b.begun = true
	}
	if !b.finish() {
		return nounPhrase{}, at, false
	}
	return b.nounPhrase, b.end, true
}

// take appends n words of the phrase.
func (b *phraseReader) take(n int) bool {
	b.kept = append(b.kept, b.span(b.at, n))
	b.at += n
	return true
}

// step reads the next words; false: they do not belong to the phrase.
func (b *phraseReader) step() bool {
	word := b.wordAt(b.at)
	if isMark(word) {
		return word == "," && b.skipBetween(b.at+1)
	}
	list, n, plural := b.match(b.at)
	if slices.Contains(determiners, word) && n <= 1 {
		return b.takeDeterminer(word)
	}
	if hasSense(list, isNumber, isVague) && !hasNoun(list) {
		return b.takeNumber(list, n)
	}
	if s, ok := senseOf(list, isArrangement); ok && b.wordAt(b.at+n) == "of" && len(b.nouns) == 0 {
		return b.takeArrangement(s, n)
	}
	if (b.begun || word == "opposite" || word == "opposing") && n <= 1 && len(b.nouns) == 0 &&
		slices.Contains(quantifiers, word) && !b.isFunction(b.at+1) && b.nounFollows(b.at+1) &&
		word != "of" {
		return b.take(1)
	}
	if hasSense(list, isRelation, isInverse, isWithin, isElsewhere, isWithout, isMade) &&
		(!hasNoun(list) || len(b.nouns) > 0) {
		return false
	}
	if (word == "and" || word == "or") && b.skipBetween(b.at+1) {
		return true
	}
	if isParticiple(word) && len(b.nouns) > 0 && !hasNoun(list) && isParticiple(b.wordAt(b.at+1)) &&
		isWordAs(word, meaning.Noun) {
		return b.takeNoun(nounAt{words: word}, 1) // "a wall hanging woven of silk"
	}
	if one, ok := pieces[word]; ok && len(b.nouns) > 0 && b.wordAt(b.at+1) != "of" && !b.isFunction(b.at+1) {
		return b.takeNoun(nounAt{words: word, plural: one != word}, 1) // "boat parts"
	}
	if hasSense(list, isPlain) && b.isPluralHead(word) {
		heads, _ := b.findSenses(meaning.Lemma(word, meaning.Noun))
		return b.takeNoun(nounAt{words: word, list: heads, plural: true}, 1)
	}
	switch {
	case hasSense(list, isPlain) && !hasSense(list, isThing, isSetting, isSurface, isMaterial, isSize):
		return b.takePlain(word)
	case n == 0:
		return b.takeStranger(word)
	}
	return b.takeKnown(list, n, plural)
}

// isPluralHead reports whether a word that may be a verb is the plural head of the phrase: behind a number, behind
// "there are" or where a verb lacks its place, as in "two food stands" and "lamp stands are".
func (b *phraseReader) isPluralHead(word string) bool {
	one := meaning.Lemma(word, meaning.Noun)
	heads, _ := b.findSenses(one)
	if one == word || !hasNoun(heads) || len(b.nouns) == 0 || b.nouns[len(b.nouns)-1].plural {
		return false
	}
	next := b.wordAt(b.at + 1)
	return b.number > 1 || b.turned && b.copula || next == "" || isMark(next) ||
		slices.Contains([]string{"are", "were", "and", "that", "which", "with"}, next)
}

func (b *phraseReader) takeDeterminer(word string) bool {
	if b.begun && (b.number > 0 || len(b.nouns) > 0 || b.material != "" || b.definite || len(b.kept) > 0) {
		return false
	}
	if word == "a" || word == "an" {
		b.number = 1
	} else {
		b.definite, b.owned = true, slices.Contains(ownings, word)
	}
	b.at++
	return true
}

// skipBetween skips a comma or "and" between adjectives of one noun: "a long, but narrow room".
func (b *phraseReader) skipBetween(next int) bool {
	if w := b.wordAt(next); w == "but" || w == "and" {
		next++
	}
	if !b.begun || len(b.nouns) > 0 || b.at == b.from || len(b.kept) == 0 {
		return false
	}
	list, _, _ := b.match(next)
	if !b.isQuality(next) || !b.nounFollows(next) || hasNoun(list) && !b.qualifies(next) {
		return false
	}
	b.at = next
	return true
}

// isQuality reports whether an adjective or a material stands at a position.
func (r *reader) isQuality(at int) bool {
	list, n, _ := r.match(at)
	return hasSense(list, isMaterial, isSize) && (!hasNoun(list) || r.qualifies(at)) ||
		n == 0 && (isWordAs(r.wordAt(at), meaning.Adjective) || isParticiple(r.wordAt(at)))
}

// qualifies reports whether a material that is also a noun stands before another noun: "silver ornaments".
func (r *reader) qualifies(at int) bool {
	list, n, plural := r.match(at)
	return hasSense(list, isMaterial) && !plural && r.nounWithin(at+n, 2)
}

// units are the words for metres, and for feet.
var units = map[string]float64{"m": 1, "metre": 1, "metres": 1, "meter": 1, "meters": 1, "foot": 0.3048,
	"feet": 0.3048, "ft": 0.3048, "yards": 0.9144}

var dimensions = []string{"high", "tall", "long", "wide", "deep"}

func (b *phraseReader) takeNumber(list []sense, n int) bool {
	if len(b.nouns) > 0 {
		return false
	}
	s, _ := senseOf(list, isNumber, isVague)
	if unit := units[b.wordAt(b.at+n)]; unit > 0 {
		b.height = s.value * unit
		b.take(n + 1)
		if slices.Contains(dimensions, b.wordAt(b.at)) {
			b.take(1)
		}
		if b.wordAt(b.at) == "of" {
			b.at++
		}
		return true
	}
	exact := s.class == isNumber
	switch {
	case b.number > 1 && exact && (s.value >= 100 || s.value == 12):
		b.number *= s.value
	case b.number > 1 && exact && s.value < 10 && b.wordAt(b.at-1) != "or":
		b.number += s.value
	case !exact && b.number > 1:
	default:
		b.number = s.value
	}
	if b.vague = ""; !exact {
		b.vague = b.span(b.at, n)
	}
	b.take(n)
	if next := b.wordAt(b.at); next == "or" && b.isNumberAt(b.at+1) {
		b.at++
	}
	if b.wordAt(b.at) == "of" {
		b.at++
		for slices.Contains(determiners, b.wordAt(b.at)) {
			b.definite = b.definite || exact
			b.at++
		}
	}
	return true
}

func (r *reader) isNumberAt(at int) bool {
	if at < 0 {
		return false
	}
	list, _, _ := r.match(at)
	return hasSense(list, isNumber, isVague)
}

// partWords name a part of a thing, which stands for the whole.
const partWords = "part"

func (b *phraseReader) takeArrangement(s sense, n int) bool {
	words := b.span(b.at, n)
	b.at += n + 1
	b.kept = append(b.kept, words, "of")
	if s.name == partWords {
		b.noun, b.number, b.vague = words+" of ", 0, ""
	} else {
		b.pattern = s.name
		if b.number == 1 || b.number > 1 && s.name == "row" {
			b.number, b.vague = 0, ""
		}
	}
	for slices.Contains(determiners, b.wordAt(b.at)) {
		if b.number == 0 && (b.wordAt(b.at) == "a" || b.wordAt(b.at) == "an") {
			b.number = 1
		}
		b.definite = b.definite || s.name == partWords && b.number == 0
		b.at++
	}
	return true
}

// takePlain takes a quantifier, or a participle before a noun.
func (b *phraseReader) takePlain(word string) bool {
	switch {
	case len(b.nouns) > 0:
		return false
	case !b.begun && b.wordAt(b.at+1) == "of" && slices.Contains([]string{"all", "both", "each", "most", "some"}, word) &&
		slices.Contains(determiners, b.wordAt(b.at+2)):
		b.at += 2
		return true
	case slices.Contains(quantifiers, word) && b.nounFollows(b.at+1):
		if word != "of" {
			b.take(1)
		} else {
			b.at++
		}
		return true
	case b.begun && isParticiple(word) && b.nounFollows(b.at+1):
		return b.take(1)
	}
	return false
}

// irregular are participles without the ending of one.
var irregular = []string{"lit", "hung", "set", "built", "kept", "found", "laid", "hidden", "left", "strewn", "worn",
	"broken", "carven", "spread", "dug", "cut", "bound", "woven", "stuck", "thrown", "torn"}

func isParticiple(word string) bool {
	word = word[strings.LastIndexByte(word, '-')+1:]
	return (strings.HasSuffix(word, "ed") || strings.HasSuffix(word, "ing") || slices.Contains(irregular, word)) &&
		isWordAs(word, meaning.Verb)
}

// takeKnown takes a material, a size, a feature or a noun of the vocabulary.
func (b *phraseReader) takeKnown(list []sense, n int, plural bool) bool {
	words, follows := b.span(b.at, n), b.nounFollows(b.at+n)
	possessive := b.tokens[b.at+n-1].possessive
	if len(b.nouns) > 0 && n == 1 && b.isVerbHere(words, list, plural) {
		return false
	}
	if s, ok := senseOf(list, isFeature); ok && follows && !plural && !hasNoun(list) {
		return b.takeFeature(s, n)
	}
	if s, ok := senseOf(list, isMaterial, isSize); ok && !possessive && (follows && !plural || !hasNoun(list)) {
		if len(b.nouns) > 0 && !follows && (s.class == isSize || isColour(s.name) || !isWordAs(words, meaning.Noun)) {
			return false
		}
		return b.takeQuality(s, n, follows)
	}
	if s, ok := senseOf(list, isLight); ok && !hasNoun(list) {
		if !follows && len(b.nouns) > 0 {
			return false
		}
		if !follows {
			b.light = s
			b.take(n)
			b.head, b.end, b.ended = words, b.at, len(b.kept)
			return false
		}
		return b.take(n)
	}
	if !hasNoun(list) && !hasSense(list, isFeature) {
		return false
	}
	return b.takeNoun(nounAt{words, list, plural, possessive}, n)
}

func isPlant(r *reader, list []sense) bool {
	s, ok := senseOf(list, isThing)
	return !ok || r.Things[s.name].Stands == asPlant
}

// pieces are nouns that may only stand for a part or a form of a thing.
var pieces = map[string]string{"part": "part", "parts": "part", "piece": "piece", "pieces": "piece", "line": "line",
	"lines": "line", "bits": "bit"}

func (b *phraseReader) takeNoun(one nounAt, n int) bool {
	if first, _ := b.findSenses(b.wordAt(b.at)); n > 1 && b.material == "" && !isPlant(b.reader, one.list) {
		if s, ok := senseOf(first, isMaterial); ok {
			b.material = s.name // "iron bars" is an entry
		}
	}
	b.nouns = append(b.nouns, one)
	b.take(n)
	b.end, b.ended = b.at, len(b.kept)
	return true
}

func (b *phraseReader) takeFeature(s sense, n int) bool {
	if b.features == nil {
		b.features = map[string]int{}
	}
	b.features[s.name] = max(int(b.number), 1)
	if s.name == "storeys" {
		b.number = 0
	}
	return b.take(n)
}

// takeQuality takes a material or a size.
func (b *phraseReader) takeQuality(s sense, n int, follows bool) bool {
	switch {
	case s.class == isSize:
		if b.scale != 0 && b.scale != s.value {
			b.notes = append(b.notes, fmt.Sprintf("of two sizes the first counts, not %q", b.span(b.at, n)))
		}
		b.scale = cmp.Or(b.scale, s.value)
	case slices.Contains(finishes, b.wordAt(b.at+n)) && follows:
		b.strange = append(b.strange, b.span(b.at, n+1))
		b.take(1)
	default:
		old := b.material
		if b.material = betterMaterial(old, s.name); old != "" && old != s.name {
			b.notes = append(b.notes, fmt.Sprintf("of its materials and colours %s counts", b.material))
		}
		if !follows && !isColour(s.name) && isWordAs(b.span(b.at, n), meaning.Noun) {
			s.class = isThing
			if s.name = groundCover; !slices.Contains(looseMaterials, b.material) {
				s.name = "block"
			}
			b.takeNoun(nounAt{words: b.span(b.at, n), list: []sense{s}}, n)
			return false
		}
	}
	return b.take(n)
}

// takeStranger takes a word that the vocabulary lacks.
func (b *phraseReader) takeStranger(word string) bool {
	possessive := b.tokens[b.at].possessive
	noun, adjective := meaning.Lemma(word, meaning.Noun), isWordAs(word, meaning.Adjective)
	follows := b.nounFollows(b.at + 1)
	adverb := strings.HasSuffix(word, "ly") && isWordAs(word, meaning.Adverb)
	switch {
	case possessive:
		return b.takeNoun(nounAt{words: word, possessive: true}, 1)
	case meaning.IsFunctionWord(word):
		return false
	case len(b.nouns) > 0 && b.isVerbHere(word, nil, noun != word):
		return false
	case follows && noun != "" && b.isMaterial(noun) != "":
		b.material = betterMaterial(b.material, b.isMaterial(noun))
		return b.take(1)
	case adverb && follows && len(b.nouns) == 0:
		b.notes = append(b.notes, fmt.Sprintf("%q is not shown", word))
		return b.take(1)
	case follows && (adjective || isParticiple(word) || isLikeness(word)):
		if len(b.nouns) > 0 && !adjective {
			return false
		}
		b.strange = append(b.strange, word)
		return b.take(1)
	case noun != "" && !(adjective && len(b.nouns) > 0):
		return b.takeNoun(nounAt{words: word, plural: noun != word}, 1)
	}
	return false
}

// isLikeness reports whether a word compares: "dome-like".
func isLikeness(word string) bool {
	_, end, ok := strings.Cut(word, "-")
	return ok && slices.Contains([]string{"like", "shaped", "sized", "style", "esque"}, end)
}

// isVerbHere reports whether the word at the position, which stands behind a noun, is a verb.
func (b *phraseReader) isVerbHere(word string, list []sense, plural bool) bool {
	if b.nouns[len(b.nouns)-1].possessive || !isWordAs(word, meaning.Verb) {
		return false
	}
	next := b.at + 1
	pair := b.nouns[len(b.nouns)-1].words + " " + word
	switch {
	case b.senses[pair] != nil || isWordAs(pair, meaning.Noun):
		return false
	case !b.nouns[len(b.nouns)-1].plural && hasNoun(list) && hasSense(list, isPlain) &&
		meaning.Lemma(word, meaning.Verb) == word && !slices.Contains([]string{"of", "and"}, b.wordAt(b.from-1)):
		return false // "a torch stand": one thing stands, several stand
	case b.isFunction(next):
		return true
	case isParticiple(word):
		return !hasNoun(list)
	case b.nouns[len(b.nouns)-1].plural && !plural && (!b.nounFollows(next) || hasSense(list, isPlain)):
		return true
	case hasNoun(list) && hasSense(list, isPlain) && !plural && hasNoun(b.nouns[len(b.nouns)-1].list):
		following, _, _ := b.match(next)
		return hasSense(following, isRelation) // "the ruins of a tower stand on the hill"
	case hasNoun(list):
		return false
	case !isWordAs(word, meaning.Noun):
		return true
	}
	following, _, _ := b.match(next)
	return strings.HasSuffix(word, "s") && !b.nouns[len(b.nouns)-1].plural && next < len(b.tokens) &&
		!slices.Contains([]string{"and", "or", "but", "that", "which"}, b.wordAt(next)) &&
		(hasSense(following, isRelation, isInverse, isWithin, isPlain) || isWordAs(b.wordAt(next), meaning.Adverb))
}

// nounFollows reports whether the words at a position lead to a noun of the same phrase.
func (r *reader) nounFollows(at int) bool { return r.nounWithin(at, 6) }

// nounWithin looks at a number of entries.
func (r *reader) nounWithin(at, left int) bool {
	for ; left > 0; left-- {
		word := r.wordAt(at)
		if word == "," || word == "and" || word == "but" {
			if at++; slices.Contains([]string{"and", "but"}, r.wordAt(at)) {
				at++
			}
			if !r.isQuality(at) {
				return false
			}
			word = r.wordAt(at)
		}
		if word == "" || isMark(word) {
			return false
		}
		list, n, plural := r.match(at)
		switch {
		case hasSense(list, isArrangement) && r.wordAt(at+n) == "of":
			return true
		case n == 0 && r.tokens[at].possessive:
		case n == 0 && meaning.IsFunctionWord(word):
			return false
		case n == 0 && isParticiple(word) && strings.HasSuffix(word, "ing"):
		case n == 0 && isWordAs(word, meaning.Noun) && !strings.HasSuffix(word, "ed"):
			return !(isWordAs(word, meaning.Verb) && r.isFunction(at+1))
		case n == 0 && !isWordAs(word, meaning.Adjective) && !isParticiple(word):
			return false
		case n == 0:
		case hasNoun(list):
			return !(n == 1 && !plural && isWordAs(word, meaning.Verb) && r.isFunction(at+1))
		case hasSense(list, isLight) && isWordAs(word, meaning.Noun) && !r.nounWithin(at+n, left-1):
			return true
		case slices.Contains(quantifiers, word) && word != "of":
		case hasSense(list, isRelation, isInverse, isWithin, isMade, isWithout, isElsewhere):
			return false
		case hasSense(list, isFeature):
			if f, _ := senseOf(list, isFeature); slices.Contains(nounFeatures, f.name) {
				return true
			}
		case hasSense(list, isNumber, isVague) && word != "one":
		case hasSense(list, isPlain) && isParticiple(word):
		case !hasSense(list, isMaterial, isSize, isLight, isInner) && !slices.Contains(quantifiers, word):
			return false
		case hasSense(list, isMaterial) && isWordAs(word, meaning.Noun) && !r.nounWithin(at+n, left-1):
			return false
		}
		at += max(n, 1)
	}
	return false
}

// finish finds the noun of the phrase, and its meaning.
func (b *phraseReader) finish() bool {
	part := b.noun
	switch {
	case len(b.nouns) > 0:
		b.resolveHead()
	case b.light.class == isLight && b.head != "":
		b.sense, b.known = b.light, true
		b.noun = b.head
	default:
		return false
	}
	b.words = strings.Join(b.kept[:b.ended], " ")
	if k := len(b.strange); k > 0 && strings.HasSuffix(b.strange[k-1], "ing") &&
		strings.HasSuffix(b.words, b.strange[k-1]+" "+b.noun) {
		b.noun = b.strange[k-1] + " " + b.noun // "the launching point"
	}
	if b.noun = part + b.noun; b.shown != "" {
		b.assumed = append(b.assumed, fmt.Sprintf("%q is shown as %s", b.words, b.shown))
	}
	return true
}

// groundCover is the thing that a material without a noun names: "sand lies between the houses".
const groundCover = "patch"

// looseMaterials lie on the ground; a block stands for others.
var looseMaterials = []string{"hay", "straw", "grass", "earth", "mud", "sand", "gravel", "snow", "salt", "leaf"}

func isColour(material string) bool {
	return slices.Contains([]string{"white", "red", "blue", "dark", "leaf"}, material)
}

// betterMaterial returns the first of two materials, unless only the second is more than a colour.
func betterMaterial(old, other string) string {
	if old == "" || isColour(old) && other != "" && !isColour(other) {
		return other
	}
	return old
}

// resolveHead finds the meaning of the last noun, or of the last two as one.
func (b *phraseReader) resolveHead() {
	var all []string
	for _, n := range b.nouns {
		all = append(all, n.words)
	}
	last := b.nouns[len(b.nouns)-1]
	b.noun, b.head, b.plural = strings.Join(all, " "), last.words, last.plural
	b.names = all[:len(all)-1]
	if len(all) > 1 && !b.nouns[len(all)-2].possessive && !b.hasFirm(last.list) {
		pair := strings.Join(all[len(all)-2:], " ")
		if noun := meaning.Lemma(pair, meaning.Noun); noun != "" {
			if s, name, ok := b.resolve(noun); ok {
				b.sense, b.known, b.names = s, true, all[:len(all)-2]
				b.shown = name
				return
			}
		}
	}
	if s, ok := senseOf(last.list, isThing, isSetting, isSurface, isFeature); ok {
		b.sense, b.known = s, true
		return
	}
	noun := meaning.Lemma(last.words, meaning.Noun)
	if b.material != "" && !isColour(b.material) && b.isCreature(noun) {
		b.sense, b.known, b.shown = sense{class: isThing, name: "statue"}, true, "statue"
		return
	}
	if k := len(all) - 2; k >= 0 && slices.Contains(trophies, noun) && b.isCreature(meaning.Lemma(all[k], meaning.Noun)) {
		b.sense, b.known, b.shown = sense{class: isThing, name: "trinket"}, true, "trinket"
		return
	}
	if s, name, ok := b.resolve(noun); ok {
		b.sense, b.known = s, true
		b.shown = name
		return
	}
	if len(all) > 1 && !b.nouns[len(all)-2].possessive && b.broaderKind(noun) != noThing {
		if s, ok := senseOf(b.nouns[len(all)-2].list, isThing); ok {
			b.sense, b.known = s, true
			b.shown = b.Things[s.name].Words[0]
			return
		}
	}
	if (b.number > 0 && b.vague == "" || b.plural) && (!b.copula || b.turned) {
		if s, name, ok := b.resolveRare(noun); ok {
			b.sense, b.known, b.shown = s, true, name
		}
	}
}

// trophies are parts of animals that hang on walls: "a stag head".
var trophies = []string{"head", "horn", "skull", "antler", "tusk", "claw"}

// hasFirm reports whether a noun is a thing of the vocabulary.
func (b *phraseReader) hasFirm(list []sense) bool { return hasNoun(list) }
