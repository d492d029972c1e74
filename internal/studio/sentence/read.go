package sentence

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/meaning"
)

// Brief describes a place in words.
type Brief struct {
	Title   string // of the card; "" without one
	Text    string // of the card
	Terrain string // of the card: open-plain, dense-forest, …
	Words   string // of the caller, which have more weight
	Style   string // day, dusk, night, overcast; "": from the words
	Seed    uint64
}

// Phrase is a part of the words that names something, and its meaning.
type Phrase struct {
	Words    string `json:"words"`
	Became   string `json:"became" jsonschema:"Its part of the scene, with the number."`
	Assumed  string `json:"assumed,omitzero" jsonschema:"Left open by the words."`
	Path     string `json:"path,omitzero" jsonschema:"Its path in the scene."`
	Kind     string `json:"kind,omitzero" jsonschema:"Entry of the vocabulary."`
	Count    int    `json:"count,omitzero"`
	Material string `json:"material,omitzero"`
	Relation string `json:"relation,omitzero" jsonschema:"Such as beside altar."`
}

// mention is a thing, a setting or a surface that the words name.
type mention struct {
	class    class
	name     string // entry of the vocabulary
	noun     string // as written
	words    string // with the words before it
	count    int
	material string
	scale    float64
	height   float64 // metres; 0: not given
	features map[string]int
	roles    map[string]string // materials of parts
	pattern  string            // row, ring or pile
	relation string
	to, and  *mention // landmarks of the relation
	toNoun   string   // of the landmark, if it is a part of one
	loose    bool     // the relation is that of the things before it
	owner    *mention // the building of a surface
	assumed  []string
	plural   bool
	implied  bool // belongs to the setting; the words do not name it
	landmark bool // others stand in relation to it
	left     bool // left out, as the words say
	from     int  // index of the text
}

func (m *mention) assume(format string, args ...any) {
	m.assumed = append(m.assumed, fmt.Sprintf(format, args...))
}

// reader reads texts.
type reader struct {
	*vocabulary
	mentions []*mention
	unknown  []string
	light    string
	inner    bool // the words say that the place is below the ground or inside
	text     int  // index of the present text

	tokens []token
	at     int
	noun   phraseHead
	last   *mention   // of the sentence
	owner  *mention   // of features: "a tower with battlements"
	link   *link      // waits for its landmark
	front  *link      // waits for its subject
	copula bool       // "is" or "are" came before
	group  []*mention // of the sentence, joined by "and" before a verb
	verb   bool       // a verb came behind the group
	each   bool
	made   string   // material of the next thing
	leads  *mention // leads to the next thing
	away   bool     // the next thing is elsewhere
	none   bool     // the next thing is left out
}

// phraseHead collects the words before a noun.
type phraseHead struct {
	words    []string
	number   float64
	vague    bool
	definite bool
	material string
	scale    float64
	height   float64
	features map[string]int
	pattern  string
	names    []string // nouns that only qualify the next one
}

// link is a relation whose other side is not read yet.
type link struct {
	relation string
	subject  *mention
	object   *mention // the first of two
	inverse  bool
	all      []*mention // all subjects, if there are several
}

// token is a word or a mark.
type token struct {
	text       string
	possessive bool
}

var tokenForm = regexp.MustCompile(`\p{L}[\p{L}'’]*(?:-\p{L}[\p{L}'’]*)*|[0-9]+(?:\.[0-9]+)?|[.;:!?,()\n]`)

// maxTokens bounds the words of a text that are read.
const maxTokens = 4000

// splitWords returns the words and marks of a text. A compound with a hyphen that the vocabulary
// lacks becomes several words.
func (v *vocabulary) splitWords(text string) (out []token) {
	for _, w := range tokenForm.FindAllString(strings.ToLower(text), maxTokens) {
		w = strings.ReplaceAll(w, "’", "'")
		t := token{text: w}
		if base, ok := strings.CutSuffix(w, "'s"); ok && v.senses[w] == nil {
			t = token{base, true}
		}
		if list, _ := v.findSenses(t.text); list == nil && strings.Contains(w, "-") {
			for _, piece := range strings.Split(w, "-") {
				out = append(out, token{text: piece})
			}
			continue
		}
		out = append(out, t)
	}
	return out
}

