package sentence

import (
	"cmp"
	"fmt"
	"slices"
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

	own bool // its words are those of the text
}

// mention is a thing, a setting or a surface that the words name.
type mention struct {
	class    class
	name     string // entry of the vocabulary
	stands   string // the place that the thing takes by itself
	noun     string // as written
	head     string // its last word
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
	own      bool     // the relation follows only from "with"
	owner    *mention // the building of a surface
	assumed  []string
	plural   bool
	implied  bool // belongs to the setting; the words do not name it
	landmark bool // others stand in relation to it
	left     bool // left out, as the words say
	exact    bool // the words give the number
	bare     bool // a plural without an article or a number
	held     bool // it is in or on the thing before it: "a trough of water"
	from     int  // index of the text
}

func (m *mention) assume(format string, args ...any) {
	m.assumed = appendOnce(m.assumed, fmt.Sprintf(format, args...))
}

// relate puts a thing in relation to a landmark, unless the words before did so.
func (m *mention) relate(relation string, to *mention, noun string) {
	switch {
	case m == to:
	case to == nil && noun == "" && m.to != nil && (relation == "above" || relation == "under"):
		// "trees along the path, bright overhead": an adverb says less than a landmark
	case m.relation == "" || m.loose && (to == nil || to.name != "floor" || m.own) ||
		m.to == nil && m.toNoun == "" && to != nil && m.relation != inRowsOf:
		if m.relation == "" || to == nil || to.class != isSetting || m.to != nil || !isRegional(m.relation) {
			m.relation = fitRelation(relation, m, to)
		}
		m.to, m.toNoun, m.loose, m.own = to, noun, false, false
	default:
		m.assume("of two places the first counts, not %s", strings.TrimSpace(relation+" "+noun))
		return
	}
	if to != nil {
		to.landmark = true
		m.loose = to.class == isSurface && to.name == "floor" && !isRegional(m.relation) // says little
	}
}

// fitRelation returns the relation that words mean for a landmark: what is strewn across a room is in it.
func fitRelation(relation string, m, to *mention) string {
	switch {
	case relation == "at the foot of" && to != nil && (to.name == "bed" || to.name == "bunk"):
		return "at the end of"
	case relation == "at the foot of":
		return "beside"
	case relation == byAgent && slices.Contains([]string{asPlant, asHouse, asLand}, m.stands):
		return "beside"
	case relation == byAgent:
		return "on"
	case relation == about && (to == nil || to.class != isThing):
		return "in"
	case relation == about:
		return "around"
	case relation == onSide:
		if slices.Contains([]string{onWall, isFlat, onTable}, m.stands) {
			return "on"
		}
		return "beside"
	case to == nil:
	case to.class == isSurface && to.name == "floor" && slices.Contains([]string{"in", "around", "along"}, relation):
		return "on"
	case relation == "in" && to.class == isSetting && slices.Contains(open, to.name):
		return "on"
	case relation == "in" && (to.name == "shelf" || to.name == "bookcase"):
		return "on"
	case to.class == isSetting && relation == "on" && slices.Contains(enclosed, to.name):
		return "in"
	case m.class == isSurface && (m.name == "roof" || m.name == "ceiling") && relation == "on" && to.class == isThing:
		return "above" // "a roof covers the benches"
	}
	return relation
}

// about is the relation of things that are strewn about: in a place, around a thing.
const about = "about"

// byAgent is the relation of what is done by a thing: "shuttered by planks", "shaded by a willow".
const byAgent = "by agent"

// open are places on which things are.
var open = []string{"island", "hillside", "cliffs", "beach", "quay"}

// isOpenPlace reports whether things are on a place rather than in it.
func (r *reader) isOpenPlace(m *mention) bool {
	return slices.Contains(open, m.name) || r.Settings[m.name].Way != "" && m.name != "pass"
}

func isRegional(relation string) bool {
	return relation == inMiddle || strings.HasPrefix(relation, "at the ") || relation == "in the corner of" ||
		relation == "on both sides of" || relation == "at each end of"
}

