package intent

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// A Trait of an utterance is a word, several words in a row, a kind of a word in WordNet, or a fact about its form.
type Trait struct {
	Slot     uint32 // hash of its name
	Strength float32
}

// Strengths of traits relative to a word at 1, set by hand: the fit makes up for most of their differences.
const (
	ofPhrase    = 0.7 // three words, two around another, a word with its clause
	ofHead      = 1.5 // the verb that probably is the act
	ofVerbKind  = 0.9
	ofNounKind  = 0.6
	ofHeadKind  = 1.5
	ofThingKind = 1.05
	ofUsage     = 0.5 // a kind of the verb with a class of the thing
	ofLetters   = 0.3 // four letters of an unknown word
	laterClause = 0.5 // factor of kinds behind the first clause
)

const (
	maxSenses   = 3 // of a word whose kinds count
	usageSenses = 2
	usageSteps  = 2 // up from the senses of a verb that count with the class of its thing
	startWords  = 3 // words that count with their place
	letters     = 4
)

// collector collects the traits of an utterance.
type collector struct {
	tokens []token
	head   int // the first word that may be an act; len(tokens) if there is none
	end    int // of the clause of the head
	traits []Trait
}

// TraitsOf returns the traits of an utterance. Together they have a length of 1, so that long utterances weigh no more.
func TraitsOf(text string) []Trait {
	c := collector{tokens: readTokens(text)}
	c.traits = make([]Trait, 0, 32*(len(c.tokens)+1))
	c.findHead()
	c.add(1, "bias")
	for i := range c.tokens {
		c.addToken(i)
	}
	c.addForm()
	if c.head < len(c.tokens) {
		c.addHead()
	} else {
		c.add(1, "no head")
	}
	var sum float32
	for _, t := range c.traits {
		sum += t.Strength * t.Strength
	}
	length := sqrt(sum)
	for i := range c.traits {
		c.traits[i].Strength /= length
	}
	return c.traits
}

func (c *collector) findHead() {
	c.head, c.end = len(c.tokens), len(c.tokens)
	for i, t := range c.tokens {
		if t.isMark && c.head < i || t.text == "then" && i > 0 {
			c.end = i
			return
		}
		if c.head == len(c.tokens) && t.verb != "" {
			c.head = i
		}
	}
}

// hashOf is FNV-1a over the parts of a trait's name.
func hashOf(parts ...string) uint32 {
	h := uint32(2166136261)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint32(p[i])) * 16777619
		}
		h = (h ^ 0xff) * 16777619
	}
	return h
}

func (c *collector) add(strength float32, name ...string) {
	c.traits = append(c.traits, Trait{hashOf(name...), strength})
}

// addKinds adds the senses of a word and all broader ones. The farther a kind is from the word, the less it weighs.
func (c *collector) addKinds(name, word string, part meaning.Part, strength float32) {
	slot := hashOf(name)
	meaning.Kinds(word, part, maxSenses, func(synset uint32, steps int) {
		c.traits = append(c.traits, Trait{mix(slot, synset), strength / float32(1+steps)})
	})
}

// mix returns the slot of a name together with a number.
func mix(slot, number uint32) uint32 {
	for range 4 {
		slot = (slot ^ number&0xff) * 16777619
		number >>= 8
	}
	return slot
}

// addToken adds a token, the ones behind it, and its kinds.
func (c *collector) addToken(i int) {
	t, clause, factor := c.tokens[i], "first clause", float32(1)
	if i >= c.end {
		clause, factor = "later clause", laterClause
	}
	c.add(1, "word", t.text)
	c.add(ofPhrase, clause, t.text)
	if t.verb != "" && t.verb != t.text {
		c.add(1, "word", t.verb)
	} else if t.noun != "" && t.noun != t.text {
		c.add(1, "word", t.noun)
	}
	if i < startWords {
		c.add(1, "start"[:1+i], t.text)
	}
	if i+1 < len(c.tokens) {
		c.add(1, "two", t.text, c.tokens[i+1].text)
	}
	if i+2 < len(c.tokens) {
		c.add(ofPhrase, "three", t.text, c.tokens[i+1].text, c.tokens[i+2].text)
		c.add(ofPhrase, "around", t.text, c.tokens[i+2].text)
	}
	if t.isMark || grammar[t.text] {
		return
	}
	c.addKinds("verb", t.text, meaning.Verb, ofVerbKind*factor)
	c.addKinds("noun", t.text, meaning.Noun, ofNounKind*factor)
	if t.verb == "" && t.noun == "" && meaning.Lemma(t.text, meaning.Adjective) == "" &&
		meaning.Lemma(t.text, meaning.Adverb) == "" {
		c.addUnknown(t.text, clause)
	}
}

