package claim

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// kinds of kinship: the role that the first person has for the second.
var kinships = map[string]string{"son": "child", "daughter": "child", "child": "child", "boy": "child", "heir": "child",
	"mother": "parent", "father": "parent", "parent": "parent", "mum": "parent", "dad": "parent",
	"brother": "sibling", "sister": "sibling", "sibling": "sibling", "twin": "sibling",
	"husband": "spouse", "wife": "spouse", "spouse": "spouse", "bride": "spouse", "married": "spouse",
	"widow": "spouse",
	"uncle": "uncle", "aunt": "uncle", "nephew": "nephew", "niece": "nephew", "cousin": "cousin",
	"grandfather": "grandparent", "grandmother": "grandparent",
	"grandparent": "grandparent", "grandson": "grandchild", "granddaughter": "grandchild", "grandchild": "grandchild",
	"employed": "servant", "employer": "master", "betrothed": "betrothed", "engaged": "betrothed"}

// converses are the roles that the second person has for the first.
var converses = map[string]string{"child": "parent", "parent": "child", "sibling": "sibling", "spouse": "spouse",
	"uncle": "nephew", "nephew": "uncle",
	"cousin": "cousin", "grandparent": "grandchild", "grandchild": "grandparent"}

// alone are roles that few people have for somebody: two parents, one spouse.
var alone = map[string]int{"parent": 2, "spouse": 1}

// kinOf returns the role that a noun or a type of relation names.
func kinOf(word string) string {
	for part := range strings.FieldsFuncSeq(strings.ToLower(word), func(r rune) bool {
		return r == ' ' || r == '-' ||
			r == '_'
	}) {
		if strings.HasPrefix(part, "step") || strings.HasPrefix(part, "half") || part == "law" || part == "foster" {
			return "other"
		}
		if k := kinships[nounOf(part)]; k != "" {
			return k
		}
	}
	return ""
}

// readKin reads that two people are kin: "the smith is my sister", "he is the smith's husband".
func readKin(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		if v.lemma == "marry" || v.lemma == "wed" {
			a, b, ok := c.bothPeople(w, v)
			if !ok && v.passive {
				a, b, ok = c.bothSubjects(w, v)
			}
			if ok {
				list = append(list, Claim{Predicate: Kin, Subject: a, Object: b, Word: "husband", Denied: v.denied})
			}
			continue
		}
		if v.lemma != "be" && v.lemma != "become" {
			continue
		}
		if a, b, ok := c.bothSubjects(w, v); ok {
			if at := slices.IndexFunc(c.tokens, func(t token) bool {
				k := kinOf(t.word)
				return k != "" &&
					converses[k] == k && isRelative(t.word)
			}); at > v.at {
				list = append(list, Claim{Predicate: Kin, Subject: a, Object: b, Word: nounOf(c.tokens[at].word),
					Denied: v.denied})
				continue
			}
		}
		for i, t := range c.tokens {
			if kinOf(t.word) == "" || !isRelative(t.word) || c.wordAfter(i) == "'s" {
				continue
			}
			if claim, ok := c.kinAt(w, v, i); ok {
				claim.Denied = v.denied || hasWord(c.tokens[v.at:max(i, v.at)], wordSet("no not"))
				list = append(list, claim)
			}
			break
		}
	}
	return list
}

func isRelative(word string) bool {
	noun := nounOf(word)
	if at := strings.IndexByte(noun, '-'); at > 0 {
		noun = noun[:at]
	}
	return meaning.IsA(noun, meaning.Noun, "relative") || kinships[noun] == "spouse" || noun == "twin" ||
		strings.HasPrefix(noun, "step")
}

// bothPeople returns the people before and after a verb.
func (c *clause) bothPeople(w *World, v verb) (a, b int, ok bool) {
	m, before := c.subjectOf(w, v, Person)
	n, after := c.objectOf(w, v, Person)
	return m.entity, n.entity, before && after && m.entity != n.entity
}