// enclosed are places with walls: words that lead to "on" mean their inside.
var enclosed = []string{"room", "hall", "throne_room", "corridor", "cellar", "cell", "dungeon", "crypt", "cave", "mine",
	"library", "study", "bedroom", "barracks", "kitchen", "taproom", "armory", "sanctuary", "courtyard", "garden", "wood"}

// paint gives a thing a material, unless it has a better one. The colour of a place is not shown.
func (m *mention) paint(material string) {
	if m.class == isSetting && isColour(material) {
		m.assume("the colour of a place is not shown")
		return
	}
	m.material = betterMaterial(m.material, material)
}

// inRowsOf is the relation of things in rows to each other.
const inRowsOf = "in rows"

// isFree reports whether a thing has no place of its own yet.
func (m *mention) isFree() bool { return m.relation == "" || m.loose }

// reader reads texts: noun phrases, and the words between them that say how they belong together.
type reader struct {
	*vocabulary
	mentions  []*mention
	unknown   []string
	creatures []creatures
	light     string
	inner     bool // the words say that the place is below the ground or inside
	text      int  // index of the present text
	texts     [fromWords + 1][]token
	joints    [fromWords + 1]map[int]bool
	spent     map[int]bool // positions of words of the present text that joined others

	tokens []token
	at     int
	topic  *mention // the first thing of the sentence before
	clause
}

// clause is the state of the present sentence.
type clause struct {
	group   []*mention // the things that a verb is about
	segment int        // index in group behind the last comma
	run     []*mention // the things that only "and" joins
	main    []*mention // the group before a relative clause
	comma   bool       // a comma stands before
	listed  bool       // "and" or a comma stood before the last noun phrase
	last    *mention   // the last noun phrase, if it is understood
	strange bool       // the last noun phrase is not understood
	inside  bool       // it belongs to the relation of another phrase
	subject *mention   // the thing before the verb
	opener  *mention   // the thing before the first verb
	began   int        // mentions before this sentence
	named   string     // the last noun phrase as written there
	whole   *mention   // the thing before "of", if the last noun phrase is a part of what it names
	fronted bool       // it begins with "surrounded by" and its like
	region  sense      // the last one, for "in the other"
	reduced *mention   // the thing of a participle: "a stool tucked under it"
	leads   bool       // the verb is that of a way: "a path runs from the gate to the well"
	centre  *mention   // the thing that "it" meant last
	object  bool       // the group is what a verb is done to: "a bridge crosses the stream"
	after   bool       // nothing stands behind the last noun phrase
	joined  bool       // "and" or a comma stands before
	verb    bool       // a verb came behind the group
	turned  bool       // the verb stood before the group: "there is"
	copula  bool       // "is" or "are" came before
	link    *link      // waits for its landmark
	front   *link      // holds for the things that follow
	owner   *mention   // of features: "a tower with battlements"
	pattern string     // of the list: "rows of pews and chairs"
	each    bool
	away    bool   // things are compared, gone or elsewhere
	once    bool   // only the next phrase is
	none    bool   // the next thing is left out
	made    string // material of the next thing
	also    *mention
	regions map[*mention]string // nouns of regions: "the centre of the room"
}

// link is a relation whose other side is not read yet, or that holds for a list.
type link struct {
	relation string
	subjects []*mention
	to       *mention
	toNoun   string
	inverse  bool   // the things of the list follow, the landmark came before
	held     bool   // "of"
	each     bool   // as many at each side or end
	either   bool   // the same of one thing
	region   string // of the landmark: its side
	outer    *link  // of the container whose contents this link has
	lost     bool   // its subject is not understood
	spread   bool   // a verb such as "dot" leads to the landmark
	verb     bool
}

// readText reads a text, sentence by sentence.
func (r *reader) readText(text string, index int) {
	tokens, whole := r.splitWords(text)
	r.text, r.tokens, r.texts[index], r.topic = index, tokens, tokens, nil
	r.spent = map[int]bool{}
	r.joints[index] = r.spent
	if !whole {
		r.addUnknown(fmt.Sprintf("the words after the first %d", maxTokens))
	}
	r.endSentence()
	for r.at = 0; r.at < len(r.tokens); {
		r.readNext()
	}
	r.endSentence()
}