// readText reads a text, sentence by sentence.
func (r *reader) readText(text string, index int) {
	r.text, r.tokens = index, r.splitWords(text)
	r.endSentence()
	for r.at = 0; r.at < len(r.tokens); {
		if isMark(r.tokens[r.at].text) {
			r.readMark(r.tokens[r.at].text)
			r.at++
			continue
		}
		list, n, plural := r.match(r.at)
		if n == 0 {
			r.readUnknown()
			continue
		}
		r.at += r.readSenses(list, n, plural)
	}
	r.endSentence()
}

func isMark(s string) bool { return len(s) == 1 && strings.Contains(".;:!?,()\n", s) }

func (r *reader) readMark(mark string) {
	if n := r.skipComma(); mark == "," && n > 0 {
		r.at += n - 1
		return
	}
	if mark == "," || mark == "(" || mark == ")" {
		r.dropHead()
		r.copula = false
		r.away, r.none = false, false
		return
	}
	r.endSentence()
}

// skipComma returns the number of tokens up to the next adjective of a phrase if the comma at this
// position stands between two: "a long, but narrow room". Otherwise it returns 0.
func (r *reader) skipComma() int {
	next := r.at + 1
	if w := r.wordAt(next); w == "but" || w == "and" {
		next++
	}
	if r.at == 0 || r.noun.number == 0 && !r.noun.definite && r.noun.words == nil {
		return 0
	}
	before := r.tokens[r.at-1].text
	list, _, _ := r.match(r.at - 1)
	_, quality := senseOf(list, isMaterial, isSize)
	after, n, _ := r.match(next)
	_, more := senseOf(after, isMaterial, isSize)
	more = more || n == 0 && meaning.Lemma(r.wordAt(next), meaning.Adjective) != ""
	if (quality || meaning.Lemma(before, meaning.Adjective) != "") && more && r.nounFollows(next) {
		return next - r.at
	}
	return 0
}

// dropHead notes words that wait for a noun in vain.
func (r *reader) dropHead() {
	if len(r.noun.words) > 0 {
		r.addUnknown(strings.Join(r.noun.words, " "))
	}
	r.noun = phraseHead{}
}

func (r *reader) endSentence() {
	r.dropHead()
	r.group, r.verb, r.each, r.made = nil, false, false, ""
	r.last, r.owner, r.link, r.front, r.copula, r.away, r.none = nil, nil, nil, nil, false, false, false
}

// match returns the senses of the longest entry at a position, and its number of words.
func (r *reader) match(at int) (list []sense, n int, plural bool) {
	var words []string
	for i := at; i < len(r.tokens) && i < at+r.longest && !isMark(r.tokens[i].text); i++ {
		words = append(words, r.tokens[i].text)
		if found, many := r.findSenses(strings.Join(words, " ")); found != nil {
			list, n, plural = found, len(words), many
		}
		if r.tokens[i].possessive {
			break
		}
	}
	if n == 0 && at < len(r.tokens) {
		if v, err := strconv.ParseFloat(r.tokens[at].text, 64); err == nil {
			return []sense{{class: isNumber, value: v}}, 1, false
		}
	}
	return list, n, plural
}