// bothSubjects returns the two people that are the subject of a verb: "Wat and the groom are brothers".
func (c *clause) bothSubjects(w *World, v verb) (a, b int, ok bool) {
	m, known := c.subjectOf(w, v, Person)
	a = c.with(w, m)
	return a, m.entity, known && a != None && a != m.entity
}

// kinAt reads the kinship whose noun is a token, of a clause with the verb to be.
func (c *clause) kinAt(w *World, v verb, i int) (Claim, bool) {
	of, ok := c.possessorOf(i)
	if !ok {
		return Claim{}, false
	}
	who := None
	for _, m := range c.named {
		if m.entity != of && w.Entities[m.entity].Class == Person && !(m.pronoun &&
			possessives[c.tokens[m.from].word]) &&
			(i > v.at && m.to <= v.first || i < v.first && m.from > v.at || i > v.at && m.from > i) {
			who = m.entity
			break
		}
	}
	return Claim{Predicate: Kin, Subject: who, Object: of, Word: nounOf(c.tokens[i].word)}, who != None
}

// possessorOf returns the person whose relative a token names: "my sister", "the smith's husband", "the son of the
// smith", "a cousin of mine".
func (c *clause) possessorOf(i int) (int, bool) {
	for _, m := range c.named {
		before := c.tokens[m.to:max(m.to, min(i, len(c.tokens)))]
		switch {
		case m.to <= i && m.pronoun && possessives[c.tokens[m.from].word] && i-m.to <= 2,
			m.to < i && c.tokens[m.to].word == "'s" && len(before) <= 3:
			return m.entity, true
		case m.from > i && m.from-i <= 4 && hasWord(c.tokens[i:m.from], wordSet("of to")):
			return m.entity, true
		}
	}
	return None, false
}

// judgeKin compares a kinship with the relations of both people.
func judgeKin(c Claim, w *World) (Truth, string) {
	role := kinOf(c.Word)
	tied := ""
	others := 0
	for _, r := range w.Relations {
		k := kinOf(r.Type)
		if k == "" {
			continue
		}
		switch {
		case r.From == c.Subject && r.To == c.Object:
		case r.From == c.Object && r.To == c.Subject:
			k = converses[k]
		default:
			if (r.To == c.Object && k == role || r.From == c.Object && converses[k] == role) && alone[role] > 0 {
				others++
				tied = cmpOr(tied, relationText(r, w))
			}
			continue
		}
		if k == role != c.Denied {
			return True, ""
		}
		return False, relationText(r, w)
	}
	switch {
	case c.Denied:
		return Unsure, ""
	case others > 0 && (alone[role] == 1 || others >= alone[role] || sameSex(c.Word, tied, w)):
		return False, tied
	}
	return Unsure, ""
}

// sameSex reports whether a parent of the same sex is known. The canon rarely tells the sex, so one parent is enough.
func sameSex(word, tied string, _ *World) bool { return word != "parent" && tied != "" }

