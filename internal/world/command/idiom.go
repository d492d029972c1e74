package command

import (
	"slices"
	"strings"
	"sync"
)

// An idiomNode is a place in the idioms that begin with one word. An idiom is a phrase that means an act which its verb
// does not mean alone. Its parts are words, * for the object, + for the target (an instrument or a recipient), @name
// for
// a word of a set, and $ for the end of the clause. * and + are one to maxGap words. A word of the sets weapon, coin
// and
// shield is the object or target that is not there else.
type idiomNode struct {
	act  Verb // of the idiom that ends here, or ""
	next map[string]*idiomNode
	sets []string // parts in next that are sets
}

// nothing stands in wordList for the act of idioms that ask for none: roll for initiative.
const nothing Verb = "nothing"

// maxGap is the most words of an idiom's object or target.
const maxGap = 5

// addIdiom adds the idioms that a text writes, in which a|b is either word.
func addIdiom(all map[string]*entry, act Verb, text string) {
	parts := strings.Fields(text)
	var nodes []*idiomNode
	for word := range strings.SplitSeq(parts[0], "|") {
		e := entryOf(all, word)
		if e.idioms == nil {
			e.idioms = &idiomNode{}
		}
		nodes = append(nodes, e.idioms)
	}
	for _, part := range parts[1:] {
		var longer []*idiomNode
		for word := range strings.SplitSeq(part, "|") {
			for _, n := range nodes {
				longer = append(longer, n.child(word))
			}
		}
		nodes = longer
	}
	for _, n := range nodes {
		if n.act == "" {
			n.act = act
		}
	}
}

// child returns the node after a part, which it adds if there is none.
func (n *idiomNode) child(part string) *idiomNode {
	c := n.next[part]
	if c == nil {
		c = &idiomNode{}
		if n.next == nil {
			n.next = map[string]*idiomNode{}
		}
		n.next[part] = c
		if name, isSet := strings.CutPrefix(part, "@"); isSet {
			n.sets = append(n.sets, name)
		}
	}
	return c
}

// idiomSets returns the words of each set, by its name.
var idiomSets = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for line := range strings.Lines(wordList) {
		head, list, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if name, isSet := strings.CutPrefix(head, "set "); ok && isSet {
			if all[name] == nil {
				all[name] = map[string]bool{}
			}
			for word := range strings.SplitSeq(list, ", ") {
				all[name][word] = true
			}
		}
	}
	return all
})

// An idiomMatch is the longest idiom at the beginning of words.
type idiomMatch struct {
	words          []word
	act            Verb
	object, target []word
	end            int // 0 if there is none
}

// idiomOf returns the longest idiom at the beginning of words.
func idiomOf(words []word) idiomMatch {
	m := idiomMatch{words: words}
	e := words[0].known
	if e.idioms == nil && e.verb == nil {
		e, _ = readVerbForm(words[0].fold, e)
	}
	if e != nil && e.idioms != nil {
		m.walk(e.idioms, 1, nil, nil)
	}
	return m
}

// note keeps an idiom that ends at a node, if it is the longest. A noun that "of" goes on with is none of an idiom:
// give her the slip of bone.
func (m *idiomMatch) note(n *idiomNode, at int, object, target []word) {
	if n != nil && n.act != "" && at > m.end {
		m.act, m.end, m.object, m.target = n.act, at, object, target
	}
}

// walk follows the words from a place on.
func (m *idiomMatch) walk(n *idiomNode, at int, object, target []word) {
	if at == len(m.words) || m.words[at].fold != "of" || dividesManner(m.words[at-1]) {
		m.note(n, at, object, target)
	}
	if at == len(m.words) {
		m.note(n.next["$"], at, object, target)
		return
	}
	if m.words[at].kind != plainWord || n.next == nil {
		return
	}
	if c := n.next[m.words[at].fold]; c != nil {
		m.walk(c, at+1, object, target)
	}
	for _, set := range n.sets {
		if fold := m.words[at].fold; !idiomSets()[set][fold] && (set != "being" || !isBeing(fold)) {
			continue
		}
		thing, other := object, target
		switch named := m.words[at : at+1]; {
		case set == "weapon" && other == nil:
			other = named
		case set != "weapon" && set != "blow" && set != "scene" && set != "bag" && set != "gear" && set != "ride" && thing == nil:
			thing = named
		}
		m.walk(n.next["@"+set], at+1, thing, other)
	}
	if c := n.next["*"]; c != nil {
		m.walkGap(at, func(end int) (*idiomNode, []word, []word) {
			if object != nil && target == nil {
				return c, object, m.words[at:end] // pull the bowl out of the cabinet
			}
			return c, m.words[at:end], target
		})
	}
	if c := n.next["+"]; c != nil {
		m.walkGap(at, func(end int) (*idiomNode, []word, []word) { return c, object, m.words[at:end] })
	}
}

// walkGap follows the words after a gap of each length. A gap that ends an idiom has no preposition.
func (m *idiomMatch) walkGap(at int, take func(end int) (*idiomNode, []word, []word)) {
	clean := true
	for end := at + 1; end <= min(at+maxGap, len(m.words)); end++ {
		last := m.words[end-1]
		if last.kind != plainWord || last.is(jointClass) || last.fold == "please" {
			return
		}
		clean = clean && !last.is(prepositionClass)
		c, object, target := take(end)
		if clean {
			m.note(c, end, object, target)
		}
		if c.next != nil {
			m.walk(&idiomNode{next: c.next, sets: c.sets}, end, object, target)
		}
	}
}

// isFurniture reports whether a thing, or the last thing named if it is a pronoun, is an artifact and no being.
func (p *parser) isFurniture(object []word) bool {
	if len(object) == 0 {
		return false
	}
	noun := headOf(object).fold
	if noun == "it" && p.lastNamed != "" {
		noun = headOf(lex(p.lastNamed)).fold
	}
	return !isBeing(noun) && isKind(noun, "artifact")
}

// parseIdiom parses a clause that begins with an idiom. It reports whether it does.
func (p *parser) parseIdiom(words []word, h head, at Span) bool {
	var m idiomMatch
	from := 0
	for from < h.at && words[from].known.idioms == nil {
		from++
	}
	for ; m.end == 0 && from <= h.at && from < len(words); from++ {
		if words[from].kind == plainWord && (from == h.at || words[from].known.idioms != nil) {
			m = idiomOf(words[from:])
		}
	}
	if m.end == 0 {
		return false
	}
	act, object := m.act, m.object
	if act == Attack && words[from-1].oneOf("put", "stick", "stuck") && len(m.target) > 0 && p.isFurniture(object) {
		return false // put the knife in the drawer
	}
	if act == nothing {
		p.addRemark(words)
		return true
	}
	rest, mods := pickManner(words[from-1+m.end:])
	i := Intent{Verb: act, Modifiers: append(h.mods, mods...), Confidence: idiomConfidence}
	more, targets := splitObject(rest)
	if object == nil && act != Rest && act != Inventory {
		object = more
	}
	if act == Move {
		p.parseMove(nil, slices.Concat(m.object, rest), i, at)
		return true
	}
	if act == Rest && len(object) > 0 && object[len(object)-1].isPeriod() {
		i.Modifiers = append(i.Modifiers, "for "+joinAll(object))
		object = nil
	}
	i.DirectObject = p.resolveNoun(object)
	if name := p.resolveNoun(m.target); name != "" {
		i.Targets = append(i.Targets, name)
	}
	if act != Rest && act != Inventory {
		i.Targets = append(i.Targets, p.resolveNouns(targets)...)
	}
	p.add(i, at)
	return true
}
