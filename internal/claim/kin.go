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
		if who, of, ok := c.employed(w, v); ok {
			list = append(list, Claim{Predicate: Kin, Subject: who, Object: of, Word: "employed", Denied: v.denied})
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

// relativeAt returns the person whom a possessive and a noun for a relative name in front of a verb or behind a
// preposition, and the token behind them: "my father leads the guard". It returns None if the canon knows no such
// relative, or several, and where the sentence goes on to tell who the relative is.
func (r *reader) relativeAt(tokens []token, i int) (who, end int) {
	owner := r.pronoun(tokens[i].word)
	if owner == None || !possessives[tokens[i].word] || i+2 >= len(tokens) {
		return None, 0
	}
	begins := i == 0 || tokens[i-1].mark || tokens[i-1].word == "that" || tokens[i-1].word == "and"
	ends := i > 0 && prepositions[tokens[i-1].word] && tokens[i+2].mark
	role, verb := kinOf(tokens[i+1].word), clause{tokens: tokens[i+2:]}
	if role == "" || !ends && !(begins && (isAuxiliary(tokens[i+2].word) || verb.isVerbForm(0))) {
		return None, 0
	}
	rest := tokens[i+2:]
	if mark := slices.IndexFunc(rest, func(t token) bool { return t.mark }); mark >= 0 {
		rest = rest[:mark]
	}
	if slices.ContainsFunc(r.names.findMentions(rest), func(m mention) bool {
		return r.world.Entities[m.entity].Class == Person
	}) {
		return None, 0
	}
	who = None
	for _, tie := range r.world.Relations {
		other, known := tie.From, kinOf(tie.Type)
		if tie.From == owner {
			other, known = tie.To, converses[known]
		} else if tie.To != owner {
			continue
		}
		if known != role {
			continue
		}
		if who != None {
			return None, 0
		}
		who = other
	}
	return who, i + 2
}

// employed reads that somebody works for another: "the butler works for the doctor".
func (c *clause) employed(w *World, v verb) (who, of int, ok bool) {
	a, b, ok := c.bothPeople(w, v)
	m, _ := c.objectOf(w, v, Person)
	works := v.lemma == "work" && m.from > 0 && c.wordBefore(m.from) == "for" ||
		v.lemma == "be" && m.from > 0 && c.wordBefore(m.from) == "of" && serves(c.tokens[v.at:m.from]) ||
		(v.lemma == "employ" || v.lemma == "hire") && v.passive && c.wordBefore(m.from) == "by"
	return a, b, ok && works && v.tense != past
}

// serves reports whether words end in a phrase for the service of somebody: "in the pay of".
func serves(list []token) bool {
	return slices.ContainsFunc([]string{"in the pay of", "in the employ of", "in the service of", "on the payroll of"},
		func(p string) bool { return hasRun(list, p) })
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
		case k == role && k == "servant" && r.From == c.Subject && !c.Denied:
			return False, relationText(r, w)
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
	case role == "servant":
		return True, ""
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