func relationText(r Relation, w *World) string {
	return fmt.Sprintf("%s is %s %s", w.name(r.From), r.Type, w.name(r.To))
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// officeVerbs are verbs of those who have an office, with its noun.
var officeVerbs = map[string]string{"lead": "leader", "command": "leader", "head": "leader", "rule": "ruler",
	"govern": "governor", "own": "owner", "captain": "leader",
	"run": "keeper", "keep": "keeper", "manage": "keeper"}

// officeFields are fields that tell an office of their card, or who holds one of it.
var officeFields = []string{"role", "office", "title", "occupation", "rank", "position"}

// readOffice reads that somebody has an office: "I am steward of the town", "the smith commands the guard".
func readOffice(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		if m, ok := c.objectOf(w, v, Person); ok && v.passive && officeVerbs[v.lemma] != "" &&
			c.wordBefore(m.from) == "by" && !v.was {
			for _, of := range c.named {
				if class := w.Entities[of.entity].Class; of.to <= v.first && (class == Group || class == Place) {
					list = append(list, Claim{Predicate: Office, Subject: m.entity, Object: of.entity,
						Word: officeVerbs[v.lemma], Denied: v.denied})
				}
			}
			continue
		}
		if m, after := c.objectOf(w, v, Person); after && v.lemma == "be" && v.tense == present && m.from-v.at <= 2 {
			if words := c.officeBefore(v); words != "" {
				list = append(list, Claim{Predicate: Office, Subject: m.entity, Object: None, Word: words,
					Denied: v.denied})
				continue
			}
		}
		who, ok := c.subjectOf(w, v, Person)
		if !ok || c.order || v.tense == past && v.lemma != "be" || who.entity == w.Listener {
			continue
		}
		switch {
		case officeVerbs[v.lemma] != "" && !v.passive || v.lemma == "be" && hasRun(c.tokens[v.at:], "in charge of"):
			for _, m := range c.named {
				if class := w.Entities[m.entity].Class; m.from > v.at && (class == Group || class == Place &&
					v.lemma != "keep") && (v.lemma == "be" || !c.hasPrepositionBetween(v.at, m.from)) {
					list = append(list, Claim{Predicate: Office, Subject: who.entity, Object: m.entity,
						Word: cmpOr(officeVerbs[v.lemma], "leader"), Denied: v.denied})
					break
				}
			}
		case (v.lemma == "be" || v.lemma == "become") && v.tense != past, v.passive && appointing[v.lemma]:
			if words, ok := c.officeAfter(v); ok {
				claim := Claim{Predicate: Office, Subject: who.entity, Object: None, Word: words, Denied: v.denied}
				if hasWord(c.tokens[v.at+1:min(v.at+3, len(c.tokens))], wordSet("the")) {
					claim.Number = 1 // there is one such office
				}
				list = append(list, claim)
			}
		}
	}
	return list
}

var appointing = wordSet("make appoint name elect crown create ordain call dub")

// officeAfter returns the words of an office after a verb: "steward of the town".
func (c *clause) officeAfter(v verb) (string, bool) {
	var words []string
	office := false
	for i := v.at + 1; i < len(c.tokens) && len(words) < 6; i++ {
		w := c.tokens[i].word
		if i > v.at+1 && (w == "and" || w == "who" || w == "that") {
			break
		}
		if kinOf(w) != "" && isRelative(w) || len(words) == 0 && prepositions[w] {
			return "", false
		}
		if !meaning.IsFunctionWord(w) && !isAdverb(w) && isNoun(w) && !notTitle[w] {
			words = append(words, nounOf(w))
			office = office || len(words) <= 3 && (isOffice(nounOf(w)) || c.isTitleAt(v, i))
		}
	}
	return strings.Join(words, " "), office
}

// officeBefore returns the words of an office before a verb: "the head of the household is Wat".
func (c *clause) officeBefore(v verb) string {
	var words []string
	for _, t := range c.tokens[:v.first] {
		if !meaning.IsFunctionWord(t.word) && isNoun(t.word) && !isAdverb(t.word) {
			words = append(words, nounOf(t.word))
		}
	}
	if len(words) < 2 || !isOffice(words[0]) {
		return ""
	}
	return strings.Join(words, " ")
}

// isTitleAt reports whether a noun for a person is used as a title: without an article, or with the one that it
// belongs to: "is abbot of the temple", "is the warden of the bridge".
func (c *clause) isTitleAt(v verb, i int) bool {
	bare := i == v.at+1 || isAdverb(c.tokens[i-1].word)
	of := i+1 < len(c.tokens) && (c.tokens[i+1].word == "of" || c.tokens[i+1].word == "at" ||
		c.tokens[i+1].word == "in" || c.tokens[i+1].word == "here")
	return isAny(nounOf(c.tokens[i].word), "person") && (bare || of && c.tokens[i-1].word == "the")
}

