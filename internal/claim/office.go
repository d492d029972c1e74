package claim

import "slices"

// readTitles reads offices that are told without the verb to be: "as warden of the bridge I say so", "you are speaking
// to the warden", "Wat, leader of the household, sent me", "the household answers to Wat".
func readTitles(s *statement, w *World) (list []Claim) {
	c := clause{tokens: s.tokens, named: s.named}
	add := func(who, of int, words string, definite bool) {
		claim := Claim{Predicate: Office, Subject: who, Object: of, Word: words}
		if definite {
			claim.Number = 1
		}
		if who != None {
			list = append(list, claim)
		}
	}
	for i := range s.tokens {
		who, from := c.titled(w, i)
		if who == None {
			continue
		}
		if words, definite, ok := c.officeAt(from); ok {
			add(who, None, words, definite)
		}
	}
	if hasWord(s.tokens, denials) {
		return list
	}
	for _, g := range s.named {
		if class := w.Entities[g.entity].Class; class == Group || class == Place {
			for _, who := range c.leadersOf(w, g) {
				add(who, g.entity, "leader", false)
			}
		}
	}
	return list
}

// titled returns the person who has the office that the words from a token on tell, if a token introduces one.
func (c *clause) titled(w *World, i int) (who, from int) {
	word := c.tokens[i].word
	starts := i == 0 || c.tokens[i-1].mark
	switch {
	case (word == "as" || word == "being") && starts && i+2 < len(c.tokens):
		return c.personAfter(w, i), i + 1
	case word == "as" && i > 1 && !hasWord(c.tokens[max(0, i-4):i], denials) && !isAdverb(c.tokens[i-1].word) &&
		(isNoun(c.tokens[i-1].word) || serving[verbOf(c.tokens[i-1].word)]):
		return c.personBefore(w, i), i + 1
	case word == "to" && i > 2 && addressing[verbOf(c.tokens[i-1].word)] && hasWord(c.tokens[i-3:i], wordSet("you")):
		return w.Speaker, i + 1
	case word == "am" && starts && i > 0:
		return w.Speaker, i + 1
	case word == "is" && i > 2 && c.tokens[i-1].word == "me" && c.tokens[i-2].word == "but":
		return w.Speaker, i + 1
	case word == "you" && i > 1 && c.tokens[i-1].word == "before" && hasWord(c.tokens[:i], wordSet("see behold have")):
		return w.Speaker, i + 1
	case i == 0 && (hasRun(c.tokens, "that is me") || hasRun(c.tokens, "that would be me")):
		return w.Speaker, i
	case word == "before" && i > 0 && verbOf(c.tokens[i-1].word) == "stand" && c.tokens[0].word == "you":
		return w.Speaker, i + 1
	case word == "," && i+1 < len(c.tokens):
		for _, m := range c.named {
			if m.to == i && w.Entities[m.entity].Class == Person && !m.pronoun && c.endsTitle(i+1) {
				return m.entity, i + 1
			}
		}
	case appointing[verbOf(word)] && i+2 < len(c.tokens):
		for _, m := range c.named {
			if m.from == i+1 && w.Entities[m.entity].Class == Person && !(m.pronoun &&
				possessives[c.tokens[m.from].word]) && m.entity != w.Listener {
				return m.entity, m.to
			}
		}
	case holdings[word] && i+2 < len(c.tokens) && c.tokens[i+1].word == "of":
		for _, m := range c.named {
			if m.from > i+2 && w.Entities[m.entity].Class == Person && (c.wordBefore(m.from) == "to" ||
				c.wordBefore(m.from) == "by") {
				return m.entity, i + 2
			}
		}
	}
	return None, 0
}

var (
	serving    = wordSet("serve work act employ")
	addressing = wordSet("speak talk")
	holdings   = wordSet("office post position title rank")
	// followings are verbs of those who are led, with the preposition before their leader.
	followings = map[string]string{"answer": "to", "obey": "", "report": "to", "order": "from", "swear": "to"}
	// commands are phrases for those who lead.
	commands = []string{"in command of", "in charge of", "at the head of", "at the helm of", "gives the orders in",
		"gives orders to", "gives the orders to"}
)

// ledBy are phrases between those who are led and their leader.
var ledBy = []string{"under the command of", "under the leadership of", "under the orders of", "under the rule of"}

// endsTitle reports whether the words from a token up to the next mark are an office with "of", and no clause.
func (c *clause) endsTitle(from int) bool {
	of := false
	for i := from; i < len(c.tokens); i++ {
		switch {
		case c.tokens[i].mark:
			return of
		case isAuxiliary(c.tokens[i].word) || i > from+7:
			return false
		case c.tokens[i].word == "of":
			of = true
		}
	}
	return of
}

// officeAt returns the words of an office that begin at a token, and whether "the" stands before it.
func (c *clause) officeAt(from int) (words string, definite, ok bool) {
	end := from
	for end < len(c.tokens) && !c.tokens[end].mark && !subjects[c.tokens[end].word] {
		end++
	}
	part := clause{tokens: c.tokens[:end]}
	words, ok = part.officeAfter(verb{at: from - 1})
	return words, from < end && c.tokens[from].word == "the", ok
}

func (c *clause) personAfter(w *World, i int) int {
	for _, m := range c.named {
		if m.from > i && w.Entities[m.entity].Class == Person && !(m.pronoun && possessives[c.tokens[m.from].word]) {
			return m.entity
		}
	}
	return None
}

func (c *clause) personBefore(w *World, i int) int {
	for _, m := range slices.Backward(c.named) {
		if m.to < i && w.Entities[m.entity].Class == Person && !objectForms[c.tokens[m.from].word] {
			return m.entity
		}
	}
	return None
}

// leadersOf returns the people who a clause says lead a group or a place.
func (c *clause) leadersOf(w *World, group mention) (list []int) {
	for _, m := range c.named {
		if w.Entities[m.entity].Class != Person || m.entity == w.Listener || m.pronoun &&
			possessives[c.tokens[m.from].word] {
			continue
		}
		between := c.tokens[min(group.to, m.to):max(group.from, m.from)]
		if m.from < group.to {
			if slices.ContainsFunc(commands, func(p string) bool { return hasRun(between, p) }) {
				list = append(list, m.entity)
			}
			continue
		}
		between = c.tokens[group.to:m.from]
		for k, t := range between {
			if before, ok := followings[baseOf(t.word)]; ok && k < 3 && c.wordBefore(m.from) == cmpOr(before, t.word) {
				list = append(list, m.entity)
			}
		}
		if between = c.tokens[group.to:m.from]; len(between) < 7 && slices.ContainsFunc(ledBy,
			func(p string) bool { return hasRun(between, p) }) {
			list = append(list, m.entity)
		}
		possessed := len(between) > 2 && between[0].word == "'s" && isLeading(nounOf(between[1].word)) &&
			beForms[between[2].word] && len(between) < 5
		has := len(between) < 3 && len(between) > 0 && haveForms[between[0].word] && m.to+2 < len(c.tokens) &&
			(c.tokens[m.to].word == "for" || c.tokens[m.to].word == "as") &&
			slices.ContainsFunc(c.tokens[m.to+1:], func(t token) bool { return isLeading(nounOf(t.word)) })
		if possessed || has {
			list = append(list, m.entity)
		}
	}
	return list
}