// spend notes that the next n words join others.
func (r *reader) spend(n int) {
	for i := range n {
		r.spent[r.at+i] = true
	}
}

func (r *reader) endSentence() {
	r.endLink()
	r.topic = cmp.Or(r.firstOf(r.group), r.topic)
	r.clause = clause{began: len(r.mentions)}
}

// readNext reads the words at the present position.
func (r *reader) readNext() {
	word := r.wordAt(r.at)
	if isMark(word) {
		r.readMark(word)
		r.at++
		return
	}
	list, n, _ := r.match(r.at)
	r.endFronted(word)
	if r.skipDistance(list, n) {
		return
	}
	switch {
	case r.readReference(word), r.readOf(word):
	case r.readConnection(list, n):
	case r.readPredicate(list, n):
	case r.copula && n == 0 && r.link == nil && isWordAs(word, meaning.Adjective) && !r.nounFollows(r.at+1):
		r.addUnknown(word)
		r.at++
	case n == 1 && r.link == nil && hasNoun(list) && hasSense(list, isPlain) && isWordAs(word, meaning.Verb):
		r.readVerb(word)
	case r.after && n <= 1 && (r.isVerb(word, list) || isWordAs(word, meaning.Verb) &&
		(hasSense(list, isPlain) || r.isFunction(r.at+1)) && !slices.Contains(prepositions, word)):
		if n == 0 && isWordAs(word, meaning.Noun) && !isParticiple(word) {
			r.addUnknown(word)
		}
		r.readVerb(word)
	case r.readPhrase():
	case n > 0:
		r.readPlain(list, n)
	default:
		r.readStranger(word)
	}
}

// paces are lengths that give a distance rather than a size.
var paces = []string{"steps", "paces", "inches", "miles", "minutes"}

// skipDistance skips a distance: "it extends forty feet into the sea". Things that are a distance from a landmark are
// beside it.
func (r *reader) skipDistance(list []sense, n int) bool {
	at := r.at
	if r.wordAt(at) == "a" && n == 1 {
		at++
		list, n, _ = r.match(at)
	}
	unit := r.wordAt(at + n)
	if !hasSense(list, isNumber, isVague) || units[unit] == 0 && !slices.Contains(paces, unit) {
		return false
	}
	at += n + 1
	if r.wordAt(at) == "of" || r.nounFollows(at) {
		return false
	}
	if slices.Contains(dimensions, r.wordAt(at)) || r.wordAt(at) == "away" {
		at++
	}
	if r.wordAt(at) == "from" {
		r.tokens[at].text = "near"
	} else if units[unit] == 0 {
		return false // "two steps"
	}
	r.at = at
	return true
}

func (r *reader) readMark(mark string) {
	if !strings.Contains(",()", mark) {
		r.endSentence()
		return
	}
	r.endForward()
	r.after, r.joined, r.comma, r.copula, r.each = false, true, true, false, false
	r.segment = len(r.group)
	if r.once {
		r.away, r.once = false, false
	}
	r.none = false
}

// endLink gives a relation without a landmark to its things: "a fire burns outside".
func (r *reader) endLink() {
	l := r.link
	if r.link = nil; l == nil || l.inverse {
		return
	}
	if len(l.subjects) == 0 && !l.lost {
		r.front = l
	}
	for _, m := range l.subjects {
		if m.isFree() {
			m.relate(l.relation, nil, "")
		}
	}
}

// endForward ends a relation that waits for its landmark; lists of things in a relation go on.
func (r *reader) endForward() {
	if r.link != nil && !r.link.inverse {
		r.endLink()
	}
}

// seeming are words between "what" and a noun phrase: "beside what appears to be a well".
var seeming = []string{"is", "was", "are", "were", "looks", "look", "looked", "appears", "appear", "appeared", "seems",
	"seem", "seemed", "like", "to", "be", "once", "used", "formerly", "could", "might", "must", "may", "have", "been",
	"only", "probably"}