var notTitle = wordSet("old young good bad new years sir man woman boy girl guest friend soul fool stranger one " +
	"rock own")

// isOffice reports whether a noun names an office or a trade.
func isOffice(noun string) bool {
	return !notTitle[noun] && isAny(noun, "leader", "official", "ruler", "head", "worker", "servant", "master",
		"owner", "skilled worker", "clergyman", "professional", "aristocrat", "keeper", "medical practitioner")
}

// judgeOffice compares an office with those that the canon gives to this person, and to others.
func judgeOffice(c Claim, w *World) (Truth, string) {
	words := strings.Fields(c.Word)
	if c.Object != None {
		words = append(words, contentOf(tokensOf(w.name(c.Object)))...)
	}
	if truth, source, ok := judgeLeader(c, words, w); ok {
		return truth, source
	}
	source := ""
	for i, e := range w.Entities {
		if e.Class != Person {
			continue
		}
		for _, office := range officesOf(e) {
			known := contentOf(tokensOf(office))
			switch {
			case !sameOffice(words, known):
			case i == c.Subject && c.Denied:
				return False, fmt.Sprintf("%s is %s", e.Name, office)
			case i == c.Subject:
				return True, ""
			case len(words) > 1 || len(known) == 1 || c.Number == 1:
				source = fmt.Sprintf("%s is %s", e.Name, office)
			}
		}
	}
	switch {
	case c.Denied:
		return True, ""
	case source != "":
		return False, source
	case len(words) > 0 && tells(w.Entities[c.Subject], words[0]):
		return True, ""
	}
	return Unsure, ""
}

// judgeLeader judges who leads a group that the words of an office name. ok is false if they name none.
func judgeLeader(c Claim, words []string, w *World) (truth Truth, source string, ok bool) {
	for i, e := range w.Entities {
		leader := leaderOf(e)
		named := len(words) > 1 && len(shared(words[1:], contentOf(tokensOf(e.Name)))) > 0 && isLeading(words[0])
		if leader == "" || i != c.Object && !(e.Class == Group && named) {
			continue
		}
		if isNamed(w.Entities[c.Subject], leader) != c.Denied {
			return True, "", true
		}
		return False, fmt.Sprintf("the leader of %s is %s", e.Name, leader), true
	}
	return True, "", false
}

// isLeading reports whether a noun is that of a leader of groups.
func isLeading(noun string) bool { return isAny(noun, "leader", "head", "ruler", "commander") }

// tells reports whether a card has a word.
func tells(e Entity, word string) bool {
	return slices.ContainsFunc(factsOf(e), func(told []token) bool {
		return len(shared([]string{word}, contentOf(told))) > 0
	})
}

// leaderOf returns the name of the leader in a group's fields, or "".
func leaderOf(e Entity) string {
	for _, name := range []string{"leader", "head", "captain", "ruler", "owner", "commander"} {
		if s, ok := e.Fields[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// isNamed reports whether a name is one of an entity.
func isNamed(e Entity, name string) bool {
	key := func(s string) string {
		return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "the ")
	}
	return key(e.Name) == key(name) || slices.ContainsFunc(e.Aliases,
		func(a string) bool { return key(a) == key(name) })
}

func officesOf(e Entity) (list []string) {
	for _, name := range officeFields {
		if s, ok := e.Fields[name].(string); ok && s != "" {
			list = append(list, s)
		}
	}
	return list
}

// sameOffice reports whether two offices are the same: their first nouns are akin, and so is a word of the rest.
func sameOffice(said, known []string) bool {
	if len(said) == 0 || len(known) == 0 || len(shared(said[:1], known)) == 0 && len(shared(known[:1], said)) == 0 {
		return false
	}
	return len(said) == 1 || len(known) == 1 || len(shared(said[1:], known)) > 0
}
