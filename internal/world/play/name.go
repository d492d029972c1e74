package play

import (
	"slices"
	"strings"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// matchNames returns the cards that a phrase names at least as well as a grade, in their order, and whether it means
// all of them.
func matchNames(phrase string, among []world.Card, least command.Fit) (found []world.Card, all bool) {
	for _, n := range command.Namings(phrase) {
		if found, all := pick(bestOf(n.Name, among, least), n); len(found) > 0 {
			return found, all
		}
	}
	return nil, false
}

// pick returns the cards of a name that a phrase means: the second one, all.
func pick(found []world.Card, n command.Naming) ([]world.Card, bool) {
	switch {
	case len(found) == 0:
		return nil, false
	case n.All && len(found) > 1:
		return found, true
	case n.Which > 0 && n.Which <= len(found):
		return found[n.Which-1 : n.Which], false
	case n.Which > 0 && len(found) == 1 && command.HasNumber(found[0].Title()):
		return nil, false // room nine is not the seventh room
	case n.Which < 0:
		return found[len(found)-1:], false
	case len(found) > 1 && areAlike(found):
		return found[:1], false
	}
	return found, false
}

// bestOf returns the cards whose names a typed name fits best, and at least as well as a grade, in their order.
func bestOf(typed string, among []world.Card, least command.Fit) (out []world.Card) {
	best := max(least, command.FitSlip)
	for _, t := range among {
		f := rateFit(typed, t)
		if f < best || slices.ContainsFunc(out, func(o world.Card) bool { return o.ID == t.ID }) {
			continue
		}
		if f > best {
			best, out = f, nil
		}
		out = append(out, t)
	}
	return out
}

// findWay finds the exit that leads to a place of that name, or whose description has the name.
func (s *turn) findWay(phrase string, _ []world.Card, r *referent) error {
	return s.findWayAs(phrase, command.FitForms, r)
}

func (s *turn) findWayAs(phrase string, least command.Fit, r *referent) error {
	exits, err := s.exitsHere()
	if err != nil {
		return err
	}
	places, err := s.waysOut()
	if err != nil {
		return err
	}
	found, _ := matchNames(phrase, places, least)
	if len(found) > 1 {
		r.cards = found
		return nil
	}
	for i, e := range exits {
		if len(found) == 1 && e.To != nil && *e.To == found[0].ID ||
			len(found) == 0 && e.Description != "" && command.Mentions(e.Description, phrase) {
			r.way = &exits[i]
			return nil
		}
	}
	return nil
}

// findTextOfPlace finds a text of the place that has a phrase.
func (s *turn) findTextOfPlace(phrase string, _ []world.Card, r *referent) error {
	all, err := s.textsOfPlace()
	if err != nil {
		return err
	}
	*r = findMention(all, phrase, command.SameWords)
	return nil
}

// findText finds a text that the player was shown and that has a phrase.
func (s *turn) findText(phrase string, _ []world.Card, r *referent) error {
	return s.findInTexts(phrase, command.SameWords, r)
}

func (s *turn) findInTexts(phrase string, near command.Nearness, r *referent) error {
	all, err := s.textsShown()
	if err != nil {
		return err
	}
	*r = findMention(all, phrase, near)
	return nil
}

// findMention finds the first of several texts that has a phrase.
func findMention(all []passage, phrase string, near command.Nearness) (r referent) {
	for _, n := range command.Namings(phrase) {
		for _, p := range all {
			if m, ok := p.prose.Find(n.Name, near); ok {
				name := n.Name
				if near != command.SameWords || strings.Contains(m.Noun, "-") && !strings.Contains(name, "-") {
					name = m.Noun
				}
				return referent{text: p, mention: m, name: name}
			}
		}
	}
	return r
}

// findLoosely finds the only card or noun of a text that a phrase means without the qualities in front of its noun: the
// sleeping crab, the little slip of bone.
func (s *turn) findLoosely(phrase string, among []world.Card, r *referent) error {
	words := command.BareWords(phrase)
	for len(words) > 1 && command.IsLooseQuality(words[0]) && words[1] != "of" {
		words = words[1:]
		for _, find := range []step{s.findNamed, s.findRole, s.findTextOfPlace, s.findGender, s.findText} {
			var loose referent
			if err := find(strings.Join(words, " "), among, &loose); err != nil {
				return err
			}
			if len(loose.cards) == 1 || loose.isMentioned() {
				*r = loose
				return nil
			}
		}
	}
	return nil
}

// findNamed finds cards by name.
func (s *turn) findNamed(phrase string, among []world.Card, r *referent) error {
	r.cards, r.all = matchNames(phrase, among, command.FitForms)
	return nil
}

// findAkin finds cards, and else texts, by words of like meaning: "boat" for a ferry, "woman" for a fishwife.
func (s *turn) findAkin(phrase string, among []world.Card, r *referent) error {
	if s.findAkinCards(phrase, among, r); len(r.cards) > 0 {
		return nil
	}
	return s.findInTexts(phrase, command.Synonyms, r)
}

// findAkinCards finds cards by words of like meaning.
func (s *turn) findAkinCards(phrase string, among []world.Card, r *referent) {
	for _, n := range command.Namings(phrase) {
		var found []world.Card
		for _, t := range among {
			if t.ID == s.player.ID || t.ID == s.place.ID {
				continue
			}
			if slices.ContainsFunc(namesOf(t), func(name string) bool {
				_, ok := command.ReadProse(name).Find(n.Name, command.Synonyms)
				return ok
			}) {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			r.cards, r.all = pick(found, n)
			return
		}
	}
}

// findMisspelled finds cards, and else texts, by words with a typing error.
func (s *turn) findMisspelled(phrase string, among []world.Card, r *referent) error {
	if r.cards, r.all = matchNames(phrase, among, command.FitSlip); len(r.cards) > 0 {
		return nil
	}
	for _, t := range among {
		var f struct {
			Role string `json:"role"`
		}
		if world.DecodeFields(t.Fields, &f); !world.IsAlive(t) || f.Role == "" {
			continue
		}
		if _, ok := command.ReadProse(f.Role).Find(phrase, command.Misspelled); ok {
			r.cards = append(r.cards, t)
		}
	}
	if len(r.cards) > 0 {
		return nil
	}
	if err := s.findWayAs(phrase, command.FitSlip, r); err != nil || r.isFound() {
		return err
	}
	return s.findInTexts(phrase, command.Misspelled, r)
}