func (r *reader) span(from, n int) string {
	var words []string
	for _, t := range r.tokens[from : from+n] {
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}

// senseOf returns the first sense of one of the classes.
func senseOf(list []sense, classes ...class) (sense, bool) {
	for _, c := range classes {
		for _, s := range list {
			if s.class == c {
				return s, true
			}
		}
	}
	return sense{}, false
}

// nounFollows reports whether the words at a position lead to a noun of the same phrase.
func (r *reader) nounFollows(at int) bool {
	for range 5 {
		list, n, _ := r.match(at)
		if n == 0 {
			if at < len(r.tokens) && !isMark(r.tokens[at].text) && (r.tokens[at].possessive ||
				meaning.Lemma(r.tokens[at].text, meaning.Adjective) != "") {
				at++
				continue
			}
			return false
		}
		if _, ok := senseOf(list, isThing, isSetting, isSurface); ok {
			return true
		}
		if f, ok := senseOf(list, isFeature); ok && slices.Contains(nounFeatures, f.name) {
			return true
		}
		if _, ok := senseOf(list, isMaterial, isSize, isLight, isFeature, isInner); !ok {
			return false
		}
		at += n
	}
	return false
}

// readSenses reads an entry of n words and returns the number of words that it took.
func (r *reader) readSenses(list []sense, n int, plural bool) int {
	next := r.at + n
	if _, ok := senseOf(list, isWithout, isElsewhere); ok {
		_, r.none = senseOf(list, isWithout)
		r.away = !r.none
		if strings.HasPrefix(r.wordAt(r.at), "lead") {
			r.leads = r.last
		}
		r.noun = phraseHead{}
		return n
	}
	if taken := r.readMade(list, next); taken > 0 {
		return n + taken
	}
	if taken := r.readNumber(list, n); taken > 0 {
		return taken
	}
	if s, ok := senseOf(list, isRelation, isInverse, isWithin); ok {
		r.readRelation(s, next)
		return n
	}
	if s, ok := senseOf(list, isArrangement); ok && r.wordAt(next) == "of" {
		r.noun.pattern = s.name
		if r.noun.number == 1 {
			r.noun.number = 0
		}
		return n + 1
	}
	r.readNounPhrase(list, n, plural)
	return n
}

// inMiddle is the relation of things in the middle of a place.
const inMiddle = "in the middle of"

func (r *reader) wordAt(i int) string {
	if i < len(r.tokens) {
		return r.tokens[i].text
	}
	return ""
}

// readMade reads "made of oak" behind a thing, and returns the number of words of the material.
func (r *reader) readMade(list []sense, next int) int {
	if _, ok := senseOf(list, isMade); !ok {
		return 0
	}
	from := next
	for range 2 {
		if list, n, _ := r.match(next); n == 0 && meaning.Lemma(r.wordAt(next), meaning.Adjective) != "" ||
			list != nil &&
				list[0].class == isSize {
			next++
		}
	}
	found, n, _ := r.match(next)
	m, ok := senseOf(found, isMaterial)
	if !ok || r.nounFollows(next+n) {
		return 0
	}
	if other, k, _ := r.match(next + n + 1); r.wordAt(next+n) == "and" && !r.nounFollows(next+n+1+k) {
		if _, ok := senseOf(other, isMaterial); ok {
			n += 1 + k // of two materials the first counts
		}
	}
	if r.last == nil {
		if r.at == 0 || isMark(r.tokens[r.at-1].text) {
			r.made = m.name
			return next + n - from
		}
		return 0
	}
	for _, one := range r.group {
		if r.verb && one.material == "" {
			one.material = m.name
		}
	}
	r.last.material = m.name
	r.last.words += " " + r.span(from-1, next+n-from+1)
	return next + n - from
}

// units are the words for metres, and for feet.
var units = map[string]float64{"m": 1, "metre": 1, "metres": 1, "meter": 1, "meters": 1, "foot": 0.3048,
	"feet": 0.3048,
	"ft":   0.3048}

// readNumber reads a number, or a length, and returns the number of words.
func (r *reader) readNumber(list []sense, n int) int {
	s, ok := senseOf(list, isNumber, isVague)
	if !ok {
		return 0
	}
	if unit := units[r.wordAt(r.at+n)]; unit > 0 && r.wordAt(r.at) != "a" {
		height := s.value * unit
		if r.last != nil && !r.nounFollows(r.at+n+1) {
			r.last.height = height
		} else {
			r.noun.height = height
		}
		if slices.Contains([]string{"high", "tall", "long", "wide"}, r.wordAt(r.at+n+1)) {
			n++
		}
		return n + 1
	}
	article := r.wordAt(r.at) == "a" || r.wordAt(r.at) == "an"
	switch {
	case article:
		r.noun = phraseHead{number: 1}
	case r.noun.number > 1 && s.value >= 100 || r.noun.number > 1 && s.value == 12:
		r.noun.number *= s.value
	default:
		r.noun.number, r.noun.vague = s.value, s.class == isVague
	}
	if !article {
		r.noun.words = append(r.noun.words, r.span(r.at, n))
	}
	if r.wordAt(r.at+n) == "of" {
		n++
		if r.wordAt(r.at+n) == "the" {
			n++
		}
	}
	return n
}

// readRelation reads a relation, whose landmark or subject follows.
func (r *reader) readRelation(s sense, next int) {
	r.noun = phraseHead{}
	for slices.Contains([]string{"the", "a", "an", "early", "late", "full", "broad"}, r.wordAt(next)) {
		next++
	}
	if found, n, _ := r.match(next); n > 0 {
		if _, ok := senseOf(found, isLight); ok && !hasNoun(found) && !r.nounFollows(next+n) {
			return // "at dusk"
		}
	}
	if first := r.wordAt(r.at); !slices.Contains([]string{"down", "near", "close"}, first) {
		r.verb = r.verb || meaning.Lemma(first, meaning.Verb) != ""
	}
	subject, all := r.subjectOf(), r.group
	if !r.verb || subject == nil || !slices.Contains(all, subject) {
		all = nil
	}
	if subject != nil && s.name == "with" && r.wordAt(r.at) == "of" && slices.Contains(pictured, subject.name) {
		r.away = true // the contents of a barrel, the subject of a painting
		return
	}
	switch {
	case s.class == isInverse && s.name == "with":
		if subject != nil && r.isBuilding(subject) {
			r.owner = subject
		}
		r.link = nil
	case s.class == isInverse:
		r.link = &link{relation: s.name, subject: subject, inverse: true}
	case s.class == isWithin && subject != nil && subject.relation == "":
		for _, m := range append([]*mention{subject}, all...) {
			m.relate(s.name, nil)
		}
	case s.class == isWithin:
		r.front = &link{relation: s.name}
	case slices.Contains(pronouns, r.wordAt(next)):
		r.readPronoun(s.name, subject)
	default:
		if subject != nil && subject.relation != "" && !subject.loose {
			subject = nil
		}
		r.link = &link{relation: s.name, subject: subject, all: all}
	}
}

// subjectOf returns the thing that a relation is about: the last one, but not the place that another
// relation leads to.
func (r *reader) subjectOf() *mention {
	if r.last == nil || r.last.class == isThing || !r.last.landmark {
		return r.last
	}
	for _, m := range slices.Backward(r.mentions) {
		if m.class == isThing && m.from == r.text && m.to == r.last {
			return m
		}
	}
	return r.last
}

// pronouns refer to the thing that was named before.
var pronouns = []string{"it", "them", "which", "him", "her"}

// readPronoun relates a thing to the one named before it: "a throne and a rug in front of it".
func (r *reader) readPronoun(relation string, subject *mention) {
	for _, m := range slices.Backward(r.mentions) {
		if m == subject || m.class != isThing || m.left || m.from != r.text {
			continue
		}
		m.landmark = true
		if subject == nil {
			r.front = &link{relation: relation, object: m}
		} else {
			subject.relate(relation, m)
		}
		return
	}
}

func (m *mention) relate(relation string, to *mention) {
	if m.relation == "" || m.loose || m.to == nil && to != nil {
		m.relation, m.to, m.loose = relation, to, false
	}
}

func hasNoun(list []sense) bool {
	_, ok := senseOf(list, isThing, isSetting, isSurface)
	return ok
}

// readNounPhrase reads an adjective or a noun of n words.
func (r *reader) readNounPhrase(list []sense, n int, plural bool) {
	words, follows := r.span(r.at, n), r.nounFollows(r.at+n)
	if s, ok := senseOf(list, isFeature); ok && r.readFeature(s, words, plural, follows) {
		return
	}
	said := r.copula && r.last != nil && r.noun.number == 0 && !r.noun.definite && !plural
	if s, ok := senseOf(list, isMaterial, isSize); ok && (follows || said || !hasNoun(list)) {
		r.readAdjective(s, words, follows, said)
		return
	}
	if _, ok := senseOf(list, isInner); ok {
		r.inner = true
		r.mentions = append(r.mentions, &mention{class: isInner, words: words, from: r.text})
		return
	}
	if s, ok := senseOf(list, isLight); ok && !hasNoun(list) {
		r.light = cmp.Or(r.light, s.name)
		r.mentions = append(r.mentions, &mention{class: isLight, name: s.name, words: words, from: r.text})
		return
	}
	if s, ok := senseOf(list, isThing, isSetting, isSurface); ok {
		if follows && !plural || r.tokens[r.at+n-1].possessive {
			r.noun.words = append(r.noun.words, words)
			r.noun.names = append(r.noun.names, words)
			return
		}
		r.addMention(s, words, plural)
		return
	}
	if _, ok := senseOf(list, isFeature); ok {
		r.addUnknown(strings.Join(append(r.noun.words, words), " "))
		r.noun = phraseHead{}
		return
	}
	if words == "to" && r.at > 0 && slices.Contains(ways, r.tokens[r.at-1].text) {
		r.away, r.leads = true, r.last
	}
	participle := follows && (strings.HasSuffix(words, "ing") || strings.HasSuffix(words, "ed"))
	if _, ok := senseOf(list, isPlain); ok && !slices.Contains(adverbs, words) && !participle {
		r.each = r.each || words == "each"
		r.verb = r.verb || r.last != nil && !slices.Contains(joiners, words) &&
			meaning.Lemma(words, meaning.Verb) != ""
		r.copula = r.copula || slices.Contains(copulas, words)
		r.noun = phraseHead{definite: words == "the" || words == "this" || words == "that"}
	}
}

// ways lead to places that are elsewhere: "the door to the kitchen".
var ways = []string{"path", "road", "exit", "exits", "way", "entrance", "passage", "passageway", "door", "doors", "gate",
	"stairs", "staircase", "gateway", "doorway", "steps", "tunnel", "corridor"}

// joiners are plain words between the things of a list.
var joiners = []string{"and", "or", "but", "some", "both", "as", "well"}

// copulas join a thing to an adjective behind it.
var copulas = []string{"is", "are", "was", "were", "look", "looks", "seem", "seems"}

// readAdjective reads a material or a size, before its thing or behind it: "the walls are wooden".
func (r *reader) readAdjective(s sense, words string, follows, said bool) {
	switch {
	case follows && s.class == isMaterial:
		r.noun.material = cmp.Or(r.noun.material, s.name)
	case follows:
		r.noun.scale = cmp.Or(r.noun.scale, s.value)
	case said && s.class == isMaterial:
		r.last.material = s.name
	case said:
		r.last.scale = s.value
	default:
		r.addUnknown(words)
		return
	}
	if follows {
		r.noun.words = append(r.noun.words, words)
	} else {
		r.last.words += " " + words
	}
}

// adverbs are plain words that stand between a number or an article and its noun.
var adverbs = []string{"very", "rather", "quite", "more", "most", "other", "same", "such", "of"}

// readUnknown reads a word that the vocabulary lacks.
func (r *reader) readUnknown() {
	t := r.tokens[r.at]
	r.at++
	adjective := meaning.Lemma(t.text, meaning.Adjective) != ""
	follows := r.nounFollows(r.at)
	noun := meaning.Lemma(t.text, meaning.Noun)
	switch {
	case t.possessive && follows:
		r.noun.words = append(r.noun.words, t.text+"'s")
		r.noun.names = append(r.noun.names, t.text)
	case follows && noun != "" && r.isMaterial(noun) != "":
		r.noun.material = cmp.Or(r.noun.material, r.isMaterial(noun))
		r.noun.words = append(r.noun.words, t.text)
	case follows && (adjective || noun != ""):
		r.addUnknown(t.text)
	case noun == "" && !adjective && follows && meaning.Lemma(t.text, meaning.Verb) != "":
		r.addUnknown(t.text) // "a rocking chair"
	case noun == "" && !adjective && (meaning.Lemma(t.text, meaning.Verb) != "" ||
		meaning.Lemma(t.text, meaning.Adverb) != ""):
		r.noun, r.verb = phraseHead{}, r.verb || r.last != nil
	case noun == "":
		r.addUnknown(t.text)
		if !adjective {
			r.noun, r.away, r.none = phraseHead{}, false, false
		}
	default:
		r.readUnknownNoun(t.text, noun)
	}
}

// isMaterial returns the material that a noun names, such as oak.
func (v *vocabulary) isMaterial(noun string) string {
	for kind, material := range map[string]string{"wood": "timber", "metallic element": "metal", "fabric": "canvas"} {
		if meaning.IsA(noun, meaning.Noun, kind) {
			return material
		}
	}
	return ""
}

// readUnknownNoun adds the thing whose sense is nearest to a noun, or notes the noun.
func (r *reader) readUnknownNoun(word, noun string) {
	s, name, ok := r.resolve(noun)
	// A noun without any word before it may be a verb.
	verb := meaning.Lemma(word, meaning.Verb) != "" && r.noun.number == 0 && !r.noun.definite && r.noun.words == nil
	if !ok || verb {
		r.verb = r.verb || verb && r.last != nil
		r.addUnknown(strings.Join(append(r.noun.words, word), " "))
		r.noun, r.link, r.away, r.none = phraseHead{}, nil, false, false
		return
	}
	m := r.addMention(s, word, noun != word)
	if m != nil {
		m.assume("%q is shown as %s", word, name)
	}
}

// maxUnknown bounds the words that a reading lists as not understood.
const maxUnknown = 200

func (r *reader) addUnknown(words string) {
	if !slices.Contains(r.unknown, words) && len(r.unknown) < maxUnknown {
		r.unknown = append(r.unknown, words)
	}
}
