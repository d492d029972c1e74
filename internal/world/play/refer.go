package play

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// recalled is the number of the player's latest acts in which the referent of a pronoun is looked for.
const recalled = 8

// nameReferents replaces the pronouns of a command that stand for somebody or something outside of it by names: of those
// that the player's latest acts and questions are about.
func (h *Host) nameReferents(ctx context.Context, g access.Grant, player canon.CardID, text string) (string, error) {
	list := command.PronounsToName(text)
	if len(list) == 0 {
		return text, nil
	}
	_, asks := command.ReadQuestion(text)
	err := h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		s, stands, err := h.standingTurn(ctx, snap, player)
		if err != nil || !stands {
			return err
		}
		named, err := s.listReferents()
		if err != nil {
			return err
		}
		if !asks {
			around, err := s.listLookTargets()
			if err != nil {
				return err
			}
			named = slicesx.Filter(named, func(t world.Card) bool {
				return !world.IsAlive(t) || slices.ContainsFunc(around, func(o world.Card) bool { return o.ID == t.ID })
			})
		}
		runes := []rune(text)
		for _, p := range slices.Backward(list) {
			t, ok, err := s.referentOf(p, named)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			name := t.Title()
			if p.Owns {
				name += "'s"
			}
			runes = slices.Concat(runes[:p.Span.Start], []rune(name), runes[p.Span.End:])
		}
		text = string(runes)
		return nil
	})
	return text, err
}

// listReferents lists the cards that the latest acts of the player are about, the latest first; then those here.
func (s *turn) listReferents() (list []world.Card, err error) {
	events, err := s.latestActs(recalled)
	if err != nil {
		return nil, err
	}
	var ids []canon.CardID
	for _, d := range events {
		for _, o := range d.Objects {
			ids = append(ids, o.ID)
		}
		if d.Target != nil {
			ids = append(ids, d.Target.ID)
		}
	}
	cards, err := s.CardsByID(s.ctx, ids)
	for _, id := range ids {
		i := slices.IndexFunc(cards, func(t world.Card) bool { return t.ID == id })
		if i >= 0 && !slices.ContainsFunc(list, func(t world.Card) bool { return t.ID == id }) {
			list = append(list, cards[i])
		}
	}
	return list, err
}

// latestActs returns the latest acts of the player, the latest first.
func (s *turn) latestActs(n int) ([]world.Action, error) {
	types := slicesx.Map(world.ActTypes, func(t event.Type) string { return string(t) })
	events, _, err := s.Events(s.ctx, canon.EventQuery{Actor: s.player.ID.String(), Types: types,
		Page: canon.Page{Limit: n, Uncounted: true}})
	return slicesx.Map(events, func(e canon.StoredEvent) (d world.Action) {
		world.DecodeFields(e.Payload, &d)
		return d
	}), err
}

// referentOf returns the card that a pronoun stands for: the latest that fits, else the only one here that does.
func (s *turn) referentOf(p command.Pronoun, named []world.Card) (t world.Card, ok bool, err error) {
	person, sex := p.IsPerson()
	fits := func(t world.Card) bool {
		switch alive := world.IsAlive(t); {
		case p.Word == "they" || p.Word == "them" || p.Word == "their":
			return true
		case person:
			return alive && t.ID != s.player.ID
		default:
			return !alive && !t.IsType(world.TypeLocation) || t.IsType("Creature")
		}
	}
	named = slicesx.Filter(named, fits)
	if !person || sex == "" {
		if len(named) > 0 {
			return named[0], true, nil
		}
		return t, false, nil
	}
	here, err := s.cardsAround()
	if err != nil {
		return t, false, err
	}
	here = slicesx.Filter(here, fits)
	same, err := s.filterBySex(named, sex)
	if err != nil || len(same) > 0 {
		return firstCard(same), len(same) > 0, err
	}
	if same, err = s.filterBySex(here, sex); err != nil || len(same) == 1 {
		return firstCard(same), len(same) == 1, err
	}
	if len(named) > 0 {
		return named[0], true, nil
	}
	return firstCard(here), len(here) == 1, nil
}

// firstCard returns the first of several cards, or none.
func firstCard(list []world.Card) (t world.Card) {
	if len(list) > 0 {
		t = list[0]
	}
	return t
}

func (s *turn) filterBySex(list []world.Card, sex string) (same []world.Card, err error) {
	for _, t := range list {
		other, err := s.sexOf(t)
		if err != nil {
			return nil, err
		}
		if other == sex {
			same = append(same, t)
		}
	}
	return same, nil
}

// sexOf returns "m" or "f" by the pronouns in the text of a card, or "".
func (s *turn) sexOf(t world.Card) (string, error) {
	text, err := s.ReadText(s.ctx, t)
	he, she := 0, 0
	for _, w := range command.BareWords(text) {
		switch w {
		case "he", "him", "his", "himself":
			he++
		case "she", "hers", "herself", "her":
			she++
		}
	}
	switch {
	case he > she:
		return "m", err
	case she > he:
		return "f", err
	}
	return "", err
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
	acts, err := s.latestActs(recalled)
	if err != nil {
		return t, false, err
	}
	for _, d := range acts {
		if d.Verb == command.Move || d.Verb == command.Flee {
			break
		}
		if d.Target == nil {
			continue
		}
		if i := slices.IndexFunc(here, func(t world.Card) bool { return t.ID == d.Target.ID }); i >= 0 {
			return here[i], true, nil
		}
	}
	answering := slicesx.Filter(here, func(t world.Card) bool { return !t.IsType(world.TypePlayer) && !t.IsType("Creature") })
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
		found, err := s.findCalled(name, people)
		if err != nil {
			return who, "", false, err
		}
		if len(found) == 1 {
			return found[0], strings.TrimLeft(strings.Join(list[n:], " "), ",:; "), true, nil
		}
	}
	return who, "", false, nil
}

// isEndedBefore reports whether words have a comma, a colon or a word of a clause before the last one: they are more than
// a name.
func isEndedBefore(words []string) bool {
	for n, w := range words {
		if n+1 < len(words) && strings.ContainsAny(w, ",:;") || n+1 == len(words) && slices.Contains(nounLeads, strings.ToLower(w)) || n > 0 && slices.Contains(speechLinks, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// nounLeads are words that begin another name.
var nounLeads = strings.Fields("a an the some my your his her their our this these those any")

// speechLinks are words between a name and the words that are said.
var speechLinks = strings.Fields("about if whether that for to why what where when how who whom which whose i you he she they we it is are can could")