// pronouns refer to the thing that was named before.
var pronouns = []string{"it", "them", "which", "him", "her", "they", "he", "she", "itself", "themselves"}

// readReference reads a pronoun: the landmark of a relation, or the subject of a clause.
func (r *reader) readReference(word string) bool {
	pointing := r.link != nil && slices.Contains([]string{"that", "this", "these", "those"}, word) &&
		(r.isVerbAhead(r.at+1) || isMark(r.wordAt(r.at+1)))
	switch {
	case r.link != nil && word == "what":
		for r.at++; slices.Contains(seeming, r.wordAt(r.at)); r.at++ {
		}
	case r.link != nil && r.wordAt(r.at+1) == "of" && slices.Contains(pronouns, r.wordAt(r.at+2)):
		r.at += 2 // "one of them"
	case r.link != nil && !r.link.inverse && (slices.Contains(pronouns, word) || pointing):
		l := r.link
		r.link, r.after = nil, false
		if len(l.subjects) > 1 && word == "it" && !(l.subjects[0].loose && l.subjects[0].to == l.subjects[1].to) {
			l.subjects = []*mention{cmp.Or(r.last, l.subjects[0])}
		}
		if word == "which" {
			r.main, r.comma = r.group, false
			l.subjects, r.group, r.segment, r.verb, r.turned = nil, nil, 0, false, false
		}
		to := r.antecedentOf(word, l.subjects)
		if m := r.last; word == "which" && m != nil && !slices.Contains(l.subjects, m) &&
			!(l.relation == "on" && isVagueRoom(m)) {
			to = m
		}
		for _, m := range l.subjects {
			if to == nil && m.to == nil && m.toNoun == "" {
				m.relation = l.relation
			}
		}
		if word == "it" {
			r.centre = to
		}
		if to != nil {
			if len(l.subjects) == 0 {
				l.to, l.toNoun, r.front = to, to.noun, l
			}
			for _, m := range l.subjects {
				m.relate(l.relation, to, to.noun)
			}
		}
		r.at++
	case (word == "which" || word == "that" || word == "who") && r.last != nil && (r.after || word == "which") &&
		(word != "that" || !r.nounFollows(r.at+1) || r.isVerb(r.wordAt(r.at+1), nil)):
		if r.last.class == isThing || len(r.group) == 0 || r.verb {
			if r.comma && !r.verb && slices.Contains(r.group, r.last) {
				r.main, r.comma = r.group, false // "the tower, which stands on a hill, overlooks the sea"
			}
			r.group, r.segment = []*mention{r.last}, 0
		}
		r.verb, r.after, r.joined, r.turned = false, false, false, false
		r.at++
	case (word == "where" || word == "wherein") && r.last != nil:
		r.front = &link{relation: "in", to: r.last, toNoun: r.last.noun}
		if slices.Contains(holders, r.last.name) || r.Things[r.last.name].Stands == isFlat && r.last.class == isThing {
			r.front.relation = "on"
		}
		r.group, r.verb, r.after, r.joined = nil, false, false, false
		r.at++
	case (word == "it" || word == "they" || word == "this" && r.isVerb(r.wordAt(r.at+1), nil)) && r.link == nil:
		if m := cmp.Or(r.firstOf(r.group), r.topic); m != nil {
			r.group, r.segment, r.verb, r.joined = []*mention{m}, 0, false, false
		}
		r.after = false
		r.at++
	default:
		return false
	}
	return true
}

