package play

import (
	"context"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// recalled is the number of a player's latest acts in which a pronoun is looked up.
const recalled = 8

// latestActs returns the latest acts of the player, the latest first. They are read once for a turn.
func (s *turn) latestActs() ([]world.Action, error) {
	if s.acts != nil {
		return s.acts, nil
	}
	types := slicesx.Map(world.ActTypes, func(t event.Type) string { return string(t) })
	events, _, err := s.Events(s.ctx, canon.EventQuery{Actor: s.player.ID.String(), Types: types,
		Page: canon.Page{Limit: recalled, Uncounted: true}})
	if err != nil {
		return nil, err
	}
	s.acts = make([]world.Action, len(events))
	for i, e := range events {
		world.DecodeFields(e.Payload, &s.acts[i])
	}
	return s.acts, nil
}

// heardAnswers is the number of the latest answers of somebody whose nouns can be asked about and looked at.
const heardAnswers = 3

// answersOf returns the latest lines that somebody said to a player, the latest first.
func answersOf(ctx context.Context, m *world.AsOf, of, player canon.CardID) (lines []string, err error) {
	_, regard, err := m.RegardOf(ctx, of, player)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Backward(regard.Recent[max(0, len(regard.Recent)-heardAnswers):]) {
		x, _, err := m.ReadExchange(ctx, h)
		if err != nil {
			return nil, err
		}
		if x.Answer != "" {
			lines = append(lines, x.Answer)
		}
	}
	return lines, nil
}

// textsHeard returns the latest answers that the player got, as texts.
func (s *turn) textsHeard() (all []passage, err error) {
	acts, err := s.latestActs()
	if err != nil {
		return nil, err
	}
	var seen []canon.CardID
	for _, d := range acts {
		if d.Verb != command.Talk || d.Target == nil || slices.Contains(seen, d.Target.ID) {
			continue
		}
		seen = append(seen, d.Target.ID)
		of, ok, err := s.CardByID(s.ctx, d.Target.ID)
		if err != nil || !ok {
			return all, err
		}
		lines, err := answersOf(s.ctx, s.AsOf, of.ID, s.player.ID)
		if err != nil {
			return nil, err
		}
		label, err := s.privateLabel(of)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			all = append(all, newPassage(line, label, of.ID))
		}
	}
	return all, nil
}

// explainPronouns replaces the pronouns of an intent by the names of the cards that they stand for.
func (s *turn) explainPronouns() (err error) {
	verb := s.intent.Verb
	ofPerson := verb == command.Talk || verb == command.Attack
	if s.intent.DirectObject, err = s.explain(s.intent.DirectObject, ofPerson); err != nil {
		return err
	}
	targets := slices.Clone(s.intent.Targets)
	for n := range targets {
		if targets[n], err = s.explain(targets[n], ofPerson || verb == command.Give); err != nil {
			return err
		}
	}
	s.intent.Targets = targets
	return nil
}

// explain returns the name that a pronoun stands for, or any other name as it is. If ofPerson is set, the pronoun
// stands for somebody at the place.
func (s *turn) explain(name string, ofPerson bool) (string, error) {
	p := command.PronounOf(name)
	if p == command.NoPronoun {
		return name, nil
	}
	all, err := s.listLookTargets()
	if err != nil {
		return name, err
	}
	if ofPerson {
		if p == command.It && command.BareWords(name) != nil {
			p = command.They
		}
		all = slices.DeleteFunc(slices.Clone(all), func(t world.Card) bool {
			return !world.IsAlive(t) || t.ID == s.player.ID
		})
	}
	r, err := s.recall(p, all)
	switch t, ok := r.card(); {
	case err != nil:
		return name, err
	case ok:
		return t.Title(), nil
	case r.isMentioned():
		return r.name, nil
	case r.all:
		return "everyone", nil
	}
	return name, nil
}

// recall returns the referent of a pronoun: the latest card or noun of a text that the player dealt with and that the
// pronoun fits, if it is among some or the pronoun stands for a thing; else the only person among them that it fits;
// else the latest person that the player dealt with elsewhere.
func (s *turn) recall(p command.Pronoun, among []world.Card) (r referent, err error) {
	acts, err := s.latestActs()
	if err != nil {
		return r, err
	}
	var elsewhere []world.Card
	for _, d := range acts {
		refs := slices.Clone(d.Objects)
		if d.Target != nil {
			refs = append(refs, *d.Target)
		}
		for _, ref := range refs {
			t, ok, err := s.CardByID(s.ctx, ref.ID)
			if err != nil {
				return r, err
			}
			if !ok || t.ID == s.player.ID {
				continue
			}
			if fits, err := s.fitsPronoun(p, t); err != nil || !fits {
				continue
			}
			isThere := slices.ContainsFunc(among, func(o world.Card) bool { return o.ID == t.ID })
			if isThere || p == command.It {
				return referent{cards: []world.Card{t}}, nil
			}
			elsewhere = append(elsewhere, t)
		}
		if d.Handling != nil && len(d.Objects) == 0 && d.Handling.Thing != "" && (p == command.It || p == command.They) {
			if r, err = s.resolve(d.Handling.Thing, among); err != nil || r.isFound() {
				return r, err
			}
		}
		if d.Detail != "" && !isOfPersons(among) && (d.Verb == command.Examine || d.Verb == command.Look) &&
			(p == command.It || p == command.They) {
			if r, err = s.resolve(d.Detail, among); err != nil || r.isFound() {
				return r, err
			}
		}
	}
	if p == command.It {
		return r, nil
	}
	for _, t := range among {
		if t.ID == s.player.ID || !world.IsAlive(t) {
			continue
		}
		fits, err := s.fitsPronoun(p, t)
		if err != nil {
			return r, err
		}
		if fits {
			r.cards = append(r.cards, t)
		}
	}
	if r.all = p == command.They && len(r.cards) > 1; len(r.cards) == 0 && len(elsewhere) > 0 {
		r.cards = elsewhere[:1]
	}
	return r, nil
}

// isOfPersons reports whether cards are persons and animals only.
func isOfPersons(among []world.Card) bool {
	return !slices.ContainsFunc(among, func(t world.Card) bool { return !world.IsAlive(t) })
}

// fitsPronoun reports whether a pronoun may stand for a card.
func (s *turn) fitsPronoun(p command.Pronoun, t world.Card) (bool, error) {
	isPerson := world.IsAlive(t) && !t.IsType("Creature")
	switch {
	case p == command.They:
		return !t.IsType(world.TypeLocation), nil
	case p == command.It || !isPerson && !t.IsType("Creature"):
		return p == command.It && !isPerson, nil
	}
	var f struct {
		Group bool `json:"group"`
	}
	if world.DecodeFields(t.Fields, &f); f.Group {
		return false, nil
	}
	text, err := s.ReadText(s.ctx, t)
	gender := spokenGender(text)
	return gender == "" && isPerson || gender == string(p), err
}
