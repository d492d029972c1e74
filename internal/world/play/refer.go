package play

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// nameReferents replaces the pronouns of a question, and of a command to speak or to trade, that stand for somebody or
// something outside of it by names: see recall.
func (r sentenceReader) nameReferents(text string) (string, error) {
	list := command.PronounsToName(text)
	if len(list) == 0 || !r.stands {
		return text, nil
	}
	around, err := r.listLookTargets()
	if err != nil {
		return text, err
	}
	runes := []rune(text)
	for _, p := range slices.Backward(list) {
		meant, err := r.recall(command.PronounOf(baseOf(p.Word)), around)
		if err != nil {
			return text, err
		}
		name := meant.name
		if t, ok := meant.card(); ok {
			name = t.Title()
		}
		if name == "" {
			continue
		}
		if p.Owns {
			before := strings.Fields(strings.ToLower(string(runes[:p.Span.Start])))
			if slices.ContainsFunc(strings.Fields(strings.ToLower(name)),
				func(w string) bool { return slices.Contains(before, w) }) {
				continue // give Oda her lamp
			}
			name += "'s"
		}
		runes = slices.Concat(runes[:p.Span.Start], []rune(name), runes[p.Span.End:])
	}
	return string(runes), nil
}

// baseOf returns the pronoun that a possessive one belongs to.
func baseOf(word string) string {
	switch word {
	case "his":
		return "he"
	case "hers":
		return "she"
	case "its":
		return "it"
	case "their":
		return "they"
	}
	return word
}

// findPartner returns whom the player talks with: the one that its latest acts here are about, else the only one here
// who answers.
func (s *turn) findPartner() (t world.Card, ok bool, err error) {
	here, err := s.cardsAround()
	if err != nil {
		return t, false, err
	}
	here = slicesx.Filter(here, func(t world.Card) bool { return world.IsAlive(t) && !world.IsDead(t) })
	if len(here) == 0 {
		return t, false, nil
	}
	acts, err := s.latestActs()
	if err != nil {
		return t, false, err
	}
	for _, d := range acts {
		if d.Verb == command.Move || d.Verb == command.Flee {
			break
		}
		about := slices.Clone(d.Objects) // somebody who was looked at or asked about
		if d.Target != nil {
			about = slices.Insert(about, 0, *d.Target)
		}
		for _, o := range about {
			if i := slices.IndexFunc(here, func(t world.Card) bool { return t.ID == o.ID }); i >= 0 {
				return here[i], true, nil
			}
		}
	}
	answering := slicesx.Filter(here, func(t world.Card) bool {
		return !t.IsType(world.TypePlayer) &&
			!t.IsType("Creature")
	})
	if len(answering) == 1 {
		return answering[0], true, nil
	}
	if len(here) == 1 {
		return here[0], true, nil
	}
	return t, false, nil
}

// listPeople returns those who are here and can be spoken to.
func (s *turn) listPeople() ([]world.Card, error) {
	here, err := s.cardsAround()
	return slicesx.Filter(here, world.IsAlive), err
}

// cutPerson splits words after the longest beginning that names somebody here.
func (s *turn) cutPerson(words string, people []world.Card) (who world.Card, rest string, ok bool, err error) {
	list := strings.Fields(words)
	for n := min(len(list), 6); n > 0; n-- {
		name := strings.TrimRight(strings.Join(list[:n], " "), ",:;.!?")
		if !slices.ContainsFunc(strings.Fields(name), isContentWord) || isEndedBefore(list[:n]) {
			continue
		}
		if n < len(list) && meaning.Lemma(bareWord(list[n-1]), meaning.Adjective) != "" && isContentWord(list[n]) &&
			!slices.Contains(auxiliaries, list[n]) {
			continue // the old man is not Old Cod
		}
		found, err := s.findCalled(name, people)
		if err != nil {
			return who, "", false, err
		}
		if len(found) == 0 {
			if stands, err := s.standsInText(name); err != nil || stands {
				return who, "", false, err
			}
		}
		if len(found) > 1 {
			found = slicesx.Filter(found, answers) // players answer for themselves
		}
		if len(found) == 1 {
			return found[0], strings.TrimLeft(strings.Join(list[n:], " "), ",:; "), true, nil
		}
	}
	return who, "", false, nil
}

// isEndedBefore reports whether words have a comma, a colon or a word of a clause before the last one: they are
// more than a name.
func isEndedBefore(words []string) bool {
	for n, w := range words {
		if n+1 < len(words) && strings.ContainsAny(w, ",:;") || n+1 == len(words) && slices.Contains(nounLeads,
			strings.ToLower(w)) || n > 0 && slices.Contains(speechLinks, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// nounLeads are words that begin another name.
var nounLeads = strings.Fields("a an the some my your his her their our this these those any")

// speechLinks are words between a name and the words that are said.
var speechLinks = strings.Fields("about if whether that for to why what where when how who whom which whose i you " +
	"he she they we it is are can could")