// addUnknown adds the letters of an unknown word: it may be misspelt.
func (c *collector) addUnknown(word, clause string) {
	c.add(1, "unknown", clause)
	word = "^" + word + "$"
	for i := range len(word) - letters + 1 {
		c.add(ofLetters, "letters", word[i:i+letters])
	}
}

// addForm adds facts about the whole utterance.
func (c *collector) addForm() {
	n, me, you := 0, false, false
	for _, t := range c.tokens {
		if t.isMark {
			continue
		}
		n++
		me = me || t.text == "i" || t.text == "me" || t.text == "my" || strings.HasPrefix(t.text, "i'")
		you = you || t.text == "you" || t.text == "your" || strings.HasPrefix(t.text, "you'")
	}
	for _, most := range [...]struct {
		words int
		name  string
	}{{1, "1 word"}, {3, "3 words"}, {6, "6 words"}, {10, "10 words"}, {maxTokens, "more words"}} {
		if n <= most.words {
			c.add(1, most.name)
			break
		}
	}
	if me {
		c.add(1, "first person")
	}
	if you {
		c.add(1, "second person")
	}
	if len(c.tokens) > 0 {
		c.add(1, "last", c.tokens[len(c.tokens)-1].text)
	}
}

// addHead adds the verb that probably is the act, and the thing it is done to.
func (c *collector) addHead() {
	verb := c.tokens[c.head].verb
	by, thing := c.readThing()
	class := classOf(thing)
	c.add(ofHead, "head", verb)
	c.addKinds("head", verb, meaning.Verb, ofHeadKind)
	c.add(1, "head and by", verb, by)
	c.add(ofPhrase, "by", by)
	c.add(1, "in front of head", c.tokens[max(0, c.head-1)].text)
	if c.head == 0 {
		c.add(1, "head first")
	}
	c.add(1, "class", class)
	c.add(1, "head and class", verb, class)
	if thing != "" {
		c.addKinds("thing", thing, meaning.Noun, ofThingKind)
	}
	slot := hashOf("usage", class)
	meaning.Kinds(verb, meaning.Verb, usageSenses, func(synset uint32, steps int) {
		if steps <= usageSteps {
			c.traits = append(c.traits, Trait{mix(slot, synset), ofUsage})
		}
	})
}

// readThing returns the first preposition behind the head, and the last noun of the first ones behind it.
func (c *collector) readThing() (by, thing string) {
	for _, t := range c.tokens[c.head+1 : max(c.end, c.head+1)] {
		switch {
		case prepositions[t.text]:
			if by == "" {
				by = t.text
			}
			if thing != "" {
				return by, thing
			}
		case t.noun != "":
			thing = t.noun
		case thing != "":
			return by, thing
		}
	}
	return by, thing
}

// classesOfThings are kinds of nouns by which a verb means different acts: hit the lights, hit the troll.
var classesOfThings = []string{"person", "animal", "weapon", "container", "food", "body part", "location", "structure",
	"artifact", "plant", "substance", "communication", "act", "time", "feeling", "abstraction"}

func classOf(noun string) string {
	if noun == "" {
		return "none"
	}
	i := slices.IndexFunc(classesOfThings, func(kind string) bool { return meaning.IsMainly(noun, meaning.Noun, kind) })
	if i < 0 {
		return "other"
	}
	return classesOfThings[i]
}