func (r *reader) firstOf(list []*mention) *mention {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// antecedentOf returns the thing that a pronoun means: the last one that is not its own subject.
// "It" is one thing rather than several, "them" several.
func (r *reader) antecedentOf(word string, subjects []*mention) (found *mention) {
	fits := func(m *mention) bool {
		return m != nil && !m.left && m.from == r.text && !slices.Contains(subjects, m) && (word == "it") == (m.count == 1)
	}
	if len(subjects) > 0 && (subjects[0].own || subjects[0].loose) && fits(subjects[0].to) &&
		subjects[0].to.class != isSurface {
		return subjects[0].to // "a table with a lamp on it"
	}
	if word == "it" && fits(r.centre) {
		return r.centre // "a counter with a scale on it, and behind it a shelf"
	}
	if word != "which" && fits(r.opener) && r.opener.class == isThing {
		return r.opener
	}
	if r.last != nil && r.last.class == isSetting && !isVagueRoom(r.last) && fits(r.last) {
		return r.last
	}
	for _, m := range slices.Backward(r.mentions) {
		if m.class != isThing || m.left || m.from != r.text || slices.Contains(subjects, m) {
			continue
		}
		if found = cmp.Or(found, m); word == "which" || (word == "it") == (m.count == 1) {
			return m
		}
	}
	return found
}

// isVagueRoom reports whether a place is only the frame of the things in it.
func isVagueRoom(m *mention) bool { return m.name == "room" || m.name == "plain" }

// readOf reads "of" behind a noun: the material of a thing, what it holds or shows, or its owner.
func (r *reader) readOf(word string) bool {
	if _, n := r.matchRegion(r.at); word == "to" && n == 0 && r.after && r.isFunction(r.at+1) && r.nounFollows(r.at+2) {
		r.also, r.after = r.last, false
		r.at++
		return true
	}
	if word != "of" || !r.after {
		return false
	}
	material, next := r.parseMaterial(r.at + 1)
	if material != "" && r.last == nil && isColour(material) {
		r.addUnknown(r.span(r.at+1, next-r.at-1))
		r.at = next
		return true
	}
	if material != "" && r.last != nil {
		r.last.material = betterMaterial(r.last.material, material)
		r.last.words += " " + r.span(r.at, next-r.at)
		r.at = next
		return true
	}
	switch {
	case r.last == nil:
	case slices.Contains(pictured, r.last.name):
		r.away, r.once = true, true
	case slices.Contains(holding, r.last.name) || slices.Contains(bearing, r.last.name), r.isGrown(r.last, r.at+1):
		outer := r.link
		if outer != nil && outer.held {
			outer = outer.outer
		}
		r.link = &link{relation: "in", inverse: true, to: r.last, toNoun: r.last.noun, held: true,
			subjects: []*mention{r.last}}
		if slices.Contains(bearing, r.last.name) {
			r.link.relation = "on"
		}
		r.link.outer = outer
		r.after = false
		r.at++
		return true
	}
	r.also = r.last
	r.after = false
	r.at++
	return true
}

// isGrown reports whether plants behind "of" grow at a place: "a field of wheat".
func (r *reader) isGrown(m *mention, at int) bool {
	p, _, ok := r.parsePhrase(at)
	return ok && m.class == isSetting && p.class == isThing && p.known && !p.definite && r.Things[p.name].Stands == asPlant
}

func (r *reader) isMaterialAt(at int) bool {
	list, _, _ := r.match(at)
	return hasSense(list, isMaterial)
}

// parseMaterial reads a material that is no adjective: "rough stone and wood". Of two the first counts.
func (r *reader) parseMaterial(at int) (material string, next int) {
	for range 3 {
		list, n, _ := r.match(at)
		word := r.wordAt(at)
		s, ok := senseOf(list, isMaterial)
		if !ok && n == 0 && r.isMaterial(meaning.Lemma(word, meaning.Noun)) != "" {
			s, n, ok = sense{name: r.isMaterial(meaning.Lemma(word, meaning.Noun))}, 1, true
		}
		switch {
		case ok && isColour(s.name) && r.isMaterialAt(at+n):
			at += n
		case ok && (r.wordAt(at+n) == "," || !r.nounFollows(at+n)):
			at += n
			if r.wordAt(at) == "and" || r.wordAt(at) == "," && r.wordAt(at+1) == "and" {
				if other, k := r.parseMaterial(at + 1); other != "" {
					at = k
				}
			}
			return s.name, at
		case ok, hasSense(list, isSize, isLight), slices.Contains(quantifiers, word), word == "the",
			n == 0 && word != "" && !isMark(word) && isWordAs(word, meaning.Adjective):
			at += max(n, 1)
		default:
			return "", at
		}
	}
	return "", at
}

// skipMade notes what a thing is made of if that is no material.
func (r *reader) skipMade(n int) bool {
	p, next, ok := r.parsePhrase(r.at + n)
	if !ok || !r.after {
		return false
	}
	r.addUnknown(r.span(r.at, n) + " " + p.words)
	if other, after, ok := r.parsePhrase(next + 1); r.wordAt(next) == "and" && ok && !other.definite && other.number == 0 {
		r.addUnknown(other.words)
		next = after // "made of rope and planks"
	}
	r.at = next
	return true
}

// readConnection reads words that say how the phrases around them belong together.
func (r *reader) readConnection(list []sense, n int) bool {
	word, next := r.wordAt(r.at), r.at+n
	if s, ok := senseOf(list, isMade); ok {
		return r.readMade(n) || r.connect(list, n) || r.skipMade(n)
	} else if hasNoun(list) && !r.after && s.class != isMade {
		return false
	}
	switch {
	case word == "at" && slices.Contains([]string{"least", "most"}, r.wordAt(next)):
		next++
	case hasSense(list, isWithout):
		r.endLink()
		r.none, r.after = true, false
	case word == "from" && r.wordAt(r.at+1) == "which" && r.last != nil:
		r.link, r.front = nil, &link{relation: "hanging from", to: r.last, toNoun: r.last.noun}
		r.group, r.segment, r.verb, r.turned, r.after, r.joined = nil, 0, false, false, false, false
		next++
	case word == "from" && n == 1 && !r.after && (r.verb || r.copula || len(r.mentions) == r.began):
		r.readSource()
	case hasSense(list, isElsewhere):
		r.endLink()
		r.away, r.once = true, true
		r.after = false
	case word == "and" || word == "or" || word == "nor" || word == "but" || word == "while" || word == "along":
		if _, ok := senseOf(list, isRelation); ok {
			return r.connect(list, n)
		}
		r.readJoiner(word)
	case word == "there" || word == "there's" || word == "here":
		r.endLink()
		r.group, r.segment, r.verb, r.turned, r.after, r.joined = nil, 0, false, true, false, false
		if r.front != nil && r.front.verb {
			r.front = nil
		}
	case word == "each":
		r.each = true
	case word == "all" && r.comma && r.link != nil && r.link.inverse && r.isParticipleAhead(next):
		r.readWholeList()
	default:
		return r.connect(list, n)
	}
	r.at = max(next, r.at+1)
	return true
}

// readSource reads "from" behind a verb or at the start of a sentence: "water drips from the ceiling", "from the beam
// hangs a lamp". Its noun is in the scene.
func (r *reader) readSource() {
	r.endLink()
	if len(r.mentions) > r.began {
		return
	}
	if _, next, ok := r.parsePhrase(r.at + 1); ok && slices.Contains(hangs, meaning.Lemma(r.wordAt(next), meaning.Verb)) {
		r.link = &link{relation: "hanging from"}
	}
}

func (r *reader) readJoiner(word string) {
	if !r.none || word != "or" && word != "nor" {
		r.none = false
	}
	r.endForward()
	r.after, r.joined, r.copula = false, true, false
	if k := len(r.group); word == "along" && k > 0 && r.group[k-1].relation != "" {
		r.front = &link{relation: r.group[k-1].relation, to: r.group[k-1].to, toNoun: r.group[k-1].toNoun}
	}
	if word == "but" || word == "while" {
		r.front, r.segment = nil, len(r.group)
	}
	if r.once && r.wordAt(r.at+1) == "other" {
		return
	}
	if r.once {
		r.away, r.once = false, false
	}
}

// isParticipleAhead reports whether a participle stands at a position, maybe behind an adverb.
func (r *reader) isParticipleAhead(at int) bool {
	if isWordAs(r.wordAt(at), meaning.Adverb) && !isParticiple(r.wordAt(at)) {
		at++
	}
	return isParticiple(r.wordAt(at))
}

// readWholeList makes the list behind a verb the subject: "stocked with swords and spears, all arranged on racks".
func (r *reader) readWholeList() {
	var list []*mention
	for _, m := range r.mentions[r.began:] {
		if m.to == r.link.to && m.loose && m.to != nil {
			list = append(list, m)
		}
	}
	if len(list) > 0 {
		r.link, r.front, r.group, r.segment = nil, nil, list, 0
		r.verb, r.copula, r.reduced, r.last = false, false, nil, list[len(list)-1]
	}
}

// readPredicate reads an adjective behind its noun: "the walls are wooden", "a table, old and wooden".
func (r *reader) readPredicate(list []sense, n int) bool {
	if n == 0 || hasNoun(list) && !r.copula || !r.copula && !r.after || len(r.group) == 0 {
		return false
	}
	if _, next := r.parseMaterial(r.at); r.nounFollows(r.at+n) &&
		!(r.copula && (isMark(r.wordAt(next)) || r.wordAt(next) == "and")) {
		return false
	}
	s, ok := senseOf(list, isMaterial, isSize)
	if !ok {
		return false
	}
	if s.class == isMaterial {
		if name, next := r.parseMaterial(r.at); name != "" {
			s.name, n = name, next-r.at
		}
	}
	for _, m := range r.group {
		if s.class == isMaterial {
			m.paint(s.name)
		} else {
			m.scale = s.value
		}
	}
	r.group[0].words += " " + r.span(r.at, n)
	r.at += n
	return true
}

// isVerb reports whether a word behind a noun is a verb.
func (r *reader) isVerb(word string, list []sense) bool {
	return !hasSense(list, isThing, isSetting, isSurface, isMaterial, isSize, isFeature, isLight, isInner) &&
		isWordAs(word, meaning.Verb) && !slices.Contains(prepositions, word)
}

// copulas join a thing to an adjective or to another noun.
var copulas = []string{"is", "are", "was", "were", "look", "looks", "seem", "seems"}

func (r *reader) readVerb(word string) {
	r.resumeMain()
	listed := r.link != nil && r.link.inverse && r.listed
	r.endLink()
	if before := r.wordAt(r.at - 1); (before == "and" || before == "but") && isFinite(word) {
		if m := r.firstOf(r.group); r.verb && !r.turned && m != nil { // "the yard is full of grass and is dotted with trees"
			r.group, r.segment, r.last, r.front = []*mention{m}, 0, m, nil
		}
	}
	switch {
	case r.strange && !r.inside && r.after && r.segment == len(r.group):
		r.group, r.segment, r.turned = nil, 0, false
	case !isParticiple(word):
		r.closeList(listed)
		r.reduced, r.subject = nil, cmp.Or(r.firstOf(r.group), r.subject)
		r.opener = cmp.Or(r.opener, r.subject)
	case r.after && !r.copula:
		r.reduced = cmp.Or(r.whole, r.last)
		if m := r.last; slices.Contains(postures, word) && m != nil && m.loose && slices.Contains(r.group, m.to) &&
			m.to.class == isThing && !r.isPronounAhead() {
			r.reduced = m.to // "a cart full of hay sitting outside"
		}
	}
	r.strange, r.inside = r.strange && !r.inside && r.after, false
	r.copula = r.copula || slices.Contains(copulas, word)
	r.verb, r.after, r.joined = true, false, false
	r.spent[r.at] = true
	lemma := meaning.Lemma(word, meaning.Verb)
	r.leads = slices.Contains(leading, lemma) || slices.Contains(flowing, lemma)
	if r.front != nil {
		r.front.verb = true
	}
	r.at++
}

// resumeMain goes on with the clause that a relative clause interrupted.
func (r *reader) resumeMain() {
	if r.main != nil && r.comma && !r.after {
		r.group, r.segment, r.front, r.main, r.last, r.verb = r.main, 0, nil, nil, r.main[0], false
	}
}

// postures are participles of things that stand by themselves.
var postures = []string{"sitting", "standing", "located", "situated", "placed", "positioned", "lying", "resting"}

// isPronounAhead reports whether the relation behind the present word leads to a pronoun.
func (r *reader) isPronounAhead() bool {
	_, n, _ := r.match(r.at + 1)
	return slices.Contains(pronouns, r.wordAt(r.at+1+max(n, 1)))
}

// endFronted gives the things of "surrounded by trees, the cottage has a porch" their landmark.
func (r *reader) endFronted(word string) {
	m := r.last
	if !r.fronted || m == nil || !r.after || !isFinite(word) {
		return
	}
	for _, one := range r.mentions[r.began:] {
		if one != m && one.to == nil && one.relation != "" {
			one.to, one.toNoun = m, m.noun
			one.relation, m.landmark = fitRelation(one.relation, one, m), true
		}
	}
	m.relation, m.to, m.toNoun, m.loose = "", nil, "", false
	r.fronted, r.front, r.link, r.group, r.segment = false, nil, nil, []*mention{m}, 0
}

// closeList takes the things behind the last comma out of a list that a verb shows to be complete: "on the table are
// books, and a lamp hangs above".
func (r *reader) closeList(listed bool) {
	if r.object && r.segment > 0 && r.segment < len(r.group) {
		r.group, r.segment, r.object = slices.Clone(r.group[r.segment:]), 0, false
	}
	done := r.verb || r.turned || r.front != nil && r.front.verb && !r.front.inverse
	if !r.after || r.last == nil || !done || !r.last.loose {
		return
	}
	tail := r.group[min(r.segment, len(r.group)):]
	switch {
	case listed:
		tail = []*mention{r.last}
	case len(r.group) < 2, !slices.Contains(r.group, r.last):
		return
	case r.segment == 0, len(tail) == 0:
		tail = []*mention{r.last}
	}
	for _, m := range tail {
		if m.loose {
			m.relation, m.to, m.toNoun, m.loose = "", nil, "", false
		}
	}
	r.front, r.turned = nil, false
	r.group, r.segment = slices.Clone(tail), 0
}

// readPlain reads words of the vocabulary that are no phrase.
func (r *reader) readPlain(list []sense, n int) {
	words := r.span(r.at, n)
	switch {
	case hasSense(list, isInner):
		r.inner = true
		r.mentions = append(r.mentions, &mention{class: isInner, words: words, from: r.text})
	case hasSense(list, isPlain):
		if isWordAs(words, meaning.Verb) && !slices.Contains(prepositions, words) && words != "a" {
			r.readVerb(words)
			return
		}
		r.after = r.after && slices.Contains(fillers, words)
	case slices.Contains(determiners, words):
	default:
		r.addUnknown(words)
	}
	r.at += n
}

// fillers stand between a noun and the relation that follows.
var fillers = []string{
	"also",
	"up",
	"both",
	"right",
	"just",
	"still",
	"now",
	"even",
	"only",
	"here",
	"out",
	"down",
	"off",
	"very",
	"all",
	"back",
}

// readStranger reads a word that the vocabulary lacks, and that is no noun.
func (r *reader) readStranger(word string) {
	r.at++
	verb := isWordAs(word, meaning.Verb)
	switch {
	case verb && (r.after || r.verb || r.wordAt(r.at-2) == "to") && !isWordAs(word, meaning.Noun):
		r.at--
		r.readVerb(word)
		return
	case strings.HasSuffix(word, "ly") && isWordAs(word, meaning.Adverb):
		return
	case isWordAs(word, meaning.Adverb), meaning.IsFunctionWord(word):
	case verb:
		r.verb = r.verb || r.last != nil
		if isWordAs(word, meaning.Adjective) && !isParticiple(word) {
			r.addUnknown(word)
		}
	default:
		r.addUnknown(word)
	}
	r.after = false
}

// resolveVague gives things of "the area around the pond" the relation of the area: it is only a frame.
func (r *reader) resolveVague() {
	for _, m := range r.mentions {
		if f := m.to; f != nil && f.class == isSetting && isVagueRoom(f) && f.to != nil && f != m && f.to != m &&
			(m.relation == "in" || m.relation == "on") && slices.Contains([]string{"area", "space", "spot"}, f.head) &&
			f.relation != "facing" && f.relation != "leading to" {
			m.relation, m.to, m.toNoun = f.relation, f.to, f.toNoun
		}
	}
}
