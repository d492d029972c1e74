package claim

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// A mention is a run of tokens that names an entity, or a pronoun that stands for one.
type mention struct {
	from, to int // tokens [from, to)
	entity   int
	pronoun  bool
}

// A name is a way to name an entity: its words in base form.
type name struct {
	words  []string
	entity int
	part   bool // of a longer name: it needs an article or a capital
}

// names finds the mentions of a world's entities.
type names struct {
	world *World
	first map[string][]name // by the first word
}

// titles are words of names that do not name anybody alone.
var titles = wordSet("the a an of sir dr mr mrs miss ms st old young new great big small little main")

func newNames(w *World) *names {
	n := &names{world: w, first: map[string][]name{}}
	for i, e := range w.Entities {
		n.add(e.Name, i, false)
		for _, a := range e.Aliases {
			n.add(a, i, false)
		}
		if e.Class != Other {
			n.addParts(e, i)
		}
		if e.Class == Group { // "the nine families"
			for _, k := range sortedKeys(e.Fields) {
				if _, counted := e.Fields[k].(float64); counted && isAny(k, "person", "social group") && k != "members" {
					n.add(k, i, true)
				}
			}
		}
	}
	for _, list := range n.first {
		slices.SortStableFunc(list, func(a, b name) int { return len(b.words) - len(a.words) })
	}
	return n
}

func (n *names) add(text string, entity int, part bool) {
	var words []string
	for _, t := range tokensOf(text) {
		if !t.mark && (len(words) > 0 || !articles[t.word]) {
			words = append(words, nounOf(t.word))
		}
	}
	if len(words) == 0 {
		return
	}
	for _, old := range n.first[words[0]] {
		if old.entity == entity && slices.Equal(old.words, words) {
			return
		}
	}
	n.first[words[0]] = append(n.first[words[0]], name{words, entity, part})
}

// addParts adds the shorter names of an entity: its last word, the words after its first ones, and for a person each
// word that is a name or stands for a person.
func (n *names) addParts(e Entity, i int) {
	fields := strings.Fields(e.Name)
	if len(fields) > 1 && articles[strings.ToLower(fields[0])] {
		fields = fields[1:]
	}
	for at, s := range fields {
		if strings.EqualFold(s, "of") && at > 0 { // "the map" of the map of the kingdom
			n.add(strings.Join(fields[:at], " "), i, true)
			fields = fields[:at]
			break
		}
	}
	for at := 1; at < len(fields); at++ {
		if at < len(fields)-1 || !generic[strings.ToLower(fields[at])] {
			n.add(strings.Join(fields[at:], " "), i, true)
		}
	}
	if e.Class == Person {
		for _, s := range fields[:max(len(fields)-1, 0)] {
			if !titles[strings.ToLower(s)] && !isNoun(s) || meaning.IsA(strings.ToLower(s), meaning.Noun, "person") {
				n.add(s, i, true)
			}
		}
	}
}

var articles = wordSet("the a an")

// generic are nouns that stand for anybody.
var generic = wordSet("man woman person people one")

// determiners are words after which a part of a name may name an entity.
var determiners = wordSet("the this that our my your his her their its old young poor dear good")

// findMentions returns the mentions in a sentence, from left to right.
func (n *names) findMentions(list []token) (found []mention) {
	for i := 0; i < len(list); {
		m, ok := n.matchAt(list, i)
		if !ok {
			i++
			continue
		}
		found = append(found, m)
		i = m.to
	}
	return found
}

// matchAt returns the longest name at a token. A part of several entities' names means the one that is near, or none.
func (n *names) matchAt(list []token, i int) (mention, bool) {
	if list[i].mark {
		return mention{}, false
	}
	best, part, entities := 0, false, []int(nil)
	for _, c := range n.first[nounOf(list[i].word)] {
		if len(c.words) < best || !matches(list[i:], c.words) || c.part && !n.mayBePart(list, i, c) ||
			!c.part && !n.mayBeName(list, i, c) {
			continue
		}
		if len(c.words) > best || part && !c.part { // a full name counts more than a part of another
			best, part, entities = len(c.words), c.part, nil
		}
		if c.part && !part {
			continue
		}
		if !slices.Contains(entities, c.entity) {
			entities = append(entities, c.entity)
		}
	}
	e := n.choose(entities)
	return mention{from: i, to: i + max(best, 1), entity: e}, e != None
}

func matches(list []token, words []string) bool {
	if len(list) < len(words) {
		return false
	}
	for k, w := range words {
		if list[k].mark || nounOf(list[k].word) != w {
			return false
		}
	}
	return true
}

// mayBePart reports whether a part of a name may name its entity here: a proper name has a capital, a noun an article.
func (n *names) mayBePart(list []token, i int, c name) bool {
	if class := n.world.Entities[c.entity].Class; class == Place && c.entity != n.world.Place && i > 0 &&
		list[i-1].word == "this" {
		return false // "this house" is the one where the text is
	}
	if n.world.Entities[c.entity].Class == Person && list[i].upper && !isNoun(list[i].word) {
		return true
	}
	return i > 0 && (determiners[list[i-1].word] || n.world.Entities[c.entity].Class == Group &&
		units[list[i-1].word] > 1) || list[i].upper && i > 0
}

// mayBeName reports whether a full name may name its entity here: a single noun in lower case needs an article, since
// "a lord" is not the Lord.
func (n *names) mayBeName(list []token, i int, c name) bool {
	if len(c.words) > 1 || list[i].upper || !isNoun(list[i].word) {
		return !(i > 0 && (list[i-1].word == "a" || list[i-1].word == "an"))
	}
	return i > 0 && determiners[list[i-1].word]
}

// isNoun reports whether WordNet has a word as a noun.
func isNoun(word string) bool { return meaning.Lemma(strings.ToLower(word), meaning.Noun) != "" }

// choose returns the entity that a name with several owners means.
func (n *names) choose(entities []int) int {
	near := slices.DeleteFunc(slices.Clone(entities), func(e int) bool { return !n.world.Entities[e].Near })
	switch {
	case len(entities) == 1:
		return entities[0]
	case len(near) == 1:
		return near[0]
	case n.world.Place != None && slices.Contains(near, n.world.Place):
		return n.world.Place
	}
	return None
}
